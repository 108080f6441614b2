// Building blocks of encoders and towers: layers that see all positions, and the tensors
// around them. For the readers of encoders, encoder-decoders and towers alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "cairn/base/result.h"
#include "cairn/model/hf_fields.h"
#include "cairn/model/spec.h"

namespace cairn::hf {

/// y = x W, with a bias or without: `out` features of `in`.
MatrixSpec matrix(TensorRole role, std::int64_t out, std::int64_t in, bool bias = false);
/// A vector that is multiplied or added: a norm (with its bias), a scale, a token.
MatrixSpec vector(TensorRole role, std::int64_t size, bool bias = false);
/// A table whose rows are looked up.
MatrixSpec table(TensorRole role, std::int64_t rows, std::int64_t columns);

/// The sizes of a stack of equal layers.
struct Stack {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;
};

/// Reads hidden_size, num_hidden_layers, num_attention_heads, head_dim (else even) and
/// intermediate_size, under the names that vision models give them too (depth, num_heads,
/// embed_dim, width ...); what a nested part leaves out is as in `nested`.
Result<Stack> read_stack(Fields& f, const Stack& nested = {});

/// What such layers have in common beside their sizes.
struct Style {
  bool bias = true;    // in every projection
  bool gated = false;  // the feed-forward has a gate
  bool rms = false;    // norms without biases
  bool causal = false;
};

/// A layer with a norm before each of its two parts, or (BERT, BART) after.
LayerSpec stack_layer(const Stack& s, const Style& style = {});
/// A model of such layers with a last norm as theirs, and nothing else around them.
ModelSpec stack_spec(const Stack& s, ModelPart part, const Style& style = {});

/// The fields of a part's own configuration, those marked that never matter.
Fields part_fields(Node part, bool nested = true);

/// The side of an image in pixels: an integer, or a list of equal or unequal ones.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  /// Whole patches; what is left at the edges is dropped, as convolutions do.
  [[nodiscard]] std::int64_t patches(std::int64_t side) const {
    return (height / side) * (width / side);
  }
};
Result<Image> read_image(Fields& f, std::string_view key, std::int64_t fallback);

/// The convolution that makes a position of a patch of `channels` * side^2 * `frames`.
MatrixSpec patches(const Stack& s, std::int64_t side, bool bias, std::int64_t channels = 3,
                   std::int64_t frames = 1);

}  // namespace cairn::hf
