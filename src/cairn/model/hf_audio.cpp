// Towers for sound: Whisper's encoder before a language model (Qwen2-Audio, Qwen2.5-Omni)
// and the conformers of Gemma 3n and 4, beside their vision towers. Shapes: transformers
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

// Channels of the two convolutions before the layers.
std::vector<std::int64_t> usual_channels() { return {128, 32}; }

// Each convolution halves the rate and the 128 mel bins.
ModelSpec conformer_spec(const Stack& s, std::int64_t kernel, std::int64_t window,
                         const std::vector<std::int64_t>& channels) {
  ModelSpec spec = stack_spec(s, ModelPart::audio, {.bias = false, .rms = true});
  LayerSpec layer = conformer_layer(s, kernel);
  layer.attention.kind = AttentionKind::sliding;
  layer.attention.window = window;
  spec.layers.assign(spec.layers.size(), layer);
  spec.final_norm = false;
  // One position in 40 ms, for at most 30 s (processing_gemma4.py).
  spec.positions = spec.outputs = 750;
  const std::int64_t first = channels.front();
  const std::int64_t second = channels.back();
  spec.extras = {matrix(patch_embedding, first, 9), vector(pre_norm, first),
                 matrix(patch_embedding, second, 9 * first), vector(pre_norm, second),
                 matrix(patch_embedding, s.hidden, 32 * second)};
  return spec;
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
  ModelSpec spec =
      conformer_spec(s, kernel, chunk + left + right, channels.value_or(usual_channels()));
  if (clipped) {
    for (LayerSpec& layer : spec.layers) layer.extras.push_back(limits(10));
  }
  spec.extras.push_back(matrix(projector, out, s.hidden, true));
  spec.extras.push_back(matrix(projector, in.hidden, out));
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

// MobileNetV5's encoder by the name that a file gives (timm,
// https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/mobilenetv5.py):
// its convolutions as matrices of output features and inputs of a window, and its norms and
// scales. Only their sizes count: they work at many resolutions.
struct Convolution {
  std::int64_t out;
  std::int64_t in;
  std::int64_t times;
};
constexpr auto kMobileNet = std::to_array<Convolution>({
    // The stem and edge residuals of 128 features.
    {64, 27, 1},
    {256, 576, 1},
    {128, 256, 1},
    {512, 1152, 2},
    {128, 512, 2},
    // Inverted bottlenecks of 256 features.
    {128, 9, 1},
    {768, 128, 1},
    {768, 25, 1},
    {256, 768, 1},
    {256, 25, 3},
    {256, 9, 2},
    {1024, 256, 4},
    {256, 1024, 4},
    // Of 640 features, and attention with one key for twelve heads of 64.
    {1536, 256, 1},
    {1536, 25, 1},
    {640, 1536, 1},
    {640, 25, 8},
    {640, 9, 28},
    {2560, 640, 7},
    {640, 2560, 7},
    {640, 640, 2},
    {64, 640, 28},
    {768, 640, 14},
    {640, 768, 14},
    {1280, 640, 14},
    {640, 1280, 14},
    // Of 1280 features, and attention with one key for sixteen heads of 96.
    {3840, 640, 1},
    {3840, 25, 1},
    {1280, 3840, 1},
    {96, 1280, 38},
    {1536, 1280, 19},
    {1280, 1536, 19},
    {2560, 1280, 19},
    {1280, 2560, 19},
    // The last two resolutions made one.
    {3840, 1920, 1},
    {2048, 3840, 1},
    // Norms, scales and a bias.
    {1, 64, 2},
    {1, 128, 4},
    {1, 256, 16},
    {1, 512, 2},
    {1, 640, 111},
    {1, 768, 2},
    {1, 1024, 4},
    {1, 1280, 92},
    {1, 1536, 2},
    {1, 2048, 2},
    {1, 2560, 26},
    {1, 3840, 3},
});

// What leads to the language model, and embeddings of tokens of the tower's own.
void add_soft_tokens(ModelSpec& spec, std::int64_t tokens, std::int64_t hidden) {
  spec.extras.push_back(table(class_embedding, tokens, spec.hidden));
  spec.extras.push_back(vector(projector_norm, spec.hidden));
  spec.extras.push_back(vector(projector_norm, spec.hidden));
  spec.extras.push_back(matrix(projector, hidden, spec.hidden));
}

Result<ModelSpec> gemma3n_vision(Node vision, const TowerInput& in) {
  Fields f = part_fields(vision);
  f.skip({"do_pooling", "num_classes", "label_names", "model_args", "vocab_offset"});
  CAIRN_TRY(const std::string_view name, f.text_or("architecture", "mobilenetv5_300m_enc"));
  if (name != "mobilenetv5_300m_enc") {
    return fail(f.error("architecture", "not covered").want("mobilenetv5_300m_enc"));
  }
  CAIRN_TRY(const std::int64_t hidden, f.integer_or("hidden_size", 2048, 2048, 2048));
  CAIRN_TRY(const std::int64_t tokens, f.integer_or("vocab_size", 128, 1, kMaxVocabulary));
  CAIRN_CHECK(f.finish());
  ModelSpec spec;
  spec.part = ModelPart::vision;
  spec.hidden = hidden;
  spec.output_head = spec.final_norm = false;
  for (const Convolution& c : kMobileNet) {
    MatrixSpec m = matrix(patch_embedding, c.out, c.in);
    m.stack = c.times;
    m.use = Use::stored;
    m.vector = c.out == 1;
    spec.extras.push_back(m);
  }
  add_soft_tokens(spec, tokens, in.hidden);
  // 16 x 16 positions of an image of 768 x 768.
  CAIRN_TRY(spec.outputs,
            in.root.get_integer_or("vision_soft_tokens_per_image", 256, 1, kMaxContext));
  spec.positions = spec.outputs;
  return spec;
}

Result<ModelSpec> gemma3n_audio(Node audio, const TowerInput& in) {
  Fields f = part_fields(audio);
  f.skip({"conf_attention_logit_cap", "sscp_conv_kernel_size", "sscp_conv_stride_size",
          "sscp_conv_group_norm_eps", "conf_residual_weight", "vocab_offset", "input_feat_size"});
  Stack s;
  CAIRN_TRY(s.hidden, f.integer_or("hidden_size", 1536, 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer_or("conf_num_hidden_layers", 12, 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer_or("conf_num_attention_heads", 8, 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, even_head_dim(f, "conf_num_attention_heads", s.hidden, s.heads));
  s.intermediate = 4 * s.hidden;
  CAIRN_TRY(const std::int64_t kernel, f.integer_or("conf_conv_kernel_size", 5, 1, 1024));
  CAIRN_TRY(const std::int64_t chunk,
            f.integer_or("conf_attention_chunk_size", 12, 1, kMaxContext));
  CAIRN_TRY(const std::int64_t left,
            f.integer_or("conf_attention_context_left", 13, 0, kMaxContext));
  CAIRN_TRY(const std::int64_t right,
            f.integer_or("conf_attention_context_right", 0, 0, kMaxContext));
  CAIRN_TRY(const std::int64_t reduced, f.integer_or("conf_reduction_factor", 4, 1, 64));
  CAIRN_TRY(const std::int64_t tokens, f.integer_or("vocab_size", 128, 1, kMaxVocabulary));
  CAIRN_TRY(const auto channels, f.integers("sscp_conv_channel_size", 2, 1, 4096));
  CAIRN_CHECK(f.finish());
  ModelSpec spec =
      conformer_spec(s, kernel, chunk + left + right, channels.value_or(usual_channels()));
  add_soft_tokens(spec, tokens, in.hidden);
  spec.outputs = (spec.positions + reduced - 1) / reduced;
  return spec;
}

Towers gemma3n(const TowerInput& in) {
  CAIRN_TRY(const Node vision, described(in.root, "vision_config"));
  CAIRN_TRY(const Node audio, described(in.root, "audio_config"));
  CAIRN_TRY(ModelSpec sees, gemma3n_vision(vision, in));
  CAIRN_TRY(ModelSpec hears, gemma3n_audio(audio, in));
  return std::vector<ModelSpec>{std::move(sees), std::move(hears)};
}

constexpr auto kTowers = std::to_array<TowerFamily>({
    {"Qwen2AudioForConditionalGeneration", qwen2_audio},
    {"Qwen2_5OmniForConditionalGeneration", qwen25_omni},
    {"Gemma4ForConditionalGeneration", gemma4},
    {"Gemma3nForConditionalGeneration", gemma3n},
});

}  // namespace

std::span<const TowerFamily> audio_towers() { return kTowers; }

}  // namespace cairn::hf
