// All evidence: the pages and the figures they give.
//
//   CAIRN_TRY(const EvidenceNames names, EvidenceNames::load(image, knowledge));
//   CAIRN_TRY(const EvidenceBook book, EvidenceBook::load(image, names));
//   for (const InferenceRow& row : book.inference()) ...
//
// Rows point to their source, which the book owns: it can be moved, not copied.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cairn/evidence/loader.h"

namespace cairn {

/// Which kind of figure a row is.
enum class EvidenceSet : std::uint8_t { inference, micro, training, vision };
std::string_view name_of(EvidenceSet set);

/// What rows of every kind have in common: a view of one row.
struct EvidenceItem {
  EvidenceSet set = EvidenceSet::inference;
  std::string_view id;
  const EvidenceSource* source = nullptr;
  std::string_view gpu;  // of the catalogue; empty: none
  std::string_view gpu_printed;
  double devices = 1;
  std::string_view model;  // of the catalogue; empty: none. Of a micro-benchmark what ran
  std::string_view model_printed;
  std::string_view engine;  // engine, library or framework
  std::string_view metric;
  double value = 0;
  std::string_view unit;
  std::string_view doubt;
};

class EvidenceBook {
 public:
  /// Reads every file of an image of evidence.
  static Result<EvidenceBook> load(const Image& evidence, const EvidenceNames& names);

  [[nodiscard]] const EvidenceSources& sources() const { return sources_; }
  [[nodiscard]] const std::vector<InferenceRow>& inference() const { return inference_; }
  [[nodiscard]] const std::vector<MicroRow>& micro() const { return micro_; }
  [[nodiscard]] const std::vector<TrainingRow>& training() const { return training_; }
  [[nodiscard]] const std::vector<VisionRow>& vision() const { return vision_; }
  /// Rows of all kinds.
  [[nodiscard]] std::size_t size() const;

  /// Adds rows of one's own, whose sources are those of `sources`. An error for a source
  /// whose key is there already.
  Result<void> join(const EvidenceSources& sources, std::vector<InferenceRow> inference,
                    std::vector<MicroRow> micro);

  /// Visits every row, in the order of the files.
  void visit(const std::function<void(const EvidenceItem&)>& visitor) const;
  /// What the row of this id says, column by column; empty where there is none.
  [[nodiscard]] std::vector<EvidenceCell> cells(std::string_view id) const;
  /// The row of this id; nothing where there is none.
  [[nodiscard]] std::optional<EvidenceItem> find(std::string_view id) const;

 private:
  EvidenceSources sources_;
  std::vector<InferenceRow> inference_;
  std::vector<MicroRow> micro_;
  std::vector<TrainingRow> training_;
  std::vector<VisionRow> vision_;
};

EvidenceItem item_of(const InferenceRow& row);
EvidenceItem item_of(const MicroRow& row);
EvidenceItem item_of(const TrainingRow& row);
EvidenceItem item_of(const VisionRow& row);

}  // namespace cairn
