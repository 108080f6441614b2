#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/money.h"
#include "../options/workload.h"
#include "plan.h"

namespace cairn::cli {

inline constexpr const OptionSpec* kCompareOptions[] = {&kPlanModel, &kGpus, &kEngine,
                                                        &kWeights,   &kKv,   &kLike};
inline constexpr OptionGroup kCompareGroup{msg("Deployment"), kCompareOptions};
inline constexpr const OptionGroup* kCompareGroups[] = {&kCompareGroup,   &kWorkload, &kLayout,
                                                        &kEngineSettings, &kOffload,  &kMoney};
inline constexpr ArgumentSpec kCompareArguments[] = {
    {.metavar = "GPU",
     .description = msg("accelerators, by id or another name of them (see cairn gpus)"),
     .min = 2,
     .max = 16}};
inline constexpr ExampleSpec kCompareExamples[] = {
    {"cairn compare rx-7900-xtx rtx-4090 --model qwen3-14b --context 16k",
     msg("two cards on one model")},
    {"cairn compare mi300x h200-sxm", msg("two cards by their figures alone")}};

inline constexpr CommandSpec kCompareCommand{
    .name = "compare",
    .summary = msg("cards side by side, by their figures and on one workload"),
    .arguments = kCompareArguments,
    .groups = kCompareGroups,
    .examples = kCompareExamples,
};

Result<Answer> run_compare(Context& context);

}  // namespace cairn::cli
