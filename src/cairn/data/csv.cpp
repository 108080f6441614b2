#include "cairn/data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cairn {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string name, ParseLimits limits)
      : text_(text), name_(name), builder_(std::move(name), limits) {}

  Result<Document> read() {
    CAIRN_CHECK(builder_.open(NodeKind::sequence, 1));
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) CAIRN_CHECK(row());
    if (rows_ == 0) return fail(bad_input("empty table").at(name_));
    CAIRN_CHECK(builder_.close());
    return std::move(builder_).finish();
  }

 private:
  Result<void> row() {
    const std::uint32_t line = line_;
    CAIRN_CHECK(builder_.open(NodeKind::sequence, line));
    std::size_t cells = 0;
    do {
      CAIRN_CHECK(cell());
      ++cells;
    } while (separator());
    if (rows_ == 0) width_ = cells;
    if (cells != width_) {
      return fail(bad_input("wrong number of cells")
                      .at(fmt::format("{}:{}", name_, line))
                      .got(std::to_string(cells))
                      .want(std::to_string(width_)));
    }
    ++rows_;
    return builder_.close();
  }

  // True after a comma; false after the end of a row, which it consumes.
  bool separator() {
    if (at_ >= text_.size()) return false;
    if (text_[at_] == ',') {
      ++at_;
      return true;
    }
    if (text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    return false;
  }

  Result<void> cell() {
    const std::uint32_t line = line_;
    cell_.clear();
    if (at_ < text_.size() && text_[at_] == '"') {
      CAIRN_CHECK(quoted(line));
    } else {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      cell_ = text_.substr(at_, end - at_);
      at_ = end;
    }
    return cell_.empty() ? builder_.null(line) : builder_.string(cell_, line);
  }

  Result<void> quoted(std::uint32_t line) {
    const auto unclosed = [&] {
      return fail(bad_input("a quote is not closed").at(fmt::format("{}:{}", name_, line)));
    };
    ++at_;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) return unclosed();
      cell_ += text_.substr(at_, quote - at_);
      at_ = quote + 1;
      if (at_ >= text_.size() || text_[at_] != '"') break;
      cell_ += '"';
      ++at_;
    }
    line_ += static_cast<std::uint32_t>(std::ranges::count(cell_, '\n'));
    if (at_ < text_.size() && text_.find_first_of(",\r\n", at_) != at_) {
      return fail(bad_input("text after a closing quote").at(fmt::format("{}:{}", name_, line)));
    }
    return {};
  }

  std::string_view text_;
  std::string name_;
  DocumentBuilder builder_;
  std::string cell_;
  std::size_t at_ = 0;
  std::size_t width_ = 0;
  std::size_t rows_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

Result<Document> parse_csv(std::string_view text, std::string name, ParseLimits limits) {
  if (text.size() > limits.bytes) return fail(bad_input("file too large").at(name));
  CAIRN_TRY(Document document, CsvReader(text, std::move(name), limits).read());
  CAIRN_TRY([[maybe_unused]] const Table table, Table::from(document.root()));
  return document;
}

Result<Document> load_csv(const std::string& path, ParseLimits limits) {
  CAIRN_TRY(const std::string text, read_file(path, limits.bytes));
  return parse_csv(text, path, limits);
}

std::optional<double> parse_number(std::string_view text) {
  double d = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), d);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || !std::isfinite(d)) {
    return std::nullopt;
  }
  return d;
}

Result<Table> Table::from(Node root) {
  if (!root.is_sequence() || root.size() == 0 || !root.at(0).is_sequence()) {
    return fail(root.error("not a table"));
  }
  Table table(root);
  const Node header = root.at(0);
  for (std::uint32_t i = 0; i < header.size(); ++i) {
    CAIRN_TRY(const std::string_view name, header.at(i).string());
    if (std::ranges::find(table.columns_, name) != table.columns_.end()) {
      return fail(header.at(i).error("the same column twice"));
    }
    table.columns_.push_back(name);
  }
  return table;
}

Result<std::uint32_t> Table::column(std::string_view name) const {
  const auto it = std::ranges::find(columns_, name);
  if (it == columns_.end()) {
    return fail(bad_input("missing column").at(root_.where()).in(std::string(name)));
  }
  return static_cast<std::uint32_t>(it - columns_.begin());
}

std::string_view Row::text(std::uint32_t column) const {
  const Node cell = row_.at(column);
  if (cell.is_null()) return {};
  const auto s = cell.string();
  return s ? *s : std::string_view{};
}

Error Row::error(std::uint32_t column, std::string message) const {
  return bad_input(std::move(message))
      .at(where())
      .in(std::string(table_->columns()[column]))
      .got(text(column));
}

Result<std::string_view> Row::required(std::uint32_t column) const {
  if (!has(column)) return fail(error(column, "empty cell").want("a value"));
  return text(column);
}

Result<std::optional<double>> Row::number(std::uint32_t column) const {
  const std::string_view s = text(column);
  if (s.empty()) return std::optional<double>{};
  if (const auto d = parse_number(s)) return d;
  return fail(error(column, "wrong type").want("a number"));
}

}  // namespace cairn
