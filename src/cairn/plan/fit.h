// Fit: what of a model fits on which card, and how far context and batch go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/hardware/unified_memory.h"
#include "cairn/memory/memory.h"
#include "cairn/predict/prediction.h"

namespace cairn {

struct FitRequest {
  std::vector<const Accelerator*> accelerators;
  std::vector<const EngineInfo*> engines;  // those that run on the accelerator are tried
  std::vector<std::string> formats;        // empty: the file's, else the usual ones
  DeploymentRequest settings;              // kv, ubatch ...; its layout where `cards` is not given
  std::optional<std::int64_t> cards;       // nothing: as few as hold it, up to 8
  std::int64_t context = 4096;             // positions per sequence
  std::int64_t sequences = 1;
  UnifiedSetting unified;  // of machines whose GPU shares their memory: as Knowledge::set_up had
};

struct Fit {
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
  std::string format;
  double bits_per_weight = 0;
  bool approximate = false;
  Layout layout;
  MemoryEstimate memory;
  std::int64_t largest_context = 0;     // with the sequences asked for, at most the model's own
  std::int64_t largest_batch = 0;       // sequences of the context asked for
  std::optional<UnifiedPools> unified;  // of an accelerator with unified memory
  std::optional<Message> host_note;     // why the host's memory is not enough
};

/// One entry per accelerator, engine and format that can be combined: those that
/// fit first, on the fewest cards and the smallest memory, most bits per weight
/// first; then those that do not. Combinations that an engine does not support are
/// left out; an error if nothing remains.
Result<std::vector<Fit>> fit(const ModelInput& model, const FitRequest& request,
                             const Knowledge& knowledge);

/// The request on as few cards of one machine as hold the model with one sequence of
/// the workload (its layout is replaced); on the most that can be tried where none do.
Result<Deployment> smallest_fitting(const ModelInput& model, DeploymentRequest request,
                                    const Workload& workload, const Knowledge& knowledge);

}  // namespace cairn
