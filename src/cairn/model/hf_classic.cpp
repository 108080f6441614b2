// Decoders with LayerNorm, biases or learned positions: GPT-2, GPT-J, GPT-NeoX, OPT,
// Falcon, Phi-2, StarCoder, Qwen 1, ChatGLM, OLMo 1, Molmo, BLOOM, MPT.
#include <array>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

// GPT-2's names: n_embd, n_head, n_layer, n_positions, n_inner (null: 4 * n_embd).
Result<Dims> read_gpt_dims(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer(f.any({"n_embd", "hidden_size"}), 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer(f.any({"n_layer", "num_hidden_layers"}), 1, kMaxLayers));
  const std::string_view heads = f.any({"n_head", "num_attention_heads"});
  CAIRN_TRY(d.heads, f.integer(heads, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, heads, d.hidden, d.heads));
  d.kv_heads = d.heads;
  CAIRN_TRY(d.intermediate,
            f.integer_or(f.any({"n_inner", "intermediate_size"}), 4 * d.hidden, 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context,
            f.integer(f.any({"n_positions", "max_position_embeddings"}), 1, kMaxContext));
  return d;
}

LayerSpec gpt_layer(const Dims& d, bool attention_bias) {
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.attention.qkv_bias = attention_bias;
  layer.attention.o_bias = attention_bias;
  layer.feed_forward.gated = false;
  layer.feed_forward.bias = true;
  layer.feed_forward.intermediate = d.intermediate;
  layer.norm_bias = true;
  return layer;
}

ModelSpec gpt_spec(const Dims& d, std::string_view family, const LayerSpec& layer) {
  ModelSpec s = make_spec(d, family);
  s.final_norm_bias = true;
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

Result<ModelSpec> gpt2(Fields& f) {
  CAIRN_CHECK(f.refuse("add_cross_attention", "cross attention is not covered"));
  f.skip({"n_ctx", "n_special", "predict_special_tokens", "scale_attn_by_inverse_layer_idx"});
  CAIRN_TRY(const Dims d, read_gpt_dims(f));
  ModelSpec s = gpt_spec(d, "gpt2", gpt_layer(d, true));
  s.position_embeddings = d.max_context;
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

// StarCoder 1, SantaCoder: GPT-2 with one head of keys and values.
Result<ModelSpec> gpt_bigcode(Fields& f) {
  f.skip({"inference_runner", "pre_allocate_kv_cache"});
  CAIRN_TRY(Dims d, read_gpt_dims(f));
  CAIRN_TRY(const bool multi_query, f.flag("multi_query", true));
  if (multi_query) d.kv_heads = 1;
  ModelSpec s = gpt_spec(d, "gpt-bigcode", gpt_layer(d, true));
  s.position_embeddings = d.max_context;
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

Result<ModelSpec> gptj(Fields& f) {
  CAIRN_TRY(const Dims d, read_gpt_dims(f));
  LayerSpec layer = gpt_layer(d, false);
  layer.norms = 1;
  ModelSpec s = gpt_spec(d, "gptj", layer);
  s.output_bias = true;
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  return s;
}

// Phi-1, 1.5 and 2: attention and feed-forward in parallel, biases everywhere.
Result<ModelSpec> phi(Fields& f) {
  CAIRN_CHECK(f.refuse("qk_layernorm", "norms of queries and keys are not covered"));
  f.skip({"fused_dense"});
  CAIRN_TRY(Dims d, read_gpt_dims(f));
  CAIRN_TRY(d.kv_heads,
            f.integer_or(f.any({"n_head_kv", "num_key_value_heads"}), d.heads, 1, kMaxHeads));
  LayerSpec layer = gpt_layer(d, true);
  layer.norms = 1;
  ModelSpec s = gpt_spec(d, "phi", layer);
  s.output_bias = true;
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  return s;
}

Result<ModelSpec> gpt_neox(Fields& f) {
  f.skip({"use_parallel_residual"});  // two norms either way
  CAIRN_TRY(const Dims d, read_gpt_dims(f));
  CAIRN_TRY(const bool bias, f.flag("attention_bias", true));
  ModelSpec s = gpt_spec(d, "gpt-neox", gpt_layer(d, bias));
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  return s;
}

Result<ModelSpec> opt(Fields& f) {
  CAIRN_TRY(const bool before, f.flag("do_layer_norm_before", true));
  if (!before) return fail(f.error("do_layer_norm_before", "norms after are not covered"));
  CAIRN_CHECK(f.refuse("_remove_final_layer_norm", "a model without final norm is not covered"));
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(const std::int64_t embed, f.integer_or("word_embed_proj_dim", d.hidden, 1, kMaxHidden));
  if (embed != d.hidden) {
    return fail(f.error("word_embed_proj_dim", "a projected embedding is not covered"));
  }
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "num_attention_heads", d.hidden, d.heads));
  d.kv_heads = d.heads;
  CAIRN_TRY(d.intermediate, f.integer("ffn_dim", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(const bool bias, f.flag("enable_bias", true));
  CAIRN_TRY(const bool affine, f.flag("layer_norm_elementwise_affine", true));
  if (!affine) return fail(f.error("layer_norm_elementwise_affine", "not covered").want("true"));
  LayerSpec layer = gpt_layer(d, bias);
  layer.feed_forward.bias = bias;
  ModelSpec s = gpt_spec(d, "opt", layer);
  s.position_embeddings = d.max_context + 2;  // OPT's positions start at 2
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

// transformers' FalconConfig: the new architecture has grouped keys and values and
// two norms, the old one a single head of them and one norm.
Result<ModelSpec> falcon(Fields& f) {
  Dims d;
  f.skip({"apply_residual_connection_post_layernorm", "alibi"});
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer(f.any({"num_hidden_layers", "n_layer"}), 1, kMaxLayers));
  const std::string_view heads = f.any({"num_attention_heads", "n_head"});
  CAIRN_TRY(d.heads, f.integer(heads, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, heads, d.hidden, d.heads));
  CAIRN_TRY(const bool grouped, f.flag("new_decoder_architecture", false));
  CAIRN_TRY(const bool multi_query, f.flag("multi_query", true));
  CAIRN_TRY(const bool parallel, f.flag("parallel_attn", true));
  CAIRN_TRY(const std::int64_t kv,
            f.integer_or(f.any({"num_kv_heads", "n_head_kv"}), d.heads, 1, kMaxHeads));
  d.kv_heads = grouped ? kv : multi_query ? 1 : d.heads;
  CAIRN_TRY(d.intermediate, f.integer_or("ffn_hidden_size", 4 * d.hidden, 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer_or("max_position_embeddings", 2048, 1, kMaxContext));
  CAIRN_TRY(const bool bias, f.flag("bias", false));
  CAIRN_TRY(const std::int64_t norms,
            f.integer_or("num_ln_in_parallel_attn", grouped ? 2 : 1, 1, 2));
  LayerSpec layer = gpt_layer(d, bias);
  layer.feed_forward.bias = bias;
  layer.norms = grouped ? norms : parallel ? 1 : 2;
  ModelSpec s = gpt_spec(d, "falcon", layer);
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

// https://huggingface.co/Qwen/Qwen-7B/blob/main/modeling_qwen.py: half of
// intermediate_size for each of gate and up.
Result<ModelSpec> qwen(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer(f.any({"hidden_size", "n_embd"}), 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer(f.any({"num_hidden_layers", "n_layer"}), 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer(f.any({"num_attention_heads", "n_head"}), 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, f.integer("kv_channels", 1, kMaxHeadDim));
  d.kv_heads = d.heads;
  const std::string_view inner = f.any({"intermediate_size", "ffn_hidden_size"});
  CAIRN_TRY(const std::int64_t both, f.integer(inner, 2, kMaxInner));
  if (both % 2 != 0) return fail(f.error(inner, "odd").want("an even number"));
  d.intermediate = both / 2;
  f.skip({"apply_residual_connection_post_layernorm", "n_inner"});
  CAIRN_TRY(d.vocabulary, f.integer(f.any({"padded_vocab_size", "vocab_size"}), 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context,
            f.integer(f.any({"seq_length", "max_position_embeddings"}), 1, kMaxContext));
  CAIRN_TRY(const bool no_bias, f.flag("no_bias", true));
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.attention.qkv_bias = true;
  layer.attention.o_bias = !no_bias;
  layer.feed_forward.bias = !no_bias;
  layer.feed_forward.intermediate = d.intermediate;
  ModelSpec s = make_spec(d, "qwen");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

// https://huggingface.co/THUDM/chatglm3-6b/blob/main/modeling_chatglm.py
Result<ModelSpec> chatglm(Fields& f) {
  CAIRN_TRY(const bool rms, f.flag("rmsnorm", true));
  if (!rms) return fail(f.error("rmsnorm", "not covered").want("true"));
  CAIRN_TRY(const bool final_norm, f.flag("post_layer_norm", true));
  if (!final_norm) return fail(f.error("post_layer_norm", "not covered").want("true"));
  CAIRN_CHECK(f.refuse("pre_seq_len", "a prefix encoder is not covered"));
  f.skip({"apply_residual_connection_post_layernorm"});
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, f.integer("kv_channels", 1, kMaxHeadDim));
  CAIRN_TRY(const bool grouped, f.flag("multi_query_attention", false));
  CAIRN_TRY(const std::int64_t groups, f.integer_or("multi_query_group_num", 1, 1, kMaxHeads));
  d.kv_heads = grouped ? groups : d.heads;
  CAIRN_TRY(d.intermediate, f.integer("ffn_hidden_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("padded_vocab_size", 1, kMaxVocabulary));
  f.skip({"vocab_size"});  // before padding
  CAIRN_TRY(d.max_context, f.integer("seq_length", 1, kMaxContext));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(const bool bias, f.flag("add_bias_linear", false));
  CAIRN_TRY(const bool qkv_bias, f.flag("add_qkv_bias", false));
  layer.attention.qkv_bias = bias || qkv_bias;
  layer.attention.o_bias = bias;
  layer.feed_forward.bias = bias;
  layer.feed_forward.intermediate = d.intermediate;
  ModelSpec s = make_spec(d, "chatglm");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

// transformers' OlmoConfig: norms without weights.
Result<ModelSpec> olmo(Fields& f) {
  CAIRN_TRY(const Dims d, read_dims(f));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("attention_bias", false));
  layer.attention.o_bias = layer.attention.qkv_bias;
  layer.feed_forward.intermediate = d.intermediate;
  layer.norms = 0;
  ModelSpec s = make_spec(d, "olmo");
  s.final_norm = false;
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

// https://huggingface.co/allenai/Molmo-7B-D-0924/blob/main/modeling_molmo.py: gate and up
// share intermediate_size; rows for the tokens of images are a table of their own.
Result<ModelSpec> molmo(Fields& f) {
  constexpr std::int64_t kImageTokens = 128;  // additional_vocab_size of the class
  CAIRN_CHECK(f.refuse("norm_after", "norms after are not covered for this family"));
  CAIRN_CHECK(f.refuse("attention_layer_norm", "norms of queries and keys are not covered"));
  CAIRN_TRY(const Dims d, read_dims(f));
  if (d.intermediate % 2 != 0) return fail(f.error("intermediate_size", "odd"));
  CAIRN_TRY(const std::int64_t rows,
            f.integer_or("embedding_size", d.vocabulary, d.vocabulary, kMaxVocabulary));
  CAIRN_TRY(const std::int64_t more,
            f.integer_or("additional_vocab_size", kImageTokens, 0, kMaxVocabulary));
  LayerSpec layer;
  layer.attention = make_attention(d);
  CAIRN_TRY(layer.attention.qkv_bias, f.flag("qkv_bias", false));
  layer.feed_forward.intermediate = d.intermediate / 2;
  ModelSpec s = make_spec(d, "molmo");
  s.vocabulary = rows;
  if (more > 0) {
    s.extras.push_back({.role = TensorRole::token_embedding,
                        .rows = more,
                        .columns = d.hidden,
                        .use = Use::lookup});
  }
  CAIRN_TRY(const bool tied, f.flag("weight_tying", false));
  s.tied_embeddings = tied;
  f.skip({"tie_word_embeddings"});
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  return s;
}

// transformers' BloomConfig: positions by slopes, a norm after the embedding.
Result<ModelSpec> bloom(Fields& f) {
  f.skip({"apply_residual_connection_post_layernorm", "seq_length", "offset_alibi", "skip_bias_add",
          "skip_bias_add_qkv", "masked_softmax_fusion", "num_attention_heads"});
  Dims d;
  CAIRN_TRY(d.hidden, f.integer(f.any({"hidden_size", "n_embed"}), 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer(f.any({"n_layer", "num_hidden_layers"}), 1, kMaxLayers));
  const std::string_view heads = f.any({"n_head", "num_attention_heads"});
  CAIRN_TRY(d.heads, f.integer(heads, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, heads, d.hidden, d.heads));
  d.kv_heads = d.heads;
  d.intermediate = 4 * d.hidden;
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer_or("seq_length", 2048, 1, kMaxContext));
  ModelSpec s = gpt_spec(d, "bloom", gpt_layer(d, true));
  s.extras.push_back({.role = TensorRole::embedding_norm,
                      .columns = d.hidden,
                      .use = Use::elementwise,
                      .bias = false,
                      .vector = true});
  s.extras.push_back({.role = TensorRole::embedding_norm,
                      .columns = d.hidden,
                      .use = Use::stored,
                      .vector = true});
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

// https://huggingface.co/mosaicml/mpt-7b/blob/main/configuration_mpt.py: without biases.
Result<ModelSpec> mpt(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("d_model", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("n_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("n_heads", 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "n_heads", d.hidden, d.heads));
  d.kv_heads = d.heads;
  CAIRN_TRY(const std::int64_t ratio, f.integer_or("expansion_ratio", 4, 1, 64));
  d.intermediate = ratio * d.hidden;
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_seq_len", 1, kMaxContext));
  CAIRN_TRY(const bool no_bias, f.flag("no_bias", true));
  if (!no_bias) return fail(f.error("no_bias", "biases are not covered").want("true"));
  f.skip({"attn_config", "norm_type", "embedding_fraction", "init_config", "emb_pdrop"});
  if (const auto attention = f.node().find_value("attn_config")) {
    Fields a(*attention, true);
    CAIRN_CHECK(a.refuse("qk_ln", "norms of queries and keys are not covered"));
    CAIRN_CHECK(a.refuse("kv_n_heads", "grouped heads are not covered for this family"));
    CAIRN_TRY(const bool slopes, a.flag("alibi", false));
    if (!slopes) return fail(a.error("alibi", "learned positions are not covered").want("true"));
  }
  LayerSpec layer = gpt_layer(d, false);
  layer.feed_forward.bias = false;
  layer.norm_bias = false;
  ModelSpec s = gpt_spec(d, "mpt", layer);
  s.final_norm_bias = false;
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"GPT2LMHeadModel", "gpt2", gpt2},
    {"GPTBigCodeForCausalLM", "gpt_bigcode", gpt_bigcode},
    {"GPTJForCausalLM", "gptj", gptj},
    {"PhiForCausalLM", "phi", phi},
    {"GPTNeoXForCausalLM", "gpt_neox", gpt_neox},
    {"OPTForCausalLM", "opt", opt},
    {"FalconForCausalLM", "falcon", falcon},
    {"RWForCausalLM", "RefinedWebModel", falcon},
    {"RWForCausalLM", "RefinedWeb", falcon},
    {"QWenLMHeadModel", "qwen", qwen},
    {"ChatGLMModel", "chatglm", chatglm},
    {"ChatGLMForConditionalGeneration", {}, chatglm},
    {"OlmoForCausalLM", "olmo", olmo},
    {"MolmoForCausalLM", "molmo", molmo},
    {"BloomForCausalLM", "bloom", bloom},
    {"MPTForCausalLM", "mpt", mpt},
    {"MptForCausalLM", {}, mpt},
});

}  // namespace

std::span<const Family> classic_families() { return kFamilies; }

}  // namespace cairn::hf
