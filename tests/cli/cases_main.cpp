// Runs the acceptance cases of a folder against the program:
//   test_cases PROGRAM FOLDER
// Prints a line for each case and closes with "N passed, N failed".
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "cairn/data/yaml.h"
#include "cases.h"

namespace {

int run(const std::string& program, const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  int passed = 0;
  int failed = 0;
  for (const std::string& file : files) {
    const auto document = cairn::load_yaml(file);
    const auto results = document ? cairn::test::run_cases(program, document->root())
                                  : std::unexpected(document.error());
    if (!results) {
      fmt::print("FAILED  {}\n", results.error().to_string());
      ++failed;
      continue;
    }
    for (const auto& result : *results) {
      const bool good = result.failures.empty();
      ++(good ? passed : failed);
      fmt::print("{}  {}\n", good ? "ok    " : "FAILED", result.name);
      for (const std::string& failure : result.failures) fmt::print("        {}\n", failure);
    }
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: test_cases PROGRAM FOLDER\n", stderr);
    return 2;
  }
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "test_cases: %s\n", e.what());
    return 3;
  }
}
