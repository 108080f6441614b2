#include "cairn/options/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "cairn/base/names.h"
#include "cairn/base/units.h"

namespace cairn {
namespace {

struct Unit {
  std::string_view name;
  double base_units;
};

constexpr std::array kTokenUnits{Unit{"tok", 1},   Unit{"k", kKiB},  Unit{"K", kKiB},
                                 Unit{"Ki", kKiB}, Unit{"m", kMiB},  Unit{"M", kMiB},
                                 Unit{"Mi", kMiB}, Unit{"tokens", 1}};
constexpr std::array kByteUnits{Unit{"B", 1},          Unit{"kB", 1e3},   Unit{"MB", 1e6},
                                Unit{"GB", 1e9},       Unit{"TB", 1e12},  Unit{"KiB", kKiB},
                                Unit{"MiB", kMiB},     Unit{"GiB", kGiB}, Unit{"TiB", 1024 * kGiB},
                                Unit{"K", kKiB},       Unit{"M", kMiB},   Unit{"G", kGiB},
                                Unit{"T", 1024 * kGiB}};
constexpr std::array kTimeUnits{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1},
                                Unit{"min", 60},  Unit{"h", 3600},  Unit{"d", 86400}};
constexpr std::array kPowerUnits{Unit{"W", 1}, Unit{"kW", 1e3}};

std::span<const Unit> family_of(std::string_view unit) {
  const std::array<std::span<const Unit>, 4> families{kTokenUnits, kByteUnits, kTimeUnits,
                                                      kPowerUnits};
  for (const auto family : families) {
    if (std::ranges::find(family, unit, &Unit::name) != family.end()) return family;
  }
  return {};
}

std::string_view trim(std::string_view s) {
  while (s.starts_with(' ')) s.remove_prefix(1);
  while (s.ends_with(' ')) s.remove_suffix(1);
  return s;
}

// The number at the start of a text, and what follows it.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  double value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return std::pair(value, text.substr(static_cast<std::size_t>(r.ptr - text.data())));
}

Error option_error(const OptionSpec& option, std::string_view message, std::string_view text) {
  return bad_input(std::string(message)).in(fmt::format("--{}", option.name)).got(text);
}

std::string range_text(const OptionSpec& option) {
  const std::string unit = option.unit.empty() ? "" : fmt::format(" {}", option.unit);
  if (std::isinf(option.max)) return fmt::format("at least {}{}", option.min, unit);
  if (std::isinf(option.min)) return fmt::format("at most {}{}", option.max, unit);
  return fmt::format("{} to {}{}", option.min, option.max, unit);
}

Result<void> in_range(const OptionSpec& option, double value, std::string_view text) {
  const double scale = option.type == OptionType::quantity ? base_units_of(option.unit) : 1;
  if (value >= option.min * scale && value <= option.max * scale) return {};
  return fail(option_error(option, msg("out of range"), text).want(range_text(option)));
}

Result<OptionValue> parse_whole(const OptionSpec& option, std::string_view text) {
  std::int64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec == std::errc::invalid_argument || r.ptr != text.data() + text.size()) {
    return fail(option_error(option, msg("not a whole number"), text).want(range_text(option)));
  }
  const double number =
      r.ec == std::errc() ? static_cast<double>(value) : std::numeric_limits<double>::infinity();
  CAIRN_CHECK(in_range(option, number, text));
  return OptionValue{.text = std::string(text), .number = number};
}

Result<OptionValue> parse_real(const OptionSpec& option, std::string_view text) {
  const auto number = leading_number(text);
  if (!number || !number->second.empty()) {
    return fail(option_error(option, msg("not a number"), text).want(range_text(option)));
  }
  CAIRN_CHECK(in_range(option, number->first, text));
  return OptionValue{.text = std::string(text), .number = number->first};
}

Result<OptionValue> parse_choice(const OptionSpec& option, std::string_view text) {
  const std::size_t end = option.releases ? std::min(text.find('@'), text.size()) : text.size();
  const std::string wanted = normalise_name(text.substr(0, end));
  for (const Choice& c : option.choices) {
    if (normalise_name(c.name) != wanted) continue;
    std::string name(c.alias_of.empty() ? c.name : c.alias_of);
    name += text.substr(end);
    return OptionValue{.text = std::move(name)};
  }
  const std::vector<std::string> names = choice_names(option);
  return fail(option_error(option, msg("not one of the choices"), text)
                  .want(fmt::format("one of {}", fmt::join(names, ", "))));
}

template <class T>
Result<T> named(Result<T> result, const OptionSpec& option) {
  if (!result && result.error().field.empty()) {
    result.error().field = fmt::format("--{}", option.name);
  }
  return result;
}

}  // namespace

double base_units_of(std::string_view unit) {
  for (const Unit& u : family_of(unit)) {
    if (u.name == unit) return u.base_units;
  }
  return 1;
}

Result<double> parse_quantity(std::string_view text, std::string_view unit) {
  const auto number = leading_number(text);
  const std::span<const Unit> family = family_of(unit);
  if (!number) {
    return fail(bad_input(std::string(msg("not a number")))
                    .got(text)
                    .want(fmt::format("a number such as 8{}", unit)));
  }
  const std::string_view suffix = trim(number->second);
  if (suffix.empty()) return number->first * base_units_of(unit);
  const auto it = std::ranges::find(family, suffix, &Unit::name);
  if (it != family.end()) return number->first * it->base_units;
  std::vector<std::string_view> names;
  for (const Unit& u : family) names.push_back(u.name);
  return fail(bad_input(std::string(msg("unknown unit")))
                  .got(text)
                  .want(fmt::format("one of {}", fmt::join(names, ", "))));
}

Result<Amount> parse_money(std::string_view text) {
  const std::string expected(msg("an amount and a currency such as 6000CNY"));
  std::string_view rest = trim(text);
  Amount out;
  struct Sign {
    std::string_view sign;
    std::string_view currency;
  };
  // The yen sign is left out: it means CNY to some readers and JPY to others.
  constexpr std::array kSigns{Sign{"$", "USD"}, Sign{"€", "EUR"}, Sign{"£", "GBP"},
                              Sign{"元", "CNY"}};
  for (const Sign& s : kSigns) {
    if (rest.starts_with(s.sign)) {
      rest = trim(rest.substr(s.sign.size()));
      out.currency = s.currency;
    } else if (rest.ends_with(s.sign)) {
      rest = trim(rest.substr(0, rest.size() - s.sign.size()));
      out.currency = s.currency;
    }
  }
  std::string digits(rest);
  std::erase(digits, ',');
  const auto number = leading_number(digits);
  if (!number || number->first < 0) {
    return fail(bad_input(std::string(msg("not an amount of money"))).got(text).want(expected));
  }
  out.amount = number->first;
  const std::string code(trim(number->second));
  if (code.empty()) return out;
  const bool letters = code.size() == 3 && std::ranges::all_of(code, [](char c) {
                         return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
                       });
  if (!letters || !out.currency.empty()) {
    return fail(bad_input(std::string(msg("not an amount of money"))).got(text).want(expected));
  }
  for (const char c : code) out.currency += static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
  return out;
}

Result<Counted> parse_counted(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Counted out{.name = std::string(trim(text.substr(0, colon)))};
  const auto wrong = [text] {
    return fail(bad_input(std::string(msg("not a name with a number")))
                    .got(text)
                    .want(std::string(msg("a name and a number such as rx-7900-xtx:2"))));
  };
  if (out.name.empty()) return wrong();
  if (colon == std::string_view::npos) return out;
  const std::string_view count = trim(text.substr(colon + 1));
  const auto r = std::from_chars(count.data(), count.data() + count.size(), out.count);
  constexpr std::int64_t kMost = 1'000'000;
  if (r.ec != std::errc() || r.ptr != count.data() + count.size() || out.count < 1 ||
      out.count > kMost) {
    return wrong();
  }
  return out;
}

Result<std::vector<std::string>> parse_list(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trim(text.substr(0, comma));
    if (item.empty()) return fail(bad_input(std::string(msg("an empty item in a list"))));
    out.emplace_back(item);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

Result<OptionValue> parse_option_value(const OptionSpec& option, std::string_view text) {
  OptionValue out{.text = std::string(text)};
  switch (option.type) {
    case OptionType::flag:
      return fail(option_error(option, msg("this option takes no value"), text));
    case OptionType::text:
      if (text.empty()) return fail(option_error(option, msg("an empty value"), text));
      return out;
    case OptionType::integer:
      return parse_whole(option, text);
    case OptionType::number:
      return parse_real(option, text);
    case OptionType::quantity: {
      CAIRN_TRY(out.number, named(parse_quantity(text, option.unit), option));
      CAIRN_CHECK(in_range(option, out.number, text));
      if (option.unit == "tok" && out.number != std::floor(out.number)) {
        return fail(option_error(option, msg("not a whole number"), text).want(range_text(option)));
      }
      return out;
    }
    case OptionType::choice:
      return parse_choice(option, text);
    case OptionType::money: {
      CAIRN_TRY(out.amount, named(parse_money(text), option));
      return out;
    }
    case OptionType::list: {
      CAIRN_TRY(out.items, named(parse_list(text), option));
      return out;
    }
    case OptionType::counted: {
      CAIRN_TRY(const std::vector<std::string> items, named(parse_list(text), option));
      for (const std::string& item : items) {
        CAIRN_TRY(Counted counted, named(parse_counted(item), option));
        out.counted.push_back(std::move(counted));
      }
      return out;
    }
  }
  return out;
}

std::vector<std::string> choice_names(const OptionSpec& option) {
  std::vector<std::string> out;
  for (const Choice& c : option.choices) {
    if (c.alias_of.empty()) out.emplace_back(c.name);
  }
  return out;
}

}  // namespace cairn
