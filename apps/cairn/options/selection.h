// Options that choose among entries of a catalogue or among answers.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr Choice kVendors[] = {
    {.name = "amd"}, {.name = "nvidia"}, {.name = "any", .description = msg("every vendor")}};
inline constexpr Choice kStatuses[] = {
    {.name = "shipping", .description = msg("sold or rented today")},
    {.name = "announced", .description = msg("not yet sold")},
    {.name = "end-of-life", .description = msg("no longer made")},
    {.name = "any", .description = msg("whatever its status")}};

inline constexpr OptionSpec kVendor{.name = "vendor",
                                    .type = OptionType::choice,
                                    .metavar = "VENDOR",
                                    .default_text = "any",
                                    .choices = kVendors,
                                    .description = msg("only cards of this vendor")};
inline constexpr OptionSpec kStatus{.name = "status",
                                    .type = OptionType::choice,
                                    .metavar = "STATUS",
                                    .default_text = "any",
                                    .choices = kStatuses,
                                    .description = msg("only cards of this status")};
inline constexpr OptionSpec kFamily{
    .name = "family",
    .type = OptionType::text,
    .metavar = "FAMILY",
    .description = msg("only this family or architecture: radeon, instinct, rdna3, hopper ...")};
inline constexpr OptionSpec kMinMemory{.name = "min-memory",
                                       .type = OptionType::quantity,
                                       .metavar = "SIZE",
                                       .unit = "GiB",
                                       .min = 0,
                                       .max = 1e6,
                                       .description = msg("least device memory")};
inline constexpr OptionSpec kMaxPrice{
    .name = "max-price",
    .type = OptionType::money,
    .metavar = "AMOUNT",
    .description = msg("highest price of one card: 600USD; cards without a price are left out")};
inline constexpr OptionSpec kTop{.name = "top",
                                 .type = OptionType::integer,
                                 .metavar = "N",
                                 .min = 1,
                                 .max = 1000,
                                 .default_text = "10",
                                 .description = msg("number of answers to print")};
inline constexpr OptionSpec kExplain{
    .name = "explain",
    .short_name = 'x',
    .description =
        msg("show how the answer comes about: each operator, its bytes, FLOPs and time")};

inline constexpr const OptionSpec* kFilterOptions[] = {&kVendor, &kFamily, &kStatus, &kMinMemory,
                                                       &kMaxPrice};
inline constexpr OptionGroup kFilters{msg("Selection"), kFilterOptions};

}  // namespace cairn::cli
