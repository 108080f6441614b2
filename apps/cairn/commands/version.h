#pragma once

#include "../context.h"

namespace cairn::cli {

inline constexpr CommandSpec kVersionCommand{
    .name = "version",
    .summary = msg("print the version and the data in use"),
};

Result<Answer> run_version(Context& context);

}  // namespace cairn::cli
