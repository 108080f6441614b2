// Headers of safetensors files: which tensors a checkpoint holds, in which
// numbers, and whether it is the checkpoint of the configuration beside it.
//
// Format: https://github.com/huggingface/safetensors/blob/main/README.md: eight
// bytes of length, a JSON header of at most 100 MB, then the tensors without
// gaps. The weights are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/model/graph.h"
#include "cairn/model/weight_format.h"

namespace cairn {

struct SafetensorsTensor {
  std::string name;
  std::string_view dtype;  // "BF16", "F8_E4M3" ...: a name of the format
  std::vector<std::int64_t> shape;
  std::int64_t weights = 0;  // product of the shape
  std::uint64_t bytes = 0;
};

struct SafetensorsFile {
  std::string path;
  std::uint64_t header_bytes = 0;  // length field and JSON
  std::uint64_t file_bytes = 0;
  std::vector<SafetensorsTensor> tensors;  // in the order of their data
};

/// Errors: not_found, or bad_input that says what is malformed (a header longer
/// than the file or than 100 MB, gaps or overlaps, a size that is not that of
/// the shape, an unknown dtype, a truncated file).
Result<SafetensorsFile> read_safetensors(const std::string& path);
Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes, std::string name);

/// The safetensors files of one model.
struct Checkpoint {
  std::string path;
  std::uint32_t files = 0;
  std::vector<SafetensorsTensor> tensors;

  [[nodiscard]] std::uint64_t bytes() const;
  /// Bytes by dtype, largest first.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::uint64_t>> bytes_by_dtype() const;
};

/// One .safetensors file, or a folder with model.safetensors.index.json (every
/// file it names must be there and hold the tensors it is said to hold) or with
/// model.safetensors. Nothing where a folder has neither.
Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path);

/// A checkpoint beside what its configuration leads to expect.
struct CheckpointCheck {
  bool agrees = false;
  /// Weights of the model and its encoder, and of the file without what they do
  /// not cover: a tied head stored twice, drafting layers, towers, buffers,
  /// scales. Zero for `counted` where integers are packed.
  std::int64_t expected = 0;
  std::int64_t counted = 0;
  /// Bytes by the declared weight format, and of the tensors of the file.
  Bytes expected_bytes;
  Bytes file_bytes;
  Bytes other_bytes;  // of the tensors that were left out
  std::string note;   // why it does not agree; empty if it does
};

/// Agreement is exact in weights where the dtypes are floats; with packed
/// integers it is within 2 % of the bytes that `format` leads to expect.
Result<CheckpointCheck> check_checkpoint(const Checkpoint& checkpoint, const Graph& graph,
                                         const WeightFormats& formats, std::string_view format);

}  // namespace cairn
