// Reports of clients that measure any server: GuideLLM, and AIPerf with GenAI-Perf before it.
//
// Formats:
//   GuideLLM 0.2 and 0.3:
//   https://github.com/vllm-project/guidellm/blob/v0.3.0/src/guidellm/benchmark/benchmark.py
//   GuideLLM 0.4 to 0.7:
//   https://github.com/vllm-project/guidellm/blob/v0.7.3/src/guidellm/benchmark/schemas/metrics.py
//   AIPerf: https://github.com/ai-dynamo/aiperf/blob/db4f6397/aiperf/common/models/export_models.py
//   GenAI-Perf:
//   https://github.com/triton-inference-server/perf_analyzer/blob/main/genai-perf/genai_perf/export_data/json_exporter.py
//
// GuideLLM's inter-token latency is weighted by tokens: its mean is the mean ITL, and its
// percentiles are of no kind that Cairn has. Its time per output token counts the first token
// and is left out. AIPerf's and GenAI-Perf's inter-token latency is one value a request without
// its first token: what Cairn calls TPOT.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

// Errors as in serving_json.h.

/// The JSON report of `guidellm benchmark`: a row for each figure of each benchmark in it, of
/// the requests that succeeded.
Result<std::vector<ReadRow>> read_guidellm(std::string_view text, const std::string& name);

/// profile_export_aiperf.json, profile_export_genai_perf.json.
Result<std::vector<ReadRow>> read_aiperf(std::string_view text, const std::string& name);

}  // namespace cairn
