// Dense decoders of the Llama kind: pre-norm or sandwich blocks with rotary
// positions, described by what sets a family apart.
#include <algorithm>
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

/// Which layers attend to a window.
enum class Windows : std::uint8_t {
  none,
  all,      // sliding_window holds for every layer (Mistral, Phi-3)
  upper,    // use_sliding_window: the layers from max_window_layers on (Qwen 2)
  pattern,  // every n-th layer is full, the others slide (Gemma, Command R7B, OLMo 3)
};

enum class QkNorm : std::uint8_t { none, per_head, all_heads };

/// A boolean field that switches biases; `fallback` where the file leaves it out.
struct BiasField {
  std::string_view key = {};
  bool fallback = false;
};

struct Traits {
  std::string_view family;
  bool tied = false;  // default of tie_word_embeddings
  BiasField qkv_bias = {};
  BiasField o_bias = {};
  BiasField ffn_bias = {};
  QkNorm qk_norm = QkNorm::none;
  BiasField qk_norm_field = {.key = {}, .fallback = true};
  std::int64_t norms = 2;
  bool norms_after = false;
  bool norm_bias = false;
  bool gated = true;
  Windows windows = Windows::none;
  std::int64_t pattern = 0;
  Dims nested = {};
};

Result<bool> bias(Fields& f, const BiasField& field) {
  return field.key.empty() ? Result<bool>(field.fallback) : f.flag(field.key, field.fallback);
}

// "LLLG" names the layers of one period; a number is its length.
Result<std::int64_t> period(Fields& f, std::int64_t fallback) {
  const std::string_view key = f.any({"sliding_window_pattern", "_sliding_window_pattern"});
  const auto node = f.node().find_value(key);
  if (node && node->is_string()) {
    CAIRN_TRY(const std::string_view letters, node->string());
    if (letters.empty() || letters.back() != 'G' ||
        letters.find_first_not_of('L') + 1 != letters.size()) {
      return fail(f.error(key, "a pattern of layers that is not covered").want("L...LG"));
    }
    return static_cast<std::int64_t>(letters.size());
  }
  return f.integer_or(key, fallback, 1, kMaxLayers);
}

Result<std::vector<bool>> sliding_layers(Fields& f, const Traits& t, const Dims& d) {
  const auto layers = static_cast<std::size_t>(d.layers);
  std::vector<bool> sliding(layers, false);
  CAIRN_TRY(const auto types, f.layer_types(layers));
  if (types) {
    f.skip({"sliding_window_pattern", "_sliding_window_pattern"});
    return *types;
  }
  if (t.windows == Windows::none) return sliding;
  std::int64_t first = 0;
  std::int64_t every = 0;
  if (t.windows == Windows::upper) {
    CAIRN_TRY(const bool on, f.flag("use_sliding_window", false));
    CAIRN_TRY(first, f.integer_or("max_window_layers", d.layers, 0, kMaxLayers));
    if (!on) return sliding;
  }
  if (t.windows == Windows::pattern) {
    CAIRN_TRY(every, period(f, t.pattern));
  }
  for (std::size_t i = 0; i < layers; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    sliding[i] = n >= first && (every == 0 || (n + 1) % every != 0);
  }
  return sliding;
}

Result<AttentionSpec> read_attention(Fields& f, const Traits& t, const Dims& d) {
  AttentionSpec a = make_attention(d);
  CAIRN_TRY(a.qkv_bias, bias(f, t.qkv_bias));
  CAIRN_TRY(a.o_bias, bias(f, t.o_bias));
  if (t.qk_norm == QkNorm::none) return a;
  CAIRN_TRY(a.qk_norm, bias(f, t.qk_norm_field));
  if (!a.qk_norm) return a;
  const bool all = t.qk_norm == QkNorm::all_heads;
  a.qk_norm_dim_q = all ? d.heads * d.head_dim : d.head_dim;
  a.qk_norm_dim_k = all ? d.kv_heads * d.head_dim : d.head_dim;
  return a;
}

Result<ModelSpec> read_dense(Fields& f, const Traits& t) {
  CAIRN_TRY(const Dims d, read_dims(f, t.nested));
  ModelSpec s = make_spec(d, t.family);
  LayerSpec layer;
  CAIRN_TRY(layer.attention, read_attention(f, t, d));
  layer.feed_forward.gated = t.gated;
  layer.feed_forward.intermediate = d.intermediate;
  CAIRN_TRY(layer.feed_forward.bias, bias(f, t.ffn_bias));
  layer.norms = t.norms;
  layer.norms_after = t.norms_after;
  layer.norm_bias = t.norm_bias;
  s.final_norm_bias = t.norm_bias;
  CAIRN_TRY(s.tied_embeddings, f.tied(t.tied));
  CAIRN_TRY(const std::vector<bool> sliding, sliding_layers(f, t, d));
  std::int64_t window = 0;
  // Left unread, and so refused, where the family has no windows.
  if (t.windows != Windows::none || std::ranges::find(sliding, true) != sliding.end()) {
    CAIRN_TRY(window, f.integer_or("sliding_window", 0, 0, kMaxContext));
  }
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  // vllm/model_executor/models/mimo_mtp.py (https://github.com/vllm-project/vllm)
  add_drafts(s, drafts, layer, {});
  for (const bool local : sliding) {
    s.layers.push_back(layer);
    // A window as long as the context limits nothing.
    if (!local || window == 0 || window >= d.max_context) continue;
    s.layers.back().attention.kind = AttentionKind::sliding;
    s.layers.back().attention.window = window;
  }
  return s;
}

constexpr BiasField kAlways = {.key = {}, .fallback = true};
constexpr BiasField kAttentionBias = {.key = "attention_bias"};

// The defaults of LlamaConfig, MistralConfig, Qwen2Config, Qwen3VLTextConfig,
// GemmaConfig, Gemma3TextConfig and Phi3Config in transformers.
constexpr Dims kLlama = {.hidden = 4096,
                         .layers = 32,
                         .heads = 32,
                         .kv_heads = 0,
                         .head_dim = 0,
                         .intermediate = 11008,
                         .vocabulary = 32000,
                         .max_context = 2048};
constexpr Dims kMistral = {.hidden = 4096,
                           .layers = 32,
                           .heads = 32,
                           .kv_heads = 8,
                           .head_dim = 0,
                           .intermediate = 14336,
                           .vocabulary = 32000,
                           .max_context = 131072};
constexpr Dims kQwen2 = {.hidden = 4096,
                         .layers = 32,
                         .heads = 32,
                         .kv_heads = 32,
                         .head_dim = 0,
                         .intermediate = 22016,
                         .vocabulary = 151936,
                         .max_context = 32768};
constexpr Dims kGemma = {.hidden = 3072,
                         .layers = 28,
                         .heads = 16,
                         .kv_heads = 16,
                         .head_dim = 256,
                         .intermediate = 24576,
                         .vocabulary = 256000,
                         .max_context = 8192};
constexpr Dims kGemma3 = {.hidden = 2304,
                          .layers = 26,
                          .heads = 8,
                          .kv_heads = 4,
                          .head_dim = 256,
                          .intermediate = 9216,
                          .vocabulary = 262208,
                          .max_context = 131072};

Result<ModelSpec> llama(Fields& f) {
  f.skip({"pretraining_tp", "context_window_size", "prefill_chunk_size"});
  return read_dense(f, {.family = "llama",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .ffn_bias = {.key = "mlp_bias"},
                        .nested = kLlama});
}

Result<ModelSpec> mistral(Fields& f) {
  return read_dense(f, {.family = "mistral", .windows = Windows::all, .nested = kMistral});
}

Result<ModelSpec> qwen2(Fields& f) {
  return read_dense(
      f, {.family = "qwen2", .qkv_bias = kAlways, .windows = Windows::upper, .nested = kQwen2});
}

// MiniCPM-V 2.6 is built on Qwen 2; other versions on other models.
Result<ModelSpec> minicpmv(Fields& f) {
  CAIRN_TRY(const double version, f.node().get<double>("version"));
  if (version != 2.6) return fail(f.error("version", "not covered").want("2.6"));
  f.skip({"drop_vision_last_layer"});
  return qwen2(f);
}

Result<ModelSpec> mimo(Fields& f) {
  CAIRN_CHECK(f.refuse("tie_word_embeddings", "a tied head is not covered for this family"));
  return read_dense(f, {.family = "mimo",
                        .qkv_bias = {.key = "attention_bias", .fallback = true},
                        .windows = Windows::upper});
}

Result<ModelSpec> qwen3(Fields& f) {
  return read_dense(f, {.family = "qwen3",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::per_head,
                        .windows = Windows::upper});
}

Result<ModelSpec> phi3(Fields& f) {
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  CAIRN_CHECK(f.refuse("mlp_bias", "a bias is not covered for this family"));
  CAIRN_CHECK(f.refuse("lm_head_bias", "a bias is not covered for this family"));
  f.skip({"full_attn_mod", "embd_layer", "img_processor"});
  return read_dense(f, {.family = "phi3", .windows = Windows::all});
}

Result<ModelSpec> gemma(Fields& f) {
  f.skip({"use_bidirectional_attention"});  // within a prompt with an image (PaliGemma)
  return read_dense(f, {.family = "gemma",
                        .tied = true,
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .nested = kGemma});
}

Result<ModelSpec> gemma2(Fields& f) {
  f.skip({"sliding_window_size"});
  return read_dense(f, {.family = "gemma2",
                        .tied = true,
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .norms = 4,
                        .windows = Windows::pattern,
                        .pattern = 2});
}

Result<ModelSpec> gemma3(Fields& f) {
  CAIRN_CHECK(f.refuse("use_bidirectional_attention", "attention both ways is not covered"));
  return read_dense(f, {.family = "gemma3",
                        .tied = true,
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::per_head,
                        .norms = 4,
                        .windows = Windows::pattern,
                        .pattern = 6,
                        .nested = kGemma3});
}

Result<ModelSpec> internlm2(Fields& f) {
  return read_dense(
      f, {.family = "internlm2", .qkv_bias = {.key = "bias"}, .o_bias = {.key = "bias"}});
}

Result<ModelSpec> internlm(Fields& f) {
  constexpr BiasField kBias = {.key = "bias", .fallback = true};
  return read_dense(f, {.family = "internlm", .qkv_bias = kBias, .o_bias = kBias});
}

Result<ModelSpec> baichuan(Fields& f) {
  f.skip({"z_loss_weight"});
  return read_dense(f, {.family = "baichuan"});
}

Result<ModelSpec> xverse(Fields& f) { return read_dense(f, {.family = "xverse"}); }

Result<ModelSpec> orion(Fields& f) {
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  return read_dense(f, {.family = "orion", .norm_bias = true});
}

Result<ModelSpec> granite(Fields& f) {
  return read_dense(f, {.family = "granite",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .ffn_bias = {.key = "mlp_bias"}});
}

Result<ModelSpec> olmo2(Fields& f) {
  return read_dense(f, {.family = "olmo2",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::all_heads,
                        .norms_after = true});
}

Result<ModelSpec> olmo3(Fields& f) {
  return read_dense(f, {.family = "olmo3",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::all_heads,
                        .norms_after = true,
                        .windows = Windows::pattern,
                        .pattern = 4});
}

Result<ModelSpec> stablelm(Fields& f) {
  CAIRN_TRY(const bool parallel, f.flag("use_parallel_residual", false));
  return read_dense(f, {.family = "stablelm",
                        .qkv_bias = {.key = "use_qkv_bias"},
                        .qk_norm = QkNorm::all_heads,
                        .qk_norm_field = {.key = "qk_layernorm"},
                        .norms = parallel ? 1 : 2,
                        .norm_bias = true});
}

Result<ModelSpec> starcoder2(Fields& f) {
  constexpr BiasField kBias = {.key = "use_bias", .fallback = true};
  CAIRN_TRY(const std::string_view mlp, f.text_or("mlp_type", "default"));
  if (mlp != "default") return fail(f.error("mlp_type", "not covered").want("default"));
  CAIRN_TRY(const std::string_view norm, f.text_or("norm_type", "layer_norm"));
  if (norm != "layer_norm") return fail(f.error("norm_type", "not covered").want("layer_norm"));
  return read_dense(f, {.family = "starcoder2",
                        .tied = true,
                        .qkv_bias = kBias,
                        .o_bias = kBias,
                        .ffn_bias = kBias,
                        .norm_bias = true,
                        .gated = false,
                        .windows = Windows::all});
}

Result<ModelSpec> cohere(Fields& f) {
  return read_dense(f, {.family = "cohere",
                        .tied = true,
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::all_heads,
                        .qk_norm_field = {.key = "use_qk_norm"},
                        .norms = 1});
}

Result<ModelSpec> cohere2(Fields& f) {
  f.skip({"order_of_interleaved_layers", "layer_switch"});
  return read_dense(f, {.family = "cohere2",
                        .tied = true,
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .norms = 1,
                        .windows = Windows::pattern,
                        .pattern = 4});
}

Result<ModelSpec> exaone(Fields& f) {
  CAIRN_CHECK(f.required_flag("tie_word_embeddings"));
  return read_dense(f, {.family = "exaone"});
}

Result<ModelSpec> exaone4(Fields& f) {
  return read_dense(f, {.family = "exaone4",
                        .qk_norm = QkNorm::per_head,
                        .norms_after = true,
                        .windows = Windows::pattern,
                        .pattern = 4});
}

Result<ModelSpec> glm(Fields& f) {
  return read_dense(f, {.family = "glm4", .qkv_bias = kAttentionBias});
}

Result<ModelSpec> glm4(Fields& f) {
  return read_dense(f, {.family = "glm4-0414", .qkv_bias = kAttentionBias, .norms = 4});
}

Result<ModelSpec> glm4v(Fields& f) {
  CAIRN_CHECK(f.required_flag("attention_bias"));
  return read_dense(f, {.family = "glm4-0414", .qkv_bias = kAlways, .norms = 4});
}

Result<ModelSpec> seed_oss(Fields& f) {
  return read_dense(f, {.family = "seed-oss",
                        .qkv_bias = {.key = "attention_bias", .fallback = true},
                        .o_bias = {.key = "attention_out_bias"},
                        .ffn_bias = {.key = "mlp_bias"}});
}

Result<ModelSpec> ernie4_5(Fields& f) {
  constexpr BiasField kBias = {.key = "use_bias"};
  return read_dense(
      f,
      {.family = "ernie4.5", .tied = true, .qkv_bias = kBias, .o_bias = kBias, .ffn_bias = kBias});
}

Result<ModelSpec> hunyuan(Fields& f) {
  return read_dense(f, {.family = "hunyuan",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .qk_norm = QkNorm::per_head,
                        .qk_norm_field = {.key = "use_qk_norm"}});
}

Result<ModelSpec> arcee(Fields& f) {
  return read_dense(f, {.family = "arcee",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .ffn_bias = {.key = "mlp_bias"},
                        .gated = false});
}

Result<ModelSpec> nemotron(Fields& f) {
  return read_dense(f, {.family = "nemotron",
                        .qkv_bias = kAttentionBias,
                        .o_bias = kAttentionBias,
                        .ffn_bias = {.key = "mlp_bias"},
                        .norm_bias = true,
                        .gated = false});
}

constexpr auto kFamilies = std::to_array<Family>({
    {"LlamaForCausalLM", "llama", llama},
    {"LlavaLlamaForCausalLM", {}, llama},
    {"MistralForCausalLM", "mistral", mistral},
    {"LlamaModel", {}, llama},
    {"MistralModel", {}, mistral},
    {"Qwen2Model", {}, qwen2},
    {"Qwen3Model", {}, qwen3},
    {"Ministral3ForCausalLM", "ministral3", mistral},
    {"Qwen2ForCausalLM", "qwen2", qwen2},
    {"Qwen2VLForConditionalGeneration", "qwen2_vl_text", qwen2},
    {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl_text", qwen2},
    {"Qwen2_5OmniForConditionalGeneration", "qwen2_5_omni_text", qwen2},
    {"MiniCPMV", {}, minicpmv},
    {"MiMoForCausalLM", "mimo", mimo},
    {"Qwen3ForCausalLM", "qwen3", qwen3},
    {"Qwen3VLTextModel", "qwen3_vl_text", qwen3},
    {"Phi3ForCausalLM", "phi3", phi3},
    {"Phi3VForCausalLM", {}, phi3},
    {"GemmaForCausalLM", "gemma", gemma},
    {"Gemma2ForCausalLM", "gemma2", gemma2},
    {"Gemma3ForCausalLM", "gemma3_text", gemma3},
    {"InternLM2ForCausalLM", "internlm2", internlm2},
    {"InternLMForCausalLM", "internlm", internlm},
    {"BaichuanForCausalLM", "baichuan", baichuan},
    {"XverseForCausalLM", "xverse", xverse},
    {"OrionForCausalLM", "orion", orion},
    {"GraniteForCausalLM", "granite", granite},
    {"Olmo2ForCausalLM", "olmo2", olmo2},
    {"Olmo3ForCausalLM", "olmo3", olmo3},
    {"StableLmForCausalLM", "stablelm", stablelm},
    {"Starcoder2ForCausalLM", "starcoder2", starcoder2},
    {"CohereForCausalLM", "cohere", cohere},
    {"Cohere2ForCausalLM", "cohere2", cohere2},
    {"ExaoneForCausalLM", "exaone", exaone},
    {"Exaone4ForCausalLM", "exaone4", exaone4},
    {"GlmForCausalLM", "glm", glm},
    {"Glm4ForCausalLM", "glm4", glm4},
    {"Glm4vForConditionalGeneration", "glm4v_text", glm4v},
    {"SeedOssForCausalLM", "seed_oss", seed_oss},
    {"Ernie4_5ForCausalLM", "ernie4_5", ernie4_5},
    {"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", hunyuan},
    {"ArceeForCausalLM", "arcee", arcee},
    {"NemotronForCausalLM", "nemotron", nemotron},
});

}  // namespace

std::span<const Family> dense_families() { return kFamilies; }

}  // namespace cairn::hf
