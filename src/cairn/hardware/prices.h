// Prices, exchange rates and electricity from data/prices, each with its date.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/image.h"

namespace cairn {

enum class PriceKind : std::uint8_t { msrp, street, cloud_on_demand, cloud_reserved, cloud_spot };
std::string_view name_of(PriceKind kind);

struct Price {
  std::string accelerator;  // catalogue id
  double amount = 0;        // of `currency`: the card, or one card for one hour
  std::string currency;     // ISO 4217
  PriceKind kind = PriceKind::street;
  std::string provider;
  std::string region;
  std::string date;  // YYYY-MM-DD or shorter; empty where the source has none
  std::string source;
  bool confirmed = true;
};

struct ExchangeRate {
  std::string currency;
  double per_usd = 1;
  std::string date;
  std::string source;
};

struct Electricity {
  std::string region;
  double usd_per_kwh = 0;
  std::string date;
  std::string source;
  std::string note;
};

class PriceBook {
 public:
  static Result<PriceBook> load(const Image& image);

  [[nodiscard]] std::vector<const Price*> of(std::string_view accelerator) const;
  /// The price to buy one card: the median of the street quotes of the newest
  /// half-year that has any, else of such list prices. Unconfirmed quotes serve,
  /// in the same order, only where no quote of either kind is confirmed.
  [[nodiscard]] std::optional<Price> purchase(std::string_view accelerator) const;
  /// The price of one card-hour: the median of the confirmed on-demand quotes in
  /// USD, the newest of each provider. Unconfirmed ones never serve: where nobody
  /// vouches for an offer the cheapest of a marketplace is no price to plan with.
  [[nodiscard]] std::optional<Price> rental(std::string_view accelerator) const;

  /// An amount in another currency; an error for a currency without a rate.
  [[nodiscard]] Result<double> convert(double amount, std::string_view from,
                                       std::string_view to) const;
  [[nodiscard]] const std::vector<ExchangeRate>& rates() const { return rates_; }
  [[nodiscard]] const std::vector<Electricity>& electricity() const { return electricity_; }
  /// The world's average price for businesses.
  [[nodiscard]] const Electricity* default_electricity() const;

 private:
  [[nodiscard]] std::optional<Price> median(std::span<const Price* const> quotes) const;
  std::vector<Price> prices_;
  std::vector<ExchangeRate> rates_;
  std::vector<Electricity> electricity_;
};

}  // namespace cairn
