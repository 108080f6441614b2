#include "cairn/cost/power.h"

#include <algorithm>

namespace cairn {

Watts idle_power(const Accelerator& accelerator, Watts board, const PowerParameters& parameters) {
  return accelerator.idle_power.value_or(board * parameters.idle_fraction);
}

std::optional<PowerEstimate> power_during(const StepTime& step, const Accelerator& accelerator,
                                          const PowerParameters& parameters) {
  if (!accelerator.board_power || step.total <= Seconds{}) return std::nullopt;
  const Watts board = *accelerator.board_power;
  PowerEstimate out;
  out.idle = idle_power(accelerator, board, parameters);
  const double memory = step.memory_bound / step.total;
  const double compute = step.compute_bound / step.total;
  const double activity =
      parameters.memory_bound.value * memory + parameters.compute_bound.value * compute;
  out.load = out.idle + (board - out.idle) * std::clamp(activity, 0.0, 1.0);
  out.sigma = memory * parameters.memory_bound.sigma + compute * parameters.compute_bound.sigma +
              (1 - memory - compute) * parameters.memory_bound.sigma;
  return out;
}

}  // namespace cairn
