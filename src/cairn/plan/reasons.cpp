#include "cairn/plan/reasons.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

// Limits that nothing but the size of a variant decides, before anything is evaluated.
std::vector<Violation> cheap_violations(const SearchSpace& space, const PairingFacts& facts,
                                        const Variant& v, std::int64_t replicas) {
  std::vector<Violation> out;
  const Constraints& c = space.request->constraints;
  const std::int64_t cards = facts.cards(v, replicas);
  if (cards > c.max_cards) {
    out.push_back(
        {"cards", static_cast<double>(c.max_cards), static_cast<double>(cards), "cards", ""});
  }
  if (c.power_w) {
    const auto devices = static_cast<double>(replicas * v.layout.tp * v.layout.pp);
    const double watts = facts.card_power ? facts.card_power->value() * devices : kUnbounded;
    if (watts > *c.power_w) out.push_back({"power", *c.power_w, watts, "W", ""});
  }
  if (space.budget) {
    const auto price = facts.price(cards);
    const double needed = price.value_or(kUnbounded);
    if (needed > *space.budget) {
      out.push_back({"budget", *space.budget, needed, space.request->terms.currency, ""});
    }
  }
  return out;
}

// The largest number of requests in a replica that keeps the limits, at least one.
double largest_load(const Constraints& c, const ReplicaModel& model, double most, double output) {
  const auto within = [&](double n) { return keeps(c, model.under(n, most).steady, output); };
  if (!within(1)) return 1;
  if (within(most)) return most;
  double low = 1;
  double high = most;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    if (middle <= low) break;
    (within(middle) ? low : high) = middle;
  }
  return low;
}

constexpr double kMostReplicas = 1e6;

// The least multiple of `step` that is not less.
std::int64_t in_steps(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

std::int64_t replicas_for(const Workload& w, const ReplicaModel& model, double load, double most,
                          std::int64_t step) {
  const double wanted =
      w.rate ? *w.rate / model.under(load, most).steady.requests_per_s : w.concurrency / load;
  return in_steps(static_cast<std::int64_t>(std::ceil(std::clamp(wanted, 1.0, kMostReplicas))),
                  step);
}

// Evaluating variants in the order of what is known of them at once finds the nearest
// early, and the rest need not be looked at.
struct Open {
  const PairingFacts* facts = nullptr;
  const Variant* variant = nullptr;
  double least = 0;  // no violation of it is nearer
};

// Limits that a variant breaks by its bounds alone, none further than it really does.
std::vector<Violation> bound_violations(const SearchSpace& space, const PairingFacts& facts,
                                        const Variant& v, BoundMaker& maker) {
  const auto known = maker.of(v);
  if (!known) return {{"support", 0, 0, "", ""}};
  const Workload& w = space.request->workload;
  const Constraints& c = space.request->constraints;
  const Bounds& b = known->bounds;
  const double wanted =
      w.rate ? *w.rate / b.requests_per_s(known->most) : w.concurrency / known->most;
  const auto replicas =
      static_cast<std::int64_t>(std::ceil(std::clamp(wanted, 1.0, kMostReplicas)));
  auto out = cheap_violations(space, facts, v, in_steps(replicas, v.layout.dp));
  if (known->filled > 1) out.push_back({"memory", 1, known->filled, "", ""});
  for (Violation& x : latency_violations(c, in_ms(b.prompt()), in_ms(b.tpot(1)), b.speed(1))) {
    out.push_back(std::move(x));
  }
  return out;
}

double worst_of(const std::vector<Violation>& list) {
  double out = 0;
  for (const Violation& x : list) out = std::max(out, x.excess());
  return out;
}

}  // namespace

double Violation::excess() const {
  if (constraint == "support") return kUnbounded;
  if (limit <= 0) return needed;  // no budget at all: the cheapest is nearest
  return constraint == "tokens_per_s" ? limit / needed : needed / limit;
}

std::vector<Violation> latency_violations(const Constraints& c, double ttft_ms, double tpot_ms,
                                          double tokens_per_s) {
  std::vector<Violation> out;
  if (c.ttft_ms && ttft_ms > *c.ttft_ms) out.push_back({"ttft", *c.ttft_ms, ttft_ms, "ms", ""});
  if (c.tpot_ms && tpot_ms > *c.tpot_ms) out.push_back({"tpot", *c.tpot_ms, tpot_ms, "ms", ""});
  if (c.tokens_per_s && tokens_per_s < *c.tokens_per_s) {
    out.push_back({"tokens_per_s", *c.tokens_per_s, tokens_per_s, "tok/s", ""});
  }
  return out;
}

Result<std::vector<Violation>> violations_of(const SearchSpace& space, const PairingFacts& facts,
                                             const Variant& v) {
  std::vector<Violation> out;
  const auto refused = [&](Error&& error) -> Result<std::vector<Violation>> {
    if (error.kind != ErrorKind::unsupported) return std::unexpected(std::move(error));
    return std::vector<Violation>{{"support", 0, 0, "", error.to_string()}};
  };
  auto deployment = deployment_of(space, v);
  if (!deployment) return refused(std::move(deployment).error());
  const Workload& w = space.request->workload;
  const Constraints& c = space.request->constraints;
  MemoryDemand demand = memory_demand(*deployment, w.positions(), 1);
  demand.cache = space.memory.get();
  auto memory = estimate_memory(demand, *v.engine, *v.accelerator);
  if (!memory) return refused(std::move(memory).error());
  if (!memory->fits) {
    const auto worst = std::ranges::max_element(
        memory->devices, {}, [](const DeviceMemory& m) { return m.required / m.capacity; });
    out.push_back({"memory", in_gib(worst->capacity), in_gib(worst->required), "GiB", ""});
  }
  // What does not fit is timed all the same: whether it is all that stands in the way.
  auto model = ReplicaModel::unfilled(*deployment, w, *space.knowledge, space.shapes.get());
  if (!model) return refused(std::move(model).error());
  CAIRN_CHECK(model->fill(*deployment, space.memory.get()));
  const auto most = static_cast<double>(std::max<std::int64_t>(1, model->resident()));
  const RequestTimes::Steady alone = model->under(1, most).steady;
  for (Violation& x : latency_violations(c, in_ms(alone.ttft), in_ms(alone.tpot),
                                         speed_of_request(alone, w.output))) {
    out.push_back(std::move(x));
  }
  const double load = largest_load(c, *model, most, w.output);
  const std::int64_t replicas = replicas_for(w, *model, load, most, v.layout.dp);
  for (Violation& x : cheap_violations(space, facts, v, replicas)) out.push_back(std::move(x));
  return out;
}

void merge(Relaxations& into, const Relaxations& from) {
  for (const auto& [name, entry] : from) {
    const auto [it, fresh] = into.try_emplace(name, entry);
    if (!fresh && entry.first < it->second.first) it->second = entry;
  }
}

Result<Rejection> nearest(const SearchSpace& space, const std::string& accelerator,
                          const std::vector<const PairingFacts*>& pairings) {
  std::vector<Open> open;
  for (const PairingFacts* facts : pairings) {
    BoundMaker maker(space, *facts);
    for (const Variant& v : facts->variants) {
      open.push_back({facts, &v, worst_of(bound_violations(space, *facts, v, maker))});
    }
  }
  std::ranges::stable_sort(open, {}, &Open::least);
  Rejection out{
      accelerator, "", "support", 0, 0, "", "none of the engines runs on this accelerator"};
  double best = kUnbounded;
  bool any = false;
  for (const Open& o : open) {
    if (any && o.least >= best) break;
    CAIRN_TRY(const auto list, violations_of(space, *o.facts, *o.variant));
    if (list.empty()) continue;
    const auto worst = std::ranges::max_element(list, {}, &Violation::excess);
    if (any && worst->excess() >= best) continue;
    any = true;
    best = worst->excess();
    out = {accelerator,   o.variant->engine->id, worst->constraint, worst->limit,
           worst->needed, worst->unit,           worst->reason};
  }
  return out;
}

Result<Relaxations> relaxations(const SearchSpace& space, const PairingFacts& facts) {
  // What may be nearest comes first: the rest is then seen to be further.
  struct Near {
    const Variant* variant = nullptr;
    std::optional<Violation> least;  // none by its bounds
  };
  std::vector<Near> order;
  BoundMaker maker(space, facts);
  for (const Variant& v : facts.variants) {
    // The memory of a card is nothing that its buyer can relax, and two limits at once
    // are no relaxation of one.
    const auto least = bound_violations(space, facts, v, maker);
    if (least.size() > 1) continue;
    if (least.empty()) {
      order.push_back({&v, std::nullopt});
    } else if (std::isfinite(least.front().excess()) && least.front().constraint != "memory") {
      order.push_back({&v, least.front()});
    }
  }
  std::ranges::stable_sort(order, {},
                           [](const Near& n) { return n.least ? n.least->excess() : 0; });
  Relaxations out;
  for (const auto& [variant, least] : order) {
    const Variant& v = *variant;
    if (least) {
      const Violation& x = *least;
      const auto known = out.find(x.constraint);
      if (known != out.end() && known->second.first <= x.excess()) continue;
    }
    CAIRN_TRY(const auto list, violations_of(space, facts, v));
    if (list.size() != 1) continue;
    const Violation& x = list.front();
    if (!std::isfinite(x.excess()) || x.constraint == "memory") continue;
    merge(out, {{x.constraint,
                 {x.excess(), {x.constraint, x.limit, x.needed, x.unit, v.accelerator->id}}}});
  }
  return out;
}

}  // namespace cairn
