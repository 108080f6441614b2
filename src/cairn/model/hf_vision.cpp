// Vision towers on CLIP and SigLIP with the projectors that lead from them to language
// models. Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/clip,
// .../siglip, .../llava, .../gemma3, .../paligemma) and, where transformers does not have
// the model, the repositories named at each reader.
#include "cairn/model/hf_vision.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cairn/model/hf_tower.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

using Towers = Result<std::vector<ModelSpec>>;

Towers only(Result<ModelSpec> tower) {
  if (!tower) return std::unexpected(std::move(tower).error());
  return std::vector<ModelSpec>{*std::move(tower)};
}

Result<ModelSpec> clip_tower(Fields& f) {
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 768, .layers = 12, .heads = 12, .intermediate = 3072}));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 224));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 32, 1, 1024));
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.outputs = image.patches(patch);
  spec.positions = spec.outputs + 1;
  spec.extras = {vector(class_embedding, s.hidden), patches(s, patch, false),
                 table(position_embedding, spec.positions, s.hidden),
                 vector(pre_norm, s.hidden, true)};
  return spec;
}

// The head that pools all positions with one learned query.
void attention_pooling(ModelSpec& spec, std::int64_t inner) {
  const std::int64_t h = spec.hidden;
  for (const MatrixSpec& m :
       {vector(class_embedding, h), matrix(pooler, 3 * h, h, true), matrix(pooler, h, h, true),
        vector(pooler, h, true), matrix(pooler, inner, h, true), matrix(pooler, h, inner, true)}) {
    spec.extras.push_back(m);
  }
}

ModelSpec siglip_spec(const Stack& s, std::int64_t count, std::int64_t patch) {
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.positions = spec.outputs = count;
  spec.extras = {patches(s, patch, true), table(position_embedding, count, s.hidden)};
  return spec;
}

Result<ModelSpec> siglip_tower(Fields& f) {
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 768, .layers = 12, .heads = 12, .intermediate = 3072}));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 224));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 16, 1, 1024));
  CAIRN_TRY(const bool head, f.flag("vision_use_head", true));
  ModelSpec spec = siglip_spec(s, image.patches(patch), patch);
  if (head) attention_pooling(spec, s.intermediate);
  return spec;
}

Result<ModelSpec> pixtral_tower(Fields& f) {
  f.skip({"image_token_id"});
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 1024, .layers = 24, .heads = 16, .intermediate = 4096}));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 1024));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 16, 1, 1024));
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.bias = false, .gated = true, .rms = true});
  spec.final_norm = false;
  spec.positions = spec.outputs = image.patches(patch);
  spec.extras = {patches(s, patch, false), vector(pre_norm, s.hidden)};
  return spec;
}

// Two matrices with an activation between them.
void add_projector(ModelSpec& spec, std::int64_t in, std::int64_t hidden, bool bias = true) {
  spec.extras.push_back(matrix(projector, hidden, in, bias));
  spec.extras.push_back(matrix(projector, hidden, hidden, bias));
}

Towers llava(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(ModelSpec spec, read_image_tower(vision));
  CAIRN_TRY(const bool bias, in.root.get_or<bool>("multimodal_projector_bias", true));
  const auto layers = in.root.find_value("vision_feature_layer");
  const std::int64_t taken = layers && layers->is_sequence() ? layers->size() : 1;
  add_projector(spec, taken * spec.hidden, in.hidden, bias);
  return only(std::move(spec));
}

// Four patches become one position of the language model.
Towers mistral3(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(ModelSpec spec, read_image_tower(vision));
  CAIRN_TRY(const bool bias, in.root.get_or<bool>("multimodal_projector_bias", false));
  CAIRN_TRY(const std::int64_t merge, in.root.get_integer_or("spatial_merge_size", 2, 1, 16));
  spec.extras.push_back(vector(projector_norm, spec.hidden));
  spec.extras.push_back(matrix(projector, spec.hidden, spec.hidden * merge * merge));
  add_projector(spec, spec.hidden, in.hidden, bias);
  spec.outputs /= merge * merge;
  return only(std::move(spec));
}

Towers gemma3(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(ModelSpec spec, read_image_tower(vision));
  CAIRN_TRY(spec.outputs, in.root.get_integer_or("mm_tokens_per_image", 256, 1, kMaxContext));
  spec.extras.push_back(vector(projector_norm, spec.hidden));
  spec.extras.push_back(matrix(projector, in.hidden, spec.hidden));
  return only(std::move(spec));
}

Towers paligemma(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  f.skip({"num_image_tokens"});
  CAIRN_TRY(ModelSpec spec, siglip_tower(f));
  CAIRN_CHECK(f.finish());
  // The model leaves the pooling head out, whatever the configuration says.
  spec.extras.resize(2);
  spec.extras.push_back(matrix(projector, in.hidden, spec.hidden, true));
  return only(std::move(spec));
}

// https://huggingface.co/OpenGVLab/InternVL2-2B/blob/main/modeling_intern_vit.py
Result<ModelSpec> intern_vit(Node vision) {
  Fields f = part_fields(vision, false);
  CAIRN_TRY(const Stack s, read_stack(f));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 448));
  CAIRN_TRY(const std::int64_t patch, f.integer("patch_size", 1, 1024));
  CAIRN_TRY(const std::string_view norm, f.text_or("norm_type", "rms_norm"));
  if (norm != "rms_norm" && norm != "layer_norm") return fail(f.error("norm_type", "not covered"));
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.rms = norm == "rms_norm"});
  CAIRN_TRY(const bool qkv_bias, f.flag("qkv_bias", false));
  CAIRN_TRY(const bool qk_norm, f.flag("qk_normalization", true));
  CAIRN_CHECK(f.finish());
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = qkv_bias;
    layer.attention.qk_norm = qk_norm;
    if (qk_norm) layer.attention.qk_norm_dim_q = layer.attention.qk_norm_dim_k = s.hidden;
    layer.extras = {vector(attn_scale, s.hidden), vector(ffn_scale, s.hidden)};
  }
  spec.final_norm = false;
  spec.outputs = image.patches(patch);
  spec.positions = spec.outputs + 1;
  spec.extras = {vector(class_embedding, s.hidden), patches(s, patch, true),
                 table(position_embedding, spec.positions, s.hidden)};
  return spec;
}

// One tile; https://huggingface.co/OpenGVLab/InternVL2-2B/blob/main/modeling_internvl_chat.py
Towers internvl(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(ModelSpec spec, intern_vit(vision));
  CAIRN_TRY(const double ratio, in.root.get_or<double>("downsample_ratio", 0.5));
  const bool sane = ratio > 0.05 && ratio <= 1;
  if (!sane) {
    return fail(in.root.error("out of range").in("downsample_ratio").want("0.05 to 1"));
  }
  const auto merge = static_cast<std::int64_t>(std::lround(1 / ratio));
  const std::int64_t wide = spec.hidden * merge * merge;
  spec.extras.push_back(vector(projector_norm, wide, true));
  add_projector(spec, wide, in.hidden);
  spec.outputs /= merge * merge;
  return only(std::move(spec));
}

// https://huggingface.co/openbmb/MiniCPM-V-2_6/blob/main/resampler.py: learned queries
// attend to the patches of a slice, with heads of 128 features.
Towers minicpmv(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  Fields f = part_fields(vision);
  f.skip({"vision_use_head"});
  CAIRN_TRY(const Stack s, read_stack(f));
  CAIRN_TRY(const Image whole, read_image(f, "image_size", 980));
  CAIRN_TRY(const std::int64_t patch, f.integer("patch_size", 1, 1024));
  CAIRN_CHECK(f.finish());
  CAIRN_TRY(const bool drop, in.root.get_or<bool>("drop_vision_last_layer", false));
  CAIRN_TRY(const std::int64_t queries, in.root.get_integer_or("query_num", 64, 1, 4096));
  CAIRN_TRY(const std::int64_t slice, in.root.get_integer_or("image_size", 448, patch, 1 << 14));
  Stack kept = s;
  kept.layers -= drop ? 1 : 0;
  ModelSpec spec = siglip_spec(kept, whole.patches(patch), patch);
  spec.positions = (slice / patch) * (slice / patch);
  spec.outputs = queries;
  const std::int64_t h = in.hidden;
  for (const MatrixSpec& m : {table(class_embedding, queries, h), matrix(projector, h, s.hidden),
                              matrix(projector, 3 * h, h, true), matrix(projector, h, h, true),
                              vector(projector_norm, h, true), vector(projector_norm, h, true),
                              vector(projector_norm, h, true), matrix(projector, h, h)}) {
    spec.extras.push_back(m);
  }
  return only(std::move(spec));
}

// CLIP ViT-L/14 for 336 pixels, as code has it that names it.
ModelSpec clip_large(std::int64_t layers) {
  const Stack s{
      .hidden = 1024, .layers = layers, .heads = 16, .head_dim = 64, .intermediate = 4096};
  ModelSpec spec = stack_spec(s, ModelPart::vision);
  spec.positions = 577;
  spec.outputs = 576;
  spec.extras = {vector(class_embedding, s.hidden), patches(s, 14, false),
                 table(position_embedding, 577, s.hidden), vector(pre_norm, s.hidden, true)};
  return spec;
}

// https://huggingface.co/microsoft/Phi-3-vision-128k-instruct/blob/main/image_embedding_phi3_v.py
Towers phi3v(const TowerInput& in) {
  CAIRN_TRY(const Node image, described(in.root, "img_processor"));
  CAIRN_TRY(const Node layer, described(in.root, "embd_layer"));
  CAIRN_TRY(const std::string_view name, image.get<std::string_view>("model_name"));
  if (name != "openai/clip-vit-large-patch14-336") {
    return fail(unsupported("not covered").at(image.where()).in("model_name").got(name));
  }
  CAIRN_TRY(const std::string_view kind, layer.get<std::string_view>("projection_cls"));
  CAIRN_TRY(const bool tiles, layer.get_or<bool>("use_hd_transform", false));
  if (kind != "mlp" || !tiles) {
    return fail(unsupported("not covered").at(layer.where()).in("projection_cls").got(kind));
  }
  ModelSpec spec = clip_large(24);
  CAIRN_TRY(spec.outputs, image.get_integer("num_img_tokens", 1, 576));
  // 2 x 2 patches become one, with learned marks at ends of rows and between views.
  add_projector(spec, 4 * spec.hidden, in.hidden);
  spec.extras.push_back(vector(projector, 4 * spec.hidden));
  spec.extras.push_back(vector(projector, 4 * spec.hidden));
  return only(std::move(spec));
}

// https://github.com/NVlabs/VILA/blob/main/llava/model/multimodal_projector/base_projector.py
Towers vila(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_tower_cfg"));
  CAIRN_TRY(const Node around, described(in.root, "mm_projector_cfg"));
  CAIRN_TRY(const std::string_view kind, around.get<std::string_view>("mm_projector_type"));
  if (kind != "mlp_downsample") {
    return fail(unsupported("not covered").at(around.where()).in("mm_projector_type").got(kind));
  }
  CAIRN_TRY(ModelSpec spec, read_image_tower(vision));
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(spec.outputs)));
  spec.outputs = ((side + 1) / 2) * ((side + 1) / 2);
  spec.extras.push_back(vector(projector_norm, 4 * spec.hidden, true));
  add_projector(spec, 4 * spec.hidden, in.hidden);
  return only(std::move(spec));
}

// https://github.com/deepseek-ai/DeepSeek-VL2/blob/main/deepseek_vl2/models: one tile.
Towers deepseek_vl2(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(const Node around, described(in.root, "projector_config"));
  CAIRN_TRY(const std::string_view kind,
            around.get_or<std::string_view>("projector_type", "downsample_mlp_gelu"));
  if (kind != "downsample_mlp_gelu") {
    return fail(unsupported("not covered").at(around.where()).in("projector_type").got(kind));
  }
  Fields f = part_fields(vision, false);
  f.skip({"global_pool", "mlp_ratio"});
  Stack s;
  CAIRN_TRY(s.hidden, f.integer("width", 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer("layers", 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("heads", 16, 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "heads", s.hidden, s.heads));
  CAIRN_TRY(const double ratio, vision.get<double>("mlp_ratio"));
  const bool sane = ratio > 0.1 && ratio < 64;
  if (!sane) return fail(f.error("mlp_ratio", "out of range"));
  s.intermediate = static_cast<std::int64_t>(ratio * static_cast<double>(s.hidden));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 384));
  CAIRN_TRY(const std::int64_t patch, f.integer("patch_size", 1, 1024));
  CAIRN_CHECK(f.finish());
  ModelSpec spec = siglip_spec(s, image.patches(patch), patch);
  attention_pooling(spec, s.intermediate);
  add_projector(spec, 4 * s.hidden, in.hidden);
  spec.extras.push_back(vector(projector, in.hidden));  // ends of rows, and between views
  spec.extras.push_back(vector(projector, in.hidden));
  const std::int64_t side = (image.height / patch + 1) / 2;
  spec.outputs = side * side;
  return only(std::move(spec));
}

// https://github.com/vllm-project/vllm/blob/main/vllm/model_executor/models/molmo.py: CLIP
// without its last layer; features of two layers, pooled over 2 x 2 patches by attention,
// and a feed-forward of the language model's width.
Towers molmo(const TowerInput& in) {
  CAIRN_TRY(const std::int64_t both, in.root.get_integer("intermediate_size", 2, kMaxInner));
  ModelSpec spec = clip_large(23);
  spec.final_norm = false;
  spec.outputs = 144;
  const std::int64_t h = spec.hidden;
  const std::int64_t inner = both / 2;
  for (const MatrixSpec& m :
       {matrix(projector, h, 2 * h, true), matrix(projector, h, 2 * h, true),
        matrix(projector, h, 2 * h, true), matrix(projector, h, h, true),
        matrix(projector, inner, h), matrix(projector, inner, h),
        matrix(projector, in.hidden, inner), table(class_embedding, 2, 2 * h)}) {
    spec.extras.push_back(m);
  }
  return only(std::move(spec));
}

// The names of https://github.com/haotian-liu/LLaVA: the tower is another repository's.
Towers llava_llama(const TowerInput& in) {
  CAIRN_TRY(const std::string_view tower, in.root.get<std::string_view>("mm_vision_tower"));
  CAIRN_TRY(const std::string_view kind, in.root.get<std::string_view>("mm_projector_type"));
  if (tower != "openai/clip-vit-large-patch14-336" || kind != "mlp2x_gelu") {
    return fail(unsupported("not covered").at(in.root.where()).in("mm_vision_tower").got(tower));
  }
  ModelSpec spec = clip_large(24);
  add_projector(spec, spec.hidden, in.hidden);
  return only(std::move(spec));
}

// https://github.com/deepseek-ai/Janus/blob/main/janus/models/siglip_vit.py; what makes
// images is not read.
Towers janus(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(const Node inner, described(vision, "params"));
  CAIRN_TRY(const std::string_view name, inner.get<std::string_view>("model_name"));
  if (name != "siglip_large_patch16_384") {
    return fail(unsupported("not covered").at(inner.where()).in("model_name").got(name));
  }
  const Stack s{.hidden = 1024, .layers = 24, .heads = 16, .head_dim = 64, .intermediate = 4096};
  ModelSpec spec = siglip_spec(s, 576, 16);
  attention_pooling(spec, s.intermediate);
  add_projector(spec, s.hidden, in.hidden);
  return only(std::move(spec));
}

constexpr auto kTowers = std::to_array<TowerFamily>({
    {"LlavaForConditionalGeneration", llava},
    {"Mistral3ForConditionalGeneration", mistral3},
    {"Gemma3ForConditionalGeneration", gemma3},
    {"PaliGemmaForConditionalGeneration", paligemma},
    {"InternVLChatModel", internvl},
    {"MiniCPMV", minicpmv},
    {"Phi3VForCausalLM", phi3v},
    {"LlavaLlamaModel", vila},
    {"deepseek_vl_v2", deepseek_vl2},
    {"DeepseekVLV2ForCausalLM", deepseek_vl2},
    {"MolmoForCausalLM", molmo},
    {"LlavaLlamaForCausalLM", llava_llama},
    {"multi_modality", janus},
});

}  // namespace

Result<Node> described(Node around, std::string_view key) {
  const auto part = around.find_value(key);
  if (part && part->is_mapping()) return *part;
  return fail(unsupported("not described").at(around.where()).in(std::string(key)));
}

Result<ModelSpec> read_image_tower(Node vision) {
  CAIRN_TRY(const std::string_view type, vision.get_or<std::string_view>("model_type", ""));
  Fields f = part_fields(vision);
  Result<ModelSpec> spec = type == "clip_vision_model"     ? clip_tower(f)
                           : type == "siglip_vision_model" ? siglip_tower(f)
                           : type == "pixtral"
                               ? pixtral_tower(f)
                               : Result<ModelSpec>(fail(f.error("model_type", "not covered")));
  if (!spec) return spec;
  CAIRN_CHECK(f.finish());
  return spec;
}

std::span<const TowerFamily> image_towers() { return kTowers; }

Result<std::vector<ModelSpec>> read_towers(const TowerInput& in, std::string_view architecture) {
  for (const auto families : {image_towers(), native_towers(), audio_towers(), speech_towers()}) {
    const auto it = std::ranges::find(families, architecture, &TowerFamily::architecture);
    if (it != families.end()) return it->read(in);
  }
  return fail(unsupported("towers that are not covered")
                  .at(in.root.where())
                  .in("architectures")
                  .got(architecture));
}

}  // namespace cairn::hf
