// Prediction: what one deployment will do for one workload, each figure with an
// interval and a basis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/message.h"
#include "cairn/cost/power.h"
#include "cairn/hardware/purchase.h"
#include "cairn/memory/memory.h"
#include "cairn/predict/deployment.h"
#include "cairn/predict/replica.h"
#include "cairn/predict/workload.h"

namespace cairn {

enum class BasisKind : std::uint8_t {
  calibrated,   // fitted on measurements of this card and engine
  transferred,  // fitted on relatives
  physics,      // priors only
};
std::string_view name_of(BasisKind kind);

struct Basis {
  BasisKind kind = BasisKind::physics;
  int rows = 0;  // measurements behind it
};

/// Names and units as in docs/json/metrics.md.
struct Metric {
  std::string name;
  double value = 0;
  double low = 0;  // of an 80 % interval
  double high = 0;
  std::string unit;
  Basis basis;
};

/// How money is counted.
struct CostTerms {
  std::string currency = "USD";
  double amortisation_years = 3;
  double utilisation = 0.5;             // share of the time that the cards serve at this load
  double electricity_per_kwh = 0;       // in `currency`; 0: the catalogue's world average
  double pue = 1.0;                     // power usage effectiveness of the room
  std::optional<double> co2_g_per_kwh;  // of the electricity; nothing: not counted
  std::string price_date;               // of the quotes to buy; empty: the newest of the data
  std::vector<GivenPrice> prices;       // before any quote
  /// What is sold in machines is bought in whole ones; else its share of one counts.
  bool whole_machines = false;

  /// What is asked of the quotes.
  [[nodiscard]] PriceQuestion question() const { return {currency, price_date, prices}; }
};

struct CostFigures {
  std::optional<double> purchase;         // all cards, or the machines with them, as the terms say
  std::optional<double> energy_per_hour;  // electricity under load
  std::optional<double> energy_per_year;  // under load and idle
  std::optional<double> kwh_per_year;     // the same, of the room
  std::optional<double> owned_per_hour;   // amortised cards and electricity, per hour of work
  std::optional<double> rented_per_hour;  // all cards
  /// What has to be bought for them: whole machines or base boards where they are sold so.
  std::optional<double> purchase_whole;
  std::optional<double> owned_per_mtok;  // per million output tokens
  std::optional<double> rented_per_mtok;
  std::optional<double> owned_per_year;
  std::optional<double> rented_per_year;  // for the hours of work
  /// Years after which purchase and electricity have cost less than the rent; nothing
  /// where a price is missing, infinite where renting stays cheaper.
  std::optional<double> break_even_years;
  std::optional<double> co2_kg_per_year;
  std::optional<double> co2_g_per_mtok;
  std::string currency;
  std::optional<Purchase> purchase_price;  // the quotes behind them
  std::optional<Price> rental_price;
};

struct Prediction {
  std::string model;
  std::string accelerator;
  bool announced = false;
  std::string engine;
  std::string weights;
  bool weights_approximate = false;
  std::string kv;
  Layout layout;
  EngineConfig config;
  Workload workload;
  std::string parameters;  // which kernel parameters were used
  MemoryEstimate memory;
  std::vector<Metric> metrics;         // empty where it does not fit
  std::optional<PowerEstimate> power;  // of a device, the mean of all
  CostFigures money;
  StepTime prefill;  // of one prompt; of a batch where a model answers at once (encoders)
  StepTime decode;   // of the mean step
  std::vector<Message> notes;

  [[nodiscard]] const Metric* metric(std::string_view name) const;
};

/// The workload as the model sees it. An encoder of sound reads a window of one length, and the
/// positions of an encoder are not the decoder's, which holds what it writes. An error for an
/// input that is given and is not that window.
Result<Workload> workload_for(const Workload& workload, const Graph& graph);

/// Predicts. Requests beyond those that the KV cache and the engine hold at once
/// wait: they add to the time to the first token, not to the batch. The memory is always filled in;
/// the metrics only where it fits. A model that answers at once (an encoder: vectors, classes)
/// reads workload.concurrency sequences of workload.input tokens as a batch in each replica's
/// turn; its output is nothing. One with an encoder reads the input with that.
Result<Prediction> predict(const Deployment& deployment, const Workload& workload,
                           const CostTerms& terms, const Knowledge& knowledge);

/// One operator group of `predict --explain`.
struct Explanation {
  std::string phase;  // "prefill" or "decode"
  std::string name;
  double count = 0;
  OperatorTime time;  // of all of them together
  std::string type;   // weight type
};
Result<std::vector<Explanation>> explain(const Deployment& deployment, const Workload& workload,
                                         const Knowledge& knowledge);

}  // namespace cairn
