// The table of commands: a declaration and the function that carries it out.
#pragma once

#include <span>
#include <string_view>

#include "cairn/options/spec.h"
#include "context.h"

namespace cairn::cli {

struct Command {
  const CommandSpec* spec;
  Result<Answer> (*run)(Context& context);
};

/// Every command, in the order of the help.
std::span<const Command> commands();
/// The program as declared: what parser, help and completions work on.
const ProgramSpec& program();

}  // namespace cairn::cli
