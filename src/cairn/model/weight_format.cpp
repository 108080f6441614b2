#include "cairn/model/weight_format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "cairn/model/gguf_recipe.h"

namespace cairn {
namespace {

// Parts of a checkpoint that are stored in a type.
struct Part {
  std::vector<TensorGroup> tensors;
  const TensorType* type = nullptr;
  bool unless_experts = false;  // only in a model without experts
};

struct CheckpointRecipe {
  std::vector<Part> parts;
  const TensorType* other = nullptr;
};

struct Format {
  WeightFormatInfo info;
  std::optional<CheckpointRecipe> checkpoint;
  std::optional<GgufRecipe> gguf;
};

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == '_' ? '-' : c;
    }
  }
  return out;
}

Result<CheckpointRecipe> read_checkpoint(Node node, const TensorTypes& types) {
  CheckpointRecipe recipe;
  CAIRN_TRY(recipe.other, read_type(node, "other", types));
  const auto parts = node.find_value("parts");
  if (!parts) return recipe;
  static constexpr std::array<std::string_view, 3> kKeys = {"tensors", "type", "unless"};
  for (std::uint32_t i = 0; i < parts->size(); ++i) {
    const Node item = parts->at(i);
    CAIRN_CHECK(item.only(kKeys));
    Part part;
    CAIRN_TRY(const Node tensors, item.required("tensors"));
    CAIRN_TRY(part.tensors, read_groups(tensors));
    CAIRN_TRY(part.type, read_type(item, "type", types));
    CAIRN_TRY(const std::string_view unless, item.get_or<std::string_view>("unless", ""));
    if (!unless.empty() && unless != "experts") {
      return fail(item.error("unknown condition").in("unless").want("experts"));
    }
    part.unless_experts = !unless.empty();
    recipe.parts.push_back(std::move(part));
  }
  return recipe;
}

Result<void> append_set(Node sets, std::string_view name, const TensorTypes& types,
                        std::vector<RecipeRule>& rules) {
  CAIRN_TRY(const Node set, sets.required(name));
  CAIRN_TRY(std::vector<RecipeRule> more, read_rules(set, types));
  std::ranges::move(more, std::back_inserter(rules));
  return {};
}

Result<GgufRecipe> read_gguf(Node node, Node sets, const TensorTypes& types) {
  GgufRecipe recipe;
  CAIRN_TRY(recipe.fallthrough, read_type(node, "default", types));
  if (node.find_value("output")) {
    CAIRN_TRY(recipe.output, read_type(node, "output", types));
  }
  if (node.find_value("token_embd")) {
    CAIRN_TRY(recipe.token_embd, read_type(node, "token_embd", types));
  }
  CAIRN_TRY(const std::vector<std::string> includes, node.get_strings("include"));
  for (const std::string& name : includes) CAIRN_CHECK(append_set(sets, name, types, recipe.rules));
  if (const auto rules = node.find_value("rules")) {
    CAIRN_TRY(std::vector<RecipeRule> own, read_rules(*rules, types));
    std::ranges::move(own, std::back_inserter(recipe.rules));
  }
  CAIRN_TRY(const std::string_view then, node.get_or<std::string_view>("then", ""));
  if (!then.empty()) CAIRN_CHECK(append_set(sets, then, types, recipe.then));
  return recipe;
}

Result<WeightFormatInfo> read_info(Node node) {
  static constexpr std::array<std::string_view, 17> kKeys = {
      "name",    "kind",       "aliases", "description", "description_zh", "stand_in",
      "default", "output",     "rules",   "include",     "then",           "token_embd",
      "parts",   "source_url", "date",    "other",       "ftype"};
  CAIRN_CHECK(node.only(kKeys));
  WeightFormatInfo info;
  CAIRN_TRY(info.name, node.get<std::string_view>("name"));
  CAIRN_TRY(info.kind, node.get<std::string_view>("kind"));
  CAIRN_TRY(info.description, node.get<std::string_view>("description"));
  CAIRN_TRY(info.description_zh, node.get<std::string_view>("description_zh"));
  CAIRN_TRY(info.aliases, node.get_strings("aliases"));
  CAIRN_TRY(info.stand_in, node.get_or<std::string_view>("stand_in", ""));
  CAIRN_TRY(info.source_url, node.get_or<std::string_view>("source_url", ""));
  CAIRN_TRY(info.date, node.get_or<std::string_view>("date", ""));
  CAIRN_TRY(const std::int64_t ftype, node.get_integer_or("ftype", -1, 0, 255));
  info.ftype = static_cast<int>(ftype);
  return info;
}

Result<Format> read_format(Node node, Node root, const TensorTypes& types) {
  Format format;
  CAIRN_TRY(format.info, read_info(node));
  CAIRN_TRY(const Node sets, root.required("rule_sets"));
  if (format.info.kind == "checkpoint") {
    CAIRN_TRY(format.checkpoint, read_checkpoint(node, types));
  } else if (format.info.kind == "gguf") {
    CAIRN_TRY(format.gguf, read_gguf(node, sets, types));
  } else {
    return fail(node.error("unknown kind of format").in("kind").want("checkpoint or gguf"));
  }
  return format;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// A part is stored in its type only where a group of it has a tensor.
Result<std::vector<const TensorType*>> bind_checkpoint(const Graph& graph,
                                                       const CheckpointRecipe& recipe,
                                                       std::string_view name) {
  const bool experts = std::ranges::any_of(
      graph.tensors, [](const Tensor& t) { return in_group(t, TensorGroup::experts); });
  std::vector<const TensorType*> types;
  types.reserve(graph.tensors.size());
  bool used = recipe.parts.empty();
  for (const Tensor& t : graph.tensors) {
    const TensorType* type = recipe.other;
    for (const Part& part : recipe.parts) {
      if (part.unless_experts && experts) continue;
      if (!std::ranges::any_of(part.tensors, [&](TensorGroup g) { return in_group(t, g); })) {
        continue;
      }
      type = part.type;
      used = true;
      break;
    }
    types.push_back(type);
  }
  if (!used) {
    return fail(unsupported("the model has no part that this weight format quantises")
                    .in("weight format")
                    .got(name));
  }
  return types;
}

}  // namespace

struct WeightFormats::Impl {
  std::vector<WeightFormatInfo> infos;
  std::vector<Format> formats;
  GgufConventions conventions;

  [[nodiscard]] std::optional<std::size_t> index(std::string_view name) const {
    const std::string key = plain(name);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (plain(infos[i].name) == key) return i;
      for (const std::string& alias : infos[i].aliases) {
        if (plain(alias) == key) return i;
      }
    }
    return std::nullopt;
  }

  // The three names nearest to a misspelt one.
  [[nodiscard]] std::string nearest(std::string_view name) const {
    const std::string key = plain(name.substr(0, Error::kMaxValue));
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, place in the file
    ranked.reserve(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      ranked.emplace_back(edit_distance(key, plain(infos[i].name)), i);
    }
    std::ranges::sort(ranked);
    std::string out;
    for (std::size_t i = 0; i < ranked.size() && i < 3; ++i) {
      out += (i == 0 ? "" : ", ") + infos[ranked[i].second].name;
    }
    return out + " ...";
  }
};

Bytes BoundWeights::bytes(const Graph& graph, std::size_t tensor) const {
  if (!exact.empty()) return exact[tensor];
  const Tensor& t = graph.tensors[tensor];
  return types[tensor]->bytes(static_cast<double>(t.rows), static_cast<double>(t.columns)) *
         static_cast<double>(t.experts);
}

Bytes BoundWeights::total(const Graph& graph) const {
  Bytes sum;
  for (std::size_t i = 0; i < types.size(); ++i) sum += bytes(graph, i);
  return sum;
}

Result<WeightFormats> WeightFormats::load(Node formats, const TensorTypes& types) {
  auto impl = std::make_shared<Impl>();
  CAIRN_TRY(const Node gguf, formats.required("gguf"));
  CAIRN_TRY(impl->conventions, read_conventions(gguf, types));
  CAIRN_TRY(const std::string_view gguf_source, gguf.get<std::string_view>("source_url"));
  CAIRN_TRY(const std::string_view gguf_date, gguf.get<std::string_view>("date"));
  CAIRN_TRY(const Node list, formats.required("formats"));
  if (!list.is_sequence()) return fail(list.error("not a list of formats"));
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(Format format, read_format(list.at(i), formats, types));
    if (format.gguf && format.info.source_url.empty()) {
      format.info.source_url = gguf_source;
      format.info.date = gguf_date;
    }
    std::vector<std::string> own = format.info.aliases;
    own.push_back(format.info.name);
    for (const std::string& name : own) {
      if (!names.insert(plain(name)).second) {
        return fail(list.at(i).error("the same name twice").in(name));
      }
    }
    impl->infos.push_back(format.info);
    impl->formats.push_back(std::move(format));
  }
  WeightFormats out;
  out.impl_ = std::move(impl);
  return out;
}

const WeightFormatInfo* WeightFormats::find(std::string_view name) const {
  const auto index = impl_->index(name);
  return index ? &impl_->infos[*index] : nullptr;
}

const WeightFormatInfo* WeightFormats::find_ftype(int ftype) const {
  if (ftype < 0) return nullptr;
  const auto it = std::ranges::find(impl_->infos, ftype, &WeightFormatInfo::ftype);
  return it == impl_->infos.end() ? nullptr : &*it;
}

const std::vector<WeightFormatInfo>& WeightFormats::all() const { return impl_->infos; }

Result<BoundWeights> WeightFormats::bind(const Graph& graph, std::string_view format) const {
  const auto index = impl_->index(format);
  if (!index) {
    return fail(not_found("unknown weight format")
                    .in("weight format")
                    .got(format)
                    .want(impl_->nearest(format)));
  }
  const Format& f = impl_->formats[*index];
  BoundWeights out;
  out.format = f.info.name;
  out.approximate = !f.info.stand_in.empty();
  if (f.gguf) {
    out.types = apply_recipe(graph, *f.gguf, impl_->conventions);
  } else {
    CAIRN_TRY(out.types, bind_checkpoint(graph, *f.checkpoint, f.info.name));
  }
  return out;
}

}  // namespace cairn
