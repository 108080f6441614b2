#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/selection.h"
#include "../options/workload.h"

namespace cairn::cli {

inline constexpr const OptionSpec* kFitWorkloadOptions[] = {&kContext, &kConcurrency};
inline constexpr OptionGroup kFitWorkload{msg("Workload"), kFitWorkloadOptions};
inline constexpr const OptionGroup* kFitGroups[] = {
    &kDeployment, &kFitWorkload, &kLayout, &kEngineSettings, &kOffload, &kUnified, &kFilters};
inline constexpr ArgumentSpec kModelArgument[] = {
    {.metavar = "MODEL",
     .description = msg("a name of the catalogue (see cairn models), a folder with config.json, or "
                        "a GGUF file")}};
inline constexpr ExampleSpec kFitExamples[] = {
    {"cairn fit qwen3-32b --gpu rx-7900-xtx --context 32k",
     msg("which weight formats fit, and the longest context of each")},
    {"cairn fit llama-3.1-70b --gpu all --weights fp8 --vendor amd",
     msg("which AMD cards hold the model, and how many of each")}};

inline constexpr CommandSpec kFitCommand{
    .name = "fit",
    .summary = msg("what fits on which card: format, context, batch"),
    .description = msg("For each card and weight format: the memory that weights, KV cache and "
                       "engine take, the longest context, the most sequences. Exit status 1 if "
                       "nothing fits."),
    .arguments = kModelArgument,
    .groups = kFitGroups,
    .examples = kFitExamples,
};

Result<Answer> run_fit(Context& context);

}  // namespace cairn::cli
