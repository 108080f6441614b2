// Options that say what is asked of a deployment, and what it must keep.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr double kMostTokens = 1 << 27;

inline constexpr OptionSpec kContext{
    .name = "context",
    .short_name = 'c',
    .type = OptionType::quantity,
    .metavar = "N",
    .unit = "tok",
    .min = 1,
    .max = kMostTokens,
    .description = msg("positions to reserve for each sequence, 32k is 32768; without it, as "
                       "many as the requests take, or 4096")};
inline constexpr OptionSpec kInput{.name = "input",
                                   .short_name = 'i',
                                   .type = OptionType::quantity,
                                   .metavar = "N",
                                   .unit = "tok",
                                   .min = 1,
                                   .max = kMostTokens,
                                   .default_text = "512",
                                   .description = msg("tokens of a prompt")};
inline constexpr OptionSpec kOutput{.name = "output",
                                    .short_name = 'o',
                                    .type = OptionType::quantity,
                                    .metavar = "N",
                                    .unit = "tok",
                                    .min = 1,
                                    .max = kMostTokens,
                                    .default_text = "128",
                                    .description = msg("tokens generated for a prompt")};
inline constexpr std::string_view kConcurrencyAliases[] = {"batch"};
inline constexpr OptionSpec kConcurrency{
    .name = "concurrency",
    .short_name = 'b',
    .aliases = kConcurrencyAliases,
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 65536,
    .description = msg("requests in flight over the whole deployment; without it, one")};
inline constexpr OptionSpec kRate{.name = "rate",
                                  .short_name = 'r',
                                  .type = OptionType::number,
                                  .metavar = "R",
                                  .unit = "req/s",
                                  .min = 1e-6,
                                  .max = 1e6,
                                  .description = msg("requests per second that must be served, "
                                                     "instead of --concurrency")};

inline constexpr OptionSpec kSloTtft{.name = "slo-ttft",
                                     .type = OptionType::quantity,
                                     .metavar = "MS",
                                     .unit = "ms",
                                     .min = 0.01,
                                     .max = 3.6e6,
                                     .description = msg("longest mean time to the first token")};
inline constexpr OptionSpec kSloTpot{.name = "slo-tpot",
                                     .type = OptionType::quantity,
                                     .metavar = "MS",
                                     .unit = "ms",
                                     .min = 0.01,
                                     .max = 3.6e6,
                                     .description = msg("longest mean time per further token")};
inline constexpr const OptionSpec* kWorkloadOptions[] = {&kContext, &kInput, &kOutput,
                                                         &kConcurrency, &kRate};
inline constexpr OptionGroup kWorkload{msg("Workload"), kWorkloadOptions};

inline constexpr const OptionSpec* kTargetOptions[] = {&kSloTtft, &kSloTpot};
inline constexpr OptionGroup kTargets{msg("Targets"), kTargetOptions};

}  // namespace cairn::cli
