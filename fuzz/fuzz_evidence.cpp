// Any text as a file of evidence, read as each kind of row; what is read is written and
// read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cairn/data/csv.h"
#include "cairn/evidence/evidence_book.h"
#include "facts.h"

namespace cairn::fuzz {
namespace {

struct Evidence {
  Image image = value_of(Image::open(CAIRN_EVIDENCE_IMAGE_FILE));
  Knowledge knowledge = value_of(Knowledge::load(value_of(Image::open(CAIRN_IMAGE_FILE))));
  EvidenceNames names = value_of(EvidenceNames::load(image, knowledge));
  EvidenceSources sources;
  const EvidenceSource* own = value_of(sources.add({.key = "own",
                                                    .url = "",
                                                    .date = "",
                                                    .kind = SourceKind::user,
                                                    .confirmed = true,
                                                    .campaign = "own"}));
};

const Evidence& evidence() {
  static const auto kEvidence = std::make_unique<const Evidence>();
  return *kEvidence;
}

template <class R>
void check_rows(const Result<std::vector<R>>& rows) {
  if (!rows) return check(rows.error());
  for (const R& row : *rows) {
    if (row.source == nullptr || row.gpu_printed.empty() || cells_of(row).empty()) std::abort();
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_csv(text, "fuzz.csv", {.nodes = 100'000});
  if (!document) return 0;
  const fuzz::Evidence& e = fuzz::evidence();
  const Node root = document->root();
  EvidenceSources sources;
  if (const auto read = sources.read(root); !read) fuzz::check(read.error());
  fuzz::check_rows(read_micro(root, e.sources, e.names, e.own));
  fuzz::check_rows(read_training(root, e.sources, e.names, e.own));
  fuzz::check_rows(read_vision(root, e.sources, e.names, e.own));
  const auto rows = read_inference(root, e.sources, e.names, e.own);
  fuzz::check_rows(rows);
  if (!rows || rows->empty()) return 0;
  const Document again = fuzz::value_of(parse_csv(inference_csv(*rows), "again.csv"));
  const auto second = read_inference(again.root(), e.sources, e.names, e.own);
  if (!second || second->size() != rows->size()) std::abort();
  return 0;
}
