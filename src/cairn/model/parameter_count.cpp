// Parameters of a graph by part.
#include "cairn/model/graph.h"

namespace cairn {
namespace {

using enum TensorRole;

bool is_expert(TensorRole role) {
  return role == expert_gate || role == expert_up || role == expert_down;
}

bool within(TensorRole role, TensorRole first, TensorRole last) {
  return role >= first && role <= last;
}

bool is_norm(TensorRole role) {
  switch (role) {
    case embedding_norm:
    case output_norm:
    case attn_norm:
    case attn_q_norm:
    case attn_k_norm:
    case attn_v_norm:
    case attn_sub_norm:
    case attn_q_a_norm:
    case attn_kv_a_norm:
    case attn_compress_norm:
    case indexer_q_norm:
    case indexer_k_norm:
    case indexer_compress_norm:
    case post_attn_norm:
    case cross_attn_norm:
    case cross_attn_q_norm:
    case cross_attn_k_norm:
    case ffn_norm:
    case post_ffn_norm:
    case ffn_sub_norm:
    case expert_norm:
    case expert_post_norm:
    case latent_norm:
    case layer_embedding_norm:
    case layer_input_norm:
    case residual_norm:
    case pre_norm:
    case projector_norm:
    case mtp_norm:
      return true;
    default:
      return false;
  }
}

// The roles stand in the order of the parts they belong to.
std::int64_t& part_of(const Graph& graph, const Tensor& t, ParameterCount& count) {
  const TensorRole role = t.owner;
  if (is_norm(role)) return count.norms;
  if (role == output || role == layer_embedding || within(role, token_embedding, type_embedding)) {
    return count.embedding;
  }
  const bool mixes = t.layer >= 0;
  const auto layer = static_cast<std::size_t>(mixes ? t.layer : 0);
  if (mixes && within(role, attn_q, cross_attn_rel_b)) {
    // Linear attention has projections of the same names.
    const bool linear = graph.spec.layers[layer].attention.heads == 0;
    return linear ? count.recurrent : count.attention;
  }
  if (within(role, linear_qkv, channel_mix_value)) return count.recurrent;
  if (within(role, ffn_gate, ffn_scale) || within(role, shared_gate, shared_router)) {
    return count.dense_ffn;
  }
  if (within(role, router, latent_norm)) return count.experts;
  return count.other;
}

// Bytes that a token is not multiplied with: tables it looks one row up in.
bool is_lookup(const Graph& graph, const Tensor& t) {
  if (t.role == layer_embedding) return true;
  return t.role == token_embedding && !graph.spec.tied_embeddings;
}

}  // namespace

ParameterCount count_parameters(const Graph& graph) {
  ParameterCount count;
  for (const Tensor& t : graph.tensors) {
    const std::int64_t weights = t.weights();
    count.total += weights;
    part_of(graph, t, count) += weights;
    if (is_expert(t.owner)) {
      const auto& f = graph.spec.layers[static_cast<std::size_t>(t.layer)].feed_forward;
      count.active += weights / f.experts * f.experts_per_token;
    } else if (!is_lookup(graph, t)) {
      count.active += weights;
    }
  }
  for (const Graph& part : graph.parts) {
    if (part.spec.part == ModelPart::mtp) continue;
    count.parts += count_parameters(part).total;
  }
  count.total += count.parts;
  return count;
}

std::int64_t count_mtp_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Graph& part : graph.parts) {
    if (part.spec.part == ModelPart::mtp) sum += count_parameters(part).total;
  }
  return sum;
}

}  // namespace cairn
