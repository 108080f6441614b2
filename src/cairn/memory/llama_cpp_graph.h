// The graph of one forward pass as src/llama-graph.cpp and src/models/*.cpp of
// llama.cpp build it, reduced to what memory depends on: which tensors there are,
// how large, and who reads them. Not for other rooms.
//
// Layers that are alike need the same memory, so that few of them are laid out. Sizes are of 32-bit
// numbers for U tokens.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "cairn/memory/llama_cpp.h"
#include "cairn/memory/tensor_graph.h"

namespace cairn::memory {

class LlamaCppGraph {
 public:
  LlamaCppGraph(const MemoryDemand& demand, const EngineInfo& engine,
                const LlamaCppPlacement& placement);
  /// Bytes of each device's compute buffer, the host's last.
  std::vector<std::int64_t> reserve();

 private:
  using Id = TensorGraph::Id;
  static constexpr Id kNone = TensorGraph::kNone;

  /// What the layers with one kind of cache share.
  struct CacheInputs {
    Id key_places = kNone;
    Id value_places = kNone;
    Id mask = kNone;
    Id key_rotation = kNone;  // of a quantised cache
    Id value_rotation = kNone;
  };
  /// Queries, keys and values of a layer on their way to attention.
  struct Heads {
    Id query = kNone;
    Id key = kNone;  // none: the layer reads another's cache
    Id value = kNone;
    std::int64_t value_size = 0;  // features of a head's result
    Id gate = kNone;              // queries and gates in one, where there are gates
  };
  /// What the delta rule reads, and the cache of its state.
  struct DeltaInputs {
    Id query = kNone;
    Id key = kNone;
    Id value = kNone;
    Id gate = kNone;
    Id beta = kNone;
    Id state = kNone;
    Id cache = kNone;
  };

  void lay_out();
  void inputs();
  void layer(std::int32_t index, bool last);
  void half_layer(std::int32_t index, bool last, bool mixes);
  void output();
  Id mixer(std::int32_t index, Id x);
  Heads heads(std::int32_t index, Id x);
  Id by_heads(std::int32_t index, Id x, TensorRole role);
  Heads latent_heads(std::int32_t index, Id x);
  Id attend(std::int32_t index, Heads heads);
  Id attend_flash(std::int32_t index, const Heads& heads, Id keys, Id values, Id mask);
  Id attend_plain(std::int32_t index, const Heads& heads, Id keys, Id values, Id mask);
  Id expand_latent(std::int32_t index, Id latent);
  Id recurrent(std::int32_t index, Id x);
  Id delta_net(std::int32_t index, Id x);
  Id delta_side(const RecurrentSpec& r, Id mixed);
  Id delta_rule(const RecurrentSpec& r, const DeltaInputs& in);
  Id delta_chunks(const RecurrentSpec& r, const DeltaInputs& in);
  Id scan(std::int32_t index, Id x);
  Id states(Id cache, std::int64_t elements);
  Id convolution(std::int32_t index, Id x, std::int64_t features, std::int64_t kernel);
  Id feed_forward(std::int32_t index, Id x, std::int64_t rows);
  Id dense(std::int32_t index, Id x, std::int64_t rows, std::int64_t features,
           const std::array<TensorRole, 3>& roles);
  Id activation(Id gate, Id up);
  Id mixture(std::int32_t index, Id x, std::int64_t rows);
  Id router(std::int32_t index, Id x, std::int64_t rows, Id& chosen);

  const CacheInputs& cache_inputs(const AttentionSpec& a);
  Id weights(std::int32_t layer, TensorRole role);
  [[nodiscard]] std::optional<std::size_t> stored(std::int32_t layer, TensorRole role) const;
  [[nodiscard]] std::vector<TensorRole> kept(std::int32_t layer) const;
  [[nodiscard]] std::int64_t cache_bytes(const AttentionSpec& a, std::int64_t features) const;
  [[nodiscard]] std::int64_t workspace(const AttentionSpec& a) const;
  [[nodiscard]] bool rotates(std::int64_t head_size) const;
  /// A result of its own, and one that may take the place of what it changes.
  Id fresh(std::int64_t elements, std::initializer_list<Id> sources);
  Id changed(Id x, std::initializer_list<Id> others = {});
  Id multiply(Id weights, Id x, std::int64_t features, std::int64_t rows);
  Id projection(std::int32_t layer, TensorRole role, Id x, std::int64_t features, std::int64_t rows,
                bool bias);
  Id scale(Id x, Id weights);
  Id sum(Id a, Id b);
  Id norm(Id x, std::int32_t layer, TensorRole role, bool bias, std::int64_t bytes = 0);
  Id rope(Id x);
  Id rotated(Id x, Id matrix);
  Id output_rows(Id x, std::int64_t features);
  [[nodiscard]] const LayerSpec& spec(std::int32_t layer) const {
    return spec_.layers[static_cast<std::size_t>(layer)];
  }
  [[nodiscard]] int device(std::int32_t layer) const {
    return placement_.layers[static_cast<std::size_t>(layer)];
  }

  TensorGraph graph_;
  const MemoryDemand& demand_;
  const EngineInfo& engine_;
  const ModelSpec& spec_;
  const EngineConfig& config_;
  const LlamaCppPlacement& placement_;
  bool overrides_;  // some tensors are kept from their devices
  std::int64_t tokens_ = 0;
  std::int64_t outputs_ = 0;
  Id residual_ = kNone;  // what goes from layer to layer
  Id positions_ = kNone;
  Id output_ids_ = kNone;
  Id state_ids_ = kNone;                                    // of the sequences in the batch
  std::array<std::optional<CacheInputs>, 2> cache_inputs_;  // whole contexts, windows
};

}  // namespace cairn::memory
