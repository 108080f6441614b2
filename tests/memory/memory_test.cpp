#include "cairn/memory/memory.h"

#include <gtest/gtest.h>

#include "cairn/memory/estimates.h"
#include "cairn/memory/server_parts.h"
#include "cairn/memory/vllm_memory.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::accelerator;
using test::engine;

// Of llama_cpp_kv.csv: KV buffers that llama.cpp printed, with the shape of the
// model written out, so that nothing but the cache is tested.
ModelSpec spec_of(const Row& row, const Table& table) {
  const auto count = [&](std::string_view name) {
    const auto n = test::must(row.number(test::must(table.column(name))));
    return static_cast<std::int64_t>(n.value_or(0));
  };
  ModelSpec s =
      test::dense({count("layers"), 1024, 16, count("kv_heads"), count("head_dim"), 1024, 1000});
  if (count("latent") > 0) {
    for (LayerSpec& layer : s.layers) {
      AttentionSpec& a = layer.attention;
      a.kind = AttentionKind::mla;
      a.qk_rope_head_dim = 64;
      a.kv_lora_rank = count("latent") - a.qk_rope_head_dim;
      a.kv_heads = a.heads = 16;
      a.qk_nope_head_dim = a.v_head_dim = 128;
      a.head_dim = 192;
    }
  }
  LayerSpec windowed;
  windowed.attention.kind = AttentionKind::sliding;
  windowed.attention.window = count("window");
  windowed.attention.heads = 16;
  windowed.attention.kv_heads = count("windowed_kv_heads");
  windowed.attention.head_dim = windowed.attention.v_head_dim = count("windowed_head_dim");
  windowed.feed_forward.intermediate = 1024;
  s.layers.insert(s.layers.end(), static_cast<std::size_t>(count("windowed_layers")), windowed);
  return s;
}

TEST(LlamaCppKvCache, IsWhatTheEnginePrinted) {
  const Document document =
      test::must(load_csv(std::string(CAIRN_SOURCE_DIR) + "/tests/memory/llama_cpp_kv.csv"));
  const Table table = test::must(Table::from(document.root()));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto text = [&](std::string_view name) {
      return row.text(test::must(table.column(name)));
    };
    const auto number = [&](std::string_view name) { return *parse_number(text(name)); };
    const test::Model model(spec_of(row, table), "f16");
    MemoryDemand demand = model.demand(engine("llama.cpp"), text("kv_format"));
    demand.context = static_cast<std::int64_t>(number("context"));
    demand.config.ubatch = static_cast<std::int64_t>(number("ubatch"));
    demand.config.context_pad = static_cast<std::int64_t>(number("pad"));
    demand.layout.pp = static_cast<int>(number("devices"));
    const MemoryEstimate estimate =
        test::must(estimate_memory(demand, engine("llama.cpp"), accelerator("mi300x")));
    const std::size_t device =
        text("device").empty() ? 0 : static_cast<std::size_t>(number("device"));
    EXPECT_NEAR(in_mib(estimate.devices[device].part("kv_cache")), number("mib"), 0.0051)
        << text("model") << ": " << text("source_url");
  }
  EXPECT_GE(table.rows(), 25U);
}

TEST(KvBytes, CountsWholeBlocksAndTheShareOfARank) {
  AttentionSpec a;
  a.heads = 32;
  a.kv_heads = 8;
  a.head_dim = a.v_head_dim = 128;
  // 2 x 1024 elements of 2 bytes; q8_0: 2 x 32 blocks of 34 bytes.
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 1, 1), Bytes(4096));
  EXPECT_EQ(kv_bytes(a, test::kv_format("q8_0"), 1, 1), Bytes(2176));
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp8"), 1, 1), Bytes(2048));
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 10, 4), Bytes(10 * 1024));
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 1, 16), Bytes(512));  // one head, repeated
  a.shares_kv = true;
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 1, 1), Bytes(0));
}

TEST(KvBytes, KeepsTheWholeLatentOnEveryRank) {
  AttentionSpec a;
  a.kind = AttentionKind::mla;
  a.heads = a.kv_heads = 128;
  a.kv_lora_rank = 512;
  a.qk_rope_head_dim = 64;
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 1, 1), Bytes(1152));
  EXPECT_EQ(kv_bytes(a, test::kv_format("fp16"), 1, 8), Bytes(1152));
}

// Llama 3 8B at q4_k_m: the loader prints CPU 281.81 MiB and device 4403.49 MiB
// (https://github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference, 3070_v3.ipynb),
// KV 1024 MiB at 8192 and, without flash attention, compute buffers of 560.00 MiB on the
// device and 24.01 MiB on the host, in release b2824.
TEST(LlamaCpp, AddsUpTheBuffersOfALog) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand demand = model.demand(engine("llama.cpp@2824"));
  demand.context = 8192;
  demand.config.flash_attention = false;
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("llama.cpp"), accelerator("rx-7900-xtx")));
  ASSERT_EQ(e.devices.size(), 1U);
  const DeviceMemory& d = e.devices.front();
  EXPECT_NEAR(in_mib(d.part("weights")), 4403.49, 0.02);
  EXPECT_EQ(d.part("kv_cache"), mib(1024));
  EXPECT_NEAR(in_mib(d.part("compute")), 560, 0.006);
  EXPECT_EQ(d.part("runtime"), mib(318));
  EXPECT_EQ(d.total, d.part("weights") + d.part("compute") + mib(1024 + 318));
  // The host holds the token table, inputs and the logits of one position.
  EXPECT_NEAR(in_mib(e.host), 281.81 + 24.01 + 128256 * 4 / kMiB, 0.011);
  EXPECT_TRUE(e.fits);
  EXPECT_EQ(e.kv_tokens, 8192);
  EXPECT_EQ(d.device, "rx-7900-xtx");
}

TEST(LlamaCpp, SplitsByLayerOverDevices) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand demand = model.demand(engine("llama.cpp"));
  demand.context = 8192;
  demand.layout.pp = 2;
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("llama.cpp"), accelerator("rx-7900-xtx")));
  ASSERT_EQ(e.devices.size(), 2U);
  EXPECT_EQ(e.devices[1].device, "rx-7900-xtx#1");
  EXPECT_NEAR(in_mib(e.devices[0].part("weights")), 2113.28, 0.02);  // 3090_2_v3.ipynb
  EXPECT_NEAR(in_mib(e.devices[1].part("weights")), 2290.21, 0.02);
  EXPECT_EQ(e.devices[0].part("kv_cache"), mib(17 * 32));  // 17 of 32 layers
}

TEST(LlamaCpp, SaysWhatItCannotSay) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand demand = model.demand(engine("llama.cpp"));
  demand.layout.tp = 2;
  const auto split = estimate_memory(demand, engine("llama.cpp"), accelerator("mi300x"));
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().kind, ErrorKind::unsupported);
  demand.layout.tp = 1;
  demand.context = 0;
  const auto none = estimate_memory(demand, engine("llama.cpp"), accelerator("mi300x"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().field, "context");
}

// Llama 3.1 8B on RTX 4090, 0.9 of the memory, 256 sequences: 41408 tokens
// (https://github.com/casys-kaist/LLMServingSim, bench/examples/RTX4090).
TEST(Vllm, FillsItsShareWithBlocks) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  spec.max_context = 131072;
  const test::Model model(std::move(spec), "bf16");
  MemoryDemand demand = model.demand(engine("vllm@0.19.0"), "bf16");
  demand.context = 32768;
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("vllm@0.19.0"), accelerator("rtx-4090")));
  const DeviceMemory& d = e.devices.front();
  // 8.03e9 weights and a table of 131072 x 128 halves; printed: 14.9889 GiB.
  EXPECT_NEAR(in_gib(d.part("weights")), 14.9889, 0.0005);
  EXPECT_NEAR(static_cast<double>(e.kv_tokens) / 41408, 1, 0.01);
  EXPECT_TRUE(e.fits);
  // The share and the graphs, never more than the device.
  EXPECT_NEAR(d.total / d.capacity, 0.9 + 300.0 / 24081, 0.001);
  demand.context = 65536;
  EXPECT_FALSE(
      test::must(estimate_memory(demand, engine("vllm@0.19.0"), accelerator("rtx-4090"))).fits);
}

// vLLM 0.9.2 on MI300X: 14.63 GiB at the peak of a step of 131072 tokens (V0 runs
// the whole context at once): 131072 x (3 x 14336 + 4 x 4096) halves = 14.5 GiB.
TEST(Vllm, ProfilesTheWidestStep) {
  const test::Model model(test::dense(test::llama_3_8b()), "bf16");
  MemoryDemand demand = model.demand(engine("vllm"), "bf16");
  demand.config.max_batched_tokens = 131072;
  const Share share = test::must(divide(model.graph, demand.layout)).front();
  const Bytes peak = memory::server_activations(demand, engine("vllm"), share);
  EXPECT_DOUBLE_EQ(in_gib(peak), 14.5);
  EXPECT_NEAR(in_gib(peak) / 14.63, 1, 0.01);
}

// Gemma 3 12B on one R9700: 16.25 GiB for the cache hold 10.51 sequences of 9900
// positions with steps of 2048 tokens (kyuz0/amd-r9700-vllm-toolboxes,
// gemma-3-12b-it-FP8-dynamic_tp1_server.log). 8 full layers of 619 blocks and 5
// groups of 8 windowed ones of 193, each block of a layer 16 x 8192 bytes.
TEST(Vllm, WindowedLayersKeepTheWindowAndAStep) {
  ModelSpec spec = test::dense({48, 3840, 16, 8, 256, 15360, 262208});
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    if (i % 6 == 5) continue;
    spec.layers[i].attention.kind = AttentionKind::sliding;
    spec.layers[i].attention.window = 1024;
  }
  const test::Model model(std::move(spec), "bf16");
  MemoryDemand demand = model.demand(engine("vllm"), "bf16");
  demand.context = 9900;
  const Share share = test::must(divide(model.graph, demand.layout)).front();
  const Bytes each = memory::vllm_pool(demand, share).sequence();
  EXPECT_EQ(each, Bytes(8.0 * 16 * 8192 * (619 + 5 * 193)));
  EXPECT_NEAR(gib(16.25) / each, 10.51, 0.01);
}

TEST(Search, FindsTheLargestContextAndBatch) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  const EngineInfo& e = engine("llama.cpp");
  const Accelerator& a = accelerator("rx-7900-xtx");
  MemoryDemand demand = model.demand(e);
  const std::int64_t context = test::must(largest_context(demand, e, a, 1 << 20));
  demand.context = context;
  EXPECT_TRUE(test::must(estimate_memory(demand, e, a)).fits);
  demand.context = context + 256;
  EXPECT_FALSE(test::must(estimate_memory(demand, e, a)).fits);
  EXPECT_EQ(test::must(largest_context(demand, e, a, 10000)), 10000);

  demand.context = 4096;
  const std::int64_t batch = test::must(largest_batch(demand, e, a, 1000));
  demand.sequences = batch;
  EXPECT_TRUE(test::must(estimate_memory(demand, e, a)).fits);
  demand.sequences = batch + 1;
  EXPECT_FALSE(test::must(estimate_memory(demand, e, a)).fits);
}

TEST(Search, CountsResidentSequencesOfVllm) {
  const test::Model model(test::dense(test::llama_3_8b()), "bf16");
  const EngineInfo& e = engine("vllm");
  const Accelerator& a = accelerator("mi300x");
  MemoryDemand demand = model.demand(e, "bf16");
  demand.context = 8192;
  const MemoryEstimate estimate = test::must(estimate_memory(demand, e, a));
  EXPECT_EQ(test::must(largest_batch(demand, e, a, 100000)),
            static_cast<std::int64_t>(estimate.resident_sequences));
  // Sequences that are not resident wait: the deployment fits all the same.
  demand.sequences = 100000;
  EXPECT_TRUE(test::must(estimate_memory(demand, e, a)).fits);
}

TEST(Search, FindsNothingWhereTheWeightsDoNotFit) {
  const test::Model model(test::dense({80, 8192, 64, 8, 128, 28672, 128256}), "f16");
  const EngineInfo& e = engine("llama.cpp");
  const Accelerator& a = accelerator("rx-7900-xtx");
  EXPECT_EQ(test::must(largest_context(model.demand(e), e, a, 131072)), 0);
  EXPECT_EQ(test::must(largest_batch(model.demand(e), e, a, 64)), 0);
}

// What would just fit may be 2 % more: 15.6 x 1.02 = 15.912 is more than 15.9, and
// 15.5 x 1.02 = 15.81 is not.
TEST(MemoryEstimate, IsNarrowWithinItsError) {
  const auto needing = [](double need) {
    MemoryEstimate m;
    m.fits = true;
    m.sigma = 0.02;
    m.devices = {{"roomy", gib(24), gib(10), gib(10), {}},
                 {"full", gib(15.9), gib(need), gib(need), {}}};
    return m;
  };
  EXPECT_TRUE(needing(15.6).narrow());
  EXPECT_FALSE(needing(15.5).narrow());
  EXPECT_FALSE(needing(15.6).narrow(needing(15.6).devices.front()));
  MemoryEstimate too_large = needing(16);
  too_large.fits = false;
  EXPECT_FALSE(too_large.narrow());
}

}  // namespace
}  // namespace cairn
