#include "cairn/report/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cairn {
namespace {

TEST(Number, ThreeSignificantDigits) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(1), "1.00");
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(123.4), "123");
  EXPECT_EQ(format_number(12345), "12,300");
  EXPECT_EQ(format_number(-0.012345), "-0.0123");
  EXPECT_EQ(format_number(1234567), "1,230,000");
  EXPECT_EQ(format_number(1e-7), "1.00e-07");
  EXPECT_EQ(format_number(3.2e21), "3.20e+21");
}

TEST(Number, NoNumberIsNotANumber) {
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-∞");
  EXPECT_EQ(format(std::optional<Bytes>{}), "–");
}

TEST(Number, Counts) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(131072), "131,072");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

TEST(Number, UnitsFitTheValue) {
  EXPECT_EQ(format(gib(23.98)), "24.0 GiB");
  EXPECT_EQ(format(mib(1023.9)), "1.00 GiB");  // never "1,020 MiB" beside a GiB
  EXPECT_EQ(format(Bytes(512)), "512 B");
  EXPECT_EQ(format(milliseconds(12.34)), "12.3 ms");
  EXPECT_EQ(format(microseconds(3.1)), "3.10 µs");
  EXPECT_EQ(format(Seconds(7200)), "2.00 h");
  EXPECT_EQ(format(TokensPerSecond(87.3)), "87.3 tok/s");
  EXPECT_EQ(format(Watts(1400)), "1.40 kW");
  EXPECT_EQ(format(gb_per_s(5300)), "5.30 TB/s");
  EXPECT_EQ(format(tflops(122.8)), "123 TFLOPS");
  EXPECT_EQ(format(Joules(7.2e6)), "2.00 kWh");  // 1 kWh = 3.6 MJ
}

TEST(Number, Money) {
  EXPECT_EQ(format_money(6000, "CNY"), "6,000 CNY");
  EXPECT_EQ(format_money(999, "USD"), "999 USD");
  EXPECT_EQ(format_money(1.5, "EUR"), "1.50 EUR");
  EXPECT_EQ(format_money(0.012345, "USD"), "0.0123 USD");
  EXPECT_EQ(format_money(0, "USD"), "0.00 USD");
}

TEST(Number, IntervalShowsWhatItSupports) {
  EXPECT_EQ(format_interval(87.3, 70.1, 104.9), "87 (70–105)");
  EXPECT_EQ(format_interval(12345, 10300, 14400), "12,300 (10,300–14,400)");
  EXPECT_EQ(format_interval(0.0873, 0.0701, 0.1049), "0.087 (0.070–0.105)");
  // A narrow interval keeps three digits of the value, a wide one two.
  EXPECT_EQ(format_interval(100, 99.9, 100.1), "100 (100–100)");
  EXPECT_EQ(format_interval(87, 20, 400), "87 (20–400)");
  EXPECT_EQ(format_interval(768, 768, 768), "768");
  EXPECT_EQ(format_interval(Seconds(0.0123), Seconds(0.0101), Seconds(0.0150)),
            "12.3 (10.1–15.0) ms");
}

TEST(Number, Percent) { EXPECT_EQ(format_percent(0.873), "87.3%"); }

}  // namespace
}  // namespace cairn
