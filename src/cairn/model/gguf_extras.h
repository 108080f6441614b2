// Tensors of a GGUF file outside the usual pattern, for readers of specs and the binding
// of tensors to graphs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/model/gguf.h"
#include "cairn/model/gguf_recurrence.h"

namespace cairn {

/// A name that llama.cpp gives such a tensor, and what it is for.
struct GgufExtra {
  std::string_view name;  // with its suffix, without "blk.N."
  TensorRole role = TensorRole::other;
  Use use = Use::linear;
  bool vector = false;
};

/// Those of layers, and those outside of them. Several may have a role in common:
/// https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py
std::span<const GgufExtra> gguf_layer_extras();
std::span<const GgufExtra> gguf_model_extras();

/// The ones of `known` that a file has, with their shapes. `prefix`: "blk.N." or nothing.
std::vector<MatrixSpec> read_gguf_extras(const GgufTensors& tensors, std::string_view prefix,
                                         std::span<const GgufExtra> known);

/// A tensor of that name as it is kept, not multiplied with; nothing where there is none.
std::vector<MatrixSpec> kept_tensor(const GgufTensors& tensors, const std::string& name,
                                    TensorRole role);

}  // namespace cairn
