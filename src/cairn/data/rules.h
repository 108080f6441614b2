// The rules that the whole data image obeys, beyond what one schema can say.
//
// An index (schema/index.yaml; of the evidence schema/evidence/index.yaml) lists which
// schema serves which documents, and what holds between documents:
//   schemas:
//   - documents: hardware/accelerators/*.yaml   # * stands for any characters but /
//     schema: schema/accelerator.yaml
//     names: [id, aliases]      # values that name an entry: distinct over all
//                               # of these documents, whatever their case
//     file_name: id             # the file is called as this field says
//     references:               # values that must be a name elsewhere
//     - {field: used_by, documents: hardware/accelerators/*.yaml, names: [id]}
// A field is a path: "links.id" is the id of every element of links; in CSV it
// is a column.
//
// Where a document has a mapping `sources`, every `source` in it names one or
// more of its keys, and every one of these has the fields url and date.
#pragma once

#include <string_view>
#include <vector>

#include "cairn/data/image.h"

namespace cairn {

struct DataReport {
  std::size_t documents = 0;  // checked against a schema
  std::vector<Error> errors;
};

/// The indices of the two images that the build makes.
constexpr std::string_view kFactsIndex = "schema/index.yaml";
constexpr std::string_view kEvidenceIndex = "schema/evidence/index.yaml";

/// Checks every document of an image. Fails only where the index itself cannot
/// be read.
Result<DataReport> check_data(const Image& image, std::string_view index = kFactsIndex);

/// True if `name` matches `pattern`, in which * stands for any run of
/// characters without a slash.
bool matches_pattern(std::string_view name, std::string_view pattern);

}  // namespace cairn
