#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/host.h"
#include "../options/money.h"
#include "../options/selection.h"
#include "../options/workload.h"

namespace cairn::cli {

inline constexpr OptionSpec kPlanModel{
    .name = "model",
    .short_name = 'm',
    .type = OptionType::text,
    .metavar = "MODEL",
    .description = msg("the model, where no file says it: a name of the catalogue, a folder with "
                       "config.json, or a GGUF file")};
inline constexpr Choice kObjectives[] = {
    {.name = "cost",
     .description = msg("cards and electricity, per year at a rate, else per token")},
    {.name = "price", .description = msg("purchase of the cards")},
    {.name = "latency", .description = msg("time per output token")},
    {.name = "throughput", .description = msg("output tokens per second")},
    {.name = "energy", .description = msg("energy per output token")}};
inline constexpr OptionSpec kObjective{
    .name = "objective",
    .type = OptionType::choice,
    .metavar = "OBJECTIVE",
    .choices = kObjectives,
    .description = msg("what is ranked by; without it, latency where a budget is to be spent "
                       "without a rate or targets, else cost")};
inline constexpr OptionSpec kPlanPower{.name = "max-power",
                                       .type = OptionType::quantity,
                                       .metavar = "W",
                                       .unit = "W",
                                       .min = 10,
                                       .max = 1e9,
                                       .description = msg("most board power of all cards")};
inline constexpr const OptionSpec* kPlanOptions[] = {&kPlanModel, &kObjective, &kBudget, &kOwned,
                                                     &kPlanPower, &kVendor,    &kTop,    &kExplain};
inline constexpr OptionGroup kPlanGroup{msg("Plan"), kPlanOptions};
inline constexpr const OptionSpec* kPlanDeploymentOptions[] = {&kGpu,     &kMostGpus, &kEngine,
                                                               &kWeights, &kKv,       &kLike};
inline constexpr OptionGroup kPlanDeployment{msg("Deployment"), kPlanDeploymentOptions};
inline constexpr const OptionGroup* kPlanGroups[] = {
    &kPlanGroup, &kPlanDeployment, &kWorkload, &kTargets, &kMachine, &kUnified, &kMoney};
inline constexpr ArgumentSpec kPlanArguments[] = {
    {.metavar = "FILE",
     .description = msg("workload in YAML; options given beside it take precedence"),
     .min = 0}};
inline constexpr ExampleSpec kPlanExamples[] = {
    {"cairn plan --model qwen3-14b --context 16k --budget 6000CNY",
     msg("what to buy for this model and budget")},
    {"cairn plan --model llama-3.1-70b --rate 20 --slo-ttft 1s --slo-tpot 50ms",
     msg("how many of which card keep these targets")}};

inline constexpr CommandSpec kPlanCommand{
    .name = "plan",
    .summary = msg("rank cards, layouts, formats and engines for a workload"),
    .description = msg("Searches cards, numbers of cards, layouts, weight formats and engines, "
                       "drops what does not fit or misses a target or the budget, and ranks the "
                       "rest. Exit status 1 if nothing is left."),
    .arguments = kPlanArguments,
    .groups = kPlanGroups,
    .examples = kPlanExamples,
};

Result<Answer> run_plan(Context& context);

}  // namespace cairn::cli
