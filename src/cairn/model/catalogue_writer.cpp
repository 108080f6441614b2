// Entries of the catalogue: writing one from a spec.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cairn/model/catalogue.h"
#include "cairn/model/catalogue_fields.h"

namespace cairn {
namespace {

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
  if (a.kind != AttentionKind::full) writer.add("kind", name_in(kAttentionKinds, a.kind));
  // What the reader derives is not written.
  if (a.kv_heads == a.heads) a.kv_heads = 0;
  if (a.v_head_dim == a.head_dim) a.v_head_dim = 0;
  if (a.kind == AttentionKind::mla) a.head_dim = 0;
  visit_fields(a, writer);
  return writer.text();
}

std::string recurrent_text(RecurrentSpec r) {
  Writer writer(", ");
  writer.add("kind", name_in(kRecurrentKinds, r.kind));
  if (r.key_heads == r.heads) r.key_heads = 0;
  if (r.value_dim == r.key_dim) r.value_dim = 0;
  visit_fields(r, writer);
  return writer.text();
}

std::string extras_text(const std::vector<MatrixSpec>& extras) {
  std::vector<std::string> texts;
  for (MatrixSpec m : extras) {
    Writer writer(", ");
    writer.add("role", role_name(m.role));
    if (m.use != Use::linear) writer.add("use", name_in(kUses, m.use));
    visit_fields(m, writer);
    texts.push_back("{" + writer.text() + "}");
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string kind_text(std::string_view name, LayerSpec layer, std::string_view indent) {
  Writer writer(fmt::format("\n    {}", indent));
  if (layer.attention.heads > 0) {
    writer.add("attention", "{" + attention_text(layer.attention) + "}");
  }
  if (layer.recurrent.kind != RecurrentKind::none) {
    writer.add("recurrent", "{" + recurrent_text(layer.recurrent) + "}");
  }
  if (layer.cross_attention.heads > 0) {
    writer.add("cross_attention", "{" + attention_text(layer.cross_attention) + "}");
  }
  Writer inner(", ");
  visit_fields(layer.feed_forward, inner);
  if (!inner.text().empty()) writer.add("feed_forward", "{" + inner.text() + "}");
  visit_fields(layer, writer);
  if (!layer.extras.empty()) writer.add("extras", extras_text(layer.extras));
  return fmt::format("{0}  {1}:\n{0}    {2}\n", indent, name, writer.text());
}

std::string kind_name(const LayerSpec& layer) {
  const RecurrentKind recurrent = layer.recurrent.kind;
  const FeedForwardSpec& f = layer.feed_forward;
  std::string_view mixer = "none";
  if (layer.attention.heads > 0) mixer = name_in(kAttentionKinds, layer.attention.kind);
  if (recurrent != RecurrentKind::none) mixer = name_in(kRecurrentKinds, recurrent);
  const std::string_view plain = f.intermediate > 0 ? "dense" : "none";
  return fmt::format("{}-{}", mixer, f.experts > 0 ? "moe" : plain);
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

std::string layers_text(const Order& order, const std::vector<std::string>& names,
                        std::string_view indent) {
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
  return fmt::format("{0}  - {1}\n", indent, fmt::join(lines, fmt::format("\n{}  - ", indent)));
}

// The kinds of layers and their order.
std::string stack_text(const std::vector<LayerSpec>& layers, std::string_view indent) {
  Order order;
  std::vector<LayerSpec> kinds;
  for (const LayerSpec& layer : layers) {
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
  std::string text = fmt::format("{}kinds:\n", indent);
  for (std::size_t i = 0; i < kinds.size(); ++i) text += kind_text(names[i], kinds[i], indent);
  return fmt::format("{0}{1}layers:\n{2}", text, indent, layers_text(order, names, indent));
}

std::string part_text(ModelSpec part) {
  Writer writer("\n        ");
  writer.add("part", name_in(kParts, part.part));
  visit_fields(part, writer);
  if (!part.extras.empty()) writer.add("extras", extras_text(part.extras));
  std::string text = fmt::format("      - {}\n", writer.text());
  if (!part.layers.empty()) text += stack_text(part.layers, "        ");
  return text;
}

}  // namespace

std::string catalogue_entry(const ModelSpec& spec, std::string_view source, std::string_view date,
                            std::span<const std::string> aliases, std::string_view note) {
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
  if (!spec.extras.empty()) writer.add("extras", extras_text(spec.extras));
  std::string text = fmt::format("  - {}\n", writer.text());
  text += stack_text(spec.layers, "    ");
  if (!spec.parts.empty()) text += "    parts:\n";
  for (const ModelSpec& part : spec.parts) text += part_text(part);
  return text;
}

}  // namespace cairn
