// Entries of the catalogue: reading one into a spec.
#include <algorithm>
#include <optional>
#include <utility>

#include "cairn/model/catalogue.h"
#include "cairn/model/catalogue_fields.h"

namespace cairn {
namespace {

constexpr std::int64_t kMax = 1 << 30;

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

// The value that a table has for the name at a key.
template <class Table, class Value>
Result<Value> choice(Node node, std::string_view key, const Table& table, Value fallback) {
  if (!node.find(key)) return fallback;
  CAIRN_TRY(const std::string_view name, node.get<std::string_view>(key));
  if (const Value* value = named(table, name)) return *value;
  std::string names;
  for (const auto& [known, text] : table) {
    if (!names.empty()) names += ", ";
    names += text;
  }
  return fail(node.find(key)->error("no such value").in(std::string(key)).want(names));
}

Result<AttentionSpec> read_attention(Node node) {
  AttentionSpec a;
  Reader reader(node);
  visit_fields(a, reader);
  reader.allow("kind");
  CAIRN_CHECK(reader.finish());
  CAIRN_TRY(a.kind, choice(node, "kind", kAttentionKinds, AttentionKind::full));
  if (a.kind == AttentionKind::mla) a.head_dim = a.qk_nope_head_dim + a.qk_rope_head_dim;
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.v_head_dim == 0) a.v_head_dim = a.head_dim;
  return a;
}

Result<RecurrentSpec> read_recurrent(Node node) {
  RecurrentSpec r;
  Reader reader(node);
  visit_fields(r, reader);
  reader.allow("kind");
  CAIRN_CHECK(reader.finish());
  CAIRN_CHECK(node.required("kind"));
  CAIRN_TRY(r.kind, choice(node, "kind", kRecurrentKinds, RecurrentKind::none));
  if (r.key_heads == 0) r.key_heads = r.heads;
  if (r.value_dim == 0) r.value_dim = r.key_dim;
  return r;
}

Result<TensorRole> read_role(Node node) {
  CAIRN_TRY(const std::string_view name, node.get<std::string_view>("role"));
  for (int i = 0; i < static_cast<int>(TensorRole::bias); ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (role_name(role) == name) return role;
  }
  return fail(node.find("role")->error("no such role of a tensor").in("role"));
}

Result<std::vector<MatrixSpec>> read_extras(Node around) {
  std::vector<MatrixSpec> out;
  const auto list = around.find("extras");
  if (!list) return out;
  if (!list->is_sequence()) return fail(list->error("wrong type").in("extras").want("a list"));
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    const Node node = list->at(i);
    MatrixSpec m;
    Reader reader(node);
    visit_fields(m, reader);
    reader.allow("role");
    reader.allow("use");
    CAIRN_CHECK(reader.finish());
    CAIRN_TRY(m.role, read_role(node));
    CAIRN_TRY(m.use, choice(node, "use", kUses, Use::linear));
    out.push_back(m);
  }
  return out;
}

Result<LayerSpec> read_layer(Node node) {
  LayerSpec layer;
  Reader reader(node);
  visit_fields(layer, reader);
  for (const auto* key : {"attention", "recurrent", "cross_attention", "feed_forward", "extras"}) {
    reader.allow(key);
  }
  CAIRN_CHECK(reader.finish());
  if (const auto part = node.find("attention")) {
    CAIRN_TRY(layer.attention, read_attention(*part));
  }
  if (const auto part = node.find("recurrent")) {
    CAIRN_TRY(layer.recurrent, read_recurrent(*part));
  }
  if (const auto part = node.find("cross_attention")) {
    CAIRN_TRY(layer.cross_attention, read_attention(*part));
  }
  if (const auto part = node.find("feed_forward")) {
    Reader inner(*part);
    visit_fields(layer.feed_forward, inner);
    CAIRN_CHECK(inner.finish());
  }
  CAIRN_TRY(layer.extras, read_extras(node));
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

// A part has the fields of a model that its layers need.
Result<ModelSpec> read_part(Node node) {
  ModelSpec spec;
  Reader reader(node);
  visit_fields(spec, reader);
  for (const auto* key : {"part", "kinds", "layers", "extras"}) reader.allow(key);
  CAIRN_CHECK(reader.finish());
  CAIRN_CHECK(node.required("part"));
  CAIRN_TRY(spec.part, choice(node, "part", kParts, ModelPart::language));
  if (node.find("layers")) {
    CAIRN_TRY(spec.layers, read_layers(node));
  }
  CAIRN_TRY(spec.extras, read_extras(node));
  return spec;
}

}  // namespace

Result<ModelSpec> spec_from_entry(Node entry) {
  ModelSpec spec;
  Reader reader(entry);
  visit_fields(spec, reader);
  for (const std::string_view key :
       {"id", "aliases", "variants", "source_url", "date", "note", "architecture", "family",
        "format", "kinds", "layers", "extras", "parts"}) {
    reader.allow(key);
  }
  CAIRN_CHECK(reader.finish());
  CAIRN_TRY(spec.id, entry.get<std::string_view>("id"));
  CAIRN_TRY(spec.architecture, entry.get<std::string_view>("architecture"));
  CAIRN_TRY(spec.family, entry.get<std::string_view>("family"));
  CAIRN_TRY(spec.published_format, entry.get_or<std::string_view>("format", ""));
  CAIRN_TRY(spec.layers, read_layers(entry));
  CAIRN_TRY(spec.extras, read_extras(entry));
  const auto parts = entry.find("parts");
  for (std::uint32_t i = 0; parts && i < parts->size(); ++i) {
    CAIRN_TRY(ModelSpec part, read_part(parts->at(i)));
    part.id = spec.id;
    part.architecture = spec.architecture;
    part.family = spec.family;
    part.published_format = spec.published_format;
    spec.parts.push_back(std::move(part));
  }
  if (auto checked = check_spec(spec); !checked) {
    return std::unexpected(std::move(checked).error().at(entry.where()));
  }
  return spec;
}

}  // namespace cairn
