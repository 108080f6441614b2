// Names of weight formats with exceptions: "nvfp4+attention@0-2,60:bf16+output:fp8".
//
//   NAME[+TENSORS[@LAYERS]:TYPE]...
//
// NAME is a format of data/models/weight_formats.yaml; each exception stores TENSORS
// (groups of weight_formats.yaml, or roles as GGUF names them, joined by commas) in a
// TYPE of data/models/tensor_types.csv, in all layers or in LAYERS (numbers and ranges,
// joined by commas). The last exception that names a tensor decides. So the formats of
// files are written that keep some layers in other types: ignore lists of checkpoints,
// --tensor-type of llama-quantize.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

struct FormatException {
  std::vector<std::string> tensors;
  /// First and last layer, sorted; empty: all layers, and what is outside of them.
  std::vector<std::pair<std::int32_t, std::int32_t>> layers;
  std::string type;

  bool operator==(const FormatException&) const = default;
  [[nodiscard]] bool in_layers(std::int32_t layer) const;
};

struct FormatName {
  std::string base;
  std::vector<FormatException> exceptions;

  bool operator==(const FormatName&) const = default;
  [[nodiscard]] std::string to_string() const;
};

/// The name without its exceptions.
std::string_view base_format(std::string_view name);

/// Errors: bad_input with the name and the form expected. At most 1000 exceptions.
Result<FormatName> parse_format_name(std::string_view name);

}  // namespace cairn
