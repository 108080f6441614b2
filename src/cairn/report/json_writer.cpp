#include "cairn/report/json_writer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "cairn/report/text.h"

namespace cairn {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_character(text, at);
    switch (c) {
      case U'"':
        out += "\\\"";
        break;
      case U'\\':
        out += "\\\\";
        break;
      case U'\n':
        out += "\\n";
        break;
      case U'\t':
        out += "\\t";
        break;
      case U'\r':
        out += "\\r";
        break;
      case 0xfffd:
        out += "\xef\xbf\xbd";
        break;  // also stands for malformed bytes
      default:
        if (c < 0x20 || c == 0x7f) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += text.substr(begin, at - begin);
        }
    }
  }
  return out + '"';
}

void JsonWriter::line() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  line();
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  levels_.push_back({bracket == '{' ? '}' : ']'});
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  if (levels_.empty() || levels_.back().closing != bracket || after_key_) {
    throw std::logic_error("JSON output: a bracket does not match");
  }
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) line();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::begin_object() { return open('{'); }
JsonWriter& JsonWriter::end_object() { return close('}'); }
JsonWriter& JsonWriter::begin_array() { return open('['); }
JsonWriter& JsonWriter::end_array() { return close(']'); }

JsonWriter& JsonWriter::key(std::string_view name) {
  if (levels_.empty() || levels_.back().closing != '}' || after_key_) {
    throw std::logic_error("JSON output: a key outside an object");
  }
  separate();
  out_ += json_quoted(name);
  out_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_quoted(text)); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 32> buffer{};
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return raw({buffer.data(), r.ptr});
}

std::string JsonWriter::text() const {
  if (!levels_.empty() || after_key_) throw std::logic_error("JSON output: a bracket is open");
  return out_ + '\n';
}

}  // namespace cairn
