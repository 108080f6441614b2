#include "cairn/evidence/readers/output_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/read_row.h"

namespace cairn {
namespace {

constexpr std::string_view kWhite = " \t\r\n\v\f";

}  // namespace

Result<void> check_read_rows(std::size_t rows, const std::string& where) {
  if (rows <= kMostReadRows) return {};
  return fail(bad_input("too many figures")
                  .at(where)
                  .want(fmt::format("at most {} in one file", kMostReadRows)));
}

std::optional<OutputLine> OutputLines::next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = rest_.find('\n');
  OutputLine out{rest_.substr(0, end), ++number_};
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (out.text.ends_with('\r')) out.text.remove_suffix(1);
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhite);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view line, std::size_t most) {
  std::vector<std::string_view> out;
  while (out.size() < most) {
    const std::size_t first = line.find_first_not_of(kWhite);
    if (first == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(kWhite, first), line.size());
    out.push_back(line.substr(first, end - first));
    line.remove_prefix(end);
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view line, char separator, std::size_t most) {
  std::vector<std::string_view> out;
  while (out.size() + 1 < most) {
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos) break;
    out.push_back(trimmed(line.substr(0, at)));
    line.remove_prefix(at + 1);
  }
  out.push_back(trimmed(line));
  return out;
}

std::optional<std::string_view> after(std::string_view line, std::string_view label) {
  line = trimmed(line);
  if (!line.starts_with(label)) return std::nullopt;
  return trimmed(line.substr(label.size()));
}

std::string bounded(std::string_view text) {
  constexpr std::size_t kMost = 200;
  return std::string(text.substr(0, kMost));
}

void add_kind(std::vector<std::string>& kinds, std::string_view name) {
  constexpr std::size_t kMost = 8;
  std::string kind = bounded(name);
  if (kind.empty() || kinds.size() == kMost) return;
  if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(std::move(kind));
}

void add_note(std::string& notes, std::string_view key, std::string_view value) {
  if (!notes.empty()) notes += "; ";
  notes.append(key).append("=");
  // A note ends at a semicolon, and a row at the end of a line.
  std::ranges::transform(value, std::back_inserter(notes), [](char c) {
    return c == ';' ? ',' : static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  });
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string line_of(const std::string& name, std::uint32_t line) {
  return fmt::format("{}:{}", name, line);
}

Result<double> amount_of(std::string_view text, std::string where, std::string_view field) {
  const auto value = parse_number(text);
  if (value && *value >= 0) return *value;
  return fail(bad_input("not a number")
                  .at(std::move(where))
                  .in(std::string(field))
                  .got(text)
                  .want("0 or more"));
}

Error wrong_cells(std::string where, std::size_t cells, std::size_t columns) {
  return bad_input("wrong number of cells")
      .at(std::move(where))
      .got(std::to_string(cells))
      .want(std::to_string(columns));
}

bool digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

std::string date_of(std::string_view text) {
  if (text.size() >= 10 && text[4] == '-' && text[7] == '-' && digits(text.substr(0, 4)) &&
      digits(text.substr(5, 2)) && digits(text.substr(8, 2))) {
    return std::string(text.substr(0, 10));
  }
  if (text.size() >= 8 && digits(text.substr(0, 8))) {
    return fmt::format("{}-{}-{}", text.substr(0, 4), text.substr(4, 2), text.substr(6, 2));
  }
  return {};
}

}  // namespace cairn
