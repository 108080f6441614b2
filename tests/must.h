// The value of a Result in a test, or a failure that says why there is none.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "cairn/base/result.h"
#include "cairn/data/csv.h"
#include "cairn/data/document.h"

namespace cairn::test {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return *std::move(result);
}

/// A table of tests/.
class Sheet {
 public:
  explicit Sheet(const std::string& path)
      : document_(must(load_csv(std::string(CAIRN_SOURCE_DIR) + "/tests/" + path))),
        table_(must(Table::from(document_.root()))) {}

  [[nodiscard]] std::uint32_t rows() const { return table_.rows(); }
  [[nodiscard]] std::string text(std::uint32_t row, std::string_view column) const {
    return std::string(table_.row(row).text(must(table_.column(column))));
  }
  [[nodiscard]] double number(std::uint32_t row, std::string_view column) const {
    const auto value = must(table_.row(row).number(must(table_.column(column))));
    if (!value) throw std::runtime_error("no number in " + std::string(column));
    return *value;
  }

 private:
  Document document_;
  Table table_;
};

}  // namespace cairn::test
