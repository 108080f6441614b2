// Rounding where it is done by the million: on x86-64 without SSE 4.1, std::ceil and
// std::floor are calls.
#pragma once

#include <cmath>
#include <cstdint>

namespace cairn {

/// As std::ceil and std::floor, but for the sign of a zero.
inline double rounded_up(double x) {
  constexpr double kWhole = 4503599627370496.0;  // 2^52: from here on doubles are whole
  if (!(std::abs(x) < kWhole)) return x;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole < x ? whole + 1 : whole;
}
inline double rounded_down(double x) { return -rounded_up(-x); }

}  // namespace cairn
