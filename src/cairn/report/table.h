// A table in columns for a terminal, or as Markdown.
//
//   TextTable table({{"GPU"}, {"tok/s", Align::right}});
//   table.add({"Radeon RX 7900 XTX", {"87 (70–105)", Tone::good}});
//   out += table.render(style);
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cairn/report/terminal.h"
#include "cairn/report/text.h"

namespace cairn {

struct Column {
  std::string title;
  Align align = Align::left;

  Column(std::string_view text, Align a = Align::left) : title(text), align(a) {}  // NOLINT
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;

  Cell(std::string_view t, Tone n = Tone::plain) : text(t), tone(n) {}        // NOLINT
  Cell(const char* t, Tone n = Tone::plain) : text(t), tone(n) {}             // NOLINT
  Cell(std::string t, Tone n = Tone::plain) : text(std::move(t)), tone(n) {}  // NOLINT
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells at the end are empty; cells beyond the columns are dropped.
  void add(std::vector<Cell> cells);
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Titles and rows, two spaces between columns, `indent` spaces before each
  /// line, no space at the end of a line.
  [[nodiscard]] std::string render(const Style& style, std::size_t indent = 0) const;
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace cairn
