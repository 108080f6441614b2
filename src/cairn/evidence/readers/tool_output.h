// Output of the field's benchmarks: which tool printed a text, and the figures in it.
//
//   CAIRN_TRY(const ToolOutput output, read_tool_output(text, "bench.json"));
//   for (const ReadRow& row : output.rows) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

enum class BenchTool : std::uint8_t {
  llama_bench,       // JSON, JSON lines, CSV, Markdown
  vllm_serve,        // JSON, also one object a line
  vllm_throughput,   // JSON
  vllm_latency,      // JSON
  sglang_serving,    // JSON lines
  guidellm,          // JSON
  aiperf,            // JSON, also of GenAI-Perf
  mlperf_loadgen,    // mlperf_log_summary.txt
  collective_tests,  // text of rccl-tests, nccl-tests
  gemm_bench,        // text of rocblas-bench, hipblaslt-bench
  babelstream,       // text, CSV
};

/// "llama-bench", "vllm bench serve" ...
std::string_view name_of(BenchTool tool);

/// By what only one tool prints; nothing for any other text.
std::optional<BenchTool> recognise_tool(std::string_view text);

struct ToolOutput {
  BenchTool tool = BenchTool::llama_bench;
  std::vector<ReadRow> rows;  // at least one
};

/// The largest text that is read.
constexpr std::uint64_t kMostOutputBytes = 64ULL << 20U;

/// `name` is what errors call the text. Errors: bad_input for a text that is none of these,
/// has more than kMostOutputBytes or kMostReadRows, or is not well formed.
Result<ToolOutput> read_tool_output(std::string_view text, const std::string& name);

}  // namespace cairn
