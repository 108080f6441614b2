// How llama.cpp's quantiser chooses a type for each tensor of a file: rules read
// from data/models/weight_formats.yaml, applied to a graph.
// Source: llama_tensor_get_type in
// https://github.com/ggml-org/llama.cpp/blob/007dbbf3fd17eefe9b47fee45f48f7ba5e62b714/src/llama-quant.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/graph.h"
#include "cairn/model/tensor_type.h"

namespace cairn {

/// What a rule can name: the categories of the quantiser, and groups of them.
enum class TensorGroup : std::uint8_t {
  token_embd,
  output,
  attn_q,
  attn_k,
  attn_v,
  attn_output,
  ffn_gate,
  ffn_up,
  ffn_down,
  other,
  attention,        // every matrix of the attention
  recurrent,        // the large matrices of mixers that keep a state
  recurrent_small,  // their gates and steps of a few features a head, and low-rank pairs
  ffn,              // the dense feed-forward
  shared,           // the shared experts
  experts,          // the routed experts
  stacked,          // several matrices in one tensor: experts and MLA's per-head projections
  dense_gate,       // ffn_gate and its like are also the experts'; these are the dense part's
  dense_up,
  dense_down,
  router,         // scores of experts, also of a shared one
  router_bias,    // added to the scores
  index_weights,  // of an indexer's heads (sparse attention)
};

/// Reads a list of group names.
Result<std::vector<TensorGroup>> read_groups(Node names);

/// By name; nothing where there is none of it.
std::optional<TensorGroup> group_named(std::string_view name);

/// True where the tensor is a matrix of the group, or the group is of routers.
bool in_group(const Tensor& tensor, TensorGroup group);

/// The layers a rule holds for; i is the layer's place among n.
enum class LayerSet : std::uint8_t {
  all,
  more_bits,  // i < n/8, i >= 7n/8, or every third between
  first_eighth,
  first_eighth_counted,  // as first_eighth, i counting tensors, not layers
  first_sixteenth,
  first_2,
  first_4,
  middle,  // n/8 <= i < 7n/8
};

struct RecipeRule {
  std::vector<TensorGroup> tensors;
  LayerSet layers = LayerSet::all;
  std::int64_t gqa_min = 0;             // query heads per key-value head
  std::optional<std::int64_t> experts;  // exactly so many
  std::int64_t experts_min = 0;
  std::optional<std::int64_t> layer_count;
  std::vector<std::string> families;    // any of these; empty: all
  std::vector<const TensorType*> from;  // the type chosen so far; empty: any
  const TensorType* type = nullptr;
};

/// Reads a list of rules.
Result<std::vector<RecipeRule>> read_rules(Node rules, const TensorTypes& types);

struct GgufRecipe {
  const TensorType* fallthrough = nullptr;  // where no rule fits
  const TensorType* output = nullptr;       // null: as fallthrough
  const TensorType* token_embd = nullptr;   // of an untied table; null: as fallthrough
  std::vector<RecipeRule> rules;            // the first that fits decides
  std::vector<RecipeRule> then;             // each that fits is applied, in order
};

struct GgufConventions {
  /// What files keep as the model was published, whatever they are called.
  std::vector<RecipeRule> kept;
  /// Before the rules of every recipe that quantises.
  std::vector<RecipeRule> first;
  const TensorType* vectors = nullptr;
  const TensorType* last_resort = nullptr;
  std::vector<std::pair<const TensorType*, const TensorType*>> fallbacks;
  std::vector<std::string> fused_qkv;  // families
};

Result<GgufConventions> read_conventions(Node node, const TensorTypes& types);

/// One type per tensor of the graph.
std::vector<const TensorType*> apply_recipe(const Graph& graph, const GgufRecipe& recipe,
                                            const GgufConventions& conventions);

/// The type a member of a mapping names, or an error that stands at it.
Result<const TensorType*> read_type(Node mapping, std::string_view key, const TensorTypes& types);

}  // namespace cairn
