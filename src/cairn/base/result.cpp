#include "cairn/base/result.h"

namespace cairn {
namespace {

// One line, printable: control characters of hostile input, which may name keys
// and files as well as values, must not reach a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    out.push_back(u < 0x20 || u == 0x7f ? '?' : c);
  }
  return out;
}

// A long value must not hide the message.
std::string shorten(std::string_view text) {
  std::string out = printable(text.substr(0, Error::kMaxValue));
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
    out += printable(text);
  };
  part(where, "");
  part(shorten(field), ": ");
  part(message, ": ");
  if (!value.empty()) out += ": \"" + value + "\"";
  if (!expected.empty()) out += "; expected " + expected;
  return out;
}

}  // namespace cairn
