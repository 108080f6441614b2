#include "help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cairn/base/names.h"
#include "cairn/options/help.h"

namespace cairn::cli {

Result<Answer> run_help(Context& context) {
  const ProgramSpec& program = context.program;
  Console& console = context.console;
  if (context.args.flag(kMan)) {
    console.out(manual_page(program, context.tr));
    return Answer::yes;
  }
  if (context.args.flag(kMarkdown)) {
    console.out(markdown_help(program, context.tr));
    return Answer::yes;
  }
  const auto words = context.args.arguments();
  if (words.empty()) {
    console.out(program_help(program, context.tr, console.style(), console.width()));
    return Answer::yes;
  }
  const std::string name = fmt::format("{}", fmt::join(words, " "));
  const auto it = std::ranges::find(program.commands, name, &CommandSpec::name);
  if (it != program.commands.end()) {
    console.out(command_help(program, **it, context.tr, console.style(), console.width()));
    return Answer::yes;
  }
  std::vector<std::string> known;
  for (const CommandSpec* c : program.commands) known.emplace_back(c->name);
  const auto near = nearest_names(name, known);
  return fail(not_found("unknown command")
                  .got(name)
                  .want(near.empty() ? "a command listed by cairn help"
                                     : fmt::format("one of {}", fmt::join(near, ", "))));
}

}  // namespace cairn::cli
