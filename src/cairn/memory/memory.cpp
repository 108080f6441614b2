#include "cairn/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "cairn/memory/demand_table.h"
#include "cairn/memory/estimates.h"

namespace cairn {
namespace memory {

Bytes weight_bytes(const MemoryDemand& demand, std::size_t tensor, const Share& share) {
  const Tensor t = share_of(demand.graph->tensors[tensor], *demand.graph, share);
  if (t.rows == 0) return Bytes(0);
  return demand.weights->types[tensor]->bytes(to_double(t.rows), to_double(t.columns)) *
         to_double(t.experts);
}

std::string device_name(const Accelerator& accelerator, std::size_t stage, std::size_t stages) {
  return stages == 1 ? accelerator.id : fmt::format("{}#{}", accelerator.id, stage);
}

void finish(DeviceMemory& device) {
  device.total = Bytes(0);
  for (const MemoryPart& part : device.parts) device.total += part.bytes;
  device.required = device.total;
}

namespace {

// The steps of the searches: contexts are multiples of 256 positions.
constexpr std::int64_t kContextStep = 256;

Result<bool> resident(const MemoryDemand& demand, const EngineInfo& engine,
                      const Accelerator& accelerator) {
  CAIRN_TRY(const MemoryEstimate estimate, estimate_memory(demand, engine, accelerator));
  return estimate.fits && estimate.resident_sequences >= to_double(demand.sequences);
}

// Where the number of sequences that fit will be found, from the memory of one and of
// two: a pool says it, and what is allocated for all grows in proportion.
std::int64_t expected_batch(const MemoryEstimate& one, const MemoryEstimate& two,
                            std::int64_t limit) {
  double most = to_double(limit);
  if (one.resident_sequences > 1) most = std::min(most, one.resident_sequences);
  for (std::size_t i = 0; i < one.devices.size() && i < two.devices.size(); ++i) {
    const Bytes each = two.devices[i].total - one.devices[i].total;
    const Bytes left = one.devices[i].capacity - one.devices[i].total;
    if (each > Bytes(0)) most = std::min(most, 1 + left / each);
  }
  return static_cast<std::int64_t>(std::clamp(most, 1.0, to_double(limit)));
}

// The largest n in [0, limit] for which `holds` is true; it is true below some n, which
// is looked for around `guess` first.
template <class Holds>
Result<std::int64_t> largest(std::int64_t limit, Holds holds, std::int64_t guess = 0) {
  std::int64_t low = 0;
  std::int64_t high = limit;
  for (std::int64_t step = 1; guess > 0 && low < high; step *= 4) {
    const std::int64_t n = std::clamp(guess, low + 1, high);
    CAIRN_TRY(const bool ok, holds(n));
    (ok ? low : high) = ok ? n : n - 1;
    // Both ends are near each other once they come from both sides.
    if (ok ? high < limit : low > 0) break;
    guess = ok ? n + step : n - step;
    if (guess < 1) break;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    CAIRN_TRY(const bool ok, holds(middle));
    if (ok) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// A pool is as large as it is, however many sequences are asked for.
bool has_pool(EngineFamily family) {
  return family == EngineFamily::vllm || family == EngineFamily::sglang ||
         family == EngineFamily::tensorrt_llm;
}

}  // namespace
}  // namespace memory

MemoryCache::MemoryCache() : tables_(std::make_unique<Tables>()) {}
MemoryCache::~MemoryCache() = default;

Bytes DeviceMemory::part(std::string_view name) const {
  const auto it = std::ranges::find(parts, name, &MemoryPart::name);
  return it == parts.end() ? Bytes(0) : it->bytes;
}

bool MemoryEstimate::narrow() const {
  return std::ranges::any_of(devices, [this](const DeviceMemory& d) { return narrow(d); });
}

Bytes kv_bytes(const AttentionSpec& attention, const KvFormat& kv, double positions, int tp) {
  if (kv_elements_per_token(attention) == 0) return Bytes(0);
  const AttentionSpec a = share_of(attention, tp);
  // Scales of a whole tensor do not belong to a row of cache.
  const auto row = [&](std::int64_t elements) {
    const std::int64_t blocks = (elements + kv.type->block_weights - 1) / kv.type->block_weights;
    return memory::to_double(blocks * kv.type->block_bytes);
  };
  if (a.kind == AttentionKind::mla) {
    return Bytes(positions * row(a.kv_lora_rank + a.qk_rope_head_dim));
  }
  if (a.kind == AttentionKind::compressed) return Bytes(positions * row(a.kv_heads * a.head_dim));
  return Bytes(positions * (row(a.kv_heads * a.head_dim) + row(a.kv_heads * a.v_head_dim)));
}

Bytes state_bytes(const RecurrentSpec& recurrent, std::int64_t hidden, double element_bytes,
                  double window_bytes, int tp) {
  const RecurrentSpec r = share_of(recurrent, tp);
  const std::int64_t features = (hidden + tp - 1) / tp;
  return Bytes(element_bytes * memory::to_double(r.state_elements()) +
               window_bytes * memory::to_double(r.window_elements(features)));
}

namespace {

Result<MemoryEstimate> estimate_devices(const MemoryDemand& demand, const EngineInfo& engine,
                                        const Accelerator& accelerator) {
  switch (engine.family) {
    case EngineFamily::vllm:
      return memory::estimate_vllm(demand, engine, accelerator);
    case EngineFamily::sglang:
      return memory::estimate_sglang(demand, engine, accelerator);
    case EngineFamily::tensorrt_llm:
      return memory::estimate_tensorrt_llm(demand, engine, accelerator);
    case EngineFamily::transformers:
      return memory::estimate_transformers(demand, engine, accelerator);
    case EngineFamily::llama_cpp:
      break;
  }
  return memory::estimate_llama_cpp(demand, engine, accelerator);
}

// What may hold the host's part. A device that shares the machine's memory leaves the rest of
// that to it.
std::optional<Bytes> host_capacity(const MemoryDemand& demand, const MemoryEstimate& estimate,
                                   const Accelerator& accelerator) {
  if (!accelerator.unified_memory) return demand.host_memory;
  Bytes left = accelerator.memory * static_cast<double>(estimate.devices.size());
  for (const DeviceMemory& d : estimate.devices) left = left - d.total;
  return std::max(Bytes{}, left);
}

}  // namespace

Result<MemoryEstimate> estimate_memory(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator) {
  if (demand.context < 1) {
    return fail(bad_input("not a context")
                    .in("context")
                    .got(std::to_string(demand.context))
                    .want("1 position or more"));
  }
  if (demand.sequences < 1) {
    return fail(bad_input("not a number of sequences")
                    .in("sequences")
                    .got(std::to_string(demand.sequences))
                    .want("1 or more"));
  }
  CAIRN_TRY(MemoryEstimate out, estimate_devices(demand, engine, accelerator));
  if (!(out.host > Bytes{})) return out;
  out.host_capacity = host_capacity(demand, out, accelerator);
  if (out.host_lacks()) {
    out.fits = false;
    out.resident_sequences = 0;
  }
  return out;
}

Result<std::int64_t> largest_context(MemoryDemand demand, const EngineInfo& engine,
                                     const Accelerator& accelerator, std::int64_t limit) {
  const auto holds = [&](std::int64_t steps) {
    demand.context = std::min(steps * memory::kContextStep, limit);
    return memory::resident(demand, engine, accelerator);
  };
  const std::int64_t steps = (limit + memory::kContextStep - 1) / memory::kContextStep;
  CAIRN_TRY(const std::int64_t found, memory::largest(steps, holds));
  return std::min(found * memory::kContextStep, limit);
}

Result<std::int64_t> largest_batch(MemoryDemand demand, const EngineInfo& engine,
                                   const Accelerator& accelerator, std::int64_t limit) {
  if (memory::has_pool(engine.family)) {
    demand.sequences = 1;
    CAIRN_TRY(const MemoryEstimate all, estimate_memory(demand, engine, accelerator));
    if (!all.fits || limit < 1) return 0;
    return static_cast<std::int64_t>(std::min(all.resident_sequences, memory::to_double(limit)));
  }
  std::int64_t guess = 0;
  if (limit > 2) {
    demand.sequences = 1;
    CAIRN_TRY(const MemoryEstimate one, estimate_memory(demand, engine, accelerator));
    if (!one.fits || one.resident_sequences < 1) return 0;
    demand.sequences = 2;
    CAIRN_TRY(const MemoryEstimate two, estimate_memory(demand, engine, accelerator));
    guess = memory::expected_batch(one, two, limit);
  }
  const auto holds = [&](std::int64_t sequences) {
    demand.sequences = sequences;
    return memory::resident(demand, engine, accelerator);
  };
  return memory::largest(limit, holds, guess);
}

}  // namespace cairn
