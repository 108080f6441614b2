// Vision towers made for their language models: Qwen-VL, GLM-V, Llama 4, Kimi, MiniMax,
// Gemma 4. Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/qwen2_vl,
// .../qwen2_5_vl, .../qwen3_vl, .../glm4v, .../llama4, .../kimi_k25, .../minimax_m3_vl,
// .../gemma4).
#include <array>
#include <cmath>

#include "cairn/model/hf_tower.h"
#include "cairn/model/hf_vision.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

using Towers = Result<std::vector<ModelSpec>>;

Towers only(Result<ModelSpec> tower) {
  if (!tower) return std::unexpected(std::move(tower).error());
  return std::vector<ModelSpec>{*std::move(tower)};
}

// How patches are cut, and merged into positions of the language model.
struct Cut {
  std::int64_t patch = 0;
  std::int64_t frames = 0;
  std::int64_t channels = 0;
  std::int64_t merge = 0;
};

Result<Cut> read_cut(Fields& f, std::int64_t patch) {
  f.skip({"spatial_patch_size", "tokens_per_second", "tokens_per_frame"});
  Cut c;
  CAIRN_TRY(c.patch, f.integer_or("patch_size", patch, 1, 1024));
  CAIRN_TRY(c.frames, f.integer_or("temporal_patch_size", 2, 1, 64));
  CAIRN_TRY(c.channels, f.integer_or(f.any({"in_chans", "in_channels"}), 3, 1, 64));
  CAIRN_TRY(c.merge, f.integer_or("spatial_merge_size", 2, 1, 16));
  return c;
}

// The most pixels that Qwen2-VL's and Qwen2.5-VL's processor leaves an image by default
// (image_processing_qwen2_vl.py), in positions of the language model.
constexpr std::int64_t kQwenOutputs = 1280;

Result<ModelSpec> qwen2_vision(Node vision, std::int64_t hidden) {
  Fields f = part_fields(vision);
  Stack s;
  CAIRN_TRY(s.hidden, f.integer_or("embed_dim", 1280, 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer_or("depth", 32, 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("num_heads", 16, 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "num_heads", s.hidden, s.heads));
  CAIRN_TRY(const std::int64_t ratio, f.integer_or("mlp_ratio", 4, 1, 64));
  s.intermediate = ratio * s.hidden;
  CAIRN_TRY(const std::int64_t out, f.integer_or("hidden_size", hidden, 1, kMaxHidden));
  CAIRN_TRY(const Cut c, read_cut(f, 14));
  CAIRN_CHECK(f.finish());
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.final_norm = false;
  spec.outputs = kQwenOutputs;
  spec.positions = spec.outputs * c.merge * c.merge;
  const std::int64_t wide = s.hidden * c.merge * c.merge;
  spec.extras = {patches(s, c.patch, false, c.channels, c.frames),
                 vector(projector_norm, s.hidden, true), matrix(projector, wide, wide, true),
                 matrix(projector, out, wide, true)};
  return spec;
}

// Layers that are not in fullatt_block_indexes see the patches of one window.
Result<void> windows(Fields& f, const Cut& c, ModelSpec& spec) {
  CAIRN_TRY(const std::int64_t side, f.integer_or("window_size", 112, c.patch, 1 << 14));
  const std::int64_t window = (side / c.patch) * (side / c.patch);
  std::vector<std::int64_t> full = {7, 15, 23, 31};
  const auto list = f.node().find_value("fullatt_block_indexes");
  if (list && list->is_sequence()) {
    CAIRN_TRY(const auto read, f.integers("fullatt_block_indexes", list->size(), 0, kMaxLayers));
    full = read.value_or(std::vector<std::int64_t>());
  }
  for (LayerSpec& layer : spec.layers) {
    layer.attention.kind = AttentionKind::sliding;
    layer.attention.window = window;
  }
  for (const std::int64_t i : full) {
    if (i >= static_cast<std::int64_t>(spec.layers.size())) continue;
    AttentionSpec& a = spec.layers[static_cast<std::size_t>(i)].attention;
    a.kind = AttentionKind::full;
    a.window = 0;
  }
  return {};
}

Towers qwen2_vl(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  return only(qwen2_vision(vision, in.hidden));
}

Towers qwen25_vl(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  return only(read_qwen25_vision(vision, in.hidden));
}

Towers qwen3_vl(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  return only(read_qwen3_vision(vision, in.hidden));
}

// A convolution merges four patches, and a gated feed-forward follows.
Towers glm4v(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  Stack s;
  CAIRN_TRY(s, read_stack(f, {.hidden = 1536, .layers = 24, .heads = 12, .intermediate = 13696}));
  CAIRN_TRY(const std::int64_t out, f.integer_or("out_hidden_size", in.hidden, 1, kMaxHidden));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 336));
  CAIRN_TRY(const bool bias, f.flag("attention_bias", false));
  CAIRN_TRY(const Cut c, read_cut(f, 14));
  CAIRN_CHECK(f.finish());
  // intermediate_size is the merger's; the layers' own is out_hidden_size.
  const std::int64_t inner = s.intermediate;
  s.intermediate = out;
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.bias = false, .gated = true, .rms = true});
  for (LayerSpec& layer : spec.layers) layer.attention.qkv_bias = bias;
  spec.positions = image.patches(c.patch);
  spec.outputs = spec.positions / (c.merge * c.merge);
  spec.extras = {patches(s, c.patch, true, c.channels, c.frames),
                 table(position_embedding, spec.positions, s.hidden),
                 vector(pre_norm, s.hidden),
                 matrix(projector, out, s.hidden * c.merge * c.merge, true),
                 matrix(projector, out, out),
                 vector(projector_norm, out, true),
                 matrix(projector, inner, out),
                 matrix(projector, inner, out),
                 matrix(projector, out, inner)};
  return only(std::move(spec));
}

Towers llama4(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  f.skip({"multi_modal_projector_bias"});
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 768, .layers = 34, .heads = 16, .intermediate = 5632}));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 448));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 14, 1, 1024));
  CAIRN_TRY(const std::int64_t inner, f.integer_or("projector_input_dim", 4096, 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t outer, f.integer_or("projector_output_dim", 4096, 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t out, f.integer_or("vision_output_dim", 7680, 1, kMaxHidden));
  CAIRN_TRY(const double ratio, vision.get_or<double>("pixel_shuffle_ratio", 0.5));
  f.skip({"pixel_shuffle_ratio"});
  const bool sane = ratio > 0.05 && ratio <= 1;
  if (!sane) return fail(f.error("pixel_shuffle_ratio", "out of range"));
  CAIRN_CHECK(f.finish());
  const auto merge = static_cast<std::int64_t>(std::lround(1 / ratio));
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  const std::int64_t count = image.patches(patch);
  spec.positions = count + 1;
  spec.outputs = count / (merge * merge);
  spec.extras = {vector(class_embedding, s.hidden),
                 table(position_embedding, spec.positions, s.hidden),
                 patches(s, patch, false),
                 vector(pre_norm, s.hidden, true),
                 matrix(projector, inner, s.hidden * merge * merge),
                 matrix(projector, outer, inner),
                 matrix(projector, in.hidden, out)};
  return only(std::move(spec));
}

// What Kimi K3's tower has another way than K2.5's.
struct MoonStyle {
  bool bias = true;
  bool rms = false;
  bool norm_last = false;  // of the projector
};

Result<MoonStyle> moon_style(Fields& f) {
  MoonStyle style;
  CAIRN_TRY(const std::string_view kind, f.text_or("mm_projector_type", "patchmerger"));
  if (kind != "patchmerger" && kind != "patchmergerv2") {
    return fail(f.error("mm_projector_type", "not covered").want("patchmerger or patchmergerv2"));
  }
  style.norm_last = kind == "patchmergerv2";
  CAIRN_TRY(const std::string_view norm, f.text_or("norm_type", "layernorm"));
  if (norm != "layernorm" && norm != "rmsnorm") return fail(f.error("norm_type", "not covered"));
  style.rms = norm == "rmsnorm";
  CAIRN_TRY(const std::string_view mlp, f.text_or("mlp_type", "mlp2"));
  if (mlp != "mlp2") return fail(f.error("mlp_type", "not covered").want("mlp2"));
  for (const char* key : {"attn_bias", "linear_bias", "patch_embed_proj_bias"}) {
    CAIRN_TRY(const bool bias, f.flag(key, true));
    if (bias == style.norm_last) return fail(f.error(key, "not covered for this projector"));
  }
  style.bias = !style.norm_last;
  return style;
}

// MoonViT; the configuration of the published repository
// (https://huggingface.co/moonshotai/Kimi-K2.5/blob/main/configuration_kimi_k25.py); K3's in
// https://github.com/ai-dynamo/aiconfigurator (build_kimi_k3_encoder_ops).
Towers kimi(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  f.skip({"mm_hidden_size", "text_hidden_size", "projector_ln_eps", "init_pos_emb_time"});
  Stack s;
  CAIRN_TRY(s.hidden, f.integer_or("vt_hidden_size", 1152, 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer_or("vt_num_hidden_layers", 27, 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("vt_num_attention_heads", 16, 1, kMaxHeads));
  CAIRN_TRY(const std::int64_t wide, f.integer_or("qkv_hidden_size", s.hidden, 1, kMaxHidden));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "vt_num_attention_heads", wide, s.heads));
  CAIRN_TRY(s.intermediate, f.integer_or("vt_intermediate_size", 4304, 1, kMaxInner));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 14, 1, 1024));
  CAIRN_TRY(const std::int64_t rows, f.integer_or("init_pos_emb_height", 64, 1, 4096));
  CAIRN_TRY(const std::int64_t columns, f.integer_or("init_pos_emb_width", 64, 1, 4096));
  CAIRN_TRY(const MoonStyle style, moon_style(f));
  CAIRN_TRY(const auto merge, f.integers("merge_kernel_size", 2, 1, 16));
  CAIRN_CHECK(f.finish());
  const std::int64_t merged = merge ? merge->front() * merge->back() : 4;
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.bias = style.bias, .rms = style.rms});
  spec.positions = rows * columns;
  spec.outputs = spec.positions / merged;
  const std::int64_t inner = s.hidden * merged;
  spec.extras = {
      patches(s, patch, style.bias), table(position_embedding, spec.positions, s.hidden),
      style.norm_last ? vector(projector_norm, in.hidden) : vector(projector_norm, s.hidden, true),
      matrix(projector, inner, inner, style.bias), matrix(projector, in.hidden, inner, style.bias)};
  return only(std::move(spec));
}

// A CLIP tower with rotary positions and no last norm.
Towers minimax_m3(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  f.skip({"position_embedding_type", "img_token_compression_config"});
  CAIRN_TRY(const Stack s, read_stack(f));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 2016));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 14, 1, 1024));
  CAIRN_CHECK(f.finish());
  CAIRN_TRY(const Node merging, described(in.root, "img_token_compression_config"));
  CAIRN_TRY(const std::int64_t merge, merging.get_integer_or("spatial_merge_size", 2, 1, 16));
  CAIRN_TRY(const std::int64_t frames, merging.get_integer_or("temporal_patch_size", 2, 1, 16));
  CAIRN_TRY(const std::int64_t inner,
            in.root.get_integer_or("projector_hidden_size", in.hidden, 1, kMaxHidden));
  CAIRN_TRY(const bool bias, in.root.get_or<bool>("multimodal_projector_bias", true));
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.final_norm = false;
  spec.positions = image.patches(patch);
  spec.outputs = spec.positions / (merge * merge);
  spec.extras = {patches(s, patch, false, 3, frames),
                 vector(pre_norm, s.hidden, true),
                 matrix(projector, inner, s.hidden, bias),
                 matrix(projector, in.hidden, inner, bias),
                 matrix(projector, inner, in.hidden * merge * merge, bias),
                 matrix(projector, in.hidden, inner, bias)};
  return only(std::move(spec));
}

constexpr auto kTowers = std::to_array<TowerFamily>({
    {"Qwen2VLForConditionalGeneration", qwen2_vl},
    {"Qwen2_5_VLForConditionalGeneration", qwen25_vl},
    {"Qwen3VLForConditionalGeneration", qwen3_vl},
    {"Qwen3VLMoeForConditionalGeneration", qwen3_vl},
    {"Qwen3_5ForConditionalGeneration", qwen3_vl},
    {"Qwen3_5MoeForConditionalGeneration", qwen3_vl},
    {"Glm4vForConditionalGeneration", glm4v},
    {"Glm4vMoeForConditionalGeneration", glm4v},
    {"Llama4ForConditionalGeneration", llama4},
    {"KimiK25ForConditionalGeneration", kimi},
    {"KimiK3ForConditionalGeneration", kimi},
    {"MiniMaxM3SparseForConditionalGeneration", minimax_m3},
});

}  // namespace

Result<ModelSpec> read_qwen25_vision(Node vision, std::int64_t hidden) {
  Fields f = part_fields(vision);
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 1280, .layers = 32, .heads = 16, .intermediate = 3420}));
  CAIRN_TRY(const std::int64_t out, f.integer_or("out_hidden_size", hidden, 1, kMaxHidden));
  CAIRN_TRY(const Cut c, read_cut(f, 14));
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.gated = true, .rms = true});
  CAIRN_CHECK(windows(f, c, spec));
  f.skip({"embed_dim"});
  CAIRN_CHECK(f.finish());
  spec.final_norm = false;
  spec.outputs = kQwenOutputs;
  spec.positions = spec.outputs * c.merge * c.merge;
  const std::int64_t wide = s.hidden * c.merge * c.merge;
  spec.extras = {patches(s, c.patch, false, c.channels, c.frames), vector(projector_norm, s.hidden),
                 matrix(projector, wide, wide, true), matrix(projector, out, wide, true)};
  return spec;
}

Result<ModelSpec> read_qwen3_vision(Node vision, std::int64_t hidden) {
  Fields f = part_fields(vision);
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 1152, .layers = 27, .heads = 16, .intermediate = 4304}));
  CAIRN_TRY(const std::int64_t out, f.integer_or("out_hidden_size", hidden, 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t rows, f.integer_or("num_position_embeddings", 2304, 1, kMaxContext));
  CAIRN_TRY(const Cut c, read_cut(f, 16));
  const auto taken = vision.find_value("deepstack_visual_indexes");
  f.skip({"deepstack_visual_indexes"});
  CAIRN_CHECK(f.finish());
  // Layers whose features go to the first layers of the language model, each by a merger.
  const std::int64_t deep = !taken ? 3 : taken->is_sequence() ? taken->size() : 0;
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.final_norm = false;
  spec.positions = rows;
  spec.outputs = rows / (c.merge * c.merge);
  const std::int64_t wide = s.hidden * c.merge * c.merge;
  spec.extras = {patches(s, c.patch, true, c.channels, c.frames),
                 table(position_embedding, rows, s.hidden)};
  for (std::int64_t i = 0; i <= deep; ++i) {
    spec.extras.push_back(vector(projector_norm, i == 0 ? s.hidden : wide, true));
    spec.extras.push_back(matrix(projector, wide, wide, true));
    spec.extras.push_back(matrix(projector, out, wide, true));
  }
  return spec;
}

std::span<const TowerFamily> native_towers() { return kTowers; }

}  // namespace cairn::hf
