// mlperf_log_summary.txt, which LoadGen of MLPerf Inference writes.
//
// Format: PerformanceSummary::LogSummary in
//   https://github.com/mlcommons/inference/blob/b66003e1/loadgen/results.cc
// Times are in nanoseconds. The scenario Server is also what submissions call Interactive: the
// bounds on latency differ, and they stand below "Test Parameters Used".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

/// Tokens per second (counted or inferred), samples per second, and the mean and 99th
/// percentile of TTFT and TPOT. Errors: bad_input where the run is one of accuracy, its
/// scenario is none that is read, or a value is no number.
Result<std::vector<ReadRow>> read_mlperf_summary(std::string_view text, const std::string& name);

}  // namespace cairn
