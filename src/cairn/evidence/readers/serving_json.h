// Results of clients that measure a server, and of vLLM's two offline benchmarks.
//
// Formats:
//   https://github.com/vllm-project/vllm/blob/009e6d4a1cd6/vllm/benchmarks/serve.py
//   https://github.com/vllm-project/vllm/blob/020283147c84/vllm/benchmarks/throughput.py
//   https://github.com/vllm-project/vllm/blob/00cae0753b8d/vllm/benchmarks/latency.py
//   benchmarks/benchmark_serving.py, benchmark_throughput.py and benchmark_latency.py of older
//   trees, which write the same members
//   https://github.com/sgl-project/sglang/blob/0033168f0f58/python/sglang/bench_serving.py
//   its server_info: get_server_info in
//   https://github.com/sgl-project/sglang/blob/0025436eab05/python/sglang/srt/entrypoints/http_server.py
//   with the fields of ServerArgs in
//   https://github.com/sgl-project/sglang/blob/001067fffe33/python/sglang/srt/server_args.py
//
// TTFT, TPOT and E2E are statistics over requests; ITL is over all gaps between tokens. Token
// totals are of the requests that succeeded. TPOT leaves out the first token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

// Every reader: rows in the order of the text, one for each figure; figures that are absent,
// null or 0 are left out. Errors: bad_input with file, line and field where a member has
// another type or a negative value, or no figure is there.

/// `vllm bench serve --save-result` or --append-result: one object or one a line.
Result<std::vector<ReadRow>> read_vllm_serve(std::string_view text, const std::string& name);

/// `vllm bench throughput --output-json`. The lengths of the requests are not in it.
Result<std::vector<ReadRow>> read_vllm_throughput(std::string_view text, const std::string& name);

/// `vllm bench latency --output-json`. Lengths and batch are not in it.
Result<std::vector<ReadRow>> read_vllm_latency(std::string_view text, const std::string& name);

/// `python -m sglang.bench_serving --output-file`: one object a line. Lengths of the random
/// dataset are uniform from range_ratio x nominal to nominal.
Result<std::vector<ReadRow>> read_sglang_serving(std::string_view text, const std::string& name);

}  // namespace cairn
