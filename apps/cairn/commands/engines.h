#pragma once

#include "../context.h"

namespace cairn::cli {

inline constexpr CommandSpec kEnginesCommand{
    .name = "engines",
    .summary = msg("list the inference engines"),
};

inline constexpr ArgumentSpec kEngineArgument[] = {
    {.metavar = "ENGINE", .description = msg("an engine, by id or another name of it")}};

inline constexpr CommandSpec kEnginesShowCommand{
    .name = "engines show",
    .summary = msg("one engine: formats, reference configuration, sources"),
    .arguments = kEngineArgument,
};

Result<Answer> run_engines(Context& context);
Result<Answer> run_engines_show(Context& context);

}  // namespace cairn::cli
