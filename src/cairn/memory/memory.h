// What each device must hold, part by part, as the engine allocates it.
//
// llama.cpp (llama_cpp_memory.cpp): weights, KV cache, compute buffers and the
// runtime, each allocated once for the whole context, on the cards and on the host.
// A deployment fits if the sum fits on every card.
//
// vLLM (vllm_memory.cpp): a fixed share of the device; what weights, the peak of
// a profiling step and the runtime leave of it becomes KV blocks. A deployment
// fits if there are blocks for one sequence of the full context; what goes
// beyond waits.
//
// The formulas, their sources and their errors are in docs/memory.md. Limits: no
// draft model. On an APU the capacity is the share of the machine's memory that the
// catalogue or the caller states; llama.cpp's host part comes from the same memory.
#pragma once

#include <cstdint>
#include <memory>
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

/// What demands take whatever the device is, worked out once for all the deployments of a
/// search over one model: a demand that names it takes from it what was worked out before,
/// by the names of its formats. Safe to use from several threads.
class MemoryCache {
 public:
  MemoryCache();
  ~MemoryCache();
  MemoryCache(const MemoryCache&) = delete;
  MemoryCache& operator=(const MemoryCache&) = delete;
  MemoryCache(MemoryCache&&) = delete;
  MemoryCache& operator=(MemoryCache&&) = delete;

  struct Tables;  // of this room
  [[nodiscard]] Tables& tables() { return *tables_; }

 private:
  std::unique_ptr<Tables> tables_;
};

/// What is to be held: everything but the hardware.
struct MemoryDemand {
  const Graph* graph = nullptr;
  const BoundWeights* weights = nullptr;
  KvFormat kv;  // of K and V alike
  Layout layout;
  std::int64_t context = 4096;  // positions per sequence
  std::int64_t sequences = 1;   // sequences that are resident at once, per replica
  EngineConfig config;
  MemoryCache* cache = nullptr;  // of a search
  /// What the machine has for this replica beside the system; nothing: not known. Where the
  /// device shares the machine's memory, that counts instead.
  std::optional<Bytes> host_memory = {};
};

struct MemoryPart {
  std::string name;  // "weights", "kv_cache", "compute", "activations", "graphs", "runtime"
  Bytes bytes{};
};

struct DeviceMemory {
  std::string device;  // accelerator id, with "#n" where a stage differs
  Bytes capacity{};
  Bytes total{};
  /// Capacity at which the demand would just fit: the total in llama.cpp; in vLLM,
  /// which fills what it is given, what one sequence needs, over the share it takes.
  Bytes required{};
  std::vector<MemoryPart> parts;

  [[nodiscard]] bool fits() const { return total <= capacity; }
  [[nodiscard]] Bytes part(std::string_view name) const;
};

struct MemoryEstimate {
  std::vector<DeviceMemory> devices;   // one a pipeline stage
  Bytes host{};                        // of host memory, the sum of host_parts
  std::optional<Bytes> host_capacity;  // that may hold it; nothing: not known
  /// llama.cpp: the token table and what is kept from the devices, inputs, logits.
  std::vector<MemoryPart> host_parts;
  bool fits = false;
  /// Positions that the KV cache has room for, over all sequences of a replica.
  /// With windowed layers: at sequences of demand.context positions.
  std::int64_t kv_tokens = 0;
  /// Sequences of demand.context positions that the KV cache has room for.
  double resident_sequences = 0;
  /// Relative uncertainty of the total (one sigma), by engine, with its source in docs.
  double sigma = 0;

  /// The host's memory is known, and is not enough.
  [[nodiscard]] bool host_lacks() const { return host_capacity && host > *host_capacity; }
  /// It fits, but what would just fit plus one sigma of it is more than a device has: a
  /// device may turn out too small.
  [[nodiscard]] bool narrow() const;
  [[nodiscard]] bool narrow(const DeviceMemory& device) const {
    return fits && device.required * (1 + sigma) > device.capacity;
  }
};

/// Bytes that `positions` positions of one sequence take in the KV cache of a
/// layer on one device of a tensor-parallel group: a row of K and a row of V in
/// whole blocks of the format, or the latent of MLA once; 0 for a layer that uses
/// another's. How many positions a windowed layer keeps is the engine's affair.
Bytes kv_bytes(const AttentionSpec& attention, const KvFormat& kv, double positions, int tp);

/// Bytes of the state that a recurrent layer keeps of one sequence on one rank: the
/// state in elements of `element_bytes`, and the window of its convolution (or token
/// shift) in elements of `window_bytes`. 0 for a layer without.
Bytes state_bytes(const RecurrentSpec& recurrent, std::int64_t hidden, double element_bytes,
                  double window_bytes, int tp);

/// The memory of a demand on a device type. An error (bad_input) for a layout
/// that the model cannot have, and (unsupported) for one that is not modelled:
/// tensor or expert parallelism in llama.cpp.
Result<MemoryEstimate> estimate_memory(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator);

/// The largest context (positions per sequence, at most `limit`) at which
/// demand.sequences sequences are resident at once; 0 if not even 256 positions fit.
Result<std::int64_t> largest_context(MemoryDemand demand, const EngineInfo& engine,
                                     const Accelerator& accelerator, std::int64_t limit);

/// The largest number of sequences of demand.context positions that are resident
/// at once, at most `limit`; 0 if none is.
Result<std::int64_t> largest_batch(MemoryDemand demand, const EngineInfo& engine,
                                   const Accelerator& accelerator, std::int64_t limit);

}  // namespace cairn
