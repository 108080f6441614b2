#include "cairn/layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn {
namespace {

// Llama 3.1 70B: 80 layers, hidden 8192, 64 heads, 8 KV heads of 128, feed-forward 28672.
ModelSpec llama_70b() {
  ModelSpec s;
  s.hidden = 8192;
  s.vocabulary = 128256;
  LayerSpec layer;
  layer.attention = {.heads = 64, .kv_heads = 8, .head_dim = 128, .v_head_dim = 128};
  layer.feed_forward = {.intermediate = 28672};
  s.layers.assign(80, layer);
  return s;
}

// Qwen3-30B-A3B: 48 layers, hidden 2048, 32 heads, 4 KV heads, 128 experts of 768.
ModelSpec qwen3_moe() {
  ModelSpec s;
  s.hidden = 2048;
  s.vocabulary = 151936;
  LayerSpec layer;
  layer.attention = {.heads = 32,
                     .kv_heads = 4,
                     .head_dim = 128,
                     .v_head_dim = 128,
                     .qk_norm = true,
                     .qk_norm_dim_q = 128,
                     .qk_norm_dim_k = 128};
  layer.feed_forward = {.experts = 128, .experts_per_token = 8, .expert_intermediate = 768};
  s.layers.assign(48, layer);
  return s;
}

// DeepSeek-V3's attention: 128 heads, latent 512 + 64, queries through 1536.
ModelSpec deepseek() {
  ModelSpec s;
  s.hidden = 7168;
  s.vocabulary = 129280;
  LayerSpec layer;
  layer.attention = {.kind = AttentionKind::mla,
                     .heads = 128,
                     .kv_heads = 128,
                     .head_dim = 192,
                     .v_head_dim = 128,
                     .q_lora_rank = 1536,
                     .kv_lora_rank = 512,
                     .qk_nope_head_dim = 128,
                     .qk_rope_head_dim = 64};
  layer.feed_forward = {.intermediate = 18432};
  s.layers.assign(4, layer);
  return s;
}

const Tensor& tensor(const Graph& graph, TensorRole role) {
  return *std::ranges::find(graph.tensors, role, &Tensor::role);
}

const Operator& operator_of(const Graph& graph, TensorRole role) {
  return *std::ranges::find_if(graph.operators, [&](const Operator& op) {
    return op.tensor >= 0 && graph.tensors[static_cast<std::size_t>(op.tensor)].role == role;
  });
}

std::vector<Share> must_divide(const Graph& graph, const Layout& layout,
                               Stages stages = Stages::even) {
  auto shares = divide(graph, layout, stages);
  EXPECT_TRUE(shares) << shares.error().to_string();
  return *std::move(shares);
}

TEST(Layout, SaysWhatItIs) {
  EXPECT_EQ(Layout{}.to_string(), "1 device");
  EXPECT_EQ((Layout{.tp = 4}).to_string(), "tp4");
  EXPECT_EQ((Layout{.tp = 2, .pp = 2, .dp = 3}).to_string(), "tp2 x pp2 x dp3");
  EXPECT_EQ((Layout{.tp = 2, .pp = 2, .dp = 3}).devices(), 12);
}

// Megatron (arXiv 1909.08053, section 3): q, k, v, gate, up by rows; o, down by columns.
TEST(Share, SplitsADenseLayerAsMegatronDoes) {
  const Graph g = build_graph(llama_70b());
  const Share s = must_divide(g, {.tp = 8}).front();
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_q), g, s).rows, 1024);  // 8192 / 8
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_k), g, s).rows, 128);   // 1024 / 8
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_output), g, s).columns, 1024);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_output), g, s).rows, 8192);
  EXPECT_EQ(share_of(tensor(g, TensorRole::ffn_gate), g, s).rows, 3584);  // 28672 / 8
  EXPECT_EQ(share_of(tensor(g, TensorRole::ffn_down), g, s).columns, 3584);
  EXPECT_EQ(share_of(tensor(g, TensorRole::token_embedding), g, s).rows, 16032);  // 128256 / 8
  EXPECT_EQ(share_of(tensor(g, TensorRole::output), g, s).rows, 16032);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_norm), g, s).columns, 8192);  // repeated
  // 70.55e9 weights: norms (161 x 8192) stay whole, the rest is cut in 8.
  std::int64_t whole = 0;
  std::int64_t part = 0;
  for (const Tensor& t : g.tensors) {
    whole += t.weights();
    part += share_of(t, g, s).weights();
  }
  EXPECT_EQ(whole, 70'553'706'496);
  EXPECT_EQ(part, (whole - 161 * 8192) / 8 + 161 * 8192);
}

TEST(Share, OperatorsDoATpThOfTheFlops) {
  const Graph g = build_graph(llama_70b());
  const Share s = must_divide(g, {.tp = 4}).front();
  const Step step{.sequences = 2, .tokens_per_sequence = 64, .context = 100, .output_tokens = 2};
  double whole = 0;
  double part = 0;
  for (const Operator& op : g.operators) {
    whole += flops(op, step).value();
    if (runs(op, g, s)) part += flops(share_of(op, g, s), step).value();
  }
  EXPECT_DOUBLE_EQ(part, whole / 4);
}

TEST(Share, RepeatsKvHeadsBeyondTheirNumber) {
  const Graph g = build_graph(qwen3_moe());
  // tp 8 over 4 KV heads: every rank holds one head of 128, two ranks the same one.
  const Share s = must_divide(g, {.tp = 8}).front();
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_q), g, s).rows, 512);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_k), g, s).rows, 128);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_v), g, s).rows, 128);
  const AttentionSpec a = share_of(g.spec.layers[0].attention, 8);
  EXPECT_EQ(a.heads, 4);
  EXPECT_EQ(a.kv_heads, 1);
}

TEST(Share, RepeatsTheLatentOfMla) {
  const Graph g = build_graph(deepseek());
  const Share s = must_divide(g, {.tp = 8}).front();
  const AttentionSpec a = share_of(g.spec.layers[0].attention, 8);
  EXPECT_EQ(a.heads, 16);
  EXPECT_EQ(kv_elements_per_token(a), 576);  // on every rank
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_kv_a), g, s).rows, 576);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_q_a), g, s).rows, 1536);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_q_b), g, s).rows, 128 * 192 / 8);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_k_b), g, s).experts, 16);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_output), g, s).columns, 128 * 128 / 8);
}

// Kimi Delta Attention has projections named as attention's, and no attention: 32 heads of
// 128, a convolution of 4 positions before each of them.
TEST(Share, SplitsLinearAttentionByItsHeads) {
  ModelSpec s;
  s.hidden = 2304;
  s.vocabulary = 163840;
  LayerSpec layer;
  layer.recurrent = {.kind = RecurrentKind::kimi_delta,
                     .heads = 32,
                     .key_heads = 32,
                     .key_dim = 128,
                     .value_dim = 128,
                     .conv = 4,
                     .rank = 128,
                     .gate_rank = 128,
                     .norm_dim = 128};
  layer.feed_forward = {.intermediate = 9216};
  s.layers.assign(2, layer);
  const Graph graph = build_graph(s);
  const Share share = must_divide(graph, {.tp = 8}).front();
  for (const Tensor& t : graph.tensors) {
    const Tensor part = share_of(t, graph, share);
    if (t.role == TensorRole::attn_q || t.role == TensorRole::attn_k ||
        t.role == TensorRole::attn_v) {
      EXPECT_EQ(part.rows, 4096 / 8);
    }
    if (t.role == TensorRole::ssm_conv_k) {
      EXPECT_EQ(part.rows, 4096 / 8);
      EXPECT_EQ(part.columns, 4);
    }
  }
}

TEST(Share, SplitsExpertsByTensorOrByExpert) {
  const Graph g = build_graph(qwen3_moe());
  const Tensor& up = tensor(g, TensorRole::expert_up);
  const Share by_tensor = must_divide(g, {.tp = 4}).front();
  EXPECT_EQ(share_of(up, g, by_tensor).experts, 128);
  EXPECT_EQ(share_of(up, g, by_tensor).rows, 192);  // 768 / 4
  const Share by_expert = must_divide(g, {.tp = 4, .ep = 4}).front();
  EXPECT_EQ(share_of(up, g, by_expert).experts, 32);  // 128 / 4
  EXPECT_EQ(share_of(up, g, by_expert).rows, 768);
  // 8 experts a token on 4 ranks: 2 of them here on average; alike in FLOPs.
  const Operator& op = operator_of(g, TensorRole::expert_up);
  EXPECT_EQ(share_of(op, g, by_expert).experts_per_token, 2);
  const Step step{.tokens_per_sequence = 10};
  EXPECT_EQ(flops(share_of(op, g, by_expert), step), flops(share_of(op, g, by_tensor), step));
  // Attention by data, experts over all 8 devices: each serves its own tokens' worth.
  const Share wide = must_divide(g, {.dp = 8, .ep = 8}).front();
  EXPECT_EQ(share_of(up, g, wide).experts, 16);
  EXPECT_EQ(share_of(op, g, wide).experts_per_token, 8);
}

TEST(Divide, SpreadsLayersAsVllmDoes) {
  // get_pp_indices: 80 layers on 3 stages are 26 each and the two left over go to
  // the stages before the last: 27, 27, 26.
  const Graph g = build_graph(llama_70b());
  const auto shares = must_divide(g, {.pp = 3});
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].last_layer, 27);
  EXPECT_EQ(shares[1].last_layer, 54);
  EXPECT_EQ(shares[2].last_layer, 80);
  EXPECT_TRUE(shares[0].embedding);
  EXPECT_FALSE(shares[0].head);
  EXPECT_TRUE(shares[2].head);
  EXPECT_EQ(share_of(tensor(g, TensorRole::output), g, shares[0]).rows, 0);
  EXPECT_EQ(share_of(tensor(g, TensorRole::attn_q), g, shares[2]).rows, 0);  // layer 0
}

// Mixtral 8x7B on two like cards: the log of ollama#3158 has KV buffers of 1062.5
// and 937.5 MiB at 16000 positions, that is 17 and 15 layers of 62.5 MiB.
TEST(Divide, CountsTheHeadAsALayerForLlamaCpp) {
  ModelSpec s = llama_70b();
  s.layers.resize(32);
  const auto shares = must_divide(build_graph(std::move(s)), {.pp = 2}, Stages::head_counts);
  EXPECT_EQ(shares[0].last_layer, 17);
  EXPECT_EQ(shares[1].last_layer - shares[1].first_layer, 15);
}

TEST(Share, ATiedTableIsOnBothEnds) {
  ModelSpec s = llama_70b();
  s.tied_embeddings = true;
  const Graph g = build_graph(std::move(s));
  const auto shares = must_divide(g, {.pp = 4});
  const Tensor& table = tensor(g, TensorRole::token_embedding);
  EXPECT_EQ(share_of(table, g, shares[0]).rows, 128256);
  EXPECT_EQ(share_of(table, g, shares[1]).rows, 0);
  EXPECT_EQ(share_of(table, g, shares[3]).rows, 128256);
}

TEST(Share, PadsAVocabularyThatTpDoesNotDivide) {
  ModelSpec s = llama_70b();
  s.vocabulary = 32001;
  const Graph g = build_graph(std::move(s));
  const Share share = must_divide(g, {.tp = 4}).front();
  // 32001 is padded to 501 x 64 = 32064.
  EXPECT_EQ(share_of(tensor(g, TensorRole::output), g, share).rows, 8016);
}

TEST(Divide, RefusesWhatCannotBeDivided) {
  const Graph g = build_graph(llama_70b());
  EXPECT_FALSE(divide(g, {.tp = 3}));
  EXPECT_FALSE(divide(g, {.tp = 0}));
  EXPECT_FALSE(divide(g, {.pp = 81}));
  EXPECT_FALSE(divide(g, {.tp = 2, .ep = 3}));
  ModelSpec odd = llama_70b();
  odd.layers[0].attention.heads = 24;
  odd.layers[0].attention.kv_heads = 3;
  const auto error = divide(build_graph(std::move(odd)), {.tp = 8});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().field, "tp");
  EXPECT_EQ(error.error().value, "8");
}

}  // namespace
}  // namespace cairn
