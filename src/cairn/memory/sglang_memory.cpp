// SGLang: weights and cache take a share of what is free before loading; activations
// and graphs live in the rest.
//
//   free     = capacity - runtime
//   share    = as asked for, or (M - reserve) / M to three places, M = capacity in MiB,
//              reserve = constant + T per token + G per captured sequence + devices
//              (at least a minimum on large devices); less for models with a tower for
//              images
//   cache    = free * share - weights
//   cells    = cache / (full bytes + w * windowed bytes) of a position, w = window_share;
//              windowed layers have w times as many cells as full ones
//   states   = with recurrent layers, state_ratio / (1 + state_ratio) of the cache first
//
// Source: _handle_gpu_memory_settings and adjust_mem_fraction_for_vlm in
// python/sglang/srt/server_args.py, profile_max_num_token, handle_max_mamba_cache and
// set_num_tokens_hybrid_swa in python/sglang/srt/model_executor/model_runner_kv_cache_mixin.py.
#include "cairn/memory/sglang_memory.h"

#include <algorithm>
#include <cmath>

#include "cairn/memory/demand_table.h"
#include "cairn/memory/server_frame.h"

namespace cairn::memory {
namespace {

// 0.95 for a tower of CLIP's size (24 layers of 1024 features), a tenth less for each
// time it is larger, within 0.8 and 1.05.
double tower_factor(const ModelSpec& spec) {
  constexpr double kClip = 24.0 * 1024 * 1024;
  double factor = 1;
  for (const ModelSpec& part : spec.parts) {
    if (part.part != ModelPart::vision) continue;
    const double layers = to_double(static_cast<std::int64_t>(part.layers.size()));
    const double size = layers * to_double(part.hidden) * to_double(part.hidden) / kClip;
    factor = 0.95 * std::clamp(1 - 0.1 * (size - 1), 0.8, 1.05);
  }
  return factor;
}

}  // namespace

double sglang_share(const MemoryDemand& demand, const EngineInfo& engine, Bytes capacity) {
  if (demand.config.memory_fraction > 0) return demand.config.memory_fraction;
  const MemoryModel& m = engine.memory;
  const double chunk = std::max(to_double(demand.config.max_batched_tokens), 2048.0);
  const double devices = demand.layout.tp * demand.layout.pp;
  Bytes reserve = m.reserve + m.reserve_per_token * chunk +
                  m.reserve_per_graph_batch * to_double(demand.config.graph_batch) +
                  m.reserve_per_device * devices;
  if (capacity > m.reserve_least_from) reserve = max(reserve, m.reserve_least);
  const double share = std::round((capacity - reserve) / capacity * 1000) / 1000;
  return std::max(0.0, share) * tower_factor(demand.graph->spec);
}

namespace {

CellBytes cell_bytes(const MemoryDemand& demand, const Share& share) {
  CellBytes out;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = demand.graph->spec.layers[static_cast<std::size_t>(i)];
    const AttentionSpec& a = layer.attention;
    out.state += server_state(layer.recurrent, demand.graph->spec.hidden, share.tp);
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

Cells positions_of(const CellBytes& cell, Bytes room, const MemoryDemand& demand,
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

Cells cells_of(const CellBytes& cell, Bytes room, const MemoryDemand& demand,
               const EngineInfo& engine) {
  if (cell.state.value() <= 0) return positions_of(cell, room, demand, engine);
  const MemoryModel& m = engine.memory;
  const double slots = std::floor(room * (m.state_ratio / (1 + m.state_ratio)) / cell.state);
  Cells out = positions_of(cell, room - cell.state * slots, demand, engine);
  const double running = std::floor(slots / m.states_per_sequence);
  const bool cached = cell.full.value() > 0 || cell.windowed.value() > 0;
  out.sequences = cached ? std::min(out.sequences, running) : running;
  if (!cached) out.full = running * to_double(demand.context);
  // What one sequence asks of the room: its cache and states, each in its share of it.
  const Bytes states = cell.state * m.states_per_sequence;
  out.sequence = max(out.sequence * (1 + m.state_ratio),
                     m.state_ratio > 0 ? states * ((1 + m.state_ratio) / m.state_ratio) : states);
  return out;
}

Result<std::vector<RankNeed<CellBytes>>> needs_of(const MemoryDemand& demand,
                                                  const EngineInfo& engine,
                                                  std::string_view vendor) {
  // Logits are those of a captured step.
  MemoryDemand step = demand;
  step.config.max_sequences =
      std::max<std::int64_t>(1, std::min(demand.config.max_sequences, demand.config.graph_batch));
  return rank_needs<CellBytes>(demand, step, engine, vendor,
                               [&](const Share& s) { return cell_bytes(demand, s); });
}

}  // namespace

Result<MemoryEstimate> estimate_sglang(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator) {
  CAIRN_TRY(const auto ranks,
            shared_need(&MemoryCache::Tables::sglang, demand, engine, accelerator.vendor,
                        [&] { return needs_of(demand, engine, accelerator.vendor); }));
  const double fraction = sglang_share(demand, engine, accelerator.capacity(engine.id));
  return pooled_estimate(
      *ranks, engine, accelerator, [&](const RankNeed<CellBytes>& rank, const StageRoom& room) {
        const Bytes free = room.capacity - room.runtime;
        const Bytes cache = max(free * fraction - rank.weights, Bytes(0));
        const Cells cells = cells_of(rank.cache, cache, demand, engine);
        // Both live in what the share leaves; the engine does not make sure that they fit.
        const Bytes left = max(free - rank.weights - cache, Bytes(0));
        const Bytes activations = min(rank.activations, left);
        const Bytes graphs = demand.config.graph_capture ? room.overheads.graphs : Bytes(0);
        return StageUse{
            .activations = activations,
            .cache = cache,
            .graphs = min(graphs, left - activations),
            .required = (rank.weights + cells.sequence) / std::max(fraction, 1e-3) + room.runtime,
            .sequences = cells.sequences,
            .tokens = static_cast<std::int64_t>(cells.full)};
      });
}

}  // namespace cairn::memory
