// The header of a GGUF file: metadata and tensors, with exact bytes. The weights
// are not read, so a file larger than memory costs what its header costs.
//
//   CAIRN_TRY(const GgufFile file, read_gguf("model-Q4_K_M.gguf", types));
//   CAIRN_TRY(ModelSpec spec, spec_from_gguf(file));
//
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 1
// to 3, little endian. Every count, length and offset is checked against the
// file and against the limits below before it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_config.h"
#include "cairn/model/tensor_type.h"
#include "cairn/model/weight_format.h"

namespace cairn {

/// An array in the metadata. Long arrays and arrays of strings (vocabularies)
/// are counted and passed over; `values` is empty for them.
struct GgufArray {
  std::uint64_t count = 0;
  std::vector<double> values;
};

using GgufValue = std::variant<std::int64_t, double, bool, std::string, GgufArray>;

struct GgufTensor {
  std::string name;
  std::array<std::int64_t, 4> size = {1, 1, 1, 1};  // size[0] is contiguous in memory
  std::uint32_t dimensions = 0;
  const TensorType* type = nullptr;
  std::uint64_t offset = 0;  // from the start of the data of its part
  std::uint64_t bytes = 0;   // without padding
  std::uint32_t part = 0;    // of a split model, from 0

  /// At most 2^60: checked by the reader.
  [[nodiscard]] std::int64_t weights() const { return size[0] * size[1] * size[2] * size[3]; }
};

struct GgufLimits {
  std::uint64_t keys = 1U << 16U;
  std::uint64_t tensors = 1U << 18U;
  std::uint64_t name = 1U << 10U;         // bytes of a key or tensor name
  std::uint64_t kept_text = 1U << 16U;    // bytes of a string that is kept
  std::uint64_t kept_values = 1U << 12U;  // numbers of an array that are kept
};

struct GgufFile {
  std::string path;
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::uint32_t parts = 1;
  std::vector<std::pair<std::string, GgufValue>> metadata;  // in the order of the file
  std::vector<GgufTensor> tensors;
  std::uint64_t header_bytes = 0;  // up to the data, of all parts
  std::uint64_t file_bytes = 0;    // of all parts

  /// Sum over the tensors, without padding.
  [[nodiscard]] std::uint64_t tensor_bytes() const;
  [[nodiscard]] std::int64_t weights() const;

  [[nodiscard]] const GgufValue* find(std::string_view key) const;
  [[nodiscard]] const GgufTensor* find_tensor(std::string_view name) const;
  /// A text value; an error (with the key as field) where absent or no text.
  [[nodiscard]] Result<std::string_view> text(std::string_view key) const;
  /// A whole number within [low, high].
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key, std::int64_t low,
                                             std::int64_t high) const;
  [[nodiscard]] Result<std::int64_t> integer_or(std::string_view key, std::int64_t fallback,
                                                std::int64_t low, std::int64_t high) const;
  /// One number per layer: a number stands for all `layers` of them.
  [[nodiscard]] Result<std::vector<std::int64_t>> per_layer(std::string_view key,
                                                            std::size_t layers, std::int64_t low,
                                                            std::int64_t high) const;
};

/// Reads a file, and where it is a part of a split model every other part.
/// Errors: not_found names a missing part; bad_input says what is malformed and
/// where; unsupported for big-endian files and later versions.
Result<GgufFile> read_gguf(const std::string& path, const TensorTypes& types,
                           const GgufLimits& limits = {});

/// Reads one part from memory.
Result<GgufFile> parse_gguf(std::span<const std::byte> bytes, std::string name,
                            const TensorTypes& types, const GgufLimits& limits = {});

/// The architecture a file describes. Unsupported where general.architecture is
/// not known.
/// With `like`, as spec_from_hf_config: by its family, or an architecture of GGUF.
Result<ModelSpec> spec_from_gguf(const GgufFile& file, const Relative* like = nullptr);

/// The values of general.architecture that are read, sorted.
std::vector<std::string_view> gguf_architectures();

/// The weights of a file, tensor by tensor of the graph built from its spec.
struct GgufWeights {
  BoundWeights bound;
  /// Tensors that are no part of the graph: rope factors, drafting layers.
  std::vector<std::string> other;
  Bytes other_bytes;
};

/// An error where the graph has a tensor that the file has not, or in another
/// shape.
Result<GgufWeights> bind_gguf(const GgufFile& file, const Graph& graph,
                              const WeightFormats& formats);

}  // namespace cairn
