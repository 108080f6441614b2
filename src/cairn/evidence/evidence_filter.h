// Which rows of evidence are meant.
#pragma once

#include <string>
#include <vector>

#include "cairn/evidence/evidence_book.h"

namespace cairn {

/// A row must meet every list that is not empty, by any of its entries. Case does not
/// matter.
struct EvidenceFilter {
  std::vector<std::string> gpus;       // ids of the catalogue, or as printed
  std::vector<std::string> models;     // ids with or without the organisation, or as printed
  std::vector<std::string> engines;    // as printed, or ids of the catalogue
  std::vector<std::string> metrics;    // "decode_tokens_per_s"
  std::vector<std::string> campaigns;  // "ROCm/ATOM" means its issues and pull requests too
  std::vector<SourceKind> kinds;
  std::vector<EvidenceSet> sets;
  std::string from;    // dates, YYYY, YYYY-MM or YYYY-MM-DD, both included; a row
  std::string to;      // without a date meets neither
  bool sound = false;  // only rows that nothing is known against
};

[[nodiscard]] bool matches(const EvidenceItem& item, const EvidenceFilter& filter);
/// The same for a page: what says nothing of rows.
[[nodiscard]] bool matches(const EvidenceSource& source, const EvidenceFilter& filter);

/// Adds to the cards, models and engines of a filter the names by which the catalogues know
/// them ("RX 7900XTX" is rx-7900-xtx).
void resolve(EvidenceFilter& filter, const EvidenceNames& names);

}  // namespace cairn
