#include "cairn/plan/residents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "cairn/plan/evaluate.h"
#include "cairn/plan/reasons.h"
#include "cairn/plan/variants.h"
#include "cairn/predict/money.h"

namespace cairn {
namespace {

// A model of the request in one weight format on so many cards.
struct Form {
  std::string format;
  double bits = 0;
  std::vector<Bytes> cards;  // held on each
  HostRequest machine;       // what it asks of the machine alone
  Deployment deployment;
};

struct Loaded {
  const Resident* resident = nullptr;
  ModelInput model;
};

bool modelled(const EngineInfo& e) {
  return e.family == EngineFamily::llama_cpp || e.family == EngineFamily::vllm;
}

double usable_share(const EngineInfo& e) {
  return e.family == EngineFamily::vllm ? e.reference.memory_fraction : 1.0;
}

double sequences_of(const Workload& w) {
  return w.rate ? 1 : std::max(1.0, std::ceil(w.concurrency));
}

Result<std::optional<Form>> form_of(const Loaded& loaded, const std::string& format,
                                    const Pairing& p, const Layout& layout,
                                    const Knowledge& knowledge) {
  DeploymentRequest r;
  r.accelerator = p.accelerator;
  r.engine = p.engine;
  r.weights = format;
  r.kv = loaded.resident->kv;
  r.layout = layout;
  auto d = resolve(loaded.model, r, knowledge);
  if (!d) {
    if (d.error().kind != ErrorKind::unsupported) return std::unexpected(std::move(d).error());
    return std::optional<Form>{};
  }
  const Workload& w = loaded.resident->workload;
  const double sequences = sequences_of(w);
  const auto n = static_cast<std::int64_t>(sequences);
  CAIRN_TRY(const MemoryEstimate memory,
            estimate_memory(memory_demand(*d, w.positions(), n), *p.engine, *p.accelerator));
  Form out{format, 0, {}, host_request(*d, memory, sequences), *std::move(d)};
  for (const DeviceMemory& stage : memory.devices) {
    out.cards.push_back(held(stage, memory, sequences));
  }
  const Graph& graph = *loaded.model.graph;
  out.bits = 8 * out.deployment.weights.total(graph).value() /
             static_cast<double>(count_parameters(graph).total);
  return std::optional<Form>(std::move(out));
}

// The best choice of one form per model with which all fit; empty if there is none.
class Choice {
 public:
  Choice(const std::vector<std::vector<Form>>& forms, Bytes usable)
      : forms_(&forms), usable_(usable), now_(forms.size()) {}

  std::vector<std::size_t> best() {
    const auto& first = forms_->front().front().cards;
    go(0, std::vector<Bytes>(first.size()), kUnbounded, 0);
    return best_;
  }
  [[nodiscard]] Bytes least() const { return least_; }

 private:
  void go(std::size_t model, const std::vector<Bytes>& used, double fewest, double sum) {
    const Bytes fullest = *std::ranges::max_element(used);
    if (model == forms_->size()) {
      least_ = std::min(least_, fullest);
      if (fullest > usable_) return;
      if (std::pair(fewest, sum) > score_) {
        score_ = {fewest, sum};
        best_ = now_;
      }
      return;
    }
    const auto& forms = (*forms_)[model];
    for (std::size_t i = 0; i < forms.size(); ++i) {
      std::vector<Bytes> next = used;
      for (std::size_t c = 0; c < next.size(); ++c) next[c] += forms[i].cards[c];
      now_[model] = i;
      go(model + 1, next, std::min(fewest, forms[i].bits), sum + forms[i].bits);
    }
  }

  const std::vector<std::vector<Form>>* forms_;
  Bytes usable_;
  std::vector<std::size_t> now_;
  std::vector<std::size_t> best_;
  std::pair<double, double> score_{0, 0};
  Bytes least_{kUnbounded};
};

class Planner {
 public:
  Planner(const ResidentsRequest& request, const Knowledge& knowledge,
          const std::vector<Loaded>& models)
      : request_(&request), knowledge_(&knowledge), models_(&models) {}

  // As few cards as do; else the nearest reason in `rejection`.
  Result<std::optional<ResidentsCandidate>> on(const Pairing& p, Rejection& rejection) {
    const Constraints& c = request_->constraints;
    const int most = p.accelerator->unified_memory
                         ? 1
                         : static_cast<int>(std::min<std::int64_t>(
                               kCardsOfAMachine, c.max_cards * p.accelerator->devices_per_card));
    for (int n = 1; n <= most; ++n) {
      auto candidate = on_cards(p, split_over(*p.engine, n), rejection);
      if (!candidate) {
        // What is not known of this card leaves it out, and no other.
        if (candidate.error().kind != ErrorKind::unsupported) return candidate;
        reject(rejection, p, {"support", 0, 0, "", candidate.error().to_string()});
        break;
      }
      if (*candidate) return candidate;
    }
    return std::optional<ResidentsCandidate>{};
  }

 private:
  Result<std::optional<ResidentsCandidate>> on_cards(const Pairing& p, const Layout& layout,
                                                     Rejection& rejection) {
    std::vector<std::vector<Form>> forms;
    for (const Loaded& m : *models_) {
      std::vector<Form> list;
      const auto& asked = m.resident->formats;
      for (const std::string& format :
           asked.empty() ? searched_formats(m.model, *p.engine, *p.accelerator) : asked) {
        CAIRN_TRY(auto form, form_of(m, format, p, layout, *knowledge_));
        if (form) list.push_back(*std::move(form));
      }
      if (list.empty()) {
        reject(rejection, p,
               {"support", 0, 0, "",
                fmt::format("{} does not run {} so", p.engine->id, m.model.name)});
        return std::optional<ResidentsCandidate>{};
      }
      forms.push_back(std::move(list));
    }
    const DeviceOverheads overheads =
        p.engine->overheads_on(p.accelerator->vendor, p.accelerator->architecture);
    const Bytes usable =
        (p.accelerator->capacity(p.engine->id) - overheads.reserved) * usable_share(*p.engine);
    // Formats that leave room for the error of the estimate before those that do not.
    Choice choice(forms, usable);
    auto chosen = Choice(forms, usable / (1 + p.engine->memory_sigma)).best();
    if (chosen.empty()) chosen = choice.best();
    if (chosen.empty()) {
      reject(rejection, p, {"memory", in_gib(usable), in_gib(choice.least()), "GiB", ""});
      return std::optional<ResidentsCandidate>{};
    }
    ResidentsCandidate out;
    out.accelerator = p.accelerator->id;
    out.engine = p.engine->id;
    out.layout = layout;
    out.cards = p.accelerator->cards(layout.devices());
    out.usable = usable;
    out.sigma = p.engine->memory_sigma;
    CAIRN_TRY(const bool good, fill(p, forms, chosen, out, rejection));
    if (!good) return std::optional<ResidentsCandidate>{};
    return std::optional<ResidentsCandidate>(std::move(out));
  }

  // Times and money of a choice; false if a limit is broken.
  Result<bool> fill(const Pairing& p, std::vector<std::vector<Form>>& forms,
                    const std::vector<std::size_t>& chosen, ResidentsCandidate& out,
                    Rejection& rejection) {
    std::vector<Bytes> used(forms.front().front().cards.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Form& form = forms[i][chosen[i]];
      for (std::size_t c = 0; c < used.size(); ++c) used[c] += form.cards[c];
      ResidentFit fit;
      fit.bits_per_weight = form.bits;
      fit.memory = *std::ranges::max_element(form.cards);
      CAIRN_TRY(const bool served, time_alone(i, form.deployment, fit));
      if (!served) {
        reject(rejection, p,
               {"cards", static_cast<double>(out.cards), static_cast<double>(out.cards) + 1,
                "cards", ""});
        return false;
      }
      out.residents.push_back(std::move(fit));
    }
    out.used = *std::ranges::max_element(used);
    share_time(out.residents);
    double busy = 0;
    for (const ResidentFit& fit : out.residents) busy += fit.busy;
    // Together they have no more than all of the time.
    if (busy > 1 + 1e-9) {
      reject(rejection, p,
             {"cards", static_cast<double>(out.cards),
              std::ceil(static_cast<double>(out.cards) * busy), "cards", ""});
      return false;
    }
    if (!within_limits(p, out, rejection)) return false;
    CAIRN_CHECK(add_money(p, out, busy));
    CAIRN_CHECK(add_machine(forms, chosen, out));
    return !over_budget(p, out, rejection);
  }

  Result<bool> time_alone(std::size_t i, const Deployment& deployment, ResidentFit& fit) {
    const Resident& r = *(*models_)[i].resident;
    CAIRN_TRY(fit.alone, predict(deployment, r.workload, request_->terms, *knowledge_));
    if (!fit.alone.memory.fits) return false;
    if (r.workload.rate) {
      CAIRN_TRY(ReplicaModel model, ReplicaModel::build(deployment, r.workload, *knowledge_));
      const double most = model.most_served([](const RequestTimes::Steady&) { return true; });
      fit.busy = *r.workload.rate / most;
      return fit.alone.workload.rate.has_value();
    }
    fit.busy = r.share;
    return true;
  }

  // Those without a rate and a share divide what the others leave.
  void share_time(std::vector<ResidentFit>& fits) const {
    double taken = 0;
    double without = 0;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      taken += fits[i].busy;
      if (open(i)) without += 1;
    }
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (open(i)) fits[i].busy = std::max(0.0, 1 - taken) / without;
    }
    double all = 0;
    for (const ResidentFit& f : fits) all += f.busy;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      ResidentFit& f = fits[i];
      const double others = std::min(all - f.busy, 1 - 1e-9);
      f.slowdown = 1 / (1 - others);
      const Metric* alone = f.alone.metric("output_tokens_per_s");
      const bool rate = (*models_)[i].resident->workload.rate.has_value();
      f.output_tokens_per_s = alone == nullptr ? 0 : alone->value * (rate ? 1 : f.busy);
    }
  }
  [[nodiscard]] bool open(std::size_t i) const {
    const Resident& r = *(*models_)[i].resident;
    return !r.workload.rate && r.share <= 0;
  }

  bool within_limits(const Pairing& p, const ResidentsCandidate& out, Rejection& rejection) const {
    const Constraints& c = request_->constraints;
    for (std::size_t i = 0; i < out.residents.size(); ++i) {
      const ResidentFit& f = out.residents[i];
      const double output = (*models_)[i].resident->workload.output;
      const double speed = 1000 * output / (f.ttft_ms() + (output - 1) * f.tpot_ms());
      const auto broken = latency_violations(c, f.ttft_ms(), f.tpot_ms(), speed);
      if (!broken.empty()) {
        reject(rejection, p, broken.front());
        return false;
      }
    }
    const auto board = p.accelerator->board_power;
    const double watts =
        board ? board->value() * static_cast<double>(out.layout.devices()) : kUnbounded;
    if (c.power_w && watts > *c.power_w) {
      reject(rejection, p, {"power", *c.power_w, watts, "W", ""});
      return false;
    }
    return true;
  }

  // One machine for all: each model has its processes, weights and caches in it.
  Result<void> add_machine(const std::vector<std::vector<Form>>& forms,
                           const std::vector<std::size_t>& chosen, ResidentsCandidate& out) const {
    HostRequest all = forms.front()[chosen.front()].machine;
    const auto processes = [](const HostRequest& r) {
      return r.processes > 0 ? r.processes : r.devices;
    };
    all.processes = processes(all);
    for (std::size_t i = 1; i < chosen.size(); ++i) {
      const HostRequest& one = forms[i][chosen[i]].machine;
      all.processes += processes(one);
      all.weights += one.weights;
      all.working += one.working;
    }
    // As many cards as are counted here stand in one machine.
    all.cards_per_host = out.cards;
    const auto& host = request_->constraints.host;
    CAIRN_TRY(out.machines,
              machines_of(all, host ? &*host : nullptr, *knowledge_, request_->terms.question()));
    return {};
  }

  Result<void> add_money(const Pairing& p, ResidentsCandidate& out, double busy) const {
    const Constraints& c = request_->constraints;
    const CostTerms& terms = request_->terms;
    CAIRN_TRY(out.purchase,
              purchase_of(*p.accelerator, terms.question(), knowledge_->prices, knowledge_->hosts));
    out.price = price_beyond(owned_cards(c, *p.accelerator), out.cards, out.purchase);
    PowerEstimate mean;
    bool known = true;
    for (const ResidentFit& f : out.residents) {
      known = known && f.alone.power.has_value();
      if (!known) break;
      mean.idle = f.alone.power->idle;
      mean.load += f.alone.power->load * f.busy;
    }
    if (!known) return {};
    mean.load += mean.idle * (1 - busy);
    CostFigures m;
    CAIRN_CHECK(count_electricity(mean, out.layout.devices(), 0, terms, knowledge_->prices, m));
    out.kwh_per_year = m.kwh_per_year;
    out.co2_kg_per_year = m.co2_kg_per_year;
    if (out.price) out.yearly_cost = owned_per_year(*out.price, m, terms);
    return {};
  }

  bool over_budget(const Pairing& p, const ResidentsCandidate& out, Rejection& rejection) const {
    const Constraints& c = request_->constraints;
    if (!c.budget) return false;
    const auto budget =
        knowledge_->prices.convert(*c.budget, c.budget_currency, request_->terms.currency);
    if (!budget || out.price.value_or(kUnbounded) <= *budget) return false;
    reject(rejection, p,
           {"budget", *budget, out.price.value_or(kUnbounded), request_->terms.currency, ""});
    return true;
  }

  // The last reason stands: that of the most cards.
  static void reject(Rejection& into, const Pairing& p, const Violation& v) {
    into = {p.accelerator->id, p.engine->id, v.constraint, v.limit, v.needed, v.unit, v.reason};
  }

  const ResidentsRequest* request_;
  const Knowledge* knowledge_;
  const std::vector<Loaded>* models_;
};

double metric_of(const Prediction& p, std::string_view name) {
  const Metric* m = p.metric(name);
  return m != nullptr ? m->value : 0;
}

double bits_of(const ResidentsCandidate& c) {
  double out = 0;
  for (const ResidentFit& f : c.residents) out += f.bits_per_weight;
  return out;
}

}  // namespace

double ResidentFit::tpot_ms() const { return slowdown * metric_of(alone, "tpot_ms_mean"); }
double ResidentFit::ttft_ms() const { return slowdown * metric_of(alone, "ttft_ms_mean"); }

Result<ResidentsPlan> plan_residents(const ResidentsRequest& request, const Knowledge& knowledge) {
  std::vector<Loaded> models;
  for (const Resident& r : request.residents) {
    Loaded loaded;
    loaded.resident = &r;
    CAIRN_TRY(loaded.model, find_model(r.model, knowledge));
    models.push_back(std::move(loaded));
  }
  if (models.empty()) return fail(bad_input("no models").in("models").want("one or more"));
  for (const std::string& name : request.constraints.engines) {
    CAIRN_TRY(const EngineInfo* engine, knowledge.engines.find(name));
    if (modelled(*engine)) continue;
    return fail(bad_input("how several models share the memory of this engine is not modelled")
                    .in("engine")
                    .got(name)
                    .want("llama.cpp, llama.cpp-vulkan or vllm"));
  }
  for (const std::string& id : request.constraints.accelerators) {
    CAIRN_TRY(const Accelerator* a, knowledge.accelerators.find(id));
    CAIRN_CHECK(check_single(*a));
  }
  ResidentsPlan out;
  Planner planner(request, knowledge, models);
  const auto pairs = pairings(request.constraints, knowledge);
  for (const Accelerator* a : considered(request.constraints, knowledge)) {
    Rejection rejection{
        a->id, "", "support", 0, 0, "", "none of the engines runs on this accelerator"};
    bool ranked = false;
    for (const Pairing& p : pairs) {
      if (p.accelerator != a || !modelled(*p.engine)) continue;
      CAIRN_TRY(auto candidate, planner.on(p, rejection));
      if (!candidate) continue;
      ranked = true;
      out.ranked.push_back(*std::move(candidate));
    }
    if (!ranked) out.rejections.push_back(std::move(rejection));
  }
  std::ranges::stable_sort(out.ranked, {}, [](const ResidentsCandidate& c) {
    return std::tuple(c.lacks(), c.yearly_cost.value_or(kUnbounded), c.narrow(), -bits_of(c));
  });
  if (out.ranked.size() > request.top) out.ranked.resize(request.top);
  return out;
}

}  // namespace cairn
