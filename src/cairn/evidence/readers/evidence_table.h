// A table of rows that have the columns of the evidence already: somebody's own list, or an
// excerpt of data/evidence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/loader.h"

namespace cairn {

/// Whether a text is CSV whose first line has the columns id, gpu, metric, value and unit.
bool is_evidence_table(std::string_view text);

struct EvidenceTable {
  std::vector<InferenceRow> inference;
  std::vector<MicroRow> micro;  // where the table has a column `what`
};

/// Rows of the table, names resolved. Rows that name no source are of `source`. Errors as of
/// read_inference and read_micro, and where the table has no row.
Result<EvidenceTable> read_evidence_table(std::string_view text, const std::string& name,
                                          const EvidenceSources& sources,
                                          const EvidenceNames& names, const EvidenceSource* source);

}  // namespace cairn
