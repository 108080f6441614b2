// CSV (RFC 4180, UTF-8, comma) to Document, and a Table to read it by column.
//
// The document is a list of rows, the first being the header; an empty cell is
// null and every other cell a string, converted when it is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/document.h"

namespace cairn {

/// Refuses an unclosed quote, a row with another number of cells than the
/// header, and a header that names a column twice.
Result<Document> parse_csv(std::string_view text, std::string name, ParseLimits limits = {});
Result<Document> load_csv(const std::string& path, ParseLimits limits = {});

/// A number from text: the whole text, finite, no spaces.
std::optional<double> parse_number(std::string_view text);

class Row;

/// A CSV document seen as a table. Keeps a view: the document must outlive it.
class Table {
 public:
  static Result<Table> from(Node root);

  [[nodiscard]] const std::vector<std::string_view>& columns() const { return columns_; }
  [[nodiscard]] std::uint32_t rows() const { return root_.size() - 1; }
  /// The file, and the line of the header.
  [[nodiscard]] std::string where() const { return root_.where(); }
  [[nodiscard]] Row row(std::uint32_t i) const;
  /// The index of a column, or an error that names the file.
  [[nodiscard]] Result<std::uint32_t> column(std::string_view name) const;

 private:
  explicit Table(Node root) : root_(root) {}
  Node root_;
  std::vector<std::string_view> columns_;
};

/// One row. Cells are named by the index that Table::column gives.
class Row {
 public:
  Row(const Table* table, Node row) : table_(table), row_(row) {}
  [[nodiscard]] std::string where() const { return row_.where(); }
  /// The cell's text, empty where it is null.
  [[nodiscard]] std::string_view text(std::uint32_t column) const;
  [[nodiscard]] bool has(std::uint32_t column) const { return !text(column).empty(); }
  [[nodiscard]] Result<std::string_view> required(std::uint32_t column) const;
  /// A number cell; nothing where it is empty.
  [[nodiscard]] Result<std::optional<double>> number(std::uint32_t column) const;

 private:
  [[nodiscard]] Error error(std::uint32_t column, std::string message) const;
  const Table* table_;
  Node row_;
};

inline Row Table::row(std::uint32_t i) const { return {this, root_.at(i + 1)}; }

}  // namespace cairn
