// Encoders of images, alone or beside one of text: ViT and DINO, DINOv2, YOLOS, CLIP,
// SigLIP. Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/vit,
// .../dinov2, .../yolos, .../clip, .../siglip).
#include <array>

#include "cairn/model/hf_tower.h"
#include "cairn/model/hf_vision.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

Result<std::string_view> architecture(const Fields& f) {
  const auto list = f.node().find_value("architectures");
  if (!list || !list->is_sequence() || list->size() == 0) return std::string_view();
  return list->at(0).string();
}

Result<std::int64_t> labels(const Fields& f) {
  const auto named = f.node().find_value("id2label");
  if (named && named->is_mapping() && named->size() > 0) return named->size();
  return f.node().get_integer_or("num_labels", 2, 1, 1 << 20);
}

// Patches with a class token, and a position for each.
struct Grid {
  Stack stack;
  Image image;
  std::int64_t patch = 0;
  std::int64_t channels = 0;
};

Result<Grid> read_grid(Fields& f, const Stack& stack, std::int64_t side) {
  f.skip({"attention_probs_dropout_prob", "encoder_stride", "pooler_output_size", "pooler_act",
          "layerscale_value", "out_indices", "stage_names", "apply_layernorm",
          "reshape_hidden_states", "use_mask_token"});
  Grid g;
  g.stack = stack;
  CAIRN_TRY(g.image, read_image(f, "image_size", side));
  CAIRN_TRY(g.patch, f.integer("patch_size", 1, 1024));
  CAIRN_TRY(g.channels, f.integer_or("num_channels", 3, 1, 64));
  return g;
}

ModelSpec grid_spec(const Grid& g, std::string_view family, bool qkv_bias, const Style& style) {
  ModelSpec s = stack_spec(g.stack, ModelPart::vision, style);
  s.family = family;
  for (LayerSpec& layer : s.layers) layer.attention.qkv_bias = qkv_bias;
  s.outputs = 1;
  s.positions = g.image.patches(g.patch) + 1;
  s.extras = {vector(class_embedding, s.hidden), patches(g.stack, g.patch, true, g.channels),
              table(position_embedding, s.positions, s.hidden)};
  return s;
}

// ViT and DINO, whose first version is the same model.
Result<ModelSpec> vit(Fields& f) {
  CAIRN_TRY(const Stack stack, read_stack(f));
  CAIRN_TRY(const Grid g, read_grid(f, stack, 224));
  CAIRN_TRY(const bool bias, f.flag("qkv_bias", true));
  ModelSpec s = grid_spec(g, "vit", bias, {});
  CAIRN_TRY(const std::string_view name, architecture(f));
  CAIRN_TRY(const std::int64_t count, labels(f));
  s.extras.push_back(name == "ViTForImageClassification"
                         ? matrix(classifier, count, s.hidden, true)
                         : matrix(pooler, s.hidden, s.hidden, true));
  return s;
}

// Layers scale what they add; a token stands for masked patches in training.
Result<ModelSpec> dinov2(Fields& f) {
  CAIRN_TRY(const std::int64_t hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t ratio, f.integer_or("mlp_ratio", 4, 1, 64));
  CAIRN_TRY(const bool gated, f.flag("use_swiglu_ffn", false));
  // Two thirds of the width where there is a gate, in steps of 8.
  const std::int64_t wide = hidden * ratio;
  const std::int64_t inner = gated ? (wide * 2 / 3 + 7) / 8 * 8 : wide;
  Stack stack{.hidden = hidden, .intermediate = inner};
  CAIRN_TRY(stack.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(stack.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(stack.head_dim, even_head_dim(f, "num_attention_heads", hidden, stack.heads));
  CAIRN_TRY(const Grid g, read_grid(f, stack, 224));
  CAIRN_TRY(const bool bias, f.flag("qkv_bias", true));
  CAIRN_TRY(const std::int64_t registers, f.integer_or("num_register_tokens", 0, 0, 4096));
  ModelSpec s = grid_spec(g, "dinov2", bias, {.gated = gated});
  for (LayerSpec& layer : s.layers) {
    layer.extras = {vector(attn_scale, hidden), vector(ffn_scale, hidden)};
  }
  s.extras.push_back(vector(class_embedding, hidden));
  if (registers > 0) s.extras.push_back(table(class_embedding, registers, hidden));
  s.positions += registers;
  CAIRN_TRY(const std::string_view name, architecture(f));
  if (name.ends_with("ForImageClassification")) {
    CAIRN_TRY(const std::int64_t count, labels(f));
    s.extras.push_back(matrix(classifier, count, 2 * hidden, true));
  }
  return s;
}

// A token for each object that may be found, and two classifiers of three matrices.
Result<ModelSpec> yolos(Fields& f) {
  CAIRN_TRY(const Stack stack, read_stack(f));
  CAIRN_TRY(const Grid g, read_grid(f, stack, 512));
  CAIRN_TRY(const bool bias, f.flag("qkv_bias", true));
  CAIRN_TRY(const std::int64_t objects, f.integer_or("num_detection_tokens", 100, 1, 1 << 16));
  CAIRN_TRY(const bool middle, f.flag("use_mid_position_embeddings", true));
  ModelSpec s = grid_spec(g, "yolos", bias, {});
  s.positions += objects;
  s.outputs = objects;
  s.extras.back() = table(position_embedding, s.positions, s.hidden);
  s.extras.push_back(table(class_embedding, objects, s.hidden));
  if (middle) {
    s.extras.push_back(table(position_embedding, (stack.layers - 1) * s.positions, s.hidden));
  }
  CAIRN_TRY(const std::string_view name, architecture(f));
  if (name != "YolosForObjectDetection") {
    s.extras.push_back(matrix(pooler, s.hidden, s.hidden, true));
    return s;
  }
  CAIRN_TRY(const std::int64_t count, labels(f));
  for (const std::int64_t out : {count + 1, std::int64_t{4}}) {
    s.extras.push_back(matrix(classifier, s.hidden, s.hidden, true));
    s.extras.push_back(matrix(classifier, s.hidden, s.hidden, true));
    s.extras.push_back(matrix(classifier, out, s.hidden, true));
  }
  return s;
}

// CLIP's text sees earlier positions alone, but is computed at once and keeps no cache.
Result<ModelSpec> clip_text_tower(Fields& f) {
  CAIRN_TRY(const Stack stack,
            read_stack(f, {.hidden = 512, .layers = 12, .heads = 8, .intermediate = 2048}));
  ModelSpec s = stack_spec(stack, ModelPart::language);
  s.family = "clip";
  CAIRN_TRY(s.vocabulary, f.integer_or("vocab_size", 49408, 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context, f.integer_or("max_position_embeddings", 77, 1, kMaxContext));
  s.position_embeddings = s.max_context;
  return s;
}

Result<ModelSpec> clip_text(Fields& f) {
  CAIRN_TRY(ModelSpec s, clip_text_tower(f));
  CAIRN_TRY(const std::int64_t out, f.integer_or("projection_dim", 512, 1, kMaxHidden));
  CAIRN_TRY(const std::string_view name, architecture(f));
  if (name.ends_with("WithProjection")) s.extras.push_back(matrix(projector, out, s.hidden));
  return s;
}

Result<ModelSpec> clip_vision(Fields& f) {
  CAIRN_TRY(ModelSpec s, read_image_tower(f.node()));
  f.skip({"hidden_size", "num_hidden_layers", "num_attention_heads", "num_channels",
          "vision_use_head"});
  s.family = "clip";
  CAIRN_TRY(const std::int64_t out, f.integer_or("projection_dim", 512, 1, kMaxHidden));
  CAIRN_TRY(const std::string_view name, architecture(f));
  if (name.ends_with("WithProjection")) s.extras.push_back(matrix(projector, out, s.hidden));
  return s;
}

Result<ModelSpec> clip(Fields& f) {
  CAIRN_TRY(const Node text, f.node().required("text_config"));
  CAIRN_TRY(const Node vision, f.node().required("vision_config"));
  CAIRN_TRY(const std::int64_t out, f.integer_or("projection_dim", 512, 1, kMaxHidden));
  Fields inner = part_fields(text);
  CAIRN_TRY(ModelSpec s, clip_text_tower(inner));
  CAIRN_CHECK(inner.finish());
  s.extras = {matrix(projector, out, s.hidden), vector(other, 1)};
  CAIRN_TRY(ModelSpec tower, read_image_tower(vision));
  tower.extras.push_back(matrix(projector, out, tower.hidden));
  s.parts.push_back(std::move(tower));
  return s;
}

// Both sides are pooled to one vector each, compared with a scale and a bias.
Result<ModelSpec> siglip(Fields& f) {
  CAIRN_TRY(const Node text, f.node().required("text_config"));
  CAIRN_TRY(const Node vision, f.node().required("vision_config"));
  Fields inner = part_fields(text);
  CAIRN_TRY(const Stack stack,
            read_stack(inner, {.hidden = 768, .layers = 12, .heads = 12, .intermediate = 3072}));
  ModelSpec s = stack_spec(stack, ModelPart::language);
  s.family = "siglip";
  CAIRN_TRY(s.vocabulary, inner.integer_or("vocab_size", 32000, 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context, inner.integer_or("max_position_embeddings", 64, 1, kMaxContext));
  s.position_embeddings = s.max_context;
  CAIRN_TRY(const std::int64_t out, inner.integer_or("projection_size", s.hidden, 1, kMaxHidden));
  CAIRN_CHECK(inner.finish());
  s.extras = {matrix(projector, out, s.hidden, true), vector(other, 2)};
  CAIRN_TRY(ModelSpec tower, read_image_tower(vision));
  s.parts.push_back(std::move(tower));
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"ViTModel", "vit", vit},
    {"ViTForImageClassification", {}, vit},
    {"Dinov2Model", "dinov2", dinov2},
    {"Dinov2ForImageClassification", {}, dinov2},
    {"YolosModel", "yolos", yolos},
    {"YolosForObjectDetection", {}, yolos},
    {"CLIPModel", "clip", clip},
    {"CLIPTextModel", "clip_text_model", clip_text},
    {"CLIPTextModelWithProjection", {}, clip_text},
    {"CLIPVisionModel", "clip_vision_model", clip_vision},
    {"CLIPVisionModelWithProjection", {}, clip_vision},
    {"SiglipModel", "siglip", siglip},
    {"SiglipVisionModel", "siglip_vision_model", clip_vision},
});

}  // namespace

std::span<const Family> image_families() { return kFamilies; }

}  // namespace cairn::hf
