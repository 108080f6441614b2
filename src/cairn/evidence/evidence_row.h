// The head of a row of evidence, whatever its figure is of, and the page that it is from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn {

enum class SourceKind : std::uint8_t { vendor, independent, mlperf, community, user };

/// A page that figures come from.
struct EvidenceSource {
  std::string key;
  std::string url;
  std::string date;  // YYYY-MM-DD or shorter; empty where it is unknown
  SourceKind kind = SourceKind::community;
  /// The page can be named; else its figures are second-hand.
  bool confirmed = true;
  /// What shares machine, build, habits and mistakes: a repository, one thread of it, an
  /// MLPerf submitter in a round, or a site. Cross-validation leaves whole campaigns out.
  std::string campaign;
};

/// What rows of every kind say. What the page leaves open is empty.
struct EvidenceRow {
  std::string id;
  const EvidenceSource* source = nullptr;
  std::string gpu;  // of the catalogue; empty where `gpu_printed` is in none
  /// The cards it may be, ids of the catalogue, where the name leaves that open.
  std::vector<std::string> gpu_candidates;
  std::string gpu_printed;        // as it was collected
  std::optional<double> devices;  // cards that the figure is of
  std::optional<double> nodes;
  std::string stack;  // "rocm-6.4.1"
  std::string metric;
  double value = 0;
  std::string unit;
  /// Why the figure is no measurement of what it says: codes of docs/evidence.md joined by
  /// semicolons ("throttled", "broken" ...). Empty: nothing is known against it.
  std::string doubt;
  std::string notes;  // the rest, "key=value; ..."
};

}  // namespace cairn
