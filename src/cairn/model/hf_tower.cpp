#include "cairn/model/hf_tower.h"

namespace cairn::hf {
namespace {

constexpr std::int64_t kMaxSide = 1 << 14;

}  // namespace

MatrixSpec matrix(TensorRole role, std::int64_t out, std::int64_t in, bool bias) {
  return {.role = role, .rows = out, .columns = in, .bias = bias};
}

MatrixSpec vector(TensorRole role, std::int64_t size, bool bias) {
  // A bias has as many numbers as the matrix has rows.
  return {.role = role,
          .rows = bias ? size : 1,
          .columns = bias ? 1 : size,
          .use = Use::elementwise,
          .bias = bias,
          .vector = true};
}

MatrixSpec table(TensorRole role, std::int64_t rows, std::int64_t columns) {
  return {.role = role, .rows = rows, .columns = columns, .use = Use::lookup};
}

Result<Stack> read_stack(Fields& f, const Stack& nested) {
  Stack s;
  const auto hidden = f.any({"hidden_size", "embed_dim", "width", "d_model"});
  CAIRN_TRY(s.hidden, f.integer_nested(hidden, nested.hidden, 1, kMaxHidden));
  const auto layers = f.any({"num_hidden_layers", "depth", "layers"});
  CAIRN_TRY(s.layers, f.integer_nested(layers, nested.layers, 1, kMaxLayers));
  const auto heads = f.any({"num_attention_heads", "num_heads", "attention_heads"});
  CAIRN_TRY(s.heads, f.integer_nested(heads, nested.heads, 1, kMaxHeads));
  if (f.has("head_dim")) {
    CAIRN_TRY(s.head_dim, f.integer("head_dim", 1, kMaxHeadDim));
  } else {
    CAIRN_TRY(s.head_dim, even_head_dim(f, heads, s.hidden, s.heads));
  }
  CAIRN_TRY(s.intermediate,
            f.integer_nested("intermediate_size", nested.intermediate, 1, kMaxInner));
  return s;
}

LayerSpec stack_layer(const Stack& s, const Style& style) {
  LayerSpec layer;
  AttentionSpec& a = layer.attention;
  a.heads = a.kv_heads = s.heads;
  a.head_dim = a.v_head_dim = s.head_dim;
  a.qkv_bias = a.o_bias = style.bias;
  a.bidirectional = !style.causal;
  layer.feed_forward.gated = style.gated;
  layer.feed_forward.bias = style.bias;
  layer.feed_forward.intermediate = s.intermediate;
  layer.norm_bias = !style.rms;
  return layer;
}

ModelSpec stack_spec(const Stack& s, ModelPart part, const Style& style) {
  ModelSpec spec;
  spec.part = part;
  spec.hidden = s.hidden;
  spec.output_head = false;
  spec.final_norm_bias = !style.rms;
  spec.layers.assign(static_cast<std::size_t>(s.layers), stack_layer(s, style));
  return spec;
}

Fields part_fields(Node part, bool nested) {
  Fields f(part, nested);
  f.skip({"tie_word_embeddings", "cross_attention_hidden_size", "video_attn_type", "num_channels",
          "projection_dim", "vocab_size", "vision_feature_layer", "vision_feature_select_strategy",
          "projector_hidden_act", "projector_dropout"});
  return f;
}

Result<Image> read_image(Fields& f, std::string_view key, std::int64_t fallback) {
  const auto node = f.node().find_value(key);
  if (node && node->is_sequence()) {
    CAIRN_TRY(const auto sides, f.integers(key, 2, 1, kMaxSide));
    if (sides) return Image{.height = sides->front(), .width = sides->back()};
  }
  CAIRN_TRY(const std::int64_t side, f.integer_or(key, fallback, 1, kMaxSide));
  return Image{.height = side, .width = side};
}

MatrixSpec patches(const Stack& s, std::int64_t side, bool bias, std::int64_t channels,
                   std::int64_t frames) {
  return matrix(TensorRole::patch_embedding, s.hidden, channels * frames * side * side, bias);
}

}  // namespace cairn::hf
