// Mixtures of experts with ordinary attention: Mixtral, Qwen 2/3 MoE, gpt-oss,
// Llama 4, GLM-4.5, MiniMax-M2, Phi-3.5-MoE, DBRX and others.
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

Result<FeedForwardSpec> read_experts(Fields& f, std::string_view experts_key,
                                     std::string_view per_token_key, std::int64_t inner) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer(experts_key, 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer(per_token_key, 1, kMaxExperts));
  e.expert_intermediate = inner;
  return e;
}

FeedForwardSpec dense(std::int64_t inner) {
  FeedForwardSpec d;
  d.intermediate = inner;
  return d;
}

void norm_per_head(AttentionSpec& a) {
  a.qk_norm = true;
  a.qk_norm_dim_q = a.head_dim;
  a.qk_norm_dim_k = a.head_dim;
}

void norm_all_heads(AttentionSpec& a) {
  a.qk_norm = true;
  a.qk_norm_dim_q = a.heads * a.head_dim;
  a.qk_norm_dim_k = a.kv_heads * a.head_dim;
}

void slide(AttentionSpec& a, std::int64_t window, std::int64_t max_context) {
  if (window == 0 || window >= max_context) return;
  a.kind = AttentionKind::sliding;
  a.window = window;
}

Result<ModelSpec> uniform(Fields& f, const Dims& d, std::string_view family, const LayerSpec& layer,
                          bool tied) {
  ModelSpec s = make_spec(d, family);
  s.final_norm_bias = layer.norm_bias;
  CAIRN_TRY(s.tied_embeddings, f.tied(tied));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

Result<ModelSpec> mixtral(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 0, 0, kMaxContext));
  slide(layer.attention, window, d.max_context);
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  return uniform(f, d, "mixtral", layer, false);
}

// https://huggingface.co/openbmb/MiniCPM-MoE-8x2B/blob/main/modeling_minicpm.py
Result<ModelSpec> minicpm(Fields& f) {
  CAIRN_CHECK(f.refuse("sparse_config", "sparse attention is not covered"));
  f.skip({"mup_denominator"});
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.feed_forward = dense(d.intermediate);
  if (f.has("num_experts")) {
    CAIRN_TRY(layer.feed_forward,
              read_experts(f, "num_experts", "num_experts_per_tok", d.intermediate));
  }
  return uniform(f, d, "minicpm", layer, true);
}

// A layer is a mixture unless mlp_only_layers lists it or decoder_sparse_step
// leaves it out.
Result<ModelSpec> qwen_mixture(Fields& f, std::string_view family, LayerSpec layer, const Dims& d) {
  CAIRN_TRY(const std::int64_t inner, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(FeedForwardSpec experts, read_experts(f, "num_experts", "num_experts_per_tok", inner));
  CAIRN_TRY(experts.shared_intermediate,
            f.integer_or("shared_expert_intermediate_size", 0, 0, kMaxInner));
  experts.shared_gate = experts.shared_intermediate > 0;
  CAIRN_CHECK(f.refuse("mlp_only_layers", "a list of dense layers is not covered"));
  CAIRN_CHECK(f.refuse("use_sliding_window", "windows are not covered for this family"));
  f.skip({"sliding_window"});
  CAIRN_TRY(const std::int64_t step, f.integer_or("decoder_sparse_step", 1, 1, kMaxLayers));
  ModelSpec s = make_spec(d, family);
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    layer.feed_forward = (i + 1) % step == 0 ? experts : dense(d.intermediate);
    s.layers.push_back(layer);
  }
  return s;
}

Result<ModelSpec> qwen2_moe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("qkv_bias", true));
  return qwen_mixture(f, "qwen2-moe", layer, d);
}

Result<ModelSpec> qwen3_moe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(const bool norm, f.flag("use_qk_norm", true));
  if (!norm) return fail(f.error("use_qk_norm", "not covered").want("true"));
  norm_per_head(layer.attention);
  return qwen_mixture(f, "qwen3-moe", layer, d);
}

Result<ModelSpec> phimoe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  f.skip({"moe_intermediate_size", "num_experts"});  // repeat other fields
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.norm_bias = true;
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 0, 0, kMaxContext));
  slide(layer.attention, window, d.max_context);
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  CAIRN_TRY(ModelSpec s, uniform(f, d, "phimoe", layer, false));
  CAIRN_TRY(s.output_bias, f.flag("lm_head_bias", false));
  return s;
}

Result<ModelSpec> granitemoe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  return uniform(f, d, "granite-moe", layer, false);
}

Result<ModelSpec> olmoe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  norm_all_heads(layer.attention);
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_experts", "num_experts_per_tok", d.intermediate));
  return uniform(f, d, "olmoe", layer, false);
}

// Windows and full attention in turn, a learned sink for each head, biases in
// attention, router and experts: arXiv:2508.10925.
Result<ModelSpec> gpt_oss(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  f.skip({"experts_per_token", "swiglu_limit"});
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", true));
  layer.attention.o_bias = layer.attention.qkv_bias;
  layer.attention.sinks = true;
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  layer.feed_forward.router_bias = true;
  layer.feed_forward.expert_bias = true;
  CAIRN_TRY(const std::int64_t window, f.integer("sliding_window", 1, kMaxContext));
  CAIRN_TRY(const auto types, f.layer_types(static_cast<std::size_t>(d.layers)));
  ModelSpec s = make_spec(d, "gpt-oss");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < static_cast<std::size_t>(d.layers); ++i) {
    s.layers.push_back(layer);
    const bool local = types ? (*types)[i] : i % 2 == 0;
    if (local) slide(s.layers.back().attention, window, d.max_context);
  }
  return s;
}

// transformers' Llama4TextConfig: every fourth layer has no rotary positions and
// attends to everything, the others to chunks; experts in every n-th layer.
Result<ModelSpec> llama4(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  f.skip({"use_qk_norm", "for_llm_compressor", "router_jitter_noise"});  // norm without weights
  CAIRN_TRY(const std::int64_t dense_inner, f.integer("intermediate_size_mlp", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t step, f.integer("interleave_moe_layer_step", 1, kMaxLayers));
  CAIRN_CHECK(f.refuse("moe_layers", "a list of layers with experts is not covered"));
  CAIRN_TRY(const std::int64_t chunk, f.integer_or("attention_chunk_size", 0, 0, kMaxContext));
  CAIRN_TRY(
      const std::int64_t every,
      f.integer_or(f.any({"no_rope_layer_interval", "nope_layer_interval"}), 4, 1, kMaxLayers));
  CAIRN_TRY(const auto rotary,
            f.integers("no_rope_layers", static_cast<std::size_t>(d.layers), 0, 1));
  f.skip({"layer_types"});  // repeats no_rope_layers
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(FeedForwardSpec experts,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  experts.shared_intermediate = d.intermediate;
  ModelSpec s = make_spec(d, "llama4");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    layer.feed_forward = (i + 1) % step == 0 ? experts : dense(dense_inner);
    s.layers.push_back(layer);
    const bool local = rotary ? (*rotary)[static_cast<std::size_t>(i)] == 1 : (i + 1) % every != 0;
    if (!local || chunk == 0 || chunk >= d.max_context) continue;
    s.layers.back().attention.kind = AttentionKind::chunked;
    s.layers.back().attention.window = chunk;
  }
  return s;
}

// Dense layers first, then experts chosen with a correction term (GLM-4.5, dots.llm1).
Result<ModelSpec> glm_mixture(Fields& f, std::string_view family, const Dims& d,
                              const LayerSpec& base) {
  CAIRN_TRY(const std::int64_t inner, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(FeedForwardSpec experts,
            read_experts(f, "n_routed_experts", "num_experts_per_tok", inner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("n_shared_experts", 0, 0, kMaxExperts));
  experts.shared_intermediate = shared * inner;
  experts.router_bias = true;
  CAIRN_TRY(const std::int64_t first, f.integer("first_k_dense_replace", 0, d.layers));
  ModelSpec s = make_spec(d, family);
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(base);
    s.layers.back().feed_forward = i < first ? dense(d.intermediate) : experts;
  }
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  add_drafts(s, drafts, s.layers.back(), {.embedding = true, .head = true});
  return s;
}

// transformers' Glm4MoeConfig: without bias and norms where the file says nothing.
Result<ModelSpec> glm4_moe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  CAIRN_TRY(const bool norm, f.flag("use_qk_norm", false));
  if (norm) norm_per_head(layer.attention);
  return glm_mixture(f, "glm4-moe", d, layer);
}

Result<ModelSpec> dots1(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("moe_layer_freq", "experts in some layers only are not covered"));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  norm_per_head(layer.attention);
  return glm_mixture(f, "dots1", d, layer);
}

// https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/modeling_minimax_m2.py
Result<ModelSpec> minimax_m2(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("shared_intermediate_size", "shared experts are not covered here"));
  f.skip({"use_mtp", "mtp_transformer_layers", "num_mtp_modules"});  // not in the checkpoint
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(const bool norm, f.flag("use_qk_norm", false));
  CAIRN_TRY(const std::string_view kind, f.text_or("qk_norm_type", "per_layer"));
  if (norm && kind != "per_layer") {
    return fail(f.error("qk_norm_type", "not covered").want("per_layer"));
  }
  if (norm) norm_all_heads(layer.attention);
  CAIRN_CHECK(f.refuse("sliding_window", "windows are not covered for this family"));
  // 1 is full attention, 0 the linear attention of MiniMax-Text-01.
  CAIRN_CHECK(f.integers("attn_type_list", static_cast<std::size_t>(d.layers), 1, 1));
  CAIRN_TRY(layer.feed_forward,
            read_experts(f, "num_local_experts", "num_experts_per_tok", d.intermediate));
  CAIRN_TRY(layer.feed_forward.router_bias, f.flag("use_routing_bias", true));
  return uniform(f, d, "minimax-m2", layer, false);
}

// https://huggingface.co/databricks/dbrx-base/blob/main/modeling_dbrx.py
Result<ModelSpec> dbrx(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("d_model", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("n_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("n_heads", 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "n_heads", d.hidden, d.heads));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_seq_len", 1, kMaxContext));
  f.skip({"attn_config", "ffn_config"});
  CAIRN_TRY(const Node attention, f.node().required("attn_config"));
  CAIRN_TRY(const Node experts, f.node().required("ffn_config"));
  Fields fa(attention, true);
  Fields fe(experts, true);
  CAIRN_TRY(d.kv_heads, fa.integer_or("kv_n_heads", 1, 1, kMaxHeads));
  CAIRN_TRY(const std::int64_t inner, fe.integer("ffn_hidden_size", 1, kMaxInner));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.feed_forward, read_experts(fe, "moe_num_experts", "moe_top_k", inner));
  fe.skip({"moe_normalize_expert_weights", "ffn_act_fn"});
  CAIRN_CHECK(fa.finish());
  CAIRN_CHECK(fe.finish());
  return uniform(f, d, "dbrx", layer, false);
}

// https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash/blob/main/modeling_mimo_v2_flash.py:
// layers with a window have heads of their own.
Result<AttentionSpec> mimo_window(Fields& f, const Dims& d) {
  AttentionSpec a;
  CAIRN_TRY(a.heads, f.integer("swa_num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(a.kv_heads, f.integer("swa_num_key_value_heads", 1, kMaxHeads));
  CAIRN_TRY(a.head_dim, f.integer("swa_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.v_head_dim, f.integer("swa_v_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.sinks, f.flag("add_swa_attention_sink_bias", false));
  CAIRN_TRY(const std::int64_t window, f.integer("sliding_window", 1, kMaxContext));
  slide(a, window, d.max_context);
  return a;
}

Result<ModelSpec> mimo_v2(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  const auto layers = static_cast<std::size_t>(d.layers);
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  CAIRN_CHECK(f.refuse("n_shared_experts", "shared experts are not covered here"));
  f.skip({"sliding_window_size", "attention_chunk_size"});  // repeat sliding_window
  AttentionSpec full = make_attention(d);
  CAIRN_TRY(full.v_head_dim, f.integer_or("v_head_dim", d.head_dim, 1, kMaxHeadDim));
  CAIRN_TRY(full.sinks, f.flag("add_full_attention_sink_bias", false));
  CAIRN_TRY(const AttentionSpec local, mimo_window(f, d));
  CAIRN_TRY(const auto windows, f.integers("hybrid_layer_pattern", layers, 0, 1));
  CAIRN_TRY(const auto mixtures, f.integers("moe_layer_freq", layers, 0, 1));
  CAIRN_TRY(const std::int64_t inner, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(FeedForwardSpec experts,
            read_experts(f, "n_routed_experts", "num_experts_per_tok", inner));
  CAIRN_TRY(const std::string_view method, f.text_or("topk_method", "greedy"));
  experts.router_bias = method == "noaux_tc";
  if (!windows) return fail(f.error("hybrid_layer_pattern", "missing").want("a list"));
  if (!mixtures) return fail(f.error("moe_layer_freq", "missing").want("a list"));
  ModelSpec s = make_spec(d, "mimo-v2");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < layers; ++i) {
    LayerSpec layer;
    layer.attention = (*windows)[i] == 1 ? local : full;
    layer.feed_forward = (*mixtures)[i] == 1 ? experts : dense(d.intermediate);
    s.layers.push_back(layer);
  }
  return s;
}

// transformers' Ernie4_5_MoeConfig: experts from moe_layer_start_index to
// moe_layer_end_index, every moe_layer_interval layers.
Result<ModelSpec> ernie_moe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(const bool bias, f.flag("use_bias", false));
  layer.attention.qkv_bias = bias;
  layer.attention.o_bias = bias;
  CAIRN_TRY(const std::int64_t inner, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(FeedForwardSpec experts, read_experts(f, "moe_num_experts", "moe_k", inner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("moe_num_shared_experts", 0, 0, kMaxExperts));
  experts.shared_intermediate = shared * inner;
  CAIRN_TRY(experts.router_bias, f.flag("moe_use_aux_free", true));
  CAIRN_TRY(const std::int64_t first, f.integer("moe_layer_start_index", 0, d.layers));
  CAIRN_TRY(const std::int64_t end, f.integer_or("moe_layer_end_index", -1, -1, d.layers));
  CAIRN_TRY(const std::int64_t every, f.integer_or("moe_layer_interval", 1, 1, kMaxLayers));
  const std::int64_t last = end == -1 ? d.layers - 1 : end;
  f.skip({"moe_capacity", "moe_gate", "moe_norm_min"});
  ModelSpec s = make_spec(d, "ernie4.5-moe");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  // A draft layer is dense and has no last norm: vllm/model_executor/models/ernie_mtp.py
  // (https://github.com/vllm-project/vllm).
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  layer.feed_forward = dense(d.intermediate);
  layer.feed_forward.bias = bias;
  add_drafts(s, drafts, layer, {.final_norm = false});
  for (std::int64_t i = 0; i < d.layers; ++i) {
    const bool mixture = (i + 1) % every == 0 && i >= first && i <= last;
    layer.feed_forward = mixture ? experts : dense(d.intermediate);
    layer.feed_forward.bias = bias;
    layer.feed_forward.expert_bias = mixture && bias;
    s.layers.push_back(layer);
  }
  return s;
}

// A number, or a list of the same one for every layer.
Result<std::int64_t> same_everywhere(Fields& f, std::string_view key, std::int64_t layers,
                                     std::int64_t low, std::int64_t high) {
  const auto node = f.node().find_value(key);
  if (!node || !node->is_sequence()) return f.integer(key, low, high);
  CAIRN_TRY(const auto list, f.integers(key, static_cast<std::size_t>(layers), low, high));
  if (!list) return fail(f.error(key, "an empty list"));
  for (const std::int64_t value : *list) {
    if (value == list->front()) continue;
    return fail(f.error(key, "layers of different sizes are not covered for this family"));
  }
  return list->front();
}

// transformers' HunYuanMoEV1Config, and https://huggingface.co/tencent/Tencent-Hunyuan-Large
// with keys and values for several layers together (cla_share_factor).
Result<ModelSpec> hunyuan_moe(Fields& f) {
  f.skip({"attention_head_dim", "num_experts_per_tok", "moe_drop_tokens",
          "moe_random_routing_dropped_token", "moe_layer_num_skipped", "use_mixed_mlp_moe",
          "norm_type", "mlp_bias", "max_hidden_size", "class_num", "cla_share_factor",
          "mask_init_id"});
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  CAIRN_TRY(const bool norm, f.flag("use_qk_norm", false));
  if (norm) norm_per_head(layer.attention);
  FeedForwardSpec& e = layer.feed_forward;
  CAIRN_TRY(e.experts, same_everywhere(f, "num_experts", d.layers, 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, same_everywhere(f, "moe_topk", d.layers, 1, kMaxExperts));
  e.expert_intermediate = d.intermediate;
  if (f.has("moe_intermediate_size")) {
    CAIRN_TRY(e.expert_intermediate,
              same_everywhere(f, "moe_intermediate_size", d.layers, 1, kMaxInner));
  }
  std::int64_t shared = 1;
  if (f.has("num_shared_expert")) {
    CAIRN_TRY(shared, same_everywhere(f, "num_shared_expert", d.layers, 0, kMaxExperts));
  }
  e.shared_intermediate = shared * d.intermediate;
  CAIRN_TRY(ModelSpec s, uniform(f, d, "hunyuan-moe", layer, true));
  CAIRN_TRY(const bool together, f.flag("use_cla", false));
  CAIRN_TRY(const std::int64_t every, f.integer_or("cla_share_factor", 1, 1, kMaxLayers));
  for (std::size_t i = 0; together && i < s.layers.size(); ++i) {
    s.layers[i].attention.shares_kv = static_cast<std::int64_t>(i) % every != 0;
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"MixtralForCausalLM", "mixtral", mixtral},
    {"MiniCPMForCausalLM", "minicpm", minicpm},
    {"Qwen2MoeForCausalLM", "qwen2_moe", qwen2_moe},
    {"Qwen3MoeForCausalLM", "qwen3_moe", qwen3_moe},
    {"Qwen3VLMoeTextModel", "qwen3_vl_moe_text", qwen3_moe},
    {"PhiMoEForCausalLM", "phimoe", phimoe},
    {"GraniteMoeForCausalLM", "granitemoe", granitemoe},
    {"OlmoeForCausalLM", "olmoe", olmoe},
    {"GptOssForCausalLM", "gpt_oss", gpt_oss},
    {"Llama4ForCausalLM", "llama4_text", llama4},
    {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe},
    {"Glm4MoeForCausalLM", "glm4v_moe_text", glm4_moe},
    {"Dots1ForCausalLM", "dots1", dots1},
    {"MiniMaxM2ForCausalLM", "minimax_m2", minimax_m2},
    {"DbrxForCausalLM", "dbrx", dbrx},
    {"MiMoV2FlashForCausalLM", "mimo_v2_flash", mimo_v2},
    {"HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", hunyuan_moe},
    {"HunYuanForCausalLM", "hunyuan", hunyuan_moe},
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", ernie_moe},
});

}  // namespace

std::span<const Family> mixture_families() { return kFamilies; }

}  // namespace cairn::hf
