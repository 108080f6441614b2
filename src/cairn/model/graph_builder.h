// Builds the operators and tensors of a graph; for graph.cpp and its parts alone.
#pragma once

#include <map>
#include <utility>

#include "cairn/model/graph.h"

namespace cairn {

class GraphBuilder {
 public:
  explicit GraphBuilder(ModelSpec spec) { graph_.spec = std::move(spec); }
  Graph build() &&;

 private:
  // graph.cpp: primitives, what is around the layers, and the feed-forward part.
  std::int32_t tensor(TensorRole role, std::int64_t rows, std::int64_t columns,
                      std::int64_t stack = 1);
  std::int32_t vector(TensorRole role, TensorRole owner, std::int64_t size, std::int64_t stack = 1);
  Operator& add(OperatorKind kind, std::int32_t tensor, std::int64_t input, std::int64_t output);
  void norm(TensorRole role, std::int64_t size, bool bias);
  /// The weights of a norm of each head, applied to `features` features.
  void head_norm(TensorRole role, std::int64_t size, std::int64_t features);
  void linear(TensorRole role, std::int64_t input, std::int64_t output, bool bias);
  void extra(const MatrixSpec& m);
  void embeddings();
  void head();
  void add_layer(const LayerSpec& layer);
  void add_attention(const AttentionSpec& a);
  struct Roles {
    TensorRole gate;
    TensorRole up;
    TensorRole down;
  };
  void feed_forward(const FeedForwardSpec& f);
  void dense(const Roles& roles, const FeedForwardSpec& f, std::int64_t inner);
  void mixture(const FeedForwardSpec& f);
  void expert_linear(TensorRole role, const FeedForwardSpec& f, std::int64_t input,
                     std::int64_t output);

  // graph_attention.cpp
  void attention(const AttentionSpec& a);
  void cross_attention(const AttentionSpec& a);
  void latent_attention(const AttentionSpec& a);
  void compressed_attention(const AttentionSpec& a);
  void indexer(const AttentionSpec& a);
  void attention_output(const AttentionSpec& a, std::int64_t mixed);

  // graph_recurrent.cpp
  void recurrent(const RecurrentSpec& r);
  void delta_net(const RecurrentSpec& r);
  void kimi_delta(const RecurrentSpec& r);
  void lightning(const RecurrentSpec& r);
  void mamba(const RecurrentSpec& r);
  void mamba2(const RecurrentSpec& r);
  void rwkv(const RecurrentSpec& r);
  void short_conv(const RecurrentSpec& r);
  void convolution(TensorRole role, std::int64_t features, std::int64_t kernel, bool bias);
  void recurrence(const RecurrentSpec& r, std::int64_t input);

  Graph graph_;
  std::int32_t layer_ = -1;
  std::int32_t weights_of_ = -1;                 // a layer whose tensors this one uses; -1: its own
  std::map<std::int64_t, std::int32_t> blocks_;  // LayerSpec::block to its first layer
};

}  // namespace cairn
