// Attention that chooses or compresses what it reads, from the tensors and keys of a GGUF
// file (https://github.com/ggml-org/llama.cpp/blob/master/src/llama-arch.cpp).
#pragma once

#include <cstddef>
#include <string_view>

#include "cairn/model/gguf.h"
#include "cairn/model/gguf_recurrence.h"

namespace cairn {

/// Adds the indexer of a layer: its own, or that of an earlier one where the file has
/// indexers and this layer none (GLM-5.2). Does nothing for files without.
Result<void> add_gguf_indexer(const GgufFile& file, const GgufTensors& tensors,
                              std::string_view architecture, std::size_t layer, std::int64_t hidden,
                              AttentionSpec& a);

/// The compressed attention of DeepSeek V4.
Result<AttentionSpec> gguf_compressed(const GgufFile& file, const GgufTensors& tensors,
                                      std::string_view architecture, std::size_t layer,
                                      std::int64_t heads);

}  // namespace cairn
