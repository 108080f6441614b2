// JSON output, written as it goes: members in the order they are given,
// doubles in the shortest form that reads back as the same number, strings
// always valid UTF-8. The same values give the same bytes.
//
//   JsonWriter json;
//   json.begin_object();
//   json.field("schema", "cairn.predict/1");
//   json.key("memory").begin_object();
//   json.field("weights_bytes", weights);     // null where there is no value
//   json.end_object();
//   json.end_object();
//   out(json.text());
//
// Opening and closing must match: what is left open or closed twice is a fault
// of the program, and `text` reports it by an exception (exit status 3).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/units.h"

namespace cairn {

class JsonWriter {
 public:
  /// `indent` spaces a level; 0 writes everything on one line.
  explicit JsonWriter(int indent = 2) : indent_(indent) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  /// The key of the next value of an object.
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  /// NaN and infinity, which JSON lacks, become null.
  JsonWriter& value(double number);
  JsonWriter& value(std::same_as<bool> auto b) { return raw(b ? "true" : "false"); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  JsonWriter& null() { return raw("null"); }
  /// A quantity in its base unit.
  template <int B, int S, int F, int J, int T>
  JsonWriter& value(Quantity<B, S, F, J, T> q) {
    return value(q.value());
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& v) {
    return v ? value(*v) : null();
  }

  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  template <class Range>
  JsonWriter& array(std::string_view name, const Range& values) {
    key(name).begin_array();
    for (const auto& v : values) value(v);
    return end_array();
  }

  /// The finished text with a line break at its end.
  [[nodiscard]] std::string text() const;

 private:
  JsonWriter& raw(std::string_view text);
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void line();

  struct Level {
    char closing;
    bool empty = true;
  };
  int indent_;
  bool after_key_ = false;
  std::vector<Level> levels_;
  std::string out_;
};

/// A string as a JSON string with its quotes.
std::string json_quoted(std::string_view text);

}  // namespace cairn
