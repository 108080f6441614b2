// The options that every command accepts.
#pragma once

#include "cairn/options/spec.h"

namespace cairn::cli {

inline constexpr Choice kLanguages[] = {{.name = "en", .description = msg("English")},
                                        {.name = "zh", .description = msg("Chinese")}};

inline constexpr OptionSpec kJson{
    .name = "json", .description = msg("print JSON with a versioned schema instead of text")};
inline constexpr OptionSpec kLang{
    .name = "lang",
    .type = OptionType::choice,
    .choices = kLanguages,
    .description = msg("language of the output; otherwise LC_ALL, LC_MESSAGES or LANG decides")};
inline constexpr OptionSpec kQuiet{
    .name = "quiet", .short_name = 'q', .description = msg("no notes and no progress on stderr")};
inline constexpr OptionSpec kNoColor{
    .name = "no-color", .description = msg("no colours on a terminal, as NO_COLOR=1 does")};
inline constexpr OptionSpec kData{
    .name = "data",
    .type = OptionType::text,
    .metavar = "FILE",
    .description = msg("data image to use instead of the one installed; also CAIRN_DATA")};
inline constexpr OptionSpec kTimings{
    .name = "timings", .description = msg("print how long the program's own stages took")};
inline constexpr OptionSpec kVersion{.name = "version", .description = msg("print the version")};
inline constexpr OptionSpec kHelp{
    .name = "help", .short_name = 'h', .description = msg("print help on the command")};

inline constexpr const OptionSpec* kGlobalOptions[] = {&kJson, &kLang,    &kQuiet,   &kNoColor,
                                                       &kData, &kTimings, &kVersion, &kHelp};
inline constexpr OptionGroup kGlobals{msg("Global options"), kGlobalOptions};

}  // namespace cairn::cli
