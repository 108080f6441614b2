// Partition modes: one package as several devices (AMD Instinct MI300 and later).
//
// The compute mode (SPX, DPX, TPX, QPX, CPX) divides the compute dies, the memory mode
// (NPS1, NPS2, NPS4, NPS8) the memory. A partition has its share of memory, of memory
// bandwidth and caches, of the peaks; the host link and the links to other packages are
// shared by the partitions of a package. The modes of a card with their sources are in
// its catalogue record (`partitions`).
#pragma once

#include <string_view>

#include "cairn/base/result.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

/// One partition of `card` as a device of its own: id "mi300x/cpx", devices_per_card as
/// many as the mode gives. `mode` is a compute mode, or both: "CPX", "cpx/nps4"; without
/// a memory mode the first that the record names with it. SPX gives the card as it is. An error,
/// with the modes that the card has, for any other mode.
Result<Accelerator> partitioned(const Accelerator& card, std::string_view mode);

}  // namespace cairn
