// What is asked of a deployment.
#pragma once

#include <cstdint>
#include <optional>

namespace cairn {

/// Requests of one shape. Lengths in tokens.
struct Workload {
  double input = 512;
  double output = 128;
  double concurrency = 1;      // requests in the whole deployment, running or waiting
  std::optional<double> rate;  // requests per second that must be served, instead
  std::int64_t context = 0;    // positions to reserve; 0: input + output
  bool input_given = false;    // by the user, not a usual one

  [[nodiscard]] std::int64_t positions() const {
    return context > 0 ? context : static_cast<std::int64_t>(input + output);
  }
};

}  // namespace cairn
