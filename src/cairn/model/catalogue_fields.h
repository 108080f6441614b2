// The fields of a catalogue entry with their names and defaults, once for reading and
// writing. For catalogue_entry.cpp and catalogue_writer.cpp alone.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cairn/model/spec.h"

namespace cairn {

inline constexpr std::array kAttentionKinds =
    std::to_array<std::pair<AttentionKind, std::string_view>>(
        {{AttentionKind::full, "full"},
         {AttentionKind::sliding, "sliding"},
         {AttentionKind::chunked, "chunked"},
         {AttentionKind::mla, "mla"},
         {AttentionKind::cross, "cross"},
         {AttentionKind::compressed, "compressed"}});

inline constexpr std::array kRecurrentKinds =
    std::to_array<std::pair<RecurrentKind, std::string_view>>(
        {{RecurrentKind::gated_delta_net, "gated-delta-net"},
         {RecurrentKind::kimi_delta, "kimi-delta"},
         {RecurrentKind::lightning, "lightning"},
         {RecurrentKind::mamba, "mamba"},
         {RecurrentKind::mamba2, "mamba2"},
         {RecurrentKind::rwkv, "rwkv"},
         {RecurrentKind::short_conv, "short-conv"}});

inline constexpr std::array kParts =
    std::to_array<std::pair<ModelPart, std::string_view>>({{ModelPart::encoder, "encoder"},
                                                           {ModelPart::vision, "vision"},
                                                           {ModelPart::audio, "audio"},
                                                           {ModelPart::mtp, "mtp"}});

inline constexpr std::array kUses =
    std::to_array<std::pair<Use, std::string_view>>({{Use::linear, "linear"},
                                                     {Use::lookup, "lookup"},
                                                     {Use::elementwise, "elementwise"},
                                                     {Use::stored, "stored"}});

/// The value that a table has for a name, or the name for a value; null: none.
template <class Table>
const auto* named(const Table& table, std::string_view name) {
  const auto it = std::ranges::find(table, name, &Table::value_type::second);
  return it == table.end() ? nullptr : &it->first;
}
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto it = std::ranges::find(table, value, &Table::value_type::first);
  return it == table.end() ? std::string_view() : it->second;
}

// The fields of each part with their defaults, once for reading and writing.
template <class Visitor>
void visit_fields(AttentionSpec& a, Visitor& v) {
  v("heads", a.heads, 0);
  v("kv_heads", a.kv_heads, 0);
  v("head_dim", a.head_dim, 0);
  v("v_head_dim", a.v_head_dim, 0);
  v("window", a.window, 0);
  v("stride", a.stride, 0);
  v("qkv_bias", a.qkv_bias, false);
  v("k_bias", a.k_bias, true);
  v("o_bias", a.o_bias, false);
  v("qk_norm", a.qk_norm, false);
  v("qk_norm_dim_q", a.qk_norm_dim_q, 0);
  v("qk_norm_dim_k", a.qk_norm_dim_k, 0);
  v("sinks", a.sinks, false);
  v("output_gate", a.output_gate, false);
  v("shares_kv", a.shares_kv, false);
  v("v_from_k", a.v_from_k, false);
  v("bidirectional", a.bidirectional, false);
  v("input", a.input, 0);
  v("joins_recurrence", a.joins_recurrence, false);
  v("compress", a.compress, 0);
  v("output_rank", a.output_rank, 0);
  v("output_groups", a.output_groups, 1);
  v("index_heads", a.index_heads, 0);
  v("index_head_dim", a.index_head_dim, 0);
  v("index_topk", a.index_topk, 0);
  v("index_input", a.index_input, 0);
  v("index_block", a.index_block, 0);
  v("index_shared", a.index_shared, false);
  v("q_lora_rank", a.q_lora_rank, 0);
  v("kv_lora_rank", a.kv_lora_rank, 0);
  v("qk_nope_head_dim", a.qk_nope_head_dim, 0);
  v("qk_rope_head_dim", a.qk_rope_head_dim, 0);
}

template <class Visitor>
void visit_fields(FeedForwardSpec& f, Visitor& v) {
  v("gated", f.gated, true);
  v("bias", f.bias, false);
  v("intermediate", f.intermediate, 0);
  v("experts", f.experts, 0);
  v("experts_per_token", f.experts_per_token, 0);
  v("expert_intermediate", f.expert_intermediate, 0);
  v("shared_intermediate", f.shared_intermediate, 0);
  v("shared_gate", f.shared_gate, false);
  v("router_bias", f.router_bias, false);
  v("expert_bias", f.expert_bias, false);
  v("latent", f.latent, 0);
}

template <class Visitor>
void visit_fields(RecurrentSpec& r, Visitor& v) {
  v("heads", r.heads, 0);
  v("key_heads", r.key_heads, 0);
  v("key_dim", r.key_dim, 0);
  v("value_dim", r.value_dim, 0);
  v("conv", r.conv, 0);
  v("rank", r.rank, 0);
  v("gate_rank", r.gate_rank, 0);
  v("gate_full", r.gate_full, false);
  v("conv_bias", r.conv_bias, false);
  v("bias", r.bias, false);
  v("norm_dim", r.norm_dim, 0);
  v("inner_norms", r.inner_norms, false);
  v("split_gates", r.split_gates, false);
  v("wide_state", r.wide_state, false);
}

template <class Visitor>
void visit_fields(MatrixSpec& m, Visitor& v) {
  v("rows", m.rows, 1);
  v("columns", m.columns, 1);
  v("stack", m.stack, 1);
  v("bias", m.bias, false);
  v("vector", m.vector, false);
}

template <class Visitor>
void visit_fields(LayerSpec& l, Visitor& v) {
  v("norms", l.norms, 2);
  v("norms_after", l.norms_after, false);
  v("norm_bias", l.norm_bias, false);
  v("block", l.block, 0);
}

template <class Visitor>
void visit_fields(ModelSpec& m, Visitor& v) {
  v("hidden", m.hidden, 0);
  v("vocabulary", m.vocabulary, 0);
  v("embedding", m.embedding, 0);
  v("max_context", m.max_context, 0);
  v("position_embeddings", m.position_embeddings, 0);
  v("tied_embeddings", m.tied_embeddings, false);
  v("output_head", m.output_head, true);
  v("output_bias", m.output_bias, false);
  v("final_norm", m.final_norm, true);
  v("final_norm_bias", m.final_norm_bias, false);
  v("text_part", m.text_part, false);
  v("positions", m.positions, 0);
  v("outputs", m.outputs, 0);
}

}  // namespace cairn
