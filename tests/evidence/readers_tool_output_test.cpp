// Which tool printed a text.
#include <gtest/gtest.h>

#include <string>

#include "../must.h"
#include "cairn/evidence/readers/tool_output.h"

namespace cairn {
namespace {

struct Case {
  BenchTool tool;
  std::string_view text;
};

TEST(ToolOutput, Recognised) {
  const Case cases[] = {
      {BenchTool::llama_bench, R"([{"build_commit": "a", "n_prompt": 1, "avg_ts": 1}])"},
      {BenchTool::llama_bench, "build_commit,n_prompt,avg_ts\n"},
      {BenchTool::llama_bench, "| model | size | backend | test |  t/s |\n"},
      {BenchTool::llama_bench, "| model   |  size |            test |                  t/s |\n"},
      {BenchTool::vllm_serve, R"({"request_throughput": 1, "total_input_tokens": 2})"},
      {BenchTool::vllm_throughput,
       R"({"elapsed_time": 1, "requests_per_second": 1, "tokens_per_second": 2})"},
      {BenchTool::vllm_latency, R"({"avg_latency": 1, "percentiles": {}})"},
      {BenchTool::sglang_serving,
       R"({"random_range_ratio": 0, "request_throughput": 1, "total_input_tokens": 2})"},
      {BenchTool::guidellm,
       R"({"benchmarks": [{"metrics": {"time_to_first_token_ms": {"successful": {}}}}]})"},
      {BenchTool::aiperf, R"({"request_latency": {"avg": 1, "unit": "ms"}, "input_config": {}})"},
      {BenchTool::mlperf_loadgen, "MLPerf Results Summary\nScenario : Offline\n"},
      {BenchTool::collective_tests, "# size count time algbw busbw\n# (B) (us) (GB/s)\n"},
      {BenchTool::gemm_bench, "[0]:transA,m,hipblaslt-Gflops,us\n"},
      {BenchTool::gemm_bench, "transA,M,rocblas-Gflops,us\n"},
      {BenchTool::babelstream, "BabelStream\nFunction    MBytes/sec\n"},
      {BenchTool::babelstream, "function,num_times,n_elements,sizeof\n"},
  };
  for (const Case& c : cases) {
    const auto tool = recognise_tool(c.text);
    ASSERT_TRUE(tool.has_value()) << c.text;
    EXPECT_EQ(name_of(*tool), name_of(c.tool)) << c.text;
  }
}

TEST(ToolOutput, AnythingElseIsRefused) {
  for (const std::string_view text : {"", "hello", "{}", "[1, 2]", "a,b\n1,2\n"}) {
    const auto output = read_tool_output(text, "x.txt");
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().where, "x.txt");
    EXPECT_NE(output.error().expected.find("llama-bench"), std::string::npos);
  }
}

TEST(ToolOutput, Encodings) {
  const std::string table =
      "| model | backend | test | t/s |\n|---|---|---|---|\n| a | ROCm | pp1 | 1 ± 0 |\n";
  EXPECT_EQ(test::must(read_tool_output("\xef\xbb\xbf" + table, "x.md")).rows.size(), 1U);
  std::string wide = "\xff\xfe";
  for (const char c : table) wide += {c, '\0'};
  const auto refused = read_tool_output(wide, "x.md");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "text in UTF-16");
}

TEST(ToolOutput, BoundedRows) {
  // More tests than are taken from one text.
  std::string text = "| model | backend | test | t/s |\n|---|---|---|---|\n";
  for (std::size_t i = 0; i <= kMostReadRows; ++i) text += "| a | ROCm | pp1 | 1 ± 0 |\n";
  const auto output = read_tool_output(text, "many.md");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "too many figures");
}

}  // namespace
}  // namespace cairn
