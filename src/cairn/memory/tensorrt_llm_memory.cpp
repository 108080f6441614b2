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

#include "cairn/memory/demand_table.h"
#include "cairn/memory/server_frame.h"

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
  // Buffers for sampling are made for the whole batch, however few tokens a step has.
  MemoryDemand step = demand;
  step.config.max_batched_tokens =
      std::max(demand.config.max_batched_tokens, demand.config.max_sequences);
  CAIRN_TRY(
      const auto ranks,
      shared_need(&MemoryCache::Tables::tensorrt_llm, demand, engine, accelerator.vendor, [&] {
        return rank_needs<Bytes>(demand, step, engine, accelerator.vendor,
                                 [&](const Share& s) { return sequence_bytes(demand, s); });
      }));
  return pooled_estimate(
      *ranks, engine, accelerator, [&](const RankNeed<Bytes>& rank, const StageRoom& room) {
        const Bytes peak = rank.weights + rank.activations + room.runtime;
        const Bytes cache = max(room.capacity - peak, Bytes(0)) * demand.config.memory_fraction;
        const Bytes graphs = demand.config.graph_capture ? room.overheads.graphs : Bytes(0);
        StageUse use{.activations = rank.activations,
                     .cache = cache,
                     .graphs = min(graphs, max(room.capacity - peak - cache, Bytes(0))),
                     .required = peak + rank.cache / demand.config.memory_fraction};
        if (rank.cache.value() > 0) {
          use.sequences = cache / rank.cache;
          use.tokens = static_cast<std::int64_t>(use.sequences * to_double(demand.context));
        }
        return use;
      });
}

}  // namespace cairn::memory
