// Small steps that the readers of printed text share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

/// A line without its end, and its number from 1.
struct OutputLine {
  std::string_view text;
  std::uint32_t number = 0;
};

/// Walks over the lines of a text; takes "\n" and "\r\n".
class OutputLines {
 public:
  explicit OutputLines(std::string_view text) : rest_(text) {}
  [[nodiscard]] std::optional<OutputLine> next();

 private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
};

/// Without white space at both ends.
std::string_view trimmed(std::string_view text);
/// The words between white space, at most `most`.
std::vector<std::string_view> words_of(std::string_view line, std::size_t most = 64);
/// The parts between separators, each trimmed, at most `most`; the last has the rest.
std::vector<std::string_view> parts_of(std::string_view line, char separator,
                                       std::size_t most = 256);
/// What follows `label` in a line that begins with it (white space before it does not
/// matter), trimmed.
std::optional<std::string_view> after(std::string_view line, std::string_view label);
/// The first 200 characters: what is printed once and kept with many rows must be short.
std::string bounded(std::string_view text);
/// Adds a name to a list unless it is in it; at most 8 are kept.
void add_kind(std::vector<std::string>& kinds, std::string_view name);
/// "key=value" at the end of notes, behind "; " where there are any.
void add_note(std::string& notes, std::string_view key, std::string_view value);
/// A number as short as it reads back.
std::string number_text(double value);
/// "file:LINE".
std::string line_of(const std::string& name, std::uint32_t line);
/// A number that is at least 0; the error says where it stands and under which name.
Result<double> amount_of(std::string_view text, std::string where, std::string_view field);
/// A row of a table with another number of cells than its header.
Error wrong_cells(std::string where, std::size_t cells, std::size_t columns);
/// Whether a text is digits alone, at least one.
bool digits(std::string_view text);
std::string lower_case(std::string_view text);
/// YYYY-MM-DD from a text that begins with it, or with YYYYMMDD; else empty.
std::string date_of(std::string_view text);

}  // namespace cairn
