#pragma once

#include "../context.h"
#include "../options/selection.h"

namespace cairn::cli {

inline constexpr const OptionGroup* kGpusGroups[] = {&kFilters};
inline constexpr ExampleSpec kGpusExamples[] = {
    {"cairn gpus --vendor amd --min-memory 24GiB", msg("AMD cards with at least 24 GiB")},
    {"cairn gpus --max-price 6000CNY", msg("what can be bought for this price")}};

inline constexpr CommandSpec kGpusCommand{
    .name = "gpus",
    .summary = msg("list the accelerators of the catalogue"),
    .description = msg("Peak rates are dense, by matrix units with 32-bit accumulation. Announced "
                       "hardware is marked. Prices are the median of recent quotes."),
    .groups = kGpusGroups,
    .examples = kGpusExamples,
};

inline constexpr ArgumentSpec kGpuArgument[] = {
    {.metavar = "ID", .description = msg("an accelerator, by id or another name of it")}};
inline constexpr ExampleSpec kGpusShowExamples[] = {
    {"cairn gpus show mi300x", msg("every figure of the MI300X with its source")}};

inline constexpr CommandSpec kGpusShowCommand{
    .name = "gpus show",
    .summary = msg("one accelerator: every figure with its source, and its prices"),
    .arguments = kGpuArgument,
    .examples = kGpusShowExamples,
};

Result<Answer> run_gpus(Context& context);
Result<Answer> run_gpus_show(Context& context);

}  // namespace cairn::cli
