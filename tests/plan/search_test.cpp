// Branch and bound against evaluating every candidate.
#include "cairn/plan/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "../predict/fixture.h"
#include "cairn/plan/bounds.h"
#include "cairn/plan/plan.h"

namespace cairn {
namespace {

using test::knowledge;
using test::model;
using test::must;

constexpr std::array kModels{"llama-3.1-8b",  "llama-3.1-70b", "qwen3-14b",
                             "qwen3-30b-a3b", "gpt-oss-20b",   "gemma-3-27b",
                             "deepseek-v3",   "qwen2.5-0.5b",  "mixtral-8x7b"};
constexpr std::array kAccelerators{
    "mi300x",     "mi355x",        "mi250",         "mi210",           "rx-7900-xtx",
    "rx-9070-xt", "rx-6900-xt",    "pro-w7900",     "h100-sxm",        "b200-sxm",
    "rtx-4090",   "rtx-3060-12gb", "a100-80gb-sxm", "ryzen-ai-max-395"};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  double between(double low, double high) {
    const double u = static_cast<double>(random_() % 10'000) / 10'000;
    return low * std::pow(high / low, u);  // alike on every scale
  }

 private:
  std::mt19937 random_;
};

PlanRequest problem(Dice& dice, std::string& name) {
  name = kModels[dice.below(kModels.size())];
  PlanRequest r;
  r.top = 1000;
  r.threads = 1;
  Constraints& c = r.constraints;
  const std::size_t cards = 1 + dice.below(2);
  for (std::size_t i = 0; i < cards; ++i) {
    c.accelerators.emplace_back(kAccelerators[dice.below(kAccelerators.size())]);
  }
  c.max_cards = static_cast<std::int64_t>(dice.between(1, 40));
  r.workload.input = std::floor(dice.between(32, 6000));
  r.workload.output = std::floor(dice.between(1, 800));
  if (dice.one_in(2)) {
    r.workload.rate = dice.between(0.05, 60);
  } else {
    r.workload.concurrency = std::floor(dice.between(1, 300));
  }
  if (dice.one_in(3)) c.ttft_ms = dice.between(50, 20'000);
  if (dice.one_in(3)) c.tpot_ms = dice.between(5, 200);
  if (dice.one_in(6)) c.tokens_per_s = dice.between(2, 80);
  if (dice.one_in(4)) c.budget = dice.between(300, 400'000);
  if (dice.one_in(6)) c.power_w = dice.between(200, 20'000);
  if (dice.one_in(6)) c.owned = {{c.accelerators.front(), 2}};
  if (dice.one_in(3)) c.kv = "fp16";
  constexpr std::array kObjectives{Objective::cost, Objective::price, Objective::latency,
                                   Objective::throughput, Objective::energy};
  r.objective = kObjectives[dice.below(kObjectives.size())];
  return r;
}

std::string told(const Plan& plan) {
  std::string out;
  for (const Candidate& c : plan.ranked) {
    const Prediction& p = c.prediction;
    const Metric* tpot = p.metric("tpot_ms_mean");
    out += fmt::format("{} x {} {} {} {} {} price {} year {} tpot {}\n", c.cards, p.accelerator,
                       p.engine, p.weights, p.kv, p.layout.to_string(), c.price.value_or(-1),
                       c.yearly_cost.value_or(-1), tpot != nullptr ? tpot->value : 0);
  }
  for (const Rejection& r : plan.rejections) {
    out += fmt::format("without {}: {} {} > {} {}\n", r.accelerator, r.constraint, r.needed,
                       r.limit, r.reason);
  }
  return out;
}

TEST(Search, IsThatOfEveryCandidate) {
  constexpr int kProblems = 60;
  Dice dice(20261130);
  int answered = 0;
  SearchCounts pruned;
  SearchCounts all;
  for (int i = 0; i < kProblems; ++i) {
    std::string name;
    PlanRequest r = problem(dice, name);
    const ModelInput m = model(name);
    const Plan quick = must(make_plan(m, r, knowledge()));
    r.exhaustive = true;
    const Plan slow = must(make_plan(m, r, knowledge()));
    EXPECT_EQ(told(quick), told(slow))
        << "problem " << i << ": " << name << ", objective " << name_of(*r.objective) << ", "
        << (r.workload.rate ? fmt::format("{} req/s", *r.workload.rate)
                            : fmt::format("{} requests", r.workload.concurrency))
        << " of " << r.workload.input << " + " << r.workload.output << " tokens on "
        << r.constraints.max_cards << " cards";
    answered += slow.ranked.empty() ? 0 : 1;
    pruned += quick.counts;
    all += slow.counts;
  }
  // The problems are neither all out of reach nor all without limits.
  EXPECT_GT(answered, kProblems / 3);
  EXPECT_LT(answered, kProblems);
  // Bounds leave out most of what evaluating everything evaluates.
  EXPECT_LT(3 * pruned.evaluated, all.evaluated);
}

TEST(Search, CountsEveryCandidateOnce) {
  Dice dice(7);
  for (int i = 0; i < 20; ++i) {
    std::string name;
    PlanRequest r = problem(dice, name);
    for (const bool exhaustive : {false, true}) {
      r.exhaustive = exhaustive;
      const SearchCounts c = must(make_plan(model(name), r, knowledge())).counts;
      EXPECT_EQ(c.considered, c.too_large + c.excluded + c.dominated + c.evaluated);
      EXPECT_TRUE(!exhaustive || c.dominated == 0);
    }
  }
}

TEST(Search, DoesNotDependOnTheNumberOfThreads) {
  PlanRequest r;
  r.workload.rate = 8;
  r.workload.input = 1500;
  r.constraints.tpot_ms = 60;
  r.constraints.vendor = "amd";
  r.top = 1000;
  std::string one;
  for (const unsigned threads : {1U, 2U, 5U}) {
    r.threads = threads;
    const Plan plan = must(make_plan(model("qwen3-30b-a3b"), r, knowledge()));
    if (threads == 1) one = told(plan);
    EXPECT_EQ(told(plan), one);
    EXPECT_FALSE(one.empty());
  }
}

// 4 requests per second of 1000 tokens in and 101 out on llama-3.1-8b in bf16, one
// MI300X: 16.06 GB of weights stream at 5.3 TB/s at most, 3.03 ms a step; a prompt has
// 2 * 7.5e9 * 1000 FLOPs in its matrices without the head, 1.15 % of a second at 1307
// TFLOPS.
TEST(Bounds, AreTheDataSheets) {
  const ModelInput m = model("llama-3.1-8b");
  Workload w;
  w.input = 1000;
  w.output = 101;
  const Accelerator& a = test::accelerator("mi300x");
  KernelParameters k = must(knowledge().cost.parameters("vllm", a, {}));
  k.memory_efficiency.value = 1;
  k.launch.value = 0;
  k.step.value = 0;
  k.attention_prefill.value = 1;
  k.attention_compute = ComputeType::f16;
  for (auto& typed : k.paths) {
    typed.path.efficiency.value = 1;
    typed.path.compute = ComputeType::f16;
  }
  const BoundWeights weights = must(knowledge().weight_formats.bind(*m.graph, "bf16"));
  const WorkOfModel work = WorkOfModel::of(*m.graph, w);
  const WorkOfFormat format = WorkOfFormat::of(*m.graph, weights, w);
  // The input table, 128256 x 4096 of 2 bytes, is looked up and not streamed.
  EXPECT_NEAR(format.total.value(), 8.03e9 * 2, 0.01e9);
  EXPECT_NEAR(format.streamed.value(), 8.03e9 * 2 - 128256.0 * 4096 * 2, 0.01e9);
  const FormatRates rates = FormatRates::of(work, format, a, k);
  const auto links = must(CollectiveModel::between(a, 8, knowledge().cost));
  const auto bounds = [&](Layout layout) {
    return Bounds(work, format, rates, layout, a, k, links, knowledge().cost.power(), w);
  };
  const Bounds one = bounds({});
  EXPECT_NEAR(in_ms(one.step(1)), format.streamed.value() / 5.3e12 * 1e3, 0.05);
  EXPECT_NEAR(one.prompt().value(), 2 * 7e9 * 1000 / 1307e12, 0.1 * 0.0107);
  // Eight cards share the weights, and sum 4096 numbers of 2 bytes twice in each of 32
  // layers; eight stages have them in turn.
  const Seconds sums = 64 * links.all_reduce(Bytes(4096 * 2), 8);
  EXPECT_NEAR(in_ms(bounds({.tp = 8}).step(1)), in_ms(one.step(1)) / 8 + in_ms(sums), 1e-6);
  EXPECT_NEAR(in_ms(bounds({.pp = 8}).step(1)), in_ms(one.step(1)), 1e-6);
  // A second request brings a prompt between the steps.
  EXPECT_NEAR((one.tpot(2) - one.tpot(1)).value(), one.prompt().value() / 100, 1e-9);
  EXPECT_NEAR(one.most_within(one.tpot(5)), 5, 1e-9);
}

}  // namespace
}  // namespace cairn
