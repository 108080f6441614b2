// Options that say what is deployed: cards, engine, formats, layout.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr Choice kEngines[] = {
    {.name = "llama.cpp", .description = msg("llama.cpp with HIP on AMD, CUDA on NVIDIA")},
    {.name = "llama.cpp-vulkan", .description = msg("llama.cpp with Vulkan")},
    {.name = "vllm", .description = msg("vLLM with ROCm or CUDA")},
    {.name = "sglang", .description = msg("SGLang with ROCm or CUDA")},
    {.name = "tensorrt-llm", .description = msg("TensorRT-LLM, NVIDIA only")},
    {.name = "transformers", .description = msg("PyTorch with Hugging Face transformers")},
    {.name = "hip", .alias_of = "llama.cpp"},
    {.name = "rocm", .alias_of = "llama.cpp"},
    {.name = "llamacpp", .alias_of = "llama.cpp"},
    {.name = "vulkan", .alias_of = "llama.cpp-vulkan"},
    {.name = "sgl", .alias_of = "sglang"},
    {.name = "trt-llm", .alias_of = "tensorrt-llm"},
    {.name = "hf", .alias_of = "transformers"},
    {.name = "pytorch", .alias_of = "transformers"}};
inline constexpr Choice kOnOff[] = {{.name = "on"}, {.name = "off"}};

inline constexpr double kMostCards = 4096;

/// For commands on several cards; `predict` takes exactly one id.
inline constexpr OptionSpec kGpu{
    .name = "gpu",
    .short_name = 'g',
    .type = OptionType::list,
    .metavar = "ID",
    .description =
        msg("accelerator, by id or another name of it (see cairn gpus); several are "
            "separated by commas; all stands for every one but those that are only announced")};
inline constexpr OptionSpec kGpus{
    .name = "gpus",
    .short_name = 'n',
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = kMostCards,
    .description = msg("number of devices; without it, as few as fit; each die "
                       "of a card of several and each partition counts")};
/// What is bought: of a card of several dies, or one that is partitioned, the whole.
inline constexpr OptionSpec kCards{.name = "gpus",
                                   .short_name = 'n',
                                   .type = OptionType::integer,
                                   .metavar = "N",
                                   .min = 1,
                                   .max = kMostCards,
                                   .default_text = "1",
                                   .description = msg("number of cards, whole ones of several dies "
                                                      "or partitions")};
inline constexpr OptionSpec kMostGpus{
    .name = "gpus",
    .short_name = 'n',
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = kMostCards,
    .description = msg("most cards, whole ones of several dies or partitions; fewer are taken "
                       "where they do; without it, 64")};
inline constexpr OptionSpec kEngine{
    .name = "engine",
    .short_name = 'e',
    .type = OptionType::choice,
    .metavar = "ENGINE",
    .choices = kEngines,
    .description = msg("inference engine, the newest release that is "
                       "described; vllm@0.11.2 for another"),
    .releases = true};
inline constexpr OptionSpec kWeights{
    .name = "weights",
    .short_name = 'w',
    .type = OptionType::text,
    .metavar = "FORMAT",
    .description = msg("weight format: bf16, fp8, awq-int4, q4_k_m ...; without it, as published, "
                       "or q4_k_m for llama.cpp")};
inline constexpr OptionSpec kLike{
    .name = "like",
    .type = OptionType::text,
    .metavar = "NAME",
    .description = msg("for a file whose architecture is not known: a model or an architecture "
                       "that it is like; the sizes are those of the file")};
inline constexpr OptionSpec kKv{.name = "kv",
                                .type = OptionType::text,
                                .metavar = "FORMAT",
                                .description = msg("format of the KV cache: fp16, fp8, q8_0 ...")};

// Layout.
inline constexpr OptionSpec kTp{
    .name = "tp",
    .aliases = {},
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 1024,
    .description = msg("tensor parallelism: cards that share each layer")};
inline constexpr OptionSpec kPp{
    .name = "pp",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 1024,
    .description = msg("pipeline stages: cards that take layers in turn")};
inline constexpr OptionSpec kEp{
    .name = "ep",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 1024,
    .description = msg("expert parallelism: cards that share the experts")};
inline constexpr OptionSpec kDp{.name = "dp",
                                .type = OptionType::integer,
                                .metavar = "N",
                                .min = 1,
                                .max = kMostCards,
                                .description = msg("replicas of the model")};

// What the engine is started with; without them, its reference configuration.
inline constexpr OptionSpec kParallel{
    .name = "parallel",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 65536,
    .description = msg("sequences the engine is set up for: --parallel of llama.cpp, "
                       "--max-num-seqs of vLLM")};
inline constexpr OptionSpec kUbatch{.name = "ubatch",
                                    .type = OptionType::quantity,
                                    .metavar = "N",
                                    .unit = "tok",
                                    .min = 1,
                                    .max = 65536,
                                    .description = msg("physical batch of llama.cpp (-ub)")};
inline constexpr OptionSpec kMaxBatchedTokens{
    .name = "max-num-batched-tokens",
    .type = OptionType::quantity,
    .metavar = "N",
    .unit = "tok",
    .min = 1,
    .max = 1e6,
    .description = msg("tokens that vLLM computes in one step")};
inline constexpr OptionSpec kFlashAttention{.name = "flash-attention",
                                            .type = OptionType::choice,
                                            .metavar = "on|off",
                                            .choices = kOnOff,
                                            .description = msg("flash attention of llama.cpp")};
inline constexpr OptionSpec kMemoryUtilization{
    .name = "gpu-memory-utilization",
    .type = OptionType::number,
    .metavar = "SHARE",
    .min = 0.05,
    .max = 1,
    .description = msg("share of the device memory that vLLM takes")};
inline constexpr OptionSpec kHipblaslt{
    .name = "hipblaslt",
    .type = OptionType::choice,
    .metavar = "on|off",
    .choices = kOnOff,
    .description = msg("matrix products of llama.cpp by hipBLASLt (ROCBLAS_USE_HIPBLASLT)")};
inline constexpr OptionSpec kRocwmma{
    .name = "rocwmma",
    .type = OptionType::choice,
    .metavar = "on|off",
    .choices = kOnOff,
    .description = msg("attention of llama.cpp by rocWMMA (GGML_HIP_ROCWMMA_FATTN)")};
inline constexpr OptionSpec kBuild{.name = "build",
                                   .type = OptionType::integer,
                                   .metavar = "N",
                                   .min = 1,
                                   .max = 1e6,
                                   .description = msg("build number of llama.cpp (b6325 is 6325)")};
// What llama.cpp keeps where.
inline constexpr Choice kSplitModes[] = {
    {.name = "layer", .description = msg("layers in turn, each with its cache")},
    {.name = "row", .description = msg("matrices by rows, caches by layers")},
    {.name = "none", .description = msg("one card")}};
inline constexpr std::string_view kNglAliases[] = {"n-gpu-layers", "gpu-layers"};
inline constexpr OptionSpec kNgl{
    .name = "ngl",
    .aliases = kNglAliases,
    .type = OptionType::integer,
    .metavar = "N",
    .min = 0,
    .max = 100'000,
    .description = msg("layers that llama.cpp puts on the cards, counted from the last, the head "
                       "as one more; the others stay in host memory")};
inline constexpr OptionSpec kCpuMoe{
    .name = "cpu-moe", .description = msg("llama.cpp keeps all experts in host memory")};
inline constexpr OptionSpec kNCpuMoe{
    .name = "n-cpu-moe",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 0,
    .max = 100'000,
    .description = msg("llama.cpp keeps the experts of the first N layers in host memory")};
inline constexpr OptionSpec kOverrideTensor{
    .name = "override-tensor",
    .type = OptionType::list,
    .metavar = "PATTERN=CPU",
    .description = msg("tensors of layers that llama.cpp keeps in host memory, by a regular "
                       "expression on names such as blk.7.ffn_up_exps.weight (-ot)")};
inline constexpr OptionSpec kSplitMode{
    .name = "split-mode",
    .type = OptionType::choice,
    .metavar = "MODE",
    .choices = kSplitModes,
    .description = msg("how llama.cpp divides a model over cards")};
inline constexpr OptionSpec kTensorSplit{
    .name = "tensor-split",
    .type = OptionType::list,
    .metavar = "SHARES",
    .description = msg("shares of the cards in what llama.cpp divides: 3,1")};
inline constexpr OptionSpec kKvUnified{.name = "kv-unified",
                                       .description = msg("llama.cpp's sequences share one cache")};
inline constexpr OptionSpec kMmproj{
    .name = "mmproj",
    .description = msg("llama.cpp loads the towers for images and sound as well")};
inline constexpr OptionSpec kSwaFull{
    .name = "swa-full",
    .description = msg("llama.cpp keeps every position of layers with a window")};

inline constexpr OptionSpec kHost{
    .name = "host",
    .type = OptionType::text,
    .metavar = "ID",
    .description = msg("machine around the cards, from cairn hosts: memory and slots count where "
                       "llama.cpp keeps weights in host memory")};
inline constexpr OptionSpec kHostBandwidth{
    .name = "host-bandwidth",
    .type = OptionType::number,
    .metavar = "RATE",
    .unit = "GB/s",
    .min = 1,
    .max = 1e5,
    .description = msg("bandwidth of the host's memory by its data sheet, all sockets")};

inline constexpr const OptionSpec* kDeploymentOptions[] = {&kGpu,     &kGpus, &kEngine,
                                                           &kWeights, &kKv,   &kLike};
inline constexpr OptionGroup kDeployment{msg("Deployment"), kDeploymentOptions};

inline constexpr const OptionSpec* kLayoutOptions[] = {&kTp, &kPp, &kEp, &kDp};
inline constexpr OptionGroup kLayout{msg("Layout"), kLayoutOptions};

inline constexpr const OptionSpec* kEngineOptions[] = {
    &kParallel,          &kUbatch,    &kMaxBatchedTokens, &kFlashAttention,
    &kMemoryUtilization, &kHipblaslt, &kRocwmma,          &kBuild};
inline constexpr OptionGroup kEngineSettings{msg("Engine settings"), kEngineOptions};

inline constexpr const OptionSpec* kOffloadOptions[] = {
    &kNgl,       &kCpuMoe,  &kNCpuMoe, &kOverrideTensor, &kSplitMode,    &kTensorSplit,
    &kKvUnified, &kSwaFull, &kMmproj,  &kHost,           &kHostBandwidth};
inline constexpr OptionGroup kOffload{msg("Places in llama.cpp"), kOffloadOptions};

// How a machine is set up whose GPU shares its memory.
inline constexpr OptionSpec kCarveOut{
    .name = "carve-out",
    .type = OptionType::quantity,
    .metavar = "SIZE",
    .unit = "GiB",
    .min = 0,
    .max = 4096,
    .description = msg("memory that the firmware sets aside for an APU's GPU")};
inline constexpr OptionSpec kGtt{
    .name = "gtt",
    .type = OptionType::quantity,
    .metavar = "SIZE",
    .unit = "GiB",
    .min = 0,
    .max = 4096,
    .description = msg("memory of the system that an APU's GPU may map (GTT)")};
inline constexpr const OptionSpec* kUnifiedOptions[] = {&kCarveOut, &kGtt};
inline constexpr OptionGroup kUnified{msg("Unified memory"), kUnifiedOptions};

}  // namespace cairn::cli
