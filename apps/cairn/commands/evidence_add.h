#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/workload.h"

namespace cairn::cli {

/// The option by which a prediction is asked for, of a run that was measured: nothing is taken
/// where it is not said.
constexpr OptionSpec of_the_run(OptionSpec option, std::string_view description) {
  option.default_text = {};
  option.description = description;
  return option;
}

// What the file may not say of the run.
inline constexpr OptionSpec kRunGpu{
    .name = "gpu",
    .short_name = 'g',
    .type = OptionType::text,
    .metavar = "ID",
    .description = msg("an accelerator, by id or another name of it")};
inline constexpr OptionSpec kRunEngine{
    .name = "engine",
    .short_name = 'e',
    .type = OptionType::text,
    .metavar = "ENGINE",
    .description = msg("the engine that ran, with its release: vllm@0.11.2; llama.cpp, sglang, "
                       "tensorrt-llm, atom ...")};
inline constexpr OptionSpec kRunWeights = of_the_run(
    kWeights, msg("format of the weights that ran: bf16, fp8, awq-int4, q4_k_m ...; without "
                  "it, a checkpoint's as published"));
inline constexpr OptionSpec kRunModel{
    .name = "model",
    .short_name = 'm',
    .type = OptionType::text,
    .metavar = "MODEL",
    .description = msg("the model that ran, by a name of the catalogue (see cairn models)")};
inline constexpr OptionSpec kRunCards = of_the_run(kCards, msg("number of cards that took part"));
inline constexpr OptionSpec kRunNodes{.name = "nodes",
                                      .type = OptionType::integer,
                                      .metavar = "N",
                                      .min = 1,
                                      .max = kMostCards,
                                      .description = msg("number of machines")};
inline constexpr OptionSpec kRunStack{
    .name = "stack",
    .type = OptionType::text,
    .metavar = "NAME",
    .description = msg("driver or compute stack: rocm-7.0.2, vulkan-radv-25.2")};
inline constexpr OptionSpec kRunInput =
    of_the_run(kInput, msg("tokens of a prompt, as it was asked for"));
inline constexpr OptionSpec kRunOutput =
    of_the_run(kOutput, msg("tokens generated for a prompt, as it was asked for"));
inline constexpr std::string_view kRunBatchAliases[] = {"concurrency"};
inline constexpr OptionSpec kRunBatch{
    .name = "batch",
    .short_name = 'b',
    .aliases = kRunBatchAliases,
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 1e6,
    .description = msg("sequences at once, or the most requests in flight")};
inline constexpr OptionSpec kRunRate = of_the_run(kRate, msg("requests per second that arrived"));
inline constexpr OptionSpec kRunPowerCap{.name = "power-cap",
                                         .type = OptionType::quantity,
                                         .metavar = "W",
                                         .unit = "W",
                                         .min = 1,
                                         .max = 1e5,
                                         .description = msg("power limit of each card")};
inline constexpr OptionSpec kRunBenchmark{
    .name = "benchmark",
    .type = OptionType::text,
    .metavar = "NAME",
    .description = msg("benchmark of MLPerf Inference: llama2-70b-99, llama3.1-405b ...")};
inline constexpr OptionSpec kRunInteractive{
    .name = "interactive",
    .description = msg("the summary of MLPerf is of the scenario Interactive, which it calls "
                       "Server")};
inline constexpr OptionSpec kRunWhat{
    .name = "what",
    .type = OptionType::text,
    .metavar = "COLLECTIVE",
    .description = msg("which collective ran: all_reduce, all_gather, reduce_scatter, all_to_all, "
                       "p2p")};
inline constexpr OptionSpec kRunDtype{
    .name = "dtype",
    .type = OptionType::text,
    .metavar = "TYPE",
    .description = msg("numbers of a matrix product: fp16, bf16, fp8 ...")};

// Where it comes from and where it goes.
inline constexpr OptionSpec kRunUrl{.name = "url",
                                    .type = OptionType::text,
                                    .metavar = "URL",
                                    .description = msg("page that the figures are published on")};
inline constexpr OptionSpec kRunDate{
    .name = "date",
    .type = OptionType::text,
    .metavar = "YYYY-MM-DD",
    .description = msg("when it was measured, where the file does not say")};
inline constexpr OptionSpec kRunCampaign{
    .name = "campaign",
    .type = OptionType::text,
    .metavar = "NAME",
    .default_text = "own",
    .description = msg("what shares a machine and its habits: figures of one campaign count as "
                       "relatives")};
inline constexpr OptionSpec kRunFolder{
    .name = "folder",
    .type = OptionType::text,
    .metavar = "FOLDER",
    .description = msg("folder of the evidence; without it, cairn/evidence in XDG_DATA_HOME")};
inline constexpr OptionSpec kRunDryRun{.name = "dry-run",
                                       .description = msg("show what would be added")};

inline constexpr const OptionSpec* kRunOptions[] = {
    &kRunGpu,    &kRunCards, &kRunNodes,    &kRunModel,     &kRunEngine,      &kRunWeights,
    &kKv,        &kRunStack, &kRunInput,    &kRunOutput,    &kRunBatch,       &kRunRate,
    &kHipblaslt, &kRocwmma,  &kRunPowerCap, &kRunBenchmark, &kRunInteractive, &kRunWhat,
    &kRunDtype};
inline constexpr OptionGroup kRunGroup{msg("Run"), kRunOptions};
inline constexpr const OptionSpec* kRecordOptions[] = {&kRunUrl, &kRunDate, &kRunCampaign,
                                                       &kRunFolder, &kRunDryRun};
inline constexpr OptionGroup kRecordGroup{msg("Record"), kRecordOptions};
inline constexpr const OptionGroup* kEvidenceAddGroups[] = {&kRunGroup, &kLayout, &kRecordGroup};
inline constexpr ArgumentSpec kEvidenceAddArguments[] = {
    {.metavar = "FILE",
     .description = msg("what a benchmark printed: llama-bench, vllm bench, sglang.bench_serving, "
                        "GuideLLM, AIPerf, MLPerf LoadGen, rccl-tests, nccl-tests, rocblas-bench, "
                        "hipblaslt-bench, BabelStream; or CSV with the columns of the evidence")}};
inline constexpr ExampleSpec kEvidenceAddExamples[] = {
    {"cairn evidence add bench.json --dry-run",
     msg("what llama-bench -o json printed, and what would be recorded of it")},
    {"cairn evidence add serve.json --gpu mi300x --gpus 8 --tp 8 --engine vllm@0.11.2 "
     "--stack rocm-7.0.2",
     msg("a result of vllm bench serve, which says neither card nor release")}};

inline constexpr CommandSpec kEvidenceAddCommand{
    .name = "evidence add",
    .summary = msg("record what a benchmark printed as evidence of your own"),
    .description = msg("Recognises the tool by its output and takes the figures from it. Card, "
                       "model and format are recognised where they are printed; where they are "
                       "not, an error names the option that says them. Figures that are there "
                       "already are not added again; exit status 1 if none is new."),
    .arguments = kEvidenceAddArguments,
    .groups = kEvidenceAddGroups,
    .examples = kEvidenceAddExamples,
};

Result<Answer> run_evidence_add(Context& context);

}  // namespace cairn::cli
