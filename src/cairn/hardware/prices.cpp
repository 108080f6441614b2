#include "cairn/hardware/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "cairn/base/names.h"
#include "cairn/data/csv.h"

namespace cairn {
namespace {

constexpr std::array<std::pair<PriceKind, std::string_view>, 6> kKinds{{
    {PriceKind::msrp, "msrp"},
    {PriceKind::street, "street"},
    {PriceKind::estimate, "estimate"},
    {PriceKind::cloud_on_demand, "cloud-on-demand"},
    {PriceKind::cloud_reserved, "cloud-reserved"},
    {PriceKind::cloud_spot, "cloud-spot"},
}};

constexpr std::array<std::pair<Condition, std::string_view>, 3> kConditions{{
    {Condition::fresh, "new"},
    {Condition::used, "used"},
    {Condition::unknown, ""},
}};

Result<Price> read_price(const Row& row, std::span<const std::uint32_t> c) {
  Price out;
  CAIRN_TRY(const std::string_view accelerator, row.required(c[0]));
  out.accelerator = accelerator;
  CAIRN_TRY(const auto amount, row.number(c[1]));
  out.amount = amount.value_or(0);
  if (!(out.amount > 0)) {
    return fail(bad_input("not a price").at(row.where()).got(row.text(c[1])));
  }
  out.currency = row.text(c[2]);
  const auto kind =
      std::ranges::find(kKinds, row.text(c[3]), [](const auto& k) { return k.second; });
  if (kind == kKinds.end()) {
    return fail(bad_input("unknown kind of price").at(row.where()).got(row.text(c[3])));
  }
  out.kind = kind->first;
  out.provider = row.text(c[4]);
  out.region = row.text(c[5]);
  out.date = row.text(c[6]);
  out.source = row.text(c[7]);
  out.confirmed = row.text(c[8]) != "false";
  const auto condition =
      std::ranges::find(kConditions, row.text(c[9]), [](const auto& k) { return k.second; });
  if (condition == kConditions.end()) {
    return fail(bad_input("unknown condition").at(row.where()).got(row.text(c[9])));
  }
  out.condition = condition->first;
  return out;
}

Result<std::vector<std::uint32_t>> columns(const Table& table,
                                           std::span<const std::string_view> names) {
  std::vector<std::uint32_t> out;
  for (const std::string_view name : names) {
    CAIRN_TRY(const std::uint32_t index, table.column(name));
    out.push_back(index);
  }
  return out;
}

// `name`: the column that says what is priced.
Result<std::vector<Price>> read_prices(const Image& image, std::string_view document,
                                       std::string_view name) {
  CAIRN_TRY(const Node root, image.root(document));
  CAIRN_TRY(const Table table, Table::from(root));
  const std::array<std::string_view, 10> kNames{name,        "amount",   "currency", "kind",
                                                "provider",  "region",   "date",     "source_url",
                                                "confirmed", "condition"};
  CAIRN_TRY(const auto c, columns(table, kNames));
  std::vector<Price> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    CAIRN_TRY(Price price, read_price(table.row(i), c));
    out.push_back(std::move(price));
  }
  return out;
}

Result<std::vector<ExchangeRate>> read_rates(const Image& image) {
  CAIRN_TRY(const Node root, image.root("prices/exchange_rates.csv"));
  CAIRN_TRY(const Table table, Table::from(root));
  constexpr std::array<std::string_view, 4> kNames{"currency", "per_usd", "date", "source_url"};
  CAIRN_TRY(const auto c, columns(table, kNames));
  std::vector<ExchangeRate> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const auto rate, row.number(c[1]));
    if (!rate || *rate <= 0) {
      return fail(bad_input("not an exchange rate").at(row.where()).got(row.text(c[1])));
    }
    out.push_back({std::string(row.text(c[0])), *rate, std::string(row.text(c[2])),
                   std::string(row.text(c[3]))});
  }
  return out;
}

Result<std::vector<Electricity>> read_electricity(const Image& image) {
  CAIRN_TRY(const Node root, image.root("prices/electricity.csv"));
  CAIRN_TRY(const Table table, Table::from(root));
  constexpr std::array<std::string_view, 5> kNames{"region", "usd_per_kwh", "date", "source_url",
                                                   "note"};
  CAIRN_TRY(const auto c, columns(table, kNames));
  std::vector<Electricity> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const auto price, row.number(c[1]));
    if (!price) continue;  // rows that give only a PUE
    out.push_back({std::string(row.text(c[0])), *price, std::string(row.text(c[2])),
                   std::string(row.text(c[3])), std::string(row.text(c[4]))});
  }
  return out;
}

Result<std::vector<GridCarbon>> read_carbon(const Image& image) {
  CAIRN_TRY(const Node root, image.root("prices/carbon.csv"));
  CAIRN_TRY(const Table table, Table::from(root));
  constexpr std::array<std::string_view, 4> kNames{"region", "g_per_kwh", "date", "source_url"};
  CAIRN_TRY(const auto c, columns(table, kNames));
  std::vector<GridCarbon> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const auto grams, row.number(c[1]));
    if (!grams || *grams < 0) {
      return fail(bad_input("not a carbon intensity").at(row.where()).got(row.text(c[1])));
    }
    out.push_back({std::string(row.text(c[0])), *grams, std::string(row.text(c[2])),
                   std::string(row.text(c[3]))});
  }
  return out;
}

}  // namespace

std::string_view name_of(PriceKind kind) {
  return std::ranges::find(kKinds, kind, [](const auto& k) { return k.first; })->second;
}

std::string_view name_of(Condition condition) {
  return std::ranges::find(kConditions, condition, [](const auto& k) { return k.first; })->second;
}

Result<PriceBook> PriceBook::load(const Image& image) {
  PriceBook out;
  CAIRN_TRY(out.prices_, read_prices(image, "prices/accelerators.csv", "accelerator"));
  // Facts that no cost needs: a book does without.
  if (image.contains("prices/hosts.csv")) {
    CAIRN_TRY(out.hosts_, read_prices(image, "prices/hosts.csv", "host"));
  }
  if (image.contains("prices/carbon.csv")) {
    CAIRN_TRY(out.carbon_, read_carbon(image));
  }
  for (const auto* quotes : {&out.prices_, &out.hosts_}) {
    for (const Price& p : *quotes) out.date_ = std::max(out.date_, p.date);
  }
  CAIRN_TRY(out.rates_, read_rates(image));
  CAIRN_TRY(out.electricity_, read_electricity(image));
  return out;
}

std::vector<const Price*> PriceBook::of(std::string_view accelerator) const {
  std::vector<const Price*> out;
  for (const Price& p : prices_) {
    if (p.accelerator == accelerator) out.push_back(&p);
  }
  return out;
}

std::optional<Price> PriceBook::median(std::span<const Price* const> quotes) const {
  std::vector<std::pair<double, const Price*>> in_usd;
  for (const Price* p : quotes) {
    if (const auto usd = convert(p->amount, p->currency, "USD")) in_usd.emplace_back(*usd, p);
  }
  if (in_usd.empty()) return std::nullopt;
  std::ranges::stable_sort(in_usd, {}, [](const auto& q) { return q.first; });
  return *in_usd[(in_usd.size() - 1) / 2].second;
}

std::vector<const Price*> PriceBook::of_host(std::string_view host) const {
  std::vector<const Price*> out;
  for (const Price& p : hosts_) {
    if (p.accelerator == host) out.push_back(&p);
  }
  return out;
}

std::optional<Price> PriceBook::rental(std::string_view accelerator) const {
  std::map<std::string, const Price*> by_provider;
  for (const Price* p : of(accelerator)) {
    if (p->kind != PriceKind::cloud_on_demand || !p->confirmed) continue;
    const Price*& kept = by_provider[p->provider];
    if (kept == nullptr || kept->date < p->date) kept = p;
  }
  std::vector<const Price*> quotes;
  quotes.reserve(by_provider.size());
  for (const auto& [provider, price] : by_provider) quotes.push_back(price);
  return median(quotes);
}

Result<double> PriceBook::convert(double amount, std::string_view from, std::string_view to) const {
  const auto rate = [this](std::string_view currency) -> Result<double> {
    const std::string code = currency_code(currency);
    if (code == "USD") return 1.0;
    const auto it = std::ranges::find(rates_, code, &ExchangeRate::currency);
    if (it != rates_.end()) return it->per_usd;
    return fail(not_found("no exchange rate for this currency").got(currency));
  };
  CAIRN_TRY(const double per_usd_from, rate(from));
  CAIRN_TRY(const double per_usd_to, rate(to));
  return amount / per_usd_from * per_usd_to;
}

std::string_view PriceBook::rate_date(std::string_view currency) const {
  const auto it = std::ranges::find(rates_, currency_code(currency), &ExchangeRate::currency);
  return it != rates_.end() ? std::string_view(it->date) : std::string_view();
}

std::string currency_code(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  });
  return out;
}

const Electricity* PriceBook::electricity_of(std::string_view region) const {
  const auto it = std::ranges::find_if(electricity_, [&](const Electricity& e) {
    return normalise_name(e.region) == normalise_name(region);
  });
  return it != electricity_.end() ? &*it : nullptr;
}

const GridCarbon* PriceBook::carbon_of(std::string_view region) const {
  const auto it = std::ranges::find_if(carbon_, [&](const GridCarbon& g) {
    return normalise_name(g.region) == normalise_name(region);
  });
  return it != carbon_.end() ? &*it : nullptr;
}

const Electricity* PriceBook::default_electricity() const {
  const auto it = std::ranges::find_if(electricity_, [](const Electricity& e) {
    return e.region == "World" && e.note.find("business") != std::string::npos;
  });
  return it != electricity_.end() ? &*it : nullptr;
}

}  // namespace cairn
