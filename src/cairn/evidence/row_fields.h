// The columns of an evidence file, declared once: the same table reads a row, writes it,
// and tells what it says.
//
//   constexpr CsvField<MicroRow> kFields[] = {
//       {"what", CAIRN_TEXT(MicroRow, what)}, {"m", CAIRN_NUMBER(MicroRow, m)}};
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"

namespace cairn {

/// A column and the member that it fills.
template <class R>
struct CsvField {
  using Text = std::string& (*)(R&);
  using Number = std::optional<double>& (*)(R&);
  using Value = double& (*)(R&);
  using Integer = std::optional<std::int64_t>& (*)(R&);
  using Flag = std::optional<bool>& (*)(R&);
  /// A column that has a choice: the word of a row, empty for none, and how one is read.
  struct Word {
    std::string_view (*text)(const R&);
    Result<void> (*read)(R&, std::string_view);
  };

  std::string_view column;
  std::variant<Text, Number, Value, Integer, Flag, Word> member;
};

// NOLINTBEGIN(cppcoreguidelines-macro-usage): a member of a member has no pointer type
#define CAIRN_TEXT(R, member) [](R& row) -> std::string& { return row.member; }
#define CAIRN_NUMBER(R, member) [](R& row) -> std::optional<double>& { return row.member; }
#define CAIRN_VALUE(R, member) [](R& row) -> double& { return row.member; }
#define CAIRN_INTEGER(R, member) [](R& row) -> std::optional<std::int64_t>& { return row.member; }
#define CAIRN_FLAG(R, member) [](R& row) -> std::optional<bool>& { return row.member; }
// NOLINTEND(cppcoreguidelines-macro-usage)

/// The shortest text that reads back as this number; "inf" for infinity.
std::string cell_text(double value);

/// A cell of a CSV file: quoted where the text would end it.
std::string csv_cell(const std::string& text);

/// A number cell: at least 0, and finite unless `infinite` ("inf").
Result<double> cell_number(std::string_view text, bool infinite);
Result<bool> cell_flag(std::string_view text);
Result<std::int64_t> cell_integer(std::string_view text);

/// The columns of one table, matched with the fields of a row type.
template <class R>
class RowReader {
 public:
  /// `extra` names columns that the caller reads itself. An error for a column that is
  /// neither a field nor one of these.
  static Result<RowReader> make(const Table& table, std::span<const CsvField<R>> fields,
                                std::span<const std::string_view> extra) {
    RowReader out;
    for (std::uint32_t c = 0; c < table.columns().size(); ++c) {
      const std::string_view name = table.columns()[c];
      const auto field = std::ranges::find(fields, name, &CsvField<R>::column);
      if (field != fields.end()) {
        out.bound_.push_back({c, &*field});
      } else if (std::ranges::find(extra, name) == extra.end()) {
        return fail(bad_input(std::string(msg("unknown column")))
                        .at(table.where())
                        .in(std::string(name))
                        .want(names(fields)));
      }
    }
    return out;
  }

  /// Fills `row` from the cells that are not empty.
  Result<void> read(const Row& cells, R& row) const {
    for (const Bound& b : bound_) {
      const std::string_view text = cells.text(b.column);
      if (text.empty()) continue;
      if (auto done = assign(text, *b.field, row); !done) {
        return fail(std::move(done).error().at(cells.where()).in(std::string(b.field->column)));
      }
    }
    return {};
  }

 private:
  struct Bound {
    std::uint32_t column;
    const CsvField<R>* field;
  };

  static std::string names(std::span<const CsvField<R>> fields) {
    std::string out = "one of";
    for (const CsvField<R>& f : fields) out += fmt::format(" {}", f.column);
    return out;
  }

  static Result<void> assign(std::string_view text, const CsvField<R>& field, R& row) {
    using F = CsvField<R>;
    if (const auto* at = std::get_if<typename F::Text>(&field.member)) {
      (*at)(row) = text;
    } else if (const auto* number = std::get_if<typename F::Number>(&field.member)) {
      CAIRN_TRY((*number)(row), cell_number(text, field.column == "rate"));
    } else if (const auto* value = std::get_if<typename F::Value>(&field.member)) {
      CAIRN_TRY((*value)(row), cell_number(text, false));
    } else if (const auto* integer = std::get_if<typename F::Integer>(&field.member)) {
      CAIRN_TRY((*integer)(row), cell_integer(text));
    } else if (const auto* flag = std::get_if<typename F::Flag>(&field.member)) {
      CAIRN_TRY((*flag)(row), cell_flag(text));
    } else if (const auto* word = std::get_if<typename F::Word>(&field.member)) {
      return word->read(row, text);
    }
    return {};
  }

  std::vector<Bound> bound_;
};

/// What a row says in one column, as it would be written; empty where it says nothing.
template <class R>
std::string text_of(const CsvField<R>& field, R& row) {
  using F = CsvField<R>;
  if (const auto* text = std::get_if<typename F::Text>(&field.member)) return (*text)(row);
  if (const auto* number = std::get_if<typename F::Number>(&field.member)) {
    const auto& v = (*number)(row);
    return v ? cell_text(*v) : std::string();
  }
  if (const auto* value = std::get_if<typename F::Value>(&field.member)) {
    return cell_text((*value)(row));
  }
  if (const auto* integer = std::get_if<typename F::Integer>(&field.member)) {
    const auto& v = (*integer)(row);
    return v ? std::to_string(*v) : std::string();
  }
  if (const auto* word = std::get_if<typename F::Word>(&field.member)) {
    return std::string(word->text(row));
  }
  const auto& v = std::get<typename F::Flag>(field.member)(row);
  if (!v) return {};
  return *v ? "true" : "false";
}

}  // namespace cairn
