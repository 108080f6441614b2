#include "cairn/report/table.h"

#include <algorithm>

namespace cairn {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void TextTable::add(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back(std::move(cells));
}

std::string TextTable::render(const Style& style, std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const auto& text_of, const auto& tone_of) {
    std::string row(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view text = text_of(i);
      const std::size_t used = display_width(text);
      const std::string space(widths[i] - used, ' ');
      if (i > 0) row += "  ";
      if (columns_[i].align == Align::right) row += space;
      row += style.paint(tone_of(i), text);
      if (columns_[i].align == Align::left) row += space;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + '\n';
  };
  const auto has_title = [](const Column& c) { return !c.title.empty(); };
  if (std::ranges::any_of(columns_, has_title)) {
    line([&](std::size_t i) { return std::string_view(columns_[i].title); },
         [](std::size_t) { return Tone::strong; });
  }
  for (const auto& row : rows_) {
    line([&](std::size_t i) { return std::string_view(row[i].text); },
         [&](std::size_t i) { return row[i].tone; });
  }
  return out;
}

std::string TextTable::markdown() const {
  std::string out = "|";
  for (const Column& c : columns_) out += " " + escaped(c.title) + " |";
  out += "\n|";
  for (const Column& c : columns_) out += c.align == Align::right ? " ---: |" : " --- |";
  out += '\n';
  for (const auto& row : rows_) {
    out += '|';
    for (const Cell& cell : row) out += " " + escaped(cell.text) + " |";
    out += '\n';
  }
  return out;
}

}  // namespace cairn
