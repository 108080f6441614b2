// What it takes to buy an accelerator or a machine: which quotes count, and how many
// cards come together.
//
// Quotes of one currency are never mixed with those of another: a market has its own
// prices. Each of these has a price before the next is asked, first in the currency asked
// for, then in that of the others with the most quotes, converted at the dated rate:
//   1. recent street quotes of new cards
//   2. recent street quotes that do not say new or used
//   3. list prices
//   4. older street quotes, but for used cards
//   5. estimates (rounded figures to plan with)
//   6. street quotes of used cards
// For what is no longer made, where a list price is history and few are new, the order is
// recent street quotes of any condition, older ones, list prices, estimates.
//
// Recent are quotes of the twelve months before the day that is asked about. Within each
// group only those count that are at most half a year older than its newest: a price is
// their median, the mean of the middle two where their number is even.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/host.h"
#include "cairn/hardware/prices.h"

namespace cairn {

enum class PriceBasis : std::uint8_t {
  given,     // by the user
  street,    // recent street quotes
  list,      // the maker's
  older,     // street quotes that are not recent
  estimate,  // rounded figures
  used,      // street quotes of used cards
};
std::string_view name_of(PriceBasis basis);

/// A price that the user gives for one card.
struct GivenPrice {
  std::string card;  // Accelerator::card
  double amount = 0;
  std::string currency;  // empty: that of the answer
};

struct PriceQuestion {
  std::string currency = "USD";  // of the answer
  std::string date;              // YYYY-MM-DD or shorter; empty: PriceBook::date
  std::vector<GivenPrice> given;
};

struct Purchase {
  double amount = 0;     // of `cards` cards, in `currency`
  std::string currency;  // of the answer
  PriceBasis basis = PriceBasis::street;
  int quotes = 0;  // that the median is of; 0: given
  double low = 0;  // lowest and highest of them, as `amount`
  double high = 0;
  std::string oldest;  // their dates; empty: undated or given
  std::string newest;
  std::string quoted_in;  // currency of the quotes
  std::string rate_date;  // of the exchange rate; empty where none was needed
  bool confirmed = true;  // a source vouches for one of them at least
  Price middle;           // the quote at the median, the lower of two
  /// Cards that come together: more than one where they are sold in a machine or on its
  /// base board.
  std::int64_t cards = 1;
  /// Id of the catalogue's machine whose price it is; empty: the price is of cards.
  std::string machine;
  /// The price is of modules, which nobody sells without a base board, chassis and
  /// processors; no price of these is known.
  bool bare = false;

  /// The share of one card.
  [[nodiscard]] double each() const { return amount / static_cast<double>(cards); }
  /// What so many cards cost, bought in whole machines.
  [[nodiscard]] double whole(std::int64_t wanted) const {
    return amount * static_cast<double>((wanted + cards - 1) / cards);
  }
  /// Cards that so much money buys, at most `most`.
  [[nodiscard]] std::int64_t affordable(double money, std::int64_t most) const;
};

/// By the rule above from quotes of one thing; nothing where none serves. `made`: it is
/// still made. An error for a currency without a rate.
Result<std::optional<Purchase>> choose_price(const std::vector<const Price*>& quotes, bool made,
                                             const PriceQuestion& question, const PriceBook& book);

/// The price of a machine of the catalogue.
Result<std::optional<Purchase>> purchase_of(const Host& host, const PriceQuestion& question,
                                            const PriceBook& book);

/// The price of an accelerator as it is sold. Modules (OAM, SXM) are sold on a base board
/// in a machine: where the price of a machine that has them is known, that counts, the
/// cheapest by the card; else as many modules as a base board joins, `bare`. What comes
/// only in a machine of its own (APUs, racks) costs what the machine does where it has no
/// price itself.
Result<std::optional<Purchase>> purchase_of(const Accelerator& accelerator,
                                            const PriceQuestion& question, const PriceBook& book,
                                            const HostCatalogue& hosts);

}  // namespace cairn
