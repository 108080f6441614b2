#include "cairn/predict/money.h"

namespace cairn {
namespace {

constexpr double kHoursPerYear = 8766;  // 365.25 days

Result<double> electricity(const CostTerms& terms, const PriceBook& prices) {
  if (terms.electricity_per_kwh > 0) return terms.electricity_per_kwh;
  const Electricity* world = prices.default_electricity();
  if (world == nullptr) return fail(not_found("no electricity price in the data"));
  return prices.convert(world->usd_per_kwh, "USD", terms.currency);
}

}  // namespace

Result<CostFigures> count_money(const Deployment& d, const std::optional<PowerEstimate>& power,
                                double output_tokens_per_s, const CostTerms& terms,
                                const PriceBook& prices) {
  CostFigures m;
  m.currency = terms.currency;
  const double devices = d.layout.devices();
  const auto cards = static_cast<double>(d.accelerator->cards(d.layout.devices()));
  const auto per_mtok = [&](double per_hour) {
    return per_hour / (output_tokens_per_s * 3600) * 1e6;
  };
  m.purchase_price = prices.purchase(d.accelerator->id);
  m.rental_price = prices.rental(d.accelerator->id);
  if (m.purchase_price) {
    CAIRN_TRY(const double each,
              prices.convert(m.purchase_price->amount, m.purchase_price->currency, terms.currency));
    m.purchase = each * cards;
  }
  if (power) {
    CAIRN_TRY(const double per_kwh, electricity(terms, prices));
    m.energy_per_hour = power->load.value() / 1000 * devices * terms.pue * per_kwh;
  }
  if (m.purchase && m.energy_per_hour) {
    const double capital =
        *m.purchase / (terms.amortisation_years * kHoursPerYear * terms.utilisation);
    m.owned_per_hour = capital + *m.energy_per_hour;
    if (output_tokens_per_s > 0) m.owned_per_mtok = per_mtok(*m.owned_per_hour);
  }
  if (m.rental_price) {
    CAIRN_TRY(const double each,
              prices.convert(m.rental_price->amount, m.rental_price->currency, terms.currency));
    m.rented_per_hour = each * cards;
    if (output_tokens_per_s > 0) m.rented_per_mtok = per_mtok(*m.rented_per_hour);
  }
  return m;
}

}  // namespace cairn
