#include "cairn/predict/money.h"

#include <limits>

#include "cairn/predict/knowledge.h"

namespace cairn {
namespace {

constexpr double kHoursPerYear = 8766;  // 365.25 days
constexpr double kWattsPerKilowatt = 1000;

// Years after which a purchase has cost less than the rent.
void add_break_even(double price, CostFigures& m) {
  if (!m.energy_per_year || !m.rented_per_year) return;
  const double saved = *m.rented_per_year - *m.energy_per_year;
  m.break_even_years = saved > 0 ? price / saved : std::numeric_limits<double>::infinity();
}

}  // namespace

double yearly_kwh(const PowerEstimate& power, double devices, const CostTerms& t) {
  const double watts =
      t.utilisation * power.load.value() + (1 - t.utilisation) * power.idle.value();
  return kHoursPerYear * watts * devices * t.pue / kWattsPerKilowatt;
}

Result<double> electricity_price(const CostTerms& terms, const PriceBook& prices) {
  if (terms.electricity_per_kwh > 0) return terms.electricity_per_kwh;
  const Electricity* world = prices.default_electricity();
  if (world == nullptr) return fail(not_found("no electricity price in the data"));
  return prices.convert(world->usd_per_kwh, "USD", terms.currency);
}

std::optional<double> owned_per_year(double price, const CostFigures& figures,
                                     const CostTerms& terms) {
  if (!figures.energy_per_year) return std::nullopt;
  return price / terms.amortisation_years + *figures.energy_per_year;
}

Result<void> count_electricity(const PowerEstimate& power, double devices,
                               double output_tokens_per_s, const CostTerms& t,
                               const PriceBook& prices, CostFigures& m) {
  CAIRN_TRY(const double per_kwh, electricity_price(t, prices));
  const double scale = devices * t.pue / kWattsPerKilowatt;
  const double load = power.load.value() * scale;  // kW
  m.energy_per_hour = load * per_kwh;
  m.kwh_per_year = yearly_kwh(power, devices, t);
  m.energy_per_year = *m.kwh_per_year * per_kwh;
  if (!t.co2_g_per_kwh) return {};
  m.co2_kg_per_year = *m.kwh_per_year * *t.co2_g_per_kwh / 1000;
  const double tokens_per_year = output_tokens_per_s * 3600 * kHoursPerYear * t.utilisation;
  if (tokens_per_year > 0) {
    m.co2_g_per_mtok = *m.co2_kg_per_year * 1000 / tokens_per_year * 1e6;
  }
  return {};
}

void count_bought(double price, double output_tokens_per_s, const CostTerms& terms,
                  CostFigures& figures) {
  figures.owned_per_year = owned_per_year(price, figures, terms);
  if (!figures.owned_per_year) return;
  figures.owned_per_hour = *figures.owned_per_year / (kHoursPerYear * terms.utilisation);
  if (output_tokens_per_s > 0) {
    figures.owned_per_mtok = *figures.owned_per_hour / (output_tokens_per_s * 3600) * 1e6;
  }
  add_break_even(price, figures);
}

Result<CostFigures> count_money(const Deployment& d, const std::optional<PowerEstimate>& power,
                                double output_tokens_per_s, const CostTerms& terms,
                                const Knowledge& knowledge) {
  const PriceBook& prices = knowledge.prices;
  CostFigures m;
  m.currency = terms.currency;
  const double devices = d.layout.devices();
  const std::int64_t whole = d.accelerator->cards(d.layout.devices());
  const auto cards = static_cast<double>(whole);
  const double hours = kHoursPerYear * terms.utilisation;
  const double tokens_per_hour = output_tokens_per_s * 3600;
  CAIRN_TRY(m.purchase_price,
            purchase_of(*d.accelerator, terms.question(), prices, knowledge.hosts));
  m.rental_price = prices.rental(d.accelerator->card);
  if (m.purchase_price) {
    m.purchase_whole = m.purchase_price->whole(whole);
    m.purchase = terms.whole_machines ? *m.purchase_whole : m.purchase_price->each() * cards;
  }
  if (power) {
    CAIRN_CHECK(count_electricity(*power, devices, output_tokens_per_s, terms, prices, m));
  }
  if (m.rental_price) {
    CAIRN_TRY(const double each,
              prices.convert(m.rental_price->amount, m.rental_price->currency, terms.currency));
    m.rented_per_hour = each * cards;
    m.rented_per_year = *m.rented_per_hour * hours;
  }
  if (m.rented_per_hour && tokens_per_hour > 0) {
    m.rented_per_mtok = *m.rented_per_hour / tokens_per_hour * 1e6;
  }
  if (m.purchase) count_bought(*m.purchase, output_tokens_per_s, terms, m);
  return m;
}

}  // namespace cairn
