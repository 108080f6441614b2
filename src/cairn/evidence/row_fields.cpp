#include "cairn/evidence/row_fields.h"

#include <charconv>

namespace cairn {

std::string cell_text(double value) {
  if (std::isinf(value)) return "inf";
  return fmt::format("{}", value);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

Result<double> cell_number(std::string_view text, bool infinite) {
  if (infinite && text == "inf") return std::numeric_limits<double>::infinity();
  const auto number = parse_number(text);
  if (!number) return fail(bad_input(std::string(msg("wrong type"))).got(text).want("a number"));
  if (*number < 0) {
    return fail(bad_input(std::string(msg("out of range"))).got(text).want("at least 0"));
  }
  return *number;
}

Result<bool> cell_flag(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return fail(bad_input(std::string(msg("wrong type"))).got(text).want("true or false"));
}

Result<std::int64_t> cell_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || value < 0) {
    return fail(bad_input(std::string(msg("wrong type"))).got(text).want("a whole number"));
  }
  return value;
}

}  // namespace cairn
