// State spaces, alone and beside attention: Mamba, Mamba 2, Jamba, Bamba, Granite 4,
// Falcon-H1, Nemotron-H.
#include <algorithm>
#include <array>
#include <string>

#include "cairn/model/hf_recurrent.h"

namespace cairn::hf {
namespace {

// Models without attention have no limit of positions; llama.cpp's converter writes this
// (MambaModel.set_gguf_parameters, convert_hf_to_gguf.py).
constexpr std::int64_t kUnlimited = 1 << 20;

Result<Dims> headless_dims(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  d.max_context = kUnlimited;
  return d;
}

Result<ModelSpec> only(Fields& f, std::string_view family, const Dims& d, const RecurrentSpec& r,
                       bool tied) {
  f.skip({"residual_in_fp32", "hidden_act", "layer_norm_epsilon"});
  ModelSpec s = make_spec(d, family);
  CAIRN_TRY(s.tied_embeddings, f.tied(tied));
  LayerSpec layer;
  layer.recurrent = r;
  layer.norms = 1;
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/mamba;
// falcon_mamba has norms of dt, B and C without weights.
Result<ModelSpec> mamba_of(Fields& f, std::string_view family) {
  CAIRN_TRY(const Dims d, headless_dims(f));
  CAIRN_TRY(const std::int64_t expand, f.integer_or("expand", 2, 1, 64));
  CAIRN_TRY(const std::int64_t inner,
            f.integer_or("intermediate_size", expand * d.hidden, 1, kMaxInner));
  CAIRN_TRY(const std::int64_t state, f.integer_or("state_size", 16, 1, kMaxHeadDim));
  CAIRN_TRY(const std::int64_t conv, f.integer_or("conv_kernel", 4, 1, 1024));
  CAIRN_TRY(const std::int64_t rank, step_rank(f, "time_step_rank", d.hidden));
  RecurrentSpec r = selective(inner, state, conv, rank);
  CAIRN_TRY(r.bias, f.flag("use_bias", false));
  CAIRN_TRY(r.conv_bias, f.flag("use_conv_bias", true));
  f.skip({"use_mambapy", "use_falcon_mambapy", "mixer_rms_eps"});
  return only(f, family, d, r, true);
}

Result<ModelSpec> mamba(Fields& f) { return mamba_of(f, "mamba"); }
Result<ModelSpec> falcon_mamba(Fields& f) { return mamba_of(f, "falcon-mamba"); }

Result<ModelSpec> mamba2(Fields& f) {
  CAIRN_TRY(const Dims d, headless_dims(f));
  RecurrentSpec r;
  r.kind = RecurrentKind::mamba2;
  CAIRN_TRY(r.heads, f.integer("num_heads", 1, kMaxHeads));
  CAIRN_TRY(r.value_dim, f.integer("head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(r.key_heads, f.integer("n_groups", 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, f.integer("state_size", 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, f.integer("conv_kernel", 1, 1024));
  CAIRN_TRY(r.bias, f.flag("use_bias", false));
  CAIRN_TRY(r.conv_bias, f.flag("use_conv_bias", true));
  CAIRN_TRY(const bool norm, f.flag("rms_norm", true));
  if (norm) r.norm_dim = r.inner();
  f.skip({"intermediate_size", "chunk_size", "norm_before_gate", "A_initializer_range"});
  return only(f, "mamba2", d, r, false);
}

/// The fields that Jamba, Bamba, Granite 4 and Falcon-H1 have in common.
Result<RecurrentSpec> read_mamba2(Fields& f, std::int64_t hidden) {
  RecurrentSpec r;
  r.kind = RecurrentKind::mamba2;
  CAIRN_TRY(const std::int64_t expand, f.integer_or("mamba_expand", 2, 1, 64));
  CAIRN_TRY(const std::int64_t inner, f.integer_or("mamba_d_ssm", expand * hidden, 1, kMaxInner));
  CAIRN_TRY(r.heads, f.integer("mamba_n_heads", 1, kMaxHeads));
  if (inner % r.heads != 0) {
    return fail(f.error("mamba_n_heads", "heads that do not divide the inner features")
                    .want("a divisor of " + std::to_string(inner)));
  }
  r.value_dim = inner / r.heads;
  CAIRN_TRY(r.key_heads, f.integer_or("mamba_n_groups", 1, 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, f.integer("mamba_d_state", 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, f.integer("mamba_d_conv", 1, 1024));
  CAIRN_TRY(r.conv_bias, f.flag("mamba_conv_bias", true));
  CAIRN_TRY(r.bias, f.flag("mamba_proj_bias", false));
  r.norm_dim = inner;
  f.skip({"mamba_d_head", "mamba_chunk_size", "use_mamba_kernels", "num_logits_to_keep",
          "mamba_dt_rank", "mamba_norm_before_gate"});
  return r;
}

struct Period {
  std::int64_t period = 1;
  std::int64_t offset = 0;
  [[nodiscard]] bool at(std::int64_t i) const { return i % period == offset; }
};

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/jamba
Result<ModelSpec> jamba(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("sliding_window", "windows are not covered for this family"));
  f.skip({"use_mamba_kernels", "num_logits_to_keep", "mamba_inner_layernorms"});
  CAIRN_TRY(const std::int64_t expand, f.integer_or("mamba_expand", 2, 1, 64));
  CAIRN_TRY(const std::int64_t state, f.integer_or("mamba_d_state", 16, 1, kMaxHeadDim));
  CAIRN_TRY(const std::int64_t conv, f.integer_or("mamba_d_conv", 4, 1, 1024));
  CAIRN_TRY(const std::int64_t rank, step_rank(f, "mamba_dt_rank", d.hidden));
  LayerSpec space;
  space.recurrent = selective(expand * d.hidden, state, conv, rank);
  space.recurrent.inner_norms = true;
  CAIRN_TRY(space.recurrent.conv_bias, f.flag("mamba_conv_bias", true));
  CAIRN_TRY(space.recurrent.bias, f.flag("mamba_proj_bias", false));
  LayerSpec full;
  full.attention = make_attention(d);
  Period attention;
  Period mixture;
  CAIRN_TRY(attention.period, f.integer_or("attn_layer_period", 8, 1, kMaxLayers));
  CAIRN_TRY(attention.offset, f.integer_or("attn_layer_offset", 4, 0, kMaxLayers));
  CAIRN_TRY(mixture.period, f.integer_or("expert_layer_period", 2, 1, kMaxLayers));
  CAIRN_TRY(mixture.offset, f.integer_or("expert_layer_offset", 1, 0, kMaxLayers));
  FeedForwardSpec experts;
  CAIRN_TRY(experts.experts, f.integer_or("num_experts", 16, 1, kMaxExperts));
  CAIRN_TRY(experts.experts_per_token, f.integer_or("num_experts_per_tok", 2, 1, kMaxExperts));
  experts.expert_intermediate = d.intermediate;
  ModelSpec s = make_spec(d, "jamba");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(attention.at(i) ? full : space);
    // "Mixtures" of one expert are dense.
    s.layers.back().feed_forward =
        experts.experts > 1 && mixture.at(i) ? experts : gated_ffn(d.intermediate);
  }
  return s;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/bamba
Result<ModelSpec> bamba(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec space;
  CAIRN_TRY(space.recurrent, read_mamba2(f, d.hidden));
  LayerSpec full;
  full.attention = make_attention(d);
  CAIRN_TRY(full.attention.qkv_bias, f.flag("attention_bias", false));
  full.attention.o_bias = full.attention.qkv_bias;
  CAIRN_TRY(const bool bias, f.flag("mlp_bias", false));
  ModelSpec s = make_spec(d, "bamba");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  space.feed_forward = full.feed_forward = gated_ffn(d.intermediate, bias);
  if (!f.has("attn_layer_indices")) {
    return fail(f.error("attn_layer_indices", "missing").want("a list of layers"));
  }
  CAIRN_TRY(const std::vector<bool> attends, marked_layers(f, "attn_layer_indices", d.layers));
  for (const bool attention : attends) s.layers.push_back(attention ? full : space);
  return s;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/granitemoehybrid:
// a dense part in every layer, beside experts where there are any.
Result<ModelSpec> granite_hybrid(Fields& f) {
  constexpr auto kNames = std::to_array<LayerName>({{"mamba", 1}, {"attention", 0}});
  CAIRN_TRY(const Dims d, read_dims(f));
  f.skip({"normalization_function", "position_embedding_type", "init_method"});
  CAIRN_TRY(const auto names, layer_names(f, "layer_types", kNames));
  if (names && names->size() != static_cast<std::size_t>(d.layers)) {
    return fail(f.error("layer_types", "one type for each layer is needed"));
  }
  FeedForwardSpec dense;
  CAIRN_TRY(dense.intermediate, f.integer("shared_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t experts, f.integer_or("num_local_experts", 0, 0, kMaxExperts));
  FeedForwardSpec all = dense;
  if (experts > 0) {
    all = {.experts = experts,
           .expert_intermediate = d.intermediate,
           .shared_intermediate = dense.intermediate};
    CAIRN_TRY(all.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  }
  f.skip({"num_experts_per_tok"});
  LayerSpec full;
  full.attention = make_attention(d);
  CAIRN_TRY(full.attention.qkv_bias, f.flag("attention_bias", false));
  full.attention.o_bias = full.attention.qkv_bias;
  LayerSpec space;
  CAIRN_TRY(space.recurrent, read_mamba2(f, d.hidden));
  full.feed_forward = space.feed_forward = all;
  ModelSpec s = make_spec(d, "granite-hybrid");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(!names || (*names)[static_cast<std::size_t>(i)] == 1 ? space : full);
  }
  return s;
}

// Attention and a state space on the same input in every layer:
// https://github.com/huggingface/transformers/tree/main/src/transformers/models/falcon_h1.
// The projection out has a bias of its own, which the published models have not.
Result<ModelSpec> falcon_h1(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("projectors_bias", "a bias in the projections is not covered"));
  CAIRN_CHECK(f.refuse("attn_layer_indices", "attention in some layers only is not covered"));
  f.skip({"attention_in_multiplier", "attention_out_multiplier", "embedding_multiplier",
          "key_multiplier", "lm_head_multiplier", "mlp_multipliers", "ssm_in_multiplier",
          "ssm_multipliers", "ssm_out_multiplier", "mamba_use_mlp", "mlp_expansion_factor",
          "time_step_rank"});
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(layer.recurrent, read_mamba2(f, d.hidden));
  CAIRN_TRY(const bool norm, f.flag("mamba_rms_norm", false));
  if (!norm) layer.recurrent.norm_dim = 0;
  CAIRN_TRY(const bool bias, f.flag("mlp_bias", false));
  layer.feed_forward = gated_ffn(d.intermediate, bias);
  ModelSpec s = make_spec(d, "falcon-h1");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

enum NemotronKind : int { kSpace, kAttention, kDense, kMixture };

// "M-M*..." or a list of names.
Result<std::vector<int>> nemotron_pattern(Fields& f, std::string_view letters,
                                          std::string_view list) {
  constexpr auto kNames = std::to_array<LayerName>(
      {{"mamba", kSpace}, {"attention", kAttention}, {"mlp", kDense}, {"moe", kMixture}});
  constexpr std::string_view kLetters = "M*-E";
  CAIRN_TRY(const auto named, layer_names(f, list, kNames));
  CAIRN_TRY(const std::string_view pattern, f.text_or(letters, ""));
  if (named) return *named;
  std::vector<int> out;
  for (const char c : pattern) {
    const auto at = kLetters.find(c);
    if (at == std::string_view::npos) {
      return fail(f.error(letters, "a type of layer that is not covered").want("M, *, - and E"));
    }
    out.push_back(static_cast<int>(at));
  }
  return out;
}

Result<RecurrentSpec> nemotron_space(Fields& f) {
  RecurrentSpec r;
  r.kind = RecurrentKind::mamba2;
  CAIRN_TRY(r.heads, f.integer("mamba_num_heads", 1, kMaxHeads));
  CAIRN_TRY(r.value_dim, f.integer("mamba_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(r.key_heads, f.integer("n_groups", 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, f.integer("ssm_state_size", 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, f.integer("conv_kernel", 1, 1024));
  CAIRN_TRY(r.conv_bias, f.flag("use_conv_bias", true));
  CAIRN_TRY(r.bias, f.flag("use_bias", false));
  r.norm_dim = r.inner();
  CAIRN_TRY(const std::string_view state, f.text_or("mamba_ssm_cache_dtype", ""));
  r.wide_state = state == "float32";
  f.skip({"mamba_proj_bias", "mamba_hidden_act", "chunk_size", "use_mamba_kernels",
          "residual_in_fp32", "rescale_prenorm_residual", "expand", "num_logits_to_keep",
          "time_step_rank"});
  return r;
}

Result<AttentionSpec> nemotron_attention(Fields& f) {
  AttentionSpec a;
  CAIRN_CHECK(f.refuse("sliding_window", "windows are not covered for this family"));
  CAIRN_TRY(a.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(a.kv_heads, f.integer_or("num_key_value_heads", a.heads, 1, kMaxHeads));
  CAIRN_TRY(a.head_dim, f.integer(f.any({"head_dim", "attention_head_dim"}), 1, kMaxHeadDim));
  CAIRN_TRY(a.qkv_bias, f.flag("attention_bias", false));
  a.v_head_dim = a.head_dim;
  a.o_bias = a.qkv_bias;
  return a;
}

// Two matrices and a squared ReLU; experts on a latent where moe_latent_size says so.
Result<FeedForwardSpec> nemotron_experts(Fields& f) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer("n_routed_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("n_shared_experts", 0, 0, kMaxExperts));
  CAIRN_TRY(const std::int64_t inner,
            f.integer_or("moe_shared_expert_intermediate_size", 0, 0, kMaxInner));
  e.shared_intermediate = shared * inner;
  CAIRN_TRY(e.latent, f.integer_or("moe_latent_size", 0, 0, kMaxHidden));
  e.gated = false;
  e.router_bias = true;
  f.skip({"moe_shared_expert_overlap"});
  return e;
}

// https://huggingface.co/nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16/blob/main/modeling_nemotron_h.py:
// each layer is one norm and a state space, attention, a feed-forward or experts.
Result<ModelSpec> nemotron_h(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(const std::vector<int> kinds,
            nemotron_pattern(f, "hybrid_override_pattern", "layers_block_type"));
  CAIRN_TRY(const std::vector<int> drafted,
            nemotron_pattern(f, "mtp_hybrid_override_pattern", "mtp_layers_block_type"));
  const auto count = static_cast<std::int64_t>(kinds.size());
  CAIRN_TRY(const std::int64_t layers, f.integer_or("num_hidden_layers", count, 1, kMaxLayers));
  if (layers != count) {
    return fail(f.error("num_hidden_layers", "another number of layers than the pattern has")
                    .want(std::to_string(count)));
  }
  std::array<LayerSpec, 4> of;
  for (LayerSpec& layer : of) layer.norms = 1;
  CAIRN_TRY(of[kSpace].recurrent, nemotron_space(f));
  CAIRN_TRY(of[kAttention].attention, nemotron_attention(f));
  CAIRN_TRY(of[kDense].feed_forward.intermediate, f.integer("intermediate_size", 1, kMaxInner));
  CAIRN_TRY(of[kDense].feed_forward.bias, f.flag("mlp_bias", false));
  of[kDense].feed_forward.gated = false;
  f.skip({"mlp_hidden_act"});
  if (f.has("n_routed_experts")) {
    CAIRN_TRY(of[kMixture].feed_forward, nemotron_experts(f));
  }
  ModelSpec s = make_spec(d, "nemotron-h");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (const int kind : kinds) s.layers.push_back(of[static_cast<std::size_t>(kind)]);
  CAIRN_TRY(const std::int64_t times, f.integer_or("num_nextn_predict_layers", 0, 0, 16));
  std::vector<LayerSpec> draft;
  draft.reserve(drafted.size());
  for (const int kind : drafted) draft.push_back(of[static_cast<std::size_t>(kind)]);
  for (std::int64_t i = 0; i < times && !draft.empty(); ++i) {
    s.parts.push_back(draft_part(s, draft));
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"MambaForCausalLM", "mamba", mamba},
    {"FalconMambaForCausalLM", "falcon_mamba", falcon_mamba},
    {"Mamba2ForCausalLM", "mamba2", mamba2},
    {"JambaForCausalLM", "jamba", jamba},
    {"BambaForCausalLM", "bamba", bamba},
    {"GraniteMoeHybridForCausalLM", "granitemoehybrid", granite_hybrid},
    {"FalconH1ForCausalLM", "falcon_h1", falcon_h1},
    {"NemotronHForCausalLM", "nemotron_h", nemotron_h},
});

}  // namespace

std::span<const Family> state_space_families() { return kFamilies; }

}  // namespace cairn::hf
