// The runner of acceptance cases itself: it must fail where it should.
#include <gtest/gtest.h>

#include "cairn/data/json.h"
#include "cairn/data/yaml.h"
#include "cases.h"
#include "run.h"

namespace cairn::test {
namespace {

constexpr std::string_view kAnswer =
    R"({"fits": true, "cards": [{"id": "a", "bytes": 100}, {"id": "b", "bytes": 200}],
        "name": "MI300X", "none": null})";

std::string check(std::string_view expectation) {
  const auto answer = parse_json(kAnswer, "answer");
  const auto wanted = parse_yaml(expectation, "case");
  EXPECT_TRUE(answer.has_value() && wanted.has_value());
  const auto result = check_expectation(answer->root(), wanted->root());
  return result ? *result : "error: " + result.error().to_string();
}

TEST(Cases, PassWhereTheyShould) {
  for (const char* text :
       {"{path: fits, equals: true}", "{path: \"cards[1].bytes\", value: 200}",
        "{path: \"cards[id=b].bytes\", value: 190, within: 6%}",
        "{path: \"cards[id=a].bytes\", value: 80, factor: 1.25}",
        "{path: \"cards[0].bytes\", min: 100, max: 100}", "{path: cards, length: 2}",
        "{path: name, contains: MI300}", "{path: none, equals: null}"}) {
    EXPECT_EQ(check(text), "") << text;
  }
}

TEST(Cases, FailWhereTheyShould) {
  EXPECT_EQ(check("{path: fits, equals: false}"), "fits is true, expected false");
  EXPECT_EQ(check("{path: \"cards[id=b].bytes\", value: 180, within: 0.1}"),
            "cards[id=b].bytes is 200, expected 162 to 198");
  EXPECT_EQ(check("{path: \"cards[0].bytes\", value: 126, factor: 1.25}"),
            "cards[0].bytes is 100, expected 100.8 to 157.5");
  EXPECT_EQ(check("{path: \"cards[0].bytes\", min: 101}"),
            "cards[0].bytes is 100, expected at least 101");
  EXPECT_EQ(check("{path: name, min: 1}"), "name is MI300X, no number");
  EXPECT_EQ(check("{path: none, value: 0}"), "none is null, no number");
  EXPECT_EQ(check("{path: cards, length: 3}"), "cards has 2 elements, expected 3");
  EXPECT_NE(check("{path: \"cards[id=c].bytes\", value: 1}"), "");
  EXPECT_NE(check("{path: missing, equals: 1}"), "");
}

TEST(Cases, RefuseWhatExpectsNothing) {
  EXPECT_TRUE(check("{path: fits}").starts_with("error: "));
  EXPECT_TRUE(check("{path: fits, equal: true}").starts_with("error: "));
  const auto document =
      parse_yaml("cases: [{name: x, command: y, source: {url: u, date: d}}]", "c");
  EXPECT_FALSE(run_cases("true", document->root()).has_value());
}

TEST(Cases, RunTheProgram) {
  const auto document = parse_yaml(
      "cases:\n"
      "- {name: good, command: \"hello 'two words'\", stdout: [hello two words],\n"
      "   source: {url: u, date: d}}\n"
      "- {name: bad, command: hello, status: 1, stdout: [bye], source: {url: u, date: d}}\n",
      "c");
  ASSERT_TRUE(document.has_value());
  const auto results = run_cases("echo", document->root());
  ASSERT_TRUE(results.has_value());
  EXPECT_TRUE(results->at(0).failures.empty());
  EXPECT_EQ(results->at(1).failures.size(), 2U);  // the status and the text
}

TEST(Run, WordsOfACommandLine) {
  EXPECT_EQ(split_command_line("a 'b c'  \"d e\" ''"),
            (std::vector<std::string>{"a", "b c", "d e", ""}));
}

TEST(Run, StatusAndSignals) {
  EXPECT_EQ(run({"sh", "-c", "exit 7"}).status, 7);
  EXPECT_EQ(run({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_EQ(run({"sh", "-c", "echo $X"}, {"X=1"}).out, "1\n");
}

}  // namespace
}  // namespace cairn::test
