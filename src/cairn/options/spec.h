// What the command line accepts, declared once. The same tables feed the
// parser, --help, the manual page, the shell completions and docs/commands.md.
//
//   inline constexpr OptionSpec kContext{.name = "context",
//                                        .type = OptionType::quantity,
//                                        .metavar = "N",
//                                        .unit = "tok",
//                                        .min = 1, .max = 1e8,
//                                        .description = msg("tokens of context")};
//   inline constexpr const OptionSpec* kMine[] = {&kContext};
//   inline constexpr OptionGroup kWorkload{msg("Workload"), kMine};
//
// Every text is English here and the key of its translation in po/zh_CN.po.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "cairn/base/message.h"

namespace cairn {

enum class OptionType : std::uint8_t {
  flag,      // present or not
  text,      // any text
  integer,   // a whole number within min..max
  number,    // a number within min..max
  quantity,  // a number with a unit; min..max and a bare number are in `unit`
  choice,    // one of `choices`
  money,     // an amount and a currency: 6000CNY, "600 USD", $600
  list,      // texts, repeated or separated by commas
  counted,   // names with numbers, repeated or separated by commas: rx-7900-xtx:2
};

/// One accepted word of a choice. An alias names the word it stands for and is
/// accepted, but not listed.
struct Choice {
  std::string_view name;
  std::string_view description = {};
  std::string_view alias_of = {};
};

struct OptionSpec {
  std::string_view name;  // without dashes
  char short_name = 0;
  /// Other long names that mean the same, as known from other tools.
  std::span<const std::string_view> aliases = {};
  OptionType type = OptionType::flag;
  std::string_view metavar = {};
  /// The unit of a quantity: "tok", "GiB", "ms", "W", "h" (see parse_quantity);
  /// for the other numbers it is only printed.
  std::string_view unit = {};
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  /// Taken as if typed when the option is absent; empty for none.
  std::string_view default_text = {};
  std::span<const Choice> choices = {};
  std::string_view description;
  /// A choice may be followed by @ and a release: "vllm@0.11.2".
  bool releases = false;

  /// A list or counted list; every other option is given at most once.
  [[nodiscard]] constexpr bool repeatable() const {
    return type == OptionType::list || type == OptionType::counted;
  }
  [[nodiscard]] constexpr bool takes_value() const { return type != OptionType::flag; }
};

struct OptionGroup {
  std::string_view title;
  std::span<const OptionSpec* const> options;
};

struct ArgumentSpec {
  std::string_view metavar;  // "MODEL"
  std::string_view description;
  std::uint32_t min = 1;
  std::uint32_t max = 1;  // kMany: any number
};
constexpr std::uint32_t kMany = std::numeric_limits<std::uint32_t>::max();

struct ExampleSpec {
  std::string_view command;
  std::string_view description;
};

struct CommandSpec {
  std::string_view name;     // "predict", "gpus show"
  std::string_view summary;  // one line of the list of commands
  std::string_view description = {};
  std::span<const ArgumentSpec> arguments = {};
  std::span<const OptionGroup* const> groups = {};
  std::span<const ExampleSpec> examples = {};
};

/// The program as a whole: what `cairn --help` shows.
struct ProgramSpec {
  std::string_view name;
  std::string_view version;
  std::string_view summary;
  std::span<const CommandSpec* const> commands;
  const OptionGroup* globals;  // accepted before and after the command's name
};

}  // namespace cairn
