// One replica of a deployment under load: what `predict` tells of one operating point
// and what the search over deployments evaluates by the thousand.
//
// A ReplicaModel is built once for a deployment and a shape of requests; each
// operating point after that costs a few step times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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
  /// Mean of all devices; stages whose turn it is not and replicas without a request draw
  /// idle power.
  std::optional<PowerEstimate> power;
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
  /// The same as if the memory held whatever the engine is set up for; `fill` looks.
  static Result<ReplicaModel> unfilled(const Deployment& deployment, const Workload& workload,
                                       const Knowledge& knowledge, ShapeCache* cache = nullptr);
  /// Finds out how many sequences the memory holds.
  Result<void> fill(const Deployment& deployment, MemoryCache* cache = nullptr);

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
  /// The highest rate served by numbers of requests of which `keeps` says that the
  /// limits hold, taking for granted that they hold for less where they hold for more:
  /// no number that keeps them serves more than this.
  template <class Keeps>
  [[nodiscard]] double most_served(const Keeps& keeps);
  /// Time per token at which one replica serves a rate, at least: by Little's law with
  /// the latency of a request that is alone, and no less than with fewer requests.
  [[nodiscard]] Seconds least_tpot(double rate);
  /// Power of one device at which one replica serves a rate, at least: with more requests
  /// kernels work no shorter and steps take no less time. Nothing where it is unknown or
  /// the rate is beyond the replica.
  [[nodiscard]] std::optional<Watts> least_power(double rate);
  /// Not less than most_served, from few numbers of requests: between n and 2 n no more is
  /// served than 2 n in the time that each of n takes.
  template <class Keeps>
  [[nodiscard]] double most_served_coarsely(const Keeps& keeps);

 private:
  explicit ReplicaModel(RequestTimes times) : times_(std::move(times)) {}
  struct Point {
    double present = 1;
    double served = 0;  // requests per second
    RequestTimes::Steady steady;
  };
  [[nodiscard]] Point point(double present) const;
  /// The same for numbers that are asked for again.
  [[nodiscard]] const Point& remembered(double present);
  /// The curve's point at this place, worked out if need be; null beyond the most.
  [[nodiscard]] const Point* curve(std::size_t index);
  [[nodiscard]] double most_running(double present) const;
  /// The busy time of so many requests, prompts and steps, with the shares of a device.
  [[nodiscard]] StepTime mixed(const StepTime& decode, double running) const;
  [[nodiscard]] std::optional<PowerEstimate> power_under(const Load& load) const;

  RequestTimes times_;
  Workload workload_;
  StepTime prompt_;
  const Accelerator* accelerator_ = nullptr;
  PowerParameters power_;
  bool allocates_all_ = false;  // a cache for all that it is asked for, no pool
  std::int64_t resident_ = 0;
  std::int64_t max_sequences_ = 0;
  /// What numbers of requests are served, ascending, as far as it was looked for.
  std::vector<Point> curve_;
  std::map<double, Point> remembered_;  // by the number present
};

template <class Keeps>
double ReplicaModel::most_served(const Keeps& keeps) {
  double out = 0;
  for (std::size_t i = 0;; ++i) {
    const Point* p = curve(i);
    if (p == nullptr) return out;
    out = std::max(out, p->served);
    // The first that breaks a limit: what keeps it lies before.
    if (!keeps(p->steady)) return out;
  }
}

template <class Keeps>
double ReplicaModel::most_served_coarsely(const Keeps& keeps) {
  const double most = most_running(1);
  double out = 0;
  for (double n = 1;; n = std::min(2 * n, most)) {
    const Point& p = remembered(n);
    out = std::max(out, p.served);
    if (n >= most || !keeps(p.steady)) return out;
    out = std::max(out, std::min(2 * n, most) / p.steady.latency.value());
  }
}

}  // namespace cairn
