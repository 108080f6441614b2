// Dates as people type them.
#pragma once

#include <string>

#include "cairn/options/parse.h"

namespace cairn::cli {

/// The date of an option: YYYY, YYYY-MM or YYYY-MM-DD, and of the calendar; empty where the
/// option is not given.
Result<std::string> date_in(const ParsedCommand& args, const OptionSpec& option);

}  // namespace cairn::cli
