#include "cairn/model/hf_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cairn::hf {
namespace {

// Parts of names that hint at the shape of a model.
constexpr std::array kHints = std::to_array<std::string_view>(
    {"layer",     "head",     "hidden", "dim",     "rank",  "expert", "moe",   "attn",
     "attention", "window",   "mamba",  "ssm",     "conv",  "state",  "vocab", "bias",
     "norm",      "mlp",      "ffn",    "mtp",     "nextn", "sparse", "index", "block",
     "inner",     "embd",     "embed",  "channel", "width", "gate",   "cross", "lora",
     "share",     "compress", "chunk",  "ngram",   "recur", "depth",  "tower", "multiplier"});

// Names with such parts that change values, not shapes.
constexpr std::array kNeutral = std::to_array<std::string_view>({"hidden_act",
                                                                 "hidden_activation",
                                                                 "hidden_dropout",
                                                                 "attention_dropout",
                                                                 "attn_pdrop",
                                                                 "embd_pdrop",
                                                                 "embedding_dropout",
                                                                 "embed_dropout",
                                                                 "hidden_dropout_prob",
                                                                 "attention_dropout_prob",
                                                                 "embedding_dropout_prob",
                                                                 "ffn_dropout_prob",
                                                                 "expert_dropout",
                                                                 "attn_dropout_prob",
                                                                 "emb_dropout_prob",
                                                                 "layerdrop",
                                                                 "rms_norm_eps",
                                                                 "norm_eps",
                                                                 "layer_norm_eps",
                                                                 "layer_norm_epsilon",
                                                                 "layernorm_epsilon",
                                                                 "norm_epsilon",
                                                                 "norm_topk_prob",
                                                                 "attention_softmax_in_fp32",
                                                                 "scale_attention_softmax_in_fp32",
                                                                 "scale_attn_weights",
                                                                 "attn_implementation",
                                                                 "_attn_implementation",
                                                                 "_attn_implementation_autoset",
                                                                 "output_hidden_states",
                                                                 "output_attentions",
                                                                 "chunk_size_feed_forward",
                                                                 "no_repeat_ngram_size",
                                                                 "encoder_no_repeat_ngram_size",
                                                                 "moe_loss_weight",
                                                                 "moe_jitter_eps",
                                                                 "attn_logit_softcapping",
                                                                 "query_pre_attn_scalar",
                                                                 "attention_multiplier",
                                                                 "embedding_multiplier",
                                                                 "residual_multiplier",
                                                                 "attention_value_scale",
                                                                 "max_window_layers",
                                                                 "rotary_emb_base",
                                                                 "rotary_dim",
                                                                 "router_aux_loss_coef",
                                                                 "reorder_and_upcast_attn",
                                                                 "use_flash_attn",
                                                                 "flash_attn",
                                                                 "use_logn_attn",
                                                                 "apply_query_key_layer_scaling",
                                                                 "fp32_residual_connection",
                                                                 "normalize_attention_scores",
                                                                 "prune_heads",
                                                                 "pruned_heads",
                                                                 "dim_model_base",
                                                                 "scale_emb",
                                                                 "scale_depth",
                                                                 "moe_router_scaling_factor",
                                                                 "attn_temperature_tuning",
                                                                 "attn_scale",
                                                                 "floor_scale",
                                                                 "use_unified_vision_chunk",
                                                                 "original_max_position_embeddings",
                                                                 "bias_dropout_fusion",
                                                                 "image_token_index",
                                                                 "audio_token_index",
                                                                 "ignore_index",
                                                                 "boi_token_index",
                                                                 "eoi_token_index",
                                                                 "video_token_index",
                                                                 "layer_norm_type",
                                                                 "scale_emb",

                                                                 "vision_feature_layer"});

bool is_neutral(std::string_view key) {
  return key.starts_with("rope_") || key.starts_with("summary_") || key.starts_with("mm_") ||
         std::ranges::find(kNeutral, key) != kNeutral.end();
}

bool hints_at_shape(std::string_view key) {
  return std::ranges::any_of(kHints, [key](std::string_view h) { return key.contains(h); });
}

// Null, false, zero and empty switch a feature off.
bool is_off(Node n) {
  switch (n.kind()) {
    case NodeKind::null:
      return true;
    case NodeKind::boolean:
      return !*n.boolean();
    case NodeKind::integer:
      return *n.integer() == 0;
    case NodeKind::number:
      return *n.number() == 0;
    case NodeKind::string:
      return n.string()->empty();
    case NodeKind::sequence:
    case NodeKind::mapping:
      return n.size() == 0;
  }
  return false;
}

}  // namespace

bool Fields::has(std::string_view key) {
  read(key);
  return node_.find_value(key).has_value();
}

std::string_view Fields::any(std::initializer_list<std::string_view> keys) {
  std::string_view found = *keys.begin();
  bool first = true;
  for (const std::string_view key : keys) {
    if (first && has(key)) {
      found = key;
      first = false;
    }
    read(key);
  }
  return found;
}

Result<std::int64_t> Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  read(key);
  return node_.get_integer(key, low, high);
}

Result<std::int64_t> Fields::integer_or(std::string_view key, std::int64_t fallback,
                                        std::int64_t low, std::int64_t high) {
  read(key);
  return node_.get_integer_or(key, fallback, low, high);
}

Result<std::int64_t> Fields::integer_nested(std::string_view key, std::int64_t fallback,
                                            std::int64_t low, std::int64_t high) {
  if (nested_ && fallback > 0) return integer_or(key, fallback, low, high);
  return integer(key, low, high);
}

Result<bool> Fields::flag(std::string_view key, bool fallback) {
  read(key);
  return node_.get_or<bool>(key, fallback);
}

Result<bool> Fields::required_flag(std::string_view key) {
  read(key);
  return node_.get<bool>(key);
}

Result<std::string_view> Fields::text_or(std::string_view key, std::string_view fallback) {
  read(key);
  return node_.get_or<std::string_view>(key, fallback);
}

Result<std::optional<std::vector<std::int64_t>>> Fields::integers(std::string_view key,
                                                                  std::size_t size,
                                                                  std::int64_t low,
                                                                  std::int64_t high) {
  using List = std::vector<std::int64_t>;
  read(key);
  const auto list = node_.find_value(key);
  if (!list) return std::optional<List>();
  if (!list->is_sequence()) {
    return fail(list->error("not a list").in(std::string(key)).want("a list of integers"));
  }
  if (list->size() == 0) return std::optional<List>();
  if (list->size() != size) {
    return fail(list->error("wrong number of elements")
                    .in(std::string(key))
                    .got(std::to_string(list->size()))
                    .want(std::to_string(size)));
  }
  List values;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    auto value = list->at(i).integer();
    if (!value) return std::unexpected(std::move(value).error().in(std::string(key)));
    if (*value < low || *value > high) {
      return fail(list->at(i)
                      .error("out of range")
                      .in(std::string(key))
                      .want(std::to_string(low) + " to " + std::to_string(high)));
    }
    values.push_back(*value);
  }
  return std::optional<List>(std::move(values));
}

Result<std::optional<std::vector<std::string>>> Fields::words(
    std::string_view key, std::size_t size, std::initializer_list<std::string_view> known) {
  using List = std::vector<std::string>;
  read(key);
  const auto list = node_.find_value(key);
  if (!list || (list->is_sequence() && list->size() == 0)) return std::optional<List>();
  CAIRN_TRY(List names, node_.get_strings(key));
  if (names.size() != size) {
    return fail(list->error("wrong number of elements")
                    .in(std::string(key))
                    .got(std::to_string(names.size()))
                    .want(std::to_string(size)));
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(unsupported("a value that is not covered")
                    .at(list->where())
                    .in(std::string(key))
                    .got(name)
                    .want(fmt::format("{}", fmt::join(known, ", "))));
  }
  return std::optional<List>(std::move(names));
}

Result<std::optional<std::vector<bool>>> Fields::layer_types(std::size_t layers,
                                                             std::string_view local) {
  using List = std::vector<bool>;
  constexpr std::string_view kKey = "layer_types";
  read(kKey);
  const auto list = node_.find_value(kKey);
  if (!list) return std::optional<List>();
  CAIRN_TRY(const std::vector<std::string> names, node_.get_strings(kKey));
  if (names.size() != layers) {
    return fail(list->error("one type for each layer is needed")
                    .in(std::string(kKey))
                    .got(std::to_string(names.size()))
                    .want(std::to_string(layers)));
  }
  List sliding;
  for (const std::string& name : names) {
    if (name != local && name != "full_attention") {
      return fail(unsupported("a type of layer that is not covered")
                      .at(list->where())
                      .in(std::string(kKey))
                      .got(name)
                      .want("full_attention or " + std::string(local)));
    }
    sliding.push_back(name == local);
  }
  return std::optional<List>(std::move(sliding));
}

Result<bool> Fields::tied(bool fallback) {
  return flag("tie_word_embeddings", outer_tied_.value_or(fallback));
}

void Fields::skip(std::initializer_list<std::string_view> keys) {
  read_.insert(read_.end(), keys.begin(), keys.end());
}

Result<void> Fields::refuse(std::string_view key, std::string message) {
  read(key);
  const auto value = node_.find_value(key);
  if (!value || is_off(*value)) return {};
  return fail(error(key, std::move(message)));
}

Error Fields::error(std::string_view key, std::string message) const {
  const auto value = node_.find(key);
  return unsupported(std::move(message))
      .at(value ? value->where() : node_.where())
      .in(std::string(key))
      .got(value ? value->text() : "");
}

std::vector<std::string_view> Fields::unread() const {
  std::vector<std::string_view> keys;
  for (std::uint32_t i = 0; i < node_.size(); ++i) {
    const Member m = node_.member(i);
    if (is_off(m.value) || is_neutral(m.key) || !hints_at_shape(m.key)) continue;
    if (std::ranges::find(read_, m.key) == read_.end()) keys.push_back(m.key);
  }
  return keys;
}

Result<void> Fields::finish() const {
  const auto keys = unread();
  if (keys.empty()) return {};
  return fail(error(keys.front(), "a field that may change the shape is not understood"));
}

Result<std::int64_t> even_head_dim(const Fields& f, std::string_view key, std::int64_t hidden,
                                   std::int64_t heads) {
  if (hidden % heads == 0) return hidden / heads;
  return fail(bad_input("the hidden size is no multiple of the number of heads")
                  .at(f.node().where())
                  .in(std::string(key))
                  .got(std::to_string(heads))
                  .want("a divisor of " + std::to_string(hidden)));
}

Result<Dims> read_outer_dims(Fields& f, const Dims& nested) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer_nested("hidden_size", nested.hidden, 1, kMaxHidden));
  const auto layers = f.any({"num_hidden_layers", "num_layers"});
  CAIRN_TRY(d.layers, f.integer_nested(layers, nested.layers, 1, kMaxLayers));
  CAIRN_TRY(d.heads, f.integer_nested("num_attention_heads", nested.heads, 1, kMaxHeads));
  const std::int64_t kv = f.nested() && nested.kv_heads > 0 ? nested.kv_heads : d.heads;
  CAIRN_TRY(d.kv_heads, f.integer_or("num_key_value_heads", kv, 1, kMaxHeads));
  CAIRN_TRY(d.vocabulary, f.integer_nested("vocab_size", nested.vocabulary, 1, kMaxVocabulary));
  CAIRN_TRY(d.max_context,
            f.integer_nested("max_position_embeddings", nested.max_context, 1, kMaxContext));
  if (f.has("head_dim") || (f.nested() && nested.head_dim > 0)) {
    CAIRN_TRY(d.head_dim, f.integer_nested("head_dim", nested.head_dim, 1, kMaxHeadDim));
  } else {
    CAIRN_TRY(d.head_dim, even_head_dim(f, "num_attention_heads", d.hidden, d.heads));
  }
  return d;
}

Result<Dims> read_dims(Fields& f, const Dims& nested) {
  CAIRN_TRY(Dims d, read_outer_dims(f, nested));
  CAIRN_TRY(d.intermediate,
            f.integer_nested("intermediate_size", nested.intermediate, 1, kMaxInner));
  return d;
}

ModelSpec make_spec(const Dims& d, std::string_view family) {
  ModelSpec s;
  s.family = family;
  s.hidden = d.hidden;
  s.vocabulary = d.vocabulary;
  s.max_context = d.max_context;
  return s;
}

void add_drafts(ModelSpec& s, std::int64_t count, const LayerSpec& layer,
                const DraftTraits& traits) {
  for (std::int64_t i = 0; i < count; ++i) s.parts.push_back(make_draft(s, layer, traits));
}

AttentionSpec make_attention(const Dims& d) {
  AttentionSpec a;
  a.heads = d.heads;
  a.kv_heads = d.kv_heads;
  a.head_dim = d.head_dim;
  a.v_head_dim = d.head_dim;
  return a;
}

}  // namespace cairn::hf
