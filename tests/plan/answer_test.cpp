// What a plan says beside its ranking: what is paid, engines against each other, formats.
#include <gtest/gtest.h>

#include "fixture.h"

namespace cairn {
namespace {

using test::knowledge;
using test::metric;
using test::model;
using test::must;
using test::planned;
using test::request_for;

// One of two cards is owned and the other costs 900: over three years 300 a year, and at
// 0.10 a kWh and half of the time at work
//   8766 h x (0.5 load + 0.5 idle) W x 2 / 1000 x 0.10
// for electricity; tokens are made in half of 8766 x 3600 s.
TEST(Plan, CountsOnlyTheCardThatIsToBuy) {
  PlanRequest r = request_for(512, 128);
  r.constraints.owned = {{"rx-7900-xtx", 1}};
  r.constraints.accelerators = {"rx-7900-xtx"};
  r.constraints.engines = {"llama.cpp"};
  r.constraints.formats = {"q4_k_m"};
  r.constraints.max_cards = 2;
  r.terms.electricity_per_kwh = 0.10;
  r.terms.prices = {{"rx-7900-xtx", 900, "USD"}};
  const Plan plan = planned("llama-3.1-70b", r);
  ASSERT_FALSE(plan.ranked.empty());
  const Candidate& c = plan.ranked.front();
  ASSERT_EQ(c.cards, 2);
  ASSERT_TRUE(c.prediction.power && c.yearly_cost && c.prediction.money.owned_per_mtok);
  const double watts =
      0.5 * c.prediction.power->load.value() + 0.5 * c.prediction.power->idle.value();
  const double year = 300 + 8766 * watts * 2 / 1000 * 0.10;
  const double mtok = metric(c, "output_tokens_per_s") * 8766 * 3600 * 0.5 / 1e6;
  EXPECT_NEAR(*c.yearly_cost, year, 1e-6 * year);
  EXPECT_NEAR(*c.prediction.money.owned_per_mtok, year / mtok, 1e-6 * year / mtok);
}

double value_of_token(const Candidate& c) {
  return *c.yearly_cost / metric(c, "output_tokens_per_s");
}

// A verdict between engines is that of plans for either engine alone in the very formats.
TEST(Plan, SetsEnginesAgainstEachOtherInTheSameFormats) {
  PlanRequest r = request_for(1024, 256);
  r.workload.context = 8192;
  r.constraints.accelerators = {"rtx-5070", "rx-7900-xtx", "mi300x"};
  const Plan plan = planned("llama-3.1-8b", r);
  ASSERT_EQ(plan.contests.size(), 3U);
  int verdicts = 0;
  for (const Contest& c : plan.contests) {
    EXPECT_EQ(c.same_formats(), c.ratio.has_value()) << c.accelerator;
    if (!c.ratio) continue;
    ++verdicts;
    PlanRequest one = r;
    one.constraints.accelerators = {c.accelerator};
    one.constraints.formats = {c.weights};
    one.constraints.kv = c.kv;
    one.constraints.engines = {c.better};
    const Plan better = planned("llama-3.1-8b", one);
    one.constraints.engines = {c.other};
    const Plan other = planned("llama-3.1-8b", one);
    ASSERT_TRUE(!better.ranked.empty() && !other.ranked.empty()) << c.accelerator;
    EXPECT_GE(*c.ratio, 1) << c.accelerator;
    EXPECT_NEAR(*c.ratio,
                value_of_token(other.ranked.front()) / value_of_token(better.ranked.front()), 1e-9)
        << c.accelerator;
  }
  EXPECT_GT(verdicts, 0);
}

// GGUF files and checkpoints have no format in common: no percentage.
TEST(Plan, GivesNoVerdictBetweenDifferentFormats) {
  PlanRequest r = request_for(1024, 256);
  r.constraints.accelerators = {"rx-7900-xtx"};
  r.constraints.engines = {"llama.cpp", "vllm"};
  const Plan plan = planned("llama-3.1-8b", r);
  ASSERT_EQ(plan.contests.size(), 1U);
  EXPECT_FALSE(plan.contests.front().ratio.has_value());
  EXPECT_NE(plan.contests.front().weights, plan.contests.front().other_weights);
}

TEST(Plan, SaysHowTheFormatCameAbout) {
  PlanRequest r = request_for(512, 128);
  r.constraints.accelerators = {"rx-7900-xtx"};
  r.objective = Objective::cost;
  EXPECT_EQ(planned("llama-3.1-8b", r).format_choice, FormatChoice::largest);
  r.objective = Objective::latency;
  EXPECT_EQ(planned("llama-3.1-8b", r).format_choice, FormatChoice::objective);
  r.constraints.formats = {"q4_k_m"};
  EXPECT_EQ(planned("llama-3.1-8b", r).format_choice, FormatChoice::given);
}

// Eight partitions of an MI300X in CPX mode are one card
// (https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/mi300x/overview.html).
TEST(Plan, PlansForPartitions) {
  PlanRequest r = request_for(512, 128);
  r.constraints.accelerators = {"mi300x/cpx/nps4"};
  r.constraints.engines = {"vllm"};
  r.constraints.max_cards = 1;
  r.workload.concurrency = 8;
  const Plan plan = planned("llama-3.1-8b", r);
  ASSERT_EQ(plan.ranked.size(), 1U);
  const Candidate& c = plan.ranked.front();
  EXPECT_EQ(c.cards, 1);
  EXPECT_LE(c.prediction.layout.devices(), 8);
  r.constraints.accelerators = {"helios"};
  EXPECT_FALSE(make_plan(model("llama-3.1-8b"), r, knowledge()).has_value());
}

// Seven modules of a base board of eight: their share is 7/8 of what has to be bought,
// which is what the plan counts.
TEST(Plan, AndPredictionPriceTheSame) {
  DeploymentRequest d;
  d.accelerator = &test::accelerator("mi355x");
  d.engine = &test::engine("vllm");
  d.weights = "fp8";
  d.layout = {.dp = 7};
  const Prediction p = must(predict(must(resolve(model("llama-3.1-70b"), d, knowledge())),
                                    request_for(512, 128).workload, {}, knowledge()));
  ASSERT_TRUE(p.money.purchase && p.money.purchase_whole);
  EXPECT_NEAR(*p.money.purchase / *p.money.purchase_whole, 7.0 / 8, 1e-9);
  PlanRequest r = request_for(512, 128);
  r.constraints.accelerators = {"mi355x"};
  r.constraints.engines = {"vllm"};
  r.constraints.formats = {"fp8"};
  r.constraints.max_cards = 1;
  const Plan plan = planned("llama-3.1-70b", r);
  ASSERT_EQ(plan.ranked.size(), 1U);
  ASSERT_TRUE(plan.ranked.front().price);
  EXPECT_NEAR(*plan.ranked.front().price, *p.money.purchase_whole, 1e-6);
}

// With 15.9 GiB a 27B model in IQ3_M and a 16-bit cache of 65,536 positions ran out of memory
// at once (https://github.com/TheTom/llama-cpp-turboquant/pull/90): that is no plain yes.
TEST(Plan, MarksWhatFitsNarrowly) {
  PlanRequest r = request_for(1024, 256);
  r.workload.context = 65536;
  r.constraints.accelerators = {"rx-9070-xt"};
  r.constraints.engines = {"llama.cpp"};
  r.constraints.formats = {"iq3_m"};
  r.constraints.kv = "fp16";
  r.constraints.max_cards = 1;
  const Plan one = planned("qwen3.5-27b", r);
  for (const Candidate& c : one.ranked) EXPECT_TRUE(c.narrow());
  // With smaller formats to choose from, one that leaves room comes first.
  r.constraints.formats = {"iq3_m", "iq2_m"};
  const Plan two = planned("qwen3.5-27b", r);
  ASSERT_FALSE(two.ranked.empty());
  EXPECT_EQ(two.ranked.front().prediction.weights, "iq2_m");
  EXPECT_FALSE(two.ranked.front().narrow());
}

}  // namespace
}  // namespace cairn
