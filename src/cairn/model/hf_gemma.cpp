// Gemma 3n and Gemma 4: inputs of every layer from tables of their own, layers that share
// the cache of an earlier one, and in Gemma 4 other heads in the layers without a window.
#include <algorithm>
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

MatrixSpec vector_of(TensorRole role, std::int64_t size) {
  return {.role = role, .columns = size, .use = Use::elementwise, .vector = true};
}

MatrixSpec matrix(TensorRole role, std::int64_t rows, std::int64_t columns) {
  return {.role = role, .rows = rows, .columns = columns};
}

// Of those that formats leave in 16 bits (llama.cpp src/llama-quant.cpp: altup, laurel and
// per_layer_model_proj).
MatrixSpec kept(TensorRole role, std::int64_t rows, std::int64_t columns) {
  return {.role = role, .rows = rows, .columns = columns, .vector = true};
}

// A row of `width` features for each layer and token, gated into the residual after the
// feed-forward part.
struct LayerInputs {
  std::int64_t width = 0;  // 0: none
  std::int64_t vocabulary = 0;
};

Result<LayerInputs> read_layer_inputs(Fields& f, const Dims& d) {
  constexpr std::int64_t kWidth = 256;  // of both classes in transformers
  constexpr std::int64_t kVocabulary = 262144;
  LayerInputs in;
  CAIRN_TRY(in.width, f.integer_or("hidden_size_per_layer_input", kWidth, 0, kMaxHidden));
  CAIRN_TRY(in.vocabulary,
            f.integer_or("vocab_size_per_layer_input", kVocabulary, 1, kMaxVocabulary));
  if (in.width * d.layers > kMaxInner) {
    return fail(f.error("hidden_size_per_layer_input", "out of range"));
  }
  return in;
}

void add_tables(ModelSpec& s, const Dims& d, const LayerInputs& in) {
  if (in.width == 0) return;
  const std::int64_t all = in.width * d.layers;
  s.extras.push_back({.role = TensorRole::layer_embedding,
                      .rows = in.vocabulary,
                      .columns = all,
                      .use = Use::lookup});
  s.extras.push_back(kept(TensorRole::layer_embedding_proj, all, d.hidden));
  s.extras.push_back(vector_of(TensorRole::layer_embedding_norm, in.width));
}

void add_inputs(LayerSpec& layer, const Dims& d, const LayerInputs& in) {
  if (in.width == 0) return;
  layer.extras.push_back(matrix(TensorRole::layer_input_gate, in.width, d.hidden));
  layer.extras.push_back(matrix(TensorRole::layer_input_proj, d.hidden, in.width));
  layer.extras.push_back(vector_of(TensorRole::layer_input_norm, d.hidden));
}

void norm_per_head(AttentionSpec& a) {
  a.qk_norm = true;
  a.qk_norm_dim_q = a.qk_norm_dim_k = a.head_dim;
}

// The last layers read the cache of an earlier one of their kind. The checkpoints have their
// keys' and values' matrices nevertheless, and engines load them.
void share_cache(LayerSpec& layer, const Dims& d) {
  AttentionSpec& a = layer.attention;
  a.shares_kv = true;
  MatrixSpec m = matrix(TensorRole::attn_k, a.kv_heads * a.head_dim, d.hidden);
  m.use = Use::stored;
  layer.extras.push_back(m);
  m.role = TensorRole::attn_v;
  if (!a.v_from_k) layer.extras.push_back(m);
  MatrixSpec norm = vector_of(TensorRole::attn_k_norm, a.head_dim);
  norm.use = Use::stored;
  layer.extras.push_back(norm);
}

// layer_types, else every `period`-th layer without a window; the last one never has one.
Result<std::vector<bool>> read_windows(Fields& f, const Dims& d, std::int64_t period) {
  CAIRN_TRY(const auto types, f.layer_types(static_cast<std::size_t>(d.layers)));
  std::vector<bool> local;
  local.reserve(static_cast<std::size_t>(d.layers));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    local.push_back(types ? (*types)[static_cast<std::size_t>(i)] : (i + 1) % period != 0);
  }
  local.back() = false;
  return local;
}

void slide(AttentionSpec& a, std::int64_t window, std::int64_t max_context) {
  if (window == 0 || window >= max_context) return;
  a.kind = AttentionKind::sliding;
  a.window = window;
}

// Gemma4TextConfig in transformers.
struct Gemma4 {
  AttentionSpec local;
  AttentionSpec global;
  FeedForwardSpec experts;  // beside the dense part
  bool wide_shared = false;
};

Result<Gemma4> read_gemma4(Fields& f, const Dims& d) {
  Gemma4 m;
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  CAIRN_TRY(const std::string_view both, f.text_or("use_bidirectional_attention", "vision"));
  if (both != "vision") {
    return fail(f.error("use_bidirectional_attention", "not covered").want("vision"));
  }
  m.local = make_attention(d);
  norm_per_head(m.local);
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 512, 0, kMaxContext));
  slide(m.local, window, d.max_context);
  m.global = make_attention(d);
  CAIRN_TRY(m.global.head_dim, f.integer_or("global_head_dim", 512, 1, kMaxHeadDim));
  m.global.v_head_dim = m.global.head_dim;
  CAIRN_TRY(m.global.v_from_k, f.flag("attention_k_eq_v", false));
  CAIRN_TRY(const std::int64_t kv,
            f.integer_or("num_global_key_value_heads", d.kv_heads, 1, kMaxHeads));
  if (m.global.v_from_k) m.global.kv_heads = kv;
  norm_per_head(m.global);
  CAIRN_TRY(m.wide_shared, f.flag("use_double_wide_mlp", false));
  CAIRN_TRY(const bool mixture, f.flag("enable_moe_block", false));
  f.skip({"num_experts", "top_k_experts", "moe_intermediate_size", "expert_intermediate_size"});
  if (!mixture) return m;
  CAIRN_TRY(m.experts.experts, f.integer("num_experts", 1, kMaxExperts));
  CAIRN_TRY(m.experts.experts_per_token, f.integer("top_k_experts", 1, kMaxExperts));
  CAIRN_TRY(m.experts.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  return m;
}

// Experts run beside the dense part, on another norm of the same residual; each part has a
// norm after it. Router inputs and experts' outputs are scaled.
void add_mixture(LayerSpec& layer, const Dims& d, const FeedForwardSpec& experts) {
  const std::int64_t inner = layer.feed_forward.intermediate;
  layer.feed_forward = experts;
  layer.feed_forward.intermediate = inner;
  layer.extras.push_back(vector_of(TensorRole::expert_norm, d.hidden));
  layer.extras.push_back(vector_of(TensorRole::expert_post_norm, d.hidden));
  layer.extras.push_back(vector_of(TensorRole::expert_post_norm, d.hidden));
  layer.extras.push_back(vector_of(TensorRole::router_scale, d.hidden));
  layer.extras.push_back(vector_of(TensorRole::expert_scale, experts.experts));
}

constexpr Dims kGemma4 = {.hidden = 2304,
                          .layers = 30,
                          .heads = 8,
                          .kv_heads = 4,
                          .head_dim = 256,
                          .intermediate = 9216,
                          .vocabulary = 262144,
                          .max_context = 131072};

Result<ModelSpec> gemma4(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f, kGemma4));
  CAIRN_TRY(const Gemma4 m, read_gemma4(f, d));
  CAIRN_TRY(const LayerInputs inputs, read_layer_inputs(f, d));
  CAIRN_TRY(const std::vector<bool> local, read_windows(f, d, 6));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("num_kv_shared_layers", 0, 0, d.layers));
  ModelSpec s = make_spec(d, "gemma4");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  add_tables(s, d, inputs);
  for (std::int64_t i = 0; i < d.layers; ++i) {
    LayerSpec layer;
    layer.norms = 4;
    layer.attention = local[static_cast<std::size_t>(i)] ? m.local : m.global;
    const bool shares = i >= d.layers - shared;
    layer.feed_forward.intermediate = d.intermediate * (m.wide_shared && shares ? 2 : 1);
    if (m.experts.experts > 0) add_mixture(layer, d, m.experts);
    if (shares) share_cache(layer, d);
    add_inputs(layer, d, inputs);
    layer.extras.push_back(vector_of(TensorRole::layer_scale, 1));
    s.layers.push_back(layer);
  }
  return s;
}

constexpr Dims kGemma3n = {.hidden = 2048,
                           .layers = 35,
                           .heads = 8,
                           .kv_heads = 2,
                           .head_dim = 256,
                           .intermediate = 16384,
                           .vocabulary = 262400,
                           .max_context = 32768};

struct Gemma3n {
  std::int64_t streams = 4;  // of the residual (AltUp, arXiv:2301.13310)
  std::int64_t laurel = 64;  // rank of the learned residual (LAuReL, arXiv:2411.07501)
};

// One stream passes through attention and feed-forward; the others are predicted from all
// streams, and corrected by what the layer did with that one.
void add_altup(LayerSpec& layer, const Dims& d, const Gemma3n& m) {
  const std::int64_t n = m.streams;
  layer.extras.push_back(kept(TensorRole::residual_mix, n, d.hidden));
  layer.extras.push_back(kept(TensorRole::residual_mix, n, n));
  layer.extras.push_back(kept(TensorRole::residual_mix, n * n, n));
  layer.extras.push_back(vector_of(TensorRole::residual_norm, d.hidden));
  layer.extras.push_back(vector_of(TensorRole::layer_scale, d.hidden));
  layer.extras.push_back(kept(TensorRole::residual_mix, m.laurel, d.hidden));
  layer.extras.push_back(kept(TensorRole::residual_mix, d.hidden, m.laurel));
  layer.extras.push_back(vector_of(TensorRole::residual_norm, d.hidden));
}

// intermediate_size is a number or a list of one for each layer.
Result<std::vector<std::int64_t>> read_inner(Fields& f, const Dims& d) {
  const auto layers = static_cast<std::size_t>(d.layers);
  const auto node = f.node().find_value("intermediate_size");
  if (!node || !node->is_sequence()) {
    CAIRN_TRY(const std::int64_t one,
              f.integer_nested("intermediate_size", kGemma3n.intermediate, 1, kMaxInner));
    return std::vector<std::int64_t>(layers, one);
  }
  CAIRN_TRY(const auto list, f.integers("intermediate_size", layers, 1, kMaxInner));
  return list.value_or(std::vector<std::int64_t>(layers, kGemma3n.intermediate));
}

Result<ModelSpec> gemma3n(Fields& f) {
  CAIRN_TRY(const Dims d, read_outer_dims(f, kGemma3n));
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  Gemma3n m;
  CAIRN_TRY(m.streams, f.integer_or("altup_num_inputs", m.streams, 1, 64));
  CAIRN_TRY(m.laurel, f.integer_or("laurel_rank", m.laurel, 1, kMaxHidden));
  f.skip({"activation_sparsity_pattern", "altup_lr_multiplier"});
  CAIRN_TRY(const std::vector<std::int64_t> inner, read_inner(f, d));
  CAIRN_TRY(const LayerInputs inputs, read_layer_inputs(f, d));
  CAIRN_TRY(const std::vector<bool> local, read_windows(f, d, 5));
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 512, 0, kMaxContext));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("num_kv_shared_layers", 15, 0, d.layers));
  ModelSpec s = make_spec(d, "gemma3n");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  add_tables(s, d, inputs);
  // Streams are made from the embedding, and made one again before the head.
  MatrixSpec streams = kept(TensorRole::residual_mix, d.hidden, d.hidden);
  streams.stack = m.streams - 1;
  if (streams.stack > 0) s.extras.insert(s.extras.end(), 2, streams);
  for (std::int64_t i = 0; i < d.layers; ++i) {
    LayerSpec layer;
    layer.norms = 4;
    layer.attention = make_attention(d);
    norm_per_head(layer.attention);
    if (local[static_cast<std::size_t>(i)]) slide(layer.attention, window, d.max_context);
    layer.feed_forward.intermediate = inner[static_cast<std::size_t>(i)];
    if (i >= d.layers - shared) share_cache(layer, d);
    add_inputs(layer, d, inputs);
    add_altup(layer, d, m);
    s.layers.push_back(layer);
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"Gemma4ForCausalLM", "gemma4_text", gemma4},
    {"Gemma3nForCausalLM", "gemma3n_text", gemma3n},
});

}  // namespace

std::span<const Family> gemma_families() { return kFamilies; }

}  // namespace cairn::hf
