#include "cairn/options/completions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "completions.h"

namespace cairn::cli {

Result<Answer> run_completions(Context& context) {
  constexpr std::array<std::pair<std::string_view, Shell>, 3> kShells{
      {{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}}};
  const std::string_view wanted = context.args.argument(0);
  const auto it = std::ranges::find(kShells, wanted, [](const auto& s) { return s.first; });
  if (it == kShells.end()) {
    return fail(bad_input("unknown shell").in("SHELL").got(wanted).want("one of bash, zsh, fish"));
  }
  context.console.out(completions(context.program, it->second, context.tr));
  return Answer::yes;
}

}  // namespace cairn::cli
