// The space that a plan searches: every accelerator and engine that goes with it x
// weight format x KV format x split of a replica over devices x number of replicas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cairn/plan/plan.h"

namespace cairn {

/// One replica's deployment; the number of replicas is apart.
struct Variant {
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
  std::string format;  // empty: as the model's file has it
  std::string kv;
  Layout layout;  // of the least number of replicas that can share experts, else of one
};

/// Weight formats tried where none is asked for. llama.cpp: q8_0 to iq4_xs, and the
/// published four bits without loss. Engines of checkpoints: the published one, and
/// for 16-bit weights what the device multiplies in 8 or 4 bits, and awq-int4. None
/// has less than four bits.
std::vector<std::string> searched_formats(const ModelInput& model, const EngineInfo& engine,
                                          const Accelerator& accelerator);

/// KV formats tried where none is asked for: the engine's reference, and one of eight
/// bits.
std::vector<std::string> searched_kv_formats(const EngineInfo& engine);

/// Splits of one replica over the devices of one machine: up to 8, or as many as the
/// scale-up links join. Layers: 1 to 8 devices. Tensors: tp 1, 2, 4, 8 ... by pp; with
/// experts also divided by expert over tp, or over several replicas (ep > tp).
std::vector<Layout> searched_splits(const ModelInput& model, const EngineInfo& engine,
                                    const Accelerator& accelerator, std::int64_t max_cards);

/// Numbers of replicas tried up to `most`: 1 to 16, then eight to a doubling, and
/// `most`; multiples of `step`.
std::vector<std::int64_t> replica_counts(std::int64_t most, std::int64_t step);

/// The accelerators and engines of the request, in the catalogue's order; unasked the
/// servers that their makers offer for the accelerator.
struct Pairing {
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
};
/// In the catalogue's order; partitions that are named (hardware/partition.h) after it.
std::vector<const Accelerator*> considered(const Constraints& constraints,
                                           const Knowledge& knowledge);
std::vector<Pairing> pairings(const Constraints& constraints, const Knowledge& knowledge);

/// Every variant of a pairing.
std::vector<Variant> variants_of(const ModelInput& model, const Constraints& constraints,
                                 const Pairing& pairing);

}  // namespace cairn
