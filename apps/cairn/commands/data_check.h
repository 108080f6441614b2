#pragma once

#include "../context.h"

namespace cairn::cli {

inline constexpr ExampleSpec kDataCheckExamples[] = {
    {"cairn data check", msg("check the installed data")},
    {"cairn data check --data build/dev/share/cairn/cairn.image",
     msg("check the data of a build tree after an edit")}};

inline constexpr CommandSpec kDataCheckCommand{
    .name = "data check",
    .summary = msg("check every fact file against its schema"),
    .description = msg("Every document of the data image is checked against its schema: types, "
                       "ranges, forms, names that must be distinct, sources that must exist. Each "
                       "finding names file, line and field. Exit status 1 if there is any."),
    .examples = kDataCheckExamples,
};

Result<Answer> run_data_check(Context& context);

}  // namespace cairn::cli
