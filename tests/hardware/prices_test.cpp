#include "cairn/hardware/prices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../must.h"

namespace cairn {
namespace {

using test::must;

// An image of the three price tables, with quotes written in a test.
PriceBook book(const std::string& quotes) {
  const std::string path = testing::TempDir() + "prices_test.image";
  std::vector<Document> documents;
  documents.push_back(must(parse_csv(
      "accelerator,amount,currency,kind,provider,region,date,source_url,confirmed,condition\n" +
          quotes,
      "prices/accelerators.csv")));
  documents.push_back(
      must(parse_csv("currency,per_usd,date,source_url\n"
                     "CNY,7,2026-01-01,https://example.org\n"
                     "EUR,0.8,2026-01-01,https://example.org\n",
                     "prices/exchange_rates.csv")));
  documents.push_back(
      must(parse_csv("region,usd_per_kwh,pue,date,source_url,note\n"
                     "World,0.2,,2026,https://example.org,residential average\n"
                     "World,,1.5,2026,https://example.org,business average PUE\n"
                     "World,0.1,,2026,https://example.org,business average\n",
                     "prices/electricity.csv")));
  if (!write_image(path, documents)) throw std::runtime_error("no image");
  PriceBook out = must(PriceBook::load(must(Image::open(path))));
  std::remove(path.c_str());
  return out;
}

TEST(Rental, IsTheMedianOfTheNewestQuoteOfEachProvider) {
  const PriceBook b = book(
      "x,9,USD,cloud-on-demand,A,US,2024-01-01,,true,new\n"
      "x,2,USD,cloud-on-demand,A,US,2026-01-01,,true,new\n"
      "x,3,USD,cloud-on-demand,B,US,2025-01-01,,true,new\n"
      "x,1,USD,cloud-spot,C,US,2026-01-01,,true,new\n"
      "x,28,CNY,cloud-on-demand,D,CN,2026-01-01,,true,new\n");
  EXPECT_EQ(b.rental("x")->amount, 3);  // 2, 3, 4
}

TEST(Rental, IsUnknownWhereNoQuoteIsConfirmed) {
  const PriceBook b = book(
      "x,0.066,USD,cloud-on-demand,cheapest of a marketplace,any,2026-09-23,,false,new\n"
      "y,0.1,USD,cloud-on-demand,A,US,2026-09-23,,false,new\n"
      "y,2,USD,cloud-on-demand,B,US,2026-09-23,,true,new\n");
  EXPECT_FALSE(b.rental("x").has_value());
  EXPECT_EQ(b.rental("y")->amount, 2);
}

TEST(Convert, GoesThroughTheDollar) {
  const PriceBook b = book("x,1,USD,street,A,US,2026,,true,new\n");
  EXPECT_DOUBLE_EQ(must(b.convert(70, "CNY", "USD")), 10);
  EXPECT_DOUBLE_EQ(must(b.convert(70, "CNY", "EUR")), 8);
  EXPECT_DOUBLE_EQ(must(b.convert(5, "USD", "USD")), 5);
  EXPECT_DOUBLE_EQ(must(b.convert(70, "cny", "Eur")), 8);
  EXPECT_EQ(currency_code("eur"), "EUR");
  const auto unknown = b.convert(1, "XXX", "USD");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
  EXPECT_EQ(unknown.error().value, "XXX");
}

TEST(Electricity, IsTheBusinessPriceOfTheWorld) {
  const PriceBook b = book("x,1,USD,street,A,US,2026,,true,new\n");
  ASSERT_NE(b.default_electricity(), nullptr);
  EXPECT_EQ(b.default_electricity()->usd_per_kwh, 0.1);
}

TEST(Quotes, MistakesAreTold) {
  const auto load = [](const std::string& row) -> Result<PriceBook> {
    const std::string path = testing::TempDir() + "prices_bad.image";
    std::vector<Document> documents;
    documents.push_back(must(parse_csv(
        "accelerator,amount,currency,kind,provider,region,date,source_url,confirmed,condition\n" +
            row,
        "prices/accelerators.csv")));
    if (!write_image(path, documents)) throw std::runtime_error("no image");
    auto out = PriceBook::load(must(Image::open(path)));
    std::remove(path.c_str());
    return out;
  };
  const auto kind = load("x,1,USD,rumour,A,US,2026,,true,new\n");
  ASSERT_FALSE(kind.has_value());
  EXPECT_EQ(kind.error().where, "prices/accelerators.csv:2");
  EXPECT_EQ(kind.error().value, "rumour");
  const auto amount = load("x,cheap,USD,street,A,US,2026,,true,new\n");
  ASSERT_FALSE(amount.has_value());
  EXPECT_EQ(amount.error().where, "prices/accelerators.csv:2");
  EXPECT_FALSE(load("x,,USD,street,A,US,2026,,true,new\n").has_value());
  EXPECT_FALSE(load("x,-5,USD,street,A,US,2026,,true,new\n").has_value());
  const auto condition = load("x,5,USD,street,A,US,2026,,true,dusty\n");
  ASSERT_FALSE(condition.has_value());
  EXPECT_EQ(condition.error().value, "dusty");
}

// Every figure that somebody only estimates is marked so, and no estimate is a quote.
TEST(Data, RoundedPlanningFiguresAreEstimates) {
  const PriceBook b = must(PriceBook::load(must(Image::open(CAIRN_IMAGE_FILE))));
  for (const char* id : {"mi300x", "mi210", "h100-sxm", "rx-7900-xtx", "t4", "rtx-3090"}) {
    for (const Price* p : b.of(id)) {
      const bool rounded = p->provider.find("rounded") != std::string::npos ||
                           p->provider.find("planning estimate") != std::string::npos;
      EXPECT_EQ(p->kind == PriceKind::estimate, rounded) << id << " " << p->provider;
    }
  }
}

// Ember's means of 2023: India 713, Norway 30, the world 481 g/kWh
// (https://statista.com/statistics/943137/global-emissions-intensity-power-sector-by-country).
TEST(Data, GridsHaveTheirCarbon) {
  const PriceBook b = must(PriceBook::load(must(Image::open(CAIRN_IMAGE_FILE))));
  EXPECT_EQ(b.carbon_of("India")->grams_per_kwh, 713);
  EXPECT_EQ(b.carbon_of("norway")->grams_per_kwh, 30);
  EXPECT_EQ(b.carbon_of("World")->grams_per_kwh, 481);
  EXPECT_EQ(b.carbon_of("Atlantis"), nullptr);
  EXPECT_NEAR(b.electricity_of("italy")->usd_per_kwh, 0.43, 1e-9);
  EXPECT_EQ(b.electricity_of("Atlantis"), nullptr);
}

}  // namespace
}  // namespace cairn
