#include "cairn/base/result.h"

namespace cairn {
namespace {

// One line, printable: control characters of hostile input must not reach a
// terminal, and a long value must not hide the message.
std::string shorten(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, Error::kMaxValue)) {
    const auto u = static_cast<unsigned char>(c);
    out.push_back(u < 0x20 || u == 0x7f ? '?' : c);
  }
  if (text.size() > Error::kMaxValue) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0U) == 0x80U) {
      out.pop_back();
    }
    out += "...";
  }
  return out;
}

}  // namespace

Error&& Error::got(std::string_view text) && {
  value = shorten(text);
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string out;
  const auto part = [&out](std::string_view text, std::string_view separator) {
    if (text.empty()) return;
    if (!out.empty()) out += separator;
    out += text;
  };
  part(where, "");
  part(field, ": ");
  part(message, ": ");
  if (!value.empty()) out += ": \"" + value + "\"";
  if (!expected.empty()) out += "; expected " + expected;
  return out;
}

}  // namespace cairn
