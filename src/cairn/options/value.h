// Text to value for the option types, with the errors a person can act on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/options/spec.h"

namespace cairn {

/// An amount in a currency (ISO 4217); the currency is empty where none was
/// written.
struct Amount {
  double amount = 0;
  std::string currency;
  friend bool operator==(const Amount&, const Amount&) = default;
};

struct Counted {
  std::string name;
  std::int64_t count = 1;
  friend bool operator==(const Counted&, const Counted&) = default;
};

/// A number with an optional unit, in base units (tokens, bytes, seconds,
/// watts). A bare number is in `unit`. Units by kind of `unit`:
///   tok         k, K, Ki = 1024; m, M, Mi = 1024^2 (a "32k context" is 32768)
///   B..TiB      B, kB, MB, GB, TB decimal; KiB, MiB, GiB, TiB and K, M, G, T binary
///   us..d       us, ms, s, min, h, d
///   W, kW       W, kW
Result<double> parse_quantity(std::string_view text, std::string_view unit);
/// Base units of one `unit`; 1 for a name that is no unit of these.
double base_units_of(std::string_view unit);

/// "6000CNY", "600 USD", "$600", "1,500 EUR", "6000元".
Result<Amount> parse_money(std::string_view text);
/// "rx-7900-xtx:2"; without a number, 1.
Result<Counted> parse_counted(std::string_view text);
/// The items between commas, without the spaces around them; an empty item is
/// an error.
Result<std::vector<std::string>> parse_list(std::string_view text);

/// One value of any option as it is stored.
struct OptionValue {
  std::string text = {};  // as typed; the canonical word of a choice
  double number = 0;      // integer, number, quantity (base units)
  Amount amount = {};
  std::vector<std::string> items = {};
  std::vector<Counted> counted = {};
};
/// Reads and checks a value by the option's type, range and choices. The error
/// names the option.
Result<OptionValue> parse_option_value(const OptionSpec& option, std::string_view text);

/// The names of the choices that are no aliases.
std::vector<std::string> choice_names(const OptionSpec& option);

}  // namespace cairn
