// Small outputs of the benchmarks that are read, for the corpus of fuzz_bench_output.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::fuzz {

/// Names and texts. The first character chooses the reader: '<' is a multiple of twelve, the
/// number of readers, and so the one that recognises the tool.
inline std::vector<std::pair<std::string, std::string>> bench_output_seeds() {
  constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
      {"llama_md",
       "ggml_vulkan: 0 = AMD Radeon (RADV) | matrix cores: none\n"
       "  Device 0: AMD Radeon, gfx1100\n"
       "| model | size | params | backend | ngl | fa | test | t/s |\n|---|---|\n"
       "| llama 7B Q4_K - Medium | 3.56 GiB | 6.74 B | ROCm | 99 | 1 | pp512 @ d16 | 4.5 ± 0.1 |\n"
       "build: 34ce48d97 (7356)\n"},
      {"llama_json",
       "[{\"build_commit\":\"a\",\"build_number\":1,\"gpu_info\":\"A, B\",\"backends\":\"ROCm\","
       "\"model_type\":\"l 8B F16\",\"devices\":\"ROCm1\",\"split_mode\":\"none\",\"main_gpu\":1,"
       "\"tensor_split\":\"0.00/1.00\",\"flash_attn\":-1,\"n_prompt\":1,\"n_gen\":0,"
       "\"avg_ts\":2.5}]"},
      {"llama_csv", "build_commit,n_prompt,n_gen,avg_ts\n\"a\",\"1\",\"2\",\"3\"\n"},
      {"vllm_serve",
       "{\"backend\":\"vllm\",\"request_rate\":\"inf\",\"total_input_tokens\":9,\"completed\":3,"
       "\"num_prompts\":4,\"request_throughput\":1.5,\"mean_ttft_ms\":NaN,\"p99_tpot_ms\":3,"
       "\"input_lens\":[3,3,3]}\n{\"request_throughput\":1}"},
      {"vllm_offline",
       "{\"elapsed_time\":1,\"num_requests\":2,\"requests_per_second\":2,"
       "\"tokens_per_second\":3}"},
      {"vllm_latency", "{\"avg_latency\":1,\"latencies\":[1],\"percentiles\":{\"50\":1}}"},
      {"sglang",
       "{\"dataset_name\":\"random\",\"random_range_ratio\":0.5,\"request_rate\":Infinity,"
       "\"request_throughput\":2,\"server_info\":{\"tp_size\":8},\"accept_length\":1.5}\n"},
      {"guidellm",
       "{\"benchmarks\":[{\"config\":{\"strategy\":{\"type_\":\"concurrent\",\"streams\":2}},"
       "\"metrics\":{\"time_to_first_token_ms\":{\"successful\":{\"mean\":1,\"percentiles\":"
       "{\"p99\":2}}}}}]}"},
      {"aiperf",
       "{\"request_latency\":{\"unit\":\"sec\",\"avg\":1,\"p50\":1},\"input_config\":"
       "{\"endpoint\":{\"model_names\":[\"m\"]},\"loadgen\":{\"concurrency\":1}}}"},
      {"mlperf",
       "MLPerf Results Summary\nScenario : Server\nMode     : PerformanceOnly\n"
       "Completed tokens per second: 10.5\nResult is : INVALID\n"
       "99.00 percentile first token latency (ns)   : 1000\n2 ERRORS encountered.\n"},
      {"collective",
       "# nThread 1 nGpus 2\n#   Rank  0 Pid 1 on h device  0 [0000:05:00.0] AMD\n"
       "#   Rank  1 Pid 1 on h device  1 [0000:06:00.0] AMD\n# out-of-place in-place\n"
       "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
       "# (B) (GB/s)\n1024 256 float sum -1 10 20.0 20.0 0 10 20.0 20.0 N/A\n"},
      {"gemm",
       "Device ID 0 : AMD Instinct gfx942\n[0]:transA,transB,batch_count,m,n,k,a_type,"
       "hipblaslt-Gflops,us\n  T,N,1,16,16,16,f8_r,10.5,1\n"
       "rocblas-bench -r h\ntransA,transB,M,N,K,rocblas-Gflops,us\nN,N,1,2,3,4,5\n"},
      {"babelstream",
       "BabelStream\nVersion: 5.0\nPrecision: double\nArray size: 2.5 MB\n"
       "Function MBytes/sec Min\nTriad 10.5 1 1 1\n"
       "function,num_times,n_elements,sizeof,max_mbytes_per_sec\nDot,1,2,8,3.5\n"},
  };
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, text] : kTexts) out.emplace_back(name, "<" + std::string(text));
  return out;
}

}  // namespace cairn::fuzz
