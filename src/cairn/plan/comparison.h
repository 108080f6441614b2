// Cards side by side: their figures, and one workload on each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/predict/prediction.h"

namespace cairn {

struct ComparisonRequest {
  std::vector<const Accelerator*> accelerators;
  DeploymentRequest settings;         // engine: null for each card's default
  std::optional<Layout> layout;       // nothing: as few cards as hold the model
  std::optional<std::int64_t> cards;  // cards of each kind, where no layout is given
  Workload workload;
  CostTerms terms;
};

struct Compared {
  const Accelerator* accelerator = nullptr;
  std::optional<Purchase> purchase;       // as it is sold, in terms.currency
  std::optional<double> price;            // of one card, or its share of a machine
  std::optional<double> memory_per_1000;  // GiB for 1000 of the currency
  std::optional<Prediction> prediction;   // nothing without a model, or where refused
  std::string reason;                     // why it is refused
  // Of the workload, over all its cards.
  std::optional<double> tokens_per_1000;  // output tokens/s for 1000 of the currency
  std::optional<double> tokens_per_watt;
  std::optional<double> tokens_per_gib;
};

/// The weight formats of the predictions, each once: more than one, and the cards do not
/// do the same work.
std::vector<std::string> weight_formats_of(const std::vector<Compared>& cards);

/// One entry per accelerator, in the order asked for. `model` may be null.
Result<std::vector<Compared>> compare(const ModelInput* model, const ComparisonRequest& request,
                                      const Knowledge& knowledge);

}  // namespace cairn
