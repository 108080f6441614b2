// The commands that the pages of docs/ print do run.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "../cli/run.h"
#include "cairn/data/document.h"
#include "files.h"

namespace cairn {
namespace {

constexpr std::string_view kPrompt = "$ cairn ";

struct Printed {
  std::string words;
  bool refused = false;  // the page shows an error
};

// Lines "$ cairn ..." of a page. Left out are those that need a shell or a file
// of the reader's own.
std::vector<Printed> command_lines(const std::string& page) {
  std::vector<Printed> out;
  std::istringstream lines(page);
  bool first = false;
  for (std::string line; std::getline(lines, line);) {
    if (first) out.back().refused = line.starts_with("cairn: error:");
    first = false;
    const auto start = line.find_first_not_of(' ');
    if (start == std::string::npos || !line.substr(start).starts_with(kPrompt)) continue;
    const std::string words = line.substr(start + kPrompt.size());
    if (words.find_first_of("|<>") == std::string::npos && !words.contains(" ./")) {
      out.push_back({words});
      first = true;
    }
  }
  return out;
}

TEST(CommandLines, Run) {
  std::size_t count = 0;
  for (const std::string_view folder : {"docs", "docs/json"}) {
    for (const auto& path : test::files_of(folder, ".md")) {
      const auto page = read_file(path.string(), 8U << 20U);
      ASSERT_TRUE(page.has_value());
      for (const Printed& line : command_lines(*page)) {
        SCOPED_TRACE(path.filename().string() + ": " + line.words);
        std::vector<std::string> argv{CAIRN_PROGRAM};
        for (std::string word : test::split_command_line(line.words)) {
          if (word.starts_with("examples/")) word = CAIRN_SOURCE_DIR "/" + word;
          argv.push_back(std::move(word));
        }
        const auto outcome =
            test::run(argv, {std::string("CAIRN_DATA=") + CAIRN_IMAGE_FILE, "LC_ALL=C"});
        EXPECT_LE(outcome.status, line.refused ? 2 : 1) << outcome.err;
        EXPECT_EQ(outcome.err.starts_with("cairn: error:"), line.refused) << outcome.err;
        ++count;
      }
    }
  }
  EXPECT_GE(count, 20U);
}

}  // namespace
}  // namespace cairn
