// Options that say what machine somebody has.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr std::string_view kPsuAliases[] = {"own-psu"};
inline constexpr std::string_view kRamAliases[] = {"own-ram"};
inline constexpr std::string_view kSlotsAliases[] = {"own-slots"};
inline constexpr OptionSpec kPsu{.name = "psu",
                                 .aliases = kPsuAliases,
                                 .type = OptionType::quantity,
                                 .metavar = "POWER",
                                 .unit = "W",
                                 .min = 1,
                                 .max = 1e6,
                                 .description = msg("rating of the power supply you have")};
inline constexpr OptionSpec kRam{.name = "ram",
                                 .aliases = kRamAliases,
                                 .type = OptionType::quantity,
                                 .metavar = "SIZE",
                                 .unit = "GiB",
                                 .min = 0,
                                 .max = 1e6,
                                 .description = msg("memory of the machine you have")};
inline constexpr OptionSpec kSlots{.name = "slots",
                                   .aliases = kSlotsAliases,
                                   .type = OptionType::integer,
                                   .metavar = "N",
                                   .min = 0,
                                   .max = 64,
                                   .description = msg("slots for cards that you have")};
inline constexpr OptionSpec kSlotLanes{
    .name = "slot-lanes",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 32,
    .description = msg("PCIe lanes of the narrowest of these slots")};
inline constexpr OptionSpec kSlotGeneration{
    .name = "slot-generation",
    .type = OptionType::integer,
    .metavar = "N",
    .min = 1,
    .max = 6,
    .description = msg("PCIe generation of the slowest of these slots")};
inline constexpr OptionSpec kCaseSlots{.name = "case-slots",
                                       .type = OptionType::integer,
                                       .metavar = "N",
                                       .min = 0,
                                       .max = 64,
                                       .description = msg("slot widths that your case has")};

inline constexpr const OptionSpec* kMachineOptions[] = {
    &kPsu, &kRam, &kSlots, &kSlotLanes, &kSlotGeneration, &kCaseSlots};
inline constexpr OptionGroup kMachine{msg("What you have"), kMachineOptions};

}  // namespace cairn::cli
