// Entries of the catalogue: reading one into a spec, writing one from a spec.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cairn/model/catalogue.h"

namespace cairn {
namespace {

constexpr std::int64_t kMax = 1 << 30;

constexpr std::array kKinds =
    std::to_array<std::pair<AttentionKind, std::string_view>>({{AttentionKind::full, "full"},
                                                               {AttentionKind::sliding, "sliding"},
                                                               {AttentionKind::chunked, "chunked"},
                                                               {AttentionKind::mla, "mla"}});

// The fields of each part with their defaults, once for reading and writing.
template <class Visitor>
void visit_fields(AttentionSpec& a, Visitor& v) {
  v("heads", a.heads, 0);
  v("kv_heads", a.kv_heads, 0);
  v("head_dim", a.head_dim, 0);
  v("v_head_dim", a.v_head_dim, 0);
  v("window", a.window, 0);
  v("qkv_bias", a.qkv_bias, false);
  v("o_bias", a.o_bias, false);
  v("qk_norm", a.qk_norm, false);
  v("qk_norm_dim_q", a.qk_norm_dim_q, 0);
  v("qk_norm_dim_k", a.qk_norm_dim_k, 0);
  v("sinks", a.sinks, false);
  v("output_gate", a.output_gate, false);
  v("shares_kv", a.shares_kv, false);
  v("q_lora_rank", a.q_lora_rank, 0);
  v("kv_lora_rank", a.kv_lora_rank, 0);
  v("qk_nope_head_dim", a.qk_nope_head_dim, 0);
  v("qk_rope_head_dim", a.qk_rope_head_dim, 0);
}

template <class Visitor>
void visit_fields(FeedForwardSpec& f, Visitor& v) {
  v("gated", f.gated, true);
  v("bias", f.bias, false);
  v("intermediate", f.intermediate, 0);
  v("experts", f.experts, 0);
  v("experts_per_token", f.experts_per_token, 0);
  v("expert_intermediate", f.expert_intermediate, 0);
  v("shared_intermediate", f.shared_intermediate, 0);
  v("shared_gate", f.shared_gate, false);
  v("router_bias", f.router_bias, false);
  v("expert_bias", f.expert_bias, false);
}

template <class Visitor>
void visit_fields(LayerSpec& l, Visitor& v) {
  v("norms", l.norms, 2);
  v("norms_after", l.norms_after, false);
  v("norm_bias", l.norm_bias, false);
}

template <class Visitor>
void visit_fields(ModelSpec& m, Visitor& v) {
  v("hidden", m.hidden, 0);
  v("vocabulary", m.vocabulary, 0);
  v("max_context", m.max_context, 0);
  v("position_embeddings", m.position_embeddings, 0);
  v("tied_embeddings", m.tied_embeddings, false);
  v("output_head", m.output_head, true);
  v("output_bias", m.output_bias, false);
  v("final_norm_bias", m.final_norm_bias, false);
  v("mtp_layers", m.mtp_layers, 0);
  v("text_part", m.text_part, false);
}

/// Reads fields from a mapping, and keeps the first error.
class Reader {
 public:
  explicit Reader(Node node) : node_(node) {}

  void operator()(std::string_view key, std::int64_t& value, std::int64_t fallback) {
    keep(value, node_.get_integer_or(key, fallback, 0, kMax));
    known_.push_back(key);
  }
  void operator()(std::string_view key, bool& value, bool fallback) {
    keep(value, node_.get_or<bool>(key, fallback));
    known_.push_back(key);
  }
  void allow(std::string_view key) { known_.push_back(key); }

  [[nodiscard]] Result<void> finish() const {
    if (error_) return std::unexpected(*error_);
    if (!node_.is_mapping()) return fail(node_.error("wrong type").want("a mapping"));
    return node_.only(known_);
  }

 private:
  template <class T>
  void keep(T& value, Result<T> read) {
    if (read) {
      value = *read;
    } else if (!error_) {
      error_ = std::move(read).error();
    }
  }

  Node node_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

Result<AttentionSpec> read_attention(Node node) {
  AttentionSpec a;
  Reader reader(node);
  visit_fields(a, reader);
  reader.allow("kind");
  CAIRN_CHECK(reader.finish());
  CAIRN_TRY(const std::string_view kind, node.get_or<std::string_view>("kind", "full"));
  const auto it =
      std::ranges::find(kKinds, kind, &std::pair<AttentionKind, std::string_view>::second);
  if (it == kKinds.end()) {
    return fail(
        node.find("kind")->error("no such kind").in("kind").want("full, sliding, chunked or mla"));
  }
  a.kind = it->first;
  if (a.kind == AttentionKind::mla) a.head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.v_head_dim == 0) a.v_head_dim = a.head_dim;
  return a;
}

Result<LayerSpec> read_layer(Node node) {
  LayerSpec layer;
  Reader reader(node);
  visit_fields(layer, reader);
  reader.allow("attention");
  reader.allow("feed_forward");
  CAIRN_CHECK(reader.finish());
  CAIRN_TRY(const Node attention, node.required("attention"));
  CAIRN_TRY(layer.attention, read_attention(attention));
  CAIRN_TRY(const Node feed_forward, node.required("feed_forward"));
  Reader inner(feed_forward);
  visit_fields(layer.feed_forward, inner);
  CAIRN_CHECK(inner.finish());
  return layer;
}

struct Kind {
  std::string_view name;
  LayerSpec layer;
};

// {count: 5, kind: sliding-dense}
Result<void> read_run(Node run, const std::vector<Kind>& kinds, std::vector<LayerSpec>& layers) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"count", "kind"});
  CAIRN_CHECK(run.only(kKeys));
  CAIRN_TRY(const std::int64_t count, run.get_integer("count", 1, 1024));
  CAIRN_TRY(const std::string_view name, run.get<std::string_view>("kind"));
  const auto it = std::ranges::find(kinds, name, &Kind::name);
  if (it == kinds.end()) return fail(run.find("kind")->error("no such kind of layer").in("kind"));
  layers.insert(layers.end(), static_cast<std::size_t>(count), it->layer);
  return {};
}

// A run, or {repeat: 10, of: [runs]}.
Result<void> read_group(Node group, const std::vector<Kind>& kinds,
                        std::vector<LayerSpec>& layers) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"repeat", "of"});
  const auto of = group.find("of");
  if (!of) return read_run(group, kinds, layers);
  CAIRN_CHECK(group.only(kKeys));
  CAIRN_TRY(const std::int64_t times, group.get_integer("repeat", 1, 1024));
  for (std::int64_t i = 0; i < times; ++i) {
    for (std::uint32_t j = 0; j < of->size(); ++j) {
      CAIRN_CHECK(read_run(of->at(j), kinds, layers));
    }
    if (layers.size() > 1024) return fail(group.error("too many layers").want("at most 1024"));
  }
  return {};
}

Result<std::vector<LayerSpec>> read_layers(Node entry) {
  CAIRN_TRY(const Node named, entry.required("kinds"));
  if (!named.is_mapping()) return fail(named.error("wrong type").in("kinds").want("a mapping"));
  std::vector<Kind> kinds;
  for (std::uint32_t i = 0; i < named.size(); ++i) {
    const Member member = named.member(i);
    CAIRN_TRY(const LayerSpec layer, read_layer(member.value));
    kinds.push_back({.name = member.key, .layer = layer});
  }
  CAIRN_TRY(const Node groups, entry.required("layers"));
  if (!groups.is_sequence()) return fail(groups.error("wrong type").in("layers").want("a list"));
  std::vector<LayerSpec> layers;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    CAIRN_CHECK(read_group(groups.at(i), kinds, layers));
  }
  return layers;
}

/// Writes the fields that differ from their default.
class Writer {
 public:
  explicit Writer(std::string separator) : separator_(std::move(separator)) {}
  void operator()(std::string_view key, const std::int64_t& value, std::int64_t fallback) {
    if (value != fallback) add(key, std::to_string(value));
  }
  void operator()(std::string_view key, const bool& value, bool fallback) {
    if (value != fallback) add(key, value ? "true" : "false");
  }
  void add(std::string_view key, std::string_view value) {
    if (!text_.empty()) text_ += separator_;
    fmt::format_to(std::back_inserter(text_), "{}: {}", key, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string separator_;
  std::string text_;
};

// What is not plain text in YAML: everything but letters, digits and a few marks.
std::string quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
  const bool letter_first =
      !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  if (letter_first && text.find_first_not_of(kPlain) == std::string_view::npos && text != "true" &&
      text != "false" && text != "null") {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string attention_text(AttentionSpec a) {
  Writer writer(", ");
  if (a.kind != AttentionKind::full) {
    writer.add("kind",
               std::ranges::find(kKinds, a.kind, &std::pair<AttentionKind, std::string_view>::first)
                   ->second);
  }
  // What the reader derives is not written.
  if (a.kv_heads == a.heads) a.kv_heads = 0;
  if (a.v_head_dim == a.head_dim) a.v_head_dim = 0;
  if (a.kind == AttentionKind::mla) a.head_dim = 0;
  visit_fields(a, writer);
  return writer.text();
}

std::string kind_text(std::string_view name, LayerSpec layer) {
  Writer writer("\n        ");
  writer.add("attention", "{" + attention_text(layer.attention) + "}");
  Writer inner(", ");
  visit_fields(layer.feed_forward, inner);
  writer.add("feed_forward", "{" + inner.text() + "}");
  visit_fields(layer, writer);
  return fmt::format("      {}:\n        {}\n", name, writer.text());
}

std::string kind_name(const LayerSpec& layer) {
  const auto* const it = std::ranges::find(kKinds, layer.attention.kind,
                                           &std::pair<AttentionKind, std::string_view>::first);
  return fmt::format("{}-{}", it->second, layer.feed_forward.experts > 0 ? "moe" : "dense");
}

using Order = std::vector<std::size_t>;  // the kind of each layer

// The runs of equal kinds in [from, to).
std::vector<std::string> runs(const Order& order, const std::vector<std::string>& names,
                              std::size_t from, std::size_t to) {
  std::vector<std::string> out;
  while (from < to) {
    std::size_t end = from;
    while (end < to && order[end] == order[from]) ++end;
    out.push_back(fmt::format("{{count: {}, kind: {}}}", end - from, names[order[from]]));
    from = end;
  }
  return out;
}

// The shortest period that starts at `from` and fills at least two turns.
std::size_t period(const Order& order, std::size_t from) {
  const std::size_t n = order.size();
  for (std::size_t p = 1; from + 2 * p <= n; ++p) {
    bool same = true;
    for (std::size_t i = from + p; i < n && same; ++i) same = order[i] == order[i - p];
    if (same) return p;
  }
  return 0;
}

std::string layers_text(const Order& order, const std::vector<std::string>& names) {
  std::vector<std::string> lines = runs(order, names, 0, order.size());
  // A repeated pattern, perhaps after a few layers of its own, if it is shorter.
  for (std::size_t from = 0; from < std::min<std::size_t>(order.size(), 8); ++from) {
    const std::size_t p = period(order, from);
    if (p < 2) continue;
    const std::size_t times = (order.size() - from) / p;
    const std::vector<std::string> of = runs(order, names, from, from + p);
    std::vector<std::string> shorter = runs(order, names, 0, from);
    shorter.push_back(fmt::format("{{repeat: {}, of: [{}]}}", times, fmt::join(of, ", ")));
    const std::vector<std::string> rest = runs(order, names, from + times * p, order.size());
    shorter.insert(shorter.end(), rest.begin(), rest.end());
    if (shorter.size() + of.size() < lines.size()) lines = shorter;
  }
  return fmt::format("      - {}\n", fmt::join(lines, "\n      - "));
}

}  // namespace

Result<ModelSpec> spec_from_entry(Node entry) {
  ModelSpec spec;
  Reader reader(entry);
  visit_fields(spec, reader);
  for (const std::string_view key : {"id", "aliases", "variants", "source_url", "date", "note",
                                     "architecture", "family", "format", "kinds", "layers"}) {
    reader.allow(key);
  }
  CAIRN_CHECK(reader.finish());
  CAIRN_TRY(spec.id, entry.get<std::string_view>("id"));
  CAIRN_TRY(spec.architecture, entry.get<std::string_view>("architecture"));
  CAIRN_TRY(spec.family, entry.get<std::string_view>("family"));
  CAIRN_TRY(spec.published_format, entry.get_or<std::string_view>("format", ""));
  CAIRN_TRY(spec.layers, read_layers(entry));
  if (auto checked = check_spec(spec); !checked) {
    return std::unexpected(std::move(checked).error().at(entry.where()));
  }
  return spec;
}

std::string catalogue_entry(const ModelSpec& spec, std::string_view source, std::string_view date,
                            std::span<const std::string> aliases, std::string_view note) {
  Order order;
  std::vector<LayerSpec> kinds;
  for (const LayerSpec& layer : spec.layers) {
    const auto it = std::ranges::find(kinds, layer);
    order.push_back(static_cast<std::size_t>(it - kinds.begin()));
    if (it == kinds.end()) kinds.push_back(layer);
  }
  std::vector<std::string> names;
  for (const LayerSpec& kind : kinds) {
    std::string name = kind_name(kind);
    const auto number = std::ranges::count(names, name);
    if (number > 0) name += fmt::format("-{}", names.size() + 1);
    names.push_back(std::move(name));
  }
  ModelSpec scalars = spec;
  Writer writer("\n    ");
  writer.add("id", quoted(spec.id));
  if (!aliases.empty()) {
    std::vector<std::string> texts;
    for (const std::string& alias : aliases) texts.push_back(quoted(alias));
    writer.add("aliases", fmt::format("[{}]", fmt::join(texts, ", ")));
  }
  writer.add("source_url", quoted(source));
  writer.add("date", fmt::format("\"{}\"", date));
  if (!note.empty()) writer.add("note", quoted(note));
  writer.add("architecture", quoted(spec.architecture));
  writer.add("family", quoted(spec.family));
  if (!spec.published_format.empty()) writer.add("format", quoted(spec.published_format));
  visit_fields(scalars, writer);
  std::string text = fmt::format("  - {}\n    kinds:\n", writer.text());
  for (std::size_t i = 0; i < kinds.size(); ++i) text += kind_text(names[i], kinds[i]);
  return text + "    layers:\n" + layers_text(order, names);
}

}  // namespace cairn
