// The command line to a ParsedCommand: every value typed and within its range.
//
//   CAIRN_TRY(const ParsedCommand args, parse_command_line(program, words));
//   const std::optional<std::int64_t> context = args.integer(kContext);
//
// Accepted: `--name value`, `--name=value`, `-x value`, `-xvalue`, `--` before
// words that begin with a dash, options before, between and after the
// arguments. Options are never abbreviated, so that a new one cannot change
// the meaning of an old script. Errors name the nearest known word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/options/spec.h"
#include "cairn/options/value.h"

namespace cairn {

/// The accessors take the declaration itself, so a misspelt option does not
/// compile. Asking for an option that the command does not declare, or for
/// another type than its own, is a fault of the program and throws
/// std::logic_error.
class ParsedCommand {
 public:
  /// Nothing where no command was named (`cairn`, `cairn --help`).
  [[nodiscard]] const CommandSpec* command() const { return command_; }
  [[nodiscard]] std::span<const std::string> arguments() const { return arguments_; }
  /// Argument `i`, or empty.
  [[nodiscard]] std::string_view argument(std::size_t i) const;

  /// True if the option was typed (its default does not count).
  [[nodiscard]] bool given(const OptionSpec& option) const;
  [[nodiscard]] bool flag(const OptionSpec& option) const;

  // The value typed, or the option's default, or nothing.
  [[nodiscard]] std::optional<std::string_view> text(
      const OptionSpec& option) const;  // text, choice
  [[nodiscard]] std::optional<std::int64_t> integer(const OptionSpec& option) const;  // also "tok"
  /// Numbers as they are, quantities in base units.
  [[nodiscard]] std::optional<double> number(const OptionSpec& option) const;
  template <class Q>
  [[nodiscard]] std::optional<Q> quantity(const OptionSpec& option) const {
    const auto n = number(option);
    return n ? std::optional<Q>(Q(*n)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Amount> amount(const OptionSpec& option) const;
  [[nodiscard]] std::vector<std::string> list(const OptionSpec& option) const;
  [[nodiscard]] std::vector<Counted> counted(const OptionSpec& option) const;

 private:
  friend class CommandLineParser;
  struct Slot {
    const OptionSpec* option;
    OptionValue value;
    bool typed = false;
  };
  [[nodiscard]] const Slot* slot(const OptionSpec& option) const;

  const CommandSpec* command_ = nullptr;
  std::span<const OptionGroup* const> groups_;
  const OptionGroup* globals_ = nullptr;
  std::vector<std::string> arguments_;
  std::vector<Slot> slots_;
};

/// `words`: the command line without the program's name. With --help a missing
/// argument is no error.
Result<ParsedCommand> parse_command_line(const ProgramSpec& program,
                                         std::span<const std::string_view> words);

}  // namespace cairn
