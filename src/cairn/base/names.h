// Names that people type: normalised comparison and nearest matches.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// Lower case; spaces and underscores become dashes.
std::string normalise_name(std::string_view name);

/// Edits (insert, delete, replace, swap of neighbours) between two strings.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Up to `most` of `known` that a misspelt `name` may have meant, nearest
/// first: within a third of its length in edits, or containing it.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known,
                                       std::size_t most = 3);

}  // namespace cairn
