#include "cairn/plan/search.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

std::int64_t size_of(const std::vector<std::int64_t>& list) {
  return static_cast<std::int64_t>(list.size());
}

class PairingSearch {
 public:
  PairingSearch(const SearchSpace& space, const PairingFacts& facts)
      : space_(&space), facts_(&facts), bounds_(space, facts), money_(is_money(space.objective)) {}

  Result<SearchResult> run() {
    std::vector<Branch> branches;
    for (std::size_t i = 0; i < facts_->variants.size(); ++i) {
      if (auto branch = open(i)) branches.push_back(*std::move(branch));
    }
    std::ranges::sort(branches, {}, &Branch::bound);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      if (!exhaustive() && best_ && branches[i].bound >= *best_) {
        // The bounds ascend: none of the rest is better.
        for (; i < branches.size(); ++i) out_.counts.dominated += size_of(branches[i].replicas);
        break;
      }
      CAIRN_CHECK(follow(branches[i]));
    }
    return std::move(out_);
  }

 private:
  // A variant with the numbers of replicas that bounds allow.
  struct Branch {
    std::size_t index = 0;
    std::optional<VariantBounds> known;
    std::vector<std::int64_t> replicas;  // ascending
    Rank bound{};                        // of all of them
  };

  [[nodiscard]] bool exhaustive() const { return space_->request->exhaustive; }
  [[nodiscard]] const Workload& workload() const { return space_->request->workload; }
  [[nodiscard]] const Constraints& limits() const { return space_->request->constraints; }
  [[nodiscard]] static double devices(const Variant& v, std::int64_t replicas) {
    return static_cast<double>(replicas * v.layout.tp * v.layout.pp);
  }

  // Counts the candidates of a variant and drops those that bounds exclude; nothing if
  // none is left.
  std::optional<Branch> open(std::size_t index) {
    const Variant& v = facts_->variants[index];
    std::vector<std::int64_t> all =
        replica_counts(most_replicas(*space_, *facts_, v, false), v.layout.dp);
    const std::int64_t most = most_replicas(*space_, *facts_, v, true);
    if (most > 0 && !std::ranges::binary_search(all, most)) {
      all.insert(std::ranges::lower_bound(all, most), most);
    }
    out_.counts.considered += size_of(all);
    Branch out;
    out.index = index;
    out.replicas = std::move(all);
    const auto exclude = [&](auto&& predicate) {
      out_.counts.excluded += static_cast<std::int64_t>(std::erase_if(out.replicas, predicate));
    };
    exclude([most](std::int64_t r) { return r > most; });
    out.known = bounds_.of(v);
    if (!out.known) exclude([](std::int64_t) { return true; });
    if (out.replicas.empty()) return std::nullopt;
    if (exhaustive()) return out;
    if (out.known->filled > 1) {
      out_.counts.too_large += size_of(out.replicas);
      return std::nullopt;
    }
    exclude([&](std::int64_t r) { return breaks(*out.known, r); });
    if (out.replicas.empty()) return std::nullopt;
    out.bound = bound_of(out, out.replicas.front());
    for (const std::int64_t r : out.replicas) out.bound = std::min(out.bound, bound_of(out, r));
    return out;
  }

  // Requests that run at once in each of so many replicas, at least and at most.
  [[nodiscard]] double least_running(const Bounds& b, std::int64_t replicas) const {
    const auto r = static_cast<double>(replicas);
    if (workload().rate) return b.in_flight(*workload().rate / r);
    return 1;
  }
  [[nodiscard]] double most_running(const VariantBounds& b, std::int64_t replicas) const {
    if (workload().rate) return b.most;
    return std::clamp(workload().concurrency / static_cast<double>(replicas), 1.0, b.most);
  }

  // No operating point with so many replicas keeps the limits.
  [[nodiscard]] bool breaks(const VariantBounds& b, std::int64_t replicas) const {
    const Constraints& c = limits();
    const Bounds& bounds = b.bounds;
    if (workload().rate) {
      const double served = bounds.requests_per_s(b.most) * static_cast<double>(replicas);
      if (served < *workload().rate) return true;
    }
    if (c.ttft_ms && in_ms(bounds.prompt()) > *c.ttft_ms) return true;
    const double running = least_running(bounds, replicas);
    if (c.tpot_ms && in_ms(bounds.tpot(running)) > *c.tpot_ms) return true;
    return c.tokens_per_s && bounds.speed(running) < *c.tokens_per_s;
  }

  [[nodiscard]] Rank bound_of(const Branch& b, std::int64_t replicas) {
    const Variant& v = facts_->variants[b.index];
    const VariantBounds& known = *b.known;
    const double tpot = in_ms(known.bounds.tpot(least_running(known.bounds, replicas)));
    const std::int64_t cards = facts_->cards(v, replicas);
    double value = 0;
    switch (space_->objective) {
      case Objective::cost:
      case Objective::price:
        break;
      case Objective::latency:
        value = tpot;
        break;
      case Objective::throughput:
        value = -most_output(known, replicas);
        break;
      case Objective::energy:
        value = known.bounds.joules_per_token(most_running(known, replicas));
        break;
    }
    return rank_of(space_->objective, {.lacks = bounds_.lacks(v, replicas)}, value,
                   known.format->bits_per_weight, known.kv_bits, tpot, cards, b.index);
  }

  // Output tokens per second of all replicas, at most.
  [[nodiscard]] double most_output(const VariantBounds& b, std::int64_t replicas) const {
    if (workload().rate) return *workload().rate * workload().output;
    const auto r = static_cast<double>(replicas);
    const double working = std::min(r, std::max(1.0, workload().concurrency));
    return working * b.bounds.requests_per_s(most_running(b, replicas)) * workload().output;
  }

  // Evaluates the candidates of a branch that may still be the best.
  Result<void> follow(const Branch& b) {
    const Variant& v = facts_->variants[b.index];
    auto deployment = deployment_of(*space_, v);
    if (!deployment) return drop(b, std::move(deployment).error());
    auto model =
        ReplicaModel::unfilled(*deployment, workload(), *space_->knowledge, space_->shapes.get());
    if (!model) return drop(b, std::move(model).error());
    // Times are cheaper than memory: whether it could serve as much as is wanted.
    if (!serves_enough(b, *model)) {
      out_.counts.excluded += size_of(b.replicas);
      return {};
    }
    auto filled = model->fill(*deployment, space_->memory.get());
    if (!filled) return drop(b, std::move(filled).error());
    if (model->resident() < 1) {
      out_.counts.too_large += size_of(b.replicas);
      return {};
    }
    if (!serves_enough(b, *model)) {
      out_.counts.excluded += size_of(b.replicas);
      return {};
    }
    const double served = most_served(*model);
    bool found = false;
    std::int64_t before = 0;  // the number of replicas tried before
    std::vector<std::int64_t> order = b.replicas;
    // The most replicas are the fastest: the others are soon known to be worse.
    const Objective o = space_->objective;
    if (o == Objective::latency || o == Objective::throughput) std::ranges::reverse(order);
    for (const std::int64_t r : order) {
      if (served * static_cast<double>(r) < workload().rate.value_or(0)) {
        ++out_.counts.excluded;
        before = r;
        continue;
      }
      if (!exhaustive() && best_ && (bound_of(b, r) >= *best_ || worse(b, *model, r))) {
        ++out_.counts.dominated;
        before = r;
        continue;
      }
      const bool good = evaluate(b, *deployment, *model, r);
      if (good && !found && money_) refine(b, *deployment, *model, before, r);
      found = found || good;
      before = r;
    }
    return {};
  }

  // Whether the replicas that are not dominated may serve the rate within the limits.
  [[nodiscard]] bool serves_enough(const Branch& b, ReplicaModel& model) {
    if (exhaustive() || !workload().rate) return true;
    double most = 0;
    for (const std::int64_t r : b.replicas) {
      if (!best_ || bound_of(b, r) < *best_) most = static_cast<double>(r);
    }
    // First with the real time of a prompt and the bound of the steps.
    const double at_once = std::min(b.known->most, static_cast<double>(model.resident()));
    if (b.known->bounds.requests_per_s(at_once, model.prompt().total) * most < *workload().rate) {
      return false;
    }
    const double served = model.most_served_coarsely(
        [this](const RequestTimes::Steady& s) { return keeps(limits(), s, workload().output); });
    return served * most >= *workload().rate;
  }

  // By the real times of this variant, not by its bounds: where latency or energy is
  // ranked by.
  [[nodiscard]] bool worse(const Branch& b, ReplicaModel& model, std::int64_t replicas) {
    const Objective o = space_->objective;
    if (!workload().rate || (o != Objective::latency && o != Objective::energy)) return false;
    const Variant& v = facts_->variants[b.index];
    const double each = *workload().rate / static_cast<double>(replicas);
    const double tpot = in_ms(model.least_tpot(each));
    double value = tpot;
    if (o == Objective::energy) {
      const auto power = model.least_power(each);
      if (!power) return false;
      value = power->value() * devices(v, replicas) / (*workload().rate * workload().output);
    }
    return rank_of(o, {.lacks = bounds_.lacks(v, replicas)}, value,
                   b.known->format->bits_per_weight, b.known->kv_bits, tpot,
                   facts_->cards(v, replicas), b.index) >= *best_;
  }

  // What a replica serves at most within the limits. Exactly where the least number of
  // replicas that serves the rate is looked for; else the coarse answer will do, and what
  // it lets through is found out when it is evaluated.
  [[nodiscard]] double most_served(ReplicaModel& model) const {
    if (exhaustive() || !workload().rate) return kUnbounded;
    const auto keeping = [this](const RequestTimes::Steady& s) {
      return keeps(limits(), s, workload().output);
    };
    return money_ ? model.most_served(keeping) : model.most_served_coarsely(keeping);
  }

  // Fewer replicas may do than the first number that did: those between it and the one
  // before, by halving.
  void refine(const Branch& b, const Deployment& deployment, ReplicaModel& model, std::int64_t low,
              std::int64_t high) {
    const std::int64_t step = facts_->variants[b.index].layout.dp;
    while (high - low > step) {
      const std::int64_t middle = low + (high - low) / step / 2 * step;
      ++out_.counts.considered;
      (evaluate(b, deployment, model, middle) ? high : low) = middle;
    }
  }

  // The memory of a replica with these requests fits within its error only.
  [[nodiscard]] bool narrow(const Deployment& d, const Load& load) const {
    const auto most = std::max<std::int64_t>(1, d.config.max_sequences);
    const auto sequences = static_cast<std::int64_t>(std::ceil(load.present));
    MemoryDemand demand =
        memory_demand(d, workload().positions(), std::clamp<std::int64_t>(sequences, 1, most));
    demand.cache = space_->memory.get();
    const auto memory = estimate_memory(demand, *d.engine, *d.accelerator);
    return memory && memory->narrow();
  }

  // Whether the candidate keeps the limits; the best of those is kept.
  bool evaluate(const Branch& b, const Deployment& deployment, ReplicaModel& model,
                std::int64_t replicas) {
    const Variant& v = facts_->variants[b.index];
    ++out_.counts.evaluated;
    const OperatingPoint point = model.at(replicas);
    if (point.overloaded || !point.fits || !keeps(limits(), point.load.steady, workload().output))
      return false;
    const std::int64_t cards = facts_->cards(v, replicas);
    const double value = value_of(space_->objective, point, devices(v, replicas), cards);
    const auto ranked = [&](bool narrow) {
      return rank_of(space_->objective, {bounds_.lacks(v, replicas), narrow}, value,
                     b.known->format->bits_per_weight, b.known->kv_bits,
                     in_ms(point.load.steady.tpot), cards, b.index);
    };
    Rank rank = ranked(false);
    if ((!best_ || rank < *best_) && narrow(deployment, point.load)) rank = ranked(true);
    if (!best_ || rank < *best_) {
      best_ = rank;
      out_.best = Winner{v, replicas, b.known->format->bits_per_weight};
    }
    return true;
  }

  // What the engine, the model or the data do not support; anything else is an error.
  Result<void> drop(const Branch& b, Error&& error) {
    if (error.kind != ErrorKind::unsupported) return std::unexpected(std::move(error));
    out_.counts.excluded += size_of(b.replicas);
    return {};
  }

  const SearchSpace* space_;
  const PairingFacts* facts_;
  BoundMaker bounds_;
  bool money_;
  std::optional<Rank> best_;
  SearchResult out_;
};

}  // namespace

Result<SearchResult> search(const SearchSpace& space, const PairingFacts& facts) {
  return PairingSearch(space, facts).run();
}

}  // namespace cairn
