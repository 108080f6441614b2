// The runner of acceptance cases itself: it must fail where it should.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cairn/data/csv.h"
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

// --- tests/cases/questions.csv: which questions are cases, and why others are not ------

std::set<std::string> urls_of(const std::filesystem::path& table) {
  std::set<std::string> out;
  const auto document = load_csv(table.string());
  if (!document) return out;
  const auto rows = Table::from(document->root());
  EXPECT_TRUE(rows) << table;
  const auto url = rows->column("url");
  for (std::uint32_t i = 0; i < rows->rows(); ++i) out.emplace(rows->row(i).text(*url));
  return out;
}

std::set<std::string> sources_of_cases() {
  std::set<std::string> out;
  const std::filesystem::path folder = std::filesystem::path(CAIRN_SOURCE_DIR) / "tests/cases";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto document = load_yaml(entry.path().string());
    EXPECT_TRUE(document) << entry.path();
    const auto cases = document->root().find("cases");
    for (std::uint32_t i = 0; i < cases->size(); ++i) {
      out.insert(cases->at(i).find("source")->find("url")->text());
    }
  }
  return out;
}

TEST(Questions, AreCasesOrHaveAReason) {
  const std::filesystem::path file =
      std::filesystem::path(CAIRN_SOURCE_DIR) / "tests/cases/questions.csv";
  const auto document = load_csv(file.string());
  ASSERT_TRUE(document) << document.error().to_string();
  const auto table = Table::from(document->root());
  ASSERT_TRUE(table);
  const auto url = table->column("url");
  const auto state = table->column("state");
  const auto reason = table->column("reason");
  ASSERT_TRUE(url && state && reason);
  const std::set<std::string> sources = sources_of_cases();
  for (std::uint32_t i = 0; i < table->rows(); ++i) {
    const Row row = table->row(i);
    const std::string_view is = row.text(*state);
    const bool stated = is == "case" || is == "partly";
    EXPECT_TRUE(stated || is == "passed over") << row.where();
    EXPECT_EQ(stated, sources.contains(std::string(row.text(*url)))) << row.text(*url);
    EXPECT_EQ(is == "case", !row.has(*reason)) << row.where();
  }
}

// Where the collection lies beside the checkout, every one of its questions is judged.
TEST(Questions, AreAllJudged) {
  const std::filesystem::path root(CAIRN_SOURCE_DIR);
  const std::set<std::string> collected = urls_of(root / "../shared/questions.csv");
  if (collected.empty()) GTEST_SKIP() << "no collection of questions beside the checkout";
  const std::set<std::string> judged = urls_of(root / "tests/cases/questions.csv");
  for (const std::string& url : collected) EXPECT_TRUE(judged.contains(url)) << url;
}

}  // namespace
}  // namespace cairn::test
