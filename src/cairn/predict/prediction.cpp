#include "cairn/predict/prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cairn/predict/money.h"
#include "cairn/predict/placed_stages.h"
#include "cairn/predict/usual_host.h"

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
  // A value that cannot exceed `most`.
  void add_below(std::string name, double value, double sigma, std::string unit, double most) {
    add(std::move(name), value, sigma, std::move(unit));
    list_.back().high = std::max(value, std::min(list_.back().high, most));
  }
  void exact(std::string name, double value, std::string unit) {
    list_.push_back({std::move(name), value, value, value, std::move(unit), basis_});
  }
  std::vector<Metric> take() { return std::move(list_); }

 private:
  Basis basis_;
  std::vector<Metric> list_;
};

MemoryDemand demand_of(const Deployment& d, const Workload& w) {
  const double each = std::ceil(w.concurrency / d.layout.dp);
  return memory_demand(d, w.positions(),
                       std::clamp<std::int64_t>(static_cast<std::int64_t>(each), 1,
                                                std::max<std::int64_t>(1, d.config.max_sequences)));
}

// Of the logarithm of the time that requests take, prompts and steps together.
double time_sigma(const RequestTimes& times, const RequestTimes::Steady& s) {
  const double share = s.prefill_share;
  return std::hypot(share * times.sigma(s.prefill, false),
                    (1 - share) * times.sigma(s.decode, true));
}

void add_times(Metrics& m, const RequestTimes& times, const OperatingPoint& point,
               const Workload& w) {
  const auto& s = point.load.steady;
  const double sp = times.sigma(s.prefill, false);
  const double sd = times.sigma(s.decode, true);
  const double both = time_sigma(times, s);
  m.add("prefill_tokens_per_s", w.input / s.prefill.total.value() * point.working, sp, "tok/s");
  if (w.output > 1) {
    m.add("decode_tokens_per_s", point.load.running / s.decode.total.value() * point.working, sd,
          "tok/s");
  }
  // A queue that grows without bound has no mean wait.
  if (!point.overloaded) m.add("ttft_ms_mean", in_ms(s.ttft), sp, "ms");
  if (w.output > 1) m.add("tpot_ms_mean", in_ms(s.tpot), both, "ms");
  if (!point.overloaded) m.add("e2e_ms_mean", in_ms(s.latency), both, "ms");
  const double sigma = w.rate ? 0 : both;
  m.add("requests_per_s", point.requests_per_s, sigma, "req/s");
  m.add("output_tokens_per_s", point.output_tokens_per_s, sigma, "tok/s");
  m.add("total_tokens_per_s", point.requests_per_s * (w.input + w.output), sigma, "tok/s");
}

// Of all devices.
void add_power(Metrics& m, const PowerEstimate& power, const Deployment& d) {
  const double devices = d.layout.devices();
  m.add_below("power_w", power.load.value() * devices, power.sigma, "W",
              d.accelerator->board_power.value_or(power.load).value() * devices);
}

void add_power_of_tokens(Metrics& m, const Prediction& p, const Deployment& d,
                         const OperatingPoint& point, double time_sigma) {
  if (!p.power) return;
  add_power(m, *p.power, d);
  // Power while it works times the time that a token takes.
  if (const auto energy = joules_per_token(point, d.layout.devices())) {
    m.add("energy_j_per_token", *energy, std::hypot(p.power->sigma, time_sigma), "J/token");
  }
}

void add_memory(Metrics& m, const Prediction& p, const Deployment& d) {
  m.exact("weights_gib", in_gib(d.weights.total(*d.model.graph)), "GiB");
  const auto tokens = static_cast<double>(p.memory.kv_tokens);
  if (is_server(*d.engine)) {
    m.add("kv_cache_tokens", tokens, p.memory.sigma, "tokens");
  } else {
    m.exact("kv_cache_tokens", tokens, "tokens");
  }
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

namespace {

// What the figures of work from host memory rest on.
Result<void> note_host(const Deployment& d, const Prediction& p, const Knowledge& knowledge,
                       std::vector<Message>& notes) {
  if (p.prefill.from_host <= Seconds{} && p.decode.from_host <= Seconds{}) return {};
  CAIRN_TRY(const HostMemory host, host_memory(d, knowledge));
  const auto percent = [](Seconds part, Seconds whole) {
    return std::lround(100 * (part / whole));
  };
  notes.push_back(message("work from host memory: {} % of prefill, {} % of decode",
                          percent(p.prefill.from_host, p.prefill.total),
                          percent(p.decode.from_host, p.decode.total)));
  notes.push_back(message("host memory of {} GB/s, {} GB/s to a card",
                          std::lround(host.bandwidth.value() / 1e9),
                          std::lround(host.link.value() / 1e9)));
  if (!host.host.empty() && d.host == nullptr) {
    notes.push_back(message("the host is taken to be {}; --host names another", host.host));
  }
  return {};
}

std::string gib(Bytes bytes) { return fmt::format("{:.1f} GiB", in_gib(bytes)); }

// What is missing on the device that falls short most, or on the host.
void note_shortage(const Deployment& d, const MemoryDemand& demand, const Knowledge& knowledge,
                   Prediction& p) {
  if (p.memory.fits || p.memory.devices.empty()) return;
  const bool devices_hold = std::ranges::none_of(
      p.memory.devices, [](const DeviceMemory& m) { return m.required > m.capacity; });
  if (p.memory.host_lacks() && devices_hold) {
    p.notes.push_back(note_of_host(d, p.memory, knowledge));
    return;
  }
  const DeviceMemory& worst = *std::ranges::max_element(
      p.memory.devices, {}, [](const DeviceMemory& m) { return m.required / m.capacity; });
  // vLLM counts all that it holds against its share.
  const double share = d.engine->family == EngineFamily::vllm ? d.config.memory_fraction : 1;
  p.notes.push_back(message("does not fit: {} needs {} and may take {}, weights are {}",
                            worst.device, gib(worst.required * share), gib(worst.capacity * share),
                            gib(worst.part("weights"))));
  if (p.memory.kv_tokens < demand.context) {
    p.notes.push_back(message("the cache holds {} of the {} positions of a request",
                              p.memory.kv_tokens, demand.context));
  }
}

}  // namespace

namespace {

// What is told of any deployment.
Prediction described(const Deployment& d, const Workload& workload, const CostTerms& terms) {
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
  p.notes = notes_of(d.model);
  return p;
}

// What was learnt about other architectures is carried over to one that is not known.
Basis basis_of(const Deployment& d) {
  return {d.model.like.empty() ? BasisKind::physics : BasisKind::transferred, 0};
}

void note_overload(Prediction& p) {
  p.notes.push_back(
      message("overloaded: the deployment cannot serve this rate, so the queue grows "
              "without bound"));
  p.workload.rate.reset();
}

// What a machine with shared memory has to be told where its kernel's default is less than
// is needed: the share of the catalogue is what can be set.
Result<void> note_pools(const Deployment& d, const Knowledge& knowledge, Prediction& p) {
  const Accelerator& a = *d.accelerator;
  if (!a.unified_memory || !a.set_up.empty()) return {};
  Bytes need{};
  for (const DeviceMemory& m : p.memory.devices) need = std::max(need, m.required);
  CAIRN_TRY(const auto pools, knowledge.unified.pools(a, d.engine->id, {}, need));
  if (!pools || pools->parameters.empty()) return {};
  std::vector<std::string> parameters;
  for (const KernelParameter& k : pools->parameters) {
    parameters.push_back(fmt::format("{}={}", k.name, k.value));
  }
  const auto note = [&](std::string_view sentence) {
    return message(sentence, a.id, d.engine->id, gib(pools->carve_out), gib(pools->default_gtt),
                   d.weights.format, fmt::format("{}", fmt::join(parameters, " ")));
  };
  p.notes.push_back(
      pools->larger_only
          ? note(msg("{} in {} takes the larger of carve-out and GTT, by default {} and {}; for {} "
                     "set {}"))
          : note(msg("{} in {} takes the carve-out and GTT, by default {} and {}; for {} set {}")));
  return {};
}

// What is to be known of the hardware and the model at so many positions.
void note_limits(const Deployment& d, double positions, Prediction& p) {
  const ModelSpec& spec = d.model.graph->spec;
  if (spec.max_context > 0 && positions > static_cast<double>(spec.max_context)) {
    p.notes.push_back(
        message("the model was made for {} positions, not for {}", spec.max_context, positions));
  }
  if (p.announced) p.notes.push_back(message("announced hardware: figures are the vendor's"));
  if (d.accelerator->devices_per_card > 1) {
    p.notes.push_back(message("a card of {} is {} devices; figures are of devices: {}, cards: {}",
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
}

// A batch of sequences that is read at once, each replica having its share: encoders.
Result<Prediction> predict_batch(const Deployment& d, const Workload& workload,
                                 const CostTerms& terms, const Knowledge& knowledge) {
  Prediction p = described(d, workload, terms);
  Workload& w = p.workload;
  w.output = 0;
  CAIRN_CHECK(check_positions(d.model, w.positions()));
  CAIRN_TRY(const RequestTimes times, RequestTimes::build(d, knowledge));
  p.parameters = times.stages().back().device().kernels.id;
  const double replicas = std::min<double>(d.layout.dp, w.concurrency);
  const double batch = std::ceil(w.concurrency / replicas);
  p.prefill = times.at_once(batch, w.input);
  const MemoryDemand demand = demand_of(d, w);
  CAIRN_TRY(p.memory, estimate_memory(demand, *d.engine, *d.accelerator));
  note_shortage(d, demand, knowledge, p);
  const double most = w.concurrency / p.prefill.total.value();
  if (w.rate && *w.rate > most) note_overload(p);
  const double rate = w.rate.value_or(most);
  const double busy = rate / most;
  Metrics m(basis_of(d));
  m.exact("weights_gib", in_gib(d.weights.total(*d.model.graph)), "GiB");
  if (p.memory.fits) {
    const double sigma = times.sigma(p.prefill, false);
    m.add("batch_ms_mean", in_ms(p.prefill.total), sigma, "ms");
    m.add("sequences_per_s", rate, w.rate ? 0 : sigma, "seq/s");
    m.add("total_tokens_per_s", rate * w.input, w.rate ? 0 : sigma, "tok/s");
    p.power = power_during(p.prefill, *d.accelerator, knowledge.cost.power());
    if (p.power) {
      const double share = busy * replicas / d.layout.dp;
      p.power->load = p.power->idle + (p.power->load - p.power->idle) * share;
      add_power(m, *p.power, d);
      m.add("energy_j_per_sequence", p.power->load.value() * d.layout.devices() / rate,
            std::hypot(p.power->sigma, sigma), "J/seq");
    }
    CAIRN_TRY(p.money, count_money(d, p.power, 0, terms, knowledge));
  }
  p.metrics = m.take();
  note_limits(d, w.input, p);
  return p;
}

}  // namespace

Result<Workload> workload_for(const Workload& workload, const Graph& graph) {
  Workload out = workload;
  if (const double window = window_positions(graph); window > 0) {
    if (workload.input_given && workload.input != window) {
      return fail(bad_input("the encoder reads a window of sound, whatever the input is")
                      .in("--input")
                      .got(fmt::format("{:.0f}", workload.input))
                      .want(fmt::format("{:.0f} positions, or nothing", window)));
    }
    out.input = window;
  }
  if (purpose_of(graph.spec) == Purpose::rewriting && out.context == 0) {
    out.context = static_cast<std::int64_t>(out.output) + 1;
  }
  return out;
}

Result<Prediction> predict(const Deployment& d, const Workload& workload, const CostTerms& terms,
                           const Knowledge& knowledge) {
  const ModelSpec& spec = d.model.graph->spec;
  if (purpose_of(spec) == Purpose::features) return predict_batch(d, workload, terms, knowledge);
  CAIRN_TRY(const Workload seen, workload_for(workload, *d.model.graph));
  Prediction p = described(d, seen, terms);
  Workload& w = p.workload;
  CAIRN_CHECK(check_positions(d.model, w.positions()));
  CAIRN_TRY(ReplicaModel model, ReplicaModel::build(d, w, knowledge));
  p.parameters = model.times().stages().back().device().kernels.id;
  const OperatingPoint point = model.at(d.layout.dp);
  if (point.overloaded) note_overload(p);
  if (workload.rate) w.concurrency = point.load.present * point.replicas;
  const MemoryDemand demand = demand_of(d, w);
  CAIRN_TRY(p.memory, estimate_memory(demand, *d.engine, *d.accelerator));
  note_shortage(d, demand, knowledge, p);
  CAIRN_CHECK(note_pools(d, knowledge, p));
  Metrics metrics(basis_of(d));
  add_memory(metrics, p, d);
  p.prefill = point.load.steady.prefill;
  p.decode = point.load.steady.decode;
  CAIRN_CHECK(note_host(d, p, knowledge, p.notes));
  if (model.times().encoder_positions() > 0) {
    p.notes.push_back(message("the encoder reads {} positions, whatever the input is",
                              model.times().encoder_positions()));
  }
  if (p.memory.fits) {
    add_times(metrics, model.times(), point, w);
    p.power = point.power;
    add_power_of_tokens(metrics, p, d, point, time_sigma(model.times(), point.load.steady));
    if (point.working < point.replicas) {
      p.notes.push_back(
          message("{} of {} replicas have a request at a time", point.working, point.replicas));
    }
    if (point.load.running < point.load.present) {
      p.notes.push_back(message("{} of {} requests run at once in each replica; the others wait",
                                point.load.running, point.load.present));
    }
    CAIRN_TRY(p.money, count_money(d, p.power, point.output_tokens_per_s, terms, knowledge));
  }
  p.metrics = metrics.take();
  const bool rewrites = purpose_of(spec) == Purpose::rewriting;
  note_limits(d, std::max(static_cast<double>(w.context), rewrites ? w.output : w.input + w.output),
              p);
  return p;
}

Result<std::vector<Explanation>> explain(const Deployment& d, const Workload& workload,
                                         const Knowledge& knowledge) {
  CAIRN_TRY(const RequestTimes times, RequestTimes::build(d, knowledge));
  CAIRN_TRY(const Workload w, workload_for(workload, *d.model.graph));
  std::vector<Explanation> out;
  const auto add = [&](std::string_view phase, std::span<const StepModel> stages,
                       const Step& step) {
    for (const StepModel& stage : stages) {
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
  if (purpose_of(d.model.graph->spec) == Purpose::features) {
    add("prefill", times.stages(),
        {.sequences = batch, .tokens_per_sequence = w.input, .context = 0, .output_tokens = batch});
    return out;
  }
  const StepModel* encoder = times.encoder();
  if (encoder != nullptr) {
    add("prefill", {encoder, 1},
        {.sequences = 1, .tokens_per_sequence = w.input, .context = 0, .output_tokens = 0});
  }
  // A decoder begins with one token of its own where an encoder has read the input.
  add("prefill", times.stages(),
      {.sequences = 1,
       .tokens_per_sequence = encoder != nullptr ? 1 : w.input,
       .context = 0,
       .output_tokens = 1});
  add("decode", times.stages(),
      {.sequences = batch,
       .tokens_per_sequence = 1,
       .context = encoder != nullptr ? 1 : w.input + w.output / 2,
       .output_tokens = batch});
  return out;
}

}  // namespace cairn
