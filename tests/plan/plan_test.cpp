#include "cairn/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "cairn/plan/comparison.h"
#include "cairn/plan/fit.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::knowledge;
using test::metric;
using test::model;
using test::must;
using test::planned;
using test::request_for;

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Job {
  const char* model;
  PlanRequest request;
};

std::vector<Job> jobs() {
  std::vector<Job> out;
  PlanRequest chat = request_for(2048, 256);
  chat.workload.rate = 4;
  chat.constraints.ttft_ms = 2000;
  chat.constraints.tpot_ms = 50;
  out.push_back({"llama-3.1-8b", chat});
  chat.constraints.power_w = 3000;
  chat.constraints.max_cards = 8;
  out.push_back({"llama-3.1-70b", chat});
  PlanRequest home = request_for(512, 256);
  home.constraints.tokens_per_s = 20;
  home.constraints.budget = 6000;
  home.constraints.budget_currency = "CNY";
  home.terms.currency = "CNY";
  out.push_back({"qwen2.5-14b", home});
  PlanRequest many = request_for(1000, 500);
  many.workload.concurrency = 64;
  many.constraints.vendor = "amd";
  many.constraints.tpot_ms = 100;
  out.push_back({"qwen3-30b-a3b", many});
  PlanRequest owned = request_for(1000, 500);
  owned.constraints.owned = {{"rx-7900-xtx", 2}};
  owned.constraints.budget = 500;
  out.push_back({"gpt-oss-20b", owned});
  // Fourteen heads: most splits are not possible.
  out.push_back({"qwen2.5-0.5b", request_for(100, 100)});
  return out;
}

const std::vector<Plan>& plans() {
  static const std::vector<Plan> kPlans = [] {
    std::vector<Plan> out;
    for (const Job& job : jobs()) out.push_back(planned(job.model, job.request));
    return out;
  }();
  return kPlans;
}

void check(const Candidate& c, const PlanRequest& r, const std::string& name) {
  const Constraints& k = r.constraints;
  const Prediction& p = c.prediction;
  const std::string what = name + " on " + p.accelerator + " with " + p.engine;
  EXPECT_TRUE(p.memory.fits) << what;
  EXPECT_LE(c.cards, k.max_cards) << what;
  EXPECT_EQ(c.cards, test::accelerator(p.accelerator).cards(p.layout.devices())) << what;
  EXPECT_LE(metric(c, "ttft_ms_mean", kNone), k.ttft_ms.value_or(1e9)) << what;
  EXPECT_LE(metric(c, "tpot_ms_mean", kNone), k.tpot_ms.value_or(1e9) * 1.000001) << what;
  if (k.tokens_per_s) {
    const double output = c.prediction.workload.output;
    const double request_ms =
        metric(c, "ttft_ms_mean", kNone) + (output - 1) * metric(c, "tpot_ms_mean", kNone);
    EXPECT_GE(1000 * output / request_ms, *k.tokens_per_s * 0.999999) << what;
  }
  if (k.budget) {
    ASSERT_TRUE(c.price.has_value()) << what;
    EXPECT_LE(must(knowledge().prices.convert(*c.price, r.terms.currency, k.budget_currency)),
              *k.budget * 1.000001)
        << what;
  }
  if (k.power_w) {
    const Accelerator& a = test::accelerator(p.accelerator);
    ASSERT_TRUE(a.board_power.has_value()) << what;
    EXPECT_LE(a.board_power->value() * p.layout.devices(), *k.power_w) << what;
  }
  EXPECT_TRUE(k.vendor.empty() || test::accelerator(p.accelerator).vendor == k.vendor) << what;
  if (r.workload.rate) {
    EXPECT_DOUBLE_EQ(metric(c, "requests_per_s", 0), *r.workload.rate) << what;
  }
  EXPECT_FALSE(p.announced) << what;
  EXPECT_TRUE(std::isfinite(metric(c, "tpot_ms_mean", kNone))) << what;
}

TEST(Plan, EveryCandidateKeepsTheConstraints) {
  for (std::size_t j = 0; j < plans().size(); ++j) {
    const Job job = jobs()[j];
    const Plan& plan = plans()[j];
    EXPECT_GT(plan.ranked.size(), 0U) << job.model;
    EXPECT_GT(plan.counts.evaluated, 0);
    for (const Candidate& c : plan.ranked) check(c, job.request, job.model);
  }
}

TEST(Plan, EveryAcceleratorIsRankedOrHasAReason) {
  for (std::size_t j = 0; j < plans().size(); ++j) {
    const Job job = jobs()[j];
    const Plan& plan = plans()[j];
    for (const Accelerator& a : knowledge().accelerators.all()) {
      const bool considered =
          a.is_gpu && a.status != Status::announced && a.status != Status::end_of_life &&
          (job.request.constraints.vendor.empty() || a.vendor == job.request.constraints.vendor);
      const bool ranked = std::ranges::any_of(
          plan.ranked, [&](const Candidate& c) { return c.prediction.accelerator == a.id; });
      const auto rejected = std::ranges::count(plan.rejections, a.id, &Rejection::accelerator);
      EXPECT_EQ(rejected + (ranked ? 1 : 0), considered ? 1 : 0) << job.model << " " << a.id;
    }
    for (const Rejection& r : plan.rejections) {
      EXPECT_FALSE(r.constraint.empty());
      EXPECT_EQ(r.constraint == "support", !r.reason.empty()) << r.accelerator;
    }
  }
}

TEST(Plan, RanksByWhatIsAskedFor) {
  PlanRequest r = request_for(1000, 300);
  r.workload.concurrency = 8;
  const auto value = [](const Candidate& c, Objective o) {
    switch (o) {
      case Objective::cost:  // without a rate, of a token
        return c.yearly_cost.value_or(kNone) / metric(c, "output_tokens_per_s", 0);
      case Objective::price:
        return c.price.value_or(kNone);
      case Objective::latency:
        return metric(c, "tpot_ms_mean", kNone);
      case Objective::throughput:
        return -metric(c, "output_tokens_per_s", 0);
      case Objective::energy:
        return metric(c, "energy_j_per_token", kNone);
    }
    return kNone;
  };
  for (const Objective o : {Objective::cost, Objective::price, Objective::latency,
                            Objective::throughput, Objective::energy}) {
    r.objective = o;
    const Plan plan = planned("llama-3.1-8b", r);
    ASSERT_GT(plan.ranked.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(plan.ranked, {}, [&](const Candidate& c) {
      return value(c, o);
    })) << name_of(o);
  }
}

// Two cards are owned: only electricity is paid for, 8766 hours a year of which the cards
// work for the share of the terms.
TEST(Plan, CountsWhatIsOwnedInTheCostOfTokens) {
  PlanRequest r = request_for(1000, 500);
  r.constraints.owned = {{"rx-7900-xtx", 2}};
  r.constraints.accelerators = {"rx-7900-xtx"};
  r.constraints.max_cards = 2;
  const Plan plan = planned("gpt-oss-20b", r);
  ASSERT_FALSE(plan.ranked.empty());
  const Candidate& c = plan.ranked.front();
  const CostFigures& m = c.prediction.money;
  EXPECT_EQ(c.price, 0);
  ASSERT_TRUE(c.yearly_cost && m.owned_per_mtok && m.energy_per_year);
  EXPECT_NEAR(*c.yearly_cost, *m.energy_per_year, 1e-9);
  const double tokens =
      metric(c, "output_tokens_per_s", 0) * 8766 * 3600 * r.terms.utilisation / 1e6;
  EXPECT_NEAR(*m.owned_per_mtok * tokens / *c.yearly_cost, 1, 1e-9);
}

// The Pareto front by the definition, over everything that qualifies.
TEST(Plan, MarksTheParetoFront) {
  for (const Plan& plan : plans()) {
    const auto axes = [](const Candidate& c) {
      return std::array{c.yearly_cost.value_or(kNone), metric(c, "tpot_ms_mean", kNone),
                        -metric(c, "output_tokens_per_s", 0),
                        metric(c, "energy_j_per_token", kNone)};
    };
    int front = 0;
    for (const Candidate& c : plan.ranked) {
      bool dominated = false;
      for (const Candidate& other : plan.ranked) {
        bool no_worse = true;
        for (std::size_t i = 0; i < 4; ++i) no_worse = no_worse && axes(other)[i] <= axes(c)[i];
        dominated = dominated || (no_worse && axes(other) != axes(c));
      }
      EXPECT_EQ(c.pareto, !dominated) << c.prediction.accelerator << " " << c.prediction.engine;
      front += c.pareto ? 1 : 0;
    }
    EXPECT_GT(front, 0);
  }
}

TEST(Plan, IsTheSameEveryTime) {
  for (std::size_t j = 0; j < plans().size(); ++j) {
    const Plan& a = plans()[j];
    const Plan b = planned(jobs()[j].model, jobs()[j].request);
    ASSERT_EQ(a.ranked.size(), b.ranked.size());
    EXPECT_EQ(a.counts, b.counts);
    for (std::size_t i = 0; i < a.ranked.size(); ++i) {
      EXPECT_EQ(a.ranked[i].prediction.accelerator, b.ranked[i].prediction.accelerator);
      EXPECT_EQ(a.ranked[i].prediction.weights, b.ranked[i].prediction.weights);
      EXPECT_EQ(a.ranked[i].yearly_cost, b.ranked[i].yearly_cost);
      EXPECT_EQ(metric(a.ranked[i], "tpot_ms_mean", 0), metric(b.ranked[i], "tpot_ms_mean", 0));
    }
  }
}

// Answers in one currency: what the cards cost in another market does not matter.
TEST(Plan, ABudgetIsTheSameInEveryCurrency) {
  PlanRequest dollars = request_for(512, 256);
  dollars.constraints.budget = 1500;
  PlanRequest yuan = dollars;
  yuan.constraints.budget = must(knowledge().prices.convert(1500, "USD", "CNY"));
  yuan.constraints.budget_currency = "CNY";
  const Plan a = planned("llama-3.1-8b", dollars);
  const Plan b = planned("llama-3.1-8b", yuan);
  ASSERT_GT(a.ranked.size(), 3U);
  ASSERT_EQ(a.ranked.size(), b.ranked.size());
  for (std::size_t i = 0; i < a.ranked.size(); ++i) {
    EXPECT_EQ(a.ranked[i].prediction.accelerator, b.ranked[i].prediction.accelerator);
    EXPECT_DOUBLE_EQ(*a.ranked[i].price, *b.ranked[i].price);
  }
}

const Candidate* find(const Plan& plan, std::string_view gpu) {
  const auto it = std::ranges::find_if(
      plan.ranked, [&](const Candidate& c) { return c.prediction.accelerator == gpu; });
  return it != plan.ranked.end() ? &*it : nullptr;
}

// An encoder is refused as a whole, not card by card.
TEST(Plan, SaysThatAnEncoderIsNotRanked) {
  const auto plan = make_plan(test::model("bge-m3"), request_for(512, 256), knowledge());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, ErrorKind::unsupported);
  EXPECT_NE(plan.error().to_string().find("only models that generate text"), std::string::npos);
}

TEST(Plan, OwnedCardsCostNothingToBuy) {
  PlanRequest r = request_for(512, 256);
  r.constraints.accelerators = {"rx-7900-xtx", "mi50-16gb"};
  r.constraints.engines = {"llama.cpp"};
  r.objective = Objective::cost;
  const Plan bought = planned("llama-3.1-8b", r);
  r.constraints.owned = {{"rx-7900-xtx", 1}, {"mi50-16gb", 1}};
  r.constraints.budget = 0;
  const Plan owned = planned("llama-3.1-8b", r);
  const Candidate* before = find(bought, "rx-7900-xtx");
  const Candidate* after = find(owned, "rx-7900-xtx");
  ASSERT_NE(before, nullptr);
  ASSERT_NE(after, nullptr);
  EXPECT_EQ(*before->price, before->prediction.money.purchase_price->amount);
  EXPECT_EQ(*after->price, 0);
  // What is left is electricity: the difference is a third of the price a year.
  EXPECT_NEAR(*before->yearly_cost - *after->yearly_cost, *before->price / 3, 1e-6);
  // A card whose price nobody knows costs its electricity when it is owned.
  const Candidate* mi50 = find(owned, "mi50-16gb");
  ASSERT_NE(mi50, nullptr);
  EXPECT_EQ(*mi50->price, 0);
  EXPECT_GT(mi50->yearly_cost.value_or(0), 0);
  EXPECT_EQ(find(bought, "mi50-16gb")->price, std::nullopt);
}

// MI300X come on base boards: what a budget buys, and what one card costs, are whole boards.
TEST(Plan, ModulesAreBoughtInWholeBoards) {
  PlanRequest r = request_for(512, 256);
  r.constraints.accelerators = {"mi300x"};
  r.constraints.engines = {"vllm"};
  r.objective = Objective::price;
  const Plan one = planned("llama-3.1-8b", r);
  ASSERT_FALSE(one.ranked.empty());
  const Candidate& c = one.ranked.front();
  EXPECT_EQ(c.cards, 1);
  const Purchase board = *c.prediction.money.purchase_price;
  EXPECT_EQ(board.cards, 8);
  EXPECT_NEAR(*c.price, board.amount, 1e-6);
  EXPECT_NEAR(*c.prediction.money.purchase, board.amount, 1e-6);
  r.constraints.budget = board.amount - 1;
  EXPECT_TRUE(planned("llama-3.1-8b", r).ranked.empty());
  r.constraints.budget = board.amount;
  EXPECT_FALSE(planned("llama-3.1-8b", r).ranked.empty());
  // With a price of one module that the user has been told, one module is bought.
  r.terms.prices = {{"mi300x", 9000, "USD"}};
  r.constraints.budget = 9000;
  EXPECT_EQ(planned("llama-3.1-8b", r).ranked.front().price, 9000);
}

PlanRequest relaxed(PlanRequest r, const Relaxation& x) {
  Constraints& c = r.constraints;
  if (x.constraint == "ttft") c.ttft_ms = x.to;
  if (x.constraint == "tpot") c.tpot_ms = x.to;
  if (x.constraint == "tokens_per_s") c.tokens_per_s = x.to;
  if (x.constraint == "budget") {
    c.budget = x.to;
    c.budget_currency = x.unit;
  }
  if (x.constraint == "power") c.power_w = x.to;
  if (x.constraint == "cards") c.max_cards = static_cast<std::int64_t>(x.to);
  return r;
}

TEST(Plan, ARelaxationThatIsAppliedLetsItsCardQualify) {
  std::vector<Job> impossible;
  PlanRequest r = request_for(2048, 256);
  r.constraints.tpot_ms = 0.1;
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.tpot_ms.reset();
  r.constraints.ttft_ms = 1;
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.ttft_ms.reset();
  r.constraints.tokens_per_s = 5000;
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.tokens_per_s.reset();
  r.constraints.budget = 100;
  r.constraints.budget_currency = "CNY";
  r.terms.currency = "CNY";
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.budget = 0;
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.budget.reset();
  r.constraints.power_w = 20;
  impossible.push_back({"llama-3.1-8b", r});
  r.constraints.power_w.reset();
  r.workload.rate = 500;
  r.constraints.max_cards = 1;
  impossible.push_back({"llama-3.1-8b", r});
  for (const Job& job : impossible) {
    const Plan plan = planned(job.model, job.request);
    ASSERT_TRUE(plan.ranked.empty());
    ASSERT_FALSE(plan.relaxations.empty());
    EXPECT_FALSE(plan.rejections.empty());
    for (const Relaxation& x : plan.relaxations) {
      if (x.constraint == "memory") continue;  // nobody can enlarge a card
      const Plan again = planned(job.model, relaxed(job.request, x));
      EXPECT_NE(find(again, x.accelerator), nullptr)
          << x.constraint << " from " << x.from << " to " << x.to << " " << x.unit << " on "
          << x.accelerator;
    }
  }
}

TEST(Plan, NamedAnnouncedHardwareIsConsidered) {
  PlanRequest r = request_for(512, 128);
  const Plan all = planned("llama-3.1-8b", r);
  EXPECT_EQ(find(all, "mi455x"), nullptr);
  r.constraints.accelerators = {"ryzen-ai-max-495"};
  // No rate of it is known: considered, and refused with the reason.
  const Plan named = planned("llama-3.1-8b", r);
  EXPECT_TRUE(named.ranked.empty());
  ASSERT_EQ(named.rejections.size(), 1U);
  EXPECT_EQ(named.rejections.front().constraint, "support");
  r.constraints.accelerators.clear();
  r.constraints.announced = true;
  EXPECT_GE(planned("llama-3.1-8b", r).ranked.size(), all.ranked.size());
}

TEST(Plan, AContextShorterThanTheRequestIsRefused) {
  PlanRequest r = request_for(4096, 512);
  r.workload.context = 4096;
  const auto plan = make_plan(model("llama-3.1-8b"), r, knowledge());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, ErrorKind::bad_input);
}

TEST(Fit, SaysYesAndNoWithTheLimits) {
  FitRequest r;
  r.accelerators = {&test::accelerator("rx-7900-xtx")};
  r.engines = {&test::engine("llama.cpp")};
  r.formats = {"q4_k_m"};
  r.context = 8192;
  r.cards = 1;
  const auto small = must(fit(model("qwen3-32b"), r, knowledge()));
  ASSERT_EQ(small.size(), 1U);
  EXPECT_TRUE(small.front().memory.fits);
  EXPECT_GE(small.front().largest_context, 8192);
  // The largest context fits, one block more does not.
  r.context = small.front().largest_context;
  EXPECT_TRUE(must(fit(model("qwen3-32b"), r, knowledge())).front().memory.fits);
  if (r.context < model("qwen3-32b").graph->spec.max_context) {
    r.context += 1024;
    EXPECT_FALSE(must(fit(model("qwen3-32b"), r, knowledge())).front().memory.fits);
  }
  r.context = 8192;
  EXPECT_FALSE(must(fit(model("llama-3.1-70b"), r, knowledge())).front().memory.fits);
  r.engines = {&test::engine("vllm")};
  const auto refused = fit(model("llama-3.1-8b"), r, knowledge());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
}

TEST(Compare, PutsCardsBesideEachOther) {
  ComparisonRequest r;
  for (const char* gpu : {"mi250", "ryzen-ai-max-495", "rx-7900-xtx"}) {
    r.accelerators.push_back(&test::accelerator(gpu));
  }
  r.terms.prices = {{"rx-7900-xtx", 999, "USD"}};
  const ModelInput m = model("llama-3.1-8b");
  const auto cards = must(compare(&m, r, knowledge()));
  ASSERT_EQ(cards.size(), 3U);
  // Both devices of a card count for its price.
  EXPECT_NEAR(*cards[0].memory_per_1000, 128 / *cards[0].price * 1000, 1e-9);
  // Four modules on a base board; one of them is compared.
  EXPECT_EQ(cards[0].purchase->cards, 4);
  EXPECT_NEAR(*cards[0].price, cards[0].purchase->amount / 4, 1e-9);
  EXPECT_FALSE(cards[1].prediction.has_value());
  EXPECT_FALSE(cards[1].reason.empty());
  const Prediction& p = *cards[2].prediction;
  EXPECT_NEAR(*cards[2].tokens_per_1000, p.metric("output_tokens_per_s")->value / 999 * 1000, 1e-6);
  EXPECT_NEAR(*cards[2].tokens_per_watt * p.metric("energy_j_per_token")->value, 1, 1e-9);
}

}  // namespace
}  // namespace cairn
