#include "cairn/data/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <span>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"

namespace cairn {
namespace {

constexpr std::array<std::string_view, 20> kKeywords{
    "$schema",     "$id",         "type",     "enum",    "minimum",     "maximum",
    "pattern",     "minItems",    "maxItems", "items",   "properties",  "additionalProperties",
    "required",    "uniqueItems", "title",    "columns", "description", "examples",
    "definitions", "$ref"};
constexpr std::string_view kDefinition = "#/definitions/";
constexpr std::array<std::string_view, 7> kTypes{"object",  "array",   "string", "number",
                                                 "integer", "boolean", "null"};
// std::regex recurses on the length of its subject.
constexpr std::size_t kLongestMatched = 4000;

// The words of a string or of a list of strings.
std::vector<std::string_view> words(Node node) {
  std::vector<std::string_view> out;
  if (const auto s = node.string()) out.push_back(*s);
  for (std::uint32_t i = 0; i < node.size() && node.is_sequence(); ++i) {
    if (const auto s = node.at(i).string()) out.push_back(*s);
  }
  return out;
}

bool is_type(Node value, std::string_view type) {
  if (type == "object") return value.is_mapping();
  if (type == "array") return value.is_sequence();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number() && value.integer().has_value();
  if (type == "boolean") return value.kind() == NodeKind::boolean;
  return type == "null" && value.is_null();
}

bool equal_scalars(Node a, Node b) {
  if (a.is_number() && b.is_number()) return *a.number() == *b.number();
  return a.kind() == b.kind() && a.text() == b.text();
}

// The definition that a $ref names; nothing where there is none.
std::optional<Node> definition(Node root, std::string_view reference) {
  const auto all = root.find("definitions");
  if (!all || !reference.starts_with(kDefinition)) return std::nullopt;
  return all->find(reference.substr(kDefinition.size()));
}

Result<void> check_schema(Node schema, Node root);

Result<void> check_subschemas(Node schema, Node root) {
  for (const std::string_view key : {"properties", "columns", "definitions"}) {
    const auto map = schema.find(key);
    if (!map) continue;
    if (!map->is_mapping()) return fail(map->error("wrong type").in(std::string(key)));
    for (std::uint32_t i = 0; i < map->size(); ++i)
      CAIRN_CHECK(check_schema(map->member(i).value, root));
  }
  if (const auto items = schema.find("items")) CAIRN_CHECK(check_schema(*items, root));
  const auto more = schema.find("additionalProperties");
  if (more && more->kind() != NodeKind::boolean) CAIRN_CHECK(check_schema(*more, root));
  return {};
}

class Validator {
 public:
  explicit Validator(Node root) : root_(root) {}

  std::vector<Error> run(Node document, Node schema) {
    if (schema.find("columns")) {
      table(document, schema);
    } else {
      value(document, schema, "");
    }
    return std::move(errors_);
  }

 private:
  void add(Error error, std::string_view path) {
    error.field = path;
    errors_.push_back(std::move(error));
  }

  void value(Node node, Node schema, const std::string& path) {
    if (const auto reference = schema.find("$ref")) {
      return value(node, *definition(root_, *reference->string()), path);
    }
    if (const auto type = schema.find("type")) {
      const auto types = words(*type);
      if (!std::ranges::any_of(types, [node](auto t) { return is_type(node, t); })) {
        return add(node.error(std::string(msg("wrong type")))
                       .want(fmt::format("{}", fmt::join(types, ", "))),
                   path);
      }
    }
    if (const auto choices = schema.find("enum")) choice(node, *choices, path);
    if (node.is_number()) range(*node.number(), node, schema, path);
    if (const auto text = node.string()) pattern(*text, node, schema, path);
    if (node.is_mapping()) mapping(node, schema, path);
    if (node.is_sequence()) sequence(node, schema, path);
  }

  void choice(Node node, Node choices, const std::string& path) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < choices.size(); ++i) {
      if (equal_scalars(node, choices.at(i))) return;
      names.push_back(choices.at(i).text());
    }
    add(node.error(std::string(msg("not one of the choices")))
            .want(fmt::format("one of {}", fmt::join(names, ", "))),
        path);
  }

  void range(double number, Node node, Node schema, const std::string& path) {
    const auto low = schema.find("minimum");
    const auto high = schema.find("maximum");
    if (low && number < *low->number()) {
      add(node.error(std::string(msg("out of range"))).want("at least " + low->text()), path);
    }
    if (high && number > *high->number()) {
      add(node.error(std::string(msg("out of range"))).want("at most " + high->text()), path);
    }
  }

  void pattern(std::string_view text, Node node, Node schema, const std::string& path) {
    const auto wanted = schema.find("pattern");
    if (!wanted) return;
    const std::string source(*wanted->string());
    const auto [it, fresh] = patterns_.try_emplace(source);
    if (fresh) it->second.assign(source, std::regex::ECMAScript | std::regex::optimize);
    if (text.size() > kLongestMatched || !std::regex_search(text.begin(), text.end(), it->second)) {
      add(node.error(std::string(msg("not of the expected form"))).want(source), path);
    }
  }

  void mapping(Node node, Node schema, const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (const auto required = schema.find("required")) {
      for (const std::string_view key : words(*required)) {
        if (node.find(key)) continue;
        add(bad_input(std::string(msg("missing field"))).at(node.where()),
            prefix + std::string(key));
      }
    }
    const auto properties = schema.find("properties");
    const auto more = schema.find("additionalProperties");
    for (std::uint32_t i = 0; i < node.size(); ++i) {
      const Member m = node.member(i);
      const std::string here = prefix + std::string(m.key);
      if (const auto property = properties ? properties->find(m.key) : std::nullopt) {
        value(m.value, *property, here);
      } else if (more && more->is_mapping()) {
        value(m.value, *more, here);
      } else if (more && !*more->boolean()) {
        add(bad_input(std::string(msg("unknown field"))).at(m.value.where()), here);
      }
    }
  }

  void sequence(Node node, Node schema, const std::string& path) {
    const auto least = schema.find("minItems");
    const auto most = schema.find("maxItems");
    if (least && node.size() < *least->number()) {
      add(node.error(std::string(msg("too few items"))).want("at least " + least->text()), path);
    }
    if (most && node.size() > *most->number()) {
      add(node.error(std::string(msg("too many items"))).want("at most " + most->text()), path);
    }
    const auto unique = schema.find("uniqueItems");
    const auto items = schema.find("items");
    std::map<std::string, bool> seen;
    for (std::uint32_t i = 0; i < node.size(); ++i) {
      const Node item = node.at(i);
      const std::string here = fmt::format("{}[{}]", path, i);
      if (items) value(item, *items, here);
      const bool scalar = !item.is_mapping() && !item.is_sequence();
      if (unique && *unique->boolean() && scalar && !seen.try_emplace(item.text()).second) {
        add(item.error(std::string(msg("the same item twice"))), here);
      }
    }
  }

  void table(Node document, Node schema) {
    const auto table = Table::from(document);
    if (!table) return add(table.error(), table.error().field);
    const Node columns = *schema.find("columns");
    const auto required = schema.find("required");
    const auto needed = required ? words(*required) : std::vector<std::string_view>{};
    for (const std::string_view name : needed) {
      if (std::ranges::find(table->columns(), name) == table->columns().end()) {
        add(bad_input(std::string(msg("missing column"))).at(document.where()), name);
      }
    }
    const Node header = document.at(0);
    for (std::uint32_t c = 0; c < header.size(); ++c) {
      const std::string name = header.at(c).text();
      const auto column = columns.find(name);
      if (!column) {
        add(bad_input(std::string(msg("unknown column"))).at(header.where()), name);
        continue;
      }
      const bool must = std::ranges::find(needed, name) != needed.end();
      for (std::uint32_t r = 1; r < document.size(); ++r) {
        cell(document.at(r).at(c), *column, must, name);
      }
    }
  }

  // A cell is text; it counts as the number or boolean that its column wants.
  void cell(Node node, Node schema, bool must, const std::string& column) {
    if (node.is_null()) {
      if (must) {
        add(bad_input(std::string(msg("an empty cell"))).at(node.where()).want("a value"), column);
      }
      return;
    }
    const std::string text = node.text();
    const auto type = schema.find("type");
    const auto types = type ? words(*type) : std::vector<std::string_view>{};
    const auto wants = [&types](std::string_view t) {
      return std::ranges::find(types, t) != types.end();
    };
    const auto number = parse_number(text);
    if (number && (wants("number") || (wants("integer") && *number == std::floor(*number)))) {
      range(*number, node, schema, column);
    } else if (wants("boolean") && (text == "true" || text == "false")) {
      return;
    } else if (wants("string") || types.empty()) {
      pattern(text, node, schema, column);
    } else {
      return add(node.error(std::string(msg("wrong type")))
                     .want(fmt::format("{}", fmt::join(types, ", "))),
                 column);
    }
    if (const auto choices = schema.find("enum")) choice(node, *choices, column);
  }

  Node root_;
  std::vector<Error> errors_;
  std::map<std::string, std::regex> patterns_;
};

Result<void> check_schema(Node schema, Node root) {
  if (!schema.is_mapping()) return fail(schema.error("wrong type").want("a schema, a mapping"));
  CAIRN_CHECK(schema.only(kKeywords));
  if (schema.find("$ref")) {
    CAIRN_TRY(const std::string_view name, schema.get<std::string_view>("$ref"));
    const auto target = definition(root, name);
    // A definition that is itself a reference could lead in a circle.
    if (!target || target->find("$ref") || schema.size() != 1) {
      return fail(
          schema.error("not a reference").in("$ref").got(name).want("only #/definitions/NAME"));
    }
    return {};
  }
  if (const auto type = schema.find("type")) {
    for (const std::string_view t : words(*type)) {
      if (std::ranges::find(kTypes, t) == kTypes.end()) {
        return fail(type->error("unknown type")
                        .got(t)
                        .want(fmt::format("one of {}", fmt::join(kTypes, ", "))));
      }
    }
    if (words(*type).empty()) return fail(type->error("wrong type").in("type"));
  }
  for (const std::string_view key : {"minimum", "maximum", "minItems", "maxItems"}) {
    if (schema.find(key)) CAIRN_CHECK(schema.get<double>(key));
  }
  if (schema.find("uniqueItems")) CAIRN_CHECK(schema.get<bool>("uniqueItems"));
  CAIRN_CHECK(schema.get_strings("required"));
  if (const auto choices = schema.find("enum"); choices && !choices->is_sequence()) {
    return fail(choices->error("wrong type").in("enum").want("a list"));
  }
  if (schema.find("pattern")) {
    CAIRN_TRY(const std::string_view source, schema.get<std::string_view>("pattern"));
    try {
      static_cast<void>(std::regex(source.begin(), source.end()));
    } catch (const std::regex_error& e) {
      return fail(schema.find("pattern")->error("not a regular expression").want(e.what()));
    }
  }
  return check_subschemas(schema, root);
}

}  // namespace

Result<void> check_schema(Node schema) { return check_schema(schema, schema); }

std::vector<Error> validate(Node document, Node schema) {
  return Validator(schema).run(document, schema);
}

}  // namespace cairn
