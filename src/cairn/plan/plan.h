// Plan: the search over hardware x engine x weight format x KV format x split x
// number of replicas for a workload under constraints, ranked, with the reasons for
// what was left out.
//
// A candidate is a variant (plan/space.h) on a number of replicas. Which of those on one
// accelerator with one engine is the best is found by branch and bound: memory first,
// then bounds of time and cost that no evaluation can beat (plan/bounds.h). What remains
// is evaluated with the same functions that `predict` uses. The outcome is that of
// evaluating every candidate, and the same on any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/plan/machines.h"
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
  /// Empty: what is sold, and what is owned.
  std::vector<std::string> accelerators;
  std::vector<std::string> engines;  // empty: all
  std::vector<std::string> formats;  // empty: the engine's usual ones
  std::string kv;                    // empty: the usual ones
  std::int64_t max_cards = 64;
  bool announced = false;         // consider announced hardware that is not named
  std::optional<OwnedHost> host;  // the machine at hand: what it holds comes first
};

struct PlanRequest {
  Workload workload;  // with a rate, or a concurrency
  Constraints constraints;
  CostTerms terms;
  /// Nothing: by latency where a budget is to be spent on requests without targets,
  /// else by cost.
  std::optional<Objective> objective;
  std::size_t top = 10;
  /// Evaluate every candidate instead of leaving out those that bounds exclude: the
  /// same plan, slowly. For tests.
  bool exhaustive = false;
  unsigned threads = 0;  // 0: as many as the machine has, at most 8
};

struct Candidate {
  Prediction prediction;
  std::int64_t cards = 0;  // to have; of two devices each where a card has two
  double bits_per_weight = 0;
  std::optional<double> price;        // of the cards to buy, in terms.currency
  std::optional<double> yearly_cost;  // amortisation and electricity, in terms.currency
  bool pareto = false;  // no other is better in cost, latency, throughput and energy at once
  Machines machines;    // that the cards stand in

  /// It fits within the error of the memory estimate only.
  [[nodiscard]] bool narrow() const { return prediction.memory.narrow(); }
  /// It does not stand in the machine that is owned.
  [[nodiscard]] bool lacks() const { return machines.check && !machines.check->fits; }
};

/// What became of the candidates. The four parts add up to `considered`.
struct SearchCounts {
  std::int64_t considered = 0;
  std::int64_t too_large = 0;  // their memory does not hold the model with one request
  std::int64_t excluded = 0;   // a bound shows that they break a limit
  std::int64_t dominated = 0;  // a bound shows that another is better
  std::int64_t evaluated = 0;  // predicted at their operating point

  SearchCounts& operator+=(const SearchCounts& o);
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

/// Two engines on the same accelerator, each at its best in the same weight and KV format.
/// Where they have none in common, the first in the ranking and the next, without a verdict.
struct Contest {
  std::string accelerator;
  std::string better;
  std::string other;
  std::string weights;  // of the better one
  std::string kv;
  std::string other_weights;
  std::string other_kv;
  /// The other's value over the better one's in what is ranked by, 1 or more; nothing where
  /// the formats differ or one has no value.
  std::optional<double> ratio;

  [[nodiscard]] bool same_formats() const { return weights == other_weights && kv == other_kv; }
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

enum class FormatChoice : std::uint8_t {
  given,      // one was asked for, or the model is a file
  largest,    // of those that fit on as few cards within the limits: ranked by money
  objective,  // the best in what is ranked by
};
std::string_view name_of(FormatChoice choice);

struct Plan {
  std::vector<Candidate> ranked;        // best first, one per accelerator, engine and count
  std::vector<Rejection> rejections;    // one per accelerator that is not ranked
  std::vector<Relaxation> relaxations;  // only where nothing is ranked
  std::vector<Contest> contests;        // of the accelerators in `ranked`, in its order
  /// How the weight formats shown came about.
  FormatChoice format_choice = FormatChoice::given;
  SearchCounts counts;
  std::int64_t evaluated = 0;  // of the counts
};

/// Accelerators whose prices are of unlike things; both lists are empty where they are not.
struct PriceMix {
  std::vector<std::string> modules;   // alone, without board, chassis and processors
  std::vector<std::string> machines;  // in whole machines
};
PriceMix price_mix(const std::vector<Candidate>& candidates);

/// What the request is ranked by.
Objective objective_of(const PlanRequest& request);

Result<Plan> make_plan(const ModelInput& model, const PlanRequest& request,
                       const Knowledge& knowledge);

}  // namespace cairn
