// The evidence of the build, opened once.
#pragma once

#include <memory>

#include "../must.h"
#include "cairn/evidence/evidence_book.h"

namespace cairn::test {

struct Evidence {
  Image image = must(Image::open(CAIRN_EVIDENCE_IMAGE_FILE));
  Knowledge knowledge = must(Knowledge::load(must(Image::open(CAIRN_IMAGE_FILE))));
  EvidenceNames names = must(EvidenceNames::load(image, knowledge));
  EvidenceBook book = must(EvidenceBook::load(image, names));
};

inline const Evidence& evidence() {
  static const auto kEvidence = std::make_unique<Evidence>();
  return *kEvidence;
}

/// Rows of a text with the columns of data/schema/evidence; `key` is their only source.
inline Result<std::vector<InferenceRow>> inference_of(const std::string& text,
                                                      const EvidenceSources& sources) {
  const Document document = must(parse_csv(text, "rows.csv"));
  return read_inference(document.root(), sources, evidence().names);
}

}  // namespace cairn::test
