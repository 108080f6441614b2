#include "cairn/data/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "cairn/base/message.h"
#include "cairn/base/names.h"
#include "cairn/data/csv.h"
#include "cairn/data/schema.h"

namespace cairn {
namespace {

struct Reference {
  std::string field;
  std::string documents;
  std::vector<std::string> names;
};

struct Entry {
  std::string documents;
  Node schema;
  std::vector<std::string> names;
  std::string file_name;
  std::vector<Reference> references;
};

Result<Reference> read_reference(Node node) {
  Reference out;
  CAIRN_TRY(out.field, node.get<std::string_view>("field"));
  CAIRN_TRY(out.documents, node.get<std::string_view>("documents"));
  CAIRN_TRY(out.names, node.get_strings("names"));
  return out;
}

Result<Entry> read_entry(Node node, const Image& image) {
  constexpr std::array<std::string_view, 5> kKnown{"documents", "schema", "names", "file_name",
                                                   "references"};
  CAIRN_CHECK(node.only(kKnown));
  CAIRN_TRY(const std::string_view documents, node.get<std::string_view>("documents"));
  CAIRN_TRY(const std::string_view schema, node.get<std::string_view>("schema"));
  CAIRN_TRY(const Node root, image.root(schema));
  Entry out{.documents = std::string(documents),
            .schema = root,
            .names = {},
            .file_name = {},
            .references = {}};
  CAIRN_TRY(out.names, node.get_strings("names"));
  CAIRN_TRY(out.file_name, node.get_or<std::string_view>("file_name", ""));
  if (const auto references = node.find_value("references")) {
    for (std::uint32_t i = 0; i < references->size(); ++i) {
      CAIRN_TRY(Reference reference, read_reference(references->at(i)));
      out.references.push_back(std::move(reference));
    }
  }
  return out;
}

// The scalars at a path; sequences on the way are entered element by element.
void collect(Node node, std::string_view path, std::vector<Node>& out) {
  if (node.is_sequence()) {
    for (std::uint32_t i = 0; i < node.size(); ++i) collect(node.at(i), path, out);
    return;
  }
  if (path.empty()) {
    if (!node.is_null()) out.push_back(node);
    return;
  }
  const std::size_t dot = std::min(path.find('.'), path.size());
  if (const auto child = node.find(path.substr(0, dot))) {
    collect(*child, path.substr(std::min(dot + 1, path.size())), out);
  }
}

std::vector<Node> values_of(Node root, std::string_view name, std::string_view field) {
  std::vector<Node> out;
  if (!name.ends_with(".csv")) {
    collect(root, field, out);
    return out;
  }
  const auto table = Table::from(root);
  const auto column = table ? table->column(field) : Result<std::uint32_t>(0U);
  if (!table || !column) return out;  // the schema has already said so
  for (std::uint32_t r = 1; r < root.size(); ++r) collect(root.at(r).at(*column), "", out);
  return out;
}

class DataChecker {
 public:
  explicit DataChecker(const Image& image) : image_(image) {}

  Result<DataReport> run(std::string_view index_name) {
    CAIRN_TRY(const Node index, image_.root(index_name));
    CAIRN_TRY(const Node schemas, index.required("schemas"));
    for (std::uint32_t i = 0; i < schemas.size(); ++i) {
      CAIRN_TRY(Entry entry, read_entry(schemas.at(i), image_));
      CAIRN_CHECK(check_schema(entry.schema));
      entries_.push_back(std::move(entry));
    }
    for (const std::string_view name : image_.names("")) {
      if (name.starts_with("schema/")) continue;
      CAIRN_CHECK(check_document(name));
    }
    for (const Entry& entry : entries_) {
      check_names(entry);
      for (const Reference& r : entry.references) check_reference(entry, r);
    }
    return std::move(report_);
  }

 private:
  Result<void> check_document(std::string_view name) {
    CAIRN_TRY(const Node root, image_.root(name));
    const auto entry = std::ranges::find_if(
        entries_, [name](const Entry& e) { return matches_pattern(name, e.documents); });
    if (entry == entries_.end()) {
      add(bad_input(std::string(msg("no schema for this document"))).at(std::string(name)));
      return {};
    }
    ++report_.documents;
    for (Error& e : validate(root, entry->schema)) add(std::move(e));
    check_sources(root);
    if (!entry->file_name.empty()) check_file_name(name, root, entry->file_name);
    return {};
  }

  void check_file_name(std::string_view name, Node root, const std::string& field) {
    const std::string_view stem = name.substr(name.rfind('/') + 1);
    for (const Node& value : values_of(root, name, field)) {
      if (stem.substr(0, stem.rfind('.')) == value.text()) continue;
      add(value.error(std::string(msg("not the name of the file")))
              .in(field)
              .want(std::string(stem.substr(0, stem.rfind('.')))));
    }
  }

  void check_sources(Node root) {
    const auto sources = root.find_value("sources");
    if (!sources || !sources->is_mapping()) return;
    for (std::uint32_t i = 0; i < sources->size(); ++i) {
      const Member m = sources->member(i);
      for (const std::string_view key : {"url", "date"}) {
        if (m.value.find(key)) continue;
        add(bad_input(std::string(msg("missing field")))
                .at(m.value.where())
                .in(fmt::format("sources.{}.{}", m.key, key)));
      }
    }
    for (std::uint32_t i = 0; i < root.size(); ++i) {
      const Member m = root.member(i);
      if (m.key != "sources") check_used(m.value, m.key == "source", *sources);
    }
  }

  // `names` says that the scalars here are keys of sources.
  void check_used(Node node, bool names, Node sources) {
    for (std::uint32_t i = 0; i < node.size(); ++i) {
      if (node.is_mapping()) {
        const Member m = node.member(i);
        check_used(m.value, m.key == "source", sources);
      } else {
        check_used(node.at(i), names, sources);
      }
    }
    const auto key = node.string();
    if (names && key && !sources.find(*key)) {
      add(node.error(std::string(msg("no such key of sources"))).in("source"));
    }
  }

  void check_names(const Entry& entry) {
    // One entry may carry a name in two fields (name and alias), but not twice
    // in the same field, and no name serves two documents.
    struct Use {
      std::string_view document;
      std::string_view field;
      std::string where;
    };
    std::map<std::string, Use> seen;  // by normalised name
    for (const std::string_view name : image_.names("")) {
      if (!matches_pattern(name, entry.documents)) continue;
      for (const std::string& field : entry.names) {
        for (const Node& value : values_of(*image_.root(name), name, field)) {
          const auto [it, fresh] =
              seen.try_emplace(normalise_name(value.text()), Use{name, field, value.where()});
          const Use& use = it->second;
          if (fresh || (use.document == name && use.field != field)) continue;
          add(value.error(std::string(msg("a name that is already taken")))
                  .in(field)
                  .want(fmt::format("another than at {}", use.where)));
        }
      }
    }
  }

  void check_reference(const Entry& entry, const Reference& reference) {
    std::map<std::string, bool> known;
    for (const std::string_view name : image_.names("")) {
      if (!matches_pattern(name, reference.documents)) continue;
      for (const std::string& field : reference.names) {
        for (const Node& v : values_of(*image_.root(name), name, field)) known[v.text()] = true;
      }
    }
    for (const std::string_view name : image_.names("")) {
      if (!matches_pattern(name, entry.documents)) continue;
      for (const Node& value : values_of(*image_.root(name), name, reference.field)) {
        if (known.contains(value.text())) continue;
        add(value.error(std::string(msg("no entry of this name")))
                .in(reference.field)
                .want(fmt::format("a name in {}", reference.documents)));
      }
    }
  }

  void add(Error error) { report_.errors.push_back(std::move(error)); }

  const Image& image_;
  std::vector<Entry> entries_;
  DataReport report_;
};

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t end = star; end <= name.size(); ++end) {
    if (matches_pattern(name.substr(end), rest)) return true;
    if (end < name.size() && name[end] == '/') return false;
  }
  return false;
}

Result<DataReport> check_data(const Image& image, std::string_view index) {
  return DataChecker(image).run(index);
}

}  // namespace cairn
