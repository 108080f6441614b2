// Strong types for physical quantities: adding bytes to seconds does not
// compile, dividing bytes by seconds gives a rate.
//
//   Seconds t = weights / bandwidth;       // Bytes / BytesPerSecond
//   Joules  e = power * t;                 // Watts * Seconds
//   double  n = t / Seconds{1};            // equal dimensions give a number
//
// A quantity is one double in base units (bytes, seconds, FLOPs, joules,
// tokens). Whole numbers up to 2^53 (9 PB) are exact, and arithmetic on absurd
// inputs gives infinity rather than undefined behaviour.
#pragma once

#include <cmath>
#include <compare>

namespace cairn {

/// A number with the dimension bytes^B * seconds^S * flops^F * joules^J * tokens^T.
template <int B, int S, int F, int J, int T>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  /// The number in base units.
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double k) {
    value_ *= k;
    return *this;
  }
  constexpr Quantity& operator/=(double k) {
    value_ /= k;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double k) { return a *= k; }
  friend constexpr Quantity operator*(double k, Quantity a) { return a *= k; }
  friend constexpr Quantity operator/(Quantity a, double k) { return a /= k; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;
  friend constexpr bool operator==(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

/// Product of two dimensions; a plain double when they cancel.
template <int B1, int S1, int F1, int J1, int T1, int B2, int S2, int F2, int J2, int T2>
constexpr auto operator*(Quantity<B1, S1, F1, J1, T1> a, Quantity<B2, S2, F2, J2, T2> b) {
  if constexpr (B1 + B2 == 0 && S1 + S2 == 0 && F1 + F2 == 0 && J1 + J2 == 0 && T1 + T2 == 0) {
    return a.value() * b.value();
  } else {
    return Quantity<B1 + B2, S1 + S2, F1 + F2, J1 + J2, T1 + T2>(a.value() * b.value());
  }
}

/// Ratio of two dimensions; a plain double when they are equal.
template <int B1, int S1, int F1, int J1, int T1, int B2, int S2, int F2, int J2, int T2>
constexpr auto operator/(Quantity<B1, S1, F1, J1, T1> a, Quantity<B2, S2, F2, J2, T2> b) {
  if constexpr (B1 == B2 && S1 == S2 && F1 == F2 && J1 == J2 && T1 == T2) {
    return a.value() / b.value();
  } else {
    return Quantity<B1 - B2, S1 - S2, F1 - F2, J1 - J2, T1 - T2>(a.value() / b.value());
  }
}

/// Reciprocal: 1 / Seconds is a rate.
template <int B, int S, int F, int J, int T>
constexpr auto operator/(double k, Quantity<B, S, F, J, T> q) {
  return Quantity<-B, -S, -F, -J, -T>(k / q.value());
}

using Bytes = Quantity<1, 0, 0, 0, 0>;
using Seconds = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using Joules = Quantity<0, 0, 0, 1, 0>;
using Tokens = Quantity<0, 0, 0, 0, 1>;
using BytesPerSecond = Quantity<1, -1, 0, 0, 0>;
using FlopsPerSecond = Quantity<0, -1, 1, 0, 0>;
using Watts = Quantity<0, -1, 0, 1, 0>;
using Hertz = Quantity<0, -1, 0, 0, 0>;
using BytesPerToken = Quantity<1, 0, 0, 0, -1>;
using TokensPerSecond = Quantity<0, -1, 0, 0, 1>;
using JoulesPerToken = Quantity<0, 0, 0, 1, -1>;

template <int B, int S, int F, int J, int T>
constexpr Quantity<B, S, F, J, T> max(Quantity<B, S, F, J, T> a, Quantity<B, S, F, J, T> b) {
  return a < b ? b : a;
}

template <int B, int S, int F, int J, int T>
constexpr Quantity<B, S, F, J, T> min(Quantity<B, S, F, J, T> a, Quantity<B, S, F, J, T> b) {
  return b < a ? b : a;
}

constexpr double kKiB = 1024.0;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

constexpr Bytes mib(double n) { return Bytes(n * kMiB); }
constexpr Bytes gib(double n) { return Bytes(n * kGiB); }
constexpr Seconds microseconds(double n) { return Seconds(n * 1e-6); }
constexpr Seconds milliseconds(double n) { return Seconds(n * 1e-3); }
constexpr BytesPerSecond gb_per_s(double n) { return BytesPerSecond(n * 1e9); }
constexpr FlopsPerSecond tflops(double n) { return FlopsPerSecond(n * 1e12); }

constexpr double in_gib(Bytes b) { return b.value() / kGiB; }
constexpr double in_mib(Bytes b) { return b.value() / kMiB; }
constexpr double in_ms(Seconds s) { return s.value() * 1e3; }
constexpr double in_us(Seconds s) { return s.value() * 1e6; }

}  // namespace cairn
