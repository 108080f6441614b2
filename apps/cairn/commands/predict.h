#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/money.h"
#include "../options/selection.h"
#include "../options/workload.h"
#include "fit.h"

namespace cairn::cli {

inline constexpr const OptionSpec* kPredictOutputOptions[] = {&kExplain};
inline constexpr OptionGroup kPredictOutput{msg("Output"), kPredictOutputOptions};
inline constexpr const OptionGroup* kPredictGroups[] = {
    &kDeployment, &kWorkload, &kTargets, &kLayout,       &kEngineSettings,
    &kOffload,    &kUnified,  &kMoney,   &kPredictOutput};
inline constexpr ExampleSpec kPredictExamples[] = {
    {"cairn predict qwen3-8b --gpu rx-7900-xtx --engine llama.cpp",
     msg("tokens per second of one user")},
    {"cairn predict llama-3.1-70b --gpu mi300x --engine vllm --tp 4 --concurrency 64 --input 2k "
     "--output 256",
     msg("a served model under load")}};

inline constexpr CommandSpec kPredictCommand{
    .name = "predict",
    .summary = msg("one deployment: memory, latency, throughput, power, cost"),
    .description = msg("Each figure comes with an interval and its basis: calibrated on this card "
                       "and engine, transferred from relatives, or physics only. Exit status 1 if "
                       "it does not fit or misses a target."),
    .arguments = kModelArgument,
    .groups = kPredictGroups,
    .examples = kPredictExamples,
};

Result<Answer> run_predict(Context& context);

}  // namespace cairn::cli
