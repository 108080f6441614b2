// The best candidate of one accelerator with one engine, by branch and bound.
#pragma once

#include <optional>

#include "cairn/plan/evaluate.h"

namespace cairn {

struct Winner {
  Variant variant;
  std::int64_t replicas = 1;
  double bits_per_weight = 0;
};

struct SearchResult {
  std::optional<Winner> best;  // nothing: no candidate keeps the limits
  SearchCounts counts;
};

/// The candidate of the smallest rank among those that keep every limit. With
/// request.exhaustive every candidate is evaluated.
Result<SearchResult> search(const SearchSpace& space, const PairingFacts& facts);

}  // namespace cairn
