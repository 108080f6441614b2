// Towers for sound: Whisper's encoder before a language model (Qwen2-Audio, Qwen2.5-Omni)
// and Gemma 4's conformer, beside its vision tower. Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/qwen2_audio,
// .../qwen2_5_omni, .../gemma4).
#include <array>

#include "cairn/model/hf_tower.h"
#include "cairn/model/hf_vision.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

using Towers = Result<std::vector<ModelSpec>>;

// Two convolutions over time, the second with a stride of 2; no bias on keys.
Result<ModelSpec> whisper_tower(Fields& f) {
  f.skip({"num_hidden_layers", "scale_embedding", "encoder_layerdrop", "n_window"});
  Stack s;
  CAIRN_TRY(s.hidden, f.integer_or("d_model", 1280, 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer_or("encoder_layers", 32, 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("encoder_attention_heads", 20, 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "encoder_attention_heads", s.hidden, s.heads));
  CAIRN_TRY(s.intermediate, f.integer_or("encoder_ffn_dim", 5120, 1, kMaxInner));
  CAIRN_TRY(const std::int64_t mels, f.integer_or("num_mel_bins", 128, 1, 4096));
  ModelSpec spec = stack_spec(s, ModelPart::audio);
  for (LayerSpec& layer : spec.layers) layer.attention.k_bias = false;
  CAIRN_TRY(spec.positions, f.integer_or("max_source_positions", 1500, 2, kMaxContext));
  // Features are averaged in pairs.
  spec.outputs = spec.positions / 2;
  spec.extras = {matrix(patch_embedding, s.hidden, 3 * mels, true),
                 matrix(patch_embedding, s.hidden, 3 * s.hidden, true)};
  return spec;
}

Towers qwen2_audio(const TowerInput& in) {
  CAIRN_TRY(const Node audio, described(in.root, "audio_config"));
  Fields f = part_fields(audio);
  CAIRN_TRY(ModelSpec spec, whisper_tower(f));
  CAIRN_CHECK(f.finish());
  spec.extras.push_back(table(position_embedding, spec.positions, spec.hidden));
  spec.extras.push_back(matrix(projector, in.hidden, spec.hidden, true));
  return std::vector<ModelSpec>{std::move(spec)};
}

// The part that understands; what speaks is not read.
Towers qwen25_omni(const TowerInput& in) {
  CAIRN_TRY(const Node thinker, described(in.root, "thinker_config"));
  CAIRN_TRY(const Node vision, described(thinker, "vision_config"));
  CAIRN_TRY(const Node sound, described(thinker, "audio_config"));
  CAIRN_TRY(ModelSpec sees, read_qwen25_vision(vision, in.hidden));
  Fields f = part_fields(sound);
  CAIRN_TRY(ModelSpec hears, whisper_tower(f));
  CAIRN_TRY(const std::int64_t out, f.integer_or("output_dim", in.hidden, 1, kMaxHidden));
  CAIRN_CHECK(f.finish());
  hears.extras.push_back(table(class_embedding, 2, out));  // begin and end of sound
  hears.extras.push_back(matrix(projector, out, hears.hidden, true));
  return std::vector<ModelSpec>{std::move(sees), std::move(hears)};
}

// The least and the largest input and output of each of some matrices.
MatrixSpec limits(std::int64_t matrices) {
  MatrixSpec m = vector(other, 4 * matrices);
  m.use = Use::stored;
  return m;
}

// Norms before and after each part, on queries and keys too; positions are two tables,
// one for rows and one for columns.
Result<ModelSpec> gemma4_vision(Node vision, const TowerInput& in) {
  Fields f = part_fields(vision);
  f.skip({"global_head_dim", "default_output_length", "max_position_embeddings"});
  CAIRN_TRY(const Stack s,
            read_stack(f, {.hidden = 768, .layers = 16, .heads = 12, .intermediate = 3072}));
  CAIRN_TRY(const std::int64_t kv, f.integer_or("num_key_value_heads", s.heads, 1, kMaxHeads));
  CAIRN_TRY(const bool bias, f.flag("attention_bias", false));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 16, 1, 1024));
  CAIRN_TRY(const std::int64_t pool, f.integer_or("pooling_kernel_size", 3, 1, 64));
  CAIRN_TRY(const std::int64_t rows,
            f.integer_or("position_embedding_size", 10240, 1, kMaxContext));
  CAIRN_TRY(const bool clipped, f.flag("use_clipped_linears", false));
  CAIRN_TRY(const bool standardize, f.flag("standardize", false));
  CAIRN_CHECK(f.finish());
  CAIRN_TRY(const std::int64_t outputs,
            in.root.get_integer_or("vision_soft_tokens_per_image", 280, 1, kMaxContext));
  ModelSpec spec = stack_spec(s, ModelPart::vision, {.bias = false, .gated = true, .rms = true});
  for (LayerSpec& layer : spec.layers) {
    layer.norms = 4;
    layer.attention.kv_heads = kv;
    layer.attention.qkv_bias = layer.attention.o_bias = bias;
    layer.attention.qk_norm = true;
    layer.attention.qk_norm_dim_q = layer.attention.qk_norm_dim_k = s.head_dim;
    if (clipped) layer.extras = {limits(7)};
  }
  spec.final_norm = false;
  spec.outputs = outputs;
  spec.positions = outputs * pool * pool;
  spec.extras = {patches(s, patch, false), table(position_embedding, 2 * rows, s.hidden),
                 matrix(projector, in.hidden, s.hidden)};
  if (standardize) {
    spec.extras.push_back(vector(output_norm, s.hidden));
    spec.extras.push_back(vector(output_norm, s.hidden));
  }
  return spec;
}

// A feed-forward before attention and one after, with a convolution between.
LayerSpec conformer_layer(const Stack& s, std::int64_t kernel) {
  const std::int64_t h = s.hidden;
  LayerSpec layer = stack_layer(s, {.bias = false, .rms = true});
  layer.norms = 4;
  layer.extras = {matrix(ffn_up, s.intermediate, h),
                  matrix(ffn_down, h, s.intermediate),
                  vector(ffn_norm, h),
                  vector(post_ffn_norm, h),
                  matrix(attn_rel_b, h, h),
                  vector(attn_scale, s.head_dim),
                  matrix(shortconv_in, 2 * h, h),
                  vector(shortconv_conv, h * kernel),
                  matrix(shortconv_out, h, h),
                  vector(pre_norm, h),
                  vector(attn_sub_norm, h),
                  vector(output_norm, h)};
  return layer;
}

Result<ModelSpec> gemma4_audio(Node audio, const TowerInput& in) {
  Fields f = part_fields(audio);
  f.skip({"attention_invalid_logits_value", "attention_logit_cap"});
  Stack s;
  CAIRN_TRY(s.hidden, f.integer_or("hidden_size", 1024, 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer_or("num_hidden_layers", 12, 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("num_attention_heads", 8, 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "num_attention_heads", s.hidden, s.heads));
  s.intermediate = 4 * s.hidden;
  CAIRN_TRY(const std::int64_t kernel, f.integer_or("conv_kernel_size", 5, 1, 1024));
  CAIRN_TRY(const std::int64_t chunk, f.integer_or("attention_chunk_size", 12, 1, kMaxContext));
  CAIRN_TRY(const std::int64_t left, f.integer_or("attention_context_left", 13, 0, kMaxContext));
  CAIRN_TRY(const std::int64_t right, f.integer_or("attention_context_right", 0, 0, kMaxContext));
  CAIRN_TRY(const std::int64_t out, f.integer_or("output_proj_dims", 1536, 1, kMaxHidden));
  CAIRN_TRY(const bool clipped, f.flag("use_clipped_linears", true));
  CAIRN_TRY(const auto channels, f.integers("subsampling_conv_channels", 2, 1, 4096));
  CAIRN_CHECK(f.finish());
  const std::int64_t first = channels ? channels->front() : 128;
  const std::int64_t second = channels ? channels->back() : 32;
  ModelSpec spec = stack_spec(s, ModelPart::audio, {.bias = false, .rms = true});
  LayerSpec layer = conformer_layer(s, kernel);
  layer.attention.kind = AttentionKind::sliding;
  layer.attention.window = chunk + left + right;
  if (clipped) layer.extras.push_back(limits(10));
  spec.layers.assign(spec.layers.size(), layer);
  spec.final_norm = false;
  // One position in 40 ms, for at most 30 s (processing_gemma4.py).
  spec.positions = spec.outputs = 750;
  // Each convolution halves the 128 mel bins.
  spec.extras = {matrix(patch_embedding, first, 9),
                 vector(pre_norm, first),
                 matrix(patch_embedding, second, 9 * first),
                 vector(pre_norm, second),
                 matrix(patch_embedding, s.hidden, 32 * second),
                 matrix(projector, out, s.hidden, true),
                 matrix(projector, in.hidden, out)};
  return spec;
}

Towers gemma4(const TowerInput& in) {
  std::vector<ModelSpec> towers;
  if (const auto vision = in.root.find_value("vision_config")) {
    CAIRN_TRY(ModelSpec spec, gemma4_vision(*vision, in));
    towers.push_back(std::move(spec));
  }
  if (const auto audio = in.root.find_value("audio_config")) {
    CAIRN_TRY(ModelSpec spec, gemma4_audio(*audio, in));
    towers.push_back(std::move(spec));
  }
  return towers;
}

constexpr auto kTowers = std::to_array<TowerFamily>({
    {"Qwen2AudioForConditionalGeneration", qwen2_audio},
    {"Qwen2_5OmniForConditionalGeneration", qwen25_omni},
    {"Gemma4ForConditionalGeneration", gemma4},
});

}  // namespace

std::span<const TowerFamily> audio_towers() { return kTowers; }

}  // namespace cairn::hf
