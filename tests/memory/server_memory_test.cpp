// SGLang, TensorRT-LLM, transformers, and vLLM's pools of hybrid models, against printed
// figures and arithmetic by hand. More logs: tests/accuracy/server_memory_accuracy.cpp.
#include <gtest/gtest.h>

#include "cairn/memory/server_parts.h"
#include "cairn/memory/sglang_memory.h"
#include "cairn/memory/vllm_memory.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::accelerator;
using test::engine;

// Qwen3-Next-80B-A3B without its experts
// (https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct/blob/main/config.json).
ModelSpec qwen3_next() {
  ModelSpec spec = test::dense({48, 2048, 16, 2, 256, 5120, 151936});
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    if (i % 4 == 3) continue;
    LayerSpec& layer = spec.layers[i];
    layer.attention = {};
    layer.recurrent.kind = RecurrentKind::gated_delta_net;
    layer.recurrent.heads = 32;
    layer.recurrent.key_heads = 16;
    layer.recurrent.key_dim = layer.recurrent.value_dim = 128;
    layer.recurrent.conv = 4;
  }
  return spec;
}

// A rank of two: a position takes 1 head x 256 x 2 halves = 1024 bytes in a full layer; a
// state 16 x 128 x 128 halves and a window of 3 x 4096 halves, 548864 bytes, which is 536
// positions, in blocks of 16: 544. 12 layers a group: 1 group of attention, 3 of states.
// vLLM 0.12 on two R9700 prints 154,496 tokens and 33.47x at 16,384 for 7.09 GiB
// (kyuz0/amd-r9700-vllm-toolboxes, Qwen3-Next-80B-A3B-Instruct-AWQ-4bit_tp2_server.log).
TEST(VllmHybrid, BlocksHoldAState) {
  const test::Model model(qwen3_next(), "bf16");
  const EngineInfo& vllm = engine("vllm@0.12");
  MemoryDemand demand = model.demand(vllm, "bf16");
  demand.layout.tp = 2;
  demand.context = 16384;
  const Share share = test::must(divide(model.graph, demand.layout)).front();
  const memory::KvPool pool = memory::vllm_pool(demand, share);
  EXPECT_EQ(pool.block_tokens, 544);
  EXPECT_EQ(pool.block, Bytes(12.0 * 544 * 1024));
  EXPECT_EQ(pool.groups, 4);
  EXPECT_EQ(pool.sequence_blocks, 31 + 3);  // ceil(16384 / 544) and a block a state
  const auto count = static_cast<std::int64_t>(gib(7.09) / pool.block);
  EXPECT_EQ(memory::vllm_tokens(pool, count, demand, vllm), 154496);
  EXPECT_NEAR(static_cast<double>(count) / 34, 33.47, 0.01);
  // Later releases print what the concurrency comes to.
  EXPECT_NEAR(static_cast<double>(memory::vllm_tokens(pool, count, demand, engine("vllm"))),
              33.47 * 16384, 200);
}

// Layers that keep all positions and differ in heads share blocks without filling up.
TEST(VllmPool, SumsLayersOfOneKind) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  for (std::size_t i = 0; i < 16; ++i) spec.layers[i].attention.kv_heads = 2;
  const test::Model model(std::move(spec), "bf16");
  MemoryDemand demand = model.demand(engine("vllm"), "bf16");
  demand.context = 16;
  const Share share = test::must(divide(model.graph, demand.layout)).front();
  // 16 positions x 128 x 2 (K and V) x 2 bytes x (16 layers of 2 heads and 16 of 8).
  EXPECT_EQ(memory::vllm_pool(demand, share).sequence(), Bytes(16.0 * 128 * 2 * 2 * 16 * 10));
}

// DeepSeek V4: layers without compression, then of 4 and of 128 positions an entry
// (https://huggingface.co/deepseek-ai/DeepSeek-V4-Pro/blob/main/config.json, and Flash).
ModelSpec deepseek_v4(std::size_t plain, std::size_t of_4, std::size_t of_128) {
  const auto layers = static_cast<std::int64_t>(plain + of_4 + of_128);
  ModelSpec spec = test::dense({layers, 4096, 64, 1, 512, 2048, 129280});
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    AttentionSpec& a = spec.layers[i].attention;
    a.kind = AttentionKind::compressed;
    a.window = 128;
    if (i >= plain) a.compress = i < plain + of_4 ? 4 : 128;
    if (a.compress != 4) continue;
    a.index_heads = 64;
    a.index_head_dim = 128;
  }
  return spec;
}

// What the engine says it needs for one sequence: of V4 Pro for 1,048,576 positions 14.88
// GiB (https://github.com/SemiAnalysisAI/InferenceX/pull/2540) and 24.06 GiB (pull/2522),
// which are steps of 16384 and of 32768 tokens, and of V4 Flash for 30,000 positions 6.66
// GiB with the 16384 tokens of the offline engine (vllm-project/vllm#44376). A block has
// pages of 37440, 8640 and 1728 bytes for each of 31 and 22 layers.
TEST(VllmCompressed, NeedsWhatTheEngineSays) {
  const auto need = [](ModelSpec spec, std::int64_t context, std::int64_t tokens) {
    const test::Model model(std::move(spec), "bf16");
    MemoryDemand demand = model.demand(engine("vllm"), "fp8");
    demand.context = context;
    demand.config.max_batched_tokens = tokens;
    const Share share = test::must(divide(model.graph, demand.layout)).front();
    return memory::vllm_pool(demand, share);
  };
  const memory::KvPool pro = need(deepseek_v4(0, 30, 31), 1048576, 16384);
  EXPECT_EQ(pro.block, Bytes(31.0 * (37440 + 8640 + 1728)));
  EXPECT_EQ(pro.groups, 5);
  // Entries; two groups of windows; states of entries of 4 and of 128.
  EXPECT_EQ(pro.sequence_blocks, 4096 + 2 * 259 + 4099 + 2065);
  EXPECT_NEAR(in_gib(pro.sequence()), 14.88, 0.005);
  EXPECT_NEAR(in_gib(need(deepseek_v4(0, 30, 31), 1048576, 32768).sequence()), 24.06, 0.005);
  const memory::KvPool flash = need(deepseek_v4(2, 21, 20), 30000, 16384);
  EXPECT_EQ(flash.block, Bytes(22.0 * (37440 + 8640 + 1728)));
  EXPECT_NEAR(in_gib(flash.sequence()), 6.66, 0.005);
}

// The indexer's keys are gathered for 40 contexts: 4.92 GiB for 1,000,000 positions, of
// which the engine prints 5,036.40 MB with a buffer of 1 MB
// (https://github.com/vllm-project/vllm/issues/55221).
TEST(VllmSparse, GathersKeysOfTheIndexer) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  for (LayerSpec& layer : spec.layers) {
    layer.attention.index_heads = 64;
    layer.attention.index_head_dim = 128;
  }
  const test::Model plain(test::dense(test::llama_3_8b()), "bf16");
  const test::Model sparse(std::move(spec), "bf16");
  const auto step = [&](const test::Model& model) {
    MemoryDemand demand = model.demand(engine("vllm"), "bf16");
    demand.context = 1000000;
    const Share share = test::must(divide(model.graph, demand.layout)).front();
    return memory::server_activations(demand, engine("vllm"), share);
  };
  EXPECT_NEAR(in_mib(step(sparse) - step(plain)), 5036.40 - 1, 1);
}

// From 0.21 the graphs that NVIDIA devices capture are kept free of cache.
TEST(VllmReleases, GraphsAreCountedSince021) {
  const test::Model model(test::dense(test::llama_3_8b()), "bf16");
  const auto room = [&](std::string_view release) {
    MemoryDemand demand = model.demand(engine(release), "bf16");
    demand.config.memory_fraction = 0.9;
    return test::must(estimate_memory(demand, engine(release), accelerator("h100-sxm")))
        .devices.front()
        .part("kv_cache");
  };
  EXPECT_EQ(room("vllm@0.20.1") - room("vllm@0.21.0"), mib(300));
}

// Kimi-K2.5 on four GB300 of 284131 MiB: chunks of 16384 tokens and 128 captured sequences
// leave 512 + 1.5 x 16384 + 2 x 128 + 4 x 128 = 25856 MiB, 0.909 of the device; a tower of
// 27 layers of 1152 features takes 0.95 x (1 - 0.1 x 0.4238) of that. Printed:
// mem_fraction_static=0.8269503222656249, and with 16 sequences 0.82786005859375
// (Prathmesh234/mutliturn-inferenceX, results/kimi_b1_sglang/slurm-6821.out and 6720).
TEST(Sglang, WorksOutItsShare) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  ModelSpec tower;
  tower.part = ModelPart::vision;
  tower.hidden = 1152;
  tower.layers.resize(27);
  spec.parts.push_back(tower);
  const Graph graph = build_graph(std::move(spec));
  MemoryDemand demand;
  demand.graph = &graph;
  demand.layout.tp = 4;
  demand.config = engine("sglang").reference;
  demand.config.max_batched_tokens = 16384;
  demand.config.graph_batch = 128;
  EXPECT_NEAR(memory::sglang_share(demand, engine("sglang"), mib(284131)), 0.8269503222656249,
              1e-12);
  demand.config.graph_batch = 16;
  EXPECT_NEAR(memory::sglang_share(demand, engine("sglang"), mib(284131)), 0.82786005859375, 1e-12);
  demand.config.memory_fraction = 0.7;
  EXPECT_EQ(memory::sglang_share(demand, engine("sglang"), mib(284131)), 0.7);
}

// H100 of 79.2 GiB (81559 - 483 MiB) with 1900 MiB taken before loading: 0.8 of the rest
// less 14.96 GiB of weights is 46.90 GiB, of 128 KiB a position.
TEST(Sglang, FillsItsShareWithCells) {
  const test::Model model(test::dense(test::llama_3_8b()), "bf16");
  MemoryDemand demand = model.demand(engine("sglang"), "bf16");
  demand.config.memory_fraction = 0.8;
  demand.context = 8192;
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("sglang"), accelerator("h100-sxm")));
  const double weights = e.devices.front().part("weights").value();
  const double room = (81559.0 - 483 - 1900) * 1024 * 1024 * 0.8 - weights;
  EXPECT_EQ(e.kv_tokens, static_cast<std::int64_t>(room / (128 * 1024)));
  EXPECT_NEAR(e.resident_sequences, static_cast<double>(e.kv_tokens) / 8192, 1e-9);
  EXPECT_NEAR(in_gib(Bytes(room)), 46.90, 0.01);
}

// Half of the layers windowed: they have 0.8 times as many cells, so a full layer has
// room / (16 x 4096 x (1 + 0.8)) of them.
TEST(Sglang, WindowedLayersHaveFewerCells) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  for (std::size_t i = 0; i < 16; ++i) {
    spec.layers[i].attention.kind = AttentionKind::sliding;
    spec.layers[i].attention.window = 1024;
  }
  const test::Model model(std::move(spec), "bf16");
  const MemoryDemand demand = model.demand(engine("sglang"), "bf16");
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("sglang"), accelerator("h100-sxm")));
  const double room = e.devices.front().part("kv_cache").value();
  EXPECT_NEAR(static_cast<double>(e.kv_tokens), room / (16 * 4096 * 1.8), 1);
}

// States take 0.9 / 1.9 of the room and a running sequence pins three.
TEST(Sglang, StatesTakeTheirShareFirst) {
  const test::Model model(qwen3_next(), "bf16");
  const MemoryDemand demand = model.demand(engine("sglang"), "bf16");
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("sglang"), accelerator("h100-sxm")));
  const double room = e.devices.front().part("kv_cache").value();
  const double state = 36.0 * (32 * 128 * 128 + 3 * 8192) * 2;
  const double slots = std::floor(room * 0.9 / 1.9 / state);
  EXPECT_EQ(e.kv_tokens, static_cast<std::int64_t>((room - slots * state) / (12 * 2048)));
  EXPECT_EQ(e.resident_sequences, std::floor(slots / 3));
}

// 0.9 of what 79.2 GiB leave after weights, a step of 8192 tokens and the runtime.
TEST(TensorRtLlm, TakesAShareOfWhatIsLeft) {
  const test::Model model(test::dense(test::llama_3_8b()), "bf16");
  MemoryDemand demand = model.demand(engine("tensorrt-llm"), "bf16");
  demand.config.max_sequences = 16;
  demand.context = 1000;
  const MemoryEstimate e =
      test::must(estimate_memory(demand, engine("tensorrt-llm"), accelerator("h100-sxm")));
  const DeviceMemory& d = e.devices.front();
  // 8192 x (3 x 14336 + 4 x 4096) halves = 928 MiB.
  EXPECT_EQ(d.part("activations"), mib(928));
  const double left = (81559.0 - 483 - 928 - 791) * 1024 * 1024 - d.part("weights").value();
  EXPECT_NEAR(d.part("kv_cache").value() / (0.9 * left), 1, 1e-12);
  // 1000 positions are 32 blocks of 32, of 128 KiB a position.
  EXPECT_NEAR(e.resident_sequences, 0.9 * left / (1024.0 * 128 * 1024), 1e-6);
}

// Qwen-7B generating 2048 tokens: 16.99 GB on A100, and 144.69 GB for Qwen-72B on two
// (https://github.com/QwenLM/Qwen/blob/main/README.md). A growing cache is held twice.
TEST(Transformers, HoldsAGrowingCacheTwice) {
  ModelSpec spec = test::dense({32, 4096, 32, 32, 128, 11008, 151936});
  const test::Model model(std::move(spec), "bf16");
  MemoryDemand demand = model.demand(engine("transformers"), "bf16");
  demand.context = 2048;
  const Accelerator& a = accelerator("a100-80gb-sxm");
  const MemoryEstimate e = test::must(estimate_memory(demand, engine("transformers"), a));
  const DeviceMemory& d = e.devices.front();
  EXPECT_EQ(d.part("kv_cache"), gib(2));  // 2048 x 32 x 2 x 4096 halves, twice
  EXPECT_NEAR(in_gib(d.total) / 16.99, 1, 0.02);
  demand.config.static_cache = true;
  const MemoryEstimate fixed = test::must(estimate_memory(demand, engine("transformers"), a));
  EXPECT_EQ(fixed.devices.front().part("kv_cache"), gib(1));
  demand.sequences = 100;
  EXPECT_FALSE(test::must(estimate_memory(demand, engine("transformers"), a)).fits);
}

}  // namespace
}  // namespace cairn
