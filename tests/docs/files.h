// Files of the checkout, for tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// The files of a folder of the checkout whose name ends so, sorted.
inline std::vector<std::filesystem::path> files_of(std::string_view folder,
                                                   std::string_view suffix) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(CAIRN_SOURCE_DIR) / folder)) {
    if (entry.path().filename().string().ends_with(suffix)) out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace cairn::test
