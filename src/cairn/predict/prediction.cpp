#include "cairn/predict/prediction.h"

#include <algorithm>
#include <cmath>

#include "cairn/predict/money.h"

namespace cairn {
namespace {

// Half-width of an 80 % interval of a normal distribution, in sigmas.
constexpr double kEighty = 1.2816;

class Metrics {
 public:
  explicit Metrics(Basis basis) : basis_(basis) {}
  void add(std::string name, double value, double sigma, std::string unit) {
    const double factor = std::exp(kEighty * sigma);
    list_.push_back(
        {std::move(name), value, value / factor, value * factor, std::move(unit), basis_});
  }
  void exact(std::string name, double value, std::string unit) {
    list_.push_back({std::move(name), value, value, value, std::move(unit), basis_});
  }
  std::vector<Metric> take() { return std::move(list_); }

 private:
  Basis basis_;
  std::vector<Metric> list_;
};

// The least number of requests in flight that serves an arrival rate; nothing where
// the deployment cannot keep up. The rate served dips where a bigger batch takes
// another kernel, mostly beyond a power of two, so the first crossing is looked for in
// steps that meet them before it is refined.
std::optional<double> concurrency_at(const RequestTimes& times, double rate, double input,
                                     double output, double most) {
  const StepTime prompt = times.prefill(input);
  const auto served = [&](double n) {
    // Below one request in flight the deployment is idle part of the time.
    return std::min(n, 1.0) * times.steady(std::max(1.0, n), input, output, prompt).requests_per_s;
  };
  const auto next = [](double n) {
    if (n < 16) return n + 1;
    return std::min(std::floor(n * 1.25), std::exp2(std::floor(std::log2(n)) + 1));
  };
  double low = 0;
  double high = 1;
  while (served(high) < rate) {
    if (high >= most) return std::nullopt;
    low = high;
    high = std::min(most, next(high));
  }
  constexpr int kSteps = 24;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (served(middle) < rate ? low : high) = middle;
  }
  return high;
}

MemoryDemand demand_of(const Deployment& d, const Workload& w) {
  const double each = std::ceil(w.concurrency / d.layout.dp);
  return memory_demand(d, w.positions(),
                       std::clamp<std::int64_t>(static_cast<std::int64_t>(each), 1,
                                                std::max<std::int64_t>(1, d.config.max_sequences)));
}

void add_times(Metrics& m, const RequestTimes& times, const RequestTimes::Steady& s,
               const Workload& w, double replicas, double running) {
  const double sp = times.sigma(s.prefill, false);
  const double sd = times.sigma(s.decode, true);
  const double share = s.prefill_share;
  const double both = std::sqrt(std::pow(share * sp, 2) + std::pow((1 - share) * sd, 2));
  m.add("prefill_tokens_per_s", w.input / s.prefill.total.value() * replicas, sp, "tok/s");
  if (w.output > 1) {
    m.add("decode_tokens_per_s", running / s.decode.total.value() * replicas, sd, "tok/s");
  }
  m.add("ttft_ms_mean", in_ms(s.ttft), sp, "ms");
  if (w.output > 1) m.add("tpot_ms_mean", in_ms(s.tpot), both, "ms");
  m.add("e2e_ms_mean", in_ms(s.latency), both, "ms");
  const double busy = w.rate ? *w.rate : s.requests_per_s * replicas;
  const double sigma = w.rate ? 0 : both;
  m.add("requests_per_s", busy, sigma, "req/s");
  m.add("output_tokens_per_s", busy * w.output, sigma, "tok/s");
  m.add("total_tokens_per_s", busy * (w.input + w.output), sigma, "tok/s");
}

void add_power(Metrics& m, Prediction& p, const RequestTimes::Steady& s, const Accelerator& a,
               const CostData& cost, double output_rate, double running) {
  StepTime mixed = s.decode;
  const double steps = std::max(0.0, p.workload.output - 1);
  const StepTime& whole = s.prefill;
  // Shares of the busy time: prompts of all running requests, then the steps.
  const auto blend = [&](Seconds prefill, Seconds decode) {
    return prefill * running + decode * steps;
  };
  mixed.total = blend(whole.total, s.decode.total);
  mixed.memory_bound = blend(whole.memory_bound, s.decode.memory_bound);
  mixed.compute_bound = blend(whole.compute_bound, s.decode.compute_bound);
  mixed.fixed = blend(whole.fixed, s.decode.fixed);
  p.power = power_during(mixed, a, cost.power());
  if (!p.power) return;
  const double devices = p.layout.devices();
  m.add("power_w", p.power->load.value() * devices, p.power->sigma, "W");
  if (output_rate > 0) {
    const double sigma = std::hypot(p.power->sigma, 0.2);
    m.add("energy_j_per_token", p.power->load.value() * devices / output_rate, sigma, "J/token");
  }
}

// Sequences that one replica runs at once. llama.cpp allocates for all it is asked
// for, or does not fit; vLLM lets what finds no KV blocks wait.
Result<double> most_running(const Deployment& d, const Workload& w, bool fixed_number) {
  if (fixed_number && d.engine->family == EngineFamily::llama_cpp) {
    return std::min(std::max(1.0, w.concurrency / d.layout.dp),
                    static_cast<double>(d.config.max_sequences));
  }
  CAIRN_TRY(const std::int64_t most,
            largest_batch(demand_of(d, w), *d.engine, *d.accelerator, d.config.max_sequences));
  return static_cast<double>(std::max<std::int64_t>(1, most));
}

// `present` requests of which `running` run at once. The others wait their turn:
// by Little's law a request is there for present / rate.
RequestTimes::Steady with_queue(const RequestTimes& times, double present, double running,
                                const Workload& w) {
  auto s = times.steady(running, w.input, w.output);
  if (present <= running) return s;
  const Seconds whole(present / s.requests_per_s);
  s.ttft += whole - s.latency;
  s.latency = whole;
  return s;
}

void add_memory(Metrics& m, const Prediction& p, const Graph& graph, const BoundWeights& weights) {
  m.exact("weights_gib", in_gib(weights.total(graph)), "GiB");
  m.add("kv_cache_tokens", static_cast<double>(p.memory.kv_tokens), p.memory.sigma, "tokens");
}

}  // namespace

std::string_view name_of(BasisKind kind) {
  switch (kind) {
    case BasisKind::calibrated:
      return "calibrated";
    case BasisKind::transferred:
      return "transferred";
    case BasisKind::physics:
      return "physics";
  }
  return "physics";
}

const Metric* Prediction::metric(std::string_view name) const {
  const auto it = std::ranges::find(metrics, name, &Metric::name);
  return it != metrics.end() ? &*it : nullptr;
}

Result<Prediction> predict(const Deployment& d, const Workload& workload, const CostTerms& terms,
                           const Knowledge& knowledge) {
  Prediction p;
  p.model = d.model.name;
  p.money.currency = terms.currency;
  p.accelerator = d.accelerator->id;
  p.announced = d.accelerator->status == Status::announced;
  p.engine = d.engine->id;
  p.weights = d.weights.format;
  p.weights_approximate = d.weights.approximate;
  p.kv = d.kv.name;
  p.layout = d.layout;
  p.config = d.config;
  p.workload = workload;
  Workload& w = p.workload;
  CAIRN_TRY(const RequestTimes times, RequestTimes::build(d, knowledge));
  p.parameters = times.stages().front().device().kernels.id;
  const double replicas = d.layout.dp;
  CAIRN_TRY(const double most, most_running(d, w, !w.rate));
  if (w.rate) {
    const auto n = concurrency_at(times, *w.rate / replicas, w.input, w.output, most);
    if (!n) {
      p.notes.push_back(message("overloaded: the deployment cannot serve this rate"));
      w.rate.reset();
      w.concurrency = most * replicas;
    } else {
      w.concurrency = std::max(1.0, *n) * replicas;
    }
  }
  CAIRN_TRY(p.memory, estimate_memory(demand_of(d, w), *d.engine, *d.accelerator));
  Metrics metrics({BasisKind::physics, 0});
  add_memory(metrics, p, *d.model.graph, d.weights);
  // Replicas without a request stand idle.
  const double working = std::min(replicas, std::max(1.0, w.concurrency));
  const double present = std::max(1.0, w.concurrency / replicas);
  const double running = std::min(present, most);
  const auto s = with_queue(times, present, running, w);
  p.prefill = s.prefill;
  p.decode = s.decode;
  if (p.memory.fits) {
    add_times(metrics, times, s, w, working, running);
    const double rate = w.rate ? *w.rate : s.requests_per_s * working;
    add_power(metrics, p, s, *d.accelerator, knowledge.cost, rate * w.output, running);
    if (working < replicas) {
      p.notes.push_back(message("{} of {} replicas have a request at a time", working, replicas));
    }
    if (running < present) {
      p.notes.push_back(message("{} of {} requests run at once in each replica; the others wait",
                                running, present));
    }
    CAIRN_TRY(p.money, count_money(d, p.power, rate * w.output, terms, knowledge.prices));
  }
  p.metrics = metrics.take();
  const ModelSpec& spec = d.model.graph->spec;
  const auto positions = std::max(static_cast<double>(w.context), w.input + w.output);
  if (spec.max_context > 0 && positions > static_cast<double>(spec.max_context)) {
    p.notes.push_back(
        message("the model was made for {} positions, not for {}", spec.max_context, positions));
  }
  if (p.announced) p.notes.push_back(message("announced hardware: figures are the vendor's"));
  if (d.accelerator->devices_per_card > 1) {
    p.notes.push_back(message("a card of {} is {} devices; figures are of {} devices on {} cards",
                              d.accelerator->id, d.accelerator->devices_per_card,
                              d.layout.devices(), d.accelerator->cards(d.layout.devices())));
  }
  if (d.layout.tp * d.layout.pp > 1 && d.accelerator->scale_up.topology != Topology::none &&
      d.layout.tp * d.layout.pp > d.accelerator->scale_up.max_devices) {
    p.notes.push_back(message("direct links join {} devices; more are timed through PCIe",
                              d.accelerator->scale_up.max_devices));
  }
  if (p.weights_approximate) {
    p.notes.push_back(message("the format's recipe is not public: a stand-in of about its size"));
  }
  return p;
}

Result<std::vector<Explanation>> explain(const Deployment& d, const Workload& w,
                                         const Knowledge& knowledge) {
  CAIRN_TRY(const RequestTimes times, RequestTimes::build(d, knowledge));
  std::vector<Explanation> out;
  const auto add = [&](std::string_view phase, const Step& step) {
    for (const StepModel& stage : times.stages()) {
      for (const GroupTime& g : stage.explain(step)) {
        Explanation e{std::string(phase), g.group->name, g.group->count, g.time,
                      g.group->type != nullptr ? g.group->type->name : std::string()};
        e.time.total *= e.count;
        e.time.compute *= e.count;
        e.time.memory *= e.count;
        e.time.unpack *= e.count;
        e.time.launch *= e.count;
        e.time.flops *= e.count;
        e.time.bytes *= e.count;
        out.push_back(std::move(e));
      }
    }
  };
  const double batch = std::max(1.0, w.concurrency / d.layout.dp);
  add("prefill",
      {.sequences = 1, .tokens_per_sequence = w.input, .context = 0, .output_tokens = 1});
  add("decode", {.sequences = batch,
                 .tokens_per_sequence = 1,
                 .context = w.input + w.output / 2,
                 .output_tokens = batch});
  return out;
}

}  // namespace cairn
