// Names of catalogue records, and the records they stand for.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

/// Names without regard to case, spaces, dashes and underscores: "RX 7900XT",
/// "rx-7900-xt" and "rx7900xt" are one.
class NameIndex {
 public:
  void add(std::string_view name, std::size_t record);
  /// To be called after the last name and before the first search.
  void sort();
  /// The record of a name. An unknown one is an error (not_found, `unknown`) that
  /// proposes the ids of up to three near ones: "{opening} mi300x, mi300a".
  [[nodiscard]] Result<std::size_t> find(
      std::string_view name, std::string unknown, std::string_view opening,
      const std::function<const std::string&(std::size_t)>& id_of) const;

 private:
  std::vector<std::pair<std::string, std::size_t>> names_;  // as they are compared, sorted
};

}  // namespace cairn
