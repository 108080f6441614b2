#include "cairn/model/weight_format.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/base/names.h"
#include "cairn/model/format_name.h"
#include "cairn/model/gguf_recipe.h"
#include "cairn/model/weight_format_reader.h"

namespace cairn {
namespace {

// A part is stored in its type only where a group of it has a tensor.
Result<std::vector<const TensorType*>> bind_checkpoint(const Graph& graph,
                                                       const CheckpointRecipe& recipe,
                                                       const std::vector<CheckpointPart>& kept,
                                                       std::string_view name) {
  const bool experts = std::ranges::any_of(
      graph.tensors, [](const Tensor& t) { return in_group(t, TensorGroup::experts); });
  const auto holds = [&](const CheckpointPart& part, const Tensor& t) {
    if (part.unless_experts && experts) return false;
    const auto& families = part.families;
    const bool family =
        families.empty() || std::ranges::find(families, graph.spec.family) != families.end();
    return family &&
           std::ranges::any_of(part.tensors, [&](TensorGroup g) { return in_group(t, g); });
  };
  std::vector<const TensorType*> types;
  types.reserve(graph.tensors.size());
  bool used = recipe.parts.empty();
  for (const Tensor& t : graph.tensors) {
    const auto fits = [&](const CheckpointPart& part) { return holds(part, t); };
    const auto part = std::ranges::find_if(recipe.parts, fits);
    const auto keep = std::ranges::find_if(kept, fits);
    used = used || part != recipe.parts.end();
    types.push_back(part != recipe.parts.end() ? part->type
                    : keep != kept.end()       ? keep->type
                                               : recipe.other);
  }
  if (!used) {
    return fail(unsupported("the model has no part that this weight format quantises")
                    .in("weight format")
                    .got(name));
  }
  return types;
}

// Tensors of an exception: a group, else a role as GGUF names it.
bool names_tensor(std::string_view name, const Tensor& t) {
  if (const auto group = group_named(name)) return in_group(t, *group);
  return role_name(t.role) == name;
}

Result<void> apply_exception(const Graph& graph, const FormatException& e, const TensorTypes& all,
                             bool gguf, std::vector<const TensorType*>& types) {
  const TensorType* const type = all.find(e.type);
  if (type == nullptr) {
    return fail(not_found("unknown tensor type").in("weight format").got(e.type));
  }
  for (const std::string& name : e.tensors) {
    bool any = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Tensor& t = graph.tensors[i];
      if (!names_tensor(name, t) || !e.in_layers(t.layer)) continue;
      if (gguf && t.columns % type->block_weights != 0) {
        return fail(unsupported("rows that are no whole number of blocks of this type")
                        .in(name)
                        .got(std::to_string(t.columns))
                        .want("a multiple of " + std::to_string(type->block_weights)));
      }
      types[i] = type;
      any = true;
    }
    if (!any) {
      return fail(
          unsupported("the model has no tensor of this name").in("weight format").got(name));
    }
  }
  return {};
}

}  // namespace

struct WeightFormats::Impl : FormatTables {
  std::vector<WeightFormatInfo> infos;
  const TensorTypes* types = nullptr;

  [[nodiscard]] std::optional<std::size_t> index(std::string_view name) const {
    const std::string key = plain_name(name);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (plain_name(infos[i].name) == key) return i;
      for (const std::string& alias : infos[i].aliases) {
        if (plain_name(alias) == key) return i;
      }
    }
    return std::nullopt;
  }

  // The three names nearest to a misspelt one.
  [[nodiscard]] std::string nearest(std::string_view name) const {
    const std::string key = plain_name(name.substr(0, Error::kMaxValue));
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, place in the file
    ranked.reserve(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      ranked.emplace_back(edit_distance(key, plain_name(infos[i].name)), i);
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
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (graph.parts[i].spec.part == ModelPart::encoder) sum += parts[i].total(graph.parts[i]);
  }
  return sum;
}

Bytes BoundWeights::towers(const Graph& graph) const {
  Bytes sum;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ModelPart part = graph.parts[i].spec.part;
    if (part == ModelPart::vision || part == ModelPart::audio)
      sum += parts[i].total(graph.parts[i]);
  }
  return sum;
}

Result<WeightFormats> WeightFormats::load(Node formats, const TensorTypes& types) {
  auto impl = std::make_shared<Impl>();
  CAIRN_TRY(static_cast<FormatTables&>(*impl), read_format_tables(formats, types));
  impl->types = &types;
  for (const StoredFormat& format : impl->formats) impl->infos.push_back(format.info);
  WeightFormats out;
  out.impl_ = std::move(impl);
  return out;
}

const WeightFormatInfo* WeightFormats::find(std::string_view name) const {
  const auto index = impl_->index(base_format(name));
  return index ? &impl_->infos[*index] : nullptr;
}

const WeightFormatInfo* WeightFormats::find_ftype(int ftype) const {
  if (ftype < 0) return nullptr;
  const auto it = std::ranges::find(impl_->infos, ftype, &WeightFormatInfo::ftype);
  return it == impl_->infos.end() ? nullptr : &*it;
}

const std::vector<WeightFormatInfo>& WeightFormats::all() const { return impl_->infos; }

Result<BoundWeights> WeightFormats::bind(const Graph& graph, std::string_view format) const {
  CAIRN_TRY(FormatName name, parse_format_name(format));
  const auto index = impl_->index(name.base);
  if (!index) {
    return fail(not_found("unknown weight format")
                    .in("weight format")
                    .got(name.base)
                    .want(impl_->nearest(name.base)));
  }
  const StoredFormat& f = impl_->formats[*index];
  name.base = f.info.name;
  BoundWeights out;
  out.format = name.to_string();
  out.approximate = !f.info.stand_in.empty();
  if (f.gguf) {
    out.types = apply_recipe(graph, *f.gguf, impl_->conventions);
  } else {
    CAIRN_TRY(out.types, bind_checkpoint(graph, *f.checkpoint, impl_->kept, f.info.name));
  }
  for (const FormatException& e : name.exceptions) {
    CAIRN_CHECK(apply_exception(graph, e, *impl_->types, f.gguf.has_value(), out.types));
  }
  const bool wide = std::ranges::all_of(
      out.types, [](const TensorType* t) { return t->bits_per_weight() >= 16; });
  for (const Graph& part : graph.parts) {
    const bool tower = part.spec.part == ModelPart::vision || part.spec.part == ModelPart::audio;
    const bool keeps = !tower || (wide && !f.gguf);
    auto bound = bind(part, keeps ? std::string_view(f.info.name) : f.gguf ? "f16" : "bf16");
    // A format of experts alone leaves a part without any as it was.
    if (!bound) bound = bind(part, "bf16");
    CAIRN_TRY(BoundWeights inner, std::move(bound));
    out.parts.push_back(std::move(inner));
  }
  return out;
}

std::optional<KvFormat> WeightFormats::find_kv(std::string_view name) const {
  const std::string key = plain_name(name);
  for (const KvEntry& entry : impl_->kv) {
    const bool alias = std::ranges::any_of(
        entry.aliases, [&](const std::string& a) { return plain_name(a) == key; });
    if (alias || plain_name(entry.format.name) == key) return entry.format;
  }
  return std::nullopt;
}

std::vector<KvFormat> WeightFormats::kv_formats() const {
  std::vector<KvFormat> out;
  for (const KvEntry& entry : impl_->kv) out.push_back(entry.format);
  return out;
}

bool WeightFormats::multiplies_sparse(std::string_view architecture, NumberClass numbers) const {
  return std::ranges::any_of(impl_->sparsity, [&](const SparseUnits& units) {
    return std::ranges::find(units.architectures, architecture) != units.architectures.end() &&
           std::ranges::find(units.numbers, numbers) != units.numbers.end();
  });
}

}  // namespace cairn
