#include "cairn/plan/plan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <thread>
#include <tuple>

#include "cairn/plan/variants.h"

namespace cairn {
namespace {

constexpr double kHoursPerYear = 8766;
constexpr double kNone = std::numeric_limits<double>::infinity();

// A constraint that a variant breaks.
struct Violation {
  std::string constraint;
  double limit = 0;
  double needed = 0;
  std::string unit;
  std::string reason;

  // How far off: the ratio that is above one.
  [[nodiscard]] double excess() const {
    if (constraint == "support") return kNone;
    if (limit <= 0) return needed;  // no budget at all: the cheapest is nearest
    return constraint == "tokens_per_s" ? limit / needed : needed / limit;
  }
};

// One variant after evaluation: a candidate, or what stands against it.
struct Outcome {
  std::optional<Candidate> candidate;
  std::vector<Violation> violations;
};

class Evaluator {
 public:
  Evaluator(const ModelInput& model, const PlanRequest& request, const Knowledge& knowledge)
      : model_(&model), request_(&request), knowledge_(&knowledge) {}

  Result<Outcome> evaluate(const Variant& v) {
    Outcome out;
    DeploymentRequest r;
    r.accelerator = v.accelerator;
    r.engine = v.engine;
    r.weights = v.format;
    r.kv = request_->constraints.kv;
    r.layout = v.layout;
    auto deployment = resolve(*model_, r, *knowledge_);
    if (!deployment) return refused(std::move(deployment).error());
    // What does not fit is timed all the same: whether it is all that stands in the way.
    CAIRN_TRY(const std::int64_t resident, resident_batch(*deployment, out));
    const std::int64_t batch = std::max<std::int64_t>(1, resident);
    const auto times = RequestTimes::build(*deployment, *knowledge_);
    if (!times) return refused(Error(times.error()));
    const StepTime prompt = times->prefill(workload().input);
    const double load = largest_load(*times, prompt, static_cast<double>(batch), out);
    const std::int64_t replicas = replicas_for(*times, prompt, load);
    deployment->layout.dp = static_cast<int>(replicas);
    return finish(*deployment, std::move(out));
  }

  [[nodiscard]] std::int64_t evaluated() const { return evaluated_; }

 private:
  // What the engine, the model or the data do not support counts against the variant;
  // anything else is an error.
  static Result<Outcome> refused(Error&& error) {
    if (error.kind != ErrorKind::unsupported) return std::unexpected(std::move(error));
    Outcome out;
    out.violations.push_back({"support", 0, 0, "", error.to_string()});
    return out;
  }

  [[nodiscard]] const Workload& workload() const { return request_->workload; }
  [[nodiscard]] const Constraints& limits() const { return request_->constraints; }

  // Sequences that fit at once; 0 with a violation if not even one does.
  Result<std::int64_t> resident_batch(const Deployment& d, Outcome& out) {
    const MemoryDemand demand = memory_demand(d, workload().positions(), 1);
    CAIRN_TRY(const MemoryEstimate one, estimate_memory(demand, *d.engine, *d.accelerator));
    ++evaluated_;
    if (!one.fits) {
      const auto worst = std::ranges::max_element(
          one.devices, {}, [](const DeviceMemory& m) { return m.required / m.capacity; });
      out.violations.push_back(
          {"memory", in_gib(worst->capacity), in_gib(worst->required), "GiB", ""});
      return 0;
    }
    return largest_batch(demand, *d.engine, *d.accelerator, d.config.max_sequences);
  }

  // The largest number of requests in flight per replica within the latency
  // limits; 1 with violations if even a single one breaks them.
  double largest_load(const RequestTimes& times, const StepTime& prompt, double most,
                      Outcome& out) {
    const auto within = [&](double n) { return latency_violations(times, prompt, n).empty(); };
    ++evaluated_;
    if (auto broken = latency_violations(times, prompt, 1); !broken.empty()) {
      out.violations.insert(out.violations.end(), broken.begin(), broken.end());
      return 1;
    }
    if (within(most)) return most;
    double low = 1;
    double high = most;
    while (high - low > 0.5) {
      const double middle = std::floor((low + high) / 2);
      if (middle <= low) break;
      (within(middle) ? low : high) = middle;
    }
    return low;
  }

  std::vector<Violation> latency_violations(const RequestTimes& times, const StepTime& prompt,
                                            double n) {
    const auto s = times.steady(n, workload().input, workload().output, prompt);
    std::vector<Violation> out;
    const Constraints& c = limits();
    if (c.ttft_ms && in_ms(s.ttft) > *c.ttft_ms) {
      out.push_back({"ttft", *c.ttft_ms, in_ms(s.ttft), "ms", ""});
    }
    if (c.tpot_ms && in_ms(s.tpot) > *c.tpot_ms) {
      out.push_back({"tpot", *c.tpot_ms, in_ms(s.tpot), "ms", ""});
    }
    const double speed = s.tpot > Seconds{} ? 1 / s.tpot.value() : kNone;
    if (c.tokens_per_s && speed < *c.tokens_per_s) {
      out.push_back({"tokens_per_s", *c.tokens_per_s, speed, "tok/s", ""});
    }
    return out;
  }

  [[nodiscard]] std::int64_t replicas_for(const RequestTimes& times, const StepTime& prompt,
                                          double load) const {
    double wanted = 1;
    if (workload().rate) {
      const auto s = times.steady(load, workload().input, workload().output, prompt);
      wanted = *workload().rate / s.requests_per_s;
    } else {
      wanted = workload().concurrency / load;
    }
    constexpr double kMost = 1e6;
    return static_cast<std::int64_t>(std::ceil(std::clamp(wanted, 1.0, kMost)));
  }

  Result<Outcome> finish(Deployment& d, Outcome out) {
    const std::int64_t devices = d.layout.devices();
    const std::int64_t cards = d.accelerator->cards(devices);
    const Constraints& c = limits();
    if (cards > c.max_cards) {
      out.violations.push_back(
          {"cards", static_cast<double>(c.max_cards), static_cast<double>(cards), "cards", ""});
    }
    if (c.power_w) {
      const auto board = d.accelerator->board_power;
      const double watts = board ? board->value() * static_cast<double>(devices) : kNone;
      if (watts > *c.power_w) out.violations.push_back({"power", *c.power_w, watts, "W", ""});
    }
    CAIRN_TRY(const auto price, price_of(d, cards));
    if (c.budget) {
      CAIRN_TRY(const double budget,
                knowledge_->prices.convert(*c.budget, c.budget_currency, request_->terms.currency));
      if (!price) {
        out.violations.push_back({"budget", budget, kNone, request_->terms.currency, ""});
      } else if (*price > budget) {
        out.violations.push_back({"budget", budget, *price, request_->terms.currency, ""});
      }
    }
    if (!out.violations.empty()) return out;
    ++evaluated_;
    Candidate candidate;
    CAIRN_TRY(candidate.prediction, predict(d, workload(), request_->terms, *knowledge_));
    candidate.cards = cards;
    candidate.price = price;
    candidate.bits_per_weight = 8 * d.weights.total(*d.model.graph).value() /
                                static_cast<double>(count_parameters(*d.model.graph).total);
    add_yearly_cost(candidate);
    out.candidate = std::move(candidate);
    return out;
  }

  // The cards that are not owned; nothing where no price is known.
  Result<std::optional<double>> price_of(const Deployment& d, std::int64_t cards) const {
    std::int64_t to_buy = cards;
    for (const auto& [id, n] : limits().owned) {
      if (id == d.accelerator->id) to_buy = std::max<std::int64_t>(0, to_buy - n);
    }
    if (to_buy == 0) return std::optional<double>(0.0);
    const auto quote = knowledge_->prices.purchase(d.accelerator->id);
    if (!quote) return std::optional<double>{};
    CAIRN_TRY(const double each,
              knowledge_->prices.convert(quote->amount, quote->currency, request_->terms.currency));
    return std::optional<double>(each * static_cast<double>(to_buy));
  }

  void add_yearly_cost(Candidate& c) const {
    const CostFigures& m = c.prediction.money;
    if (!c.price || !m.energy_per_hour) return;
    const CostTerms& t = request_->terms;
    const double hours = kHoursPerYear * t.utilisation;
    c.yearly_cost = *c.price / t.amortisation_years + *m.energy_per_hour * hours;
  }

  const ModelInput* model_;
  const PlanRequest* request_;
  const Knowledge* knowledge_;
  std::int64_t evaluated_ = 0;
};

double metric_or(const Prediction& p, std::string_view name, double fallback) {
  const Metric* m = p.metric(name);
  return m != nullptr ? m->value : fallback;
}

// Smaller is better; candidates without the figure come last. A rate is the same
// work for all of them; without one, cost is of a token, or doing less would pay.
double objective_value(const Candidate& c, Objective objective) {
  switch (objective) {
    case Objective::cost:
      if (!c.yearly_cost) return kNone;
      if (c.prediction.workload.rate) return *c.yearly_cost;
      return *c.yearly_cost / metric_or(c.prediction, "output_tokens_per_s", 0);
    case Objective::price:
      return c.price.value_or(kNone);
    case Objective::latency:
      return metric_or(c.prediction, "tpot_ms_mean", kNone);
    case Objective::throughput:
      return -metric_or(c.prediction, "output_tokens_per_s", 0);
    case Objective::energy:
      return metric_or(c.prediction, "energy_j_per_token", kNone);
  }
  return kNone;
}

// Of two variants on the same cards money prefers neither: the one with more
// bits per weight loses less quality, then the faster one.
bool better(const Candidate& a, const Candidate& b, Objective objective) {
  const bool money = objective == Objective::cost || objective == Objective::price;
  const auto key = [&](const Candidate& c) {
    const double first = money ? static_cast<double>(c.cards) : objective_value(c, objective);
    return std::tuple(first, -c.bits_per_weight, metric_or(c.prediction, "tpot_ms_mean", kNone));
  };
  return key(a) < key(b);
}

void mark_pareto(std::vector<Candidate>& candidates) {
  const auto axes = [](const Candidate& c) {
    return std::array<double, 4>{c.yearly_cost.value_or(kNone),
                                 metric_or(c.prediction, "tpot_ms_mean", kNone),
                                 -metric_or(c.prediction, "output_tokens_per_s", 0),
                                 metric_or(c.prediction, "energy_j_per_token", kNone)};
  };
  for (Candidate& c : candidates) {
    const auto mine = axes(c);
    c.pareto = std::ranges::none_of(candidates, [&](const Candidate& other) {
      const auto theirs = axes(other);
      bool worse = false;
      bool strictly = false;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        worse = worse || theirs[i] > mine[i];
        strictly = strictly || theirs[i] < mine[i];
      }
      return !worse && strictly;
    });
  }
}

// What came nearest to qualifying on one accelerator.
struct Nearest {
  std::optional<Rejection> rejection;
  double excess = kNone;

  void offer(const Variant& v, const Violation& x) {
    if (rejection && x.excess() >= excess) return;
    excess = x.excess();
    rejection = Rejection{v.accelerator->id, v.engine->id, x.constraint, x.limit,
                          x.needed,          x.unit,       x.reason};
  }
};

// By constraint: how far off, and what would do.
using Relaxations = std::map<std::string, std::pair<double, Relaxation>>;

void offer_relaxation(Relaxations& best, const Variant& v, const Violation& x) {
  // The memory of a card is nothing that its buyer can relax.
  if (!std::isfinite(x.excess()) || x.constraint == "memory") return;
  const auto it = best.find(x.constraint);
  if (it != best.end() && it->second.first <= x.excess()) return;
  best[x.constraint] = {x.excess(), {x.constraint, x.limit, x.needed, x.unit, v.accelerator->id}};
}

bool wanted(const Accelerator& a, const Constraints& c) {
  if (!a.is_gpu) return false;
  // Whoever names announced hardware wants it considered.
  if (a.status == Status::announced && !c.announced && c.accelerators.empty()) return false;
  if (!c.vendor.empty() && a.vendor != c.vendor) return false;
  return c.accelerators.empty() || std::ranges::find(c.accelerators, a.id) != c.accelerators.end();
}

bool wanted(const EngineInfo& e, const Accelerator& a, const Constraints& c) {
  if (c.engines.empty()) return e.offered_on(a);
  return std::ranges::find(c.engines, e.id) != c.engines.end() && e.supports(a);
}

// What the search found on one accelerator.
struct Found {
  std::vector<Candidate> candidates;  // the best of each engine
  std::optional<Rejection> rejection;
  Relaxations relaxations;
  std::int64_t evaluated = 0;
};

Result<Found> search_one(const ModelInput& model, const PlanRequest& request,
                         const Knowledge& knowledge, const Accelerator& accelerator) {
  Found out;
  Nearest nearest;
  Evaluator evaluator(model, request, knowledge);
  const Objective objective = objective_of(request);
  for (const EngineInfo& engine : knowledge.engines.all()) {
    if (!wanted(engine, accelerator, request.constraints)) continue;
    std::optional<Candidate> best;
    for (const Variant& v : variants(model, request.constraints, accelerator, engine)) {
      CAIRN_TRY(Outcome outcome, evaluator.evaluate(v));
      if (outcome.candidate && (!best || better(*outcome.candidate, *best, objective))) {
        best = std::move(outcome.candidate);
      }
      if (outcome.violations.empty()) continue;
      const auto worst = std::ranges::max_element(outcome.violations, {}, &Violation::excess);
      nearest.offer(v, *worst);
      if (outcome.violations.size() == 1) offer_relaxation(out.relaxations, v, *worst);
    }
    if (best) out.candidates.push_back(*std::move(best));
  }
  if (out.candidates.empty()) {
    out.rejection = nearest.rejection.value_or(Rejection{
        accelerator.id, "", "support", 0, 0, "", "none of the engines runs on this accelerator"});
  }
  out.evaluated = evaluator.evaluated();
  return out;
}

// Accelerators are shared out to threads one by one; each result has its place, so
// that the outcome does not depend on their number.
std::vector<Result<Found>> search(const ModelInput& model, const PlanRequest& request,
                                  const Knowledge& knowledge,
                                  const std::vector<const Accelerator*>& accelerators) {
  std::vector<Result<Found>> out(accelerators.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < accelerators.size(); i = next++) {
      out[i] = search_one(model, request, knowledge, *accelerators[i]);
    }
  };
  constexpr std::size_t kMostThreads = 8;
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                      std::min(kMostThreads, out.size() + 1));
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(work);
    work();
  }
  return out;
}

}  // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::cost:
      return "cost";
    case Objective::price:
      return "price";
    case Objective::latency:
      return "latency";
    case Objective::throughput:
      return "throughput";
    case Objective::energy:
      return "energy";
  }
  return "cost";
}

Objective objective_of(const PlanRequest& request) {
  if (request.objective) return *request.objective;
  const Constraints& c = request.constraints;
  const bool targets = request.workload.rate || c.ttft_ms || c.tpot_ms || c.tokens_per_s;
  return c.budget && !targets ? Objective::latency : Objective::cost;
}

Result<Plan> make_plan(const ModelInput& model, const PlanRequest& request,
                       const Knowledge& knowledge) {
  const Objective objective = objective_of(request);
  Plan plan;
  const Workload& w = request.workload;
  if (w.context > 0 && static_cast<double>(w.context) < w.input + w.output) {
    return fail(bad_input("the context is shorter than input and output together")
                    .in("context")
                    .got(std::to_string(w.context)));
  }
  std::vector<const Accelerator*> considered;
  for (const Accelerator& a : knowledge.accelerators.all()) {
    if (wanted(a, request.constraints)) considered.push_back(&a);
  }
  Relaxations relaxations;
  for (Result<Found>& found : search(model, request, knowledge, considered)) {
    if (!found) return std::unexpected(std::move(found).error());
    std::ranges::move(found->candidates, std::back_inserter(plan.ranked));
    if (found->rejection) plan.rejections.push_back(*found->rejection);
    for (const auto& [name, entry] : found->relaxations) {
      const auto [it, fresh] = relaxations.try_emplace(name, entry);
      if (!fresh && entry.first < it->second.first) it->second = entry;
    }
    plan.evaluated += found->evaluated;
  }
  mark_pareto(plan.ranked);
  std::ranges::stable_sort(plan.ranked, {}, [&](const Candidate& c) {
    return std::tuple(objective_value(c, objective),
                      metric_or(c.prediction, "tpot_ms_mean", kNone));
  });
  if (plan.ranked.empty()) {
    for (auto& [name, entry] : relaxations) plan.relaxations.push_back(entry.second);
  }
  if (plan.ranked.size() > request.top) plan.ranked.resize(request.top);
  return plan;
}

}  // namespace cairn
