// Any text as the output of a benchmark: recognised, read, and every figure within its range.
// The first byte chooses a reader that need not be the one that fits.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "cairn/evidence/readers/client_reports.h"
#include "cairn/evidence/readers/llama_bench.h"
#include "cairn/evidence/readers/micro_output.h"
#include "cairn/evidence/readers/mlperf_summary.h"
#include "cairn/evidence/readers/serving_json.h"
#include "cairn/evidence/readers/tool_output.h"
#include "facts.h"

namespace {

using namespace cairn;

void check(const Result<std::vector<ReadRow>>& rows) {
  if (!rows) return fuzz::check(rows.error());
  if (rows->empty() || rows->size() > kMostReadRows) std::abort();
  for (const ReadRow& r : *rows) {
    const double value = r.micro ? r.micro->value : r.row.value;
    const std::string& metric = r.micro ? r.micro->metric : r.row.metric;
    const std::string& notes = r.micro ? r.micro->notes : r.row.notes;
    if (!std::isfinite(value) || value <= 0 || metric.empty()) std::abort();
    if (notes.find('\n') != std::string::npos) std::abort();
  }
}

Result<std::vector<ReadRow>> detected(std::string_view text, const std::string& name) {
  auto output = read_tool_output(text, name);
  if (!output) return std::unexpected(std::move(output).error());
  return std::move(output->rows);
}

using Reader = Result<std::vector<ReadRow>> (*)(std::string_view, const std::string&);
constexpr Reader kReaders[] = {detected,
                               read_llama_bench,
                               read_vllm_serve,
                               read_vllm_throughput,
                               read_vllm_latency,
                               read_sglang_serving,
                               read_guidellm,
                               read_aiperf,
                               read_mlperf_summary,
                               read_collective_tests,
                               read_gemm_bench,
                               read_babelstream};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(kReaders[data[0] % std::size(kReaders)](text, "fuzz.txt"));
  return 0;
}
