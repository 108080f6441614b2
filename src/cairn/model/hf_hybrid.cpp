// State spaces and attention by other patterns: in alternation under four norms (PLaMo 2),
// with a transformer block that comes back (Zamba 2), on the same input (Hymba).
#include <algorithm>
#include <array>
#include <string>

#include "cairn/model/hf_recurrent.h"

namespace cairn::hf {
namespace {

void slide(AttentionSpec& a, std::int64_t window) {
  a.kind = AttentionKind::sliding;
  a.window = window;
}

// A step size, A and D for each head; B and C for all of them.
Result<RecurrentSpec> plamo2_space(Fields& f, const Dims& d) {
  CAIRN_TRY(const std::int64_t state, f.integer_or("mamba_d_state", 64, 1, kMaxHeadDim));
  CAIRN_TRY(const std::int64_t conv, f.integer_or("mamba_d_conv", 4, 1, 1024));
  RecurrentSpec r = selective(d.head_dim, state, conv, std::max<std::int64_t>(64, d.hidden / 16));
  CAIRN_TRY(r.heads, f.integer_or("mamba_num_heads", 64, 2, kMaxHeads));
  r.inner_norms = true;
  f.skip({"mamba_chunk_size"});
  return r;
}

// https://huggingface.co/pfnet/plamo-2-8b/blob/main/modeling_plamo.py
Result<ModelSpec> plamo2(Fields& f) {
  CAIRN_TRY(const std::string_view type, f.text_or("model_type", "plamo2"));
  if (type != "plamo2") return fail(f.error("model_type", "not covered").want("plamo2"));
  CAIRN_TRY(const bool spaces, f.flag("mamba_enabled", true));
  if (!spaces) return fail(f.error("mamba_enabled", "not covered").want("true"));
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", 4, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, f.integer_or("hidden_size_per_head", 128, 1, kMaxHeadDim));
  CAIRN_TRY(d.intermediate, f.integer("intermediate_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer_or("max_position_embeddings", 2048, 1, kMaxContext));
  CAIRN_TRY(const std::int64_t window, f.integer_or("attention_window_size", 2048, 1, kMaxContext));
  CAIRN_TRY(const std::int64_t step, f.integer_or("mamba_step", 2, 2, kMaxLayers));
  CAIRN_TRY(const std::vector<bool> full, marked_layers(f, "full_attention_idx", d.layers));
  f.skip({"head_dim", "eval_attention_n_bit", "eval_mlp_n_bit", "linear_type"});
  LayerSpec space;
  CAIRN_TRY(space.recurrent, plamo2_space(f, d));
  LayerSpec attends;
  attends.attention = make_attention(d);
  // Weights for each feature of each head.
  attends.attention.qk_norm = true;
  attends.attention.qk_norm_dim_q = d.heads * d.head_dim;
  attends.attention.qk_norm_dim_k = d.kv_heads * d.head_dim;
  space.norms = attends.norms = 4;
  space.feed_forward = attends.feed_forward = gated_ffn(d.intermediate);
  ModelSpec s = make_spec(d, "plamo2");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    // Few layers: the last one attends.
    const bool is_space = d.layers <= step / 2 ? i + 1 != d.layers : i % step != step / 2;
    s.layers.push_back(is_space ? space : attends);
    if (!is_space && !full[static_cast<std::size_t>(i)]) slide(s.layers.back().attention, window);
  }
  return s;
}

Result<RecurrentSpec> zamba2_space(Fields& f, std::int64_t hidden) {
  RecurrentSpec r;
  r.kind = RecurrentKind::mamba2;
  CAIRN_TRY(const std::int64_t expand, f.integer_or("mamba_expand", 2, 1, 64));
  CAIRN_TRY(r.heads, f.integer_or("n_mamba_heads", 8, 1, kMaxHeads));
  CAIRN_TRY(r.key_heads, f.integer_or("mamba_ngroups", 1, 1, kMaxHeads));
  CAIRN_TRY(r.key_dim, f.integer_or("mamba_d_state", 64, 1, kMaxHeadDim));
  CAIRN_TRY(r.conv, f.integer_or("mamba_d_conv", 4, 1, 1024));
  if (expand * hidden % r.heads != 0) {
    return fail(f.error("n_mamba_heads", "heads that do not divide the inner features")
                    .want("a divisor of " + std::to_string(expand * hidden)));
  }
  r.value_dim = expand * hidden / r.heads;
  r.conv_bias = true;
  r.norm_dim = r.inner();
  f.skip({"use_conv_bias", "chunk_size", "mamba_headdim", "use_mem_eff_path"});
  return r;
}

MatrixSpec matrix(std::int64_t rows, std::int64_t columns) {
  return {.rows = rows, .columns = columns};
}

// The block: attention on the hidden features and the embedding, a feed-forward part, and for
// each visit low-rank corrections of its own and the way back to the state space.
Result<LayerSpec> zamba2_block(Fields& f, const Dims& d) {
  LayerSpec block;
  block.attention = make_attention(d);
  block.attention.input = 2 * d.hidden;
  block.feed_forward = gated_ffn(d.intermediate);
  CAIRN_TRY(const std::int64_t rank, f.integer_or("adapter_rank", 128, 1, kMaxInner));
  CAIRN_TRY(const bool adapted, f.flag("use_shared_attention_adapter", false));
  // Of the feed-forward part in every model, whatever the flag for it says.
  f.skip({"use_shared_mlp_adapter"});
  block.extras = {matrix(rank, d.hidden), matrix(2 * d.intermediate, rank),
                  matrix(d.hidden, d.hidden)};
  for (int i = 0; adapted && i < 3; ++i) {
    block.extras.push_back(matrix(rank, 2 * d.hidden));
    block.extras.push_back(matrix(2 * d.hidden, rank));
  }
  return block;
}

Result<Dims> zamba2_dims(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", d.heads, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "num_attention_heads", 2 * d.hidden, d.heads));
  CAIRN_TRY(d.intermediate, f.integer_or("intermediate_size", 4 * d.hidden, 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer_or("max_position_embeddings", 4096, 1, kMaxContext));
  CAIRN_TRY(const bool longer, f.flag("use_long_context", false));
  if (longer) d.max_context = 16384;
  f.skip({"attention_head_dim", "attention_hidden_size", "head_dim", "kv_channels",
          "num_query_groups", "hybrid_layer_ids", "use_mem_rope", "num_logits_to_keep"});
  return d;
}

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/zamba2: a
// visit of a block is a layer here, before the state space that it leads to.
Result<ModelSpec> zamba2(Fields& f) {
  constexpr auto kNames =
      std::to_array<LayerName>({{"mamba", 0}, {"m", 0}, {"hybrid", 1}, {"g", 1}});
  CAIRN_TRY(const Dims d, zamba2_dims(f));
  CAIRN_CHECK(f.refuse("add_bias_linear", "a bias in the projections is not covered"));
  CAIRN_TRY(const auto names, layer_names(f, "layers_block_type", kNames));
  if (!names || names->size() != static_cast<std::size_t>(d.layers)) {
    return fail(f.error("layers_block_type", "one type for each layer is needed"));
  }
  CAIRN_TRY(const std::int64_t blocks, f.integer_or("num_mem_blocks", 1, 1, kMaxLayers));
  LayerSpec space;
  space.norms = 1;
  CAIRN_TRY(space.recurrent, zamba2_space(f, d.hidden));
  CAIRN_TRY(LayerSpec block, zamba2_block(f, d));
  ModelSpec s = make_spec(d, "zamba2");
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  std::int64_t visits = 0;
  for (const int kind : *names) {
    if (kind == 1) {
      block.block = 1 + visits++ % blocks;
      s.layers.push_back(block);
    }
    s.layers.push_back(space);
  }
  return s;
}

// Layers that take keys and values from the first of their group.
Result<std::vector<bool>> reusing_layers(Fields& f, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), false);
  if (!f.has("kv_reuse_group")) return out;
  const Node groups = *f.node().find_value("kv_reuse_group");
  const auto wrong = [&] { return fail(f.error("kv_reuse_group", "not groups of layers")); };
  if (!groups.is_sequence()) return wrong();
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (!groups.at(g).is_sequence()) return wrong();
    for (std::uint32_t i = 1; i < groups.at(g).size(); ++i) {
      CAIRN_TRY(const std::int64_t layer, groups.at(g).at(i).integer());
      if (layer < 1 || layer >= layers) return wrong();
      out[static_cast<std::size_t>(layer)] = true;
    }
  }
  return out;
}

Result<LayerSpec> hymba_layer(Fields& f, const Dims& d) {
  CAIRN_TRY(const std::int64_t expand, f.integer_or("mamba_expand", 2, 1, 64));
  CAIRN_TRY(const std::int64_t state, f.integer_or("mamba_d_state", 16, 1, kMaxHeadDim));
  CAIRN_TRY(const std::int64_t conv, f.integer_or("mamba_d_conv", 4, 1, 1024));
  CAIRN_TRY(const std::int64_t rank, step_rank(f, "mamba_dt_rank", d.hidden));
  const std::int64_t inner = expand * d.hidden;
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.v_head_dim, even_head_dim(f, "mamba_expand", inner, d.heads));
  layer.attention.joins_recurrence = true;
  layer.recurrent = selective(inner, state, conv, rank);
  CAIRN_TRY(layer.recurrent.conv_bias, f.flag("mamba_conv_bias", true));
  CAIRN_TRY(layer.recurrent.inner_norms, f.flag("mamba_inner_layernorms", true));
  CAIRN_CHECK(f.refuse("mamba_proj_bias", "a bias in the projections is not covered"));
  layer.feed_forward = gated_ffn(d.intermediate);
  // Norms of what attention and state space give, before their average.
  const MatrixSpec norm{.columns = inner, .use = Use::elementwise, .vector = true};
  layer.extras = {norm, norm};
  return layer;
}

// Memory tokens are learned rows before the prompt.
Result<void> add_memory(Fields& f, ModelSpec& s) {
  CAIRN_TRY(const std::int64_t tokens, f.integer_or("num_memory_tokens", 0, 0, kMaxContext));
  if (tokens == 0) return {};
  s.extras.push_back({.rows = tokens, .columns = s.hidden, .use = Use::stored, .vector = true});
  return {};
}

// https://huggingface.co/nvidia/Hymba-1.5B-Base/blob/main/modeling_hymba.py
// (arXiv:2411.13676): attention and a state space on the same input in every layer.
Result<ModelSpec> hymba(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  for (const std::string_view key :
       {"kv_reuse_every_i_layer", "memory_tokens_interspersed_every"}) {
    const auto value = f.node().find_value(key);
    if (f.has(key) && value->kind() == NodeKind::integer && *value->integer() > 0) {
      return fail(f.error(key, "not covered").want("none"));
    }
  }
  CAIRN_TRY(const std::int64_t experts, f.integer_or("num_experts", 1, 0, kMaxExperts));
  if (experts > 1) return fail(f.error("num_experts", "experts are not covered").want("1"));
  CAIRN_TRY(const std::string_view act, f.text_or("mlp_hidden_act", "silu"));
  if (act != "silu") return fail(f.error("mlp_hidden_act", "not covered").want("silu"));
  CAIRN_CHECK(f.words("layer_type", static_cast<std::size_t>(d.layers), {"h"}));
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 0, 0, kMaxContext));
  CAIRN_TRY(const std::vector<bool> global, marked_layers(f, "global_attn_idx", d.layers));
  CAIRN_TRY(const std::vector<bool> reuses, reusing_layers(f, d.layers));
  f.skip({"num_experts_per_tok", "conv_dim", "num_mamba", "attn_hidden_size", "kq_head_dim",
          "v_head_dim", "kq_norm", "attn_implementation_new", "attn_reuse_every_i_layer",
          "swa_full_head", "expert_layer_offset", "expert_layer_period", "use_mamba_kernels",
          "modify_attention_mask", "calc_logits_for_entire_prompt"});
  CAIRN_TRY(const LayerSpec layer, hymba_layer(f, d));
  ModelSpec s = make_spec(d, "hymba");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  CAIRN_CHECK(add_memory(f, s));
  for (std::size_t i = 0; i < static_cast<std::size_t>(d.layers); ++i) {
    s.layers.push_back(layer);
    s.layers.back().attention.shares_kv = reuses[i];
    if (window > 0 && !global[i]) slide(s.layers.back().attention, window);
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"Plamo2ForCausalLM", "plamo2", plamo2},
    {"PlamoForCausalLM", {}, plamo2},
    {"Zamba2ForCausalLM", "zamba2", zamba2},
    {"HymbaForCausalLM", "hymba", hymba},
});

}  // namespace

std::span<const Family> hybrid_families() { return kFamilies; }

}  // namespace cairn::hf
