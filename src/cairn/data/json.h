// JSON text to Document. Strict RFC 8259: a duplicated key, a number beyond a
// double (1e400), deep nesting and trailing text are errors with file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/data/document.h"

namespace cairn {

/// What a text may hold beyond RFC 8259.
enum class JsonDialect : std::uint8_t {
  strict,
  /// NaN, Infinity and -Infinity, as Python's json module writes them and a config.json of
  /// transformers may have them (https://docs.python.org/3/library/json.html, "Infinite and
  /// NaN Number Values"). They are read as null, so that no number is ever not finite.
  python,
};

Result<Document> parse_json(std::string_view text, std::string name, ParseLimits limits = {},
                            JsonDialect dialect = JsonDialect::strict);
Result<Document> load_json(const std::string& path, ParseLimits limits = {},
                           JsonDialect dialect = JsonDialect::strict);

}  // namespace cairn
