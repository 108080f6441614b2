// Reading the fields of a config.json: ranges, defaults, and the books of what
// was read, so that a key that may change the shape never goes unnoticed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/spec.h"

namespace cairn::hf {

/// Limits of sane configurations; beyond them a file is taken to be broken.
constexpr std::int64_t kMaxLayers = 1024;
constexpr std::int64_t kMaxHidden = 1 << 20;
constexpr std::int64_t kMaxInner = 1 << 22;
constexpr std::int64_t kMaxHeads = 1 << 12;
constexpr std::int64_t kMaxHeadDim = 1 << 13;
constexpr std::int64_t kMaxVocabulary = 1 << 24;
constexpr std::int64_t kMaxContext = 1 << 30;
constexpr std::int64_t kMaxExperts = 4096;
constexpr std::int64_t kMaxDrafts = 16;

class Fields {
 public:
  /// `nested`: a part of another file (text_config), in which transformers leaves
  /// out what equals the default of the class.
  Fields(Node node, bool nested) : node_(node), nested_(nested) {}

  [[nodiscard]] Node node() const { return node_; }
  [[nodiscard]] bool nested() const { return nested_; }
  /// Present and not null. Counts as read.
  bool has(std::string_view key);
  /// The first of several names for a field that is present, else the first.
  std::string_view any(std::initializer_list<std::string_view> keys);

  Result<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high);
  Result<std::int64_t> integer_or(std::string_view key, std::int64_t fallback, std::int64_t low,
                                  std::int64_t high);
  /// Required, but in a nested part the default of the class is `fallback` (if > 0).
  Result<std::int64_t> integer_nested(std::string_view key, std::int64_t fallback, std::int64_t low,
                                      std::int64_t high);
  Result<bool> flag(std::string_view key, bool fallback);
  Result<bool> required_flag(std::string_view key);
  Result<std::string_view> text_or(std::string_view key, std::string_view fallback);
  /// A list of `size` integers within [low, high]; nothing where it is absent or empty.
  Result<std::optional<std::vector<std::int64_t>>> integers(std::string_view key, std::size_t size,
                                                            std::int64_t low, std::int64_t high);
  /// A list of `size` words, each one of `known`; nothing where it is absent or empty.
  Result<std::optional<std::vector<std::string>>> words(
      std::string_view key, std::size_t size, std::initializer_list<std::string_view> known);
  /// layer_types: true where a layer is "sliding_attention" (or `local`), false where
  /// it is "full_attention"; nothing where it is absent.
  Result<std::optional<std::vector<bool>>> layer_types(
      std::size_t layers, std::string_view local = "sliding_attention");
  /// tie_word_embeddings: here, else in the file around, else `fallback`.
  Result<bool> tied(bool fallback);
  void set_outer_tied(std::optional<bool> tied) { outer_tied_ = tied; }

  /// Marks fields that have no influence on the shape.
  void skip(std::initializer_list<std::string_view> keys);
  /// An error if the field is present and not null, false, 0 or empty.
  Result<void> refuse(std::string_view key, std::string message);
  /// An error that stands at a field, with its value.
  [[nodiscard]] Error error(std::string_view key, std::string message) const;
  /// Fields that were not read and whose names say that they may change the shape.
  [[nodiscard]] std::vector<std::string_view> unread() const;
  /// An error if there is one.
  [[nodiscard]] Result<void> finish() const;

 private:
  void read(std::string_view key) { read_.push_back(key); }

  Node node_;
  bool nested_;
  std::optional<bool> outer_tied_;
  std::vector<std::string_view> read_;
};

/// The dimensions every decoder has.
struct Dims {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;
};

/// Reads them under their usual names. `nested` are the defaults of the class,
/// for a nested part; 0: none.
Result<Dims> read_dims(Fields& f, const Dims& nested = {});
/// The same but for intermediate_size, which stays 0.
Result<Dims> read_outer_dims(Fields& f, const Dims& nested = {});

/// hidden / heads, or an error at `key` where it does not divide.
Result<std::int64_t> even_head_dim(const Fields& f, std::string_view key, std::int64_t hidden,
                                   std::int64_t heads);

/// A spec with the outer dimensions filled in and no layers.
ModelSpec make_spec(const Dims& d, std::string_view family);
/// Attention over all positions, without biases.
AttentionSpec make_attention(const Dims& d);

using Reader = Result<ModelSpec> (*)(Fields& f);

/// A family: what the file calls it and how it is read.
struct Family {
  std::string_view architecture;
  std::string_view model_type;  // empty: only by its architecture
  Reader read;
};

/// `count` draft layers as parts of the model (make_draft).
void add_drafts(ModelSpec& s, std::int64_t count, const LayerSpec& layer,
                const DraftTraits& traits);

// The tables of families, one a file.
std::span<const Family> dense_families();
std::span<const Family> classic_families();
std::span<const Family> mixture_families();
std::span<const Family> latent_families();
std::span<const Family> encoder_families();
std::span<const Family> image_families();
std::span<const Family> encoder_decoder_families();
std::span<const Family> sparse_families();
std::span<const Family> gemma_families();
std::span<const Family> layered_families();
std::span<const Family> recurrent_families();
std::span<const Family> state_space_families();
std::span<const Family> rwkv_families();
std::span<const Family> hybrid_families();

}  // namespace cairn::hf
