// The vision and audio towers of multimodal models, and what speaks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/spec.h"

namespace cairn::hf {

/// What a tower is read from.
struct TowerInput {
  Node root;                // the whole file
  std::int64_t hidden = 0;  // features of the language model
};

/// The towers of a multimodal file, each with the projector that leads to the language
/// model in its extras, in the order vision, audio. `architecture` is architectures[0], else
/// model_type. Positions and outputs are those of one image of the size in the configuration (of
/// the largest that the model's processor makes where there is none), without thumbnails and marks
/// of rows; of half a minute of sound. Errors: unsupported for an architecture, a field or a value
/// that is not covered, bad_input for a value that cannot be.
Result<std::vector<ModelSpec>> read_towers(const TowerInput& in, std::string_view architecture);

using TowerReader = Result<std::vector<ModelSpec>> (*)(const TowerInput& in);

struct TowerFamily {
  std::string_view architecture;
  TowerReader read;
};

// The tables of families, one a file.
std::span<const TowerFamily> image_towers();   // on CLIP and SigLIP
std::span<const TowerFamily> native_towers();  // made for their language models
std::span<const TowerFamily> audio_towers();   // sound, with or without images
std::span<const TowerFamily> speech_towers();  // sound in and out

// What the tables share.
/// The part of a file at a key; unsupported where there is none, as of a file that was
/// written for its text alone.
Result<Node> described(Node around, std::string_view key);
/// A CLIP, SigLIP or Pixtral tower by the model_type of its configuration, without a
/// projector; outputs = positions without the class token.
Result<ModelSpec> read_image_tower(Node vision);
/// Qwen2.5-VL's and Qwen3-VL's, with projectors.
Result<ModelSpec> read_qwen25_vision(Node vision, std::int64_t hidden);
Result<ModelSpec> read_qwen3_vision(Node vision, std::int64_t hidden);

}  // namespace cairn::hf
