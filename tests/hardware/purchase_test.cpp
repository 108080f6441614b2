// What it takes to buy a card: which quotes count.
#include "cairn/hardware/purchase.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../must.h"
#include "cairn/hardware/catalogue.h"

namespace cairn {
namespace {

using test::must;

// An image of the price tables, with quotes written in a test. A dollar is 7 yuan or 0.8
// euros.
PriceBook book(const std::string& quotes) {
  const std::string path = testing::TempDir() + "purchase_test.image";
  std::vector<Document> documents;
  documents.push_back(must(parse_csv(
      "accelerator,amount,currency,kind,provider,region,date,source_url,confirmed,condition\n" +
          quotes,
      "prices/accelerators.csv")));
  documents.push_back(
      must(parse_csv("currency,per_usd,date,source_url\n"
                     "CNY,7,2026-10-30,https://example.org\n"
                     "EUR,0.8,2026-10-31,https://example.org\n",
                     "prices/exchange_rates.csv")));
  documents.push_back(
      must(parse_csv("region,usd_per_kwh,pue,date,source_url,note\n", "prices/electricity.csv")));
  if (!write_image(path, documents)) throw std::runtime_error("no image");
  PriceBook out = must(PriceBook::load(must(Image::open(path))));
  std::remove(path.c_str());
  return out;
}

std::optional<Purchase> price(const PriceBook& b, const std::string& id,
                              const std::string& currency = "USD", bool made = true,
                              const std::string& date = "") {
  return must(choose_price(b.of(id), made, {currency, date, {}}, b));
}

TEST(Choice, IsTheMedianOfTheNewestHalfYearOfStreetQuotes) {
  // 2026-02 is more than half a year older than the newest; 300, 400, 500, 600 have the
  // median 450, whatever the list price and the used card cost.
  const PriceBook b = book(
      "x,100,USD,street,A,US,2026-02-28,,true,new\n"
      "x,600,USD,street,B,US,2026-09-01,,false,new\n"
      "x,400,USD,street,C,US,2026-03,,true,new\n"
      "x,300,USD,street,D,US,2026-04-30,,false,new\n"
      "x,500,USD,street,E,US,2026-09-02,,false,new\n"
      "x,200,USD,street,F,US,2026-09-02,,true,used\n"
      "x,999,USD,msrp,Maker,US,2025-11-03,,true,new\n");
  const Purchase p = *price(b, "x");
  EXPECT_EQ(p.amount, 450);
  EXPECT_EQ(p.basis, PriceBasis::street);
  EXPECT_EQ(p.quotes, 4);
  EXPECT_EQ(p.low, 300);
  EXPECT_EQ(p.high, 600);
  EXPECT_EQ(p.oldest, "2026-03");
  EXPECT_EQ(p.newest, "2026-09-02");
  EXPECT_EQ(p.middle.provider, "C");
  EXPECT_EQ(p.rate_date, "");
  EXPECT_TRUE(p.confirmed);  // one of the four
  EXPECT_EQ(p.cards, 1);
}

TEST(Choice, TakesQuotesOfTheCurrencyAskedForFirst) {
  const PriceBook b = book(
      "x,700,USD,street,A,US,2026-09-01,,true,new\n"
      "x,600,USD,street,B,US,2026-09-01,,true,new\n"
      "x,5600,CNY,street,C,CN,2026-09-01,,false,new\n"
      "x,599,USD,msrp,Maker,US,2026-01,,true,new\n");
  const Purchase yuan = *price(b, "x", "CNY");
  EXPECT_EQ(yuan.amount, 5600);
  EXPECT_EQ(yuan.quotes, 1);
  EXPECT_EQ(yuan.quoted_in, "CNY");
  EXPECT_FALSE(yuan.confirmed);
  // Nobody asks euros: two quotes in dollars are more than one in yuan. 650 x 0.8 = 520.
  const Purchase euros = *price(b, "x", "eur");
  EXPECT_NEAR(euros.amount, 520, 1e-9);
  EXPECT_NEAR(euros.low, 480, 1e-9);
  EXPECT_EQ(euros.currency, "EUR");
  EXPECT_EQ(euros.quoted_in, "USD");
  EXPECT_EQ(euros.rate_date, "2026-10-31");
  EXPECT_FALSE(choose_price(b.of("x"), true, {"XXX", "", {}}, b).has_value());
  EXPECT_FALSE(choose_price({}, true, {"XXX", "", {}}, b).has_value());
}

// A list price counts where no street quote of a new card is recent, and a street quote in
// another currency comes before it.
TEST(Choice, GoesDownFromStreetToListToEstimate) {
  const PriceBook b = book(
      "a,4200,CNY,street,A,CN,2026-09-01,,true,new\n"
      "a,999,USD,msrp,Maker,US,2022-11-03,,true,new\n"
      "b,500,USD,street,A,US,2026-09-01,,true,used\n"
      "b,999,USD,msrp,Maker,US,2022-11-03,,true,new\n"
      "c,500,USD,street,A,US,2024-09-01,,true,new\n"
      "c,900,USD,estimate,A,US,2026-09-01,,true,\n"
      "d,500,USD,street,A,US,2026-09-01,,true,used\n"
      "d,900,USD,estimate,A,US,2026-09-01,,false,\n"
      "d,800,USD,estimate,B,US,2026-08-01,,true,\n"
      "e,500,USD,street,A,US,2026-09-01,,true,used\n"
      "f,700,USD,street,A,US,2026-09-01,,true,\n"
      "f,650,USD,msrp,Maker,US,2026-01,,true,new\n"
      "g,2,USD,cloud-on-demand,A,US,2026-09-01,,true,\n");
  EXPECT_EQ(price(b, "a")->basis, PriceBasis::street);
  EXPECT_NEAR(price(b, "a")->amount, 600, 1e-9);
  EXPECT_EQ(price(b, "b")->basis, PriceBasis::list);
  EXPECT_EQ(price(b, "c")->basis, PriceBasis::older);
  EXPECT_EQ(price(b, "c")->amount, 500);
  // Of estimates those that somebody vouches for.
  EXPECT_EQ(price(b, "d")->basis, PriceBasis::estimate);
  EXPECT_EQ(price(b, "d")->amount, 800);
  EXPECT_EQ(price(b, "e")->basis, PriceBasis::used);
  EXPECT_EQ(price(b, "f")->amount, 700);
  EXPECT_FALSE(price(b, "g").has_value());
  EXPECT_FALSE(price(b, "unknown").has_value());
  // What is no longer made is bought used.
  EXPECT_EQ(price(b, "b", "USD", false)->amount, 500);
  EXPECT_EQ(price(b, "b", "USD", false)->basis, PriceBasis::street);
}

TEST(Choice, KnowsNothingAfterTheDayAskedAbout) {
  const PriceBook b = book(
      "x,700,USD,street,A,US,2026-09-01,,true,new\n"
      "x,500,USD,street,A,US,2025-05-01,,true,new\n"
      "x,599,USD,msrp,Maker,US,2025-03,,true,new\n");
  EXPECT_EQ(b.date(), "2026-09-01");
  EXPECT_EQ(price(b, "x")->amount, 700);
  EXPECT_EQ(price(b, "x", "USD", true, "2025-12-31")->amount, 500);
  EXPECT_EQ(price(b, "x", "USD", true, "2025-04")->basis, PriceBasis::list);
  EXPECT_FALSE(price(b, "x", "USD", true, "2024").has_value());
  // The newest quote is sixteen months old then: the list price counts.
  EXPECT_EQ(price(b, "x", "USD", true, "2026-08-31")->basis, PriceBasis::list);
}

TEST(Purchase, IsInWholeMachines) {
  Purchase p;
  p.amount = 400;
  p.cards = 8;
  EXPECT_EQ(p.each(), 50);
  EXPECT_EQ(p.whole(0), 0);
  EXPECT_EQ(p.whole(1), 400);
  EXPECT_EQ(p.whole(8), 400);
  EXPECT_EQ(p.whole(9), 800);
  EXPECT_EQ(p.affordable(399, 100), 0);
  EXPECT_EQ(p.affordable(400, 100), 8);
  EXPECT_EQ(p.affordable(1199, 100), 16);
  EXPECT_EQ(p.affordable(1e9, 100), 100);
}

class Bought : public testing::Test {
 protected:
  [[nodiscard]] std::optional<Purchase> of(const char* id, const PriceQuestion& q = {}) const {
    return must(purchase_of(*must(cards.find(id)), q, prices, hosts));
  }
  Image image = must(Image::open(CAIRN_IMAGE_FILE));
  AcceleratorCatalogue cards = must(AcceleratorCatalogue::load(image));
  HostCatalogue hosts = must(HostCatalogue::load(image));
  PriceBook prices = must(PriceBook::load(image));
};

// RX 9070 XT: street quotes of August and September 2026 of 650, 692, 700 and 950 USD have
// the median 696; its list price of 599 USD
// (https://www.svethardware.cz/amd-uvadi-radeon-rx-9070-xt-s-vykonem-rtx-5070-ti-za-599-usd/61635)
// is history. In yuan JD asks 5,699.
TEST_F(Bought, StreetQuotesCountBeforeListPrices) {
  const Purchase dollars = *of("rx-9070-xt");
  EXPECT_NEAR(dollars.amount, 696, 1e-9);
  EXPECT_EQ(dollars.quotes, 4);
  EXPECT_EQ(dollars.low, 650);
  EXPECT_EQ(dollars.high, 950);
  EXPECT_FALSE(dollars.confirmed);
  const Purchase yuan = *of("rx-9070-xt", {"CNY", "", {}});
  EXPECT_EQ(yuan.amount, 5699);
  EXPECT_EQ(yuan.quoted_in, "CNY");
  // RX 7900 XTX: 929 and 1,000 USD; 7,299 and 8,000 CNY new, 6,788 used.
  EXPECT_NEAR(of("rx-7900-xtx")->amount, 964.5, 1e-9);
  EXPECT_NEAR(of("rx-7900-xtx", {"CNY", "", {}})->amount, 7649.5, 1e-9);
  // AMD's list price (https://www.c114pro.com/terminal/80230.html), nothing newer.
  EXPECT_EQ(of("rx-9060-xt-8gb")->amount, 299);
  EXPECT_EQ(of("rx-9060-xt-8gb")->basis, PriceBasis::list);
  EXPECT_FALSE(of("mi308x").has_value());
}

// A DGX B200 costs 515,000 USD (https://vengineer.hatenablog.com/entry/2025/03/16/080000): the
// price of eight B200, whatever the bare module costs. Of AMD's nodes no price is known: eight
// modules are what the data allow, and that is said.
TEST_F(Bought, ModulesAreSoldInMachines) {
  const Purchase b200 = *of("b200-sxm");
  EXPECT_EQ(b200.amount, 515000);
  EXPECT_EQ(b200.cards, 8);
  EXPECT_EQ(b200.machine, "dgx-b200");
  EXPECT_FALSE(b200.bare);
  EXPECT_NEAR(b200.each(), 64375, 1e-9);
  const Purchase mi300x = *of("mi300x");
  EXPECT_EQ(mi300x.cards, 8);
  EXPECT_TRUE(mi300x.bare);
  EXPECT_EQ(mi300x.machine, "");
  EXPECT_NEAR(mi300x.amount, 8 * 15000, 1e-9);
  // HSBC's average selling prices of 2025: 23,000 USD, 25,000 before
  // (https://parameter.io/advanced-micro-devices-amd-stock-why-analysts-stay-bullish-despite-price-cut).
  const Purchase mi355x = *of("mi355x");
  EXPECT_EQ(mi355x.basis, PriceBasis::estimate);
  EXPECT_NEAR(mi355x.each(), 24000, 1e-9);
  // A PCIe card is sold alone; a box that comes with its accelerator is its price.
  EXPECT_EQ(of("mi210")->cards, 1);
  EXPECT_EQ(of("ryzen-ai-max-395")->cards, 1);
}

TEST_F(Bought, AGivenPriceCountsBeforeAnyQuote) {
  const PriceQuestion q{"CNY", "", {{"rx-9070-xt", 700, "USD"}, {"mi300x", 20000, ""}}};
  const Purchase p = *of("rx-9070-xt", q);
  EXPECT_EQ(p.basis, PriceBasis::given);
  EXPECT_NEAR(p.amount, must(prices.convert(700, "USD", "CNY")), 1e-9);
  EXPECT_EQ(p.quotes, 0);
  // Of one card, as it was said.
  EXPECT_EQ(of("mi300x", q)->amount, 20000);
  EXPECT_EQ(of("mi300x", q)->cards, 1);
  EXPECT_EQ(of("rx-9070", q)->basis, PriceBasis::street);
}

// Framework asks 1,999 USD for its desktop with 128 GB
// (https://matthewjayhunter.com/post/reviews/hardware/framework_desktop).
TEST_F(Bought, MachinesHavePrices) {
  const auto machine = [this](const char* id) {
    return must(purchase_of(*must(hosts.find(id)), {}, prices));
  };
  EXPECT_EQ(machine("framework-desktop")->amount, 1999);
  EXPECT_EQ(machine("dgx-spark-box")->basis, PriceBasis::street);
  // Between 300,000 and 350,000 USD (https://v2-pseo-ai.pages.dev/tools/gpu-tco-analysis).
  EXPECT_EQ(machine("dgx-h100")->amount, 325000);
  EXPECT_FALSE(machine("mi300x-8x").has_value());
}

}  // namespace
}  // namespace cairn
