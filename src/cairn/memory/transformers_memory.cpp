// PyTorch with Hugging Face transformers: weights, one contiguous cache a layer and a
// caching allocator; nothing is paged and nothing waits. Layers are spread over devices
// one after another (device_map), as the pipeline stages of a layout.
//
//   cache        static: every layer for L positions of n sequences, windowed ones for W
//                dynamic: the same times cache_copies; each step concatenates a layer's
//                cache anew, and the allocator keeps blocks of all the sizes it went
//                through
//   activations  n prompts of L positions in one pass, b n L (3 F + c H) with b = 4 for
//                weights in fp32 and else 2, and n rows of logits in 32 bits
//
// Source: src/transformers/cache_utils.py and generation/utils.py of
// https://github.com/huggingface/transformers, c10/cuda/CUDACachingAllocator.cpp of
// https://github.com/pytorch/pytorch.
#include <algorithm>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {
namespace {

Bytes cache(const MemoryDemand& demand, const EngineInfo& engine, const Share& share) {
  Bytes sum{};
  Bytes fixed{};  // states, and what an encoder's positions leave
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = demand.graph->spec.layers[static_cast<std::size_t>(i)];
    const AttentionSpec& a = layer.attention;
    fixed += server_state(layer.recurrent, demand.graph->spec.hidden, share.tp);
    const std::int64_t kept = a.kind == AttentionKind::cross ? a.window
                              : is_windowed(a)               ? std::min(demand.context, a.window)
                                                             : demand.context;
    sum += server_cache(a, demand.kv, to_double(kept), share.tp);
    // Keys and values of the encoder's positions, whatever was written.
    const AttentionSpec& across = layer.cross_attention;
    if (across.heads > 0)
      fixed += server_cache(across, demand.kv, to_double(across.window), share.tp);
  }
  const double copies = demand.config.static_cache ? 1 : engine.memory.cache_copies;
  return (sum * copies + fixed) * to_double(demand.sequences);
}

}  // namespace

Result<MemoryEstimate> estimate_transformers(const MemoryDemand& demand, const EngineInfo& engine,
                                             const Accelerator& accelerator) {
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, demand.layout));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  // The whole prompt of every sequence is one step.
  MemoryDemand step = demand;
  step.config.max_batched_tokens = demand.context * demand.sequences;
  step.config.max_sequences = demand.sequences;
  // It computes in the type of its weights.
  const double width = demand.weights->format == "fp32" ? 4 : 2;
  MemoryEstimate out;
  out.fits = true;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    DeviceMemory device;
    device.device = device_name(accelerator, i, shares.size());
    device.capacity = accelerator.capacity(engine.id) - overheads.reserved;
    device.parts = {{"weights", server_weights(demand, shares[i], accelerator.vendor)},
                    {"activations", server_activations(step, engine, shares[i], width)},
                    {"runtime", overheads.runtime},
                    {"kv_cache", cache(demand, engine, shares[i])}};
    finish(device);
    out.fits = out.fits && device.fits();
    out.devices.push_back(std::move(device));
  }
  out.kv_tokens = demand.context * demand.sequences;
  out.resident_sequences = to_double(demand.sequences);
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
