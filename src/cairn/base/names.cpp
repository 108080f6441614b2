#include "cairn/base/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>

namespace cairn {

std::string normalise_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == ' ' || c == '_') c = '-';
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// Optimal string alignment: three rows of the classic table are enough.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known,
                                       std::size_t most) {
  constexpr std::size_t kLongest = 200;  // hostile names must not cost quadratic time
  if (name.empty() || name.size() > kLongest) return {};
  const std::string wanted = normalise_name(name);
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& candidate : known) {
    const std::string other = normalise_name(candidate);
    const std::size_t distance = edit_distance(wanted, other);
    const bool contains = wanted.size() > 2 && other.find(wanted) != std::string::npos;
    if (contains) {
      scored.emplace_back(1, candidate);
    } else if (distance <= std::max<std::size_t>(1, wanted.size() / 3)) {
      scored.emplace_back(distance, candidate);
    }
  }
  std::ranges::stable_sort(scored, [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.size(), a.second) <
           std::tuple(b.first, b.second.size(), b.second);
  });
  std::vector<std::string> out;
  for (const auto& [score, candidate] : scored) {
    if (out.size() == most) break;
    if (std::ranges::find(out, candidate) == out.end()) out.push_back(candidate);
  }
  return out;
}

}  // namespace cairn
