// Sentences for people, kept apart from their translation: a room below
// `report` says what it means with an English sentence and values, and the
// command line puts it into the reader's language (report/translator.h).
//
//   notes.push_back(message("{} of {} layers stay on the host", 3, 32));
//   constexpr std::string_view kTitle = msg("Deployment");
//
// Both `message` and `msg` mark the sentence for translation in po/.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// Marks a literal for translation; the value is the English text itself.
consteval std::string_view msg(std::string_view text) { return text; }

/// An English sentence with placeholders "{}" (in turn) or "{0}", "{1}" (by
/// number), and the values for them, already written out.
struct Message {
  std::string id;
  std::vector<std::string> values;

  friend bool operator==(const Message&, const Message&) = default;
};

template <class... Values>
[[nodiscard]] Message message(std::string_view id, const Values&... values) {
  return {std::string(id), {fmt::format("{}", values)...}};
}

/// Puts values into the placeholders of a sentence; a placeholder without a
/// value stays as it is, a value without a placeholder is left out.
[[nodiscard]] std::string fill(std::string_view sentence, const std::vector<std::string>& values);

}  // namespace cairn
