#include "cairn/plan/evaluate.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

// What costs just what is allowed is allowed, however it was rounded.
constexpr double kJust = 1 + 1e-12;

Result<FormatFacts> format_facts(const ModelInput& model, const std::string& name,
                                 const Workload& workload, const Knowledge& knowledge) {
  FormatFacts out;
  if (name.empty() && model.stored) {
    out.weights = *model.stored;
  } else if (auto bound = knowledge.weight_formats.bind(*model.graph, name)) {
    out.weights = *std::move(bound);
  } else if (bound.error().kind != ErrorKind::unsupported) {
    return std::unexpected(std::move(bound).error());
  } else {
    return out;
  }
  out.work = WorkOfFormat::of(*model.graph, *out.weights, workload);
  out.bits_per_weight =
      8 * out.work.total.value() / static_cast<double>(count_parameters(*model.graph).total);
  return out;
}

}  // namespace

Result<SearchSpace> SearchSpace::build(const ModelInput& model, const PlanRequest& request,
                                       const Knowledge& knowledge,
                                       const std::vector<Pairing>& pairings) {
  SearchSpace out;
  out.model = &model;
  out.request = &request;
  out.knowledge = &knowledge;
  out.objective = objective_of(request);
  out.work = WorkOfModel::of(*model.graph, request.workload);
  const Constraints& c = request.constraints;
  if (c.budget) {
    CAIRN_TRY(out.budget,
              knowledge.prices.convert(*c.budget, c.budget_currency, request.terms.currency));
  }
  const auto add = [&](const std::string& name) -> Result<void> {
    if (out.formats.contains(name)) return {};
    CAIRN_TRY(FormatFacts facts, format_facts(model, name, request.workload, knowledge));
    out.formats.emplace(name, std::move(facts));
    return {};
  };
  for (const std::string& name : c.formats) CAIRN_CHECK(add(name));
  for (const Pairing& p : pairings) {
    if (!c.formats.empty()) break;
    for (const std::string& name : searched_formats(model, *p.engine, *p.accelerator)) {
      CAIRN_CHECK(add(name));
    }
  }
  return out;
}

Result<PairingFacts> PairingFacts::of(const SearchSpace& space, const Pairing& pairing) {
  PairingFacts out;
  const PlanRequest& request = *space.request;
  const Accelerator& a = *pairing.accelerator;
  out.pairing = pairing;
  out.variants = variants_of(*space.model, request.constraints, pairing);
  auto kernels = space.knowledge->cost.parameters(pairing.engine->id, a, {});
  if (kernels) {
    out.kernels = *std::move(kernels);
  } else if (kernels.error().kind != ErrorKind::unsupported) {
    return std::unexpected(std::move(kernels).error());
  }
  CAIRN_TRY(out.purchase, purchase_of(a, request.terms.question(), space.knowledge->prices,
                                      space.knowledge->hosts));
  out.owned = owned_cards(request.constraints, a);
  out.card_power = a.board_power;
  return out;
}

std::int64_t owned_cards(const Constraints& constraints, const Accelerator& accelerator) {
  std::int64_t out = 0;
  for (const auto& [id, n] : constraints.owned) {
    if (id == accelerator.id || id == accelerator.card) out += n;
  }
  return out;
}

std::optional<double> price_beyond(std::int64_t owned, std::int64_t cards,
                                   const std::optional<Purchase>& purchase) {
  const std::int64_t to_buy = std::max<std::int64_t>(0, cards - owned);
  if (to_buy == 0) return 0.0;
  if (!purchase) return std::nullopt;
  return purchase->whole(to_buy);
}

std::optional<VariantBounds> BoundMaker::of(const Variant& v) {
  const auto format = space_->formats.find(v.format);
  if (!facts_->kernels || format == space_->formats.end() || !format->second.weights) return {};
  const KvFormat* kv = kv_of(v.kv);
  if (kv == nullptr) return {};
  const FormatFacts& f = format->second;
  VariantBounds out{.format = &f,
                    .kv_bits = 8 * static_cast<double>(kv->type->block_bytes) /
                               static_cast<double>(kv->type->block_weights),
                    .bounds = Bounds(space_->work, f.work, rates_of(f), v.layout, *v.accelerator,
                                     *facts_->kernels, links_of(v), space_->knowledge->cost.power(),
                                     space_->request->workload),
                    .most = SearchSpace::kMostSequences,
                    .filled = 0};
  if (!v.accelerator->unified_memory) {
    const double holders =
        std::max<double>(static_cast<double>(v.layout.tp) * v.layout.pp, v.layout.ep);
    const Bytes memory = v.accelerator->capacity(v.engine->id) * holders;
    const Bytes sequence = cache_of(*kv);
    out.filled = f.work.on_device / memory;
    if (sequence > Bytes{}) {
      out.most = std::min(out.most, (memory - f.work.on_device) / sequence);
    }
  }
  const Constraints& c = space_->request->constraints;
  if (c.tpot_ms) out.most = std::min(out.most, out.bounds.most_within(milliseconds(*c.tpot_ms)));
  if (c.tokens_per_s) {
    out.most = std::min(out.most, out.bounds.most_within(out.bounds.tpot_at(*c.tokens_per_s)));
  }
  out.most = std::max(1.0, out.most);
  return out;
}

const KvFormat* BoundMaker::kv_of(const std::string& name) {
  const auto [it, fresh] = kv_formats_.try_emplace(name);
  if (fresh) {
    if (auto kv = find_kv_format(name, *facts_->pairing.engine, *space_->knowledge)) {
      it->second = *std::move(kv);
    }
  }
  return it->second ? &*it->second : nullptr;
}

// Without any time where no link is known: the variant is refused.
const CollectiveModel& BoundMaker::links_of(const Variant& v) {
  const int joined = std::max(v.layout.tp * v.layout.pp, v.layout.ep);
  const auto [it, fresh] = links_.try_emplace(joined);
  if (fresh && joined > 1) {
    auto links = CollectiveModel::between(*v.accelerator, joined, space_->knowledge->cost);
    if (links) it->second = *std::move(links);
  }
  return it->second;
}

const FormatRates& BoundMaker::rates_of(const FormatFacts& format) {
  const auto [it, fresh] = rates_.try_emplace(&format);
  if (fresh) {
    it->second =
        FormatRates::of(space_->work, format.work, *facts_->pairing.accelerator, *facts_->kernels);
  }
  return it->second;
}

Bytes BoundMaker::cache_of(const KvFormat& kv) {
  const auto [it, fresh] = caches_.try_emplace(kv.name);
  if (fresh) {
    const std::int64_t positions = space_->request->workload.positions();
    it->second = least_cache(*space_->model->graph, kv, positions);
  }
  return it->second;
}

// The caches of the requests that are there at once; buffers are left out.
Bytes BoundMaker::least_working(const Variant& v, std::int64_t replicas) {
  const KvFormat* kv = kv_of(v.kv);
  if (kv == nullptr) return {};
  const Workload& w = space_->request->workload;
  const double sequences = w.rate ? static_cast<double>(replicas) : std::max(1.0, w.concurrency);
  return cache_of(*kv) * sequences;
}

bool BoundMaker::lacks(const Variant& v, std::int64_t replicas) {
  const auto& host = space_->request->constraints.host;
  if (!host) return false;
  HostRequest request =
      host_request(*v.accelerator, *v.engine, replicas * v.layout.tp * v.layout.pp, replicas);
  const auto format = space_->formats.find(v.format);
  if (format != space_->formats.end()) request.weights = format->second.work.total;
  if (v.accelerator->unified_memory) request.working = least_working(v, replicas);
  const Bytes model = request.weights + request.working;
  const auto [it, fresh] =
      lacking_.try_emplace({request.devices, request.processes, model.value()});
  if (fresh) {
    it->second = !holds(*host, request, space_->knowledge->host_rules).value_or(false);
  }
  return it->second;
}

Rank rank_of(Objective objective, Drawbacks drawbacks, double value, double bits, double kv_bits,
             double tpot, std::int64_t cards, std::size_t index) {
  const auto n = static_cast<double>(cards);
  const auto place = static_cast<double>(index);
  const double apart = drawbacks.lacks ? 1 : 0;
  const double narrow = drawbacks.narrow ? 1 : 0;
  if (is_money(objective)) return {apart, n, narrow, -bits, -kv_bits, tpot, 0, place};
  return {apart, value, narrow, -bits, -kv_bits, tpot, n, place};
}

double value_of(Objective objective, const OperatingPoint& point, double devices,
                std::int64_t cards) {
  switch (objective) {
    case Objective::cost:
    case Objective::price:
      return static_cast<double>(cards);
    case Objective::latency:
      return in_ms(point.load.steady.tpot);
    case Objective::throughput:
      return -point.output_tokens_per_s;
    case Objective::energy:
      return joules_per_token(point, devices).value_or(kUnbounded);
  }
  return kUnbounded;
}

double speed_of_request(const RequestTimes::Steady& s, double output) {
  return output / s.latency.value();
}

bool keeps(const Constraints& c, const RequestTimes::Steady& s, double output) {
  if (c.ttft_ms && in_ms(s.ttft) > *c.ttft_ms) return false;
  if (c.tpot_ms && in_ms(s.tpot) > *c.tpot_ms) return false;
  return !c.tokens_per_s || speed_of_request(s, output) >= *c.tokens_per_s;
}

Result<Deployment> deployment_of(const SearchSpace& space, const Variant& v) {
  DeploymentRequest r;
  r.accelerator = v.accelerator;
  r.engine = v.engine;
  r.weights = v.format;
  r.kv = v.kv;
  r.layout = v.layout;
  const auto found = space.formats.find(v.format);
  if (found != space.formats.end() && found->second.weights) r.bound = &*found->second.weights;
  return resolve(*space.model, r, *space.knowledge);
}

std::int64_t most_replicas(const SearchSpace& space, const PairingFacts& facts, const Variant& v,
                           bool limits) {
  const PlanRequest& request = *space.request;
  const Constraints& c = request.constraints;
  const Accelerator& a = *v.accelerator;
  const std::int64_t devices = std::int64_t{v.layout.tp} * v.layout.pp;
  const std::int64_t step = v.layout.dp;
  double cards = static_cast<double>(c.max_cards);
  if (limits && space.budget) {
    // What is left after the cards that are owned.
    const std::int64_t bought =
        facts.purchase ? facts.purchase->affordable(*space.budget, c.max_cards) : 0;
    cards = std::min(cards, static_cast<double>(facts.owned + bought));
  }
  double most = std::floor(cards * a.devices_per_card / static_cast<double>(devices));
  if (limits && c.power_w) {
    const double each = facts.card_power ? facts.card_power->value() : kUnbounded;
    most = std::min(most, std::floor(*c.power_w / (each * static_cast<double>(devices)) * kJust));
  }
  // More replicas than requests stand idle.
  if (!request.workload.rate) most = std::min(most, std::ceil(request.workload.concurrency));
  const auto whole = static_cast<std::int64_t>(most);
  const std::int64_t groups = whole / step * step;
  // A group that shares experts may be larger than the requests are many.
  if (groups == 0 && !request.workload.rate && whole > 0) {
    const double room = cards * a.devices_per_card / static_cast<double>(devices);
    if (room >= static_cast<double>(step)) return step;
  }
  return groups;
}

}  // namespace cairn
