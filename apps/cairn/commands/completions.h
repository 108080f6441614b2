#pragma once

#include "../context.h"

namespace cairn::cli {

inline constexpr ArgumentSpec kCompletionsArguments[] = {
    {.metavar = "SHELL", .description = msg("bash, zsh or fish")}};
inline constexpr ExampleSpec kCompletionsExamples[] = {
    {"source <(cairn completions bash)", msg("complete in this bash session")},
    {"cairn completions fish > ~/.config/fish/completions/cairn.fish",
     msg("complete in every fish session")}};

inline constexpr CommandSpec kCompletionsCommand{
    .name = "completions",
    .summary = msg("print a completion script for a shell"),
    .arguments = kCompletionsArguments,
    .examples = kCompletionsExamples,
};

Result<Answer> run_completions(Context& context);

}  // namespace cairn::cli
