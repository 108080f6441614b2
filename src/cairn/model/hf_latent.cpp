// Multi-head latent attention: DeepSeek V2, V3 and R1, Kimi K2, GLM-4.7-Flash,
// MiniCPM3.
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

// head_dim in these files is the rotary part, or absent: the latent fields say it all.
Result<Dims> read_latent_dims(Fields& f) {
  Dims d;
  f.skip({"head_dim", "qk_head_dim"});
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", d.heads, 1, kMaxHeads));
  if (d.kv_heads != d.heads) {
    return fail(f.error("num_key_value_heads", "latent attention has a key for each head")
                    .want(std::to_string(d.heads)));
  }
  CAIRN_TRY(d.intermediate, f.integer("intermediate_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  return d;
}

Result<AttentionSpec> read_latent(Fields& f, const Dims& d) {
  AttentionSpec a;
  a.kind = AttentionKind::mla;
  a.heads = d.heads;
  a.kv_heads = d.kv_heads;
  CAIRN_TRY(a.q_lora_rank, f.integer_or("q_lora_rank", 0, 1, kMaxHidden));
  CAIRN_TRY(a.kv_lora_rank, f.integer("kv_lora_rank", 1, kMaxHidden));
  CAIRN_TRY(a.qk_nope_head_dim, f.integer("qk_nope_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.qk_rope_head_dim, f.integer("qk_rope_head_dim", 1, kMaxHeadDim));
  a.head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  CAIRN_TRY(a.qkv_bias, f.flag("attention_bias", false));
  a.o_bias = a.qkv_bias;
  return a;
}

// Dense layers first, then experts with shared ones beside them.
Result<FeedForwardSpec> read_experts(Fields& f) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer("n_routed_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("n_shared_experts", 0, 0, kMaxExperts));
  e.shared_intermediate = shared * e.expert_intermediate;
  CAIRN_TRY(const std::int64_t every, f.integer_or("moe_layer_freq", 1, 0, kMaxLayers));
  if (every != 1) {
    return fail(f.error("moe_layer_freq", "experts in some layers only are not covered").want("1"));
  }
  f.skip({"ep_size", "moe_router_enable_expert_bias"});
  return e;
}

Result<ModelSpec> read_latent_mixture(Fields& f, std::string_view family, bool router_bias) {
  CAIRN_CHECK(f.refuse("index_topk", "sparse attention with an indexer is not covered"));
  CAIRN_CHECK(f.refuse("index_n_heads", "sparse attention with an indexer is not covered"));
  CAIRN_TRY(const Dims d, read_latent_dims(f));
  ModelSpec s = make_spec(d, family);
  LayerSpec layer;
  CAIRN_TRY(layer.attention, read_latent(f, d));
  CAIRN_TRY(layer.attention.v_head_dim, f.integer("v_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(FeedForwardSpec experts, read_experts(f));
  experts.router_bias = router_bias;
  CAIRN_TRY(const std::int64_t dense, f.integer("first_k_dense_replace", 0, d.layers));
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  CAIRN_TRY(s.mtp_layers, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxLayers));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(layer);
    FeedForwardSpec& ff = s.layers.back().feed_forward;
    if (i < dense) {
      ff.intermediate = d.intermediate;
    } else {
      ff = experts;
    }
  }
  return s;
}

Result<ModelSpec> deepseek_v2(Fields& f) {
  CAIRN_TRY(const std::string_view method, f.text_or("topk_method", "greedy"));
  return read_latent_mixture(f, "deepseek-v2", method == "noaux_tc");
}

// The correction term of each expert (arXiv:2412.19437, section 2.1.2) is a
// parameter of the router.
Result<ModelSpec> deepseek_v3(Fields& f) {
  CAIRN_TRY(const std::string_view method, f.text_or("topk_method", "noaux_tc"));
  return read_latent_mixture(f, "deepseek-v3", method == "noaux_tc");
}

Result<ModelSpec> glm4_lite(Fields& f) { return read_latent_mixture(f, "glm4-moe-lite", true); }

// https://huggingface.co/openbmb/MiniCPM3-4B/blob/main/modeling_minicpm.py
Result<ModelSpec> minicpm3(Fields& f) {
  CAIRN_TRY(const Dims d, read_latent_dims(f));
  ModelSpec s = make_spec(d, "minicpm3");
  LayerSpec layer;
  CAIRN_TRY(layer.attention, read_latent(f, d));
  CAIRN_TRY(const std::int64_t value, even_head_dim(f, "num_attention_heads", d.hidden, d.heads));
  CAIRN_TRY(layer.attention.v_head_dim, f.integer_or("v_head_dim", value, 1, kMaxHeadDim));
  layer.feed_forward.intermediate = d.intermediate;
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3},
    {"DeepseekV3ForCausalLM", "kimi_k2", deepseek_v3},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_lite},
    {"MiniCPM3ForCausalLM", "minicpm3", minicpm3},
});

}  // namespace

std::span<const Family> latent_families() { return kFamilies; }

}  // namespace cairn::hf
