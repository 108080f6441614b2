// VibeVoice: two convolutional encoders of sound before a language model, a decoder and a
// diffusion head after it. Shapes:
// https://github.com/microsoft/VibeVoice/blob/main/vibevoice/modular/modular_vibevoice_tokenizer.py
// and modular_vibevoice_diffusion_head.py.
#include <algorithm>
#include <array>
#include <charconv>

#include "cairn/model/hf_tower.h"
#include "cairn/model/hf_vision.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

using Towers = Result<std::vector<ModelSpec>>;

constexpr std::int64_t kKernel = 7;         // of the first, the last and the depthwise convolutions
constexpr std::int64_t kSamples = 24000;    // of sound in a second
constexpr std::int64_t kFrequencies = 256;  // features of a diffusion step's number

// Stages, each with convolutions one feature at a time and feed-forward parts, between
// convolutions that halve the rate or more and double the features.
struct Tokenizer {
  std::int64_t filters = 0;          // features of the first stage
  std::int64_t latent = 0;           // of an output position
  std::vector<std::int64_t> ratios;  // from sound to outputs, by what the rate is divided
  std::vector<std::int64_t> depths;  // of the stages, one more
};

// "3-3-8", as the file writes it.
Result<std::vector<std::int64_t>> dashed(Fields& f, std::string_view key, std::size_t size) {
  CAIRN_TRY(std::string_view text, f.text_or(key, ""));
  std::vector<std::int64_t> out;
  while (!text.empty()) {
    std::int64_t value = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    if (r.ec != std::errc() || value < 1 || value > kMaxLayers) break;
    out.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(r.ptr - text.data()));
    if (!text.empty() && text.front() != '-') break;
    if (!text.empty()) text.remove_prefix(1);
  }
  if (!text.empty() || out.size() != size) {
    return fail(f.error(key, "not the depths of the stages")
                    .want(std::to_string(size) + " numbers with dashes"));
  }
  return out;
}

Result<Tokenizer> read_tokenizer(Fields& f) {
  Tokenizer t;
  f.skip({"channels", "layer_scale_init_value", "layernorm_eps", "decoder_n_filters",
          "decoder_ratios", "causal"});
  struct Fixed {
    std::string_view key;
    std::string_view value;
  };
  for (const Fixed& fixed : {Fixed{"conv_norm", "none"}, Fixed{"mixer_layer", "depthwise_conv"},
                             Fixed{"layernorm", "RMSNorm"}}) {
    CAIRN_TRY(const std::string_view text, f.text_or(fixed.key, fixed.value));
    if (text != fixed.value) {
      return fail(f.error(fixed.key, "not covered").want(std::string(fixed.value)));
    }
  }
  for (const std::string_view key :
       {"conv_bias", "disable_last_norm", "layernorm_elementwise_affine"}) {
    CAIRN_TRY(const bool on, f.flag(key, true));
    if (!on) return fail(f.error(key, "not covered").want("true"));
  }
  // A decoder of its own shape.
  CAIRN_CHECK(f.refuse("decoder_depths", "not covered: it mirrors the encoder"));
  CAIRN_TRY(t.filters, f.integer_or("encoder_n_filters", 32, 1, 1024));
  CAIRN_TRY(t.latent, f.integer("vae_dim", 1, kMaxHidden));
  CAIRN_TRY(auto ratios, f.integers("encoder_ratios", 6, 1, 1024));
  if (!ratios) return fail(f.error("encoder_ratios", "missing field").want("six numbers"));
  t.ratios = std::move(*ratios);
  std::ranges::reverse(t.ratios);
  CAIRN_TRY(t.depths, dashed(f, "encoder_depths", t.ratios.size() + 1));
  return t;
}

MatrixSpec convolution(std::int64_t out, std::int64_t in, std::int64_t kernel) {
  return matrix(patch_embedding, out, in * kernel, true);
}

void add_stage(std::vector<MatrixSpec>& out, std::int64_t features, std::int64_t depth) {
  MatrixSpec norms = vector(pre_norm, features);
  norms.stack = 4 * depth;  // two norms and two scales
  MatrixSpec mixer = matrix(shortconv_conv, features, kKernel, true);
  mixer.use = Use::elementwise;
  mixer.vector = true;
  mixer.stack = depth;
  MatrixSpec up = matrix(ffn_up, 4 * features, features, true);
  MatrixSpec down = matrix(ffn_down, features, 4 * features, true);
  up.stack = down.stack = depth;
  out.insert(out.end(), {norms, mixer, up, down});
}

// `encodes`: sound to a latent; else the way back, stage by stage. Work is that at the rate
// of the outputs.
ModelSpec tokenizer_spec(const Tokenizer& t, bool encodes) {
  ModelSpec spec;
  spec.part = ModelPart::audio;
  spec.output_head = spec.final_norm = false;
  std::int64_t features = t.filters;
  std::int64_t samples = 1;
  spec.extras.push_back(encodes ? convolution(features, 1, kKernel)
                                : convolution(1, features, kKernel));
  for (std::size_t i = 0; i < t.depths.size(); ++i) {
    if (i > 0) {
      const std::int64_t kernel = 2 * t.ratios[i - 1];
      samples *= t.ratios[i - 1];
      spec.extras.push_back(encodes ? convolution(2 * features, features, kernel)
                                    : convolution(features, 2 * features, kernel));
      features *= 2;
    }
    add_stage(spec.extras, features, t.depths[i]);
  }
  spec.extras.push_back(encodes ? convolution(t.latent, features, kKernel)
                                : convolution(features, t.latent, kKernel));
  spec.hidden = features;
  // Half a minute.
  spec.positions = spec.outputs = std::max<std::int64_t>(1, 30 * kSamples / samples);
  return spec;
}

void add_connector(ModelSpec& spec, std::int64_t latent, std::int64_t hidden) {
  spec.extras.push_back(matrix(projector, hidden, latent, true));
  spec.extras.push_back(vector(projector_norm, hidden));
  spec.extras.push_back(matrix(projector, hidden, hidden, true));
}

Result<ModelSpec> diffusion_head(Node node) {
  Fields f = part_fields(node);
  CAIRN_TRY(const std::int64_t h, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t layers, f.integer_or("head_layers", 4, 1, kMaxLayers));
  CAIRN_TRY(const std::int64_t latent, f.integer_or("latent_size", 64, 1, kMaxHidden));
  CAIRN_TRY(const double ratio, node.get_or<double>("head_ffn_ratio", 3.0));
  if (ratio <= 0 || ratio > 64) {
    return fail(f.error("head_ffn_ratio", "out of range").want("above 0, to 64"));
  }
  f.skip({"head_ffn_ratio", "speech_vae_dim"});
  CAIRN_CHECK(f.finish());
  ModelSpec spec;
  spec.part = ModelPart::audio;
  spec.output_head = spec.final_norm = false;
  spec.hidden = h;
  LayerSpec layer;
  layer.norms = 1;
  layer.feed_forward.intermediate = static_cast<std::int64_t>(ratio * static_cast<double>(h));
  layer.extras = {matrix(other, 3 * h, h)};  // shift, scale and gate of a step
  spec.layers.assign(static_cast<std::size_t>(layers), layer);
  spec.extras = {matrix(projector, h, latent),   matrix(projector, h, h),
                 matrix(other, h, kFrequencies), matrix(other, h, h),
                 matrix(other, 2 * h, h),        matrix(projector, latent, h)};
  return spec;
}

Towers vibevoice(const TowerInput& in) {
  Towers out = std::vector<ModelSpec>();
  for (const std::string_view key : {"acoustic_tokenizer_config", "semantic_tokenizer_config"}) {
    CAIRN_TRY(const Node node, described(in.root, key));
    Fields f = part_fields(node);
    CAIRN_TRY(const Tokenizer t, read_tokenizer(f));
    CAIRN_CHECK(f.finish());
    ModelSpec encoder = tokenizer_spec(t, true);
    add_connector(encoder, t.latent, in.hidden);
    out->push_back(std::move(encoder));
    // The semantic one is not turned back into sound.
    if (key.starts_with("acoustic")) out->push_back(tokenizer_spec(t, false));
  }
  CAIRN_TRY(const Node head, described(in.root, "diffusion_head_config"));
  CAIRN_TRY(ModelSpec diffusion, diffusion_head(head));
  out->push_back(std::move(diffusion));
  return out;
}

constexpr auto kTowers = std::to_array<TowerFamily>({
    {"VibeVoiceForConditionalGeneration", vibevoice},
});

}  // namespace

std::span<const TowerFamily> speech_towers() { return kTowers; }

}  // namespace cairn::hf
