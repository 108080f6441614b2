// The evidence as commands open it.
#pragma once

#include <memory>

#include "cairn/evidence/evidence_book.h"
#include "cairn/evidence/evidence_filter.h"
#include "cairn/predict/knowledge.h"
#include "context.h"

namespace cairn::cli {

struct OpenEvidence {
  std::unique_ptr<const Knowledge> knowledge;  // at a fixed address: names point into it
  EvidenceNames names;
  EvidenceBook book;
};

/// The evidence of the program and one's own.
Result<OpenEvidence> open_evidence(Context& context);

/// What the options of options/evidence.h choose; those that the command has not are
/// passed over.
Result<EvidenceFilter> filter_of(Context& context, const EvidenceNames& names, bool rows);

/// "mlperf" and so on, for people.
std::string_view word_for(SourceKind kind);

}  // namespace cairn::cli
