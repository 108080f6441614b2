// What rccl-tests, nccl-tests, rocblas-bench, hipblaslt-bench and BabelStream print.
#include <gtest/gtest.h>

#include <string>

#include "../must.h"
#include "cairn/evidence/readers/micro_output.h"

namespace cairn {
namespace {

using test::must;

std::string ranks(int n, std::string_view card, std::string_view host = "node1") {
  std::string out;
  for (int i = 0; i < n; ++i) {
    out += "#   Rank  " + std::to_string(i) + " Pid   3850 on " + std::string(host) + " device  " +
           std::to_string(i) + " [0000:05:00.0] " + std::string(card) + "\n";
  }
  return out;
}

constexpr std::string_view kHeader =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 17179869184 step: 2(factor) warmup iters: 5 iters: "
    "20 agg iters: 1 validation: 1 graph: 0\n#\nrccl-tests: Version develop:448c4c7\n"
    "# Using devices\n";
constexpr std::string_view kTable =
    "#\n"
    "#                                                          out-of-place             "
    "          in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
    "time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
    "(us)  (GB/s)  (GB/s)\n";

TEST(CollectiveTests, AllReduceOnEightCards) {
  const std::string text =
      std::string(kHeader) + ranks(8, "AMD Instinct MI300X") +
      "RCCL version : 2.22.3-HEAD:7d8d67c\n" + std::string(kTable) +
      "           8             2     float     sum      -1    56.50    0.00    0.00      0    "
      "54.70    0.00    0.00      0\n"
      "  1073741824     268435456     float     sum      -1   5908.3  181.74  318.04      0   "
      "5918.5  181.42  317.49      0\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 92.3\n#\n";
  const auto rows = must(read_collective_tests(text, "rccl.txt"));
  ASSERT_EQ(rows.size(), 3U);  // the bandwidth of 8 bytes is rounded to nothing
  EXPECT_EQ(rows[0].micro->metric, "latency_us");
  EXPECT_EQ(rows[0].micro->value, 56.5);
  EXPECT_EQ(rows[0].micro->bytes, 8);
  EXPECT_EQ(rows[0].micro->what, "all_reduce");  // told by the large size
  EXPECT_EQ(rows[2].micro->metric, "busbw_gb_per_s");
  // 2^30 bytes in 5908.3 us, times 2 (8 - 1) / 8.
  EXPECT_NEAR(rows[2].micro->value, 1073741824 / 5908.3e-6 / 1e9 * 14 / 8, 0.02);
  EXPECT_EQ(rows[2].micro->dtype, "fp32");
  EXPECT_EQ(rows[2].micro->library, "rccl-tests develop:448c4c7");
  EXPECT_EQ(rows[2].micro->devices, 8);
  EXPECT_EQ(rows[2].micro->nodes, 1);
  EXPECT_EQ(rows[2].cards, std::vector<std::string>{"AMD Instinct MI300X"});
  EXPECT_EQ(rows[2].micro->placement, "out-of-place");
}

TEST(CollectiveTests, ReduceScatterAndTwoMachines) {
  // (n - 1) / n = 15/16 of 100 GB/s
  const std::string text =
      std::string(kHeader) + ranks(8, "AMD Instinct MI300X") +
      ranks(8, "AMD Instinct MI300X", "node2") + std::string(kTable) +
      " 1073741824  16777216  bfloat16     sum      -1   10737  100.00   93.75      0   10737  "
      "100.00   93.75      0\n";
  const auto rows = must(read_collective_tests(text, "rccl.txt"));
  EXPECT_EQ(rows[1].micro->what, "reduce_scatter");
  EXPECT_EQ(rows[1].micro->nodes, 2);
  EXPECT_EQ(rows[1].micro->devices, 16);
  EXPECT_EQ(rows[1].micro->dtype, "bf16");
}

// nccl-tests since 2.17: named programs, per-iteration columns, a time stamp.
TEST(CollectiveTests, NamedProgramAndFurtherColumns) {
  const std::string text =
      "# nccl-tests version 2.19.6 nccl-headers=22900 nccl-library=22900\n"
      "# Collective test starting: all_gather_perf\n"
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) unalign: 0\n#\n"
      "# Using devices\n"
      "#  Rank  0 Group  0 Pid  12 on  host device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid  12 on  host device  1 [0000:2a:00] NVIDIA H100 80GB HBM3\n"
      "#\n#    out-of-place (+ per-iteration)      in-place (+ per-iteration)\n"
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong   "
      "i_min   i_max   i_p99   i_cv%     time   algbw   busbw  #wrong   i_min   i_max   i_p99   "
      "i_cv%           timestamp\n"
      "     1048576        131072     float    none      -1    15.00   69.91   34.95     N/A  "
      "14.0  16.0  15.9  1.0    14.00   74.90   37.45     N/A  13.0  15.0  14.9  1.0  "
      "2025-06-01 10:00:00\n";
  const auto rows = must(read_collective_tests(text, "nccl.txt"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].micro->value, 15);
  EXPECT_EQ(rows[1].micro->value, 34.95);
  EXPECT_EQ(rows[0].micro->what, "all_gather");
  EXPECT_EQ(rows[0].micro->library, "nccl-tests 2.19.6");
  EXPECT_EQ(rows[0].micro->devices, 2);
}

// Old releases print neither reduction nor root for an all-gather.
TEST(CollectiveTests, MissingCells) {
  const std::string text =
      "$ ./build/all_gather_perf -g 4\n" + std::string(kHeader) + ranks(4, "AMD Instinct MI210") +
      std::string(kTable) +
      "     1048576        131072     float    15.00   69.91   52.43      0    14.00   74.90   "
      "56.17      0\n";
  const auto rows = must(read_collective_tests(text, "rccl.txt"));
  EXPECT_EQ(rows[1].micro->value, 52.43);
  EXPECT_EQ(rows[1].micro->what, "all_gather");
}

TEST(CollectiveTests, SeveralRunsInOneText) {
  const auto run = [](std::string_view program, int n, std::string_view reduction) {
    return "$ ./build/" + std::string(program) + "\n" + std::string(kHeader) +
           ranks(n, "AMD Instinct MI210") + std::string(kTable) +
           "     1048576        131072     float    " + std::string(reduction) +
           "      -1    15.00   69.91   60.00      0    14.00   74.90   60.00      0\n";
  };
  const auto rows = must(read_collective_tests(
      run("all_reduce_perf", 2, "sum") + run("alltoall_perf", 4, "none"), "rccl.txt"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].micro->what, "all_reduce");
  EXPECT_EQ(rows[0].micro->devices, 2);
  EXPECT_EQ(rows[2].micro->what, "all_to_all");
  EXPECT_EQ(rows[2].micro->devices, 4);
}

TEST(CollectiveTests, WrongDataAndBadRows) {
  const auto text = [](std::string_view row) {
    return std::string(kHeader) + ranks(2, "X") + std::string(kTable) + std::string(row) + "\n";
  };
  const auto wrong = read_collective_tests(
      text("1024 256 float sum -1 15.00 69.91 60.00 3 14.00 74.90 60.00 0"), "r.txt");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().field, "#wrong");
  EXPECT_EQ(wrong.error().where, "r.txt:11");
  EXPECT_FALSE(read_collective_tests(text("1024 256 float"), "r.txt"));
  EXPECT_FALSE(
      read_collective_tests(text("1024 256 float sum -1 fast 69.91 60.00 0 1 1 1 0"), "r.txt"));
  EXPECT_FALSE(read_collective_tests(text(""), "r.txt"));
}

// The example of rocBLAS's own guide, with its command line:
// https://rocm.docs.amd.com/projects/rocBLAS/en/latest/how-to/Programmers_Guide.html
TEST(GemmBench, RocBlas) {
  constexpr std::string_view kText =
      "$ ./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 4096 -n 4096 -k 4096 "
      "--alpha 1 --lda 4096 --ldb 4096 --beta 0 --ldc 4096\n"
      "Query device success: there are 1 devices\n"
      "-----------------------------------------\n"
      "Device ID 0 : AMD Radeon VII gfx906:sramecc-:xnack-\n"
      "transA,transB,M,N,K,alpha,lda,ldb,beta,ldc,rocblas-Gflops,us\n"
      "N,N,4096,4096,4096,1,4096,4096,0,4096,11941.5,11509.4\n";
  const auto rows = must(read_gemm_bench(kText, "g.txt"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].micro->what, "gemm");
  EXPECT_EQ(rows[0].micro->dtype, "fp32");
  EXPECT_EQ(rows[0].micro->m, 4096);
  EXPECT_EQ(rows[0].micro->k, 4096);
  EXPECT_EQ(rows[0].micro->library, "rocblas-bench");
  EXPECT_EQ(rows[0].micro->metric, "tflops");
  // 2 x 4096^3 operations in 11509.4 us.
  EXPECT_NEAR(rows[0].micro->value, 2 * 4096.0 * 4096 * 4096 / 11509.4e-6 / 1e12, 1e-3);
  EXPECT_EQ(rows[0].cards, std::vector<std::string>{"AMD Radeon VII"});
  EXPECT_EQ(rows[0].line, 6U);
}

// The example of hipBLASLt's own guide:
// https://github.com/ROCm/hipBLASLt/blob/7d9fb683/clients/benchmarks/README.md
TEST(GemmBench, HipBlasLt) {
  constexpr std::string_view kText =
      "hipBLASLt version: 1000\n"
      "[0]:transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b,ldc,"
      "stride_c,ldd,stride_d,a_type,b_type,c_type,d_type,compute_type,scaleA,scaleB,scaleC,scaleD,"
      "amaxD,activation_type,bias_vector,bias_type,lowest-avg-freq,lowest-median-freq,avg-MCLK,"
      "median-MCLK,hipblaslt-Gflops,hipblaslt-GB/s,us\n"
      "    T,N,0,1,16,16,4096,1,4096,65536,0,4096,65536,16,256,16,256,bf16_r,bf16_r,bf16_r,bf16_r,"
      "f32_r,0,0,0,0,0,none,0,non-supported type,136,136,900,900,192.399,22.442,10.9\n";
  const auto rows = must(read_gemm_bench(kText, "g.txt"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].micro->dtype, "bf16");
  EXPECT_EQ(rows[0].micro->m, 16);
  EXPECT_EQ(rows[0].micro->k, 4096);
  EXPECT_EQ(rows[0].micro->library, "hipblaslt-bench 1000");
  EXPECT_DOUBLE_EQ(rows[0].micro->value, 0.192399);
  EXPECT_NE(rows[0].micro->notes.find("median_freq_mhz=136"), std::string::npos);
  EXPECT_NE(rows[0].micro->notes.find("trans=TN"), std::string::npos);
}

TEST(GemmBench, OtherFunctionsAndFaults) {
  // A triangular solve is passed over; the product after it is read.
  constexpr std::string_view kTwo =
      "M,N,lda,ldb,side,uplo,transA,diag,rocblas-Gflops,us\n"
      "128,128,128,128,L,U,N,N,5.1,12\n"
      "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,cold_iters,hot_iters,"
      "rocblas-Gflops,us\n"
      "T,N,1024,2048,512,1,1024,0,2048,1024,1024,5, 2, 10, 159783, 67.2\n";
  const auto rows = must(read_gemm_bench(kTwo, "g.txt"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].micro->dtype, "");  // rocBLAS prints no type
  // 5 products of 2 x 1024 x 2048 x 512 operations in 67.2 us.
  EXPECT_NEAR(rows[0].micro->value, 5 * 2.0 * 1024 * 2048 * 512 / 67.2e-6 / 1e12, 0.1);
  EXPECT_EQ(rows[0].micro->batch, "5");

  const auto few = read_gemm_bench("transA,transB,M,N,K,rocblas-Gflops,us\nN,N,1,2\n", "g.txt");
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().where, "g.txt:2");
  const auto text =
      read_gemm_bench("transA,transB,M,N,K,rocblas-Gflops,us\nN,N,x,2,3,4,5\n", "g.txt");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().field, "M");
}

// Figures of https://gist.github.com/cuviper/700f10182e484790a4b8b84e3f00f586
TEST(BabelStream, Text) {
  constexpr std::string_view kText =
      "BabelStream\nVersion: 3.4\nImplementation: OpenMP\nRunning kernels 100 times\n"
      "Precision: double\nArray size: 268.4 MB (=0.3 GB)\nTotal size: 805.3 MB (=0.8 GB)\n"
      "Function    MBytes/sec  Min (sec)   Max         Average     \n"
      "Copy        108865.244  0.00493     0.05374     0.00834     \n"
      "Mul         97387.786   0.00551     0.03843     0.00959     \n"
      "Dot         116643.998  0.00460     0.03035     0.00887     \n";
  const auto rows = must(read_babelstream(kText, "b.txt"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NEAR(rows[0].micro->value, 108.865244, 1e-9);
  EXPECT_EQ(rows[0].micro->metric, "gb_per_s");
  EXPECT_EQ(rows[0].micro->what, "copy");
  EXPECT_EQ(rows[0].micro->dtype, "fp64");
  EXPECT_NEAR(*rows[0].micro->bytes, 268.4e6, 1);
  EXPECT_EQ(rows[0].micro->library, "BabelStream 3.4");
  EXPECT_EQ(rows[1].micro->kernel, "mul");
  EXPECT_EQ(rows[2].micro->what, "read");
  // Two arrays of 2^25 doubles in the shortest time.
  EXPECT_NEAR(rows[2].micro->value, 2 * 33554432 * 8 / 0.00460 / 1e9, 0.2);
}

TEST(BabelStream, CsvAndUnits) {
  constexpr std::string_view kText =
      "Using HIP device AMD Instinct MI300X\nDriver: 60241133\nMemory: DEFAULT\n"
      "phase,n_elements,sizeof,max_mbytes_per_sec,runtime\nInit,1024,8,1.0,0.1\n"
      "function,num_times,n_elements,sizeof,max_mibytes_per_sec,min_runtime,max_runtime,"
      "avg_runtime\n"
      "Triad,100,268435456,8,3765165.4,0.00163,0.00180,0.00166\n";
  const auto rows = must(read_babelstream(kText, "b.csv"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].micro->value, 3765165.4 * 1048576 / 1e9, 1e-6);
  EXPECT_EQ(rows[0].micro->bytes, 268435456.0 * 8);
  EXPECT_EQ(rows[0].cards, std::vector<std::string>{"AMD Instinct MI300X"});
  // BabelStream 5 after its release: "MB/s".
  const auto fresh = must(read_babelstream(
      "BabelStream\nFunction    GB/s        Min (sec)   Max\nAdd         3.5         1 1 1\n",
      "b.txt"));
  EXPECT_DOUBLE_EQ(fresh[0].micro->value, 3.5);
}

TEST(BabelStream, Faults) {
  const auto unit = read_babelstream("Function furlongs Min\nCopy 1 1 1 1\n", "b.txt");
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().value, "furlongs");
  const auto value = read_babelstream("Function MBytes/sec Min\nCopy nan 1 1 1\n", "b.txt");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().where, "b.txt:2");
  EXPECT_FALSE(read_babelstream("BabelStream\n", "b.txt"));
}

}  // namespace
}  // namespace cairn
