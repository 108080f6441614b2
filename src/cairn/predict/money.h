// What a deployment costs: bought and amortised with its electricity, or rented.
//
//   Y = 8766 hours of a year, u = share of them in which the cards work
//   cards           = devices / devices per card, rounded up
//   price           = cards x price of a card, or of its share of the machine that it is
//                     sold in; or machines, rounded up, x price of one (hardware/purchase.h)
//   kWh per year    = Y (u load + (1 - u) idle) / 1000 * PUE, of all devices; cards that
//                     do not work stay on
//   owned per year  = price / years + kWh per year * price per kWh
//   owned per hour  = owned per year / (Y u), of work
//   rented per year = rent per hour * Y u: nothing is rented that does not work
//   break-even      = price / (rented per year - electricity per year) years
//   per million     = per hour / (output tokens/s * 3600) * 1e6
//   CO2             = kWh * grams per kWh
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
                                const Knowledge& knowledge);

/// A year with these figures' electricity where the purchase costs `price`, as that of
/// the cards that are not owned yet.
std::optional<double> owned_per_year(double price, const CostFigures& figures,
                                     const CostTerms& terms);

/// Electricity and what comes of it, of so many devices.
Result<void> count_electricity(const PowerEstimate& power, double devices,
                               double output_tokens_per_s, const CostTerms& terms,
                               const PriceBook& prices, CostFigures& figures);

/// What owning costs where the purchase is `price`, with the electricity of these figures:
/// of all cards, or anew of those that are still to be bought; the price of all stays.
void count_bought(double price, double output_tokens_per_s, const CostTerms& terms,
                  CostFigures& figures);

/// Kilowatt-hours of so many devices in a year, of the room.
double yearly_kwh(const PowerEstimate& power, double devices, const CostTerms& terms);

/// Price of a kilowatt-hour in the currency of the terms.
Result<double> electricity_price(const CostTerms& terms, const PriceBook& prices);

}  // namespace cairn
