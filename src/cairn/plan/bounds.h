// Bounds that no operating point of a variant can beat, from a few numbers: what the
// search leaves out unseen it leaves out by these.
//
//   S  bytes of weights that one token streams     B  bandwidth that kernels reach, at most
//   f  time in which one device multiplies a token with all weights at the highest rate
//      of any kernel for their types; p that of a prompt, with its attention
//   t  devices that share a layer (tp or ep)       s  pipeline stages (pp)
//   a  time of the all-reduces of a step, c of a prompt
//   h  host time of a step and launches of its operators
//   n  requests that run at once in a replica, o output tokens, o' = o - 1
//
//   step(n)    >= max(S / (t B), n f / (t s)) + h + a      one token for each of n requests
//   prompt     >= max((p / t + c) / s, S / (t B)) + h / s
//   TPOT(n)    >= step(n) + (n - 1) prompt / o'
//   TTFT       >= prompt
//   o / latency <= o / (prompt + o' TPOT(n))      output tokens per second of one request
//   requests/s <= 1 / (prompt + o' max(f / (t s), (S / (t B) + h + a) / n))
//   J/token    >= t s (idle T + (board - idle) m busy) / (n o)
//     T = n prompt + o' step(n), busy the same without h, a and c, m the smaller share of the
//     dynamic power that kernels draw
//
// f counts only where the batch is too large for matrix-vector kernels, which multiply
// while they load. The bounds hold because the time of a step is a sum of such terms
// (cost/operator_time.h, cost/collective.h, cost/power.h, predict/request_times.h).
#pragma once

#include <cstdint>
#include <map>

#include "cairn/base/units.h"
#include "cairn/cost/collective.h"
#include "cairn/cost/kernel_parameters.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/layout/layout.h"
#include "cairn/model/graph.h"
#include "cairn/model/weight_format.h"
#include "cairn/predict/workload.h"

namespace cairn {

/// What bounds need to know of a model and a workload.
struct WorkOfModel {
  Flops attention{};  // of a prompt
  double operators = 0;
  double all_reduces = 0;
  Bytes activations{};            // of one token between operators, at least
  double matrices_per_token = 1;  // the most experts that share a token's choice of one
  static WorkOfModel of(const Graph& graph, const Workload& workload);
};

/// ... of a weight format.
struct WorkOfFormat {
  Bytes total{};      // all weights
  Bytes on_device{};  // those that the devices of a replica hold together, at least
  Bytes streamed{};   // read for one token
  struct Products {
    Flops token{};   // of one token
    Flops prompt{};  // of one prompt
  };
  std::map<const TensorType*, Products> products;  // by the weights' type
  static WorkOfFormat of(const Graph& graph, const BoundWeights& weights, const Workload& workload);
};

/// How fast one device is at a format, at most.
struct FormatRates {
  Seconds token{};   // products of one token
  Seconds prompt{};  // products and attention of a prompt
  static FormatRates of(const WorkOfModel& model, const WorkOfFormat& format,
                        const Accelerator& accelerator, const KernelParameters& kernels);
};

/// Bytes of the KV cache that one sequence takes on all devices of a replica together,
/// at least: layers with a window or a state of their own are not counted.
Bytes least_cache(const Graph& graph, const KvFormat& kv, std::int64_t positions);

class Bounds {
 public:
  Bounds(const WorkOfModel& model, const WorkOfFormat& format, const FormatRates& rates,
         const Layout& replica, const Accelerator& accelerator, const KernelParameters& kernels,
         const CollectiveModel& links, const PowerParameters& power, const Workload& workload);

  [[nodiscard]] Seconds prompt() const { return prompt_; }
  [[nodiscard]] Seconds step(double running) const { return busy(running) + fixed_; }
  [[nodiscard]] Seconds tpot(double running) const;
  /// Of one replica with at most so many requests at once; with the time of a prompt
  /// where it is known.
  [[nodiscard]] double requests_per_s(double most) const { return requests_per_s(most, prompt_); }
  [[nodiscard]] double requests_per_s(double most, Seconds prompt) const;
  /// Of the output tokens of one replica with at most so many at once.
  [[nodiscard]] double joules_per_token(double most) const;
  /// Output tokens per second of one request, at most.
  [[nodiscard]] double speed(double running) const;
  /// The time per token, at most, of a request with so many output tokens per second.
  [[nodiscard]] Seconds tpot_at(double tokens_per_s) const;
  /// The most requests at once with which the time per token may keep a limit.
  [[nodiscard]] double most_within(Seconds tpot) const;
  /// The least number of requests in flight at which a replica serves so many a second.
  [[nodiscard]] double in_flight(double requests_per_s) const;

 private:
  [[nodiscard]] Seconds busy(double running) const;
  [[nodiscard]] Seconds busy_each(double most, Seconds fixed) const;

  Seconds stream_{};   // S / (t B)
  Seconds compute_{};  // f / (t s)
  Seconds fixed_{};    // h + a
  Seconds prompt_{};
  Seconds prompt_busy_{};  // of it, in kernels
  double steps_ = 0;
  double matrix_from_ = 0;  // requests beyond which matrices are multiplied
  double output_ = 1;
  double devices_ = 1;
  Watts idle_{};
  Watts dynamic_{};  // drawn while kernels run, beside idle
};

}  // namespace cairn
