#include "cairn/evidence/readers/tool_output.h"

#include <fmt/format.h>

#include <array>

#include "cairn/evidence/readers/client_reports.h"
#include "cairn/evidence/readers/llama_bench.h"
#include "cairn/evidence/readers/micro_output.h"
#include "cairn/evidence/readers/mlperf_summary.h"
#include "cairn/evidence/readers/serving_json.h"

namespace cairn {
namespace {

using Reader = Result<std::vector<ReadRow>> (*)(std::string_view, const std::string&);

struct Tool {
  BenchTool tool;
  std::string_view name;
  Reader read;
};
constexpr std::array kTools{
    Tool{BenchTool::llama_bench, "llama-bench", read_llama_bench},
    Tool{BenchTool::vllm_serve, "vllm bench serve", read_vllm_serve},
    Tool{BenchTool::vllm_throughput, "vllm bench throughput", read_vllm_throughput},
    Tool{BenchTool::vllm_latency, "vllm bench latency", read_vllm_latency},
    Tool{BenchTool::sglang_serving, "sglang.bench_serving", read_sglang_serving},
    Tool{BenchTool::guidellm, "guidellm", read_guidellm},
    Tool{BenchTool::aiperf, "aiperf", read_aiperf},
    Tool{BenchTool::mlperf_loadgen, "mlperf loadgen", read_mlperf_summary},
    Tool{BenchTool::collective_tests, "rccl-tests", read_collective_tests},
    Tool{BenchTool::gemm_bench, "rocblas-bench", read_gemm_bench},
    Tool{BenchTool::babelstream, "BabelStream", read_babelstream},
};

// A text is of a tool if it has all of some words. Rules are tried in turn.
struct Rule {
  BenchTool tool;
  std::array<std::string_view, 3> words;
};
constexpr std::array kRules{
    Rule{BenchTool::llama_bench, {"build_commit", "n_prompt", "avg_ts"}},
    Rule{BenchTool::llama_bench, {"| model ", " test |", " t/s |"}},
    Rule{BenchTool::mlperf_loadgen, {"MLPerf Results Summary", "Scenario"}},
    Rule{BenchTool::gemm_bench, {"hipblaslt-Gflops,"}},
    Rule{BenchTool::gemm_bench, {"rocblas-Gflops,"}},
    Rule{BenchTool::collective_tests, {"algbw", "busbw", "(GB/s)"}},
    Rule{BenchTool::babelstream, {"function,num_times,n_elements"}},
    Rule{BenchTool::babelstream, {"BabelStream", "Function"}},
    Rule{BenchTool::guidellm, {"\"benchmarks\"", "\"time_to_first_token_ms\"", "\"successful\""}},
    Rule{BenchTool::sglang_serving, {"\"random_range_ratio\"", "\"request_throughput\""}},
    Rule{BenchTool::sglang_serving,
         {"\"total_output_tokens_retokenized\"", "\"request_throughput\""}},
    Rule{BenchTool::aiperf, {"\"input_config\"", "\"request_latency\"", "\"avg\""}},
    Rule{BenchTool::aiperf, {"\"request_throughput\"", "\"unit\"", "\"avg\""}},
    Rule{BenchTool::vllm_serve, {"\"request_throughput\"", "\"total_input_tokens\""}},
    Rule{BenchTool::vllm_throughput,
         {"\"elapsed_time\"", "\"requests_per_second\"", "\"tokens_per_second\""}},
    Rule{BenchTool::vllm_latency, {"\"avg_latency\"", "\"percentiles\""}},
};

}  // namespace

std::string_view name_of(BenchTool tool) {
  for (const Tool& t : kTools) {
    if (t.tool == tool) return t.name;
  }
  return {};
}

std::optional<BenchTool> recognise_tool(std::string_view text) {
  for (const Rule& rule : kRules) {
    bool all = true;
    for (const std::string_view word : rule.words) {
      all = all && text.find(word) != std::string_view::npos;
    }
    if (all) return rule.tool;
  }
  return std::nullopt;
}

Result<ToolOutput> read_tool_output(std::string_view text, const std::string& name) {
  if (text.size() > kMostOutputBytes) {
    return fail(bad_input("too large")
                    .at(name)
                    .got(std::to_string(text.size()))
                    .want(fmt::format("at most {} bytes", kMostOutputBytes)));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    // What PowerShell writes by itself: Out-File -Encoding utf8 does not.
    return fail(bad_input("text in UTF-16").at(name).want("UTF-8"));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const auto tool = recognise_tool(text);
  if (!tool) {
    return fail(bad_input("no output of a benchmark that is known")
                    .at(name)
                    .want("what llama-bench, vllm bench, sglang.bench_serving, guidellm, aiperf, "
                          "LoadGen, rccl-tests, rocblas-bench, hipblaslt-bench or BabelStream "
                          "print"));
  }
  ToolOutput out;
  out.tool = *tool;
  for (const Tool& t : kTools) {
    if (t.tool != *tool) continue;
    CAIRN_TRY(out.rows, t.read(text, name));
  }
  return out;
}

}  // namespace cairn
