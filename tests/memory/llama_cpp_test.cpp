// llama.cpp's places, caches and compute buffers.
#include "cairn/memory/llama_cpp.h"

#include "cairn/memory/gap_allocator.h"
#include "cairn/memory/tensor_graph.h"
#include "fixture.h"

namespace cairn {
namespace {

using memory::GapAllocator;
using memory::LlamaCppPlacement;
using memory::TensorGraph;
using test::accelerator;
using test::engine;

TEST(GapAllocator, TakesTheSmallestGapThatHolds) {
  GapAllocator a(32);
  const std::int64_t first = a.take(100);  // 128 with its padding
  const std::int64_t second = a.take(32);
  const std::int64_t third = a.take(64);
  a.take(32);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 128);
  EXPECT_EQ(third, 160);
  a.give(first, 100);
  a.give(third, 64);
  EXPECT_EQ(a.take(60), 160);   // the gap of 64, not that of 128
  EXPECT_EQ(a.take(160), 256);  // none holds it: the end
  EXPECT_EQ(a.high_water(), 416);
}

TEST(GapAllocator, JoinsGapsThatTouch) {
  GapAllocator a(1);
  a.take(10);
  a.take(10);
  a.take(10);
  a.take(10);
  a.give(0, 10);
  a.give(20, 10);
  a.give(10, 10);
  EXPECT_EQ(a.take(30), 0);
  EXPECT_EQ(a.high_water(), 40);
}

// x -> a (in place of nothing: x is an input) -> b in place of a -> c = b + a would
// need both.
TEST(TensorGraph, AResultTakesThePlaceOfWhatNobodyReadsAnyMore) {
  TensorGraph g(1);
  const auto w = g.weight(0, 0);
  const auto x = g.input(64);
  const auto a = g.add({.bytes = 1024}, {w, x});
  const auto b = g.add({.bytes = 1024, .in_place = true}, {a, w});
  g.expand(b);
  const auto bytes = g.reserve({.gpu_alignment = 32});
  EXPECT_EQ(bytes[0], 64 + 1024);  // the copy of x and one tensor
  EXPECT_EQ(bytes[1], 64);

  TensorGraph two(1);
  const auto w2 = two.weight(0, 0);
  const auto x2 = two.input(64);
  const auto a2 = two.add({.bytes = 1024}, {w2, x2});
  const auto b2 = two.add({.bytes = 1024, .in_place = true}, {a2, w2});
  two.expand(two.add({.bytes = 1024, .in_place = true}, {b2, a2}));
  EXPECT_EQ(two.reserve({.gpu_alignment = 32})[0], 64 + 2 * 1024);
}

TEST(TensorGraph, APipelineKeepsFourCopiesOfWhatCrossesDevices) {
  const auto build = [](int copies) {
    TensorGraph g(2);
    const auto x = g.input(64);
    const auto a = g.add({.bytes = 1024}, {g.weight(0, 0), x});
    const auto b = g.add({.bytes = 512}, {g.weight(0, 1), a});
    g.expand(b);
    return g.reserve({.copies = copies, .gpu_alignment = 32});
  };
  EXPECT_EQ(build(1), (std::vector<std::int64_t>{64 + 1024, 1024 + 512, 64}));
  EXPECT_EQ(build(4), (std::vector<std::int64_t>{4 * 64 + 1024, 4 * 1024 + 512, 4 * 64}));
}

TEST(TensorGraph, WeightsOnTheHostAreCopiedToTheDeviceOneAfterTheOther) {
  TensorGraph g(1);
  const auto x = g.add({.bytes = 64}, {g.weight(0, 0), g.input(32)});
  const auto a = g.add({.bytes = 64}, {g.weight(4096, 1), x});
  const auto b = g.add({.bytes = 64}, {g.weight(2048, 1), a});
  g.expand(b);
  // The first copy is freed before the second is made, so the larger one counts, beside
  // the gap of the input's copy, x and a.
  EXPECT_EQ(g.reserve({.gpu_alignment = 32})[0], 32 + 64 + 4096 + 64);
}

// What llama.cpp itself reserves for Llama 3 8B on devices that hold nothing, as packed
// in llama-cpp-python 0.3.36, in MiB as printed.
TEST(LlamaCppCompute, IsWhatTheEngineReserves) {
  struct Case {
    const char* kv;
    std::int64_t context, sequences, ubatch;
    bool flash, unified;
    std::int64_t gpu_layers;
    std::vector<double> mib;  // devices, host
  };
  const std::vector<Case> cases{
      {"fp16", 8192, 1, 512, false, false, 99, {564.01, 36.01}},
      {"fp16", 8192, 1, 512, true, false, 99, {258.50, 24.01}},
      {"fp16", 8192, 1, 512, false, false, 99, {656.02, 656.03, 120.04}},
      {"fp16", 8192, 1, 512, true, false, 99, {172.04, 322.55, 72.05}},
      {"fp16", 65536, 1, 2048, true, false, 99, {1584.16, 1584.16, 1584.16, 2186.19, 1184.22}},
      {"q8_0", 65536, 1, 512, true, false, 99, {352.09, 80.09}},
      {"q8_0", 65536, 1, 512, true, false, 99, {576.35, 576.36, 296.37}},
      {"q4_0", 16384, 4, 512, true, false, 99, {304.09, 32.09}},
      {"fp16", 4096, 4, 512, true, false, 99, {258.50, 20.01}},
      {"fp16", 4096, 4, 512, true, true, 99, {258.50, 32.01}},
      {"fp16", 4096, 4, 512, false, false, 99, {368.02, 368.03, 88.04}},
      {"fp16", 8192, 1, 512, true, false, 0, {2262.50, 24.01}},
  };
  const test::Model model(test::dense(test::llama_3_8b()), "f32");
  for (const Case& c : cases) {
    MemoryDemand d = model.demand(engine("llama.cpp"), c.kv);
    d.context = c.context;
    d.sequences = c.sequences;
    d.config.ubatch = c.ubatch;
    d.config.flash_attention = c.flash;
    d.config.unified_cache = c.unified;
    d.config.reserve_all_outputs = true;
    d.config.gpu_layers = c.gpu_layers;
    d.layout.pp = static_cast<int>(c.mib.size()) - 1;
    const auto placement = test::must(memory::llama_cpp_placement(d));
    const auto ours = memory::llama_cpp_compute(d, engine("llama.cpp"), placement);
    ASSERT_EQ(ours.size(), c.mib.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_NEAR(in_mib(ours[i]), c.mib[i], 0.0051)
          << c.kv << " " << c.context << " x " << c.sequences << ", device " << i;
    }
  }
}

TEST(LlamaCppPlacement, CountsLayersFromTheLastAndTheHeadAsOneMore) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand d = model.demand(engine("llama.cpp"));
  d.config.gpu_layers = 3;
  LlamaCppPlacement p = test::must(memory::llama_cpp_placement(d));
  EXPECT_EQ(p.layers[29], 1);  // the host
  EXPECT_EQ(p.layers[30], 0);
  EXPECT_EQ(p.head, 0);
  EXPECT_FALSE(p.pipeline);

  d.config.gpu_layers.reset();
  d.layout.pp = 2;
  d.config.tensor_split = {3, 1};  // 33 items: 24.75 to the first
  p = test::must(memory::llama_cpp_placement(d));
  EXPECT_EQ(p.layers[24], 0);
  EXPECT_EQ(p.layers[25], 1);
  EXPECT_TRUE(p.pipeline);

  d.config.tensor_split = {1, 2, 3};
  EXPECT_FALSE(memory::llama_cpp_placement(d));
}

TEST(LlamaCppPlacement, KeepsExpertsAndNamedTensorsOnTheHost) {
  ModelSpec spec = test::dense(test::llama_3_8b());
  for (LayerSpec& l : spec.layers) {
    l.feed_forward = {.experts = 8, .experts_per_token = 2, .expert_intermediate = 1024};
  }
  const test::Model model(spec, "f16");
  MemoryDemand d = model.demand(engine("llama.cpp"));
  const auto host = [&] {
    const auto p = test::must(memory::llama_cpp_placement(d));
    return memory::llama_cpp_weights(d, engine("llama.cpp"), p).back();
  };
  const Bytes table = host();
  // Three matrices of 8 x 1024 x 4096 halves a layer: 192 MiB.
  d.config.host_expert_layers = 10;
  EXPECT_EQ(host() - table, mib(10 * 192));
  d.config.host_expert_layers = 0;
  d.config.host_tensors = {R"(blk\.1[0-4]\.ffn_(up|down)_exps)"};
  EXPECT_EQ(host() - table, mib(5 * 128));
  d.config.host_tensors = {"("};
  EXPECT_FALSE(memory::llama_cpp_placement(d));
}

TEST(LlamaCppPlacement, RowsOfMatricesAreShared) {
  const test::Model model(test::dense(test::llama_3_8b()), "q8_0");
  MemoryDemand d = model.demand(engine("llama.cpp"));
  d.layout.pp = 2;
  d.config.split = SplitMode::row;
  d.config.tensor_split = {3, 1};
  const auto p = test::must(memory::llama_cpp_placement(d));
  EXPECT_FALSE(p.pipeline);
  const auto w = memory::llama_cpp_weights(d, engine("llama.cpp"), p);
  // All is matrices but norms: three quarters of the rows, to 128 rows.
  EXPECT_NEAR(w[0] / w[1], 3, 0.01);
}

TEST(LlamaCpp, RefusesAQuantisedCacheWithoutFlashAttention) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand d = model.demand(engine("llama.cpp"), "q8_0");
  d.config.flash_attention = false;
  EXPECT_FALSE(estimate_memory(d, engine("llama.cpp"), accelerator("mi300x")));
}

// Releases before b9465 expand a quantised cache in a pool: 131072 x 2048 halves of one
// layer are 512 MiB. Vulkan reads it as it is.
TEST(LlamaCpp, ExpandsAQuantisedCacheForFlashAttention) {
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  const auto part = [&](std::string_view name, std::string_view what) {
    MemoryDemand d = model.demand(engine(name), "q8_0");
    d.context = 131072;
    return in_mib(test::must(estimate_memory(d, engine(name), accelerator("mi300x")))
                      .devices.front()
                      .part(what));
  };
  EXPECT_DOUBLE_EQ(part("llama.cpp@9000", "runtime"), 318 + 512);
  EXPECT_DOUBLE_EQ(part("llama.cpp", "runtime"), 318);
  EXPECT_DOUBLE_EQ(part("llama.cpp-vulkan", "runtime"), 1231);
  EXPECT_GT(part("llama.cpp", "compute"), part("llama.cpp-vulkan", "compute") + 400);
}

TEST(LlamaCppCells, WindowsOfSequencesThatShareACacheAddUp) {
  AttentionSpec a;
  a.kind = AttentionKind::sliding;
  a.window = 1024;
  const test::Model model(test::dense(test::llama_3_8b()), "q4_k_m");
  MemoryDemand d = model.demand(engine("llama.cpp"));
  d.context = 16384;
  d.sequences = 4;
  EXPECT_EQ(memory::llama_cpp_cells(a, d).all(), 4 * 1536);  // 1024 + 512, four times
  d.config.unified_cache = true;
  EXPECT_EQ(memory::llama_cpp_cells(a, d).all(), 4608);  // 4 x 1024 + 512
  d.config.full_window_cache = true;
  EXPECT_EQ(memory::llama_cpp_cells(a, d).all(), 65536);
}

}  // namespace
}  // namespace cairn
