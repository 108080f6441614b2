#include "cairn/hardware/name_index.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cairn/base/names.h"

namespace cairn {
namespace {

std::string key_of(std::string_view name) {
  std::string key = normalise_name(name);
  std::erase(key, '-');
  return key;
}

}  // namespace

void NameIndex::add(std::string_view name, std::size_t record) {
  names_.emplace_back(key_of(name), record);
}

void NameIndex::sort() { std::ranges::sort(names_); }

Result<std::size_t> NameIndex::find(
    std::string_view name, std::string unknown, std::string_view opening,
    const std::function<const std::string&(std::size_t)>& id_of) const {
  const std::string wanted = key_of(name);
  const auto at = [this](std::string_view key) {
    return std::ranges::lower_bound(names_, key, {}, &std::pair<std::string, std::size_t>::first);
  };
  const auto it = at(wanted);
  if (it != names_.end() && it->first == wanted) return it->second;
  // Ids are proposed, not the aliases that they were found by.
  std::vector<std::string> known;
  known.reserve(names_.size());
  for (const auto& entry : names_) known.push_back(entry.first);
  std::vector<std::string> near;
  for (const std::string& close : nearest_names(wanted, known, known.size())) {
    const std::string& id = id_of(at(close)->second);
    if (near.size() < 3 && std::ranges::find(near, id) == near.end()) near.push_back(id);
  }
  Error error = not_found(std::move(unknown)).got(name);
  if (!near.empty()) error.expected = fmt::format("{} {}", opening, fmt::join(near, ", "));
  return fail(std::move(error));
}

}  // namespace cairn
