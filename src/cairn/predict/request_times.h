// Closed forms for the time of requests on one deployment: single stream and a
// fixed number of concurrent requests. No queue is simulated here.
//
// A StepModel gives the time of one step in one state; these functions add steps
// up. A step's time is smooth in the context, so a sum over steps is the number
// of steps times Simpson's mean over the range.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/cost/step_time.h"
#include "cairn/predict/deployment.h"

namespace cairn {

/// Shapes of steps by weight format and layout, built once for all the deployments of a
/// search over one model. Safe to use from several threads.
class ShapeCache {
 public:
  Result<StepShapes> get(const Deployment& deployment);

 private:
  using Key = std::tuple<std::string, int, int, int>;  // format, tp, pp, ep
  std::mutex mutex_;
  std::map<Key, StepShapes> shapes_;
};

/// Positions that the model's encoder reads of every request, whatever it is given: a window
/// of sound; 0: there is no encoder, or it reads as many as the prompt has.
double window_positions(const Graph& graph);

class RequestTimes {
 public:
  /// An error (unsupported) where the catalogue knows no compute rate of the device
  /// or no link between several.
  static Result<RequestTimes> build(const Deployment& deployment, const Knowledge& knowledge,
                                    ShapeCache* cache = nullptr);

  /// Processing `tokens` prompt tokens on `context` cached ones, alone: chunks of
  /// the engine's ubatch or step budget, pipelined over stages. Of a model with an encoder:
  /// that over the prompt (or what it always reads), the keys and values of the decoder's
  /// attention to it, and the decoder's first token.
  [[nodiscard]] StepTime prefill(double tokens, double context = 0) const;
  /// `sequences` of `tokens` each, read at once for what comes out at their end: encoders.
  /// In as many steps as the engine's limit of tokens a step makes of them.
  [[nodiscard]] StepTime at_once(double sequences, double tokens) const;
  /// One decode step of `batch` sequences at a mean context.
  [[nodiscard]] StepTime decode_step(double batch, double context) const;
  /// Mean decode step while each sequence grows from `context` by `tokens`.
  [[nodiscard]] StepTime decode_mean(double batch, double context, double tokens) const;

  /// Steady state of `concurrency` requests, each replaced when it ends.
  struct Steady {
    Seconds ttft{};     // mean, from arrival to first token
    Seconds tpot{};     // mean time per output token after the first
    Seconds latency{};  // mean, of a whole request
    double requests_per_s = 0;
    StepTime decode;           // the mean decode step
    StepTime prefill;          // of one prompt
    double prefill_share = 0;  // of the busy time
  };
  [[nodiscard]] Steady steady(double concurrency, double input, double output) const {
    return steady(concurrency, input, output, prefill(input));
  }
  /// The same where prefill(input) is known: for many loads of one shape.
  [[nodiscard]] Steady steady(double concurrency, double input, double output,
                              const StepTime& prompt) const;

  /// Share of its time in which one stage works on a prompt of so many tokens: C chunks
  /// pass S equal stages in C + S - 1 turns, in C of which each works.
  [[nodiscard]] double prefill_activity(double tokens) const;
  /// The same in decode steps of so many sequences: n / S of the time, at most all of it,
  /// where the engine has several micro-batches under way; else 1 / S.
  [[nodiscard]] double decode_activity(double batch) const;

  /// One a card, after that of the host where it has work.
  [[nodiscard]] const std::vector<StepModel>& stages() const { return stages_; }
  /// Stages that are cards; at least 1.
  [[nodiscard]] std::size_t cards() const;
  /// The encoder, where the model has one that a decoder reads; else null.
  [[nodiscard]] const StepModel* encoder() const { return encoder_ ? &*encoder_ : nullptr; }
  /// Positions that an encoder reads whatever the prompt is; 0: as many as the prompt.
  [[nodiscard]] double encoder_positions() const { return encoder_positions_; }
  /// Standard deviation of the logarithm of a step's time, from the priors of the
  /// parameters weighted by the time each accounts for.
  [[nodiscard]] double sigma(const StepTime& step, bool decode) const;

 private:
  void add_encoder(const Deployment& deployment, const std::shared_ptr<const DeviceModel>& device);
  [[nodiscard]] StepTime chunks(double tokens, double context) const;
  /// StepModel::mean through all stages, one after the other. `slowest`, if any, takes the
  /// time of the longest.
  [[nodiscard]] StepTime through(const Step& step, double last, Seconds* slowest = nullptr) const;
  Result<void> add_placed(const Deployment& deployment, const Knowledge& knowledge,
                          const std::shared_ptr<const DeviceModel>& device,
                          const CollectiveModel& links);

  std::vector<StepModel> stages_;  // one a pipeline stage
  /// Stages that are not like one before them, and how many are like each.
  std::vector<std::pair<std::size_t, double>> distinct_;
  double chunk_ = 512;
  bool whole_batch_ = false;  // a batch of sequences is one step, whatever it holds
  std::optional<StepModel> encoder_;
  double encoder_positions_ = 0;  // that it always reads; 0: the prompt
  bool micro_batches_ = false;    // steps of several batches pass the stages at once
  bool pipelined_ = true;         // chunks of a prompt follow one another through the stages
  double host_sigma_ = 0;         // of the logarithm of the time of work from host memory
  Uncertainty uncertainty_;
};

}  // namespace cairn
