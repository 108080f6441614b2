// Evidence of one's own: a folder with the files of data/evidence, which rows are added to.
//
//   sources.csv    the pages or files that rows come from, kind "user"
//   inference.csv  figures of language models
//   micro.csv      kernels, copies, collectives
//
// Columns are those of data/schema/evidence. A file that does not exist is empty.
#pragma once

#include <string>
#include <vector>

#include "cairn/evidence/loader.h"

namespace cairn {

/// Rows point to their source, which this owns: it can be moved, not copied.
class UserEvidence {
 public:
  /// Reads the files of a folder. Errors: bad_input with file and line; io.
  static Result<UserEvidence> load(const std::string& folder, const EvidenceNames& names);

  [[nodiscard]] const EvidenceSources& sources() const { return sources_; }
  [[nodiscard]] const std::vector<InferenceRow>& inference() const { return inference_; }
  [[nodiscard]] const std::vector<MicroRow>& micro() const { return micro_; }

  /// The source of these facts (its key aside), added where there is none yet; its key is
  /// "own.N".
  Result<const EvidenceSource*> source_of(const EvidenceSource& facts);

  /// Adds a row under a new id "own-N". False where a row that says the same is there, its
  /// id, source and the spelling of its notes aside.
  bool add(InferenceRow row);
  bool add(MicroRow row);

  /// Writes the files into a folder, which is made where there is none: each to a file
  /// beside it first, so that a fault leaves the old one.
  [[nodiscard]] Result<void> write(const std::string& folder) const;

 private:
  template <class R>
  bool add_to(std::vector<R>& rows, R row);

  EvidenceSources sources_;
  std::vector<InferenceRow> inference_;
  std::vector<MicroRow> micro_;
  std::vector<std::string> said_;  // what each row says, sorted
  std::size_t last_id_ = 0;
};

}  // namespace cairn
