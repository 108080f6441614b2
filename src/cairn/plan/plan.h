// Plan: the search over hardware x count x layout x format x engine for a
// workload under constraints, ranked, with the reasons for what was left out.
//
// For each accelerator, engine, weight format and split the search finds the
// largest load per replica that keeps the latency limits and fits the memory,
// takes as many replicas as the workload needs, and predicts that deployment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/predict/prediction.h"

namespace cairn {

enum class Objective : std::uint8_t {
  cost,        // cards and electricity: per year at a rate, else per output token
  price,       // purchase
  latency,     // time per output token
  throughput,  // output tokens per second
  energy,      // joules per output token
};
std::string_view name_of(Objective objective);

struct Constraints {
  std::optional<double> ttft_ms;       // mean time to first token, at most
  std::optional<double> tpot_ms;       // mean time per output token, at most
  std::optional<double> tokens_per_s;  // output tokens per second of one request, at least
  std::optional<double> budget;        // purchase of all cards that are not owned, at most
  std::string budget_currency = "USD";
  std::optional<double> power_w;  // board power of all cards, at most; unknown power is too much
  std::vector<std::pair<std::string, std::int64_t>> owned;  // accelerator id, cards
  std::string vendor;                                       // empty: any
  std::vector<std::string> accelerators;                    // empty: the whole catalogue
  std::vector<std::string> engines;                         // empty: all
  std::vector<std::string> formats;                         // empty: the engine's usual ones
  std::string kv;                                           // empty: the engine's reference
  std::int64_t max_cards = 64;
  bool announced = false;  // consider announced hardware that is not named
};

struct PlanRequest {
  Workload workload;  // with a rate, or a concurrency
  Constraints constraints;
  CostTerms terms;
  /// Nothing: by latency where a budget is to be spent on requests without targets,
  /// else by cost.
  std::optional<Objective> objective;
  std::size_t top = 10;
};

struct Candidate {
  Prediction prediction;
  std::int64_t cards = 0;  // to have; of two devices each where a card has two
  double bits_per_weight = 0;
  std::optional<double> price;        // of the cards to buy, in terms.currency
  std::optional<double> yearly_cost;  // amortisation and electricity, in terms.currency
  bool pareto = false;  // no other is better in cost, latency, throughput and energy at once
};

/// Why an accelerator has no place in the ranking: the nearest it came.
struct Rejection {
  std::string accelerator;
  std::string engine;      // empty: before an engine was tried
  std::string constraint;  // "memory", "ttft", "tpot", "budget", "power", "cards", "support"
  double limit = 0;        // what was allowed ...
  double needed = 0;       // ... and what the nearest variant needs, in `unit`
  std::string unit;
  std::string reason;  // for "support": what the engine or the model says
};

/// How far one constraint alone must move until something qualifies.
struct Relaxation {
  std::string constraint;
  double from = 0;
  double to = 0;
  std::string unit;
  std::string accelerator;  // what would qualify then
};

struct Plan {
  std::vector<Candidate> ranked;        // best first, one per accelerator, engine and count
  std::vector<Rejection> rejections;    // one per accelerator that is not ranked
  std::vector<Relaxation> relaxations;  // only where nothing is ranked
  std::int64_t evaluated = 0;           // deployments predicted
};

/// What the request is ranked by.
Objective objective_of(const PlanRequest& request);

Result<Plan> make_plan(const ModelInput& model, const PlanRequest& request,
                       const Knowledge& knowledge);

}  // namespace cairn
