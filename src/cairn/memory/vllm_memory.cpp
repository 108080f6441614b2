// vLLM: a share of the device, filled with KV blocks after a profiling step.
// Source: determine_available_memory in vllm/v1/worker/gpu_worker.py, groups of
// layers in vllm/v1/core/kv_cache_utils.py.
#include "cairn/memory/vllm_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {
namespace {

std::int64_t blocks(std::int64_t positions, std::int64_t per_block) {
  return (positions + per_block - 1) / per_block;
}

// Layers that keep the same positions.
struct Kind {
  std::int64_t window = 0;  // 0: every position
  std::int64_t layers = 0;
  Bytes page{};  // of one layer for block_tokens positions, the largest of the kind
  Bytes sum{};   // of all its layers
};

std::vector<Kind> kinds_of(const MemoryDemand& demand, const Share& share) {
  std::vector<Kind> out;
  for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
    const AttentionSpec& a = demand.graph->spec.layers[static_cast<std::size_t>(i)].attention;
    const Bytes page = kv_bytes(a, demand.kv, to_double(demand.config.block_tokens), share.tp);
    if (page.value() <= 0) continue;
    const std::int64_t window = is_windowed(a) ? a.window : 0;
    auto it = std::ranges::find(out, window, &Kind::window);
    if (it == out.end()) it = out.insert(it, Kind{window, 0, {}, {}});
    ++it->layers;
    it->page = max(it->page, page);
    it->sum += page;
  }
  return out;
}

// Blocks of one sequence in a layer of this kind.
std::int64_t blocks_of(const Kind& kind, const MemoryDemand& demand, std::int64_t block_tokens) {
  const std::int64_t all = blocks(demand.context, block_tokens);
  if (kind.window == 0) return all;
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
  KvPool out;
  const std::vector<Kind> kinds = kinds_of(demand, share);
  if (kinds.empty()) return out;
  out.block_tokens = demand.config.block_tokens;
  if (kinds.size() == 1) {
    out.block = kinds.front().sum;
    out.groups = 1;
    out.sequence_blocks = blocks_of(kinds.front(), demand, out.block_tokens);
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
    const std::int64_t tokens = unified_tokens(kind, page, demand.config.block_tokens);
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
    const Bytes weights = server_weights(demand, share, accelerator.vendor);
    const Bytes activations = server_activations(demand, engine, share);
    const Bytes runtime =
        overheads.runtime + (share.tp > 1 ? overheads.runtime_parallel : Bytes(0));
    // Graphs are captured after the cache is allocated: inside the share where they
    // are estimated beforehand, else in what is left of the device.
    Bytes graphs = demand.config.graph_capture ? overheads.graphs : Bytes(0);
    const Bytes fixed = weights + activations + runtime;
    const Bytes kept = overheads.graphs_counted ? graphs : Bytes(0);
    const Bytes room = max(budget - fixed - kept, Bytes(0));
    if (!overheads.graphs_counted) graphs = min(graphs, capacity - budget);
    const KvPool pool = vllm_pool(demand, share);
    if (pool.sequence_blocks > 0) {
      const auto count = static_cast<std::int64_t>(room / pool.block);
      const double resident = to_double(count) / to_double(pool.sequence_blocks);
      if (resident < out.resident_sequences) {
        out.resident_sequences = resident;
        out.kv_tokens = vllm_tokens(pool, count, demand, engine);
      }
    }
    device.parts = {{"weights", weights},
                    {"activations", activations},
                    {"runtime", runtime},
                    {"kv_cache", room},
                    {"graphs", graphs}};
    finish(device);
    device.required = (fixed + kept + pool.sequence()) / demand.config.memory_fraction;
    out.devices.push_back(std::move(device));
  }
  if (!std::isfinite(out.resident_sequences)) out.resident_sequences = 0;
  out.fits = out.resident_sequences >= 1;
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
