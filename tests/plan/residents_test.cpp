// Several models on the same cards.
#include "cairn/plan/residents.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../predict/fixture.h"

namespace cairn {
namespace {

using test::knowledge;
using test::must;

Resident resident(const char* model, std::optional<double> rate, const char* weights = "") {
  Resident r;
  r.model = model;
  r.workload.input = 500;
  r.workload.output = 101;
  r.workload.rate = rate;
  if (*weights != 0) r.formats = {weights};
  return r;
}

ResidentsRequest on(const char* gpu, const char* engine, std::vector<Resident> residents) {
  ResidentsRequest r;
  r.residents = std::move(residents);
  r.constraints.accelerators = {gpu};
  r.constraints.engines = {engine};
  r.constraints.max_cards = 1;
  return r;
}

// Of llama.cpp every process allocates what it has alone: together they hold the sum.
TEST(Residents, HoldTheSumOfWhatEachHolds) {
  const auto plan = must(plan_residents(
      on("pro-w7900", "llama.cpp",
         {resident("llama-3.1-8b", 0.1, "q4_k_m"), resident("qwen3-14b", 0.1, "q4_k_m")}),
      knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  const ResidentsCandidate& c = plan.ranked.front();
  ASSERT_EQ(c.residents.size(), 2U);
  Bytes sum{};
  for (const ResidentFit& f : c.residents) {
    EXPECT_EQ(f.memory, f.alone.memory.devices.front().total);
    sum += f.memory;
  }
  EXPECT_EQ(c.used, sum);
  EXPECT_LE(c.used, c.usable);
}

// Of a card without a known link to another one only one can be used: where that is too
// small it is left out, with the reason, and the others are ranked.
TEST(Residents, LeaveOutACardWithoutALink) {
  ResidentsRequest r = on("gh200-144gb", "llama.cpp", {resident("deepseek-v3", 0.001, "q4_k_m")});
  r.constraints.accelerators.emplace_back("mi300x");
  r.constraints.max_cards = 8;
  const auto plan = must(plan_residents(r, knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  EXPECT_EQ(plan.ranked.front().accelerator, "mi300x");
  ASSERT_EQ(plan.rejections.size(), 1U);
  EXPECT_EQ(plan.rejections.front().constraint, "support");
  EXPECT_NE(plan.rejections.front().reason.find("no link"), std::string::npos);
}

// Two models that are busy b1 and b2 of the time: each waits for the other's part.
TEST(Residents, WaitForEachOther) {
  const auto plan = must(plan_residents(
      on("mi300x", "vllm", {resident("llama-3.1-8b", 2), resident("qwen3-14b", 1)}), knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  const auto& fits = plan.ranked.front().residents;
  EXPECT_GT(fits[0].busy, 0);
  EXPECT_LT(fits[0].busy + fits[1].busy, 1);
  EXPECT_NEAR(fits[0].slowdown, 1 / (1 - fits[1].busy), 1e-12);
  EXPECT_NEAR(fits[1].slowdown, 1 / (1 - fits[0].busy), 1e-12);
  EXPECT_NEAR(fits[0].tpot_ms(), fits[0].alone.metric("tpot_ms_mean")->value / (1 - fits[1].busy),
              1e-9);
  EXPECT_NEAR(fits[0].output_tokens_per_s, 2 * 101, 1e-9);
}

// Without rates the time is divided: shares as asked, the rest in equal parts.
TEST(Residents, DivideTheTime) {
  auto request =
      on("mi300x", "vllm",
         {resident("llama-3.1-8b", {}), resident("qwen3-14b", {}), resident("qwen3-8b", {})});
  request.residents[0].share = 0.5;
  const auto plan = must(plan_residents(request, knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  const auto& fits = plan.ranked.front().residents;
  EXPECT_DOUBLE_EQ(fits[0].busy, 0.5);
  EXPECT_DOUBLE_EQ(fits[1].busy, 0.25);
  EXPECT_DOUBLE_EQ(fits[2].busy, 0.25);
  EXPECT_NEAR(fits[1].output_tokens_per_s, fits[1].alone.metric("output_tokens_per_s")->value / 4,
              1e-9);
}

// The largest formats that fit together: on a larger card no model gets fewer bits.
TEST(Residents, TakeTheLargestFormatsThatFit) {
  const std::vector<Resident> three{resident("qwen3-14b", 0.01), resident("llama-3.1-8b", 0.01),
                                    resident("qwen3-8b", 0.01)};
  const auto small = must(plan_residents(on("rx-7900-xtx", "llama.cpp", three), knowledge()));
  const auto large = must(plan_residents(on("pro-w7900", "llama.cpp", three), knowledge()));
  ASSERT_EQ(small.ranked.size(), 1U);
  ASSERT_EQ(large.ranked.size(), 1U);
  const auto least = [](const ResidentsCandidate& c) {
    return std::ranges::min(c.residents, {}, &ResidentFit::bits_per_weight).bits_per_weight;
  };
  EXPECT_GT(least(large.ranked.front()), least(small.ranked.front()));
  for (const ResidentFit& f : large.ranked.front().residents) EXPECT_EQ(f.alone.weights, "q8_0");
}

// Three models in 20 GB: one sigma of llama.cpp's memory is 2 % (docs/memory.md), so that
// of 20 GB 19.6 are filled at most where smaller formats do.
TEST(Residents, LeaveRoomForTheErrorOfTheEstimate) {
  const auto plan =
      must(plan_residents(on("rx-7900-xt", "llama.cpp",
                             {resident("qwen3-14b", 0.01), resident("qwen2.5-coder-7b", 0.01),
                              resident("llama-3.2-3b", 0.01)}),
                          knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  const ResidentsCandidate& c = plan.ranked.front();
  EXPECT_LE(c.used * 1.02, c.usable);
  EXPECT_FALSE(c.narrow());
}

// 16 GB do not hold three times 14 billion weights of four bits, and the reason says so.
TEST(Residents, SayWhyTheyDoNotFit) {
  const auto plan = must(plan_residents(
      on("rx-9070-xt", "llama.cpp",
         {resident("qwen3-14b", 0.1), resident("qwen3-14b", 0.1), resident("qwen3-14b", 0.1)}),
      knowledge()));
  EXPECT_TRUE(plan.ranked.empty());
  ASSERT_EQ(plan.rejections.size(), 1U);
  EXPECT_EQ(plan.rejections.front().constraint, "memory");
  EXPECT_GT(plan.rejections.front().needed, plan.rejections.front().limit);
  // More than all of the time is more than a card can do.
  const auto busy = must(
      plan_residents(on("rx-7900-xtx", "llama.cpp",
                        {resident("llama-3.1-8b", 0.4, "q4_k_m"),
                         resident("qwen3-8b", 0.4, "q4_k_m"), resident("qwen3-8b", 0.4, "q4_k_m")}),
                     knowledge()));
  for (const ResidentsCandidate& c : busy.ranked) {
    double sum = 0;
    for (const ResidentFit& f : c.residents) sum += f.busy;
    EXPECT_LE(sum, 1 + 1e-9);
  }
}

// One machine for all of them: their processes, and on an APU their weights and caches,
// add up.
TEST(Residents, StandInOneMachine) {
  ResidentsRequest r =
      on("rx-7900-xtx", "llama.cpp",
         {resident("llama-3.1-8b", 0.1, "q4_k_m"), resident("qwen3-8b", 0.1, "q4_k_m")});
  r.constraints.host = OwnedHost{};
  r.constraints.host->supply = Watts(300);
  r.constraints.host->slots = 1;
  const auto weak = must(plan_residents(r, knowledge()));
  ASSERT_EQ(weak.ranked.size(), 1U);
  const Machines& m = weak.ranked.front().machines;
  // AMD recommends 800 W for this card
  // (https://www.amd.com/en/products/graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xtx.html).
  EXPECT_GE(m.need.supply->value(), 800);
  EXPECT_TRUE(weak.ranked.front().lacks());
  EXPECT_EQ(m.need.hosts, 1);
  r.residents.pop_back();
  const auto alone = must(plan_residents(r, knowledge()));
  // One process more takes its part of the RAM.
  EXPECT_EQ(m.need.ram_least - alone.ranked.front().machines.need.ram_least,
            knowledge().host_rules.ram_process);
  ResidentsRequest apu =
      on("ryzen-ai-max-395", "llama.cpp",
         {resident("llama-3.1-8b", 0.001, "q4_k_m"), resident("qwen3-8b", 0.001, "q4_k_m")});
  const auto shared = must(plan_residents(apu, knowledge()));
  ASSERT_EQ(shared.ranked.size(), 1U);
  EXPECT_GE(shared.ranked.front().machines.need.ram_least, shared.ranked.front().used);
}

// How engines other than llama.cpp and vLLM share memory is not modelled.
TEST(Residents, RefuseAnEngineByName) {
  const auto plan =
      plan_residents(on("mi300x", "sglang", {resident("llama-3.1-8b", 1)}), knowledge());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(plan.error().value, "sglang");
}

// 400 g of each kilowatt-hour.
TEST(Residents, CountTheirCarbon) {
  ResidentsRequest r = on("rx-7900-xtx", "llama.cpp", {resident("llama-3.1-8b", 0.1, "q4_k_m")});
  r.terms.co2_g_per_kwh = 400;
  const auto plan = must(plan_residents(r, knowledge()));
  ASSERT_EQ(plan.ranked.size(), 1U);
  EXPECT_NEAR(*plan.ranked.front().co2_kg_per_year, 0.4 * *plan.ranked.front().kwh_per_year, 1e-9);
}

}  // namespace
}  // namespace cairn
