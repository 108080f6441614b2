// What each device must hold, part by part, as the engine allocates it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/engine/engine.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/layout/layout.h"
#include "cairn/model/graph.h"
#include "cairn/model/weight_format.h"

namespace cairn {

/// What is to be held: everything but the hardware.
struct MemoryDemand {
  const Graph* graph = nullptr;
  const BoundWeights* weights = nullptr;
  KvFormat kv;                 // of K and V alike
  Layout layout;
  std::int64_t context = 4096; // positions per sequence
  std::int64_t sequences = 1;  // sequences that are resident at once
  EngineConfig config;
};

struct MemoryPart {
  std::string name;  // "weights", "kv_cache", "compute", "activations", "graphs", "runtime"
  Bytes bytes{};
};

struct DeviceMemory {
  std::string device;  // accelerator id, with "#n" where a stage differs
  Bytes capacity{};
  Bytes total{};
  std::vector<MemoryPart> parts;

  [[nodiscard]] bool fits() const { return total <= capacity; }
  [[nodiscard]] Bytes part(std::string_view name) const;
};

struct MemoryEstimate {
  std::vector<DeviceMemory> devices;  // one a pipeline stage
  Bytes host{};                       // llama.cpp keeps the token embedding in host memory
  bool fits = false;
  /// Positions that the KV cache has room for, over all sequences of a replica.
  std::int64_t kv_tokens = 0;
  /// Relative uncertainty of the total (one sigma), by engine, with its source in docs.
  double sigma = 0;
};

/// Bytes that `positions` positions of one sequence take in the KV cache of a
/// layer on one device: rows padded as the engine pads them, windows respected
/// where the engine keeps a window cache.
Bytes kv_bytes(const AttentionSpec& attention, const KvFormat& kv, double positions, int tp);

/// The memory of a demand on a device type.
Result<MemoryEstimate> estimate_memory(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator);

/// The largest context (positions per sequence, at most `limit`) that fits with
/// demand.sequences sequences; 0 if not even 256 positions fit.
Result<std::int64_t> largest_context(MemoryDemand demand, const EngineInfo& engine,
                                     const Accelerator& accelerator, std::int64_t limit);

/// The largest number of sequences of demand.context positions that fits; 0 if none.
Result<std::int64_t> largest_batch(MemoryDemand demand, const EngineInfo& engine,
                                   const Accelerator& accelerator, std::int64_t limit);

}  // namespace cairn
