#include "cairn/predict/replica.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

// The numbers of requests at which the rate served is looked at. It dips where a bigger
// batch takes another kernel, mostly beyond a power of two, so the steps meet those.
double next_point(double n) {
  if (n < 16) return n + 1;
  return std::min(std::floor(n * 1.25), std::exp2(std::floor(std::log2(n)) + 1));
}

// The least n in (low, high] with f(n) >= 0, where f(low) < 0 <= f(high): regula falsi
// that halves the value of an end which stays (Illinois), so both ends move.
template <class F>
double crossing(double low, double f_low, double high, double f_high, const F& f) {
  constexpr int kSteps = 40;
  constexpr double kPrecision = 1e-9;
  int side = 0;
  for (int i = 0; i < kSteps && high - low > kPrecision * high; ++i) {
    double x = (low * f_high - high * f_low) / (f_high - f_low);
    // A jump pulls the secant to one end: then halve.
    if (!(x > low && x < high) || i % 8 == 7) x = (low + high) / 2;
    const double y = f(x);
    if (y >= 0) {
      high = x;
      f_high = y;
      if (side == 1) f_low /= 2;
      side = 1;
      // Close enough from above is the answer.
      if (y < kPrecision) break;
    } else {
      low = x;
      f_low = y;
      if (side == -1) f_high /= 2;
      side = -1;
    }
  }
  return high;
}

}  // namespace

std::optional<double> joules_per_token(const OperatingPoint& point, double devices) {
  if (!point.power || !(point.output_tokens_per_s > 0)) return std::nullopt;
  return point.power->load.value() * devices / point.output_tokens_per_s;
}

Result<ReplicaModel> ReplicaModel::build(const Deployment& d, const Workload& workload,
                                         const Knowledge& knowledge) {
  CAIRN_TRY(RequestTimes times, RequestTimes::build(d, knowledge));
  ReplicaModel out(std::move(times));
  out.workload_ = workload;
  out.prompt_ = out.times_.prefill(workload.input);
  out.accelerator_ = d.accelerator;
  out.power_ = knowledge.cost.power();
  out.allocates_all_ = d.engine->family == EngineFamily::llama_cpp && !workload.rate;
  out.max_sequences_ = d.config.max_sequences;
  std::int64_t wanted = d.config.max_sequences;
  if (!workload.rate) {
    // No replica ever has more than all requests.
    const double all = std::ceil(std::clamp(workload.concurrency, 1.0, 1e9));
    wanted = std::min(wanted, static_cast<std::int64_t>(all));
  }
  CAIRN_TRY(out.resident_, largest_batch(memory_demand(d, workload.positions(), 1), *d.engine,
                                         *d.accelerator, std::max<std::int64_t>(1, wanted)));
  return out;
}

// Sequences that run at once of those present. llama.cpp allocates for all it is asked
// for, or does not fit; the others let what finds no room in the cache wait.
double ReplicaModel::most_running(double present) const {
  const double most = std::max(1.0, static_cast<double>(resident_));
  if (!allocates_all_) return most;
  return std::min(std::max(1.0, present), static_cast<double>(max_sequences_));
}

double ReplicaModel::served(double present) const {
  // Below one request in flight the deployment is idle part of the time.
  return std::min(present, 1.0) *
         times_.steady(std::max(1.0, present), workload_.input, workload_.output, prompt_)
             .requests_per_s;
}

std::optional<double> ReplicaModel::present_at(double rate) {
  const double most = most_running(1);
  if (curve_.empty()) curve_.emplace_back(1, served(1));
  std::size_t i = 0;
  while (curve_[i].second < rate) {
    const double n = curve_[i].first;
    if (n >= most) return std::nullopt;
    if (++i < curve_.size()) continue;
    const double next = std::min(most, next_point(n));
    curve_.emplace_back(next, served(next));
  }
  const auto below = [&](double n) { return served(n) / rate - 1; };
  const auto [low, low_rate] = i > 0 ? curve_[i - 1] : std::pair(0.0, 0.0);
  // Below one request in flight the rate is proportional to it.
  if (i == 0) return rate / curve_[0].second;
  return crossing(low, low_rate / rate - 1, curve_[i].first, curve_[i].second / rate - 1, below);
}

// `present` requests of which `most` at most run at once. The others wait their turn: by
// Little's law a request is there for present / rate.
Load ReplicaModel::under(double present, double most) const {
  Load out;
  out.present = present;
  out.running = std::min(present, most);
  out.steady = times_.steady(out.running, workload_.input, workload_.output, prompt_);
  if (present > out.running) {
    const Seconds whole(present / out.steady.requests_per_s);
    out.steady.ttft += whole - out.steady.latency;
    out.steady.latency = whole;
  }
  return out;
}

OperatingPoint ReplicaModel::at(std::int64_t replicas) {
  OperatingPoint out;
  out.replicas = static_cast<double>(replicas);
  double all = workload_.concurrency;
  if (workload_.rate) {
    const auto n = present_at(*workload_.rate / out.replicas);
    out.overloaded = !n;
    all = out.replicas * std::max(1.0, n.value_or(most_running(1)));
  }
  // Replicas without a request stand idle.
  out.working = std::min(out.replicas, std::max(1.0, all));
  const double present = std::max(1.0, all / out.replicas);
  out.load = under(present, most_running(present));
  const double held = allocates_all_ ? std::ceil(out.load.running) : 1;
  out.fits = static_cast<double>(resident_) >= held;
  const bool kept_up = workload_.rate && !out.overloaded;
  out.requests_per_s = kept_up ? *workload_.rate : out.load.steady.requests_per_s * out.working;
  out.output_tokens_per_s = out.requests_per_s * workload_.output;
  out.power = power_under(out.load);
  return out;
}

std::optional<PowerEstimate> ReplicaModel::power_under(const Load& load) const {
  StepTime mixed = load.steady.decode;
  const double steps = std::max(0.0, workload_.output - 1);
  // Shares of the busy time: prompts of all running requests, then the steps.
  const auto blend = [&](Seconds prefill, Seconds decode) {
    return prefill * load.running + decode * steps;
  };
  const StepTime& decode = load.steady.decode;
  mixed.total = blend(prompt_.total, decode.total);
  mixed.memory_bound = blend(prompt_.memory_bound, decode.memory_bound);
  mixed.compute_bound = blend(prompt_.compute_bound, decode.compute_bound);
  mixed.fixed = blend(prompt_.fixed, decode.fixed);
  return power_during(mixed, *accelerator_, power_);
}

}  // namespace cairn
