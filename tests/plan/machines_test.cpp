// The machines of a plan.
#include "cairn/plan/machines.h"

#include <gtest/gtest.h>

#include "../predict/fixture.h"
#include "cairn/plan/plan.h"

namespace cairn {
namespace {

using test::deployment;
using test::knowledge;
using test::must;
using test::request;

TEST(Machines, SixteenOamCardsAreTwoNodes) {
  const Deployment d = deployment("llama-3.1-70b", request("mi300x", "vllm", "", {.dp = 16}));
  const Machines m = must(machines_of(d, nullptr, knowledge(), "USD"));
  EXPECT_EQ(m.need.hosts, 2);
  EXPECT_EQ(m.need.cards_per_host, 8);
  EXPECT_EQ(m.need.kind, HostKind::node);
  EXPECT_FALSE(m.host.empty());
  EXPECT_FALSE(m.check.has_value());
  // 8 x 750 W for the cards alone.
  EXPECT_GT(m.power->value(), 2 * 8 * 750);
}

// AMD recommends 800 W for one RX 7900 XTX
// (https://www.amd.com/en/products/graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xtx.html).
TEST(Machines, AreCheckedAgainstWhatIsOwned) {
  const Deployment d = deployment("llama-3.1-8b", request("rx-7900-xtx", "llama.cpp"));
  OwnedHost weak;
  weak.supply = Watts(300);
  weak.slots = 1;
  OwnedHost strong = weak;
  strong.supply = Watts(1000);
  strong.ram = gib(64);
  const Machines bad = must(machines_of(d, &weak, knowledge(), "USD"));
  ASSERT_TRUE(bad.check.has_value());
  EXPECT_FALSE(bad.check->fits);
  EXPECT_GE(bad.need.supply->value(), 800);
  EXPECT_TRUE(must(machines_of(d, &strong, knowledge(), "USD")).check->fits);
}

// The memory of an APU is the machine's: the 4-bit weights of gpt-oss-120b are 59 GiB and more
// (its files have 65.2 GB, https://huggingface.co/openai/gpt-oss-120b), which 16 GiB do not hold
// and 128 GiB do. It has no supply or slots of its own to check.
TEST(Machines, AnApuNeedsItsModelInRam) {
  const Deployment d = deployment("gpt-oss-120b", request("ryzen-ai-max-395", "llama.cpp"));
  OwnedHost host;
  host.supply = Watts(1);
  host.slots = 0;
  host.ram = gib(16);
  EXPECT_FALSE(must(machines_of(d, &host, knowledge(), "USD")).check->fits);
  host.ram = gib(128);
  EXPECT_TRUE(must(machines_of(d, &host, knowledge(), "USD")).check->fits);
}

TEST(Machines, WhatStandsInTheOwnedMachineComesFirst) {
  PlanRequest r;
  r.constraints.accelerators = {"rx-9070", "rx-7900-xtx", "rtx-5090"};
  r.constraints.host = OwnedHost{};
  r.constraints.host->supply = Watts(650);
  r.constraints.host->slots = 1;
  r.objective = Objective::latency;
  r.top = 100;
  const Plan plan = must(make_plan(test::model("llama-3.1-8b"), r, knowledge()));
  ASSERT_GT(plan.ranked.size(), 3U);
  EXPECT_FALSE(plan.ranked.front().lacks());
  bool lacking = false;
  for (const Candidate& c : plan.ranked) {
    ASSERT_TRUE(c.machines.check.has_value());
    EXPECT_TRUE(!lacking || c.lacks());  // once one lacks, all that follow do
    lacking = lacking || c.lacks();
    // One slot takes one card.
    EXPECT_TRUE(c.lacks() || c.cards == 1);
  }
  r.exhaustive = true;
  const Plan all = must(make_plan(test::model("llama-3.1-8b"), r, knowledge()));
  ASSERT_EQ(all.ranked.size(), plan.ranked.size());
  for (std::size_t i = 0; i < all.ranked.size(); ++i) {
    EXPECT_EQ(all.ranked[i].prediction.accelerator, plan.ranked[i].prediction.accelerator);
    EXPECT_EQ(all.ranked[i].prediction.weights, plan.ranked[i].prediction.weights);
    EXPECT_EQ(all.ranked[i].cards, plan.ranked[i].cards);
  }
}

// A box that is sold with its accelerator is the price of the accelerator.
TEST(Machines, ABoxIsThePriceOfItsAccelerator) {
  const Accelerator& a = test::accelerator("gb10");
  const auto box = place_price(a, knowledge());
  ASSERT_TRUE(box.has_value());
  EXPECT_EQ(box->amount, knowledge().prices.purchase_host("dgx-spark-box")->amount);
  EXPECT_FALSE(place_price(test::accelerator("rx-9070"), knowledge()).has_value());
}

}  // namespace
}  // namespace cairn
