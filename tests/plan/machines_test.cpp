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

// What a deployment asks of its machine with one request of so many positions.
HostRequest request_of(const Deployment& d, std::int64_t context) {
  const MemoryDemand demand = memory_demand(d, context, 1);
  return host_request(d, must(estimate_memory(demand, *d.engine, *d.accelerator)), 1);
}
Machines machines(const Deployment& d, const OwnedHost* owned) {
  return must(machines_of(request_of(d, 4096), owned, knowledge(), {}));
}

TEST(Machines, SixteenOamCardsAreTwoNodes) {
  const Deployment d = deployment("llama-3.1-70b", request("mi300x", "vllm", "", {.dp = 16}));
  const Machines m = machines(d, nullptr);
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
  const Machines bad = machines(d, &weak);
  ASSERT_TRUE(bad.check.has_value());
  EXPECT_FALSE(bad.check->fits);
  EXPECT_GE(bad.need.supply->value(), 800);
  EXPECT_TRUE(machines(d, &strong).check->fits);
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
  EXPECT_FALSE(machines(d, &host).check->fits);
  host.ram = gib(128);
  EXPECT_TRUE(machines(d, &host).check->fits);
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

// The memory of an APU holds the cache too: 128 Ki positions of Llama 3.1 8B in 16 bits are
//   131072 x 2 (K, V) x 32 layers x 8 heads x 128 x 2 bytes = 16 GiB
// beside its weights.
TEST(Machines, AnApuNeedsItsCacheInRam) {
  const Deployment d = deployment("llama-3.1-8b", request("ryzen-ai-max-395", "llama.cpp"));
  const auto working = [&](std::int64_t context, std::int64_t sequences) {
    MemoryDemand demand = memory_demand(d, context, sequences);
    const MemoryEstimate m = must(estimate_memory(demand, *d.engine, *d.accelerator));
    return host_request(d, m, static_cast<double>(sequences)).working;
  };
  EXPECT_GT(working(131072, 1), gib(16));
  EXPECT_LT(working(131072, 1), gib(18));
  EXPECT_GT(working(65536, 2), gib(16));
  const HostNeed need = must(host_need(request_of(d, 131072), knowledge().host_rules));
  EXPECT_GT(need.ram_least, d.weights.total(*d.model.graph) + gib(16));
  OwnedHost host;
  host.ram = need.ram_least - gib(1);
  EXPECT_FALSE(check_host(need, host).fits);
  // Of a card only the machine's own memory is asked for.
  const Deployment card = deployment("llama-3.1-8b", request("rx-7900-xtx", "llama.cpp"));
  EXPECT_EQ(must(host_need(request_of(card, 131072), knowledge().host_rules)).ram_least,
            must(host_need(request_of(card, 1024), knowledge().host_rules)).ram_least);
}

// A plan ranks an APU whose memory does not hold the cache behind what stands there.
TEST(Machines, APlanCountsTheCacheOfAnApu) {
  PlanRequest r;
  r.workload.input = 100000;
  r.workload.output = 256;
  r.constraints.accelerators = {"ryzen-ai-max-395"};
  r.constraints.engines = {"llama.cpp"};
  r.constraints.formats = {"q4_k_m"};
  r.constraints.kv = "fp16";
  r.constraints.host = OwnedHost{};
  r.constraints.host->ram = gib(16);
  const auto lacks = [&] {
    const Plan plan = must(make_plan(test::model("llama-3.1-8b"), r, knowledge()));
    EXPECT_EQ(plan.ranked.size(), 1U);
    return plan.ranked.front().lacks();
  };
  EXPECT_TRUE(lacks());
  r.constraints.host->ram = gib(64);
  EXPECT_FALSE(lacks());
  r.constraints.host->ram = gib(16);
  r.workload.input = 512;
  EXPECT_FALSE(lacks());
}

}  // namespace
}  // namespace cairn
