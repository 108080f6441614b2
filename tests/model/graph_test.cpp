// Graphs against arithmetic written out in the test and published figures.
#include "cairn/model/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cairn/model/catalogue.h"
#include "facts.h"

namespace cairn {
namespace {

const ModelCatalogue& catalogue() {
  static const ModelCatalogue kCatalogue =
      test::value_of(ModelCatalogue::load(test::facts().image));
  return kCatalogue;
}

Graph graph_of(std::string_view name) {
  return build_graph(test::value_of(catalogue().find(name)));
}

// The definition, one query after another.
double attended_one_by_one(const AttentionSpec& a, int context, int tokens) {
  double sum = 0;
  for (int i = 0; i < tokens; ++i) {
    const std::int64_t seen = context + i + 1;  // itself included
    switch (a.kind) {
      case AttentionKind::sliding:
        sum += static_cast<double>(std::min(seen, a.window));
        break;
      case AttentionKind::chunked:
        sum += static_cast<double>((context + i) % a.window + 1);
        break;
      default:
        sum += static_cast<double>(seen);
    }
  }
  return sum / tokens;
}

TEST(AttendedPositions, FullAttentionIsCausal) {
  const AttentionSpec a;
  EXPECT_DOUBLE_EQ(attended_positions(a, 0, 1), 1);        // a token sees itself
  EXPECT_DOUBLE_EQ(attended_positions(a, 4095, 1), 4096);  // decode
  EXPECT_DOUBLE_EQ(attended_positions(a, 0, 4), 2.5);      // (1 + 2 + 3 + 4) / 4
  EXPECT_DOUBLE_EQ(attended_positions(a, 10, 2), 11.5);    // (11 + 12) / 2
  EXPECT_DOUBLE_EQ(attended_positions(a, 10, 0), 0);
}

TEST(AttendedPositions, WindowsAndChunksMatchTheirDefinition) {
  for (const AttentionKind kind : {AttentionKind::sliding, AttentionKind::chunked}) {
    AttentionSpec a;
    a.kind = kind;
    a.window = 8;
    for (const int context : {0, 1, 5, 7, 8, 9, 16, 100}) {
      for (const int tokens : {1, 2, 3, 8, 9, 25}) {
        EXPECT_NEAR(attended_positions(a, context, tokens), attended_one_by_one(a, context, tokens),
                    1e-9)
            << static_cast<int>(kind) << " " << context << " " << tokens;
      }
    }
  }
}

TEST(Flops, LinearOperatorsOfLlama2CountTwiceTheirWeights) {
  // Llama 2 7B without its embedding: 32 * (4 * 4096^2 + 3 * 4096 * 11008) + 32000 * 4096
  // = 6,607,077,376 weights in matrices; 2 FLOPs each and token.
  const Graph g = graph_of("llama-2-7b");
  const Step decode{.sequences = 1, .tokens_per_sequence = 1, .context = 0, .output_tokens = 1};
  double sum = 0;
  for (const Operator& op : g.operators) {
    if (op.kind == OperatorKind::linear) sum += flops(op, decode).value();
  }
  EXPECT_DOUBLE_EQ(sum, 2 * 6607077376.0);
}

TEST(Flops, TheHeadRunsOnTheWantedPositionsOnly) {
  const Graph g = graph_of("llama-2-7b");
  const Operator& head = g.operators.back();
  ASSERT_TRUE(head.output_only);
  const Step prefill{.sequences = 4, .tokens_per_sequence = 512, .context = 0, .output_tokens = 4};
  EXPECT_DOUBLE_EQ(flops(head, prefill).value(), 2.0 * 4 * 4096 * 32000);
}

double attention_flops(const Graph& g, const Step& step) {
  double sum = 0;
  for (const Operator& op : g.operators) {
    if (op.kind == OperatorKind::attention) sum += flops(op, step).value();
  }
  return sum;
}

TEST(Flops, PrefillAttentionOfLlama3) {
  // 32 layers, 32 heads of 128: scores and weighted sum are 2 * 128 multiply-adds
  // for each pair; 2048 tokens see 2048 * 2049 / 2 pairs.
  const double pairs = 2048.0 * 2049 / 2;
  const Step prefill{.sequences = 1, .tokens_per_sequence = 2048, .context = 0, .output_tokens = 1};
  EXPECT_DOUBLE_EQ(attention_flops(graph_of("llama-3-8b"), prefill),
                   32 * 32 * pairs * 2 * (128 + 128));
}

TEST(Flops, Gemma3LayersWithAWindowSee1024Positions) {
  // 62 layers: five with a window, one without, and so on; 10 are full.
  const Graph g = graph_of("gemma-3-27b-it");
  const auto full = std::ranges::count_if(
      g.spec.layers, [](const LayerSpec& l) { return l.attention.kind == AttentionKind::full; });
  EXPECT_EQ(full, 10);
  const Step decode{.sequences = 1, .tokens_per_sequence = 1, .context = 8191, .output_tokens = 1};
  EXPECT_DOUBLE_EQ(attention_flops(g, decode),
                   2.0 * 32 * (128 + 128) * (10 * 8192.0 + 52 * 1024.0));
}

TEST(Flops, LatentAttentionWorksOnTheLatentInDecodeOnly) {
  // DeepSeek V3: 61 layers, 128 heads. Prefill: keys of 192, values of 128.
  // Decode: scores over 512 + 64, sums over 512.
  const Graph g = graph_of("deepseek-v3");
  const Step prefill{.sequences = 1, .tokens_per_sequence = 1024, .context = 0, .output_tokens = 1};
  EXPECT_DOUBLE_EQ(attention_flops(g, prefill), 61.0 * 128 * (1024.0 * 1025 / 2) * 2 * (192 + 128));
  const Step decode{.sequences = 8, .tokens_per_sequence = 1, .context = 999, .output_tokens = 8};
  EXPECT_DOUBLE_EQ(attention_flops(g, decode), 61.0 * 128 * 8 * 1000 * 2 * (576 + 512));
}

TEST(Flops, ExpertsCountAsOftenAsATokenUsesThem) {
  // Mixtral 8x7B: 32 layers, 2 of 8 experts, three matrices of 4096 x 14336.
  const Graph g = graph_of("mixtral-8x7b");
  const Step decode{.sequences = 1, .tokens_per_sequence = 1, .context = 0, .output_tokens = 1};
  double sum = 0;
  for (const Operator& op : g.operators) {
    if (op.kind == OperatorKind::expert_linear) sum += flops(op, decode).value();
  }
  EXPECT_DOUBLE_EQ(sum, 2.0 * 32 * 2 * 3 * 4096 * 14336);
}

TEST(Llama4, EveryFourthLayerIsFullAndOthersAreChunked) {
  // https://huggingface.co/blog/llama4-release: chunks of 8192, NoPE every 4 layers.
  const Graph g = graph_of("llama-4-scout");
  for (std::size_t i = 0; i < g.spec.layers.size(); ++i) {
    const AttentionSpec& a = g.spec.layers[i].attention;
    EXPECT_EQ(a.kind, i % 4 == 3 ? AttentionKind::full : AttentionKind::chunked) << i;
  }
  // Maverick has experts in every second layer, Scout in all.
  const Graph m = graph_of("llama-4-maverick");
  EXPECT_EQ(m.spec.layers[0].feed_forward.experts, 0);
  EXPECT_EQ(m.spec.layers[1].feed_forward.experts, 128);
  EXPECT_EQ(g.spec.layers[0].feed_forward.experts, 16);
}

TEST(ExpectedExperts, MatchesTheProbabilityOfNotBeingChosen) {
  // One token of 8 in 2: 2. Two tokens: 8 * (1 - (3/4)^2) = 3.5.
  EXPECT_NEAR(expected_experts(8, 2, 1), 2, 1e-12);
  EXPECT_NEAR(expected_experts(8, 2, 2), 3.5, 1e-12);
  // 128 experts, 8 each, 16 tokens: 128 * (1 - (15/16)^16) = 128 * (1 - 0.356074...)
  EXPECT_NEAR(expected_experts(128, 8, 16), 128 * (1 - std::pow(15.0 / 16, 16)), 1e-9);
  EXPECT_NEAR(expected_experts(128, 8, 1e6), 128, 1e-9);
  EXPECT_DOUBLE_EQ(expected_experts(8, 8, 1), 8);
  EXPECT_DOUBLE_EQ(expected_experts(8, 2, 0), 0);
}

TEST(Graph, TensorsAddUpAndOperatorsNameThem) {
  for (const ModelListing& m : catalogue().all()) {
    const Graph g = graph_of(m.id);
    const ParameterCount n = count_parameters(g);
    std::int64_t sum = 0;
    for (const Tensor& t : g.tensors) {
      EXPECT_GT(t.weights(), 0) << m.id << " " << role_name(t.role);
      sum += t.weights();
    }
    EXPECT_EQ(sum, n.total - n.parts) << m.id;
    EXPECT_EQ(n.embedding + n.attention + n.dense_ffn + n.experts + n.recurrent + n.norms +
                  n.other + n.parts,
              n.total)
        << m.id;
    EXPECT_LE(n.active, n.total) << m.id;
    for (const Operator& op : g.operators) {
      ASSERT_LT(op.tensor, static_cast<std::int32_t>(g.tensors.size())) << m.id;
      if (op.kind != OperatorKind::linear) continue;
      const Tensor& t = g.tensors[static_cast<std::size_t>(op.tensor)];
      // Stacked matrices have an operator each, or one for all.
      EXPECT_TRUE(op.input * op.output == t.weights() ||
                  op.input * op.output * t.experts == t.weights())
          << m.id << " " << role_name(t.role);
    }
  }
}

TEST(Graph, RolesHaveTheNamesOfGguf) {
  // https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py
  EXPECT_EQ(role_name(TensorRole::token_embedding), "token_embd");
  EXPECT_EQ(role_name(TensorRole::attn_q), "attn_q");
  EXPECT_EQ(role_name(TensorRole::attn_kv_a), "attn_kv_a_mqa");
  EXPECT_EQ(role_name(TensorRole::post_attn_norm), "post_attention_norm");
  EXPECT_EQ(role_name(TensorRole::router), "ffn_gate_inp");
  EXPECT_EQ(role_name(TensorRole::expert_down), "ffn_down_exps");
  EXPECT_EQ(role_name(TensorRole::shared_router), "ffn_gate_inp_shexp");
  EXPECT_EQ(role_name(TensorRole::bias), "bias");
}

TEST(Graph, TiedHeadReadsTheEmbedding) {
  const Graph g = graph_of("llama-3.2-1b");
  EXPECT_EQ(g.operators.back().tensor, g.operators.front().tensor);
  const Graph untied = graph_of("llama-3-8b");
  EXPECT_NE(untied.operators.back().tensor, untied.operators.front().tensor);
}

TEST(KvElements, ByHand) {
  EXPECT_EQ(kv_elements_per_token(graph_of("llama-3-8b").spec.layers[0].attention), 2 * 8 * 128);
  EXPECT_EQ(kv_elements_per_token(graph_of("deepseek-v3").spec.layers[0].attention), 512 + 64);
  EXPECT_EQ(kv_elements_per_token(graph_of("falcon-7b").spec.layers[0].attention), 2 * 64);
  AttentionSpec shared = graph_of("llama-3-8b").spec.layers[0].attention;
  shared.shares_kv = true;
  EXPECT_EQ(kv_elements_per_token(shared), 0);
}

// Qwen3-Next-80B: 16 key heads and 32 value heads of 128, a convolution of 4 over 8192.
RecurrentSpec qwen3_next() {
  return {.kind = RecurrentKind::gated_delta_net,
          .heads = 32,
          .key_heads = 16,
          .key_dim = 128,
          .value_dim = 128,
          .conv = 4,
          .norm_dim = 128};
}

TEST(Recurrence, KeepsAStateOfFixedSize) {
  const RecurrentSpec r = qwen3_next();
  EXPECT_EQ(r.conv_features(), 2 * 16 * 128 + 32 * 128);
  EXPECT_EQ(r.state_elements(), 32 * 128 * 128);
  EXPECT_EQ(r.window_elements(2048), 3 * 8192);
  // Mamba 2 of Nemotron-H-8B: 128 heads of 64, 8 groups, a state of 128.
  const RecurrentSpec m{.kind = RecurrentKind::mamba2,
                        .heads = 128,
                        .key_heads = 8,
                        .key_dim = 128,
                        .value_dim = 64,
                        .conv = 4};
  EXPECT_EQ(m.conv_features(), 8192 + 2 * 8 * 128);
  EXPECT_EQ(m.state_elements(), 8192 * 128);
  const RecurrentSpec c{.kind = RecurrentKind::short_conv, .conv = 3};
  EXPECT_EQ(c.state_elements(), 0);
  EXPECT_EQ(c.window_elements(2048), 2 * 2048);
}

TEST(Recurrence, CountsUpdateAndOutput) {
  const double state = 32.0 * 128 * 128;
  EXPECT_DOUBLE_EQ(recurrence_flops(qwen3_next(), 1).value(), 7 * state);
  // By chunks of 64: 2 * 64 * 256 a head and token, and 6 an element of the state.
  EXPECT_DOUBLE_EQ(recurrence_flops(qwen3_next(), 128).value(),
                   128 * (32 * 2.0 * 64 * 256 + 6 * state));
}

TEST(Recurrence, TensorsOfALayer) {
  ModelSpec s;
  s.hidden = 2048;
  s.vocabulary = 16;
  s.max_context = 1;
  s.layers.resize(1);
  s.layers[0].recurrent = qwen3_next();
  const Graph g = build_graph(s);
  // in_proj_qkvz 12288 x 2048, in_proj_ba 64 x 2048, conv1d 8192 x 4, dt_bias and A_log of 32,
  // norm 128, out_proj 2048 x 4096.
  const std::int64_t expected = 12288 * 2048 + 64 * 2048 + 8192 * 4 + 2 * 32 + 128 + 2048 * 4096;
  EXPECT_EQ(count_parameters(g).recurrent, expected);
  ASSERT_TRUE(check_spec(s));
}

TEST(SparseAttention, ReadsTheBestAndScoresAll) {
  AttentionSpec a{.kind = AttentionKind::mla, .heads = 128, .kv_heads = 128};
  a.index_heads = 64;
  a.index_head_dim = 128;
  a.index_topk = 2048;
  EXPECT_DOUBLE_EQ(attended_positions(a, 99999, 1), 2048);
  EXPECT_DOUBLE_EQ(attended_positions(a, 99, 1), 100);
  EXPECT_DOUBLE_EQ(indexed_positions(a, 99999, 1), 100000);
  EXPECT_EQ(index_elements_per_token(a), 128);
  a.index_shared = true;
  EXPECT_EQ(index_elements_per_token(a), 0);
}

TEST(CompressedAttention, KeepsAWindowAndEntries) {
  AttentionSpec a{.kind = AttentionKind::compressed, .heads = 64, .kv_heads = 1};
  a.head_dim = a.v_head_dim = 512;
  a.window = 128;
  a.compress = 128;
  EXPECT_DOUBLE_EQ(attended_positions(a, 12799, 1), 128 + 100);
  EXPECT_EQ(kv_elements_per_token(a), 512);
}

TEST(Bidirectional, SeesEverythingAndKeepsNothing) {
  AttentionSpec a{.heads = 12, .kv_heads = 12, .head_dim = 64, .v_head_dim = 64};
  a.bidirectional = true;
  EXPECT_DOUBLE_EQ(attended_positions(a, 0, 512), 512);
  EXPECT_EQ(kv_elements_per_token(a), 0);
}

}  // namespace
}  // namespace cairn
