// One test of llama-bench by the names of its fields, whatever it was printed as.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

struct LlamaRecord {
  std::vector<std::pair<std::string, std::string>> fields;  // as `-o json` names them
  std::string where;                                        // "file:LINE"
  std::uint32_t line = 0;
  bool defaults_left_out = false;  // a Markdown table: absent columns have default values
  std::string matrix_cores;        // as the Vulkan backend logs them before the table

  void set(std::string_view name, std::string value);
  /// Nothing where the field is absent or empty.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;
  /// An error where the field is there and no number.
  [[nodiscard]] Result<std::optional<double>> number(std::string_view name) const;
  [[nodiscard]] Result<double> required(std::string_view name) const;
};

Result<ReadRow> row_of(const LlamaRecord& record);

/// The format in llama.cpp's description of a model, as Cairn writes it, and the words
/// before it: "llama 8B Q4_K - Medium" is q4_k_m and "llama 8B". Empty where there is none.
std::pair<std::string, std::string> split_model_type(std::string_view type);

}  // namespace cairn
