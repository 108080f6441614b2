#include "cairn/plan/plan_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "../must.h"
#include "cairn/data/yaml.h"

namespace cairn {
namespace {

using test::must;

Result<PlanFile> read(std::string_view text) {
  CAIRN_TRY(const Document document, parse_yaml(text, "plan.yaml"));
  return read_plan(document.root());
}

TEST(PlanFile, SaysWhatIsWanted) {
  const PlanFile plan =
      must(read("model: llama-3.1-70b\n"
                "workload: {rate: 20, input: 2048, output: 256, context: 8192}\n"
                "limits: {ttft_ms: 1000, tpot_ms: 50, power_w: 3000, cards: 16}\n"
                "budget: {amount: 6000, currency: CNY}\n"
                "owned: {rx-7900-xtx: 2}\n"
                "money: {currency: EUR, amortisation_years: 4, utilisation: 0.25, pue: 1.2}\n"
                "vendor: amd\ngpus: [mi300x, mi355x]\nengines: [vllm]\nweights: [fp8]\n"
                "objective: energy\ntop: 3\nannounced: true\n"));
  EXPECT_EQ(plan.model, "llama-3.1-70b");
  const PlanRequest& r = plan.request;
  EXPECT_EQ(r.workload.rate, 20);
  EXPECT_EQ(r.workload.context, 8192);
  EXPECT_EQ(r.constraints.ttft_ms, 1000);
  EXPECT_EQ(r.constraints.power_w, 3000);
  EXPECT_EQ(r.constraints.max_cards, 16);
  EXPECT_EQ(r.constraints.budget, 6000);
  EXPECT_EQ(r.constraints.budget_currency, "CNY");
  ASSERT_EQ(r.constraints.owned.size(), 1U);
  EXPECT_EQ(r.constraints.owned[0].second, 2);
  EXPECT_EQ(r.terms.currency, "EUR");
  EXPECT_EQ(r.terms.amortisation_years, 4);
  EXPECT_EQ(r.constraints.vendor, "amd");
  EXPECT_EQ(r.constraints.accelerators.size(), 2U);
  EXPECT_EQ(r.objective, Objective::energy);
  EXPECT_EQ(r.top, 3U);
  EXPECT_TRUE(r.constraints.announced);
}

struct Mistake {
  const char* text;
  const char* where;
};

TEST(PlanFile, MistakesAreToldWithTheirLine) {
  constexpr std::array<Mistake, 18> kMistakes{{
      {"model: m\nspeed: 5\n", "plan.yaml:2"},
      {"model: m\nworkload:\n  inputs: 5\n", "plan.yaml:3"},
      {"model: 5\n", "plan.yaml:1"},
      {"model: m\nworkload: {input: many}\n", "plan.yaml:2"},
      {"model: m\nworkload: {input: 0}\n", "plan.yaml:2"},
      {"model: m\nworkload: {input: 1e400}\n", "plan.yaml:2"},
      {"model: m\nworkload: {output: .nan}\n", "plan.yaml:2"},
      {"model: m\nworkload: {output: -3}\n", "plan.yaml:2"},
      {"model: m\nworkload: {rate: 1, concurrency: 2}\n", "plan.yaml:2"},
      {"model: m\nmodel: n\n", "plan.yaml:2"},
      {"model: m\nlimits: {cards: 1.5}\n", "plan.yaml:2"},
      {"model: m\nlimits: [50]\n", "plan.yaml:2"},
      {"model: m\nbudget: {amount: 5}\n", "plan.yaml:2"},
      {"model: m\nowned: {rx-7900-xtx: -1}\n", "plan.yaml:2"},
      {"model: m\nowned: 3\n", "plan.yaml:2"},
      {"model: m\nvendor: intel\n", "plan.yaml:2"},
      {"model: m\n\nobjective: beauty\n", "plan.yaml:3"},
      {"- model\n", "plan.yaml:1"},
  }};
  for (const Mistake& m : kMistakes) {
    const auto plan = read(m.text);
    ASSERT_FALSE(plan.has_value()) << m.text;
    EXPECT_EQ(plan.error().kind, ErrorKind::bad_input) << m.text;
    EXPECT_EQ(plan.error().where, m.where) << m.text << plan.error().to_string();
    EXPECT_EQ(plan.error().to_string().find('\n'), std::string::npos);
  }
}

TEST(PlanFile, SaysWhatMachineIsAtHand) {
  const PlanFile plan = must(read(
      "model: m\nhost: {supply_w: 850, ram_gib: 64, slots: 2, lanes: 8, generation: 4, "
      "case_slots: 7, atomics: true, cooling: [open, blower]}\nmoney: {co2_g_per_kwh: 400}\n"));
  const auto& host = plan.request.constraints.host;
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(host->supply, Watts(850));
  EXPECT_EQ(host->ram, gib(64));
  EXPECT_EQ(host->slots, 2);
  EXPECT_EQ(host->lanes, 8);
  EXPECT_EQ(host->case_slots, 7);
  EXPECT_EQ(host->atomics, true);
  EXPECT_EQ(host->cooling, (std::vector{Cooling::open, Cooling::blower}));
  EXPECT_EQ(plan.request.terms.co2_g_per_kwh, 400);
  EXPECT_FALSE(must(read("model: m")).request.constraints.host.has_value());
}

TEST(PlanFile, SeveralModelsHaveAWorkloadEach) {
  const PlanFile plan = must(
      read("models:\n- {model: a, rate: 0.5, input: 100}\n- {model: b, share: 0.25, output: 7}\n"
           "limits: {cards: 1}\n"));
  ASSERT_EQ(plan.residents.size(), 2U);
  EXPECT_EQ(plan.residents[0].model, "a");
  EXPECT_EQ(plan.residents[0].workload.rate, 0.5);
  EXPECT_EQ(plan.residents[1].share, 0.25);
  EXPECT_EQ(plan.residents[1].workload.output, 7);
  constexpr std::array kMistakes{
      Mistake{"models:\n- {rate: 0.5}\n", "plan.yaml:2"},
      Mistake{"model: m\nmodels: [{model: a}]\n", "plan.yaml:2"},
      Mistake{"models: []\n", "plan.yaml:1"},
      Mistake{"models: [{model: a}]\nweights: [q8_0]\n", "plan.yaml:2"},
      Mistake{"models: [{model: a}]\nkv: q8_0\n", "plan.yaml:2"},
      Mistake{"models: [{model: a}]\nobjective: latency\n", "plan.yaml:2"},
      Mistake{"models:\n- {model: a, share: 0.6}\n- {model: b, share: 0.6}\n", "plan.yaml:2"},
      Mistake{"models:\n- {model: a, share: 0.6, rate: 1}\n", "plan.yaml:2"},
      Mistake{"host: {cooling: [wind]}\n", "plan.yaml:1"},
      Mistake{"host: {slots: -1}\n", "plan.yaml:1"},
      Mistake{"money: {co2_g_per_kwh: -5}\n", "plan.yaml:1"},
  };
  for (const Mistake& m : kMistakes) {
    const auto bad = read(m.text);
    ASSERT_FALSE(bad.has_value()) << m.text;
    EXPECT_EQ(bad.error().where, m.where) << m.text << bad.error().to_string();
  }
}

TEST(PlanFile, AnEmptyMappingIsAPlanOfDefaults) {
  EXPECT_TRUE(must(read("{}")).model.empty());
  EXPECT_FALSE(read("").has_value());
}

TEST(Objective, UnknownNamesListTheKnown) {
  const auto o = find_objective("beauty");
  ASSERT_FALSE(o.has_value());
  EXPECT_NE(o.error().expected.find("latency"), std::string::npos);
}

}  // namespace
}  // namespace cairn
