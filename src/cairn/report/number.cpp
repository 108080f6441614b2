#include "cairn/report/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace cairn {
namespace {

constexpr std::string_view kNone = "–";
constexpr std::string_view kInfinite = "∞";

// Commas between groups of three digits of the whole part.
std::string grouped(std::string text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

// The power of ten of the first digit: 2 for 123, -1 for 0.5; 0 for 0.
int magnitude(double value) {
  const double a = std::abs(value);
  return a > 0 ? static_cast<int>(std::floor(std::log10(a))) : 0;
}

// Rounded to a multiple of 10^power, with the decimals that this leaves.
std::string rounded(double value, int power) {
  if (power <= 0) return grouped(fmt::format("{:.{}f}", value, -power));
  const double step = std::pow(10.0, power);
  return grouped(fmt::format("{:.0f}", std::round(value / step) * step));
}

bool writable(double value) {
  const double a = std::abs(value);
  return value == 0 || (a >= 1e-4 && a < 1e15);
}

template <std::size_t N>
Scale pick(double value, const std::array<Scale, N>& scales) {
  // The largest unit of which there is at least one once three digits are
  // kept: 1023.9 MiB is 1.00 GiB.
  constexpr double kRounding = 0.9995;
  const double a = std::abs(value);
  for (std::size_t i = N; i-- > 1;) {
    if (std::isfinite(a) && a >= scales[i].base_units * kRounding) return scales[i];
  }
  return scales[0];
}

}  // namespace

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return std::string(kNone);
  if (std::isinf(value)) return (value < 0 ? "-" : "") + std::string(kInfinite);
  if (!writable(value)) return fmt::format("{:.{}e}", value, digits - 1);
  if (value == 0) return "0";
  const int power = magnitude(value) - digits + 1;
  // Rounding may add a digit: 9.996 is 10.0, not 10.00.
  const double step = std::pow(10.0, power);
  const int after = magnitude(std::round(value / step) * step) - digits + 1;
  return rounded(value, after);
}

std::string format_count(double value) {
  if (!std::isfinite(value)) return format_number(value);
  return grouped(fmt::format("{:.0f}", value));
}

std::string format_percent(double share) { return format_number(share * 100) + "%"; }

std::string format_money(double amount, std::string_view currency) {
  const double a = std::abs(amount);
  const std::string text = !std::isfinite(amount) || (a < 1 && a > 0) ? format_number(amount)
                           : a < 100                                  ? rounded(amount, -2)
                                                                      : rounded(amount, 0);
  return fmt::format("{} {}", text, currency);
}

Scale scale_of(Bytes b) {
  return pick(b.value(),
              std::array<Scale, 5>{
                  {{1, "B"}, {kKiB, "KiB"}, {kMiB, "MiB"}, {kGiB, "GiB"}, {kGiB * 1024, "TiB"}}});
}
Scale scale_of(Seconds s) {
  return pick(s.value(),
              std::array<Scale, 6>{
                  {{1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}, {86400, "d"}}});
}
Scale scale_of(Watts w) {
  return pick(w.value(), std::array<Scale, 3>{{{1, "W"}, {1e3, "kW"}, {1e6, "MW"}}});
}
Scale scale_of(Joules j) {
  return pick(j.value(),
              std::array<Scale, 4>{{{1, "J"}, {1e3, "kJ"}, {3.6e6, "kWh"}, {3.6e9, "MWh"}}});
}
Scale scale_of(TokensPerSecond /*r*/) { return {1, "tok/s"}; }
Scale scale_of(BytesPerSecond r) {
  return pick(r.value(), std::array<Scale, 3>{{{1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}}});
}
Scale scale_of(FlopsPerSecond r) {
  return pick(r.value(),
              std::array<Scale, 3>{{{1e9, "GFLOPS"}, {1e12, "TFLOPS"}, {1e15, "PFLOPS"}}});
}
Scale scale_of(Flops f) {
  return pick(f.value(), std::array<Scale, 3>{{{1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}}});
}
Scale scale_of(Hertz f) {
  return pick(f.value(), std::array<Scale, 3>{{{1, "Hz"}, {1e6, "MHz"}, {1e9, "GHz"}}});
}
Scale scale_of(JoulesPerToken e) {
  return pick(e.value(), std::array<Scale, 2>{{{1e-3, "mJ/tok"}, {1, "J/tok"}}});
}

std::string format_scaled(double value, Scale scale) {
  return fmt::format("{} {}", format_number(value / scale.base_units), scale.unit);
}

std::string format_interval(double value, double low, double high) {
  if (low == value && high == value) return format_number(value);  // what is set, not estimated
  if (!std::isfinite(value) || !std::isfinite(low) || !std::isfinite(high) || !writable(value)) {
    return fmt::format("{} ({}–{})", format_number(value), format_number(low), format_number(high));
  }
  // A fifth of the half width, but two to three digits of the value itself.
  const double half = (high - low) / 2;
  const int digit = magnitude(value);
  int power = digit - 2;
  if (half > 0) power = std::clamp(magnitude(half / 5), digit - 2, digit - 1);
  return fmt::format("{} ({}–{})", rounded(value, power), rounded(low, power),
                     rounded(high, power));
}

std::string format_interval(double value, double low, double high, Scale scale) {
  const double u = scale.base_units;
  return fmt::format("{} {}", format_interval(value / u, low / u, high / u), scale.unit);
}

}  // namespace cairn
