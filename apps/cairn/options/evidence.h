// Options that choose rows of evidence.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr Choice kSourceKinds[] = {
    {.name = "vendor", .description = msg("by who makes the card or the engine")},
    {.name = "independent", .description = msg("by others, with a method that is described")},
    {.name = "mlperf", .description = msg("submitted to MLPerf")},
    {.name = "community", .description = msg("by users")},
    {.name = "user", .description = msg("your own")}};
inline constexpr Choice kEvidenceSets[] = {
    {.name = "inference", .description = msg("language models")},
    {.name = "micro", .description = msg("kernels, copies and collectives")},
    {.name = "training", .description = msg("training")},
    {.name = "vision", .description = msg("encoders, vision and diffusion")}};

inline constexpr OptionSpec kOfSet{.name = "set",
                                   .type = OptionType::choice,
                                   .metavar = "SET",
                                   .choices = kEvidenceSets,
                                   .description = msg("only this kind of figure")};
inline constexpr OptionSpec kOfGpu{
    .name = "gpu",
    .short_name = 'g',
    .type = OptionType::list,
    .metavar = "GPU",
    .description = msg("only of these accelerators, by any name of them")};
inline constexpr OptionSpec kOfModel{.name = "model",
                                     .short_name = 'm',
                                     .type = OptionType::list,
                                     .metavar = "MODEL",
                                     .description = msg("only of these models, by name")};
inline constexpr OptionSpec kOfEngine{
    .name = "engine",
    .short_name = 'e',
    .type = OptionType::list,
    .metavar = "ENGINE",
    .description = msg("only of these engines, libraries or frameworks")};
inline constexpr OptionSpec kOfMetric{.name = "metric",
                                      .type = OptionType::list,
                                      .metavar = "METRIC",
                                      .description = msg("only these: decode_tokens_per_s ...")};
inline constexpr OptionSpec kOfCampaign{
    .name = "campaign",
    .type = OptionType::list,
    .metavar = "NAME",
    .description = msg("only of these campaigns; a repository stands for its threads too")};
inline constexpr OptionSpec kOfKind{.name = "kind",
                                    .type = OptionType::choice,
                                    .metavar = "KIND",
                                    .choices = kSourceKinds,
                                    .description = msg("only what these measured")};
inline constexpr OptionSpec kOfFrom{
    .name = "from",
    .type = OptionType::text,
    .metavar = "DATE",
    .description = msg("not older than this: 2025, 2025-06 or 2025-06-30")};
inline constexpr OptionSpec kOfTo{.name = "to",
                                  .type = OptionType::text,
                                  .metavar = "DATE",
                                  .description = msg("not newer than this")};
inline constexpr OptionSpec kOfSound{
    .name = "sound", .description = msg("only figures that nothing is known against")};
inline constexpr OptionSpec kOfTop{.name = "top",
                                   .type = OptionType::integer,
                                   .metavar = "N",
                                   .min = 1,
                                   .max = 1e6,
                                   .default_text = "50",
                                   .description = msg("number of answers to print")};

inline constexpr const OptionSpec* kEvidenceFilterOptions[] = {
    &kOfSet,  &kOfGpu,  &kOfModel, &kOfEngine, &kOfMetric, &kOfCampaign,
    &kOfKind, &kOfFrom, &kOfTo,    &kOfSound,  &kOfTop};
inline constexpr OptionGroup kEvidenceFilters{msg("Selection"), kEvidenceFilterOptions};
inline constexpr const OptionSpec* kSourceFilterOptions[] = {&kOfCampaign, &kOfKind, &kOfFrom,
                                                             &kOfTo, &kOfTop};
inline constexpr OptionGroup kSourceFilters{msg("Selection"), kSourceFilterOptions};

}  // namespace cairn::cli
