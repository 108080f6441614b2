#include "cairn/evidence/readers/evidence_table.h"

#include <algorithm>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

std::vector<std::string_view> header_of(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  OutputLines lines(text);
  const auto first = lines.next();
  return first ? parts_of(first->text, ',') : std::vector<std::string_view>{};
}

}  // namespace

bool is_evidence_table(std::string_view text) {
  const auto columns = header_of(text);
  return std::ranges::all_of(
      std::initializer_list<std::string_view>{"id", "gpu", "metric", "value", "unit"},
      [&columns](std::string_view name) {
        return std::ranges::find(columns, name) != columns.end();
      });
}

Result<EvidenceTable> read_evidence_table(std::string_view text, const std::string& name,
                                          const EvidenceSources& sources,
                                          const EvidenceNames& names,
                                          const EvidenceSource* source) {
  CAIRN_TRY(const Document document, parse_csv(text, name));
  const auto columns = header_of(text);
  EvidenceTable out;
  if (std::ranges::find(columns, "what") != columns.end()) {
    CAIRN_TRY(out.micro, read_micro(document.root(), sources, names, source));
  } else {
    CAIRN_TRY(out.inference, read_inference(document.root(), sources, names, source));
  }
  if (out.micro.empty() && out.inference.empty()) {
    return fail(bad_input("no figure in it").at(name));
  }
  return out;
}

}  // namespace cairn
