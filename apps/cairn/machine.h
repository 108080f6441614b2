// The machine that the options describe.
#pragma once

#include <optional>

#include "cairn/hardware/host_need.h"
#include "cairn/options/parse.h"

namespace cairn::cli {

/// Nothing where none of the options of `kMachine` is given.
std::optional<OwnedHost> machine_of(const ParsedCommand& args);

}  // namespace cairn::cli
