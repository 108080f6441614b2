// One replica of a deployment under load: what `predict` tells of one operating point
// and what the search over deployments evaluates by the thousand.
//
// A ReplicaModel is built once for a deployment and a shape of requests; each
// operating point after that costs a few step times.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/cost/power.h"
#include "cairn/predict/request_times.h"
#include "cairn/predict/workload.h"

namespace cairn {

/// The state of one replica with a number of requests.
struct Load {
  double present = 1;           // requests there, running or waiting
  double running = 1;           // of them at once
  RequestTimes::Steady steady;  // waiting counts in ttft and latency
};

/// A whole deployment at one operating point.
struct OperatingPoint {
  double replicas = 1;
  double working = 1;       // replicas that have a request at a time
  Load load;                // of each of these
  bool overloaded = false;  // the rate is beyond it: figures are of its most
  bool fits = true;         // the memory holds what runs
  double requests_per_s = 0;
  double output_tokens_per_s = 0;
  std::optional<PowerEstimate> power;  // of one device
};

/// Joules that an output token takes on so many devices; nothing where the power is
/// unknown.
std::optional<double> joules_per_token(const OperatingPoint& point, double devices);

class ReplicaModel {
 public:
  /// Errors as RequestTimes::build and largest_batch. Of the workload the lengths, the
  /// context and, for one with a number of requests, that number matter.
  static Result<ReplicaModel> build(const Deployment& deployment, const Workload& workload,
                                    const Knowledge& knowledge);

  [[nodiscard]] const RequestTimes& times() const { return times_; }
  [[nodiscard]] const StepTime& prompt() const { return prompt_; }
  /// Sequences of the workload's positions that the memory holds at once, at most
  /// the number the engine is set up for; 0: not one.
  [[nodiscard]] std::int64_t resident() const { return resident_; }

  /// The workload on so many replicas.
  [[nodiscard]] OperatingPoint at(std::int64_t replicas);
  /// So many requests in each of the replicas, whatever the workload says.
  [[nodiscard]] Load under(double present, double most) const;
  /// The least number of requests in flight at which one replica serves a rate;
  /// nothing where it cannot keep up.
  [[nodiscard]] std::optional<double> present_at(double rate);

 private:
  explicit ReplicaModel(RequestTimes times) : times_(std::move(times)) {}
  [[nodiscard]] double served(double present) const;
  [[nodiscard]] double most_running(double present) const;
  [[nodiscard]] std::optional<PowerEstimate> power_under(const Load& load) const;

  RequestTimes times_;
  Workload workload_;
  StepTime prompt_;
  const Accelerator* accelerator_ = nullptr;
  PowerParameters power_;
  bool allocates_all_ = false;  // llama.cpp: cache for all that it is set up for
  std::int64_t resident_ = 0;
  std::int64_t max_sequences_ = 0;
  /// Rate served by numbers of requests, ascending, as far as it was looked for.
  std::vector<std::pair<double, double>> curve_;
};

}  // namespace cairn
