// The words of the columns that have a choice: what each stands for.
#pragma once

#include <string_view>

#include "cairn/base/result.h"
#include "cairn/evidence/inference_row.h"

namespace cairn {

std::string_view name_of(SourceKind kind);
std::string_view name_of(Scenario scenario);
/// Empty for LengthKind::unknown.
std::string_view name_of(LengthKind kind);

// An error names the word and those that there are.
Result<SourceKind> parse_source_kind(std::string_view text);
Result<Scenario> parse_scenario(std::string_view text);
Result<LengthKind> parse_length_kind(std::string_view text);

}  // namespace cairn
