#include "cairn/plan/plan_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

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
