// Partition modes: one package as several devices (AMD Instinct MI300 and later).
//
// The compute mode (SPX, DPX, TPX, QPX, CPX) divides the compute dies, the memory mode
// (NPS1, NPS2, NPS4) the memory. A partition has an even share of compute units, peaks,
// memory, memory bandwidth, caches and power; the PCIe link and the links to other
// packages are shared too, and an even share of them is what a partition can count on
// while the others are busy. The driver gives every partition of a memory domain the same
// part of it, whatever the memory mode (amdgpu, amdgpu_amdkfd_xcp_memory_size). The modes
// of a card with their sources are in its catalogue record (`partitions`).
#pragma once

#include <string_view>

#include "cairn/base/result.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

/// One partition of `card` as a device of its own: id "mi300x/cpx/nps4",
/// devices_per_card as many as the mode gives. `mode` is a compute mode, with a memory
/// mode or without: "CPX", "cpx/nps4"; without one the usual one of the compute mode is
/// meant. SPX is the card as it is. An error, with the modes that the card has, for any
/// other mode.
Result<Accelerator> partitioned(const Accelerator& card, std::string_view mode);

}  // namespace cairn
