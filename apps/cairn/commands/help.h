#pragma once

#include "../context.h"

namespace cairn::cli {

inline constexpr OptionSpec kMan{.name = "man",
                                 .description = msg("print the manual page, in roff")};
inline constexpr OptionSpec kMarkdown{
    .name = "markdown", .description = msg("print all commands and options as Markdown")};
inline constexpr const OptionSpec* kHelpOptions[] = {&kMan, &kMarkdown};
inline constexpr OptionGroup kHelpGroup{msg("Form"), kHelpOptions};
inline constexpr const OptionGroup* kHelpGroups[] = {&kHelpGroup};
inline constexpr ArgumentSpec kHelpArguments[] = {
    {.metavar = "COMMAND", .description = msg("the command to explain"), .min = 0, .max = kMany}};
inline constexpr ExampleSpec kHelpExamples[] = {
    {"cairn help data check", msg("explain one command")},
    {"cairn help --man | man -l -", msg("read the manual page")}};

inline constexpr CommandSpec kHelpCommand{
    .name = "help",
    .summary = msg("explain a command, or print the manual"),
    .arguments = kHelpArguments,
    .groups = kHelpGroups,
    .examples = kHelpExamples,
};

Result<Answer> run_help(Context& context);

}  // namespace cairn::cli
