// vLLM: a share of the device, filled with KV blocks after a profiling step.
// Source: determine_available_memory in vllm/v1/worker/gpu_worker.py, groups of
// layers in vllm/v1/core/kv_cache_utils.py.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "cairn/memory/estimates.h"

namespace cairn::memory {
namespace {

constexpr double kHalf = 2;
constexpr double kFloat = 4;

std::int64_t blocks(std::int64_t positions, std::int64_t per_block) {
  return (positions + per_block - 1) / per_block;
}

// Blocks of one sequence in a layer of this kind.
std::int64_t blocks_of(const AttentionSpec& a, const MemoryDemand& demand) {
  const EngineConfig& c = demand.config;
  const std::int64_t all = blocks(demand.context, c.block_tokens);
  if (!is_windowed(a)) return all;
  const std::int64_t kept = a.window - 1 + c.max_batched_tokens;
  if (kept >= demand.context) return all;
  return std::min(all, blocks(kept, c.block_tokens) + 1);
}

// Tables that every rank holds beside the weights: cosines and sines of the
// rotation for each position the model was made for, in 16 bits.
Bytes rotation_table(const ModelSpec& spec) {
  if (spec.layers.empty() || spec.position_embeddings > 0) return Bytes(0);
  const AttentionSpec& a = spec.layers.front().attention;
  const std::int64_t width = a.kind == AttentionKind::mla ? a.qk_rope_head_dim : a.head_dim;
  return Bytes(kHalf * to_double(spec.max_context * width));
}

// Experts in mxfp4 are filled up to what the kernels take: hidden features to
// multiples of 256, a rank's expert features to 256 on ROCm and to 128 elsewhere
// (vllm/model_executor/layers/quantization/mxfp4.py).
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

Bytes weights_of(const MemoryDemand& demand, const Share& share, std::string_view vendor) {
  Bytes sum = rotation_table(demand.graph->spec);
  for (std::size_t i = 0; i < demand.graph->tensors.size(); ++i) {
    const TensorRole role = demand.graph->tensors[i].role;
    const bool expert = role == TensorRole::expert_gate || role == TensorRole::expert_up ||
                        role == TensorRole::expert_down;
    sum += expert && demand.weights->types[i]->name == "mxfp4"
               ? padded_experts(demand, i, share, vendor)
               : weight_bytes(demand, i, share);
  }
  return sum;
}

double forward_features(const LayerSpec& layer, double hidden, const Share& share) {
  const FeedForwardSpec& f = layer.feed_forward;
  const double tp = share.tp;
  double widest = 3 * to_double(f.intermediate) / tp + 4 * hidden;
  if (f.experts > 0) {
    const double inner = to_double(f.expert_intermediate) / (share.ep > 1 ? 1 : tp);
    const double chosen = to_double(f.experts_per_token) / (share.ep > 1 ? tp : 1);
    widest = std::max(widest, chosen * std::max(2 * inner, hidden) + chosen * inner + 4 * hidden);
  }
  return widest;
}

// Layers that take their blocks from one pool, by kind.
struct Pool {
  struct Kind {
    std::int64_t layers = 0;
    std::int64_t blocks = 0;  // of one sequence in one layer
  };
  std::map<std::int64_t, Kind> kinds;  // by window; 0: every position
  Bytes largest_block{};
};

Pool pool_of(const MemoryDemand& demand, const Share& share) {
  Pool pool;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const AttentionSpec& a = demand.graph->spec.layers[static_cast<std::size_t>(i)].attention;
    const Bytes block = kv_bytes(a, demand.kv, to_double(demand.config.block_tokens), share.tp);
    if (block.value() <= 0) continue;
    Pool::Kind& kind = pool.kinds[is_windowed(a) ? a.window : 0];
    ++kind.layers;
    kind.blocks = blocks_of(a, demand);
    pool.largest_block = max(pool.largest_block, block);
  }
  return pool;
}

}  // namespace

Bytes vllm_activations(const MemoryDemand& demand, const EngineInfo& engine, const Share& share) {
  const ModelSpec& spec = demand.graph->spec;
  const double tokens = to_double(demand.config.max_batched_tokens);
  double features = 0;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = spec.layers[static_cast<std::size_t>(i)];
    features = std::max(features, forward_features(layer, to_double(spec.hidden), share));
  }
  const double forward = kHalf * tokens * features;
  if (!share.head || !spec.output_head) return Bytes(forward);
  const double sequences = std::min(to_double(demand.config.max_sequences), tokens);
  const double sampler = kFloat * sequences * to_double(spec.vocabulary) * engine.sampler_copies;
  return Bytes(std::max(forward, sampler));
}

Bytes vllm_sequence_bytes(const MemoryDemand& demand, const Share& share) {
  const Pool pool = pool_of(demand, share);
  if (pool.kinds.empty()) return Bytes(0);
  std::int64_t fewest = INT64_MAX;
  std::int64_t most = 0;
  for (const auto& [window, kind] : pool.kinds) {
    fewest = std::min(fewest, kind.layers);
    most = std::max(most, kind.layers);
  }
  const std::int64_t group = to_double(most) < 1.25 * to_double(fewest) ? most : fewest;
  std::int64_t layer_blocks = 0;
  for (const auto& [window, kind] : pool.kinds) {
    layer_blocks += kind.blocks * padded(kind.layers, group);
  }
  return pool.largest_block * to_double(layer_blocks);
}

Result<MemoryEstimate> estimate_vllm(const MemoryDemand& demand, const EngineInfo& engine,
                                     const Accelerator& accelerator) {
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, demand.layout));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  const Bytes capacity = accelerator.capacity() - overheads.reserved;
  const Bytes budget = capacity * demand.config.memory_fraction;
  MemoryEstimate out;
  out.resident_sequences = INFINITY;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    DeviceMemory device;
    device.device = device_name(accelerator, i, shares.size());
    device.capacity = capacity;
    const Bytes weights = weights_of(demand, share, accelerator.vendor);
    const Bytes activations = vllm_activations(demand, engine, share);
    const Bytes runtime =
        overheads.runtime + (share.tp > 1 ? overheads.runtime_parallel : Bytes(0));
    const Bytes room = max(budget - weights - activations - runtime, Bytes(0));
    const Bytes each = vllm_sequence_bytes(demand, share);
    out.resident_sequences = std::min(out.resident_sequences, room / each);
    // Graphs are captured after the cache is allocated, outside the share.
    const Bytes graphs = demand.config.graph_capture ? overheads.graphs : Bytes(0);
    device.parts = {{"weights", weights},
                    {"activations", activations},
                    {"runtime", runtime},
                    {"kv_cache", room},
                    {"graphs", min(graphs, capacity - budget)}};
    finish(device);
    device.required = (weights + activations + runtime + each) / demand.config.memory_fraction;
    out.devices.push_back(std::move(device));
  }
  if (!std::isfinite(out.resident_sequences)) out.resident_sequences = 0;
  out.fits = out.resident_sequences >= 1;
  out.kv_tokens = static_cast<std::int64_t>(out.resident_sequences * to_double(demand.context));
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
