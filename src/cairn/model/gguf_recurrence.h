// Mixers that keep a state, from the tensors and keys of a GGUF file.
#pragma once

#include <cstddef>
#include <string_view>

#include "cairn/model/gguf_layer.h"

namespace cairn {

/// The recurrent part of a layer; kind none where it has none. What a tensor shows is
/// taken from the tensor: llama.cpp's names tell the kinds apart
/// (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-arch.cpp).
Result<RecurrentSpec> gguf_recurrence(const GgufFile& file, const GgufTensors& tensors,
                                      std::string_view architecture, std::size_t layer);

/// A layer of RWKV 6 or 7 with its channel mixing, and whether the file's architecture is one.
bool is_gguf_rwkv(std::string_view architecture);
Result<LayerSpec> gguf_rwkv_layer(const GgufFile& file, const GgufTensors& tensors,
                                  std::string_view architecture, std::size_t layer);

}  // namespace cairn
