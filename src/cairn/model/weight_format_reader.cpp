#include "cairn/model/weight_format_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace cairn {
namespace {

Result<CheckpointPart> read_part(Node node, const TensorTypes& types) {
  static constexpr std::array<std::string_view, 6> kKeys = {"tensors",  "type",       "unless",
                                                            "families", "source_url", "date"};
  CAIRN_CHECK(node.only(kKeys));
  CheckpointPart part;
  CAIRN_TRY(const Node tensors, node.required("tensors"));
  CAIRN_TRY(part.tensors, read_groups(tensors));
  CAIRN_TRY(part.type, read_type(node, "type", types));
  CAIRN_TRY(part.families, node.get_strings("families"));
  CAIRN_TRY(const std::string_view unless, node.get_or<std::string_view>("unless", ""));
  if (!unless.empty() && unless != "experts") {
    return fail(node.error("unknown condition").in("unless").want("experts"));
  }
  part.unless_experts = !unless.empty();
  return part;
}

Result<std::vector<CheckpointPart>> read_parts(Node root, std::string_view key,
                                               const TensorTypes& types) {
  std::vector<CheckpointPart> out;
  const auto parts = root.find_value(key);
  if (!parts) return out;
  for (std::uint32_t i = 0; i < parts->size(); ++i) {
    CAIRN_TRY(CheckpointPart part, read_part(parts->at(i), types));
    out.push_back(std::move(part));
  }
  return out;
}

Result<CheckpointRecipe> read_checkpoint(Node node, const TensorTypes& types) {
  CheckpointRecipe recipe;
  CAIRN_TRY(recipe.other, read_type(node, "other", types));
  CAIRN_TRY(recipe.parts, read_parts(node, "parts", types));
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

Result<StoredFormat> read_format(Node node, Node root, const TensorTypes& types) {
  StoredFormat format;
  CAIRN_TRY(format.info, read_info(node));
  CAIRN_TRY(const Node sets, root.required("rule_sets"));
  if (format.info.kind == "checkpoint" || format.info.kind == "mlx") {
    CAIRN_TRY(format.checkpoint, read_checkpoint(node, types));
    format.info.sparse = std::ranges::any_of(
        format.checkpoint->parts, [](const CheckpointPart& part) { return part.type->sparse; });
  } else if (format.info.kind == "gguf") {
    CAIRN_TRY(format.gguf, read_gguf(node, sets, types));
  } else {
    return fail(node.error("unknown kind of format").in("kind").want("checkpoint, gguf or mlx"));
  }
  return format;
}

Result<std::vector<KvEntry>> read_kv(Node root, const TensorTypes& types) {
  std::vector<KvEntry> out;
  const auto list = root.find_value("kv_formats");
  if (!list) return out;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    KvEntry entry;
    CAIRN_TRY(entry.format.name, list->at(i).get<std::string_view>("name"));
    CAIRN_TRY(entry.format.type, read_type(list->at(i), "type", types));
    CAIRN_TRY(entry.aliases, list->at(i).get_strings("aliases"));
    out.push_back(std::move(entry));
  }
  return out;
}

Result<std::vector<SparseUnits>> read_sparsity(Node root) {
  std::vector<SparseUnits> out;
  const auto list = root.find_value("sparse_matrix_units");
  if (!list) return out;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    SparseUnits units;
    CAIRN_TRY(units.architectures, list->at(i).get_strings("architectures"));
    CAIRN_TRY(const std::vector<std::string> numbers, list->at(i).get_strings("numbers"));
    for (const std::string& name : numbers) {
      const auto kind = number_class(name);
      if (!kind) return fail(list->at(i).error("unknown class of numbers").in("numbers").got(name));
      units.numbers.push_back(*kind);
    }
    out.push_back(std::move(units));
  }
  return out;
}

}  // namespace

std::string plain_name(std::string_view name) {
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

Result<FormatTables> read_format_tables(Node root, const TensorTypes& types) {
  FormatTables out;
  CAIRN_TRY(const Node gguf, root.required("gguf"));
  CAIRN_TRY(out.conventions, read_conventions(gguf, types));
  CAIRN_TRY(const std::string_view gguf_source, gguf.get<std::string_view>("source_url"));
  CAIRN_TRY(const std::string_view gguf_date, gguf.get<std::string_view>("date"));
  CAIRN_TRY(out.kept, read_parts(root, "checkpoints", types));
  CAIRN_TRY(out.kv, read_kv(root, types));
  CAIRN_TRY(out.sparsity, read_sparsity(root));
  CAIRN_TRY(const Node list, root.required("formats"));
  if (!list.is_sequence()) return fail(list.error("not a list of formats"));
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(StoredFormat format, read_format(list.at(i), root, types));
    if (format.gguf && format.info.source_url.empty()) {
      format.info.source_url = gguf_source;
      format.info.date = gguf_date;
    }
    std::vector<std::string> own = format.info.aliases;
    own.push_back(format.info.name);
    for (const std::string& name : own) {
      if (!names.insert(plain_name(name)).second) {
        return fail(list.at(i).error("the same name twice").in(name));
      }
    }
    out.formats.push_back(std::move(format));
  }
  return out;
}

}  // namespace cairn
