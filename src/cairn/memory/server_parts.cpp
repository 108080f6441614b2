#include "cairn/memory/server_parts.h"

#include <algorithm>

namespace cairn::memory {
namespace {

constexpr double kHalf = 2;
constexpr double kFloat = 4;

Bytes rotation_table(const ModelSpec& spec) {
  if (spec.layers.empty() || spec.position_embeddings > 0) return Bytes(0);
  const AttentionSpec& a = spec.layers.front().attention;
  const std::int64_t width = a.kind == AttentionKind::mla ? a.qk_rope_head_dim : a.head_dim;
  return Bytes(kHalf * to_double(spec.max_context * width));
}

Bytes padded_experts(const MemoryDemand& demand, std::size_t tensor, const Share& share,
                     std::string_view vendor) {
  const Tensor t = share_of(demand.graph->tensors[tensor], *demand.graph, share);
  if (t.rows == 0) return Bytes(0);
  const std::int64_t inner = vendor == "amd" ? 256 : 128;
  const bool down = t.role == TensorRole::expert_down;
  const double rows = to_double(padded(t.rows, down ? 256 : inner));
  const double columns = to_double(padded(t.columns, down ? inner : 256));
  return demand.weights->types[tensor]->bytes(rows, columns) * to_double(t.experts);
}

Bytes parts_of(const MemoryDemand& demand, const Share& share) {
  Bytes sum = demand.weights->towers(*demand.graph);
  const std::size_t parts = std::min(demand.weights->parts.size(), demand.graph->parts.size());
  for (std::size_t i = 0; i < parts; ++i) {
    const Graph& part = demand.graph->parts[i];
    if (part.spec.part == ModelPart::encoder)
      sum += demand.weights->parts[i].total(part) / share.tp;
  }
  return sum;
}

double forward_features(const LayerSpec& layer, double hidden, double copies, const Share& share) {
  const FeedForwardSpec& f = layer.feed_forward;
  const double tp = share.tp;
  const AttentionSpec& a = layer.attention;
  const double queries = to_double(a.heads * std::max(a.head_dim, a.v_head_dim)) / tp;
  double widest = std::max(3 * to_double(f.intermediate) / tp, 3 * queries);
  if (f.experts > 0) {
    const double inner = to_double(f.expert_intermediate) / (share.ep > 1 ? 1 : tp);
    // Replicas that share experts gather their tokens; each expert has room for all.
    const double replicas = std::max(1.0, share.ep / tp);
    const double chosen = to_double(f.experts_per_token) * replicas;
    widest = std::max(widest, chosen * (replicas > 1 ? 2 * hidden + 3 * inner
                                                     : std::max(2 * inner, hidden) + inner));
  }
  return widest + copies * hidden;
}

// What a step of a layer gathers of the cache.
Bytes gathered(const AttentionSpec& a, const MemoryDemand& demand, const MemoryModel& m) {
  const double context = to_double(demand.context);
  if (a.kind == AttentionKind::compressed) {
    if (a.compress <= 1) return Bytes(0);
    const double entries = context / to_double(a.compress) + to_double(a.window) +
                           to_double(demand.config.max_batched_tokens);
    const Bytes keys = server_index(a, m.index_contexts * context / to_double(a.compress));
    return max(keys, Bytes(kHalf * m.entry_contexts * entries * to_double(a.head_dim)));
  }
  if (a.index_heads <= 0 || a.index_block > 0) return Bytes(0);
  const double latent = to_double(a.kv_lora_rank + a.qk_rope_head_dim);
  return max(server_index(a, m.index_contexts * context),
             Bytes(kHalf * m.latent_contexts * context * latent));
}

}  // namespace

Bytes server_weights(const MemoryDemand& demand, const Share& share, std::string_view vendor) {
  Bytes sum = rotation_table(demand.graph->spec);
  if (share.embedding) sum += parts_of(demand, share);
  const bool filled = demand.graph->spec.family == "gpt-oss";
  for (std::size_t i = 0; i < demand.graph->tensors.size(); ++i) {
    const TensorRole role = demand.graph->tensors[i].role;
    const bool expert = role == TensorRole::expert_gate || role == TensorRole::expert_up ||
                        role == TensorRole::expert_down;
    sum += expert && filled && demand.weights->types[i]->name == "mxfp4"
               ? padded_experts(demand, i, share, vendor)
               : weight_bytes(demand, i, share);
  }
  return sum;
}

Bytes server_activations(const MemoryDemand& demand, const EngineInfo& engine, const Share& share,
                         double width) {
  const ModelSpec& spec = demand.graph->spec;
  const double tokens = to_double(demand.config.max_batched_tokens);
  double features = 0;
  Bytes workspace{};
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = spec.layers[static_cast<std::size_t>(i)];
    workspace = max(workspace, gathered(layer.attention, demand, engine.memory));
    features = std::max(features, forward_features(layer, to_double(spec.hidden),
                                                   engine.memory.hidden_copies, share));
  }
  double forward = width * tokens * features;
  if (workspace.value() > 0) forward = std::max(forward, engine.memory.index_scores.value());
  if (!share.head || !spec.output_head) return workspace + Bytes(forward);
  const double sequences = std::min(to_double(demand.config.max_sequences), tokens);
  const double sampler =
      kFloat * sequences * to_double(spec.vocabulary) * engine.memory.sampler_copies;
  return workspace + Bytes(std::max(forward, sampler));
}

Bytes server_index(const AttentionSpec& attention, double positions) {
  constexpr std::int64_t kScaled = 128;  // keys that share a scale
  const std::int64_t keys = index_elements_per_token(attention);
  if (keys <= 0) return Bytes(0);
  return Bytes(positions * (to_double(keys) + kFloat * to_double(keys) / kScaled));
}

Bytes server_cache(const AttentionSpec& attention, const KvFormat& kv, double positions, int tp) {
  const bool compressed = attention.kind == AttentionKind::compressed && attention.compress > 1;
  const double entries = compressed ? positions / to_double(attention.compress) : positions;
  return kv_bytes(attention, kv, entries, tp) + server_index(attention, entries);
}

Bytes server_state(const RecurrentSpec& recurrent, std::int64_t hidden, int tp) {
  if (recurrent.kind == RecurrentKind::none) return Bytes(0);
  // The states of Kimi's delta rule and of RWKV are always wide.
  const bool wide = recurrent.wide_state || recurrent.kind == RecurrentKind::kimi_delta ||
                    recurrent.kind == RecurrentKind::rwkv;
  return state_bytes(recurrent, hidden, wide ? kFloat : kHalf, kHalf, tp);
}

}  // namespace cairn::memory
