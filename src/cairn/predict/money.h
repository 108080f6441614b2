// What a deployment costs: bought and amortised with its electricity, or rented.
//
//   cards           = devices / devices per card, rounded up
//   owned per hour  = price / (years * 8766 h * utilisation)
//                     + kW * PUE * price per kWh
//   per million     = per hour / (output tokens/s * 3600) * 1e6
#pragma once

#include <optional>

#include "cairn/cost/power.h"
#include "cairn/hardware/prices.h"
#include "cairn/predict/prediction.h"

namespace cairn {

/// `power` is of one device. Figures whose inputs are unknown stay empty.
Result<CostFigures> count_money(const Deployment& deployment,
                                const std::optional<PowerEstimate>& power,
                                double output_tokens_per_s, const CostTerms& terms,
                                const PriceBook& prices);

}  // namespace cairn
