// TensorType: how the numbers of one tensor are stored, as blocks of weights.
// The table is data/models/tensor_types.csv: the GGML types and the layouts of
// Hugging Face checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/document.h"

namespace cairn {

/// What the matrix units of a device multiply when a kernel works on the type
/// directly; the cost model decides which path an engine takes.
enum class NumberClass : std::uint8_t { f32, f16, bf16, fp8, int8, int4, fp6, fp4, other };

/// By its name in the table: "f32", "fp8" ...
std::optional<NumberClass> number_class(std::string_view name);

/// Bytes that a tile of a matrix carries beside its weights: a scale for each
/// 128 x 128 block of FP8 weights, a scale for each row, an index for each column.
struct ScaleTile {
  std::int64_t rows = 1;     // 0: the whole column
  std::int64_t columns = 1;  // 0: the whole row
  std::int64_t bytes = 0;
};

struct TensorType {
  std::string name;                // "q4_k", "bf16", "fp8", "awq-int4-g128" ...
  std::int64_t block_weights = 1;  // weights per block, along the row
  std::int64_t block_bytes = 4;    // bytes per block, the block's own scales included
  std::vector<ScaleTile> scales;   // what is shared by more than a block
  std::optional<int> ggml_id;      // GGUF's type number
  NumberClass numbers = NumberClass::other;
  /// Two of every four weights along the row are zero; the others are stored, with their
  /// places in two bits each. Matrix units that have instructions for it multiply them
  /// in half the time (WeightFormats::multiplies_sparse).
  bool sparse = false;

  /// Of a large matrix: tiles that span a whole row or column count nothing.
  [[nodiscard]] double bits_per_weight() const;
  /// Bytes of one matrix of `rows` rows of `columns` weights; each row is padded
  /// to whole blocks, and the matrix to whole tiles.
  [[nodiscard]] Bytes bytes(double rows, double columns) const;
};

class TensorTypes {
 public:
  /// Types whose status is "removed" have no layout and are left out.
  static Result<TensorTypes> load(Node table);
  [[nodiscard]] const TensorType* find(std::string_view name) const;
  [[nodiscard]] const TensorType* find_ggml(int id) const;
  [[nodiscard]] const std::vector<TensorType>& all() const { return types_; }

 private:
  std::vector<TensorType> types_;
};

}  // namespace cairn
