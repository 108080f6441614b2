// Checks documents against schemas, themselves documents: a subset of JSON
// Schema (https://json-schema.org/draft/2020-12/json-schema-validation) with
//   type (one or a list), enum, minimum, maximum, pattern, minItems, maxItems,
//   uniqueItems, items, properties, required, additionalProperties (true,
//   false or a schema), title, description, and $ref to a schema in the
//   document's own `definitions` ("#/definitions/NAME")
// and, for CSV, `columns`: a schema for each column, with `required` naming the
// columns whose cells may not be empty. Columns beyond these are refused, and
// so is a keyword beyond these: a rule that nobody checks is no rule.
#pragma once

#include <string>
#include <vector>

#include "cairn/data/document.h"

namespace cairn {

/// An error where the schema itself is malformed.
Result<void> check_schema(Node schema);

/// Every place where `document` departs from `schema`, in the order of the
/// file: "file:line: path.to.field: what is wrong". The schema must have passed
/// check_schema.
std::vector<Error> validate(Node document, Node schema);

}  // namespace cairn
