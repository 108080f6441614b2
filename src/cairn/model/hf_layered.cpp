// Decoders whose layers differ in heads or sizes: Step 3.5, models pruned by architecture
// search (DeciLM, Nemotron 51B, 49B and 253B), and Phi-3-small with attention to blocks in
// every other layer.
#include <array>
#include <charconv>
#include <cmath>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {
namespace {

// "3,4,5": the layers with experts.
Result<std::vector<bool>> read_enumerated(Fields& f, std::string_view key, std::size_t layers) {
  CAIRN_TRY(std::string_view text, f.text_or(key, ""));
  std::vector<bool> listed(layers, false);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::size_t layer = 0;
    const auto r = std::from_chars(text.data(), text.data() + comma, layer);
    if (r.ec != std::errc() || r.ptr != text.data() + comma) {
      return fail(f.error(key, "not a list of layers").want("numbers with commas between"));
    }
    if (layer < layers) listed[layer] = true;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return listed;
}

struct Step {
  Dims d;
  AttentionSpec full;
  AttentionSpec local;
  FeedForwardSpec experts;
  bool head_gate = true;
};

Result<Dims> read_step_dims(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads,
            f.integer(f.any({"num_attention_groups", "num_key_value_heads"}), 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, f.integer("head_dim", 1, kMaxHeadDim));
  CAIRN_TRY(d.intermediate, f.integer("intermediate_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context,
            f.integer(f.any({"max_position_embeddings", "max_seq_len"}), 1, kMaxContext));
  return d;
}

// Layers with a window have heads of their own, in attention_other_setting.
Result<AttentionSpec> read_step_local(Fields& f, const Dims& d, const AttentionSpec& full) {
  AttentionSpec a = full;
  if (f.has("attention_other_setting")) {
    CAIRN_TRY(const Node node, f.node().required("attention_other_setting"));
    Fields other(node, true);
    CAIRN_TRY(a.heads, other.integer_or("num_attention_heads", d.heads, 1, kMaxHeads));
    CAIRN_TRY(a.kv_heads, other.integer_or("num_attention_groups", d.kv_heads, 1, kMaxHeads));
    CAIRN_TRY(a.head_dim, other.integer_or("head_dim", d.head_dim, 1, kMaxHeadDim));
    a.v_head_dim = a.qk_norm_dim_q = a.qk_norm_dim_k = a.head_dim;
    other.skip({"attention_type", "true_head_dim"});
    CAIRN_CHECK(other.finish());
  }
  CAIRN_TRY(const std::int64_t window, f.integer_or("sliding_window", 0, 0, kMaxContext));
  if (window == 0 || window >= d.max_context) return a;
  a.kind = AttentionKind::sliding;
  a.window = window;
  return a;
}

Result<FeedForwardSpec> read_step_experts(Fields& f) {
  FeedForwardSpec e;
  CAIRN_TRY(e.experts, f.integer(f.any({"moe_num_experts", "num_experts"}), 1, kMaxExperts));
  CAIRN_TRY(e.experts_per_token,
            f.integer(f.any({"moe_top_k", "num_experts_per_tok"}), 1, kMaxExperts));
  CAIRN_TRY(e.expert_intermediate, f.integer("moe_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(e.shared_intermediate,
            f.integer_or(f.any({"share_expert_dim", "share_expert_dims"}), 0, 0, kMaxInner));
  CAIRN_TRY(e.router_bias, f.flag("use_moe_router_bias", true));
  f.skip({"num_experts", "num_experts_per_tok", "n_shared_experts", "norm_expert_weight", "use_moe",
          "moe_every_n_layer", "moe_router_activation"});
  return e;
}

LayerSpec step_layer(const Step& m, bool local, bool mixture) {
  LayerSpec layer;
  layer.attention = local ? m.local : m.full;
  if (mixture) {
    layer.feed_forward = m.experts;
  } else {
    layer.feed_forward.intermediate = m.d.intermediate;
  }
  if (m.head_gate) {
    layer.extras.push_back(
        {.role = TensorRole::attn_gate, .rows = layer.attention.heads, .columns = m.d.hidden});
  }
  return layer;
}

// https://github.com/vllm-project/vllm/blob/main/vllm/model_executor/models/step3p5.py; draft
// layers are dense and have a head of their own.
Result<ModelSpec> step3p5(Fields& f) {
  Step m;
  CAIRN_TRY(m.d, read_step_dims(f));
  const auto layers = static_cast<std::size_t>(m.d.layers);
  m.full = make_attention(m.d);
  m.full.qk_norm = true;
  m.full.qk_norm_dim_q = m.full.qk_norm_dim_k = m.d.head_dim;
  CAIRN_TRY(m.local, read_step_local(f, m.d, m.full));
  CAIRN_TRY(m.experts, read_step_experts(f));
  CAIRN_TRY(m.head_gate, f.flag("use_head_wise_attn_gate", true));
  f.skip({"need_fp32_gate", "use_qk_norm", "layer_types", "sink", "att_impl_type"});
  CAIRN_TRY(const std::int64_t drafts, f.integer_or("num_nextn_predict_layers", 0, 0, kMaxDrafts));
  // The list may go on for the draft layers.
  const auto types = f.node().find_value("layer_types");
  const std::size_t listed = types && types->is_sequence() ? types->size() : layers;
  const bool more = listed == layers + static_cast<std::size_t>(drafts);
  CAIRN_TRY(const auto local, f.layer_types(more ? listed : layers));
  CAIRN_TRY(std::vector<bool> mixture, read_enumerated(f, "moe_layers_enum", layers));
  CAIRN_TRY(const std::int64_t dense, f.integer_or("first_k_dense_replace", 0, 0, m.d.layers));
  ModelSpec s = make_spec(m.d, "step3.5");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  for (std::size_t i = 0; i < layers; ++i) {
    if (!f.has("moe_layers_enum")) mixture[i] = static_cast<std::int64_t>(i) >= dense;
    s.layers.push_back(step_layer(m, local ? (*local)[i] : false, mixture[i]));
  }
  const bool local_draft = !local || !more || local->back();
  add_drafts(s, drafts, step_layer(m, local_draft, false), {.head = true});
  return s;
}

// Features inside a feed-forward part of 2/3 of `multiple` times the hidden ones, in whole
// 256: nvidia/Llama-3_3-Nemotron-Super-49B-v1/blob/main/modeling_decilm.py on Hugging Face.
std::int64_t pruned_inner(double multiple, std::int64_t hidden) {
  const auto exact = static_cast<std::int64_t>(2 * multiple * static_cast<double>(hidden) / 3);
  return (exact + 255) / 256 * 256;
}

// One part of a block: kept, left out, or replaced by a matrix.
enum class Fate : std::uint8_t { kept, dropped, linear };

Result<Fate> read_fate(Fields& f) {
  CAIRN_TRY(const bool dropped, f.flag("no_op", false));
  CAIRN_TRY(const bool linear, f.flag("replace_with_linear", false));
  CAIRN_CHECK(f.refuse("sparsify", "sparse matrices are not covered"));
  CAIRN_CHECK(f.refuse("num_sink_tokens", "sink tokens are not covered"));
  CAIRN_CHECK(f.refuse("window_length", "a window is not covered for this family"));
  f.skip({"unshifted_sink", "use_prefill_window_in_sink_attention"});
  return linear ? Fate::linear : dropped ? Fate::dropped : Fate::kept;
}

Result<void> read_block_attention(Node node, const Dims& d, LayerSpec& layer) {
  Fields f(node, true);
  CAIRN_TRY(const Fate fate, read_fate(f));
  if (fate == Fate::linear) {
    layer.extras.push_back(
        {.role = TensorRole::attn_output, .rows = d.hidden, .columns = d.hidden});
  }
  if (fate == Fate::kept) {
    CAIRN_TRY(const std::int64_t group, f.integer("n_heads_in_group", 1, d.heads));
    if (d.heads % group != 0) {
      return fail(f.error("n_heads_in_group", "does not divide the heads")
                      .want("a divisor of " + std::to_string(d.heads)));
    }
    layer.attention = make_attention(d);
    layer.attention.kv_heads = d.heads / group;
  } else {
    f.skip({"n_heads_in_group"});
  }
  return f.finish();
}

Result<void> read_block_ffn(Node node, const Dims& d, LayerSpec& layer) {
  Fields f(node, true);
  CAIRN_TRY(const Fate fate, read_fate(f));
  f.skip({"ffn_mult"});
  if (fate == Fate::linear) {
    layer.extras.push_back({.role = TensorRole::ffn_down, .rows = d.hidden, .columns = d.hidden});
  }
  if (fate == Fate::kept) {
    CAIRN_TRY(const double multiple, node.get<double>("ffn_mult"));
    if (multiple <= 0 || multiple > 64) {
      return fail(f.error("ffn_mult", "out of range").want("0 to 64"));
    }
    layer.feed_forward.intermediate = pruned_inner(multiple, d.hidden);
  }
  return f.finish();
}

Result<ModelSpec> decilm(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "num_attention_heads", d.hidden, d.heads));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_CHECK(f.refuse("attention_bias", "a bias is not covered for this family"));
  CAIRN_CHECK(f.refuse("mlp_bias", "a bias is not covered for this family"));
  f.skip({"block_configs"});
  ModelSpec s = make_spec(d, "decilm");
  CAIRN_TRY(s.tied_embeddings, f.tied(false));
  CAIRN_TRY(const Node blocks, f.node().required("block_configs"));
  if (!blocks.is_sequence() || blocks.size() != static_cast<std::uint32_t>(d.layers)) {
    return fail(f.error("block_configs", "one block for each layer is needed")
                    .want(std::to_string(d.layers)));
  }
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    LayerSpec layer;
    CAIRN_TRY(const Node attention, blocks.at(i).required("attention"));
    CAIRN_TRY(const Node ffn, blocks.at(i).required("ffn"));
    CAIRN_CHECK(read_block_attention(attention, d, layer));
    const bool mixes = layer.attention.heads > 0 || !layer.extras.empty();
    CAIRN_CHECK(read_block_ffn(ffn, d, layer));
    const bool feeds = layer.feed_forward.intermediate > 0 || layer.extras.size() > (mixes ? 1 : 0);
    layer.norms = (mixes ? 1 : 0) + (feeds ? 1 : 0);
    if (layer.norms > 0) s.layers.push_back(layer);
  }
  return s;
}

// https://huggingface.co/microsoft/Phi-3-small-8k-instruct/blob/main/modeling_phi3_small.py:
// all layers but every n-th attend to the last blocks and to one block in `vert_stride`
// before them. The cache holds every position all the same.
Result<ModelSpec> phi3small(Fields& f) {
  CAIRN_CHECK(f.refuse("ff_dim_multiplier", "another size is given by ff_intermediate_size"));
  CAIRN_CHECK(f.refuse("intermediate_size", "another size is given by ff_intermediate_size"));
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer("num_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", d.heads, 1, kMaxHeads));
  CAIRN_TRY(d.head_dim, even_head_dim(f, "num_attention_heads", d.hidden, d.heads));
  CAIRN_TRY(d.intermediate, f.integer("ff_intermediate_size", 1, kMaxInner));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(const std::int64_t every,
            f.integer_or("dense_attention_every_n_layers", 0, 0, kMaxLayers));
  CAIRN_TRY(const std::int64_t block, f.integer("blocksparse_block_size", 1, kMaxContext));
  CAIRN_TRY(const std::int64_t local, f.integer("blocksparse_num_local_blocks", 1, kMaxContext));
  CAIRN_TRY(const std::int64_t stride, f.integer("blocksparse_vert_stride", 1, 1 << 20));
  f.skip({"blocksparse_homo_head_pattern", "blocksparse_triton_kernel_block_size",
          "mup_width_multiplier", "mup_attn_multiplier", "attention_bias", "rope_embedding_base",
          "mup_embedding_multiplier"});
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.attention.qkv_bias = layer.attention.o_bias = true;
  layer.feed_forward.intermediate = d.intermediate;
  layer.feed_forward.bias = true;
  layer.norm_bias = true;
  ModelSpec s = make_spec(d, "phi3small");
  s.final_norm_bias = true;
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    s.layers.push_back(layer);
    if (every > 0 && (i + 1) % every == 0) continue;
    s.layers.back().attention.window = std::min(block * local, d.max_context);
    s.layers.back().attention.stride = stride;
  }
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"Step3p5ForCausalLM", "step3p5", step3p5},
    {"Step3p7FlashForCausalLM", "step3p7", step3p5},
    {"DeciLMForCausalLM", "nemotron-nas", decilm},
    {"Phi3SmallForCausalLM", "phi3small", phi3small},
});

}  // namespace

std::span<const Family> layered_families() { return kFamilies; }

}  // namespace cairn::hf
