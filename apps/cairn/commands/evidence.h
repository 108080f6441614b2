#pragma once

#include "../context.h"
#include "../options/evidence.h"

namespace cairn::cli {

inline constexpr const OptionGroup* kEvidenceListGroups[] = {&kEvidenceFilters};
inline constexpr ExampleSpec kEvidenceListExamples[] = {
    {"cairn evidence list --gpu rx-7900-xtx --metric decode_tokens_per_s",
     msg("what was measured on this card")},
    {"cairn evidence list --gpu mi300x --engine vllm --kind independent --from 2025",
     msg("what others than AMD measured since 2025")}};

inline constexpr CommandSpec kEvidenceListCommand{
    .name = "evidence list",
    .summary = msg("list published measurements"),
    .description = msg("One line a figure as its page prints it; nothing is computed. Your own "
                       "evidence is among them. Exit status 1 if there is none."),
    .groups = kEvidenceListGroups,
    .examples = kEvidenceListExamples,
};

inline constexpr ArgumentSpec kEvidenceArgument[] = {
    {.metavar = "ID", .description = msg("a row, by the id that evidence list prints")}};
inline constexpr ExampleSpec kEvidenceShowExamples[] = {
    {"cairn evidence show lcpp-01335", msg("one figure with all that its page says")}};

inline constexpr CommandSpec kEvidenceShowCommand{
    .name = "evidence show",
    .summary = msg("one measurement: every column, its page, what its names stand for"),
    .arguments = kEvidenceArgument,
    .examples = kEvidenceShowExamples,
};

inline constexpr const OptionGroup* kEvidenceSourcesGroups[] = {&kSourceFilters};

inline constexpr CommandSpec kEvidenceSourcesCommand{
    .name = "evidence sources",
    .summary = msg("list the campaigns that the measurements come from"),
    .description = msg("A campaign is what shares machine, build, habits and mistakes: a "
                       "repository, one thread of it, an MLPerf submitter in a round, or a site. "
                       "With --json every page is listed."),
    .groups = kEvidenceSourcesGroups,
};

inline constexpr OptionSpec kFactor{
    .name = "factor",
    .type = OptionType::number,
    .metavar = "X",
    .min = 1.01,
    .max = 1000,
    .default_text = "1.5",
    .description = msg("from which ratio figures of one deployment contradict each other")};
inline constexpr const OptionSpec* kEvidenceCheckOptions[] = {&kFactor, &kOfTop};
inline constexpr OptionGroup kEvidenceCheckGroup{msg("Findings"), kEvidenceCheckOptions};
inline constexpr const OptionGroup* kEvidenceCheckGroups[] = {&kEvidenceCheckGroup};

inline constexpr CommandSpec kEvidenceCheckCommand{
    .name = "evidence check",
    .summary = msg("find duplicates, contradictions and unknown names in the measurements"),
    .description = msg("Duplicates say the same in every column; copies have the same value on "
                       "different pages; contradictions are figures of one deployment and "
                       "release, from different campaigns, that nothing is known against. Exit "
                       "status 1 if a row stands there twice."),
    .groups = kEvidenceCheckGroups,
};

Result<Answer> run_evidence_list(Context& context);
Result<Answer> run_evidence_show(Context& context);
Result<Answer> run_evidence_sources(Context& context);
Result<Answer> run_evidence_check(Context& context);

}  // namespace cairn::cli
