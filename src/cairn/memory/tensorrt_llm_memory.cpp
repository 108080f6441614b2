// TensorRT-LLM: a share of what a step at its largest leaves free becomes the cache.
//
//   room  = share * (capacity - weights - activations - runtime)
//   cache = pools of blocks by window: a sequence takes ceil(min(L, W) / b) blocks of
//           every layer, and a state of every recurrent one
//
// Source: _cal_max_memory in tensorrt_llm/_torch/pyexecutor/_util.py, KvCacheConfig in
// tensorrt_llm/llmapi/llm_args.py.
#include <algorithm>
#include <cmath>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {
namespace {

// Bytes of cache of one sequence on one rank.
Bytes sequence_bytes(const MemoryDemand& demand, const Share& share) {
  Bytes sum{};
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = demand.graph->spec.layers[static_cast<std::size_t>(i)];
    const AttentionSpec& a = layer.attention;
    sum += server_state(layer.recurrent, demand.graph->spec.hidden, share.tp);
    const std::int64_t kept = is_windowed(a) ? std::min(demand.context, a.window) : demand.context;
    sum +=
        server_cache(a, demand.kv, to_double(padded(kept, demand.config.block_tokens)), share.tp);
  }
  return sum;
}

}  // namespace

Result<MemoryEstimate> estimate_tensorrt_llm(const MemoryDemand& demand, const EngineInfo& engine,
                                             const Accelerator& accelerator) {
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, demand.layout));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  const Bytes capacity = accelerator.capacity() - overheads.reserved;
  MemoryEstimate out;
  out.resident_sequences = INFINITY;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    DeviceMemory device;
    device.device = device_name(accelerator, i, shares.size());
    device.capacity = capacity;
    const Bytes weights = server_weights(demand, share, accelerator.vendor);
    const Bytes activations = server_activations(demand, engine, share);
    const Bytes runtime =
        overheads.runtime + (share.tp > 1 || share.ep > 1 ? overheads.runtime_parallel : Bytes(0));
    const Bytes peak = weights + activations + runtime;
    const Bytes room = max(capacity - peak, Bytes(0)) * demand.config.memory_fraction;
    const Bytes each = sequence_bytes(demand, share);
    if (each.value() > 0) out.resident_sequences = std::min(out.resident_sequences, room / each);
    const Bytes graphs = demand.config.graph_capture ? overheads.graphs : Bytes(0);
    device.parts = {{"weights", weights},
                    {"activations", activations},
                    {"runtime", runtime},
                    {"kv_cache", room},
                    {"graphs", min(graphs, max(capacity - peak - room, Bytes(0)))}};
    finish(device);
    device.required = peak + each / demand.config.memory_fraction;
    out.devices.push_back(std::move(device));
  }
  if (!std::isfinite(out.resident_sequences)) out.resident_sequences = 0;
  out.fits = out.resident_sequences >= 1;
  out.kv_tokens = static_cast<std::int64_t>(out.resident_sequences * to_double(demand.context));
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
