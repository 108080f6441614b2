// Attention that chooses what it reads, on caches that are not latents: DeepSeek V4
// (compressed entries) and MiniMax-M3 (blocks of ordinary keys and values).
#include <algorithm>
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

// Every layer reads a residual of hc_mult streams and writes back to all of them: mixtures
// predicted from the streams, one before attention and one before the experts
// (manifold-constrained hyper-connections, arXiv:2512.24880). Tensors as in
// https://github.com/ggml-org/llama.cpp/blob/master/src/models/deepseek4.cpp
void add_hyper_connection(std::vector<MatrixSpec>& extras, std::int64_t streams,
                          std::int64_t hidden, std::int64_t mixtures, std::int64_t scales) {
  extras.push_back({.role = TensorRole::residual_mix,
                    .rows = mixtures,
                    .columns = streams * hidden,
                    .vector = true});
  for (const std::int64_t size : {mixtures, scales}) {
    extras.push_back(
        {.role = TensorRole::residual_mix, .columns = size, .use = Use::stored, .vector = true});
  }
}

struct DeepSeekV4 {
  Dims d;
  AttentionSpec window;  // layers without compression
  AttentionSpec index;   // the indexer of those with an overlapping one
  FeedForwardSpec experts;
  std::int64_t streams = 1;
  std::int64_t hash_layers = 0;
};

Result<AttentionSpec> read_window(Fields& f, const Dims& d) {
  AttentionSpec a;
  a.kind = AttentionKind::compressed;
  a.heads = d.heads;
  a.kv_heads = d.kv_heads;
  a.head_dim = a.v_head_dim = d.head_dim;
  a.sinks = true;
  CAIRN_TRY(a.window, f.integer("sliding_window", 1, kMaxContext));
  CAIRN_TRY(a.q_lora_rank, f.integer_or("q_lora_rank", 0, 1, kMaxHidden));
  CAIRN_TRY(a.output_rank, f.integer("o_lora_rank", 1, kMaxHidden));
  CAIRN_TRY(a.output_groups, f.integer("o_groups", 1, d.heads));
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  return a;
}

Result<DeepSeekV4> read_v4(Fields& f) {
  DeepSeekV4 m;
  Dims& d = m.d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", 1, 1, 1));
  CAIRN_TRY(d.head_dim, f.integer("head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(m.window, read_window(f, d));
  m.index = m.window;
  CAIRN_TRY(m.index.index_heads, f.integer("index_n_heads", 1, kMaxHeads));
  CAIRN_TRY(m.index.index_head_dim, f.integer("index_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(m.index.index_topk, f.integer("index_topk", 1, kMaxContext));
  m.index.index_input = m.window.q_lora_rank > 0 ? m.window.q_lora_rank : d.hidden;
  FeedForwardSpec& e = m.experts;
  CAIRN_TRY(e.experts, f.integer("n_routed_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("n_shared_experts", 0, 0, kMaxExperts));
  e.shared_intermediate = shared * e.expert_intermediate;
  CAIRN_TRY(m.streams, f.integer("hc_mult", 1, 64));
  CAIRN_TRY(m.hash_layers, f.integer_or("num_hash_layers", 0, 0, d.layers));
  f.skip({"compress_rope_theta", "qk_rope_head_dim", "expert_dtype"});
  return m;
}

// `ratio` positions make an entry; those of four overlap and are chosen by an indexer, in
// the published code by that number.
LayerSpec v4_layer(const DeepSeekV4& m, std::int64_t ratio, bool by_token) {
  constexpr std::int64_t kChosen = 4;
  LayerSpec layer;
  layer.attention = ratio == kChosen ? m.index : m.window;
  layer.attention.compress = ratio;
  layer.feed_forward = m.experts;
  layer.feed_forward.router_bias = !by_token;
  const std::int64_t mixtures = (2 + m.streams) * m.streams;
  add_hyper_connection(layer.extras, m.streams, m.d.hidden, mixtures, 3);
  add_hyper_connection(layer.extras, m.streams, m.d.hidden, mixtures, 3);
  if (by_token) {
    layer.extras.push_back({.role = TensorRole::router_table,
                            .rows = m.d.vocabulary,
                            .columns = m.experts.experts_per_token,
                            .use = Use::lookup,
                            .vector = true});
  }
  return layer;
}

Result<ModelSpec> deepseek_v4(Fields& f) {
  CAIRN_TRY(const DeepSeekV4 m, read_v4(f));
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  const auto layers = static_cast<std::size_t>(m.d.layers);
  const auto all = layers + static_cast<std::size_t>(drafts);
  CAIRN_TRY(const auto ratios, f.integers("compress_ratios", all, 0, 1 << 20));
  if (!ratios) return fail(f.error("compress_ratios", "missing field").want("a list"));
  ModelSpec s = make_spec(m.d, "deepseek-v4");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  add_hyper_connection(s.extras, m.streams, m.d.hidden, m.streams, 1);
  for (std::size_t i = 0; i < layers; ++i) {
    s.layers.push_back(v4_layer(m, (*ratios)[i], static_cast<std::int64_t>(i) < m.hash_layers));
  }
  for (std::size_t i = layers; i < all; ++i) {
    add_drafts(s, 1, v4_layer(m, (*ratios)[i], false), {});
    add_hyper_connection(s.parts.back().extras, m.streams, m.d.hidden, m.streams, 1);
  }
  return s;
}

// Blocks of positions are scored by their best key against a few index heads of each query,
// and attention reads the best blocks, the query's own among them:
// https://github.com/ggml-org/llama.cpp/blob/master/src/models/minimax-m3.cpp
Result<AttentionSpec> read_block_index(Fields& f, const Dims& d, const AttentionSpec& dense) {
  AttentionSpec a = dense;
  CAIRN_TRY(a.index_heads, f.integer("sparse_num_index_heads", 1, kMaxHeads));
  CAIRN_TRY(a.index_head_dim, f.integer("sparse_index_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.index_block, f.integer("sparse_block_size", 1, 1 << 20));
  CAIRN_TRY(const std::int64_t blocks, f.integer("sparse_topk_blocks", 1, 1 << 20));
  a.index_topk = std::min(blocks * a.index_block, kMaxContext);
  a.index_input = d.hidden;
  f.skip({"sparse_init_block", "sparse_local_block", "sparse_score_type"});
  return a;
}

Result<std::vector<AttentionSpec>> read_m3_attention(Fields& f, const Dims& d) {
  const auto layers = static_cast<std::size_t>(d.layers);
  AttentionSpec dense = make_attention(d);
  CAIRN_TRY(dense.qk_norm, f.flag("use_qk_norm", true));
  dense.qk_norm_dim_q = dense.qk_norm_dim_k = dense.qk_norm ? d.head_dim : 0;
  CAIRN_TRY(const std::string_view norms, f.text_or("qk_norm_type", "per_head"));
  if (norms != "per_head") return fail(f.error("qk_norm_type", "not covered").want("per_head"));
  std::vector<AttentionSpec> out(layers, dense);
  if (!f.has("sparse_attention_config")) return out;
  CAIRN_TRY(const Node node, f.node().required("sparse_attention_config"));
  Fields sparse(node, true);
  CAIRN_TRY(const bool on, sparse.flag("use_sparse_attention", true));
  if (!on) return out;
  CAIRN_TRY(const AttentionSpec chosen, read_block_index(sparse, d, dense));
  CAIRN_TRY(const auto which, sparse.integers("sparse_attention_freq", layers, 0, 1));
  CAIRN_TRY(const auto without_value, sparse.integers("sparse_disable_index_value", layers, 0, 1));
  for (std::size_t i = 0; i < layers; ++i) {
    if (which && (*which)[i] == 0) continue;
    out[i] = chosen;
    if (!without_value || (*without_value)[i] == 1) continue;
    return fail(sparse.error("sparse_disable_index_value", "values of an indexer are not covered")
                    .want("1 in sparse layers"));
  }
  CAIRN_CHECK(sparse.finish());
  return out;
}

Result<ModelSpec> minimax_m3(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  const auto layers = static_cast<std::size_t>(d.layers);
  CAIRN_CHECK(f.refuse("attention_output_gate", "a gate is not covered for this family"));
  // The published checkpoints have no draft layers, whatever the file counts.
  f.skip({"num_mtp_modules", "num_nextn_predict_layers", "first_k_dense_replace",
          "moe_intermediate_size", "use_gemma_norm"});
  CAIRN_TRY(const std::vector<AttentionSpec> attention, read_m3_attention(f, d));
  FeedForwardSpec dense;
  CAIRN_TRY(dense.intermediate, f.integer("dense_intermediate_size", 1, kMaxInner));
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer("num_local_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  e.expert_intermediate = d.intermediate;
  CAIRN_TRY(const std::int64_t shared, f.integer_or("n_shared_experts", 0, 0, kMaxExperts));
  CAIRN_TRY(const std::int64_t inner,
            f.integer_or("shared_intermediate_size", d.intermediate, 1, kMaxInner));
  e.shared_intermediate = shared * inner;
  CAIRN_TRY(e.router_bias, f.flag("use_routing_bias", true));
  CAIRN_TRY(const auto mixtures, f.integers("moe_layer_freq", layers, 0, 1));
  ModelSpec s = make_spec(d, "minimax-m3");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < layers; ++i) {
    LayerSpec layer;
    layer.attention = attention[i];
    layer.feed_forward = mixtures && (*mixtures)[i] == 0 ? dense : e;
    s.layers.push_back(layer);
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"DeepseekV4ForCausalLM", "deepseek_v4", deepseek_v4},
    {"MiniMaxM3ForCausalLM", "minimax_m3", minimax_m3},
    {"MiniMaxM3SparseForCausalLM", {}, minimax_m3},
});

}  // namespace

std::span<const Family> sparse_families() { return kFamilies; }

}  // namespace cairn::hf
