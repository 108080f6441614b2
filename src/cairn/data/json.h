// JSON text to Document. Strict RFC 8259: a duplicated key, a number beyond a
// double (1e400), deep nesting and trailing text are errors with file and line.
#pragma once

#include <string>
#include <string_view>

#include "cairn/data/document.h"

namespace cairn {

Result<Document> parse_json(std::string_view text, std::string name, ParseLimits limits = {});
Result<Document> load_json(const std::string& path, ParseLimits limits = {});

}  // namespace cairn
