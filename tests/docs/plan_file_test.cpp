// The plan files of examples/ obey their schema and lead to an answer, and the
// schema accepts what the reader accepts.
#include "cairn/plan/plan_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "../cli/run.h"
#include "cairn/data/json.h"
#include "cairn/data/schema.h"
#include "cairn/data/yaml.h"
#include "files.h"

namespace cairn {
namespace {

const Document& plan_schema() {
  static const auto document = load_yaml(std::string(CAIRN_SOURCE_DIR) + "/data/schema/plan.yaml");
  if (!document) throw std::runtime_error(document.error().to_string());
  return *document;
}

TEST(PlanFiles, SchemaIsSound) {
  const auto sound = check_schema(plan_schema().root());
  EXPECT_TRUE(sound.has_value()) << sound.error().to_string();
}

TEST(PlanFiles, ExamplesObeyTheSchemaAndRun) {
  const auto files = test::files_of("examples/plans", ".yaml");
  EXPECT_GE(files.size(), 3U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const auto document = load_yaml(path.string());
    ASSERT_TRUE(document.has_value()) << document.error().to_string();
    for (const Error& e : validate(document->root(), plan_schema().root())) {
      ADD_FAILURE() << e.to_string();
    }
    const auto outcome = test::run({CAIRN_PROGRAM, "plan", path.string(), "--json"},
                                   {std::string("CAIRN_DATA=") + CAIRN_IMAGE_FILE});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto answer = parse_json(outcome.out, "answer");
    ASSERT_TRUE(answer.has_value());
    EXPECT_GT(answer->root().find("ranked")->size(), 0U);
  }
}

// Schema and reader draw the same line.
TEST(PlanFiles, SchemaAndReaderAgree) {
  struct Sample {
    std::string_view text;
    bool good;
  };
  constexpr std::array kSamples{
      Sample{"model: qwen3-8b", true},
      Sample{"workload: {rate: 0.5, input: 100, output: 1}", true},
      Sample{"owned: {rx-7900-xtx: 2}", true},
      Sample{"budget: {amount: 600, currency: USD}", true},
      Sample{"budget: {amount: 600}", false},
      Sample{"budget: {amount: -1, currency: USD}", false},
      Sample{"workload: {input: 0}", false},
      Sample{"workload: {inputs: 10}", false},
      Sample{"workload: {context: 1.5}", false},
      Sample{"limits: {ttft_ms: 0}", false},
      Sample{"limits: {cards: 0}", false},
      Sample{"limits: {tpot_ms: fast}", false},
      Sample{"money: {pue: 0.9}", false},
      Sample{"money: {utilisation: 1.1}", false},
      Sample{"owned: {rx-7900-xtx: -1}", false},
      Sample{"vendor: acme", false},
      Sample{"objective: beauty", false},
      Sample{"announced: maybe", false},
      Sample{"top: 0", false},
      Sample{"gpus: [mi300x, mi355x]", true},
      Sample{"modell: qwen3-8b", false},
  };
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.text);
    const auto document = parse_yaml(sample.text, "plan.yaml");
    ASSERT_TRUE(document.has_value());
    EXPECT_EQ(validate(document->root(), plan_schema().root()).empty(), sample.good);
    EXPECT_EQ(read_plan(document->root()).has_value(), sample.good);
  }
}

// Every default that the schema's descriptions name is the reader's own.
TEST(PlanFiles, Defaults) {
  const auto document = parse_yaml("{}", "plan.yaml");
  ASSERT_TRUE(document.has_value());
  const auto plan = read_plan(document->root());
  ASSERT_TRUE(plan.has_value());
  const PlanRequest& r = plan->request;
  EXPECT_EQ(r.workload.input, 512);
  EXPECT_EQ(r.workload.output, 128);
  EXPECT_EQ(r.workload.concurrency, 1);
  EXPECT_EQ(r.constraints.max_cards, 64);
  EXPECT_EQ(r.terms.currency, "USD");
  EXPECT_EQ(r.terms.amortisation_years, 3);
  EXPECT_EQ(r.terms.utilisation, 0.5);
  EXPECT_EQ(r.terms.pue, 1);
  EXPECT_EQ(r.objective, std::nullopt);
  EXPECT_EQ(objective_of(r), Objective::cost);
  EXPECT_EQ(r.top, 10U);
  EXPECT_FALSE(r.constraints.announced);
}

}  // namespace
}  // namespace cairn
