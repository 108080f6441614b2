// The deployments that a plan tries for one accelerator: engine, weight format
// and split over cards.
#pragma once

#include <string>
#include <vector>

#include "cairn/plan/plan.h"

namespace cairn {

struct Variant {
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
  std::string format;
  Layout layout;  // one replica
};

/// Formats tried where none is asked for: the published one and the usual
/// quantisations of at least four bits that the device has kernels for.
std::vector<std::string> usual_formats(const ModelInput& model, const EngineInfo& engine,
                                       const Accelerator& accelerator);

/// Splits of one replica over 1, 2, 4, 8 cards of one machine.
std::vector<Layout> usual_splits(const EngineInfo& engine, const Accelerator& accelerator,
                                 std::int64_t max_cards);

std::vector<Variant> variants(const ModelInput& model, const Constraints& constraints,
                              const Accelerator& accelerator, const EngineInfo& engine);

}  // namespace cairn
