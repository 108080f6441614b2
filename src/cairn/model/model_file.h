// A path to a model, whatever kind of file it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_config.h"
#include "cairn/model/safetensors.h"
#include "cairn/model/tensor_type.h"
#include "cairn/model/weight_format.h"

namespace cairn {

enum class ModelFileKind : std::uint8_t { config, checkpoint, gguf };

struct LoadedModel {
  ModelFileKind kind = ModelFileKind::config;
  Graph graph;  // and the spec in it
  /// The weights as the files hold them; nothing where there is only a
  /// configuration. Of a checkpoint: by the format its configuration declares.
  std::optional<BoundWeights> weights;
  Bytes file_bytes;                      // of all files of weights, headers included
  Bytes other_bytes;                     // of tensors that are no part of the graph
  std::vector<std::string> other;        // their names, of a GGUF file
  std::optional<CheckpointCheck> check;  // of a checkpoint
};

/// A GGUF file (any part of a split one), a folder with config.json and perhaps
/// safetensors, or a config.json. A .safetensors file is read with the config.json
/// and the other files of the checkpoint beside it. What else a path may be is an error that says
/// so; so is a checkpoint that is not that of its configuration. `like` is for architectures
/// that are not known (hf_config.h).
Result<LoadedModel> load_model_path(const std::string& path, const TensorTypes& types,
                                    const WeightFormats& formats, Relative* like = nullptr);

/// True where `text` is to be taken for a path rather than for a model's name:
/// it ends in .gguf, .json or .safetensors, begins with "." or "/", or exists.
bool looks_like_path(const std::string& text);

}  // namespace cairn
