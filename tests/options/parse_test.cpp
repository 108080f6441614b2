#include "cairn/options/parse.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn {
namespace {

constexpr Choice kModes[] = {{"fast", "quick"}, {"exact", "slow"}, {"precise", "", "exact"}};
constexpr std::string_view kBatchAliases[] = {"batch"};
constexpr OptionSpec kGpu{
    .name = "gpu", .short_name = 'g', .type = OptionType::list, .metavar = "ID", .description = ""};
constexpr OptionSpec kContext{.name = "context",
                              .short_name = 'c',
                              .type = OptionType::quantity,
                              .metavar = "N",
                              .unit = "tok",
                              .min = 1,
                              .max = 1 << 20,
                              .description = ""};
constexpr OptionSpec kConcurrency{.name = "concurrency",
                                  .aliases = kBatchAliases,
                                  .type = OptionType::integer,
                                  .metavar = "N",
                                  .min = 1,
                                  .max = 64,
                                  .default_text = "4",
                                  .description = ""};
constexpr OptionSpec kMode{
    .name = "mode", .type = OptionType::choice, .choices = kModes, .description = ""};
constexpr OptionSpec kExplain{.name = "explain", .short_name = 'x', .description = ""};
constexpr OptionSpec kData{
    .name = "data", .type = OptionType::text, .metavar = "FILE", .description = ""};
constexpr OptionSpec kHelp{.name = "help", .short_name = 'h', .description = ""};
constexpr OptionSpec kForeign{.name = "foreign", .description = ""};

constexpr const OptionSpec* kOptions[] = {&kGpu, &kContext, &kConcurrency, &kMode, &kExplain};
constexpr OptionGroup kGroup{"", kOptions};
constexpr const OptionGroup* kGroups[] = {&kGroup};
constexpr const OptionSpec* kGlobalOptions[] = {&kData, &kHelp};
constexpr OptionGroup kGlobals{"", kGlobalOptions};
constexpr ArgumentSpec kModel[] = {{"MODEL", ""}};
constexpr CommandSpec kPredict{
    .name = "predict", .summary = "", .arguments = kModel, .groups = kGroups};
constexpr CommandSpec kGpus{.name = "gpus", .summary = ""};
constexpr CommandSpec kGpusShow{.name = "gpus show", .summary = "", .arguments = kModel};
constexpr CommandSpec kDataCheck{.name = "data check", .summary = ""};
constexpr const CommandSpec* kCommands[] = {&kPredict, &kGpus, &kGpusShow, &kDataCheck};
constexpr ProgramSpec kProgram{
    .name = "cairn", .version = "1", .summary = "", .commands = kCommands, .globals = &kGlobals};

using Words = std::vector<std::string_view>;

Result<ParsedCommand> parse(const Words& words) { return parse_command_line(kProgram, words); }

std::string error_of(const Words& words) {
  const auto parsed = parse(words);
  return parsed ? "" : parsed.error().to_string();
}

TEST(Parse, EveryWayToWriteAValue) {
  for (const Words& words :
       {Words{"predict", "m", "--context", "32k"}, Words{"predict", "--context=32k", "m"},
        Words{"predict", "-c", "32k", "m"}, Words{"predict", "-c32k", "m"},
        Words{"predict", "--context", "32k", "--", "m"}}) {
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().to_string();
    EXPECT_EQ(parsed->command(), &kPredict);
    EXPECT_EQ(parsed->integer(kContext), 32768);
    EXPECT_EQ(parsed->argument(0), "m");
  }
}

TEST(Parse, DefaultsAliasesAndFlags) {
  const auto plain = parse({"predict", "m"});
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->integer(kConcurrency), 4);
  EXPECT_FALSE(plain->given(kConcurrency));
  EXPECT_FALSE(plain->integer(kContext).has_value());
  EXPECT_FALSE(plain->flag(kExplain));
  const auto typed = parse({"predict", "m", "--batch", "8", "-x", "--mode", "PRECISE"});
  ASSERT_TRUE(typed.has_value());
  EXPECT_EQ(typed->integer(kConcurrency), 8);
  EXPECT_TRUE(typed->flag(kExplain));
  EXPECT_EQ(typed->text(kMode), "exact");
}

TEST(Parse, ListsAddUp) {
  const auto parsed = parse({"predict", "m", "-g", "a,b", "--gpu", "c"});
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->list(kGpu), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Parse, CommandsOfTwoWords) {
  EXPECT_EQ(parse({"gpus"})->command(), &kGpus);
  EXPECT_EQ(parse({"gpus", "show", "x"})->command(), &kGpusShow);
  EXPECT_EQ(parse({"--data", "gpus", "gpus", "show", "x"})->command(), &kGpusShow);
  EXPECT_EQ(parse({})->command(), nullptr);
  EXPECT_EQ(error_of({"data"}), "unknown command: \"data\"; expected data check");
}

TEST(Parse, HelpIsNeverRefusedForAMissingArgument) {
  EXPECT_TRUE(parse({"predict", "--help"}).has_value());
  EXPECT_TRUE(parse({"-h"}).has_value());
}

TEST(Parse, ErrorsSayWhatWasMeant) {
  EXPECT_EQ(error_of({"perdict"}), "unknown command: \"perdict\"; expected predict");
  EXPECT_EQ(error_of({"predict", "m", "--contxt", "1"}),
            "unknown option: \"--contxt\"; expected --context");
  EXPECT_EQ(error_of({"predict", "m", "--mode", "quick"}),
            "--mode: not one of the choices: \"quick\"; expected one of fast, exact");
  EXPECT_EQ(error_of({"predict"}), "predict: an argument is missing; expected MODEL");
  EXPECT_EQ(error_of({"predict", "a", "b"}), "predict: unexpected argument: \"b\"");
  EXPECT_EQ(error_of({"predict", "m", "--context"}), "--context: a value is missing; expected N");
  EXPECT_EQ(error_of({"predict", "m", "--context", "--explain"}),
            "--context: a value is missing; expected N");
  EXPECT_EQ(error_of({"predict", "m", "--explain=1"}),
            "--explain: this option takes no value: \"1\"");
  EXPECT_EQ(error_of({"predict", "m", "-c", "1", "-c", "2"}),
            "--context: given twice with different values: \"2\"");
}

TEST(Parse, RangesAndTypes) {
  EXPECT_EQ(error_of({"predict", "m", "--batch", "65"}),
            "--concurrency: out of range: \"65\"; expected 1 to 64");
  EXPECT_EQ(error_of({"predict", "m", "--batch", "2.5"}),
            "--concurrency: not a whole number: \"2.5\"; expected 1 to 64");
  EXPECT_EQ(error_of({"predict", "m", "--batch", "99999999999999999999"}),
            "--concurrency: out of range: \"99999999999999999999\"; expected 1 to 64");
  EXPECT_EQ(error_of({"predict", "m", "--batch", "-1"}),
            "--concurrency: out of range: \"-1\"; expected 1 to 64");
  EXPECT_EQ(error_of({"predict", "m", "-c", "2M"}),
            "--context: out of range: \"2M\"; expected 1 to 1048576 tok");
}

TEST(Parse, AskingForAnUndeclaredOptionIsAFault) {
  const auto parsed = parse({"gpus"});
  ASSERT_TRUE(parsed.has_value());
  EXPECT_THROW((void)parsed->flag(kForeign), std::logic_error);
  EXPECT_THROW((void)parsed->number(kData), std::logic_error);
}

}  // namespace
}  // namespace cairn
