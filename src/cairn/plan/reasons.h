// Why no candidate of an accelerator qualifies, and what would have to move.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/plan/evaluate.h"

namespace cairn {

/// A limit that a variant breaks.
struct Violation {
  std::string constraint;
  double limit = 0;
  double needed = 0;
  std::string unit;
  std::string reason;

  /// How far off: the ratio that is above one.
  [[nodiscard]] double excess() const;
};

/// The limits on latency that requests with these means break.
std::vector<Violation> latency_violations(const Constraints& constraints, double ttft_ms,
                                          double tpot_ms, double tokens_per_s);

/// Every limit that a variant breaks with the largest load per replica that keeps the
/// limits on latency, or with one request where none does; on as many replicas as the
/// workload then needs.
Result<std::vector<Violation>> violations_of(const SearchSpace& space, const PairingFacts& facts,
                                             const Variant& variant);

/// By constraint: how far off, and what would do.
using Relaxations = std::map<std::string, std::pair<double, Relaxation>>;
void merge(Relaxations& into, const Relaxations& from);

/// The nearest that an accelerator came with any engine: the variant whose worst
/// violation is the least. `pairings` are of one accelerator and may be none.
Result<Rejection> nearest(const SearchSpace& space, const std::string& accelerator,
                          const std::vector<const PairingFacts*>& pairings);

/// What one limit alone would have to become for a variant of the pairing to qualify,
/// the smallest change for each limit.
Result<Relaxations> relaxations(const SearchSpace& space, const PairingFacts& facts);

}  // namespace cairn
