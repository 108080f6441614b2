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

struct TensorType {
  std::string name;                   // "q4_k", "bf16", "fp8", "awq-int4-g128" ...
  std::int64_t block_weights = 1;     // weights per block, along the row
  std::int64_t block_bytes = 4;       // bytes per block, scales included
  std::optional<int> ggml_id;         // GGUF's type number
  NumberClass numbers = NumberClass::other;

  [[nodiscard]] double bits_per_weight() const {
    return 8.0 * static_cast<double>(block_bytes) / static_cast<double>(block_weights);
  }
  /// Bytes of `rows` rows of `columns` weights; each row is padded to whole blocks.
  [[nodiscard]] Bytes bytes(double rows, double columns) const;
};

class TensorTypes {
 public:
  static Result<TensorTypes> load(Node table);
  [[nodiscard]] const TensorType* find(std::string_view name) const;
  [[nodiscard]] const TensorType* find_ggml(int id) const;
  [[nodiscard]] const std::vector<TensorType>& all() const { return types_; }

 private:
  std::vector<TensorType> types_;
};

}  // namespace cairn
