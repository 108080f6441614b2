// Reads the files of evidence: typed columns to typed rows, names resolved.
//
// Columns are those of data/schema/evidence; a file may leave out any but id, gpu, metric,
// value and unit. An unknown column, an empty required cell, and a cell that is not of its
// type are errors that name file, line, column, value and what was expected.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/document.h"
#include "cairn/evidence/inference_row.h"
#include "cairn/evidence/micro_row.h"
#include "cairn/evidence/names.h"
#include "cairn/evidence/row_words.h"
#include "cairn/evidence/training_row.h"
#include "cairn/evidence/vision_row.h"

namespace cairn {

/// Pages by their key. Rows point into it: it is only added to.
class EvidenceSources {
 public:
  EvidenceSources() = default;
  EvidenceSources(const EvidenceSources&) = delete;
  EvidenceSources& operator=(const EvidenceSources&) = delete;
  EvidenceSources(EvidenceSources&&) = default;
  EvidenceSources& operator=(EvidenceSources&&) = default;
  ~EvidenceSources() = default;

  /// Adds the rows of a table with the columns of data/schema/evidence/sources.yaml. An
  /// error for a key that is there already.
  Result<void> read(Node table);
  Result<const EvidenceSource*> add(EvidenceSource source);

  /// Nothing where there is none of this key.
  [[nodiscard]] const EvidenceSource* find(std::string_view key) const;
  [[nodiscard]] const std::deque<EvidenceSource>& all() const { return sources_; }

 private:
  std::deque<EvidenceSource> sources_;
  std::map<std::string_view, const EvidenceSource*> by_key_;
};

/// The most rows of one file.
constexpr std::uint32_t kMostEvidenceRows = 1'000'000;

// The rows of a table, in its order. `fallback` is the source of rows where the table has
// no column `source` or its cell is empty; without one such a row is an error.
Result<std::vector<InferenceRow>> read_inference(Node table, const EvidenceSources& sources,
                                                 const EvidenceNames& names,
                                                 const EvidenceSource* fallback = nullptr);
/// The same, added to `out`.
Result<void> read_inference(Node table, const EvidenceSources& sources, const EvidenceNames& names,
                            std::vector<InferenceRow>& out, const EvidenceSource* fallback);
Result<std::vector<MicroRow>> read_micro(Node table, const EvidenceSources& sources,
                                         const EvidenceNames& names,
                                         const EvidenceSource* fallback = nullptr);
Result<std::vector<TrainingRow>> read_training(Node table, const EvidenceSources& sources,
                                               const EvidenceNames& names,
                                               const EvidenceSource* fallback = nullptr);
Result<std::vector<VisionRow>> read_vision(Node table, const EvidenceSources& sources,
                                           const EvidenceNames& names,
                                           const EvidenceSource* fallback = nullptr);

/// Resolves the names of a row that was not read from a table, and fills the lengths that
/// its kind or its benchmark implies: gpu, model, format, engine, means, limits.
void complete_names(InferenceRow& row, const EvidenceNames& names);

/// Means of lengths that are not printed: of exact ones the length itself, of a uniform
/// draw the middle of its range.
void complete_lengths(RequestLengths& lengths);

/// One column of a row as text: what it says and under which name.
struct EvidenceCell {
  std::string_view column;
  std::string text;
};

// What a row says, empty columns left out, in the order of the schema.
std::vector<EvidenceCell> cells_of(InferenceRow row);
std::vector<EvidenceCell> cells_of(MicroRow row);
std::vector<EvidenceCell> cells_of(TrainingRow row);
std::vector<EvidenceCell> cells_of(VisionRow row);

/// Rows as a CSV file that read_inference and read_micro read: the columns that any row
/// fills, ids and sources first.
std::string inference_csv(const std::vector<InferenceRow>& rows);
std::string micro_csv(const std::vector<MicroRow>& rows);

}  // namespace cairn
