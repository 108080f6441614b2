// One candidate of a plan: what its limits say and what it ranks by. For the search and
// for the reasons of what is left out; not for other rooms.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cairn/plan/bounds.h"
#include "cairn/plan/plan.h"
#include "cairn/plan/space.h"
#include "cairn/predict/replica.h"

namespace cairn {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// A weight format of the model, bound once for the whole search.
struct FormatFacts {
  std::optional<BoundWeights> weights;  // nothing: the model cannot have it
  WorkOfFormat work;
  double bits_per_weight = 0;
};

/// What the whole search shares; read only.
struct SearchSpace {
  static constexpr double kMostSequences = 65536;  // of any engine

  const ModelInput* model = nullptr;
  const PlanRequest* request = nullptr;
  const Knowledge* knowledge = nullptr;
  Objective objective = Objective::cost;
  WorkOfModel work;
  std::map<std::string, FormatFacts> formats;
  std::optional<double> budget;  // in the currency of the answer
  std::unique_ptr<ShapeCache> shapes = std::make_unique<ShapeCache>();
  std::unique_ptr<MemoryCache> memory = std::make_unique<MemoryCache>();

  static Result<SearchSpace> build(const ModelInput& model, const PlanRequest& request,
                                   const Knowledge& knowledge,
                                   const std::vector<Pairing>& pairings);
};

/// Cards of a kind that are at hand.
std::int64_t owned_cards(const Constraints& constraints, const Accelerator& accelerator);

/// Purchase of so many cards beyond those that are owned, in whole machines; nothing where
/// some are to buy and no price is known.
std::optional<double> price_beyond(std::int64_t owned, std::int64_t cards,
                                   const std::optional<Purchase>& purchase);

/// A pairing with what its variants share.
struct PairingFacts {
  Pairing pairing;
  std::vector<Variant> variants;
  std::optional<KernelParameters> kernels;  // nothing: the engine has none for it
  std::optional<Purchase> purchase;         // in the currency of the answer
  std::int64_t owned = 0;                   // cards at hand
  std::optional<Watts> card_power;          // of one device

  static Result<PairingFacts> of(const SearchSpace& space, const Pairing& pairing);

  /// Cards of so many replicas of a variant.
  [[nodiscard]] std::int64_t cards(const Variant& v, std::int64_t replicas) const {
    return pairing.accelerator->cards(replicas * v.layout.tp * v.layout.pp);
  }
  /// Purchase of the cards that are not owned; nothing where no price is known.
  [[nodiscard]] std::optional<double> price(std::int64_t cards) const {
    return price_beyond(owned, cards, purchase);
  }
};

/// What is known of a variant before it is evaluated.
struct VariantBounds {
  const FormatFacts* format = nullptr;
  double kv_bits = 0;  // of a cached number
  Bounds bounds;
  double most = 1;  // requests that run at once in a replica, at most
  /// Memory that the weights alone take, as a share of what a replica has; 0 where the
  /// engine decides how much it has.
  double filled = 0;
};

/// Bounds of the variants of one pairing.
class BoundMaker {
 public:
  BoundMaker(const SearchSpace& space, const PairingFacts& facts)
      : space_(&space), facts_(&facts) {}

  /// Nothing for a variant that the engine, the model or the data refuse.
  std::optional<VariantBounds> of(const Variant& variant);
  /// So many replicas do not stand in the machine that is owned, if one is.
  bool lacks(const Variant& variant, std::int64_t replicas);

 private:
  const KvFormat* kv_of(const std::string& name);
  const CollectiveModel& links_of(const Variant& variant);
  const FormatRates& rates_of(const FormatFacts& format);
  Bytes cache_of(const KvFormat& kv);
  Bytes least_working(const Variant& variant, std::int64_t replicas);

  const SearchSpace* space_;
  const PairingFacts* facts_;
  std::map<std::string, std::optional<KvFormat>> kv_formats_;
  std::map<int, CollectiveModel> links_;  // by devices
  std::map<const FormatFacts*, FormatRates> rates_;
  // By devices, processes and bytes of weights and caches.
  std::map<std::tuple<std::int64_t, std::int64_t, double>, bool> lacking_;
  std::map<std::string, Bytes> caches_;  // of a sequence, by KV format
};

/// Ranked by what it costs, so by cards first.
constexpr bool is_money(Objective o) { return o == Objective::cost || o == Objective::price; }

/// Candidates are in the order of their ranks, smallest first; the place among the
/// variants comes last, so that no two are equal. What stands in the machine at hand
/// comes before what does not.
///   money:  cards, then what fits narrowly (MemoryEstimate::narrow) after what does not,
///           then bits per weight and per cached number (more is better), then time per
///           token
///   others: the objective's value, then what fits narrowly, bits, time per token, cards
using Rank = std::array<double, 8>;
struct Drawbacks {
  bool lacks = false;   // it does not stand in the machine at hand
  bool narrow = false;  // it fits within the error of the memory estimate
};
Rank rank_of(Objective objective, Drawbacks drawbacks, double value, double bits, double kv_bits,
             double tpot, std::int64_t cards, std::size_t index);

/// The value of an objective, smaller is better; money's is the number of cards.
double value_of(Objective objective, const OperatingPoint& point, double devices,
                std::int64_t cards);

/// Output tokens per second of one request, from its arrival to its last token.
double speed_of_request(const RequestTimes::Steady& steady, double output);

/// Whether the limits on latency hold for requests of so many output tokens.
bool keeps(const Constraints& constraints, const RequestTimes::Steady& steady, double output);

/// The variant as a deployment; the engine's, the model's or the data's refusal as an
/// unsupported error.
Result<Deployment> deployment_of(const SearchSpace& space, const Variant& variant);

/// Most replicas that cards, budget, power and the number of requests allow: not
/// checked against latency. `limits` false: only what the number of cards allows.
std::int64_t most_replicas(const SearchSpace& space, const PairingFacts& facts,
                           const Variant& variant, bool limits);

}  // namespace cairn
