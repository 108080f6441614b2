#include "cairn/options/value.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

double quantity(std::string_view text, std::string_view unit) {
  const auto value = parse_quantity(text, unit);
  return value ? *value : -1;
}

TEST(Quantity, Tokens) {
  EXPECT_EQ(quantity("4096", "tok"), 4096);
  EXPECT_EQ(quantity("32k", "tok"), 32768);
  EXPECT_EQ(quantity("128K", "tok"), 131072);
  EXPECT_EQ(quantity("1M", "tok"), 1048576);
  EXPECT_EQ(quantity("1m", "tok"), 1048576);
  EXPECT_EQ(quantity("0.5k", "tok"), 512);
}

TEST(Quantity, BytesDecimalAndBinary) {
  EXPECT_EQ(quantity("24GiB", "GiB"), 24.0 * 1073741824);
  EXPECT_EQ(quantity("24 GB", "GiB"), 24e9);
  EXPECT_EQ(quantity("24", "GiB"), 24.0 * 1073741824);
  EXPECT_EQ(quantity("512M", "GiB"), 512.0 * 1048576);
}

TEST(Quantity, TimeAndPower) {
  EXPECT_EQ(quantity("50", "ms"), 0.05);
  EXPECT_EQ(quantity("1s", "ms"), 1);
  EXPECT_EQ(quantity("300us", "ms"), 300e-6);
  EXPECT_EQ(quantity("1.2kW", "W"), 1200);
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text : {"", "k", "32kk", "1e400", "nan", "inf", "0x10", "12 parsecs"}) {
    EXPECT_FALSE(parse_quantity(text, "tok").has_value()) << text;
  }
  EXPECT_EQ(parse_quantity("8MB", "ms").error().to_string(),
            "unknown unit: \"8MB\"; expected one of us, ms, s, min, h, d");
}

TEST(Amount, Forms) {
  EXPECT_EQ(*parse_money("6000CNY"), (Amount{6000, "CNY"}));
  EXPECT_EQ(*parse_money("600 usd"), (Amount{600, "USD"}));
  EXPECT_EQ(*parse_money("$1,500"), (Amount{1500, "USD"}));
  EXPECT_EQ(*parse_money("6000元"), (Amount{6000, "CNY"}));
  EXPECT_EQ(*parse_money("12.5"), (Amount{12.5, ""}));
  for (const char* text : {"", "CNY", "-5USD", "6000RMBY", "$5USD", "5 US"}) {
    EXPECT_FALSE(parse_money(text).has_value()) << text;
  }
}

TEST(Counted, NamesWithNumbers) {
  EXPECT_EQ(*parse_counted("rx-7900-xtx:2"), (Counted{"rx-7900-xtx", 2}));
  EXPECT_EQ(*parse_counted("w7900"), (Counted{"w7900", 1}));
  for (const char* text : {"", ":2", "a:", "a:0", "a:-1", "a:x", "a:99999999999"}) {
    EXPECT_FALSE(parse_counted(text).has_value()) << text;
  }
}

TEST(List, SplitsAtCommas) {
  EXPECT_EQ(*parse_list("a, b,c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(parse_list("a,,b").has_value());
  EXPECT_FALSE(parse_list("").has_value());
}

}  // namespace
}  // namespace cairn
