// The operators of attention.
#include "cairn/model/graph_builder.h"

namespace cairn {

void GraphBuilder::attention_output(const AttentionSpec& a, std::int64_t mixed) {
  const std::int64_t hidden = graph_.spec.hidden;
  if (a.output_rank == 0) {
    linear(TensorRole::attn_output, mixed, hidden, a.o_bias);
    return;
  }
  // Each group of heads is projected to a latent of its own, all latents to the output.
  const std::int64_t groups = a.output_groups;
  add(OperatorKind::linear,
      tensor(TensorRole::attn_output_a, a.output_rank, mixed / groups, groups), mixed / groups,
      a.output_rank * groups);
  linear(TensorRole::attn_output, a.output_rank * groups, hidden, a.o_bias);
}

void GraphBuilder::attention(const AttentionSpec& a) {
  const std::int64_t input = a.input > 0 ? a.input : graph_.spec.hidden;
  const std::int64_t q = a.heads * a.head_dim;
  const std::int64_t k = a.shares_kv ? 0 : a.kv_heads * a.head_dim;
  linear(TensorRole::attn_q, input, a.output_gate ? 2 * q : q, a.qkv_bias);
  if (!a.shares_kv) {
    linear(TensorRole::attn_k, input, k, a.qkv_bias && a.k_bias);
    if (!a.v_from_k) linear(TensorRole::attn_v, input, a.kv_heads * a.v_head_dim, a.qkv_bias);
  }
  if (a.qk_norm) {
    head_norm(TensorRole::attn_q_norm, a.qk_norm_dim_q, q);
    if (!a.shares_kv) head_norm(TensorRole::attn_k_norm, a.qk_norm_dim_k, k);
  }
  if (a.sinks) vector(TensorRole::attn_sinks, TensorRole::attn_sinks, a.heads);
  add(OperatorKind::elementwise, -1, q + k, q + k);
  if (a.index_heads > 0) indexer(a);
  const std::int64_t mixed = a.heads * a.v_head_dim;
  add(OperatorKind::attention, -1, q, mixed).attention = a;
  if (a.output_gate) add(OperatorKind::elementwise, -1, 2 * mixed, mixed);
  if (!a.joins_recurrence) attention_output(a, mixed);
}

// Keys and values come from an encoder and are computed once per sequence: their
// matrices are read then, not in a step.
void GraphBuilder::cross_attention(const AttentionSpec& a) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t q = a.heads * a.head_dim;
  linear(TensorRole::cross_attn_q, hidden, q, a.qkv_bias);
  tensor(TensorRole::cross_attn_k, a.kv_heads * a.head_dim, hidden);
  tensor(TensorRole::cross_attn_v, a.kv_heads * a.v_head_dim, hidden);
  if (a.qkv_bias && a.k_bias) {
    vector(TensorRole::bias, TensorRole::cross_attn_k, a.kv_heads * a.head_dim);
  }
  if (a.qkv_bias) vector(TensorRole::bias, TensorRole::cross_attn_v, a.kv_heads * a.v_head_dim);
  if (a.qk_norm) {
    head_norm(TensorRole::cross_attn_q_norm, a.qk_norm_dim_q, q);
    vector(TensorRole::cross_attn_k_norm, TensorRole::cross_attn_k_norm, a.qk_norm_dim_k);
  }
  AttentionSpec over = a;
  over.kind = AttentionKind::cross;
  add(OperatorKind::attention, -1, q, a.heads * a.v_head_dim).attention = over;
  linear(TensorRole::cross_attn_output, a.heads * a.v_head_dim, hidden, a.o_bias);
}

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): the up-projections
// of keys and values are applied to each new token, or absorbed into query and
// output in decode: the same multiplications either way.
void GraphBuilder::latent_attention(const AttentionSpec& a) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t q = a.heads * a.head_dim;
  if (a.q_lora_rank > 0) {
    linear(TensorRole::attn_q_a, hidden, a.q_lora_rank, a.qkv_bias);
    norm(TensorRole::attn_q_a_norm, a.q_lora_rank, false);
    linear(TensorRole::attn_q_b, a.q_lora_rank, q, false);
  } else {
    linear(TensorRole::attn_q, hidden, q, false);
  }
  linear(TensorRole::attn_kv_a, hidden, a.kv_lora_rank + a.qk_rope_head_dim, a.qkv_bias);
  norm(TensorRole::attn_kv_a_norm, a.kv_lora_rank, false);
  add(OperatorKind::linear,
      tensor(TensorRole::attn_k_b, a.kv_lora_rank, a.qk_nope_head_dim, a.heads), a.kv_lora_rank,
      a.heads * a.qk_nope_head_dim);
  add(OperatorKind::linear, tensor(TensorRole::attn_v_b, a.v_head_dim, a.kv_lora_rank, a.heads),
      a.kv_lora_rank, a.heads * a.v_head_dim);
  const std::int64_t rotated = (a.heads + 1) * a.qk_rope_head_dim;
  add(OperatorKind::elementwise, -1, rotated, rotated);
  if (a.index_heads > 0) indexer(a);
  const std::int64_t mixed = a.heads * a.v_head_dim;
  if (a.output_gate) linear(TensorRole::attn_gate, hidden, mixed, false);
  add(OperatorKind::attention, -1, q, mixed).attention = a;
  if (a.output_gate) add(OperatorKind::elementwise, -1, 2 * mixed, mixed);
  attention_output(a, mixed);
}

// One key that is the value too, for all heads; a compressor pools entries of
// `compress` positions, with overlap where an indexer chooses among them.
void GraphBuilder::compressed_attention(const AttentionSpec& a) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t q = a.heads * a.head_dim;
  const std::int64_t k = a.kv_heads * a.head_dim;
  if (a.q_lora_rank > 0) {
    linear(TensorRole::attn_q_a, hidden, a.q_lora_rank, false);
    norm(TensorRole::attn_q_a_norm, a.q_lora_rank, false);
    linear(TensorRole::attn_q_b, a.q_lora_rank, q, false);
  } else {
    linear(TensorRole::attn_q, hidden, q, false);
  }
  linear(TensorRole::attn_kv_a, hidden, k, false);
  norm(TensorRole::attn_kv_a_norm, k, false);
  if (a.sinks) vector(TensorRole::attn_sinks, TensorRole::attn_sinks, a.heads);
  if (a.compress > 0) {
    const std::int64_t width = a.index_heads > 0 ? 2 * k : k;
    linear(TensorRole::attn_compress_k, hidden, width, false);
    linear(TensorRole::attn_compress_gate, hidden, width, false);
    vector(TensorRole::attn_compress_pos, TensorRole::attn_compress_pos, width, a.compress);
    norm(TensorRole::attn_compress_norm, k, false);
  }
  if (a.index_heads > 0) indexer(a);
  add(OperatorKind::elementwise, -1, q + k, q + k);
  const std::int64_t mixed = a.heads * a.head_dim;
  add(OperatorKind::attention, -1, q, mixed).attention = a;
  attention_output(a, mixed);
}

void GraphBuilder::indexer(const AttentionSpec& a) {
  if (a.index_shared) return;
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t queries = a.index_heads * a.index_head_dim;
  linear(TensorRole::indexer_q, a.index_input, queries, false);
  if (a.kind == AttentionKind::compressed) {
    linear(TensorRole::indexer_compress_k, hidden, 2 * a.index_head_dim, false);
    linear(TensorRole::indexer_compress_gate, hidden, 2 * a.index_head_dim, false);
    vector(TensorRole::indexer_compress_pos, TensorRole::indexer_compress_pos, 2 * a.index_head_dim,
           a.compress);
    norm(TensorRole::indexer_compress_norm, a.index_head_dim, false);
  } else {
    linear(TensorRole::indexer_k, hidden, a.index_head_dim, false);
    if (a.index_block > 0) head_norm(TensorRole::indexer_q_norm, a.index_head_dim, queries);
    norm(TensorRole::indexer_k_norm, a.index_head_dim, a.kind == AttentionKind::mla);
  }
  if (a.index_block == 0) linear(TensorRole::indexer_weights, hidden, a.index_heads, false);
  add(OperatorKind::indexer, -1, queries, a.index_heads).attention = a;
}

}  // namespace cairn
