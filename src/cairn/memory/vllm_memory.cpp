// vLLM: a share of the device, filled with KV blocks after a profiling step.
// Source: determine_available_memory in vllm/v1/worker/gpu_worker.py, groups of
// layers in vllm/v1/core/kv_cache_utils.py.
#include "cairn/memory/vllm_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "cairn/memory/demand_table.h"
#include "cairn/memory/server_frame.h"
#include "cairn/memory/vllm_compressed.h"

namespace cairn::memory {
namespace {

std::int64_t blocks(std::int64_t positions, std::int64_t per_block) {
  return (positions + per_block - 1) / per_block;
}

// Layers that keep the same positions, or that keep a recurrent state.
struct Kind {
  static constexpr std::int64_t kState = -1;
  std::int64_t window = 0;  // 0: every position
  std::int64_t layers = 0;
  Bytes page{};  // of one layer for block_tokens positions, the largest of the kind
  Bytes sum{};   // of all its layers
};

void add_layer(std::vector<Kind>& kinds, std::int64_t window, Bytes page) {
  if (page.value() <= 0) return;
  auto it = std::ranges::find(kinds, window, &Kind::window);
  if (it == kinds.end()) it = kinds.insert(it, Kind{.window = window});
  ++it->layers;
  it->page = max(it->page, page);
  it->sum += page;
}

std::vector<Kind> kinds_of(const MemoryDemand& demand, const Share& share,
                           std::int64_t block_tokens) {
  std::vector<Kind> out;
  const ModelSpec& spec = demand.graph->spec;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const LayerSpec& layer = spec.layers[static_cast<std::size_t>(i)];
    const AttentionSpec& a = layer.attention;
    const Bytes page = server_cache(a, demand.kv, to_double(block_tokens), share.tp);
    add_layer(out, is_windowed(a) ? a.window : 0, page);
    add_layer(out, Kind::kState, server_state(layer.recurrent, spec.hidden, share.tp));
  }
  return out;
}

// Positions of a block: as many more than asked for as make a page of attention hold
// a recurrent state.
std::int64_t block_tokens_of(const MemoryDemand& demand, const Share& share) {
  const std::int64_t asked = demand.config.block_tokens;
  const std::vector<Kind> kinds = kinds_of(demand, share, asked);
  const auto state = std::ranges::find(kinds, Kind::kState, &Kind::window);
  Bytes page{};
  for (const Kind& kind : kinds) {
    if (kind.window != Kind::kState) page = max(page, kind.page);
  }
  if (state == kinds.end() || page.value() <= 0) return asked;
  const double times = std::max(1.0, std::ceil(state->page / page));
  return asked * static_cast<std::int64_t>(times);
}

// Blocks of one sequence in a layer of this kind.
std::int64_t blocks_of(const Kind& kind, const MemoryDemand& demand, std::int64_t block_tokens) {
  if (kind.window == Kind::kState) return 1;
  const std::int64_t all = blocks(demand.context, block_tokens);
  if (kind.window <= 0) return all;
  const std::int64_t kept = kind.window - 1 + demand.config.max_batched_tokens;
  return std::min(all, blocks(std::min(kept, demand.context), block_tokens) + 1);
}

// Positions of a block of the kind once all pages are of one size.
std::int64_t unified_tokens(const Kind& kind, Bytes page, std::int64_t block_tokens) {
  const double times = page / kind.page;
  return times == std::floor(times) ? block_tokens * static_cast<std::int64_t>(times)
                                    : block_tokens;
}

}  // namespace

KvPool vllm_pool(const MemoryDemand& demand, const Share& share) {
  if (has_compressed(demand, share)) return compressed_pool(demand, share);
  KvPool out;
  out.block_tokens = block_tokens_of(demand, share);
  const std::vector<Kind> kinds = kinds_of(demand, share, out.block_tokens);
  if (kinds.empty()) return out;
  if (kinds.size() == 1) {
    out.block = kinds.front().sum;
    out.groups = 1;
    out.sequence_blocks = blocks_of(kinds.front(), demand, out.block_tokens);
    // A state alone is a block for the whole context.
    if (kinds.front().window == Kind::kState) out.block_tokens = demand.context;
    return out;
  }
  std::int64_t fewest = INT64_MAX;
  std::int64_t most = 0;
  Bytes page{};
  for (const Kind& kind : kinds) {
    fewest = std::min(fewest, kind.layers);
    most = std::max(most, kind.layers);
    page = max(page, kind.page);
  }
  const std::int64_t group = to_double(most) < 1.25 * to_double(fewest) ? most : fewest;
  out.block = page * to_double(group);
  for (const Kind& kind : kinds) {
    const std::int64_t groups = blocks(kind.layers, group);
    const std::int64_t tokens = kind.window == Kind::kState
                                    ? out.block_tokens
                                    : unified_tokens(kind, page, out.block_tokens);
    out.groups += groups;
    out.sequence_blocks += groups * blocks_of(kind, demand, tokens);
  }
  return out;
}

std::int64_t vllm_tokens(const KvPool& pool, std::int64_t count, const MemoryDemand& demand,
                         const EngineInfo& engine) {
  if (pool.sequence_blocks == 0) return 0;
  if (engine.memory.tokens_by_concurrency) {
    return static_cast<std::int64_t>(to_double(count) / to_double(pool.sequence_blocks) *
                                     to_double(demand.context));
  }
  return count / pool.groups * pool.block_tokens;
}

Result<MemoryEstimate> estimate_vllm(const MemoryDemand& demand, const EngineInfo& engine,
                                     const Accelerator& accelerator) {
  CAIRN_TRY(const auto ranks,
            shared_need(&MemoryCache::Tables::vllm, demand, engine, accelerator.vendor, [&] {
              return rank_needs<KvPool>(demand, demand, engine, accelerator.vendor,
                                        [&](const Share& s) { return vllm_pool(demand, s); });
            }));
  return pooled_estimate(
      *ranks, engine, accelerator, [&](const RankNeed<KvPool>& rank, const StageRoom& room) {
        const KvPool& pool = rank.cache;
        const Bytes budget = room.capacity * demand.config.memory_fraction;
        const Bytes fixed = rank.weights + rank.activations + room.runtime;
        // Graphs are captured after the cache is allocated: inside the share where they
        // are estimated beforehand, else in what is left of the device.
        Bytes graphs = demand.config.graph_capture ? room.overheads.graphs : Bytes(0);
        const Bytes kept = room.overheads.graphs_counted ? graphs : Bytes(0);
        if (!room.overheads.graphs_counted) graphs = min(graphs, room.capacity - budget);
        StageUse use{.activations = rank.activations,
                     .cache = max(budget - fixed - kept, Bytes(0)),
                     .graphs = graphs,
                     .required = (fixed + kept + pool.sequence()) / demand.config.memory_fraction};
        if (pool.sequence_blocks > 0) {
          const auto count = static_cast<std::int64_t>(use.cache / pool.block);
          use.sequences = to_double(count) / to_double(pool.sequence_blocks);
          use.tokens = vllm_tokens(pool, count, demand, engine);
        }
        return use;
      });
}

}  // namespace cairn::memory
