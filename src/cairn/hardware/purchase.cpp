#include "cairn/hardware/purchase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "cairn/data/csv.h"

namespace cairn {
namespace {

constexpr int kRecentMonths = 12;  // before the day asked about
constexpr int kSpanMonths = 6;     // of the quotes that one median is of
// What costs just what is allowed is allowed, however it was rounded.
constexpr double kJust = 1 + 1e-12;

using Quotes = std::vector<const Price*>;

// Months since year 0; dates are YYYY, YYYY-MM or YYYY-MM-DD, and a year counts as its
// first month. -1 if undated.
int month_of(std::string_view date) {
  if (date.size() < 4) return -1;
  const auto year = parse_number(date.substr(0, 4));
  if (!year) return -1;
  const auto month = date.size() >= 7 ? parse_number(date.substr(5, 2)) : std::nullopt;
  return static_cast<int>(*year) * 12 + static_cast<int>(month.value_or(1)) - 1;
}

bool known_by(const Price& p, std::string_view date) {
  return p.date.substr(0, date.size()) <= date;
}

bool recent(const Price& p, std::string_view date) {
  return month_of(p.date) >= month_of(date) - kRecentMonths;
}

struct Step {
  PriceBasis basis;
  bool (*takes)(const Price&, bool recent);
};

bool is_street(const Price& p) { return p.kind == PriceKind::street; }
bool is_list(const Price& p, bool /*recent*/) { return p.kind == PriceKind::msrp; }
bool is_estimate(const Price& p, bool /*recent*/) { return p.kind == PriceKind::estimate; }

constexpr std::array kMade{
    Step{PriceBasis::street,
         [](const Price& p, bool recent) {
           return is_street(p) && recent && p.condition == Condition::fresh;
         }},
    Step{PriceBasis::street,
         [](const Price& p, bool recent) {
           return is_street(p) && recent && p.condition == Condition::unknown;
         }},
    Step{PriceBasis::list, is_list},
    Step{PriceBasis::older,
         [](const Price& p, bool recent) {
           return is_street(p) && !recent && p.condition != Condition::used;
         }},
    Step{PriceBasis::estimate, is_estimate},
    Step{PriceBasis::used, [](const Price& p, bool /*recent*/) { return is_street(p); }},
};

constexpr std::array kEnded{
    Step{PriceBasis::street, [](const Price& p, bool recent) { return is_street(p) && recent; }},
    Step{PriceBasis::older, [](const Price& p, bool /*recent*/) { return is_street(p); }},
    Step{PriceBasis::list, is_list},
    Step{PriceBasis::estimate, is_estimate},
};

// Those within half a year of the newest; all of them if none is dated.
Quotes newest(Quotes quotes) {
  int last = -1;
  for (const Price* p : quotes) last = std::max(last, month_of(p->date));
  std::erase_if(quotes, [last](const Price* p) { return month_of(p->date) < last - kSpanMonths; });
  return quotes;
}

// Estimates that somebody vouches for before others: they are opinions.
Quotes preferred(Quotes quotes, PriceBasis basis) {
  const auto confirmed = [](const Price* p) { return p->confirmed; };
  if (basis == PriceBasis::estimate && std::ranges::any_of(quotes, confirmed)) {
    std::erase_if(quotes, [&](const Price* p) { return !confirmed(p); });
  }
  return quotes;
}

// The quotes of the currency asked for, else of the one with the most.
Quotes of_one_currency(const Quotes& quotes, const std::string& wanted) {
  std::map<std::string, Quotes> by_currency;
  for (const Price* p : quotes) by_currency[p->currency].push_back(p);
  if (by_currency.empty()) return {};
  const auto own = by_currency.find(wanted);
  if (own != by_currency.end()) return own->second;
  // The dollar before others with as many.
  const auto weight = [](const auto& entry) {
    return std::pair(entry.second.size(), entry.first == "USD");
  };
  return std::ranges::max_element(by_currency, {}, weight)->second;
}

Result<Purchase> median(Quotes quotes, PriceBasis basis, const std::string& currency,
                        const PriceBook& book) {
  std::ranges::stable_sort(quotes, {}, &Price::amount);
  const Price& low = *quotes[(quotes.size() - 1) / 2];
  const Price& high = *quotes[quotes.size() / 2];
  Purchase out;
  out.currency = currency;
  out.basis = basis;
  out.quotes = static_cast<int>(quotes.size());
  out.quoted_in = low.currency;
  CAIRN_TRY(const double rate, book.convert(1, out.quoted_in, currency));
  out.amount = (low.amount + high.amount) / 2 * rate;
  out.low = quotes.front()->amount * rate;
  out.high = quotes.back()->amount * rate;
  if (out.quoted_in != currency) {
    out.rate_date = book.rate_date(out.quoted_in == "USD" ? currency : out.quoted_in);
  }
  out.middle = low;
  out.confirmed = std::ranges::any_of(quotes, &Price::confirmed);
  for (const Price* p : quotes) {
    if (p->date.empty()) continue;
    if (out.oldest.empty() || p->date < out.oldest) out.oldest = p->date;
    out.newest = std::max(out.newest, p->date);
  }
  return out;
}

// Machines whose accelerators are part of them.
bool comes_with_cards(const Host& host) {
  return host.kind == HostKind::integrated || host.kind == HostKind::node ||
         host.kind == HostKind::rack;
}

Result<std::optional<Purchase>> cheapest_machine(const Accelerator& a, const PriceQuestion& q,
                                                 const PriceBook& book,
                                                 const HostCatalogue& hosts) {
  std::optional<Purchase> best;
  for (const Host* host : hosts.for_cards(a, 1)) {
    if (!comes_with_cards(*host)) continue;
    CAIRN_TRY(auto price, purchase_of(*host, q, book));
    if (!price) continue;
    price->cards = host->max_cards;
    price->machine = host->id;
    if (!best || price->each() < best->each()) best = std::move(price);
  }
  return best;
}

Result<std::optional<Purchase>> given_price(const Accelerator& a, const PriceQuestion& q,
                                            const PriceBook& book) {
  const auto it = std::ranges::find(q.given, a.card, &GivenPrice::card);
  if (it == q.given.end()) return std::optional<Purchase>{};
  Purchase out;
  out.currency = currency_code(q.currency);
  out.basis = PriceBasis::given;
  out.quoted_in = it->currency.empty() ? out.currency : currency_code(it->currency);
  CAIRN_TRY(out.amount, book.convert(it->amount, out.quoted_in, out.currency));
  out.low = out.high = out.amount;
  if (out.quoted_in != out.currency) {
    out.rate_date = book.rate_date(out.quoted_in == "USD" ? out.currency : out.quoted_in);
  }
  return std::optional<Purchase>(std::move(out));
}

}  // namespace

std::string_view name_of(PriceBasis basis) {
  switch (basis) {
    case PriceBasis::given:
      return "given";
    case PriceBasis::street:
      return "street";
    case PriceBasis::list:
      return "list";
    case PriceBasis::older:
      return "older-street";
    case PriceBasis::estimate:
      return "estimate";
    case PriceBasis::used:
      return "used";
  }
  return "street";
}

std::int64_t Purchase::affordable(double money, std::int64_t most) const {
  if (!(amount > 0)) return most;
  const double units = std::floor(money / amount * kJust);
  const double bought = units * static_cast<double>(cards);
  return bought < static_cast<double>(most) ? static_cast<std::int64_t>(bought) : most;
}

Result<std::optional<Purchase>> choose_price(const std::vector<const Price*>& quotes, bool made,
                                             const PriceQuestion& q, const PriceBook& book) {
  const std::string currency = currency_code(q.currency);
  const std::string& date = q.date.empty() ? book.date() : q.date;
  const std::span<const Step> steps = made ? std::span<const Step>(kMade) : kEnded;
  for (const Step& step : steps) {
    Quotes chosen;
    for (const Price* p : quotes) {
      if (known_by(*p, date) && step.takes(*p, recent(*p, date))) chosen.push_back(p);
    }
    chosen = preferred(newest(of_one_currency(chosen, currency)), step.basis);
    if (chosen.empty()) continue;
    CAIRN_TRY(Purchase out, median(std::move(chosen), step.basis, currency, book));
    return std::optional<Purchase>(std::move(out));
  }
  // Also where nothing is to be converted, a currency that nobody knows is a mistake.
  CAIRN_CHECK(book.convert(1, "USD", currency));
  return std::optional<Purchase>{};
}

Result<std::optional<Purchase>> purchase_of(const Host& host, const PriceQuestion& q,
                                            const PriceBook& book) {
  return choose_price(book.of_host(host.id), host.status != Status::end_of_life, q, book);
}

Result<std::optional<Purchase>> purchase_of(const Accelerator& a, const PriceQuestion& q,
                                            const PriceBook& book, const HostCatalogue& hosts) {
  CAIRN_TRY(auto given, given_price(a, q, book));
  if (given) return given;
  const bool module = a.form == "oam" || a.form == "sxm";
  if (module) {
    CAIRN_TRY(auto machine, cheapest_machine(a, q, book, hosts));
    if (machine) return machine;
  }
  CAIRN_TRY(auto own, choose_price(book.of(a.card), a.status != Status::end_of_life, q, book));
  if (!own) return cheapest_machine(a, q, book, hosts);
  // Modules that are no longer made are sold one by one, out of machines taken apart.
  if (module && a.status != Status::end_of_life && own->basis != PriceBasis::used) {
    own->cards = std::max<std::int64_t>(1, a.cards(a.scale_up.max_devices));
    own->bare = true;
    for (double* amount : {&own->amount, &own->low, &own->high}) {
      *amount *= static_cast<double>(own->cards);
    }
  }
  return own;
}

}  // namespace cairn
