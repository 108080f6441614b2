// SGLang: weights and cache take a share of what is free before loading; activations
// and graphs live in the rest.
//
//   free     = capacity - runtime
//   share    = as asked for, or (M - reserve) / M to three places, M = capacity in MiB,
//              reserve = constant + T per token + G per captured sequence + devices
//              (at least a minimum on large devices)
//   cache    = free * share - weights
//   cells    = cache / (full bytes + w * windowed bytes) of a position, w = window_share;
//              windowed layers have w times as many cells as full ones
//
// Source: _handle_gpu_memory_settings in python/sglang/srt/server_args.py,
// profile_max_num_token and set_num_tokens_hybrid_swa in
// python/sglang/srt/model_executor/model_runner_kv_cache_mixin.py.
#include <algorithm>
#include <cmath>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {
namespace {

double automatic_share(const MemoryDemand& demand, const EngineInfo& engine, Bytes capacity) {
  const MemoryModel& m = engine.memory;
  const double chunk = std::max(to_double(demand.config.max_batched_tokens), 2048.0);
  const double devices = demand.layout.tp * demand.layout.pp;
  Bytes reserve = m.reserve + m.reserve_per_token * chunk +
                  m.reserve_per_graph_batch * to_double(demand.config.graph_batch) +
                  m.reserve_per_device * devices;
  if (capacity > m.reserve_least_from) reserve = max(reserve, m.reserve_least);
  return std::max(0.0, std::round((capacity - reserve) / capacity * 1000) / 1000);
}

// Bytes of one position in the layers of a rank.
struct CellBytes {
  Bytes full{};
  Bytes windowed{};
  std::int64_t window = 0;  // the longest
};

CellBytes cell_bytes(const MemoryDemand& demand, const Share& share) {
  CellBytes out;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const AttentionSpec& a = demand.graph->spec.layers[static_cast<std::size_t>(i)].attention;
    const Bytes cell = server_cache(a, demand.kv, 1, share.tp);
    if (is_windowed(a)) {
      out.windowed += cell;
      out.window = std::max(out.window, a.window);
    } else {
      out.full += cell;
    }
  }
  return out;
}

// Cells of the pools, and what one sequence takes of the cache.
struct Cells {
  double full = 0;  // the size of the cache that the engine states
  double sequences = 0;
  Bytes sequence{};
};

Cells cells_of(const CellBytes& cell, Bytes room, const MemoryDemand& demand,
               const EngineInfo& engine) {
  const auto page = to_double(demand.config.block_tokens);
  const auto whole = [&](double n) { return std::floor(n / page) * page; };
  const auto context = to_double(padded(demand.context, demand.config.block_tokens));
  const double kept = std::min(context, to_double(cell.window) + page);
  Cells out;
  if (cell.windowed.value() <= 0 || cell.full.value() <= 0) {
    const Bytes each = cell.full + cell.windowed;
    if (each.value() <= 0) return out;
    out.full = whole(room / each);
    out.sequences = out.full / context;
    out.sequence = each * context;
    return out;
  }
  const double share = engine.memory.window_share;
  const Bytes each = cell.full + cell.windowed * share;
  out.full = whole(room / each);
  out.sequences = std::min(out.full / context, whole(out.full * share) / kept);
  out.sequence = each * std::max(context, kept / share);
  return out;
}

}  // namespace

Result<MemoryEstimate> estimate_sglang(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator) {
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, demand.layout));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  const Bytes capacity = accelerator.capacity() - overheads.reserved;
  const double fraction = demand.config.memory_fraction > 0
                              ? demand.config.memory_fraction
                              : automatic_share(demand, engine, accelerator.capacity());
  // Logits are those of a captured step.
  MemoryDemand step = demand;
  step.config.max_sequences =
      std::max<std::int64_t>(1, std::min(demand.config.max_sequences, demand.config.graph_batch));
  MemoryEstimate out;
  out.resident_sequences = INFINITY;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    DeviceMemory device;
    device.device = device_name(accelerator, i, shares.size());
    device.capacity = capacity;
    const Bytes weights = server_weights(demand, share, accelerator.vendor);
    const Bytes runtime =
        overheads.runtime + (share.tp > 1 ? overheads.runtime_parallel : Bytes(0));
    const Bytes room = max((capacity - runtime) * fraction - weights, Bytes(0));
    const Cells cells = cells_of(cell_bytes(demand, share), room, demand, engine);
    if (cells.sequences < out.resident_sequences) {
      out.resident_sequences = cells.sequences;
      out.kv_tokens = static_cast<std::int64_t>(cells.full);
    }
    // Both live in what the share leaves; the engine does not make sure that they fit.
    Bytes left = max(capacity - weights - room - runtime, Bytes(0));
    const Bytes activations = min(server_activations(step, engine, share), left);
    left -= activations;
    const Bytes graphs = demand.config.graph_capture ? overheads.graphs : Bytes(0);
    device.parts = {{"weights", weights},
                    {"activations", activations},
                    {"runtime", runtime},
                    {"kv_cache", room},
                    {"graphs", min(graphs, left)}};
    finish(device);
    device.required = (weights + cells.sequence) / std::max(fraction, 1e-3) + runtime;
    out.devices.push_back(std::move(device));
  }
  if (!std::isfinite(out.resident_sequences)) out.resident_sequences = 0;
  out.fits = out.resident_sequences >= 1;
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
