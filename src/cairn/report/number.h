// Figures as people read them: three significant digits, a fitting unit, and
// an interval with no more digits than it supports.
//
//   format(gib(23.98))                     "24.0 GiB"
//   format_interval(87.3, 70.1, 104.9)     "87 (70–105)"
//   format_interval(Seconds(.0123), ...)   "12.3 (10.1–15.0) ms"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cairn/base/units.h"

namespace cairn {

/// Three significant digits without an exponent between 1e-4 and 1e15, groups
/// of three digits set off by commas. "∞" and "–" (no value) for what is no
/// finite number.
std::string format_number(double value, int digits = 3);

/// A whole number with groups of three digits.
std::string format_count(double value);

/// A share of one as per cent: 0.873 is "87.3%".
std::string format_percent(double share);

/// "6,000 CNY", "0.0123 USD": cents below 100, whole units above, three
/// significant digits below 1.
std::string format_money(double amount, std::string_view currency);

/// A unit and how many base units one of it is.
struct Scale {
  double base_units = 1;
  std::string_view unit;
};
Scale scale_of(Bytes b);            // B, KiB, MiB, GiB, TiB
Scale scale_of(Seconds s);          // µs, ms, s, min, h, d
Scale scale_of(Watts w);            // W, kW, MW
Scale scale_of(Joules j);           // J, kJ, kWh, MWh
Scale scale_of(TokensPerSecond r);  // tok/s
Scale scale_of(BytesPerSecond r);   // MB/s, GB/s, TB/s (decimal, as vendors print them)
Scale scale_of(FlopsPerSecond r);   // GFLOPS, TFLOPS, PFLOPS
Scale scale_of(Flops f);            // GFLOP, TFLOP, PFLOP
Scale scale_of(Hertz f);            // Hz, MHz, GHz
Scale scale_of(JoulesPerToken e);   // mJ/tok, J/tok

std::string format_scaled(double value, Scale scale);
/// value (low–high), with the precision that the interval leaves; the value alone where all
/// three are equal.
std::string format_interval(double value, double low, double high);
std::string format_interval(double value, double low, double high, Scale scale);

template <int B, int S, int F, int J, int T>
std::string format(Quantity<B, S, F, J, T> q) {
  return format_scaled(q.value(), scale_of(q));
}
template <int B, int S, int F, int J, int T>
std::string format(std::optional<Quantity<B, S, F, J, T>> q) {
  return q ? format(*q) : "–";
}
template <int B, int S, int F, int J, int T>
std::string format_interval(Quantity<B, S, F, J, T> value, Quantity<B, S, F, J, T> low,
                            Quantity<B, S, F, J, T> high) {
  return format_interval(value.value(), low.value(), high.value(), scale_of(value));
}

}  // namespace cairn
