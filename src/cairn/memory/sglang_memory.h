// The share of a device that SGLang gives to weights and cache. Not for other rooms.
#pragma once

#include "cairn/memory/estimates.h"

namespace cairn::memory {

/// The share asked for, or the one that the engine works out for a device of this
/// capacity, as its tool prints it: in [0, 1].
double sglang_share(const MemoryDemand& demand, const EngineInfo& engine, Bytes capacity);

/// Bytes of one position in the layers of a rank.
struct CellBytes {
  Bytes full{};
  Bytes windowed{};
  std::int64_t window = 0;  // the longest
  Bytes state{};            // of one sequence
};

}  // namespace cairn::memory
