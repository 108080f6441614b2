#include "cairn/plan/plan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <iterator>
#include <thread>
#include <tuple>

#include "cairn/plan/reasons.h"
#include "cairn/plan/search.h"
#include "cairn/predict/money.h"

namespace cairn {
namespace {

constexpr double kNone = kUnbounded;

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

// Tasks are shared out to threads one by one; each result has its place, so that the
// outcome does not depend on their number.
template <class Task>
void for_each_task(std::size_t n, unsigned asked, const Task& task) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) task(i);
  };
  constexpr unsigned kMostThreads = 8;
  const unsigned threads =
      asked > 0 ? asked : std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < threads && i < n; ++i) workers.emplace_back(work);
  work();
}

// What the search found for one pairing.
struct Found {
  std::optional<PairingFacts> facts;
  std::optional<Candidate> candidate;
  SearchCounts counts;
};

Result<Found> find_best(const SearchSpace& space, const Pairing& pairing) {
  Found out;
  CAIRN_TRY(out.facts, PairingFacts::of(space, pairing));
  CAIRN_TRY(SearchResult result, search(space, *out.facts));
  out.counts = result.counts;
  if (!result.best) return out;
  const Winner& w = *result.best;
  Variant whole = w.variant;
  whole.layout.dp = static_cast<int>(w.replicas);
  CAIRN_TRY(const Deployment deployment, deployment_of(space, whole));
  const PlanRequest& request = *space.request;
  Candidate c;
  CostTerms terms = request.terms;
  terms.whole_machines = true;
  CAIRN_TRY(c.prediction, predict(deployment, request.workload, terms, *space.knowledge));
  c.cards = out.facts->cards(w.variant, w.replicas);
  c.price = out.facts->price(c.cards);
  c.bits_per_weight = w.bits_per_weight;
  if (c.price) {
    count_bought(*c.price, metric_or(c.prediction, "output_tokens_per_s", 0), request.terms,
                 c.prediction.money);
    c.yearly_cost = c.prediction.money.owned_per_year;
  }
  const auto& host = request.constraints.host;
  const double sequences =
      std::max(1.0, std::ceil(c.prediction.workload.concurrency / static_cast<double>(w.replicas)));
  CAIRN_TRY(c.machines,
            machines_of(host_request(deployment, c.prediction.memory, sequences),
                        host ? &*host : nullptr, *space.knowledge, request.terms.question()));
  out.candidate = std::move(c);
  return out;
}

// The results of a phase, or the first error in the order of the tasks.
template <class T, class F>
Result<std::vector<T>> in_parallel(std::size_t n, unsigned threads, const F& f) {
  std::vector<std::optional<Result<T>>> results(n);
  for_each_task(n, threads, [&](std::size_t i) { results[i] = f(i); });
  std::vector<T> out;
  out.reserve(n);
  for (auto& r : results) {
    if (!*r) return std::unexpected(std::move(*r).error());
    out.push_back(**std::move(r));
  }
  return out;
}

// Accelerators of the request without a candidate, with their pairings.
struct Unranked {
  std::string accelerator;
  std::vector<const PairingFacts*> pairings;
};

std::vector<Unranked> unranked(const PlanRequest& request, const std::vector<Found>& found,
                               const Knowledge& knowledge) {
  std::vector<Unranked> out;
  for (const Accelerator* a : considered(request.constraints, knowledge)) {
    Unranked u{a->id, {}};
    bool ranked = false;
    for (const Found& f : found) {
      if (f.facts->pairing.accelerator != a) continue;
      ranked = ranked || f.candidate.has_value();
      u.pairings.push_back(&*f.facts);
    }
    if (!ranked) out.push_back(std::move(u));
  }
  return out;
}

bool same_formats(const Prediction& a, const Prediction& b) {
  return a.weights == b.weights && a.kv == b.kv;
}

// The best of the candidate's accelerator and engine in the formats of another's; nothing
// where the engine has no such formats, or nothing in them keeps the limits.
Result<std::optional<Candidate>> in_formats_of(const SearchSpace& space, const Candidate& c,
                                               const Candidate& other) {
  const Knowledge& knowledge = *space.knowledge;
  CAIRN_TRY(const Accelerator* accelerator, knowledge.accelerators.find(c.prediction.accelerator));
  CAIRN_TRY(const EngineInfo* engine, knowledge.engines.find(c.prediction.engine));
  const Pairing pairing{accelerator, engine};
  PlanRequest request = *space.request;
  if (!space.model->stored) request.constraints.formats = {other.prediction.weights};
  request.constraints.kv = other.prediction.kv;
  CAIRN_TRY(const SearchSpace narrowed,
            SearchSpace::build(*space.model, request, knowledge, {pairing}));
  CAIRN_TRY(Found found, find_best(narrowed, pairing));
  if (found.candidate && !same_formats(found.candidate->prediction, other.prediction)) {
    found.candidate.reset();
  }
  return std::move(found.candidate);
}

// Both in the same formats, those with the most bits that both have.
Result<std::optional<std::pair<Candidate, Candidate>>> alike(const SearchSpace& space,
                                                             const Candidate& a,
                                                             const Candidate& b) {
  if (same_formats(a.prediction, b.prediction)) return std::pair(a, b);
  CAIRN_TRY(auto mine, in_formats_of(space, a, b));
  CAIRN_TRY(auto theirs, in_formats_of(space, b, a));
  if (theirs && (!mine || theirs->bits_per_weight >= mine->bits_per_weight)) {
    return std::pair(a, *std::move(theirs));
  }
  if (mine) return std::pair(*std::move(mine), b);
  return std::optional<std::pair<Candidate, Candidate>>{};
}

Contest contest_of(const Candidate& a, const Candidate& b) {
  const Prediction& p = a.prediction;
  const Prediction& q = b.prediction;
  return {p.accelerator, p.engine, q.engine, p.weights, p.kv, q.weights, q.kv, {}};
}

// Of engines in the same formats, the better one first.
Contest verdict_of(const Candidate& a, const Candidate& b, Objective objective) {
  const double mine = objective_value(a, objective);
  const double theirs = objective_value(b, objective);
  if (theirs < mine) return verdict_of(b, a, objective);
  Contest out = contest_of(a, b);
  // Of throughput more is better.
  const double ratio = mine < 0 ? mine / theirs : theirs / mine;
  if (std::isfinite(ratio)) out.ratio = ratio;
  return out;
}

// The best engine of an accelerator against the next that has formats in common with it.
Result<std::optional<Contest>> contest_on(const SearchSpace& space,
                                          const std::vector<const Candidate*>& ranked) {
  std::optional<Contest> out;
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    CAIRN_TRY(const auto pair, alike(space, *ranked.front(), *ranked[i]));
    if (pair) return verdict_of(pair->first, pair->second, space.objective);
    if (!out) out = contest_of(*ranked.front(), *ranked[i]);
  }
  return out;
}

// Of the accelerators of the first `top` candidates, in their order.
Result<std::vector<Contest>> contests_of(const SearchSpace& space,
                                         const std::vector<Candidate>& ranked, std::size_t top) {
  std::vector<std::vector<const Candidate*>> groups;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const auto it = std::ranges::find_if(groups, [&](const auto& group) {
      return group.front()->prediction.accelerator == ranked[i].prediction.accelerator;
    });
    if (it != groups.end()) {
      it->push_back(&ranked[i]);
    } else if (i < top) {
      groups.push_back({&ranked[i]});
    }
  }
  CAIRN_TRY(auto found, in_parallel<std::optional<Contest>>(
                            groups.size(), space.request->threads,
                            [&](std::size_t i) { return contest_on(space, groups[i]); }));
  std::vector<Contest> out;
  for (auto& contest : found) {
    if (contest) out.push_back(*std::move(contest));
  }
  return out;
}

FormatChoice format_choice(const ModelInput& model, const PlanRequest& request) {
  if (model.stored || request.constraints.formats.size() == 1) return FormatChoice::given;
  return is_money(objective_of(request)) ? FormatChoice::largest : FormatChoice::objective;
}

Result<void> add_reasons(const SearchSpace& space, const std::vector<Found>& found, Plan& plan) {
  const PlanRequest& request = *space.request;
  const auto left_out = unranked(request, found, *space.knowledge);
  CAIRN_TRY(plan.rejections,
            in_parallel<Rejection>(left_out.size(), request.threads, [&](std::size_t i) {
              return nearest(space, left_out[i].accelerator, left_out[i].pairings);
            }));
  if (!plan.ranked.empty()) return {};
  CAIRN_TRY(const auto parts,
            in_parallel<Relaxations>(found.size(), request.threads, [&](std::size_t i) {
              return relaxations(space, *found[i].facts);
            }));
  Relaxations all;
  for (const Relaxations& part : parts) merge(all, part);
  for (const auto& [name, entry] : all) plan.relaxations.push_back(entry.second);
  return {};
}

}  // namespace

SearchCounts& SearchCounts::operator+=(const SearchCounts& o) {
  considered += o.considered;
  too_large += o.too_large;
  excluded += o.excluded;
  dominated += o.dominated;
  evaluated += o.evaluated;
  return *this;
}

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

std::string_view name_of(FormatChoice choice) {
  switch (choice) {
    case FormatChoice::given:
      return "given";
    case FormatChoice::largest:
      return "largest";
    case FormatChoice::objective:
      return "objective";
  }
  return "given";
}

Objective objective_of(const PlanRequest& request) {
  if (request.objective) return *request.objective;
  const Constraints& c = request.constraints;
  const bool targets = request.workload.rate || c.ttft_ms || c.tpot_ms || c.tokens_per_s;
  return c.budget && !targets ? Objective::latency : Objective::cost;
}

PriceMix price_mix(const std::vector<Candidate>& candidates) {
  PriceMix out;
  for (const Candidate& c : candidates) {
    const auto& price = c.prediction.money.purchase_price;
    if (!price || (!price->bare && price->machine.empty())) continue;
    auto& list = price->bare ? out.modules : out.machines;
    if (std::ranges::find(list, c.prediction.accelerator) == list.end()) {
      list.push_back(c.prediction.accelerator);
    }
  }
  if (out.modules.empty() || out.machines.empty()) return {};
  return out;
}

Result<Plan> make_plan(const ModelInput& model, const PlanRequest& request,
                       const Knowledge& knowledge) {
  if (purpose_of(model.graph->spec) != Purpose::text) {
    return fail(unsupported("cannot plan: only models that generate text are ranked")
                    .at(model.name)
                    .in("architecture")
                    .got(model.graph->spec.architecture)
                    .want("cairn fit for its memory, cairn predict for its speed"));
  }
  const Workload& w = request.workload;
  if (w.context > 0 && static_cast<double>(w.context) < w.input + w.output) {
    return fail(bad_input("the context is shorter than input and output together")
                    .in("context")
                    .got(std::to_string(w.context)));
  }
  for (const std::string& id : request.constraints.accelerators) {
    CAIRN_TRY(const Accelerator* a, knowledge.accelerators.find(id));
    CAIRN_CHECK(check_single(*a));
  }
  if (considered(request.constraints, knowledge).empty()) {
    return fail(not_found("no accelerator is left by the selection")
                    .got(request.constraints.vendor)
                    .want("a vendor, or names, that some accelerator has"));
  }
  const std::vector<Pairing> pairs = pairings(request.constraints, knowledge);
  CAIRN_TRY(const SearchSpace space, SearchSpace::build(model, request, knowledge, pairs));
  CAIRN_TRY(std::vector<Found> found,
            in_parallel<Found>(pairs.size(), request.threads,
                               [&](std::size_t i) { return find_best(space, pairs[i]); }));
  Plan plan;
  for (Found& f : found) {
    plan.counts += f.counts;
    if (f.candidate) plan.ranked.push_back(*f.candidate);
  }
  plan.evaluated = plan.counts.evaluated;
  mark_pareto(plan.ranked);
  std::ranges::stable_sort(plan.ranked, {}, [&](const Candidate& c) {
    return std::tuple(c.lacks(), objective_value(c, space.objective), c.narrow(),
                      metric_or(c.prediction, "tpot_ms_mean", kNone));
  });
  CAIRN_CHECK(add_reasons(space, found, plan));
  CAIRN_TRY(plan.contests, contests_of(space, plan.ranked, request.top));
  plan.format_choice = format_choice(model, request);
  if (plan.ranked.size() > request.top) plan.ranked.resize(request.top);
  return plan;
}

}  // namespace cairn
