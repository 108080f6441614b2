// Multi-head latent attention: DeepSeek V2, V3 and R1, Kimi K2, GLM-4.7-Flash, MiniCPM3,
// LongCat-Flash; with an indexer that chooses positions, DeepSeek V3.2 and GLM-5.
#include <algorithm>
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
  if (!f.has("index_n_heads")) return a;
  // DeepSeek Sparse Attention (DeepSeek-V3.2, arXiv:2512.02556, section 2.1).
  CAIRN_TRY(a.index_heads, f.integer("index_n_heads", 1, kMaxHeads));
  CAIRN_TRY(a.index_head_dim, f.integer("index_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.index_topk, f.integer("index_topk", 1, kMaxContext));
  a.index_input = a.q_lora_rank > 0 ? a.q_lora_rank : d.hidden;
  f.skip({"indexer_rope_interleave", "index_share_for_mtp_iteration"});
  return a;
}

// Which layers take the choice of an earlier one: indexer_types says it (GLM-5.2), else
// every index_topk_freq-th layer chooses after the first index_skip_topk_offset.
Result<std::vector<bool>> read_shared_indexers(Fields& f, const Dims& d) {
  const auto layers = static_cast<std::size_t>(d.layers);
  std::vector<bool> shared(layers, false);
  CAIRN_CHECK(f.refuse("index_topk_pattern", "a pattern of indexers is not covered"));
  CAIRN_TRY(const std::int64_t every, f.integer_or("index_topk_freq", 1, 1, kMaxLayers));
  CAIRN_TRY(const std::int64_t first, f.integer_or("index_skip_topk_offset", 1, 0, kMaxLayers));
  CAIRN_TRY(const auto types, f.words("indexer_types", layers, {"full", "shared"}));
  for (std::size_t i = 0; i < layers; ++i) {
    const std::int64_t after = static_cast<std::int64_t>(i) - first + 1;
    shared[i] = types ? (*types)[i] == "shared" : after > 0 && after % every != 0;
  }
  return shared;
}

// The layers with experts: mlp_layer_types, else all after first_k_dense_replace.
Result<std::vector<bool>> read_sparse_layers(Fields& f, const Dims& d) {
  const auto layers = static_cast<std::size_t>(d.layers);
  std::vector<bool> sparse(layers, true);
  CAIRN_TRY(const auto types, f.words("mlp_layer_types", layers, {"dense", "sparse"}));
  CAIRN_TRY(const std::int64_t dense, f.integer_or("first_k_dense_replace", 0, 0, d.layers));
  if (!types && !f.has("first_k_dense_replace")) {
    return fail(f.error("first_k_dense_replace", "missing field"));
  }
  for (std::size_t i = 0; i < layers; ++i) {
    sparse[i] = types ? (*types)[i] == "sparse" : static_cast<std::int64_t>(i) >= dense;
  }
  return sparse;
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

struct LatentTraits {
  std::string_view family;
  bool router_bias = false;
  DraftTraits draft = {};
};

Result<ModelSpec> read_latent_mixture(Fields& f, const LatentTraits& t) {
  CAIRN_TRY(const Dims d, read_latent_dims(f));
  ModelSpec s = make_spec(d, t.family);
  LayerSpec layer;
  CAIRN_TRY(layer.attention, read_latent(f, d));
  CAIRN_TRY(layer.attention.v_head_dim, f.integer("v_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(FeedForwardSpec experts, read_experts(f));
  experts.router_bias = t.router_bias;
  CAIRN_TRY(const std::vector<bool> sparse, read_sparse_layers(f, d));
  CAIRN_TRY(const std::vector<bool> shared, read_shared_indexers(f, d));
  CAIRN_CHECK(f.refuse("mlp_bias", "a bias is not covered for this family"));
  f.skip({"layer_types", "num_experts", "moe_router_dtype"});  // repeat other fields
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    s.layers.push_back(layer);
    s.layers.back().attention.index_shared = layer.attention.index_heads > 0 && shared[i];
    FeedForwardSpec& ff = s.layers.back().feed_forward;
    if (sparse[i]) {
      ff = experts;
    } else {
      ff.intermediate = d.intermediate;
    }
  }
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  layer.feed_forward = experts;
  add_drafts(s, drafts, layer, t.draft);
  return s;
}

// Some small models of the family have ordinary attention (DeepSeek-VL2-Tiny).
Result<ModelSpec> read_plain_mixture(Fields& f, std::string_view family) {
  CAIRN_TRY(const Dims d, read_dims(f));
  ModelSpec s = make_spec(d, family);
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(const FeedForwardSpec experts, read_experts(f));
  CAIRN_TRY(const std::vector<bool> sparse, read_sparse_layers(f, d));
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (const bool mixture : sparse) {
    s.layers.push_back(layer);
    if (mixture) {
      s.layers.back().feed_forward = experts;
    } else {
      s.layers.back().feed_forward.intermediate = d.intermediate;
    }
  }
  return s;
}

Result<ModelSpec> deepseek(Fields& f) { return read_plain_mixture(f, "deepseek"); }

Result<ModelSpec> deepseek_v2(Fields& f) {
  CAIRN_TRY(const std::string_view method, f.text_or("topk_method", "greedy"));
  CAIRN_TRY(const bool latent, f.flag("use_mla", true));
  f.skip({"lm_head"});  // always there
  if (!latent) return read_plain_mixture(f, "deepseek");
  return read_latent_mixture(f, {.family = "deepseek-v2", .router_bias = method == "noaux_tc"});
}

// The correction term of each expert (arXiv:2412.19437, section 2.1.2) is a
// parameter of the router.
Result<ModelSpec> deepseek_v3(Fields& f) {
  CAIRN_TRY(const std::string_view method, f.text_or("topk_method", "noaux_tc"));
  return read_latent_mixture(f, {.family = "deepseek-v3",
                                 .router_bias = method == "noaux_tc",
                                 .draft = {.embedding = true, .head = true}});
}

Result<ModelSpec> deepseek_v32(Fields& f) {
  CAIRN_CHECK(f.integer("index_n_heads", 1, kMaxHeads));
  CAIRN_TRY(ModelSpec s, deepseek_v3(f));
  s.family = "deepseek-v3.2";
  return s;
}

Result<ModelSpec> glm_dsa(Fields& f) {
  CAIRN_CHECK(f.integer("index_n_heads", 1, kMaxHeads));
  f.skip({"topk_method"});
  return read_latent_mixture(f, {.family = "glm-dsa", .router_bias = true});
}

Result<ModelSpec> glm4_lite(Fields& f) {
  return read_latent_mixture(
      f,
      {.family = "glm4-moe-lite", .router_bias = true, .draft = {.embedding = true, .head = true}});
}

// transformers' LongcatFlashDecoderLayer: a layer is twice attention and a dense part;
// experts run on the output of the first attention, beside all that follows. A token's
// choice may fall on experts that do nothing: on average it uses n / (n + zero) of them.
Result<ModelSpec> longcat_flash(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer(f.any({"num_layers", "num_hidden_layers"}), 1, kMaxLayers / 2));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  d.kv_heads = d.heads;
  f.skip({"num_key_value_heads", "head_dim", "qk_head_dim", "attention_method"});
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(d.intermediate, f.integer("ffn_hidden_size", 1, kMaxInner));
  LayerSpec second;
  CAIRN_TRY(second.attention, read_latent(f, d));
  CAIRN_TRY(second.attention.v_head_dim, f.integer("v_head_dim", 1, kMaxHeadDim));
  second.feed_forward.intermediate = d.intermediate;
  LayerSpec first = second;
  FeedForwardSpec& e = first.feed_forward;
  CAIRN_TRY(e.experts, f.integer("n_routed_experts", 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("expert_ffn_hidden_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t chosen, f.integer("moe_topk", 1, kMaxExperts));
  CAIRN_TRY(const std::int64_t zero, f.integer_or("zero_expert_num", 0, 0, kMaxExperts));
  CAIRN_CHECK(f.refuse("router_bias", "a bias of the router is not covered"));
  f.skip({"zero_expert_type"});
  e.experts_per_token = std::max<std::int64_t>(1, chosen * e.experts / (e.experts + zero));
  e.router_bias = true;
  if (zero > 0) {
    first.extras = {{.role = TensorRole::router, .rows = zero, .columns = d.hidden, .vector = true},
                    {.role = TensorRole::router_bias,
                     .columns = zero,
                     .use = Use::elementwise,
                     .vector = true}};
  }
  ModelSpec s = make_spec(d, "longcat-flash");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(first);
    s.layers.push_back(second);
  }
  return s;
}

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
    {"DeepseekForCausalLM", "deepseek", deepseek},
    {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3},
    {"DeepseekV3ForCausalLM", "kimi_k2", deepseek_v3},
    {"DeepseekV32ForCausalLM", "deepseek_v32", deepseek_v32},
    {"MistralLarge3ForCausalLM", {}, deepseek_v3},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", glm_dsa},
    {"LongcatFlashForCausalLM", "longcat_flash", longcat_flash},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_lite},
    {"MiniCPM3ForCausalLM", "minicpm3", minicpm3},
});

}  // namespace

std::span<const Family> latent_families() { return kFamilies; }

}  // namespace cairn::hf
