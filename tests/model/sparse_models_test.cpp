// Models that choose what they attend to, share caches or differ by layer: their caches and
// work against papers, logs and hand arithmetic.
#include <gtest/gtest.h>

#include <algorithm>

#include "cairn/model/catalogue.h"
#include "cairn/model/graph.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

constexpr double kMiB = 1024.0 * 1024;
constexpr double kGiB = 1024 * kMiB;
constexpr double kMillion = 1048576;

Graph graph_of(std::string_view name) {
  static const ModelCatalogue kCatalogue = value_of(ModelCatalogue::load(test::facts().image));
  return build_graph(value_of(kCatalogue.find(name)));
}

/// Elements of the caches of one sequence, indexers' keys included.
double cached_elements(const Graph& g, double context) {
  double sum = 0;
  for (const LayerSpec& layer : g.spec.layers) {
    const AttentionSpec& a = layer.attention;
    const double entries = a.compress > 0 ? context / static_cast<double>(a.compress) : context;
    const double window = a.kind == AttentionKind::compressed ? static_cast<double>(a.window) : 0;
    sum += (window + entries) * static_cast<double>(kv_elements_per_token(a));
    sum += entries * static_cast<double>(index_elements_per_token(a));
  }
  return sum;
}

double decode_flops(const Graph& g, double context) {
  double sum = 0;
  for (const Operator& op : g.operators) sum += flops(op, {.context = context}).value();
  return sum;
}

// "9.62 GiB/sequence (in bf16), an 8.7x reduction compared to DeepSeek V3.2" at 1M positions:
// https://blog.vllm.ai on DeepSeek-V4, as quoted by
// https://news.triggerhive.com/entry/2026-04-25/ai-ainews-deepseek-v4-pro-16t-a49b-and-flash-284b-a13b-base-and
// By hand: 30 layers hold (512 + 128) / 4 elements a position and 31 hold 512 / 128.
TEST(DeepSeekV4, CacheOfAMillionPositions) {
  const double v4 = 2 * cached_elements(graph_of("deepseek-v4-pro"), kMillion);
  const double window = 2.0 * 61 * 128 * 512;
  EXPECT_DOUBLE_EQ(v4 - window, 2 * kMillion * (30 * 640 / 4.0 + 31 * 512 / 128.0));
  EXPECT_NEAR(v4 / kGiB, 9.62, 0.01);
  const double v32 = 2 * cached_elements(graph_of("deepseek-v3.2"), kMillion);
  EXPECT_NEAR(v32 / v4, 8.7, 0.05);
}

// "27% of single-token inference FLOPs ... compared with DeepSeek-V3.2" for Pro and 10% for
// Flash at 1M positions (https://huggingface.co/deepseek-ai/DeepSeek-V4-Pro); the vendor
// weighs FLOPs by their format, which favours the FP4 of V4.
TEST(DeepSeekV4, WorkOfATokenAtAMillionPositions) {
  const double v32 = decode_flops(graph_of("deepseek-v3.2"), kMillion);
  EXPECT_NEAR(decode_flops(graph_of("deepseek-v4-pro"), kMillion) / v32, 0.27, 0.02);
  EXPECT_NEAR(decode_flops(graph_of("deepseek-v4-flash"), kMillion) / v32, 0.10, 0.03);
}

// llama.cpp keeps keys alone: "21.5 MiB" for 512 cells of 43 layers in fp16.
// https://github.com/zheng1/deepseek-v4-w7900d/blob/13da32546f974e9448024835922541617c907562/results/cli-native-q4km-4096.log
TEST(DeepSeekV4, WindowKeepsOneVectorForKeyAndValue) {
  double elements = 0;
  for (const LayerSpec& layer : graph_of("deepseek-v4-flash").spec.layers) {
    elements += static_cast<double>(kv_elements_per_token(layer.attention));
  }
  EXPECT_DOUBLE_EQ(elements * 512 * 2 / kMiB, 21.5);
}

// One token at 131,072 positions, by hand: 61 layers of latent attention (128 heads, 576 + 512
// features) to 2,048 positions, and of an indexer (64 heads of 128) over all.
TEST(DeepSeekV32, WorkOfAttention) {
  const Graph g = graph_of("deepseek-v3.2");
  double attention = 0;
  double indexer = 0;
  for (const Operator& op : g.operators) {
    const double work = flops(op, {.context = 131071}).value();
    if (op.kind == OperatorKind::attention) attention += work;
    if (op.kind == OperatorKind::indexer) indexer += work;
  }
  EXPECT_DOUBLE_EQ(attention, 61 * 2.0 * 128 * 2048 * (576 + 512));
  EXPECT_DOUBLE_EQ(indexer, 61 * 2.0 * 64 * 128 * 131072);
}

// https://huggingface.co/zai-org/GLM-5.2/blob/main/config.json: 21 of 78 layers choose.
TEST(Glm52, MostLayersTakeTheChoiceOfAnEarlierOne) {
  const Graph g = graph_of("glm-5.2");
  EXPECT_EQ(std::ranges::count_if(g.spec.layers,
                                  [](const LayerSpec& l) { return !l.attention.index_shared; }),
            21);
  EXPECT_EQ(std::ranges::count(g.operators, OperatorKind::indexer, &Operator::kind), 21);
  EXPECT_DOUBLE_EQ(cached_elements(g, 1000), 1000.0 * (78 * 576 + 21 * 128));
}

// A bf16 copy of GLM-5 has 1,487,822,475,264 bytes: two for each weight, and two more for the
// correction terms of 256 experts in 75 layers, which are fp32.
// https://github.com/exo-explore/exo/blob/b5375f8cee4368d09e1ce96a56b9f81fb0bc81aa/resources/inference_model_cards/mlx-community--GLM-5-bf16.toml
TEST(Glm5, BytesOfACopyInBf16) {
  EXPECT_EQ(2 * count_parameters(graph_of("glm-5")).total + 2 * 75 * 256, 1487822475264);
}

// 16 blocks of 128 positions for each query; four index heads over one key of 128.
TEST(MiniMaxM3, ReadsBlocks) {
  const Graph g = graph_of("minimax-m3");
  const AttentionSpec& a = g.spec.layers[10].attention;
  EXPECT_DOUBLE_EQ(attended_positions(a, 99999, 1), 16 * 128);
  EXPECT_DOUBLE_EQ(attended_positions(g.spec.layers[0].attention, 99999, 1), 100000);
  EXPECT_EQ(index_elements_per_token(a), 128);
  // The tensors of a sparse layer's indexer in llama.cpp: 6144 x 512, 6144 x 128, two norms.
  // https://github.com/ggml-org/llama.cpp/blob/master/src/models/minimax-m3.cpp
  std::int64_t weights = 0;
  for (const Tensor& t : g.tensors) {
    const bool indexer = t.role >= TensorRole::indexer_q && t.role <= TensorRole::indexer_weights;
    if (t.layer == 10 && indexer) weights += t.weights();
  }
  EXPECT_EQ(weights, 6144 * 512 + 6144 * 128 + 2 * 128);
}

// A log of llama.cpp at 4,096 positions: 80 MiB for five layers of 4,096 cells, 300 MiB for 25
// of 1,536 cells (window and batch).
// https://github.com/noamsto/nix-amd-ai/blob/d246ddf529705ba8b99b1e9176a0b3c394ce1359/bench-logs/rocwmma-2026-05-19/baseline-verbose.txt
TEST(Gemma4, CachesOfBothKindsOfLayers) {
  double full = 0;
  double local = 0;
  for (const LayerSpec& layer : graph_of("gemma-4-26b-a4b").spec.layers) {
    const AttentionSpec& a = layer.attention;
    const auto bytes = 2.0 * static_cast<double>(kv_elements_per_token(a));
    (a.kind == AttentionKind::sliding ? local : full) += bytes;
  }
  EXPECT_DOUBLE_EQ(full * 4096 / kMiB, 80);
  EXPECT_DOUBLE_EQ(local * 1536 / kMiB, 300);
}

// The last 20 of the 35 layers of E2B read the cache of an earlier one.
TEST(Gemma4, SharedCachesAddNothing) {
  const Graph g = graph_of("gemma-4-e2b");
  for (std::size_t i = 0; i < g.spec.layers.size(); ++i) {
    EXPECT_EQ(kv_elements_per_token(g.spec.layers[i].attention) == 0, i >= 15) << i;
  }
}

// The files of language models alone have 7.52 B and 6.87 B parameters:
// https://github.com/charlie12345/ROCmFPX/blob/baed43ed9914b4f855afbeb2faec0b97cf0eace0/docs/build-riscv64-spacemit.md
// https://github.com/kyuz0/ML-gfx900/blob/de3f6a94438ab7cba147098af0a63196dac92442/llama.cpp/readme.md
TEST(Gemma4, LanguageModelsWithInputsOfEveryLayer) {
  const ParameterCount e4b = count_parameters(graph_of("gemma-4-e4b"));
  EXPECT_NEAR(static_cast<double>(e4b.total - e4b.parts), 7.52e9, 0.005e9);
  const ParameterCount n = count_parameters(graph_of("gemma-3n-e4b"));
  EXPECT_NEAR(static_cast<double>(n.total - n.parts), 6.87e9, 0.005e9);
}

// Two of three reads of a position at a distance are left out in every other layer; by hand at
// 4,096 positions: the last 16 blocks of 64, and an eighth of the 3,072 before.
TEST(Phi3Small, SkipsBlocksFarAway) {
  const Graph g = graph_of("phi-3-small-8k-instruct");
  EXPECT_DOUBLE_EQ(attended_positions(g.spec.layers[0].attention, 4095, 1), 1024 + 3072 / 8.0);
  EXPECT_DOUBLE_EQ(attended_positions(g.spec.layers[1].attention, 4095, 1), 4096);
}

// 31 of 80 blocks have no attention; 49 keep 8 heads of keys: 49 * 2 * 8 * 128 elements.
TEST(NemotronSuper, BlocksWithoutAttentionKeepNoCache) {
  EXPECT_DOUBLE_EQ(cached_elements(graph_of("nemotron-super-49b"), 1), 49.0 * 2 * 8 * 128);
}

// "11.5B unique parameters, excluding the shared 0.9B Embedding and 0.9B output Head", which
// the checkpoint repeats: https://github.com/deepseek-ai/DeepSeek-V3/blob/main/README_WEIGHTS.md
TEST(DraftLayers, OfDeepSeekV3) {
  const Graph g = graph_of("deepseek-v3");
  ASSERT_EQ(g.parts.size(), 1U);
  const std::int64_t copies = 2 * g.spec.vocabulary * g.spec.hidden;
  EXPECT_NEAR(static_cast<double>(count_mtp_parameters(g) - copies), 11.5e9, 0.15e9);
  EXPECT_EQ(count_mtp_parameters(graph_of("llama-3-8b")), 0);
}

}  // namespace
}  // namespace cairn
