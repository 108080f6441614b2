#include "cairn/model/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cairn/base/message.h"
#include "cairn/base/names.h"

namespace cairn {
namespace {

constexpr std::string_view kFolder = "models/catalogue/";

// Lower case, without the marks that spellings differ in.
std::string normalise(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ':' || c == '/' || c == ' ') continue;
    out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return out;
}

std::string_view without_organisation(std::string_view id) {
  const auto slash = id.find('/');
  return slash == std::string_view::npos ? id : id.substr(slash + 1);
}

/// A model: an entry, or a variant of one.
struct Model {
  std::string_view id;
  Node entry;
  std::optional<Node> variant;

  [[nodiscard]] Node said_by() const { return variant.value_or(entry); }
};

/// A name and the model it means.
struct Key {
  std::string name;        // normalised
  std::string_view shown;  // as it stands in the file
  std::size_t model = 0;
};

Result<ModelListing> listing_of(const Model& model) {
  ModelListing l;
  const Node own = model.said_by();
  l.id = model.id;
  CAIRN_TRY(l.base, model.entry.get<std::string_view>("id"));
  CAIRN_TRY(l.family, model.entry.get<std::string_view>("family"));
  CAIRN_TRY(l.source_url, own.get<std::string_view>("source_url"));
  CAIRN_TRY(l.date, own.get<std::string_view>("date"));
  CAIRN_TRY(l.note, own.get_or<std::string_view>("note", ""));
  if (const auto aliases = own.find_value("aliases")) {
    for (std::uint32_t i = 0; i < aliases->size(); ++i) {
      CAIRN_TRY(const std::string_view alias, aliases->at(i).string());
      l.aliases.push_back(alias);
    }
  }
  return l;
}

}  // namespace

struct ModelCatalogue::State {
  std::optional<Image> image;
  std::vector<std::shared_ptr<const Document>> added;
  std::vector<Model> models;
  std::vector<Key> keys;  // sorted by name once indexed

  Result<void> add_model(Node said_by, Node entry, std::optional<Node> variant) {
    CAIRN_TRY(const std::string_view id, said_by.get<std::string_view>("id"));
    const std::size_t index = models.size();
    models.push_back({.id = id, .entry = entry, .variant = variant});
    add_key(id, index);
    if (const auto name = without_organisation(id); name != id) add_key(name, index);
    const auto aliases = said_by.find_value("aliases");
    for (std::uint32_t i = 0; aliases && i < aliases->size(); ++i) {
      CAIRN_TRY(const std::string_view alias, aliases->at(i).string());
      add_key(alias, index);
    }
    return {};
  }

  void add_key(std::string_view name, std::size_t index) {
    keys.push_back({.name = normalise(name), .shown = name, .model = index});
  }

  Result<void> add_document(Node root) {
    CAIRN_TRY(const Node list, root.required("models"));
    if (!list.is_sequence()) return fail(list.error("wrong type").in("models").want("a list"));
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const Node entry = list.at(i);
      CAIRN_CHECK(add_model(entry, entry, std::nullopt));
      const auto variants = entry.find_value("variants");
      for (std::uint32_t j = 0; variants && j < variants->size(); ++j) {
        CAIRN_CHECK(add_model(variants->at(j), entry, variants->at(j)));
      }
    }
    return {};
  }

  // Sorts the names; two models must not share one.
  Result<void> index() {
    std::ranges::stable_sort(keys, {}, &Key::name);
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].name != keys[i - 1].name || keys[i].model == keys[i - 1].model) continue;
      const Model& second = models[std::max(keys[i].model, keys[i - 1].model)];
      const Model& first = models[std::min(keys[i].model, keys[i - 1].model)];
      return fail(bad_input("two models have the same name")
                      .at(second.said_by().where())
                      .in(std::string(second.id))
                      .got(keys[i].shown)
                      .want("another name than " + std::string(first.id) + " has"));
    }
    return {};
  }

  [[nodiscard]] const Model* by_key(std::string_view normalised) const {
    const auto it = std::ranges::lower_bound(keys, normalised, {}, &Key::name);
    return it != keys.end() && it->name == normalised ? &models[it->model] : nullptr;
  }

  [[nodiscard]] std::string proposals(const std::string& wanted) const {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const Key& key : keys) names.push_back(key.name);
    std::vector<std::string_view> ids;
    for (const std::string& name : nearest_names(wanted, names, 12)) {
      const Model* const model = by_key(name);
      if (model == nullptr || std::ranges::find(ids, model->id) != ids.end()) continue;
      ids.push_back(model->id);
      if (ids.size() == 3) break;
    }
    if (ids.empty()) return std::string(msg("the id of a model in the catalogue"));
    return fmt::format("for example {}", fmt::join(ids, ", "));
  }

  // A repository of a model in another format: "amd/DeepSeek-R1-0528-MXFP4". Empty where
  // the name is not made so.
  [[nodiscard]] std::string published_in_format(std::string_view name) const {
    struct Suffix {
      std::string_view text;
      std::string_view format;
    };
    constexpr std::array kSuffixes{Suffix{"fp8dynamic", "fp8"},     Suffix{"fp8", "fp8"},
                                   Suffix{"mxfp4", "mxfp4-linear"}, Suffix{"nvfp4", "nvfp4"},
                                   Suffix{"fp4", "nvfp4"},          Suffix{"awqint4", "awq-int4"},
                                   Suffix{"awq", "awq-int4"},       Suffix{"gptqint4", "gptq-int4"},
                                   Suffix{"gptq", "gptq-int4"},     Suffix{"w4a16", "gptq-int4"},
                                   Suffix{"gguf", "q4_k_m"}};
    const std::string bare = normalise(without_organisation(name));
    for (const Suffix& s : kSuffixes) {
      if (!bare.ends_with(s.text)) continue;
      const Model* const model =
          by_key(std::string_view(bare).substr(0, bare.size() - s.text.size()));
      if (model != nullptr) return fmt::format("{} with --weights {}", model->id, s.format);
    }
    return {};
  }

  [[nodiscard]] Result<const Model*> lookup(std::string_view name) const {
    const std::string wanted = normalise(name);
    if (const Model* const model = by_key(wanted)) return model;
    std::string better = published_in_format(name);
    if (better.empty()) better = proposals(wanted);
    return fail(not_found("no such model").in("model").got(name).want(std::move(better)));
  }
};

ModelCatalogue::ModelCatalogue(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<ModelCatalogue> ModelCatalogue::load(const Image& image) {
  State state;
  state.image = image;
  for (const std::string_view name : image.names(kFolder)) {
    CAIRN_TRY(const Node root, image.root(name));
    CAIRN_CHECK(state.add_document(root));
  }
  CAIRN_CHECK(state.index());
  return ModelCatalogue(std::make_shared<const State>(std::move(state)));
}

Result<void> ModelCatalogue::add(Document document) {
  // A copy, so that a document that is refused leaves the catalogue as it was.
  State next = *state_;
  next.added.push_back(std::make_shared<const Document>(std::move(document)));
  CAIRN_CHECK(next.add_document(next.added.back()->root()));
  CAIRN_CHECK(next.index());
  state_ = std::make_shared<const State>(std::move(next));
  return {};
}

Result<ModelSpec> ModelCatalogue::find(std::string_view name) const {
  CAIRN_TRY(const Model* const model, state_->lookup(name));
  CAIRN_TRY(ModelSpec spec, spec_from_entry(model->entry));
  if (!model->variant) return spec;
  static constexpr auto kKeys = std::to_array<std::string_view>(
      {"id", "aliases", "source_url", "date", "note", "format", "max_context"});
  CAIRN_CHECK(model->variant->only(kKeys));
  spec.id = model->id;
  CAIRN_TRY(spec.published_format,
            model->variant->get_or<std::string_view>("format", spec.published_format));
  CAIRN_TRY(spec.max_context,
            model->variant->get_integer_or("max_context", spec.max_context, 1, 1 << 30));
  for (ModelSpec& part : spec.parts) {
    part.id = spec.id;
    part.published_format = spec.published_format;
  }
  return spec;
}

std::string_view ModelCatalogue::id_of(std::string_view name) const {
  const Model* const model = state_->by_key(normalise(name));
  return model == nullptr ? std::string_view() : model->id;
}

Result<ModelListing> ModelCatalogue::listing(std::string_view name) const {
  CAIRN_TRY(const Model* const model, state_->lookup(name));
  return listing_of(*model);
}

std::vector<ModelListing> ModelCatalogue::all() const {
  std::vector<ModelListing> list;
  for (const Model& model : state_->models) {
    if (auto one = listing_of(model)) list.push_back(*std::move(one));
  }
  std::ranges::stable_sort(list, {}, &ModelListing::id);
  return list;
}

std::size_t ModelCatalogue::size() const { return state_->models.size(); }

}  // namespace cairn
