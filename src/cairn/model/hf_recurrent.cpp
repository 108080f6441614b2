// Linear attention beside attention: Qwen3-Next and Qwen3.5, Kimi Linear and K3,
// MiniMax-Text-01, LFM2.
#include "cairn/model/hf_recurrent.h"

#include <algorithm>
#include <array>
#include <string>

namespace cairn::hf {

ModelSpec draft_part(const ModelSpec& model, std::span<const LayerSpec> layers) {
  ModelSpec part = make_draft(model, layers.front(), {});
  part.layers.assign(layers.begin(), layers.end());
  return part;
}

FeedForwardSpec gated_ffn(std::int64_t inner, bool bias) {
  FeedForwardSpec f;
  f.intermediate = inner;
  f.bias = bias;
  return f;
}

void norm_heads(AttentionSpec& a) {
  a.qk_norm = true;
  a.qk_norm_dim_q = a.head_dim;
  a.qk_norm_dim_k = a.head_dim;
}

Result<std::vector<bool>> marked_layers(Fields& f, std::string_view key, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), false);
  if (!f.has(key)) return out;
  const Node list = *f.node().find_value(key);
  if (!list.is_sequence()) return fail(f.error(key, "not a list of layers"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(const std::int64_t layer, list.at(i).integer());
    if (layer < 0 || layer >= layers)
      return fail(list.at(i).error("no such layer").in(std::string(key)));
    out[static_cast<std::size_t>(layer)] = true;
  }
  return out;
}

RecurrentSpec selective(std::int64_t inner, std::int64_t state, std::int64_t conv,
                        std::int64_t rank) {
  return {.kind = RecurrentKind::mamba,
          .heads = 1,
          .key_heads = 1,
          .key_dim = state,
          .value_dim = inner,
          .conv = conv,
          .rank = rank};
}

Result<std::int64_t> step_rank(Fields& f, std::string_view key, std::int64_t hidden) {
  const auto value = f.node().find_value(key);
  if (f.has(key) && value->kind() == NodeKind::string && *value->string() == "auto") {
    return (hidden + 15) / 16;
  }
  return f.integer_or(key, (hidden + 15) / 16, 1, kMaxInner);
}

Result<std::optional<std::vector<int>>> layer_names(Fields& f, std::string_view key,
                                                    std::span<const LayerName> kinds) {
  if (!f.has(key)) return std::optional<std::vector<int>>();
  CAIRN_TRY(const std::vector<std::string> names, f.node().get_strings(key));
  std::vector<int> out;
  for (const std::string& name : names) {
    const auto it = std::ranges::find(kinds, name, &LayerName::name);
    if (it == kinds.end()) {
      return fail(f.error(key, "a type of layer that is not covered").got(name));
    }
    out.push_back(it->kind);
  }
  return out;
}

namespace {

Result<RecurrentSpec> read_delta_net(Fields& f) {
  RecurrentSpec r;
  r.kind = RecurrentKind::gated_delta_net;
  CAIRN_TRY(r.heads, f.integer("linear_num_value_heads", 1, kMaxHeads));
  CAIRN_TRY(r.key_heads, f.integer("linear_num_key_heads", 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, f.integer("linear_key_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(r.value_dim, f.integer("linear_value_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, f.integer("linear_conv_kernel_dim", 1, 1024));
  r.norm_dim = r.value_dim;
  return r;
}

// A shared expert with a gate of its own beside the chosen ones.
Result<FeedForwardSpec> read_qwen_experts(Fields& f) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer("num_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(e.shared_intermediate,
            f.integer_or("shared_expert_intermediate_size", 0, 0, kMaxInner));
  e.shared_gate = e.shared_intermediate > 0;
  return e;
}

struct QwenHybrid {
  LayerSpec full;
  LayerSpec linear;
};

Result<QwenHybrid> read_qwen_layers(Fields& f, const Dims& d) {
  QwenHybrid q;
  q.full.attention = make_attention(d);
  norm_heads(q.full.attention);
  CAIRN_TRY(q.full.attention.qkv_bias, f.flag("attention_bias", false));
  q.full.attention.o_bias = q.full.attention.qkv_bias;
  CAIRN_TRY(q.full.attention.output_gate, f.flag("attn_output_gate", true));
  CAIRN_TRY(q.linear.recurrent, read_delta_net(f));
  return q;
}

// layer_types, else every full_attention_interval-th layer has attention.
Result<std::vector<LayerSpec>> qwen_layers(Fields& f, const Dims& d, const QwenHybrid& q) {
  const auto layers = static_cast<std::size_t>(d.layers);
  CAIRN_TRY(const auto linear, f.layer_types(layers, "linear_attention"));
  CAIRN_TRY(const std::int64_t every, f.integer_or("full_attention_interval", 4, 1, kMaxLayers));
  std::vector<LayerSpec> out;
  for (std::size_t i = 0; i < layers; ++i) {
    const bool full = linear ? !(*linear)[i] : (i + 1) % static_cast<std::size_t>(every) == 0;
    out.push_back(full ? q.full : q.linear);
  }
  return out;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/qwen3_next
Result<ModelSpec> qwen3_next(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("mlp_only_layers", "a list of dense layers is not covered"));
  CAIRN_CHECK(f.refuse("use_sliding_window", "windows are not covered for this family"));
  f.skip({"sliding_window"});
  CAIRN_TRY(const QwenHybrid q, read_qwen_layers(f, d));
  CAIRN_TRY(const FeedForwardSpec experts, read_qwen_experts(f));
  CAIRN_TRY(const std::int64_t step, f.integer_or("decoder_sparse_step", 1, 1, kMaxLayers));
  ModelSpec s = make_spec(d, "qwen3-next");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  CAIRN_TRY(s.layers, qwen_layers(f, d, q));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers[static_cast<std::size_t>(i)].feed_forward =
        (i + 1) % step == 0 ? experts : gated_ffn(d.intermediate);
  }
  return s;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/qwen3_5:
// the gates of the recurrence are two matrices, and a layer with attention drafts tokens.
Result<ModelSpec> qwen3_5_of(Fields& f, std::string_view family, const Dims& d,
                             const FeedForwardSpec& feed_forward) {
  CAIRN_CHECK(f.refuse("mlp_only_layers", "a list of dense layers is not covered"));
  CAIRN_CHECK(f.refuse("mtp_use_dedicated_embeddings", "embeddings of their own are not covered"));
  f.skip({"output_gate_type"});
  CAIRN_TRY(QwenHybrid q, read_qwen_layers(f, d));
  CAIRN_TRY(const std::string_view state, f.text_or("mamba_ssm_dtype", ""));
  q.linear.recurrent.wide_state = state == "float32";
  q.linear.recurrent.split_gates = true;
  q.full.feed_forward = q.linear.feed_forward = feed_forward;
  ModelSpec s = make_spec(d, family);
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  CAIRN_TRY(s.layers, qwen_layers(f, d, q));
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("mtp_num_hidden_layers", 0, 0, 16));
  if (drafts > 0) {
    const std::vector<LayerSpec> layers(static_cast<std::size_t>(drafts), q.full);
    s.parts.push_back(draft_part(s, layers));
  }
  return s;
}

Result<ModelSpec> qwen3_5(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  return qwen3_5_of(f, "qwen3.5", d, gated_ffn(d.intermediate));
}

Result<ModelSpec> qwen3_5_moe(Fields& f) {
  // A size of dense layers is not in every file, and no layer is dense.
  CAIRN_TRY(const Dims d, read_outer_dims(f));
  CAIRN_TRY(const FeedForwardSpec experts, read_qwen_experts(f));
  return qwen3_5_of(f, "qwen3.5-moe", d, experts);
}

// The lists count layers from one.
Result<std::vector<bool>> kda_layers(Fields& lists, std::size_t layers) {
  std::vector<bool> linear(layers, false);
  const auto list = lists.node().find_value("kda_layers");
  if (!lists.has("kda_layers") || !list->is_sequence()) {
    return fail(lists.error("kda_layers", "missing").want("a list of layers"));
  }
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    CAIRN_TRY(const std::int64_t layer, list->at(i).integer());
    if (layer < 1 || layer > static_cast<std::int64_t>(layers)) {
      return fail(list->at(i).error("no such layer").in("kda_layers"));
    }
    linear[static_cast<std::size_t>(layer - 1)] = true;
  }
  return linear;
}

Result<RecurrentSpec> read_kimi_delta(Fields& lists) {
  RecurrentSpec r;
  r.kind = RecurrentKind::kimi_delta;
  CAIRN_TRY(r.heads, lists.integer("num_heads", 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, lists.integer("head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, lists.integer("short_conv_kernel_size", 1, 1024));
  CAIRN_TRY(r.gate_full, lists.flag("use_full_rank_gate", false));
  lists.skip({"full_attn_layers", "gate_lower_bound"});
  r.key_heads = r.heads;
  r.value_dim = r.norm_dim = r.rank = r.key_dim;
  r.gate_rank = r.gate_full ? 0 : r.key_dim;
  return r;
}

Result<AttentionSpec> read_kimi_latent(Fields& f) {
  AttentionSpec a;
  a.kind = AttentionKind::mla;
  CAIRN_TRY(a.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  a.kv_heads = a.heads;
  f.skip({"num_key_value_heads", "head_dim", "mla_use_nope"});
  CAIRN_TRY(a.q_lora_rank, f.integer_or("q_lora_rank", 0, 0, kMaxInner));
  CAIRN_TRY(a.kv_lora_rank, f.integer("kv_lora_rank", 1, kMaxInner));
  CAIRN_TRY(a.qk_nope_head_dim, f.integer("qk_nope_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.qk_rope_head_dim, f.integer("qk_rope_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.v_head_dim, f.integer("v_head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(a.output_gate, f.flag("mla_use_output_gate", false));
  a.head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  return a;
}

Result<FeedForwardSpec> read_kimi_experts(Fields& f) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer("num_experts", 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token,
            f.integer(f.any({"num_experts_per_token", "num_experts_per_tok"}), 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(const std::int64_t shared, f.integer_or("num_shared_experts", 0, 0, kMaxExperts));
  e.shared_intermediate = shared * e.expert_intermediate;
  e.router_bias = true;
  CAIRN_TRY(e.latent, f.integer_or("routed_expert_hidden_size", 0, 0, kMaxHidden));
  f.skip({"num_expert_group", "moe_renormalize", "moe_router_activation_func", "use_grouped_topk",
          "topk_group"});
  return e;
}

// K3: a norm between the experts and the way back from their latent; before attention and
// feed-forward, learned mixtures of earlier blocks' outputs.
void add_mixtures(std::vector<MatrixSpec>& extras, std::int64_t hidden, int times) {
  for (int i = 0; i < times; ++i) {
    extras.push_back({.role = TensorRole::residual_norm,
                      .columns = hidden,
                      .use = Use::elementwise,
                      .vector = true});
    extras.push_back({.role = TensorRole::residual_mix, .columns = hidden, .vector = true});
  }
}

// https://huggingface.co/moonshotai/Kimi-Linear-48B-A3B-Instruct/blob/main/modeling_kimi.py
// and, for K3, https://huggingface.co/moonshotai/Kimi-K3/blob/main/modeling_kimi_linear.py.
Result<ModelSpec> kimi_linear(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.intermediate, f.integer("intermediate_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  // The first files have the length under the tokenizer's name.
  CAIRN_TRY(d.max_context,
            f.integer(f.any({"max_position_embeddings", "model_max_length"}), 1, kMaxContext));
  CAIRN_CHECK(f.refuse("num_nextn_predict_layers", "draft layers are not covered here"));
  const auto layers = static_cast<std::size_t>(d.layers);
  CAIRN_TRY(const Node node, f.node().required("linear_attn_config"));
  f.skip({"linear_attn_config"});
  Fields lists(node, true);
  CAIRN_TRY(const std::vector<bool> linear, kda_layers(lists, layers));
  LayerSpec delta;
  LayerSpec latent;
  CAIRN_TRY(delta.recurrent, read_kimi_delta(lists));
  CAIRN_CHECK(lists.finish());
  CAIRN_TRY(latent.attention, read_kimi_latent(f));
  CAIRN_TRY(const FeedForwardSpec experts, read_kimi_experts(f));
  CAIRN_TRY(const std::int64_t first, f.integer_or("first_k_dense_replace", 0, 0, d.layers));
  CAIRN_TRY(const std::int64_t every, f.integer_or("moe_layer_freq", 1, 1, kMaxLayers));
  CAIRN_TRY(const bool norm, f.flag("latent_moe_use_norm", false));
  CAIRN_TRY(const std::int64_t block, f.integer_or("attn_res_block_size", 0, 0, kMaxLayers));
  ModelSpec s = make_spec(d, "kimi-linear");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    LayerSpec layer = linear[static_cast<std::size_t>(i)] ? delta : latent;
    const bool mixture = i >= first && i % every == 0;
    layer.feed_forward = mixture ? experts : gated_ffn(d.intermediate);
    if (mixture && norm && experts.latent > 0) {
      layer.extras.push_back({.role = TensorRole::latent_norm,
                              .columns = experts.latent,
                              .use = Use::elementwise,
                              .vector = true});
    }
    if (block > 0) add_mixtures(layer.extras, d.hidden, 2);
    s.layers.push_back(std::move(layer));
  }
  if (block > 0) add_mixtures(s.extras, d.hidden, 1);
  return s;
}

// MiniMax-01 (arXiv:2501.08313): lightning attention with a norm over all its features and
// an output gate; every eighth layer has ordinary attention.
Result<ModelSpec> minimax(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  CAIRN_CHECK(f.refuse("shared_intermediate_size", "shared experts are not covered here"));
  CAIRN_CHECK(f.refuse("sliding_window", "windows are not covered for this family"));
  f.skip({"shared_moe_mode", "postnorm", "layernorm_full_attention_alpha", "block_size",
          "layernorm_full_attention_beta", "layernorm_linear_attention_alpha",
          "layernorm_linear_attention_beta", "layernorm_mlp_alpha", "layernorm_mlp_beta",
          "full_attn_alpha_factor", "full_attn_beta_factor", "linear_attn_alpha_factor",
          "linear_attn_beta_factor", "mlp_alpha_factor", "mlp_beta_factor"});
  const auto layers = static_cast<std::size_t>(d.layers);
  LayerSpec full;
  full.attention = make_attention(d);
  LayerSpec linear;
  linear.recurrent = {.kind = RecurrentKind::lightning,
                      .heads = d.heads,
                      .key_heads = d.heads,
                      .key_dim = d.head_dim,
                      .value_dim = d.head_dim,
                      .norm_dim = d.heads * d.head_dim};
  FeedForwardSpec experts;
  CAIRN_TRY(experts.experts, f.integer("num_local_experts", 1, kMaxExperts));
  CAIRN_TRY(experts.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  experts.expert_intermediate = d.intermediate;
  CAIRN_TRY(const auto types, f.integers("attn_type_list", layers, 0, 1));
  CAIRN_TRY(const auto names, f.layer_types(layers, "linear_attention"));
  if (!types && !names) {
    return fail(f.error("attn_type_list", "missing").want("0 or 1 for each layer"));
  }
  ModelSpec s = make_spec(d, "minimax-01");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < layers; ++i) {
    s.layers.push_back((types ? (*types)[i] == 0 : (*names)[i]) ? linear : full);
    s.layers.back().feed_forward = experts;
  }
  return s;
}

// Lfm2MLP: two thirds of the stated size, rounded up to a multiple.
Result<std::int64_t> lfm2_inner(Fields& f) {
  const auto key = f.any({"block_ff_dim", "intermediate_size"});
  CAIRN_TRY(const std::int64_t stated, f.integer(key, 1, kMaxInner));
  CAIRN_TRY(const bool adjust, f.flag("block_auto_adjust_ff_dim", true));
  CAIRN_TRY(const std::int64_t multiple, f.integer_or("block_multiple_of", 256, 1, kMaxInner));
  f.skip({"block_ffn_dim_multiplier"});
  if (!adjust) return stated;
  CAIRN_TRY(const double factor, f.node().get_or<double>("block_ffn_dim_multiplier", 1.0));
  if (factor <= 0 || factor >= 64) {
    return fail(f.error("block_ffn_dim_multiplier", "out of range").want("above 0, below 64"));
  }
  const std::int64_t two_thirds = 2 * stated / 3;
  const auto inner = static_cast<std::int64_t>(factor * static_cast<double>(two_thirds));
  return (inner + multiple - 1) / multiple * multiple;
}

struct Lfm2Hybrid {
  LayerSpec full;
  LayerSpec conv;
  std::vector<int> is_conv;  // by layer
};

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/lfm2
Result<Lfm2Hybrid> lfm2_layers(Fields& f, const Dims& d) {
  constexpr auto kNames = std::to_array<LayerName>({{"conv", 1}, {"full_attention", 0}});
  Lfm2Hybrid l;
  f.skip({"block_dim", "conv_dim", "conv_dim_out", "block_use_swiglu", "block_use_xavier_init",
          "conv_use_xavier_init", "block_mlp_init_scale", "block_out_init_scale", "block_norm_eps",
          "num_heads", "use_pos_enc"});
  l.full.attention = make_attention(d);
  norm_heads(l.full.attention);
  l.conv.recurrent.kind = RecurrentKind::short_conv;
  CAIRN_TRY(l.conv.recurrent.conv, f.integer("conv_L_cache", 1, 1024));
  CAIRN_TRY(l.conv.recurrent.bias, f.flag("conv_bias", false));
  l.conv.recurrent.conv_bias = l.conv.recurrent.bias;
  CAIRN_TRY(const auto names, layer_names(f, "layer_types", kNames));
  const auto layers = static_cast<std::size_t>(d.layers);
  if (names && names->size() != layers) {
    return fail(f.error("layer_types", "one type for each layer is needed"));
  }
  l.is_conv = names ? *names : std::vector<int>(layers, 1);
  if (!names && !f.has("full_attn_idxs")) {
    return fail(f.error("layer_types", "missing").want("conv or full_attention for each layer"));
  }
  CAIRN_TRY(const std::vector<bool> full, marked_layers(f, "full_attn_idxs", d.layers));
  for (std::size_t i = 0; i < layers; ++i) {
    if (full[i]) l.is_conv[i] = 0;
  }
  return l;
}

Result<ModelSpec> lfm2_of(Fields& f, std::string_view family, const Dims& d, std::int64_t dense,
                          const FeedForwardSpec& first, const FeedForwardSpec& rest) {
  CAIRN_TRY(const Lfm2Hybrid l, lfm2_layers(f, d));
  ModelSpec s = make_spec(d, family);
  CAIRN_TRY(const bool tied, f.flag("tie_embedding", true));
  CAIRN_TRY(s.tied_embeddings, f.tied(tied));
  for (std::size_t i = 0; i < l.is_conv.size(); ++i) {
    s.layers.push_back(l.is_conv[i] == 1 ? l.conv : l.full);
    s.layers.back().feed_forward = static_cast<std::int64_t>(i) < dense ? first : rest;
  }
  return s;
}

Result<ModelSpec> lfm2(Fields& f) {
  CAIRN_TRY(const std::int64_t inner, lfm2_inner(f));
  CAIRN_TRY(const Dims d, read_outer_dims(f));
  f.skip({"intermediate_size"});
  return lfm2_of(f, "lfm2", d, 0, {}, gated_ffn(inner));
}

Result<ModelSpec> lfm2_moe(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  FeedForwardSpec experts;
  CAIRN_TRY(experts.experts, f.integer("num_experts", 1, kMaxExperts));
  CAIRN_TRY(experts.experts_per_token, f.integer("num_experts_per_tok", 1, kMaxExperts));
  CAIRN_TRY(experts.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(experts.router_bias, f.flag("use_expert_bias", true));
  CAIRN_TRY(const std::int64_t dense, f.integer_or("num_dense_layers", 2, 0, d.layers));
  return lfm2_of(f, "lfm2-moe", d, dense, gated_ffn(d.intermediate), experts);
}

constexpr auto kFamilies = std::to_array<Family>({
    {"Qwen3NextForCausalLM", "qwen3_next", qwen3_next},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", qwen3_5},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", qwen3_5_moe},
    {"KimiLinearForCausalLM", "kimi_linear", kimi_linear},
    {"MiniMaxText01ForCausalLM", "minimax_text_01", minimax},
    {"MiniMaxM1ForCausalLM", "minimax_m1", minimax},
    {"MiniMaxForCausalLM", "minimax", minimax},
    {"Lfm2ForCausalLM", "lfm2", lfm2},
    {"Lfm2MoeForCausalLM", "lfm2_moe", lfm2_moe},
});

}  // namespace

std::span<const Family> recurrent_families() { return kFamilies; }

}  // namespace cairn::hf
