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

enum class PriceKind : std::uint8_t {
  msrp,
  street,
  estimate,  // a rounded figure to plan with: nobody asks or pays it
  cloud_on_demand,
  cloud_reserved,
  cloud_spot,
};
std::string_view name_of(PriceKind kind);

enum class Condition : std::uint8_t {
  fresh,    // new
  used,     // second-hand or refurbished
  unknown,  // the source does not say, or the lowest of both
};

/// "new", "used", or nothing.
std::string_view name_of(Condition condition);

struct Price {
  std::string accelerator;  // catalogue id, or that of a host
  double amount = 0;        // of `currency`: the card or machine, or one card for one hour
  std::string currency;     // ISO 4217
  PriceKind kind = PriceKind::street;
  Condition condition = Condition::unknown;
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

/// Carbon dioxide equivalents of a country's electricity, over its life cycle.
struct GridCarbon {
  std::string region;
  double grams_per_kwh = 0;
  std::string date;  // the year that it is the mean of
  std::string source;
};

/// A currency code as the catalogue has it: "eur" is "EUR".
std::string currency_code(std::string_view text);

class PriceBook {
 public:
  static Result<PriceBook> load(const Image& image);

  [[nodiscard]] std::vector<const Price*> of(std::string_view accelerator) const;
  /// Every quote for a machine of the host catalogue.
  [[nodiscard]] std::vector<const Price*> of_host(std::string_view host) const;
  /// The price of one card-hour: the median of the confirmed on-demand quotes in
  /// USD, the newest of each provider. Unconfirmed ones never serve: where nobody
  /// vouches for an offer the cheapest of a marketplace is no price to plan with.
  [[nodiscard]] std::optional<Price> rental(std::string_view accelerator) const;
  /// The day of the newest quote: that of the book, where none is asked for.
  [[nodiscard]] const std::string& date() const { return date_; }

  /// An amount in another currency, in capitals or not; an error for a currency without
  /// a rate.
  [[nodiscard]] Result<double> convert(double amount, std::string_view from,
                                       std::string_view to) const;
  [[nodiscard]] const std::vector<ExchangeRate>& rates() const { return rates_; }
  /// The day of a currency's rate; empty for the US dollar and where there is no rate.
  [[nodiscard]] std::string_view rate_date(std::string_view currency) const;
  [[nodiscard]] const std::vector<Electricity>& electricity() const { return electricity_; }
  /// The world's average price for businesses.
  [[nodiscard]] const Electricity* default_electricity() const;
  /// The first price of a region, whatever its capitals; null if there is none.
  [[nodiscard]] const Electricity* electricity_of(std::string_view region) const;
  [[nodiscard]] const std::vector<GridCarbon>& carbon() const { return carbon_; }
  /// As electricity_of.
  [[nodiscard]] const GridCarbon* carbon_of(std::string_view region) const;

 private:
  [[nodiscard]] std::optional<Price> median(std::span<const Price* const> quotes) const;
  std::vector<Price> prices_;
  std::vector<Price> hosts_;
  std::vector<ExchangeRate> rates_;
  std::vector<Electricity> electricity_;
  std::vector<GridCarbon> carbon_;
  std::string date_;
};

}  // namespace cairn
