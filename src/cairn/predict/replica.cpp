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
    const bool inside = x > low && x < high;
    if (!inside || i % 8 == 7) x = (low + high) / 2;
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
  CAIRN_TRY(ReplicaModel out, unfilled(d, workload, knowledge));
  CAIRN_CHECK(out.fill(d));
  return out;
}

Result<ReplicaModel> ReplicaModel::unfilled(const Deployment& d, const Workload& workload,
                                            const Knowledge& knowledge, ShapeCache* cache) {
  CAIRN_TRY(RequestTimes times, RequestTimes::build(d, knowledge, cache));
  ReplicaModel out(std::move(times));
  out.workload_ = workload;
  out.prompt_ = out.times_.prefill(workload.input);
  out.accelerator_ = d.accelerator;
  out.power_ = knowledge.cost.power();
  out.allocates_all_ = !is_server(*d.engine) && !workload.rate;
  out.max_sequences_ = std::max<std::int64_t>(1, d.config.max_sequences);
  out.resident_ = out.max_sequences_;
  return out;
}

Result<void> ReplicaModel::fill(const Deployment& d, MemoryCache* cache) {
  std::int64_t wanted = max_sequences_;
  if (!workload_.rate) {
    // No replica ever has more than all requests.
    const double all = std::ceil(std::clamp(workload_.concurrency, 1.0, 1e9));
    wanted = std::min(wanted, static_cast<std::int64_t>(all));
  }
  MemoryDemand demand = memory_demand(d, workload_.positions(), 1);
  demand.cache = cache;
  CAIRN_TRY(resident_, largest_batch(demand, *d.engine, *d.accelerator, wanted));
  // What was worked out for more than fit does not hold.
  if (!curve_.empty() && curve_.back().present > most_running(1)) curve_.clear();
  return {};
}

// Sequences that run at once of those present. llama.cpp and transformers allocate for
// all they are asked for, or do not fit; the others let what finds no room in the cache wait.
double ReplicaModel::most_running(double present) const {
  const double most = std::max(1.0, static_cast<double>(resident_));
  if (!allocates_all_) return most;
  return std::min(std::max(1.0, present), static_cast<double>(max_sequences_));
}

ReplicaModel::Point ReplicaModel::point(double present) const {
  Point out;
  out.present = present;
  out.steady = times_.steady(std::max(1.0, present), workload_.input, workload_.output, prompt_);
  // Below one request in flight the deployment is idle part of the time.
  out.served = std::min(present, 1.0) * out.steady.requests_per_s;
  return out;
}

const ReplicaModel::Point& ReplicaModel::remembered(double present) {
  const auto found = remembered_.find(present);
  if (found != remembered_.end()) return found->second;
  return remembered_.emplace(present, point(present)).first->second;
}

const ReplicaModel::Point* ReplicaModel::curve(std::size_t index) {
  const double most = most_running(1);
  while (curve_.size() <= index) {
    if (curve_.empty()) {
      curve_.push_back(remembered(1));
      continue;
    }
    const double last = curve_.back().present;
    if (last >= most) return nullptr;
    curve_.push_back(remembered(std::min(most, next_point(last))));
  }
  return &curve_[index];
}

std::optional<double> ReplicaModel::present_at(double rate) {
  std::size_t i = 0;
  const Point* high = curve(0);
  while (high != nullptr && high->served < rate) high = curve(++i);
  if (high == nullptr) return std::nullopt;
  // Below one request in flight the rate is proportional to it.
  if (i == 0) return rate / high->served;
  const Point& low = curve_[i - 1];
  const auto beyond = [&](double n) { return point(n).served / rate - 1; };
  return crossing(low.present, low.served / rate - 1, high->present, high->served / rate - 1,
                  beyond);
}

Seconds ReplicaModel::least_tpot(double rate) {
  const double present = rate * curve(0)->steady.latency.value();
  Seconds out = curve(0)->steady.tpot;
  for (std::size_t i = 1;; ++i) {
    const Point* p = curve(i);
    if (p == nullptr || p->present > present) return out;
    out = p->steady.tpot;
  }
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
  if (out.power) {
    out.power->load =
        out.power->idle + (out.power->load - out.power->idle) * (out.working / out.replicas);
  }
  return out;
}

StepTime ReplicaModel::mixed(const StepTime& decode, double running) const {
  StepTime out = decode;
  const double steps = std::max(0.0, workload_.output - 1);
  const auto blend = [&](Seconds prefill, Seconds step) {
    return prefill * running + step * steps;
  };
  out.total = blend(prompt_.total, decode.total);
  // Of one device: while another stage works, it waits.
  const double prefill_share = times_.prefill_activity(workload_.input);
  const double decode_share = times_.decode_activity(running);
  out.memory_bound =
      blend(prompt_.memory_bound * prefill_share, decode.memory_bound * decode_share);
  out.compute_bound =
      blend(prompt_.compute_bound * prefill_share, decode.compute_bound * decode_share);
  out.fixed = blend(prompt_.fixed, decode.fixed);
  return out;
}

std::optional<PowerEstimate> ReplicaModel::power_under(const Load& load) const {
  return power_during(mixed(load.steady.decode, load.running), *accelerator_, power_);
}

std::optional<Watts> ReplicaModel::least_power(double rate) {
  const auto& board = accelerator_->board_power;
  if (!board) return std::nullopt;
  std::size_t i = 0;
  const Point* high = curve(0);
  while (high != nullptr && high->served < rate) high = curve(++i);
  if (high == nullptr) return std::nullopt;
  const Point& low = curve_[i > 0 ? i - 1 : 0];
  const StepTime fewer = mixed(low.steady.decode, low.present);
  const StepTime more = mixed(curve_[i].steady.decode, curve_[i].present);
  const double busy = (fewer.memory_bound + fewer.compute_bound) / more.total;
  const Watts idle = idle_power(*accelerator_, *board, power_);
  const double share = std::min(power_.memory_bound.value, power_.compute_bound.value);
  return idle + (*board - idle) * std::clamp(share * busy, 0.0, 1.0);
}

}  // namespace cairn
