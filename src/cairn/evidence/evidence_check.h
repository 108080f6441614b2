// What is wrong or doubtful in the evidence as a whole: rows that stand there twice, pages
// that contradict each other, names that no catalogue knows, layouts that do not fit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cairn/evidence/evidence_book.h"

namespace cairn {

/// Rows of one deployment and scenario.
struct EvidenceGroup {
  std::vector<std::string> ids;
  double low = 0;
  double high = 0;
  std::string unit;
  std::string what;  // "mi300x x8, meta-llama/..., vllm: output_tokens_per_s"
};

/// A name that is not of a catalogue.
struct UnmappedName {
  std::string name;
  std::size_t rows = 0;
  std::string reason;  // empty: none is known
};

struct EvidenceReport {
  std::size_t rows = 0;
  std::size_t sources = 0;
  std::size_t campaigns = 0;
  std::size_t unconfirmed = 0;  // rows of pages that could not be named

  // Rows whose names the catalogues know: of all rows, and of those of language models.
  std::size_t with_card = 0;
  std::size_t inference = 0;
  std::size_t with_model = 0;
  std::size_t with_format = 0;
  std::size_t with_all = 0;  // card, model and format

  /// The same figure twice on one page, column by column.
  std::vector<EvidenceGroup> duplicates;
  /// The same figure of the same deployment on different pages: a copy, most likely.
  std::vector<EvidenceGroup> near_duplicates;
  /// Figures of one deployment and scenario, of different campaigns and not of a known
  /// doubt, that differ by more than the factor.
  std::vector<EvidenceGroup> contradictions;
  /// Rows whose layout needs more cards than they are of.
  std::vector<std::string> layouts;

  std::vector<UnmappedName> cards;  // most rows first
  std::vector<UnmappedName> models;
  std::vector<UnmappedName> formats;
  std::map<std::string, std::size_t> doubts;  // code → rows
};

/// Figures this near to each other are one figure printed twice.
constexpr double kSameFigure = 0.0005;
constexpr double kContradictionFactor = 1.5;

/// `factor` > 1: from which ratio of the largest to the smallest value figures of one
/// deployment contradict each other.
EvidenceReport check_evidence(const EvidenceBook& book, const EvidenceNames& names,
                              double factor = kContradictionFactor);

}  // namespace cairn
