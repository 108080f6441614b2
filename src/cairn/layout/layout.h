// Layout: how a graph is divided over devices, and the share of one device.
//
// Tensor parallelism follows Megatron (arXiv 1909.08053): q, k, v, gate and up
// are split by output features, o and down by input features, and an all-reduce
// follows each of the two. Experts are split by expert (ep) or like dense
// matrices (tp). Pipeline stages and llama.cpp's layer split take consecutive
// layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/model/graph.h"

namespace cairn {

struct Layout {
  int tp = 1;  // tensor parallel
  int pp = 1;  // pipeline stages, or devices of a layer split
  int dp = 1;  // replicas
  int ep = 1;  // expert parallel: 1, or tp * (replicas that share experts)

  [[nodiscard]] int devices() const { return tp * pp * dp; }
  /// "tp4", "pp2 x dp2", "1 device".
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// What one device holds and computes.
struct Share {
  std::int32_t first_layer = 0;  // [first, last) of the layers
  std::int32_t last_layer = 0;
  bool embedding = true;  // holds the token embedding
  bool head = true;       // holds the output norm and head
  int tp = 1;
  int ep = 1;
};

/// How layers are counted out to stages.
enum class Stages : std::uint8_t {
  /// vLLM's pipeline: layers / stages each, the remainder one by one to the
  /// stages before the last, from the last but one backwards
  /// (get_pp_indices, vllm/distributed/utils.py).
  even,
  /// llama.cpp's layer split over like devices: the head counts as one more
  /// layer, item i of n goes to device floor(i * devices / n)
  /// (load_tensors, src/llama-model.cpp).
  head_counts,
};

/// The share of each pipeline stage (one entry a stage; every tp rank of a stage
/// is alike). An error if the model cannot be divided so: fewer layers than
/// stages; heads, feed-forward or expert sizes that tp does not divide; ep that
/// is not tp times a divisor of dp. A vocabulary that tp does not divide is
/// padded to a multiple of 64 first, as vLLM pads it.
Result<std::vector<Share>> divide(const Graph& graph, const Layout& layout,
                                  Stages stages = Stages::even);

/// Weights of tensor `t` that one device of the share holds: rows and columns
/// after tensor parallelism, experts after expert parallelism. Zero rows where
/// the device does not hold it. KV heads below tp are replicated, and so are
/// norms, routers and the down-projections of MLA. A tied token embedding is
/// held by the stage with the head as well.
Tensor share_of(const Tensor& tensor, const Graph& graph, const Share& share);

/// An operator as one device of the share runs it, for the tokens of its own
/// replica. With ep = tp * r, r replicas share the experts: a device holds 1/ep of
/// them and computes r * tokens * k / ep = tokens * (k / tp) expert products.
Operator share_of(const Operator& op, const Graph& graph, const Share& share);

/// Attention as one tensor-parallel rank runs it: heads / tp, at least one KV head.
AttentionSpec share_of(const AttentionSpec& attention, int tp);
/// A recurrence likewise: heads / tp, or the features of a state space of one head.
RecurrentSpec share_of(const RecurrentSpec& recurrent, int tp);

/// Whether the device of this share runs the operator at all.
bool runs(const Operator& op, const Graph& graph, const Share& share);

}  // namespace cairn
