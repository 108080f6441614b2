// Encoders of text in GGUF files; for gguf_spec.cpp alone.
#pragma once

#include <span>
#include <string_view>

#include "cairn/model/gguf.h"

namespace cairn {

/// The values of general.architecture that are encoders.
std::span<const std::string_view> gguf_encoders();

/// The spec of a file of one of them: what a tensor shows is taken from the tensor.
Result<ModelSpec> encoder_spec_from_gguf(const GgufFile& file, std::string_view architecture);

}  // namespace cairn
