// What is declared is sound, and exists in both languages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cairn/options/help.h"
#include "cairn/options/parse.h"
#include "cairn/options/value.h"
#include "commands.h"
#include "commands/compare.h"
#include "commands/engines.h"
#include "commands/fit.h"
#include "commands/gpus.h"
#include "commands/models.h"
#include "commands/plan.h"
#include "commands/predict.h"
#include "globals.h"
#include "run.h"

namespace cairn {
namespace {

// The program's commands, and those that are declared and not yet part of it.
std::vector<const CommandSpec*> declared() {
  std::vector<const CommandSpec*> out(cli::program().commands.begin(),
                                      cli::program().commands.end());
  for (const CommandSpec* c :
       {&cli::kFitCommand, &cli::kPredictCommand, &cli::kPlanCommand, &cli::kCompareCommand,
        &cli::kModelsCommand, &cli::kModelsShowCommand, &cli::kEnginesCommand,
        &cli::kEnginesShowCommand}) {
    if (std::ranges::find(out, c) == out.end()) out.push_back(c);
  }
  return out;
}

std::vector<const OptionSpec*> options_of(const CommandSpec& command) {
  std::vector<const OptionSpec*> out(cli::kGlobals.options.begin(), cli::kGlobals.options.end());
  for (const OptionGroup* g : command.groups) {
    out.insert(out.end(), g->options.begin(), g->options.end());
  }
  return out;
}

Translator chinese() {
  auto t = Translator::load(Language::zh, CAIRN_CATALOGUE);
  EXPECT_TRUE(t.has_value());
  return t.value_or(Translator{});
}

TEST(Declarations, NoOptionTwiceInACommand) {
  for (const CommandSpec* c : declared()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const OptionSpec* o : options_of(*c)) {
      EXPECT_TRUE(names.insert(o->name).second) << c->name << " --" << o->name;
      for (const std::string_view alias : o->aliases) {
        EXPECT_TRUE(names.insert(alias).second) << c->name << " --" << alias;
      }
      if (o->short_name != 0) {
        EXPECT_TRUE(letters.insert(o->short_name).second) << c->name << " -" << o->short_name;
      }
    }
  }
}

TEST(Declarations, OptionsAreComplete) {
  for (const CommandSpec* c : declared()) {
    for (const OptionSpec* o : options_of(*c)) {
      EXPECT_FALSE(o->description.empty()) << o->name;
      EXPECT_EQ(o->type == OptionType::choice, !o->choices.empty()) << o->name;
      if (o->takes_value() && o->type != OptionType::choice) {
        EXPECT_FALSE(o->metavar.empty()) << o->name;
      }
      if (o->type == OptionType::quantity) {
        EXPECT_TRUE(parse_quantity("1", o->unit).has_value());
        EXPECT_FALSE(o->unit.empty()) << o->name;
      }
      EXPECT_LT(o->min, o->max) << o->name;
      if (!o->default_text.empty()) {
        EXPECT_TRUE(parse_option_value(*o, o->default_text).has_value()) << o->name;
      }
      for (const Choice& choice : o->choices) {
        const auto value = parse_option_value(*o, choice.name);
        ASSERT_TRUE(value.has_value()) << choice.name;
        EXPECT_EQ(value->text, choice.alias_of.empty() ? choice.name : choice.alias_of);
      }
    }
  }
}

// Every example of the help is a command line that the parser accepts.
TEST(Declarations, ExamplesParse) {
  const std::vector<const CommandSpec*> all = declared();
  const ProgramSpec program{
      .name = "cairn", .version = "0", .summary = "", .commands = all, .globals = &cli::kGlobals};
  for (const CommandSpec* c : all) {
    for (const ExampleSpec& e : c->examples) {
      std::string line(e.command.substr(0, e.command.find_first_of("|>")));
      if (line.starts_with("source <(")) line = line.substr(9, line.find(')') - 9);
      const std::vector<std::string> words = test::split_command_line(line);
      ASSERT_EQ(words.at(0), "cairn") << e.command;
      const std::vector<std::string_view> rest(words.begin() + 1, words.end());
      const auto parsed = parse_command_line(program, rest);
      EXPECT_TRUE(parsed.has_value()) << e.command << ": " << parsed.error().to_string();
      if (parsed) {
        EXPECT_EQ(parsed->command(), c) << e.command;
      }
    }
  }
}

TEST(Declarations, EveryTextHasAChineseTranslation) {
  const Translator t = chinese();
  const auto check = [&t](std::string_view text) {
    if (!text.empty()) {
      EXPECT_TRUE(t.has(text)) << text;
    }
  };
  check(cli::program().summary);
  for (const CommandSpec* c : declared()) {
    check(c->summary);
    check(c->description);
    for (const ArgumentSpec& a : c->arguments) check(a.description);
    for (const ExampleSpec& e : c->examples) check(e.description);
    for (const OptionGroup* g : c->groups) check(g->title);
    for (const OptionSpec* o : options_of(*c)) {
      check(o->description);
      for (const Choice& choice : o->choices) check(choice.description);
    }
  }
}

// The placeholders of a sentence, sorted, those without a number by their place: a
// translation may reorder them but must not lose or invent any.
std::multiset<std::string> placeholders(std::string_view text) {
  std::multiset<std::string> out;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) break;
    const std::string_view one = text.substr(at, end - at + 1);
    out.insert(one == "{}" ? fmt::format("{{{}}}", out.size()) : std::string(one));
  }
  return out;
}

TEST(Translations, KeepThePlaceholders) {
  const Translator t = chinese();
  ASSERT_GT(t.size(), 100U);
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto [sentence, translation] = t.entry(i);
    EXPECT_EQ(placeholders(sentence), placeholders(translation)) << sentence;
  }
}

}  // namespace
}  // namespace cairn
