// The weight formats and splits that `fit` and `compare` try where none is asked for, and how
// a number of cards is divided. A plan searches more of them (plan/space.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/predict/deployment.h"

namespace cairn {

/// Cards of one machine, at most.
inline constexpr std::int64_t kCardsOfAMachine = 8;

/// One replica on so many devices, divided as the engine divides: by tensors or by layers.
Layout split_over(const EngineInfo& engine, std::int64_t devices);

/// Formats tried where none is asked for: the published one and the usual
/// quantisations of at least four bits that the device has kernels for.
std::vector<std::string> usual_formats(const ModelInput& model, const EngineInfo& engine,
                                       const Accelerator& accelerator);

/// Splits of one replica over 1, 2, 4, 8 cards of one machine; of as many as are given where
/// that is said.
std::vector<Layout> usual_splits(const EngineInfo& engine, const Accelerator& accelerator,
                                 std::optional<std::int64_t> cards = {});

}  // namespace cairn
