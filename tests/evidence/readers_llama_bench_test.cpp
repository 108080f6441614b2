// What llama-bench prints, in its four formats.
#include <gtest/gtest.h>

#include <string>

#include "../must.h"
#include "cairn/evidence/readers/llama_bench.h"
#include "cairn/evidence/readers/llama_record.h"
#include "cairn/evidence/readers/tool_output.h"

namespace cairn {
namespace {

using test::must;

// The figures of a published table, in the columns that llama-bench prints:
// https://github.com/1337hero/rx7900xtx-llama-bench-vulcan/blob/6d88857a227b1f89b16a142c07d10200c2823d98/benchmark-results/vulkan_benchmark_20251211_072744.txt
constexpr std::string_view kMarkdown = R"(ggml_vulkan: Found 1 Vulkan devices:
ggml_vulkan: 0 = AMD Radeon RX 7900 XTX (RADV NAVI31) (radv) | uma: 0 | fp16: 1 | bf16: 0 | warp size: 64 | shared memory: 65536 | int dot: 1 | matrix cores: KHR_coopmat
| model                          |       size |     params | backend    | ngl | fa |            test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | -------------------: |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | Vulkan     | 100 |  0 |           pp512 |        490.97 ± 2.27 |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | Vulkan     | 100 |  1 |   tg128 @ d4096 |         86.06 ± 0.13 |

build: 34ce48d97 (7356)
)";

TEST(LlamaBench, MarkdownTable) {
  const auto rows = must(read_llama_bench(kMarkdown, "bench.md"));
  ASSERT_EQ(rows.size(), 2U);
  const ReadRow& prefill = rows[0];
  EXPECT_EQ(prefill.row.metric, "prefill_tokens_per_s");
  EXPECT_DOUBLE_EQ(prefill.row.value, 490.97);
  EXPECT_EQ(prefill.row.spread, 2.27);
  EXPECT_EQ(prefill.row.unit, "tok/s");
  EXPECT_EQ(prefill.row.lengths.input, 512);
  EXPECT_EQ(prefill.row.lengths.output, 0);
  EXPECT_EQ(prefill.row.engine_printed, "llama.cpp-vulkan");
  EXPECT_EQ(prefill.row.engine_version, "b7356 (34ce48d97)");
  EXPECT_EQ(prefill.row.settings.build, 7356);
  EXPECT_EQ(prefill.row.settings.gpu_layers, 100);
  EXPECT_EQ(prefill.row.settings.flash_attention, false);
  EXPECT_EQ(prefill.row.settings.depth, 0);
  EXPECT_EQ(prefill.row.settings.matrix_cores, "KHR_coopmat");
  EXPECT_EQ(prefill.row.weights, "q4_0");
  EXPECT_EQ(prefill.row.model_printed, "llama 7B");
  EXPECT_EQ(prefill.row.kv, "fp16");
  EXPECT_NEAR(*prefill.row.file_gib, 3.56, 1e-9);
  EXPECT_NEAR(*prefill.row.parameters_b, 6.74, 1e-9);
  EXPECT_EQ(prefill.cards, std::vector<std::string>{"AMD Radeon RX 7900 XTX (RADV NAVI31)"});
  EXPECT_EQ(prefill.row.devices, 1);
  EXPECT_EQ(prefill.row.scenario, Scenario::llama_bench);
  EXPECT_EQ(prefill.line, 5U);
  const ReadRow& decode = rows[1];
  EXPECT_EQ(decode.row.metric, "decode_tokens_per_s");
  EXPECT_DOUBLE_EQ(decode.row.value, 86.06);
  EXPECT_EQ(decode.row.lengths.output, 128);
  EXPECT_EQ(decode.row.settings.depth, 4096);
  EXPECT_EQ(decode.row.settings.flash_attention, true);
}

// One test as -o json prints it since 2025.
std::string json_test(std::string_view more) {
  return R"(  {
    "build_commit": "0104b151c", "build_number": 6500, "cpu_info": "AMD Ryzen 9 7950X",
    "gpu_info": "AMD Radeon RX 7900 XTX, AMD Radeon RX 7900 XTX", "backends": "ROCm",
    "model_filename": "/models/Qwen3-8B-Q4_K_M.gguf", "model_type": "qwen3 8B Q4_K - Medium",
    "model_size": 5024000000, "model_n_params": 8190735360, "n_batch": 2048, "n_ubatch": 512,
    "n_threads": 16, "type_k": "q8_0", "type_v": "q8_0", "n_gpu_layers": 99, "n_cpu_moe": 0,
    "main_gpu": 0, "no_kv_offload": false, "embeddings": false, "tensor_split": "0.00",
    "tensor_buft_overrides": "none", "avg_ns": 1, "stddev_ns": 1, "avg_ts": 100.5,
    "stddev_ts": 0.25, "samples_ns": [ 1, 2 ], "test_time": "2025-09-20T10:00:00Z",)" +
         std::string(more) + "\n  }";
}

TEST(LlamaBench, JsonWithTwoCards) {
  const std::string text =
      "[\n" + json_test(R"("split_mode": "layer", "devices": "auto", "flash_attn": -1,
                   "n_prompt": 0, "n_gen": 128, "n_depth": 8192)") +
      ",\n" + json_test(R"("split_mode": "none", "devices": "auto", "flash_attn": true,
                   "n_prompt": 512, "n_gen": 0, "n_depth": 0)") +
      ",\n" + json_test(R"("split_mode": "layer", "devices": "ROCm1", "flash_attn": 1,
                   "n_prompt": 512, "n_gen": 128, "n_depth": 0)") +
      "\n]\n";
  const auto rows = must(read_llama_bench(text, "bench.json"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].row.devices, 2);
  EXPECT_FALSE(rows[0].row.settings.flash_attention);  // the engine decided
  EXPECT_EQ(rows[0].row.settings.depth, 8192);
  EXPECT_EQ(rows[0].row.settings.ubatch, 512);
  EXPECT_EQ(rows[0].row.kv, "q8_0");
  EXPECT_EQ(rows[0].row.weights, "q4_k_m");
  EXPECT_EQ(rows[0].row.model_printed, "qwen3 8B");
  EXPECT_EQ(rows[0].model_file, "/models/Qwen3-8B-Q4_K_M.gguf");
  EXPECT_EQ(rows[0].date, "2025-09-20");
  EXPECT_NEAR(*rows[0].row.parameters_b, 8.19073536, 1e-12);
  EXPECT_EQ(rows[0].row.engine_printed, "llama.cpp");
  EXPECT_EQ(rows[1].row.devices, 1);  // split mode none: the main card alone
  EXPECT_EQ(rows[1].row.settings.flash_attention, true);
  EXPECT_EQ(rows[2].row.devices, 1);  // one named device
  // Prompt and answer together: all tokens over the whole time.
  EXPECT_EQ(rows[2].row.metric, "total_tokens_per_s");
  EXPECT_EQ(rows[2].row.scenario, Scenario::single_stream);
  EXPECT_EQ(rows[2].row.lengths.input, 512);
  EXPECT_EQ(rows[2].row.lengths.output, 128);
}

TEST(LlamaBench, JsonLinesAfterLogs) {
  std::string first = json_test(R"("n_prompt": 512, "n_gen": 0)");
  std::string second = json_test(R"("n_prompt": 0, "n_gen": 64)");
  std::erase(first, '\n');
  std::erase(second, '\n');
  const std::string text = "load_backend: loaded ROCm backend\n" + first + "\n" + second + "\n";
  const auto rows = must(read_llama_bench(text, "bench.jsonl"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].line, 2U);
  EXPECT_EQ(rows[1].line, 3U);
  EXPECT_EQ(rows[1].row.lengths.output, 64);
}

TEST(LlamaBench, Csv) {
  constexpr std::string_view kText =
      "build_commit,build_number,cpu_info,gpu_info,backends,model_type,model_size,model_n_params,"
      "n_batch,n_ubatch,type_k,type_v,n_gpu_layers,split_mode,flash_attn,n_prompt,n_gen,n_depth,"
      "avg_ts,stddev_ts\n"
      "\"0104b151c\",\"6500\",\"cpu\",\"NVIDIA GeForce RTX 4090\",\"CUDA\",\"gpt-oss 20B MXFP4 "
      "MoE\",\"12109566560\",\"20914757184\",\"2048\",\"1024\",\"f16\",\"q8_0\",\"99\",\"layer\","
      "\"1\",\"2048\",\"0\",\"0\",\"8000.5\",\"12\"\n";
  const auto rows = must(read_llama_bench(kText, "bench.csv"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.weights, "mxfp4");
  EXPECT_EQ(rows[0].row.model_printed, "gpt-oss 20B");
  EXPECT_EQ(rows[0].row.kv, "fp16/q8_0");
  EXPECT_EQ(rows[0].row.settings.ubatch, 1024);
  EXPECT_EQ(rows[0].cards, std::vector<std::string>{"NVIDIA GeForce RTX 4090"});
  // 12109566560 / 1024^3
  EXPECT_NEAR(*rows[0].row.file_gib, 11.2779, 1e-4);
}

// Builds of 2024 print a truth value for each backend, and no depth.
TEST(LlamaBench, OldBackendFlags) {
  constexpr std::string_view kText =
      "build_commit,build_number,cuda,vulkan,metal,cpu_info,gpu_info,model_type,model_size,"
      "model_n_params,n_gpu_layers,n_prompt,n_gen,avg_ts,stddev_ts\n"
      "\"abc\",\"2300\",\"0\",\"1\",\"0\",\"cpu\",\"AMD Radeon RX 7600\",\"llama 7B Q4_0\","
      "\"3825065984\",\"6738415616\",\"99\",\"512\",\"0\",\"900.1\",\"1\"\n";
  const auto rows = must(read_llama_bench(kText, "old.csv"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.engine_printed, "llama.cpp-vulkan");
  EXPECT_EQ(rows[0].row.settings.depth, 0);
}

TEST(LlamaBench, ModelDescriptions) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(split_model_type("llama 8B Q4_K - Medium"), Pair("q4_k_m", "llama 8B"));
  EXPECT_EQ(split_model_type("llama 8B Q4_K - Small"), Pair("q4_k_s", "llama 8B"));
  EXPECT_EQ(split_model_type("qwen3moe 30B.A3B Q3_K - Large"), Pair("q3_k_l", "qwen3moe 30B.A3B"));
  EXPECT_EQ(split_model_type("llama 7B Q2_K - Medium"), Pair("q2_k", "llama 7B"));
  EXPECT_EQ(split_model_type("gemma3 1B IQ1_S - 1.5625 bpw"), Pair("iq1_s", "gemma3 1B"));
  EXPECT_EQ(split_model_type("llama 1B IQ3_S mix - 3.66 bpw"), Pair("iq3_m", "llama 1B"));
  EXPECT_EQ(split_model_type("llama 8B F16"), Pair("fp16", "llama 8B"));
  EXPECT_EQ(split_model_type("llama 8B all F32"), Pair("fp32", "llama 8B"));
  EXPECT_EQ(split_model_type("phi3 3B BF16 (guessed)"), Pair("bf16", "phi3 3B"));
  EXPECT_EQ(split_model_type("something new"), Pair("", "something new"));
}

TEST(LlamaBench, MixtureOfCards) {
  const std::string text = "[\n" + json_test(R"("n_prompt": 512, "n_gen": 0,
    "gpu_info_": 0)") + "]";
  std::string mixed = text;
  const std::string one = "AMD Radeon RX 7900 XTX, AMD Radeon RX 7900 XTX";
  mixed.replace(mixed.find(one), one.size(), "AMD Radeon RX 7900 XTX, AMD Ryzen 9 7950X");
  const auto rows = must(read_llama_bench(mixed, "bench.json"));
  EXPECT_EQ(rows[0].cards.size(), 2U);
}

Error error_of(std::string_view text, const std::string& name) {
  const auto rows = read_llama_bench(text, name);
  EXPECT_FALSE(rows.has_value());
  return rows ? Error{} : rows.error();
}

TEST(LlamaBench, ErrorsSayWhere) {
  std::string text(kMarkdown);
  text.replace(text.find("490.97"), 6, "many  ");
  const Error speed = error_of(text, "bench.md");
  EXPECT_EQ(speed.where, "bench.md:5");
  EXPECT_EQ(speed.field, "avg_ts");
  EXPECT_EQ(speed.value, "many");

  text = kMarkdown;
  text.replace(text.find("3.56 GiB"), 8, "3.56 PiB");
  EXPECT_EQ(error_of(text, "bench.md").field, "size");

  const Error missing = error_of("[{\"build_commit\": \"a\", \"n_gen\": 1}]", "b.json");
  EXPECT_EQ(missing.where, "b.json:1");
  EXPECT_EQ(missing.field, "n_prompt");

  EXPECT_EQ(error_of("[\n {\"n_prompt\": \"x\", \"n_gen\": 1}]", "b.json").value, "x");
  EXPECT_EQ(error_of("[]", "b.json").where, "b.json");
  EXPECT_EQ(error_of("[{\"n_prompt\": 0, \"n_gen\": 0}]", "b.json").message,
            "nothing was measured");
}

}  // namespace
}  // namespace cairn
