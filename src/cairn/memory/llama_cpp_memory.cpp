// llama.cpp: what it prints as model buffer, KV buffer and compute buffer.
// Sources: src/llama-model.cpp (which tensors go where), src/llama-kv-cache.cpp
// and src/llama-kv-cache-iswa.cpp (cells), src/llama-graph.cpp (compute).
#include <algorithm>

#include "cairn/memory/estimates.h"

namespace cairn::memory {
namespace {

constexpr double kFloat = 4;
constexpr double kHalf = 2;
constexpr double kPipelineCopies = 4;  // GGML_SCHED_MAX_COPIES

// Cells of one sequence in the cache of a layer. A window cache has room for the
// window and one ubatch, in whole multiples of 256
// (src/llama-kv-cache-iswa.cpp; https://github.com/ggml-org/llama.cpp/pull/13194).
std::int64_t cells(const AttentionSpec& a, const MemoryDemand& demand) {
  const EngineConfig& c = demand.config;
  const std::int64_t all = padded(demand.context, c.context_pad);
  if (!is_windowed(a) || c.full_window_cache) return all;
  return padded(std::min(all, a.window + c.ubatch), c.context_pad);
}

std::int64_t largest_cells(const MemoryDemand& demand, const Share& share) {
  std::int64_t most = 0;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = demand.graph->spec.layers[static_cast<std::size_t>(i)];
    most = std::max(most, cells(layer.attention, demand));
  }
  return most * demand.sequences;
}

Bytes cache(const MemoryDemand& demand, const Share& share) {
  Bytes sum{};
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const AttentionSpec& a = demand.graph->spec.layers[static_cast<std::size_t>(i)].attention;
    sum += kv_bytes(a, demand.kv, to_double(cells(a, demand) * demand.sequences), 1);
  }
  return sum;
}

// The token table is read on the host, so it stays there; where it is the head
// too, the last device has a copy. Position tables are inputs as well.
bool is_input(const Tensor& t) {
  return t.role == TensorRole::token_embedding || t.role == TensorRole::position_embedding;
}

Bytes device_weights(const MemoryDemand& demand, const Share& share) {
  const ModelSpec& spec = demand.graph->spec;
  Bytes sum{};
  for (std::size_t i = 0; i < demand.graph->tensors.size(); ++i) {
    const Tensor& t = demand.graph->tensors[i];
    const bool head = t.role == TensorRole::token_embedding && share.head && spec.tied_embeddings &&
                      spec.output_head;
    if (!is_input(t) || head) sum += weight_bytes(demand, i, share);
  }
  return sum;
}

Bytes host_bytes(const MemoryDemand& demand) {
  const ModelSpec& spec = demand.graph->spec;
  Bytes sum{};
  for (std::size_t i = 0; i < demand.graph->tensors.size(); ++i) {
    if (is_input(demand.graph->tensors[i])) sum += demand.weights->bytes(*demand.graph, i);
  }
  // Inputs (embedded tokens and the mask) and the logits of one position each.
  const double copies = demand.layout.pp > 1 ? kPipelineCopies : 1;
  const Share all{.last_layer = static_cast<std::int32_t>(spec.layers.size())};
  const double tokens = to_double(demand.config.ubatch);
  sum += Bytes(kFloat * tokens *
               (to_double(spec.hidden) + copies * to_double(largest_cells(demand, all))));
  sum += Bytes(kFloat * to_double(spec.vocabulary) * to_double(demand.sequences));
  return sum;
}

// Features per token that are alive at once in the widest place of a layer.
double layer_features(const LayerSpec& layer, double hidden) {
  const AttentionSpec& a = layer.attention;
  const FeedForwardSpec& f = layer.feed_forward;
  const double key = a.kind == AttentionKind::mla ? to_double(a.kv_lora_rank + a.qk_rope_head_dim)
                                                  : to_double(a.head_dim);
  const double queries = to_double(a.heads) * key;
  const double chosen = to_double(f.experts_per_token);
  double widest = 3 * queries + 4 * hidden;
  widest = std::max(widest, 3 * to_double(f.intermediate) + 4 * hidden);
  if (f.experts > 0) {
    widest = std::max(widest, 2 * chosen * hidden + 3 * hidden);
    widest = std::max(widest, 3 * chosen * to_double(f.expert_intermediate) + 4 * hidden);
  }
  return widest;
}

// A quantised cache is expanded to 16 bits for flash attention, one layer at a
// time, in a pool that keeps its largest size (ggml-cuda/fattn-common.cuh;
// https://github.com/ggml-org/llama.cpp/issues/23446). Vulkan reads it as it is.
Bytes flash_workspace(const MemoryDemand& demand, const EngineInfo& engine, const Share& share) {
  const bool expands = demand.config.flash_attention && demand.kv.type->block_weights > 1 &&
                       engine.id != "llama.cpp-vulkan";
  if (!expands) return Bytes(0);
  double most = 0;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const AttentionSpec& a = demand.graph->spec.layers[static_cast<std::size_t>(i)].attention;
    most = std::max(most, to_double(kv_elements_per_token(a)) * to_double(cells(a, demand)));
  }
  return Bytes(kHalf * most * to_double(demand.sequences));
}

}  // namespace

Bytes llama_cpp_compute(const MemoryDemand& demand, const Share& share, bool several_devices) {
  const ModelSpec& spec = demand.graph->spec;
  const EngineConfig& c = demand.config;
  const double hidden = to_double(spec.hidden);
  const double tokens =
      to_double(std::min(c.ubatch, padded(demand.context, c.context_pad) * demand.sequences));
  const double row = kFloat * tokens;

  double features = 0;
  double heads = 0;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = spec.layers[static_cast<std::size_t>(i)];
    features = std::max(features, layer_features(layer, hidden));
    heads = std::max(heads, to_double(layer.attention.heads));
  }
  const double positions = tokens * to_double(largest_cells(demand, share));
  double logits = 0;
  if (share.head && spec.output_head) {
    const double outputs = c.reserve_all_outputs ? tokens : to_double(demand.sequences);
    logits = kFloat * outputs * to_double(spec.vocabulary) + 2 * row * hidden;
  }
  double layer = row * features;
  double mask = 0;  // of one input
  if (c.flash_attention) {
    // The first device turns the mask of 32 bits into one of 16.
    mask = (share.embedding ? kFloat : kHalf) * positions;
    if (share.embedding) layer += kHalf * positions;
    if (!several_devices) {
      layer = std::max(layer, (kFloat + kHalf) * positions + 4 * row * hidden);
    }
  } else {
    mask = kFloat * positions;
    layer = std::max(layer, kFloat * positions * heads + 4 * row * hidden);
    if (!several_devices) layer += mask;
  }
  const double inputs = several_devices ? kPipelineCopies * (mask + row * hidden) : 0;
  return Bytes(inputs + std::max(logits, layer));
}

Result<MemoryEstimate> estimate_llama_cpp(const MemoryDemand& demand, const EngineInfo& engine,
                                          const Accelerator& accelerator) {
  const Layout& layout = demand.layout;
  if (layout.tp > 1 || layout.ep > 1) {
    return fail(unsupported("memory of llama.cpp under tensor or expert parallelism")
                    .in(layout.tp > 1 ? "tp" : "ep")
                    .got(std::to_string(std::max(layout.tp, layout.ep)))
                    .want("1; devices are added by layer (pp)"));
  }
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, layout, Stages::head_counts));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  MemoryEstimate out;
  out.fits = true;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    DeviceMemory device;
    device.device = device_name(accelerator, i, shares.size());
    device.capacity = accelerator.capacity() - overheads.reserved;
    device.parts = {
        {"weights", device_weights(demand, shares[i])},
        {"kv_cache", cache(demand, shares[i])},
        {"compute", llama_cpp_compute(demand, shares[i], shares.size() > 1)},
        {"runtime", overheads.runtime + flash_workspace(demand, engine, shares[i])},
    };
    finish(device);
    out.fits = out.fits && device.fits();
    out.devices.push_back(std::move(device));
  }
  out.host = host_bytes(demand);
  out.kv_tokens = padded(demand.context, demand.config.context_pad) * demand.sequences;
  out.resident_sequences = to_double(demand.sequences);
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
