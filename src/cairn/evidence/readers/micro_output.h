// Micro-benchmarks: collectives, matrix products, bandwidth of device memory.
//
// Formats:
//   rccl-tests: https://github.com/ROCm/rccl-tests/blob/ae3e635/src/common.cu
//   nccl-tests 2.0 to 2.19: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2/src/util.cu, and
//     src/common.cu of older trees
//   rocblas-bench:
//   https://github.com/ROCm/rocBLAS/blob/b520bc83f/clients/include/argument_model.hpp
//   hipblaslt-bench:
//   https://github.com/ROCm/hipBLASLt/blob/7d9fb683/clients/include/argument_model.hpp
//   BabelStream 3 to 5:
//   https://github.com/UoB-HPC/BabelStream/blob/57637d5/src/main.cpp
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

// Every reader: rows in the order of the text, other lines passed over. Errors: bad_input with
// file, line and field where a table's row does not fit its header, or no table is there.

/// Text of rccl-tests and nccl-tests: for each size the time (latency_us) and, where it is not
/// rounded to 0, the bus bandwidth (busbw_gb_per_s), out of place where both are printed.
/// bytes is the size column: what one rank sends or receives, the larger of both. Which
/// collective it was is taken from the program's name in the text, else from the ratio of both
/// bandwidths and the reduction (2(n-1)/n for an all-reduce on n ranks, (n-1)/n for a
/// reduce-scatter: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2/doc/PERFORMANCE.md).
Result<std::vector<ReadRow>> read_collective_tests(std::string_view text, const std::string& name);

/// Text of rocblas-bench and hipblaslt-bench, functions gemm*: tflops of each problem. rocBLAS
/// prints no types; they are taken from a command line in the text (-r, --a_type).
Result<std::vector<ReadRow>> read_gemm_bench(std::string_view text, const std::string& name);

/// Text or --csv of BabelStream: the best bandwidth of each kernel (gb_per_s, 1e9 bytes).
/// what is "read" for Dot and "copy" for the kernels that write; kernel is its name.
Result<std::vector<ReadRow>> read_babelstream(std::string_view text, const std::string& name);

}  // namespace cairn
