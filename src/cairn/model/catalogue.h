// The catalogue of models: data/models/catalogue/*.yaml (schema
// data/schema/models.yaml), found by name.
//
//   CAIRN_TRY(const ModelCatalogue models, ModelCatalogue::load(image));
//   CAIRN_TRY(ModelSpec spec, models.find("qwen3-30b-a3b"));
//
// Loading indexes names only; a spec is built when it is asked for.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/image.h"
#include "cairn/model/spec.h"

namespace cairn {

/// What the catalogue says about a model besides its spec.
struct ModelListing {
  std::string_view id;      // "meta-llama/Llama-3.1-8B-Instruct"
  std::string_view base;    // the id of the entry: another one for a variant
  std::string_view family;  // "llama"
  std::vector<std::string_view> aliases = {};
  std::string_view source_url;
  std::string_view date;  // when the source was read
  std::string_view note;  // empty: none
};

class ModelCatalogue {
 public:
  /// Indexes the documents models/catalogue/*.yaml of an image, which it keeps
  /// alive. An error if two models have the same name.
  static Result<ModelCatalogue> load(const Image& image);

  /// Adds the models of a document of the same form, a user's own.
  Result<void> add(Document document);

  /// The spec of a model by its id, its id without the organisation, or an alias.
  /// Upper and lower case are the same, and so are names that differ only in
  /// "-", "_", ":", "/" and spaces. An unknown name is an error (not_found) that
  /// proposes up to three similar ones.
  [[nodiscard]] Result<ModelSpec> find(std::string_view name) const;

  /// As find, for the listing alone.
  [[nodiscard]] Result<ModelListing> listing(std::string_view name) const;

  /// The id of the model that find takes for this name; empty where there is none. Looks for
  /// no similar names, which takes long where many are unknown.
  [[nodiscard]] std::string_view id_of(std::string_view name) const;

  /// Every model, in the order of its id.
  [[nodiscard]] std::vector<ModelListing> all() const;

  /// How many models there are.
  [[nodiscard]] std::size_t size() const;

 private:
  struct State;
  explicit ModelCatalogue(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

/// One entry of the catalogue as a spec, without its variants. Strict: an unknown
/// field is an error, and the spec has passed check_spec.
Result<ModelSpec> spec_from_entry(Node entry);

/// An entry in the form that the catalogue reads: the element of `models` for
/// `spec`. A file of such entries starts with the line "models:".
///   source  the address where the facts were read (https://...)
///   date    when, YYYY-MM-DD
std::string catalogue_entry(const ModelSpec& spec, std::string_view source, std::string_view date,
                            std::span<const std::string> aliases = {}, std::string_view note = {});

}  // namespace cairn
