// What the memory models of the server engines do alike, with what differs as a function.
// Not for other rooms.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {

/// A device of a stage as the engine finds it.
struct StageRoom {
  DeviceOverheads overheads;
  Bytes capacity{};  // without what the driver keeps back
  Bytes runtime{};   // with what parallel ranks add
};

/// What an engine makes of it.
struct StageUse {
  Bytes activations{};
  Bytes cache{};
  Bytes graphs{};
  Bytes required{};             // DeviceMemory
  double sequences = INFINITY;  // of the demand's context that the cache has room for
  std::int64_t tokens = 0;      // of the cache, as the engine states it
};

/// The estimate of a replica: one device a stage, and as many sequences as the stage with
/// the least room has. `policy(rank, room)` gives a StageUse. Fits if there is room for one
/// sequence.
template <class Cache, class Policy>
MemoryEstimate pooled_estimate(const std::vector<RankNeed<Cache>>& ranks, const EngineInfo& engine,
                               const Accelerator& accelerator, const Policy& policy) {
  StageRoom room;
  room.overheads = engine.overheads_on(accelerator.vendor, accelerator.architecture);
  room.capacity = accelerator.capacity(engine.id) - room.overheads.reserved;
  MemoryEstimate out;
  double least = INFINITY;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankNeed<Cache>& rank = ranks[i];
    room.runtime =
        room.overheads.runtime + (rank.parallel ? room.overheads.runtime_parallel : Bytes(0));
    const StageUse use = policy(rank, std::as_const(room));
    if (use.sequences < least) {
      least = use.sequences;
      out.kv_tokens = use.tokens;
    }
    DeviceMemory device;
    device.device = device_name(accelerator, i, ranks.size());
    device.capacity = room.capacity;
    device.parts = {{"weights", rank.weights},
                    {"activations", use.activations},
                    {"runtime", room.runtime},
                    {"kv_cache", use.cache},
                    {"graphs", use.graphs}};
    finish(device);
    device.required = use.required;
    out.devices.push_back(std::move(device));
  }
  out.resident_sequences = std::isfinite(least) ? least : 0;
  out.fits = out.resident_sequences >= 1;
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
