#pragma once

#include "../context.h"
#include "fit.h"

namespace cairn::cli {

inline constexpr OptionSpec kModelFamily{.name = "family",
                                         .type = OptionType::text,
                                         .metavar = "FAMILY",
                                         .description = msg("only this family: llama, qwen3 ...")};
inline constexpr const OptionSpec* kModelsOptions[] = {&kModelFamily};
inline constexpr OptionGroup kModelsGroup{msg("Selection"), kModelsOptions};
inline constexpr const OptionGroup* kModelsGroups[] = {&kModelsGroup};

inline constexpr CommandSpec kModelsCommand{
    .name = "models",
    .summary = msg("list the models of the catalogue"),
    .groups = kModelsGroups,
};

inline constexpr const OptionSpec* kModelsShowOptions[] = {&kWeights, &kContext, &kLike};
inline constexpr OptionGroup kModelsShowGroup{msg("Form"), kModelsShowOptions};
inline constexpr const OptionGroup* kModelsShowGroups[] = {&kModelsShowGroup};
inline constexpr ExampleSpec kModelsShowExamples[] = {
    {"cairn models show deepseek-v3", msg("structure, parameters and sizes by format")},
    {"cairn models show ./Qwen3-8B-Q4_K_M.gguf", msg("the same of a file")}};

inline constexpr CommandSpec kModelsShowCommand{
    .name = "models show",
    .summary = msg("one model: structure, parameters, sizes by format, source"),
    .arguments = kModelArgument,
    .groups = kModelsShowGroups,
    .examples = kModelsShowExamples,
};

Result<Answer> run_models(Context& context);
Result<Answer> run_models_show(Context& context);

}  // namespace cairn::cli
