// Board power while a step runs: idle power plus a share of the rest that
// depends on what limits the step.
//
//   P = idle + (board - idle) * (m * memory share + c * compute share)
//
// with m, c the shares of the dynamic range drawn by memory-bound and by
// compute-bound kernels (data/cost/power.yaml), and time in launches and host
// work at idle.
#pragma once

#include <optional>

#include "cairn/base/units.h"
#include "cairn/cost/kernel_parameters.h"
#include "cairn/cost/step_time.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

struct PowerEstimate {
  Watts idle{};
  Watts load{};      // mean over the step
  double sigma = 0;  // of the logarithm of `load`
};

/// Of a device with this board power: the catalogue's figure, else the usual share of it.
Watts idle_power(const Accelerator& accelerator, Watts board, const PowerParameters& parameters);

/// Nothing where the catalogue has no board power.
std::optional<PowerEstimate> power_during(const StepTime& step, const Accelerator& accelerator,
                                          const PowerParameters& parameters);

}  // namespace cairn
