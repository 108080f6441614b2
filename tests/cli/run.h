// Runs a program and collects what it prints.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace cairn::test {

struct Outcome {
  int status = -1;  // exit status; 128 + signal if it was killed
  std::string out;
  std::string err;
};

/// Runs argv[0] with the environment of this process plus `extra` ("NAME=value"
/// sets, "NAME" unsets) and nothing on its input. Killed after a minute.
Outcome run(const std::vector<std::string>& argv, const std::vector<std::string>& extra = {});

/// The words of a command line: separated by spaces, quoted by ' or ".
std::vector<std::string> split_command_line(const std::string& line);

}  // namespace cairn::test
