#include "cairn/model/gguf_recipe.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace cairn {
namespace {

using enum TensorRole;

template <class T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

constexpr Names<TensorGroup, 23> kGroups = {{
    {"token_embd", TensorGroup::token_embd},
    {"output", TensorGroup::output},
    {"attn_q", TensorGroup::attn_q},
    {"attn_k", TensorGroup::attn_k},
    {"attn_v", TensorGroup::attn_v},
    {"attn_output", TensorGroup::attn_output},
    {"ffn_gate", TensorGroup::ffn_gate},
    {"ffn_up", TensorGroup::ffn_up},
    {"ffn_down", TensorGroup::ffn_down},
    {"other", TensorGroup::other},
    {"attention", TensorGroup::attention},
    {"recurrent", TensorGroup::recurrent},
    {"recurrent_small", TensorGroup::recurrent_small},
    {"ffn", TensorGroup::ffn},
    {"shared", TensorGroup::shared},
    {"experts", TensorGroup::experts},
    {"stacked", TensorGroup::stacked},
    {"dense_gate", TensorGroup::dense_gate},
    {"dense_up", TensorGroup::dense_up},
    {"dense_down", TensorGroup::dense_down},
    {"router", TensorGroup::router},
    {"router_bias", TensorGroup::router_bias},
    {"index_weights", TensorGroup::index_weights},
}};

constexpr Names<LayerSet, 8> kLayerSets = {{
    {"all", LayerSet::all},
    {"more_bits", LayerSet::more_bits},
    {"first_eighth", LayerSet::first_eighth},
    {"first_eighth_counted", LayerSet::first_eighth_counted},
    {"first_sixteenth", LayerSet::first_sixteenth},
    {"first_2", LayerSet::first_2},
    {"first_4", LayerSet::first_4},
    {"middle", LayerSet::middle},
}};

template <class T, std::size_t N>
Result<T> named(Node node, const Names<T, N>& names) {
  CAIRN_TRY(const std::string_view text, node.string());
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  std::string known;
  for (const auto& [name, value] : names) known += (known.empty() ? "" : ", ") + std::string(name);
  return fail(node.error("unknown name").want(known));
}

// The quantiser's category of a tensor, by its name in a file.
TensorGroup category(const Tensor& t) {
  if (t.vector) return TensorGroup::other;
  switch (t.role) {
    case token_embedding:
      return TensorGroup::token_embd;
    case output:
      return TensorGroup::output;
    case attn_q:
      return TensorGroup::attn_q;
    case attn_k:
      return TensorGroup::attn_k;
    case attn_v:
    case linear_qkv:  // attn_qkv counts as attn_v
      return TensorGroup::attn_v;
    case attn_output:
      return TensorGroup::attn_output;
    case ffn_gate:
    case expert_gate:
    case shared_gate:
      return TensorGroup::ffn_gate;
    case ffn_up:
    case expert_up:
    case shared_up:
      return TensorGroup::ffn_up;
    case ffn_down:
    case expert_down:
    case shared_down:
      return TensorGroup::ffn_down;
    default:
      return TensorGroup::other;
  }
}

bool is_small_recurrent(TensorRole role) {
  switch (role) {
    case ssm_dt:
    case ssm_beta_alpha:
    case ssm_beta:
    case ssm_alpha:
    case ssm_f_a:
    case ssm_f_b:
    case ssm_g_a:
    case ssm_g_b:
      return true;
    default:
      return false;
  }
}

bool is_recurrent(TensorRole role) {
  switch (role) {
    case linear_qkv:
    case ssm_in:
    case ssm_x:
    case ssm_out:
    case shortconv_in:
    case shortconv_out:
    case time_mix_receptance:
    case time_mix_key:
    case time_mix_value:
    case time_mix_gate:
    case time_mix_output:
    case channel_mix_receptance:
    case channel_mix_key:
    case channel_mix_value:
      return true;
    default:
      return false;
  }
}

// "gpt-neox", "gpt_neox" and "gptneox" are one family.
std::string plain(std::string_view family) {
  std::string out;
  for (const char c : family) {
    if (c != '-' && c != '_' && c != '.') out += c;
  }
  return out;
}

bool contains_family(const std::vector<std::string>& families, std::string_view family) {
  return std::ranges::any_of(families,
                             [&](const std::string& f) { return plain(f) == plain(family); });
}

// A layer's place among the n that count.
struct Place {
  std::int64_t i = 0;
  std::int64_t n = 0;
};

bool holds(LayerSet set, Place p, Place counted) {
  const bool edge = p.i < p.n / 8 || p.i >= 7 * p.n / 8;
  switch (set) {
    case LayerSet::all:
      return true;
    case LayerSet::more_bits:
      return edge || (p.i - p.n / 8) % 3 == 2;
    case LayerSet::first_eighth:
      return p.i < p.n / 8;
    case LayerSet::first_eighth_counted:
      return counted.i < counted.n / 8;
    case LayerSet::first_sixteenth:
      return p.i < p.n / 16;
    case LayerSet::first_2:
      return p.i < 2;
    case LayerSet::first_4:
      return p.i < 4;
    case LayerSet::middle:
      return !edge;
  }
  return false;
}

class Quantiser {
 public:
  Quantiser(const Graph& graph, const GgufRecipe& recipe, const GgufConventions& conventions)
      : graph_(graph), recipe_(recipe), conventions_(conventions) {
    const ModelSpec& spec = graph.spec;
    for (const LayerSpec& layer : spec.layers) {
      experts_ = std::max(experts_, layer.feed_forward.experts);
    }
    // Files of gated delta nets give the heads of attention once, for all layers; other
    // hybrids have none in the first.
    for (const LayerSpec& layer : spec.layers) {
      const AttentionSpec& a = layer.attention;
      if (a.kv_heads > 0) gqa_ = a.heads / a.kv_heads;
      if (layer.recurrent.kind != RecurrentKind::gated_delta_net) break;
    }
    fused_ = contains_family(conventions.fused_qkv, spec.family);
    tied_ = std::ranges::none_of(graph.tensors, [](const Tensor& t) { return t.role == output; });
    place_layers();
    count_down_projections();
  }

  const TensorType* choose(std::size_t index) const {
    const Tensor& t = graph_.tensors[index];
    const bool one_dimension = t.rows == 1 && t.experts == 1;
    if (t.vector || one_dimension || t.role == position_embedding) return conventions_.vectors;
    const TensorGroup group = category(t);
    for (const RecipeRule& rule : conventions_.kept) {
      if (fits(rule, t, index, group, nullptr)) return rule.type;
    }
    // A file in one plain type is a conversion: nothing in it was quantised.
    if (recipe_.fallthrough->block_weights == 1 && recipe_.rules.empty()) {
      return recipe_.fallthrough;
    }
    for (const RecipeRule& rule : conventions_.first) {
      if (fits(rule, t, index, group, nullptr)) return fitting(t, rule.type);
    }
    return fitting(t, preferred(t, index));
  }

 private:
  // Ordinals of the layers that have values of their own, and of those with a
  // dense feed-forward: the quantiser counts tensors as it meets them.
  void place_layers() {
    for (const Tensor& t : graph_.tensors) {
      if (t.vector) continue;
      if (t.role == attn_v || t.role == linear_qkv)
        values_.emplace(t.layer, static_cast<std::int64_t>(values_.size()));
      if (t.role == ffn_down) dense_.emplace(t.layer, static_cast<std::int64_t>(dense_.size()));
    }
  }

  void count_down_projections() {
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (category(graph_.tensors[i]) == TensorGroup::ffn_down) down_.emplace(i, seen++);
    }
  }

  [[nodiscard]] std::int64_t layers() const {
    return static_cast<std::int64_t>(graph_.spec.layers.size());
  }

  [[nodiscard]] Place place(const Tensor& t, TensorGroup group) const {
    if (group == TensorGroup::attn_v) {
      const auto it = values_.find(t.layer);
      return {.i = it == values_.end() ? t.layer : it->second,
              .n = static_cast<std::int64_t>(values_.size())};
    }
    if (experts_ <= 1) {
      const auto it = dense_.find(t.layer);
      if (it != dense_.end()) return {.i = it->second, .n = layers()};
    }
    return {.i = t.layer, .n = layers()};
  }

  [[nodiscard]] bool fits(const RecipeRule& rule, const Tensor& t, std::size_t index,
                          TensorGroup group, const TensorType* chosen) const {
    const bool named = std::ranges::any_of(
        rule.tensors, [&](TensorGroup g) { return g == group || in_group(t, g); });
    if (!named || gqa_ < rule.gqa_min || experts_ < rule.experts_min) return false;
    if (rule.experts && *rule.experts != experts_) return false;
    if (rule.layer_count && *rule.layer_count != layers()) return false;
    if (!rule.families.empty() && !contains_family(rule.families, graph_.spec.family)) return false;
    if (!rule.from.empty() && std::ranges::find(rule.from, chosen) == rule.from.end()) return false;
    const auto it = down_.find(index);
    const Place counted{.i = it == down_.end() ? t.layer : it->second, .n = layers()};
    return holds(rule.layers, place(t, group), counted);
  }

  [[nodiscard]] const TensorType* preferred(const Tensor& t, std::size_t index) const {
    TensorGroup group = category(t);
    if (group == TensorGroup::output || (tied_ && group == TensorGroup::token_embd)) {
      return recipe_.output != nullptr ? recipe_.output : recipe_.fallthrough;
    }
    if (fused_ && (group == TensorGroup::attn_q || group == TensorGroup::attn_k)) {
      group = TensorGroup::attn_v;
    }
    if (group == TensorGroup::token_embd && recipe_.token_embd != nullptr) {
      return recipe_.token_embd;
    }
    const TensorType* type = recipe_.fallthrough;
    for (const RecipeRule& rule : recipe_.rules) {
      if (!fits(rule, t, index, group, type)) continue;
      type = rule.type;
      break;
    }
    for (const RecipeRule& rule : recipe_.then) {
      if (fits(rule, t, index, group, type)) type = rule.type;
    }
    return type;
  }

  // Rows must be whole blocks.
  [[nodiscard]] const TensorType* fitting(const Tensor& t, const TensorType* type) const {
    if (t.columns % type->block_weights == 0) return type;
    for (const auto& [from, to] : conventions_.fallbacks) {
      if (from == type && t.columns % to->block_weights == 0) return to;
    }
    return conventions_.last_resort;
  }

  const Graph& graph_;
  const GgufRecipe& recipe_;
  const GgufConventions& conventions_;
  std::int64_t experts_ = 0;
  std::int64_t gqa_ = 1;
  bool fused_ = false;
  bool tied_ = false;
  std::map<std::int32_t, std::int64_t> values_;
  std::map<std::int32_t, std::int64_t> dense_;
  std::map<std::size_t, std::int64_t> down_;
};

constexpr std::int64_t kMaxCount = 1'000'000;

Result<RecipeRule> read_rule(Node node, const TensorTypes& types) {
  static constexpr std::array<std::string_view, 9> kKeys = {
      "tensors",     "layers",   "gqa_min", "experts", "experts_min",
      "layer_count", "families", "from",    "type"};
  CAIRN_CHECK(node.only(kKeys));
  RecipeRule rule;
  CAIRN_TRY(const Node tensors, node.required("tensors"));
  CAIRN_TRY(rule.tensors, read_groups(tensors));
  if (const auto layers = node.find_value("layers")) {
    CAIRN_TRY(rule.layers, named(*layers, kLayerSets));
  }
  CAIRN_TRY(rule.gqa_min, node.get_integer_or("gqa_min", 0, 0, kMaxCount));
  CAIRN_TRY(rule.experts_min, node.get_integer_or("experts_min", 0, 0, kMaxCount));
  CAIRN_TRY(rule.experts, node.get_optional<std::int64_t>("experts"));
  CAIRN_TRY(rule.layer_count, node.get_optional<std::int64_t>("layer_count"));
  CAIRN_TRY(rule.families, node.get_strings("families"));
  CAIRN_TRY(const std::vector<std::string> from, node.get_strings("from"));
  for (const std::string& name : from) {
    const TensorType* const type = types.find(name);
    if (type == nullptr) return fail(node.error("unknown tensor type").in("from").got(name));
    rule.from.push_back(type);
  }
  CAIRN_TRY(rule.type, read_type(node, "type", types));
  return rule;
}

}  // namespace

Result<const TensorType*> read_type(Node mapping, std::string_view key, const TensorTypes& types) {
  CAIRN_TRY(const Node node, mapping.required(key));
  CAIRN_TRY(const std::string_view name, node.string());
  const TensorType* const type = types.find(name);
  if (type == nullptr) return fail(node.error("unknown tensor type").in(std::string(key)));
  return type;
}

Result<std::vector<TensorGroup>> read_groups(Node names) {
  if (!names.is_sequence()) return fail(names.error("not a list of tensor groups"));
  std::vector<TensorGroup> groups;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    CAIRN_TRY(const TensorGroup group, named(names.at(i), kGroups));
    groups.push_back(group);
  }
  return groups;
}

std::optional<TensorGroup> group_named(std::string_view name) {
  for (const auto& [known, group] : kGroups) {
    if (known == name) return group;
  }
  return std::nullopt;
}

bool in_group(const Tensor& t, TensorGroup group) {
  if (group == TensorGroup::router) return t.role == router || t.role == shared_router;
  if (group == TensorGroup::router_bias) return t.role == router_bias;
  if (t.vector) return false;
  switch (group) {
    case TensorGroup::dense_gate:
      return t.role == ffn_gate;
    case TensorGroup::dense_up:
      return t.role == ffn_up;
    case TensorGroup::dense_down:
      return t.role == ffn_down;
    case TensorGroup::attention:
      return (t.role >= attn_q && t.role <= attn_gate) || t.role == attn_q_a ||
             t.role == attn_q_b || t.role == attn_kv_a || t.role == attn_k_b ||
             t.role == attn_v_b || t.role == attn_output_a || t.role == indexer_q ||
             t.role == indexer_k || (t.role >= cross_attn_q && t.role <= cross_attn_output);
    case TensorGroup::recurrent:
      return is_recurrent(t.role);
    case TensorGroup::recurrent_small:
      return is_small_recurrent(t.role);
    case TensorGroup::ffn:
      return t.role == ffn_gate || t.role == ffn_up || t.role == ffn_down;
    case TensorGroup::shared:
      return t.role == shared_gate || t.role == shared_up || t.role == shared_down;
    case TensorGroup::experts:
      return t.role == expert_gate || t.role == expert_up || t.role == expert_down;
    case TensorGroup::index_weights:
      return t.role == indexer_weights;
    case TensorGroup::stacked:
      return t.experts > 1;
    default:
      return category(t) == group;
  }
}

Result<std::vector<RecipeRule>> read_rules(Node rules, const TensorTypes& types) {
  if (!rules.is_sequence()) return fail(rules.error("not a list of rules"));
  std::vector<RecipeRule> out;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    CAIRN_TRY(RecipeRule rule, read_rule(rules.at(i), types));
    out.push_back(std::move(rule));
  }
  return out;
}

Result<GgufConventions> read_conventions(Node node, const TensorTypes& types) {
  GgufConventions out;
  CAIRN_TRY(out.vectors, read_type(node, "vectors", types));
  CAIRN_TRY(out.last_resort, read_type(node, "last_resort", types));
  CAIRN_TRY(out.fused_qkv, node.get_strings("fused_qkv"));
  if (const auto kept = node.find_value("kept")) {
    CAIRN_TRY(out.kept, read_rules(*kept, types));
  }
  if (const auto first = node.find_value("first")) {
    CAIRN_TRY(out.first, read_rules(*first, types));
  }
  CAIRN_TRY(const Node fallbacks, node.required("fallbacks"));
  for (std::uint32_t i = 0; i < fallbacks.size(); ++i) {
    CAIRN_TRY(const TensorType* const from, read_type(fallbacks.at(i), "from", types));
    CAIRN_TRY(const TensorType* const to, read_type(fallbacks.at(i), "to", types));
    out.fallbacks.emplace_back(from, to);
  }
  return out;
}

std::vector<const TensorType*> apply_recipe(const Graph& graph, const GgufRecipe& recipe,
                                            const GgufConventions& conventions) {
  const Quantiser quantiser(graph, recipe, conventions);
  std::vector<const TensorType*> types;
  types.reserve(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) types.push_back(quantiser.choose(i));
  return types;
}

}  // namespace cairn
