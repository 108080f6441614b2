#include "cairn/model/graph.h"

#include <algorithm>
#include <utility>

#include "cairn/model/graph_builder.h"

namespace cairn {

Graph GraphBuilder::build() && {
  const ModelSpec& s = graph_.spec;
  graph_.tensors.reserve(s.layers.size() * 16 + 4);
  graph_.operators.reserve(s.layers.size() * 16 + 4);
  if (s.vocabulary > 0) embeddings();
  for (const MatrixSpec& m : s.extras) extra(m);
  layer_ = 0;
  for (const LayerSpec& layer : s.layers) {
    add_layer(layer);
    ++layer_;
  }
  layer_ = -1;
  if (s.final_norm) norm(TensorRole::output_norm, s.hidden, s.final_norm_bias);
  if (s.output_head && s.vocabulary > 0) head();
  for (const ModelSpec& part : s.parts) graph_.parts.push_back(build_graph(part));
  return std::move(graph_);
}

std::int32_t GraphBuilder::tensor(TensorRole role, std::int64_t rows, std::int64_t columns,
                                  std::int64_t stack) {
  const auto same = [&](const Tensor& t) {
    return t.layer == weights_of_ && t.role == role && t.rows == rows && t.columns == columns;
  };
  if (weights_of_ >= 0) {
    const auto it = std::ranges::find_if(graph_.tensors, same);
    if (it != graph_.tensors.end()) return static_cast<std::int32_t>(it - graph_.tensors.begin());
  }
  graph_.tensors.push_back({.role = role,
                            .owner = role,
                            .layer = layer_,
                            .rows = rows,
                            .columns = columns,
                            .experts = stack});
  return static_cast<std::int32_t>(graph_.tensors.size() - 1);
}

std::int32_t GraphBuilder::vector(TensorRole role, TensorRole owner, std::int64_t size,
                                  std::int64_t stack) {
  const std::int32_t index = tensor(role, 1, size, stack);
  Tensor& t = graph_.tensors[static_cast<std::size_t>(index)];
  t.owner = owner;
  t.vector = true;
  return index;
}

Operator& GraphBuilder::add(OperatorKind kind, std::int32_t tensor, std::int64_t input,
                            std::int64_t output) {
  graph_.operators.push_back(
      {.kind = kind, .layer = layer_, .tensor = tensor, .input = input, .output = output});
  return graph_.operators.back();
}

void GraphBuilder::norm(TensorRole role, std::int64_t size, bool bias) {
  const std::int32_t weight = vector(role, role, size);
  if (bias) vector(TensorRole::bias, role, size);
  add(OperatorKind::norm, weight, size, size);
}

void GraphBuilder::head_norm(TensorRole role, std::int64_t size, std::int64_t features) {
  add(OperatorKind::norm, vector(role, role, size), features, features);
}

void GraphBuilder::linear(TensorRole role, std::int64_t input, std::int64_t output, bool bias) {
  const std::int32_t weight = tensor(role, output, input);
  if (bias) vector(TensorRole::bias, role, output);
  add(OperatorKind::linear, weight, input, output);
}

void GraphBuilder::extra(const MatrixSpec& m) {
  const std::int32_t index = tensor(m.role, m.rows, m.columns, m.stack);
  graph_.tensors.back().vector = m.vector;
  if (m.bias) vector(TensorRole::bias, m.role, m.rows, m.stack);
  switch (m.use) {
    case Use::linear:
      for (std::int64_t i = 0; i < m.stack; ++i) {
        add(OperatorKind::linear, index, m.columns, m.rows);
      }
      break;
    case Use::lookup:
      add(OperatorKind::embedding, index, 1, m.columns);
      break;
    case Use::elementwise:
      add(OperatorKind::norm, index, m.rows * m.columns, m.rows * m.columns);
      break;
    case Use::stored:
      break;
  }
}

void GraphBuilder::embeddings() {
  const ModelSpec& s = graph_.spec;
  const std::int64_t width = s.embedding > 0 ? s.embedding : s.hidden;
  add(OperatorKind::embedding, tensor(TensorRole::token_embedding, s.vocabulary, width), 1, width);
  if (s.position_embeddings > 0) {
    add(OperatorKind::embedding,
        tensor(TensorRole::position_embedding, s.position_embeddings, width), 1, width);
  }
}

void GraphBuilder::head() {
  const ModelSpec& s = graph_.spec;
  const std::int64_t width = s.embedding > 0 ? s.embedding : s.hidden;
  // The token embedding is the first tensor.
  const std::int32_t weight =
      s.tied_embeddings ? 0 : tensor(TensorRole::output, s.vocabulary, width);
  if (s.output_bias) vector(TensorRole::bias, TensorRole::output, s.vocabulary);
  add(OperatorKind::linear, weight, width, s.vocabulary).output_only = true;
}

void GraphBuilder::add_attention(const AttentionSpec& a) {
  switch (a.kind) {
    case AttentionKind::mla:
      latent_attention(a);
      break;
    case AttentionKind::compressed:
      compressed_attention(a);
      break;
    case AttentionKind::cross:
      cross_attention(a);
      break;
    case AttentionKind::full:
    case AttentionKind::sliding:
    case AttentionKind::chunked:
      if (a.heads > 0) attention(a);
      break;
  }
}

void GraphBuilder::add_layer(const LayerSpec& layer) {
  const std::int64_t hidden = graph_.spec.hidden;
  const bool before = !layer.norms_after && layer.norms > 0;
  const bool after = layer.norms_after || layer.norms == 4;
  if (layer.block > 0) {
    const auto [first, added] = blocks_.emplace(layer.block, layer_);
    if (!added) weights_of_ = first->second;
  }
  const std::int64_t input = layer.attention.input > 0 ? layer.attention.input : hidden;
  if (before) norm(TensorRole::attn_norm, input, layer.norm_bias);
  add_attention(layer.attention);
  recurrent(layer.recurrent);
  if (after) norm(TensorRole::post_attn_norm, hidden, layer.norm_bias);
  if (layer.cross_attention.heads > 0) {
    norm(TensorRole::cross_attn_norm, hidden, layer.norm_bias);
    cross_attention(layer.cross_attention);
  }
  if (before && layer.norms >= 2) norm(TensorRole::ffn_norm, hidden, layer.norm_bias);
  feed_forward(layer.feed_forward);
  if (after) norm(TensorRole::post_ffn_norm, hidden, layer.norm_bias);
  weights_of_ = -1;
  for (const MatrixSpec& m : layer.extras) extra(m);
}

void GraphBuilder::feed_forward(const FeedForwardSpec& f) {
  if (f.intermediate > 0) {
    dense({TensorRole::ffn_gate, TensorRole::ffn_up, TensorRole::ffn_down}, f, f.intermediate);
  }
  if (f.experts == 0) return;
  mixture(f);
  if (f.shared_intermediate == 0) return;
  if (f.shared_gate) linear(TensorRole::shared_router, graph_.spec.hidden, 1, false);
  dense({TensorRole::shared_gate, TensorRole::shared_up, TensorRole::shared_down}, f,
        f.shared_intermediate);
}

void GraphBuilder::dense(const Roles& roles, const FeedForwardSpec& f, std::int64_t inner) {
  const std::int64_t hidden = graph_.spec.hidden;
  if (f.gated) linear(roles.gate, hidden, inner, f.bias);
  linear(roles.up, hidden, inner, f.bias);
  add(OperatorKind::elementwise, -1, f.gated ? 2 * inner : inner, inner);
  linear(roles.down, inner, hidden, f.bias);
}

void GraphBuilder::expert_linear(TensorRole role, const FeedForwardSpec& f, std::int64_t input,
                                 std::int64_t output) {
  const std::int32_t weight = tensor(role, output, input, f.experts);
  if (f.expert_bias) vector(TensorRole::bias, role, output, f.experts);
  Operator& op = add(OperatorKind::expert_linear, weight, input, output);
  op.experts = f.experts;
  op.experts_per_token = static_cast<double>(f.experts_per_token);
}

void GraphBuilder::mixture(const FeedForwardSpec& f) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = f.expert_intermediate;
  const std::int64_t features = f.latent > 0 ? f.latent : hidden;
  const std::int32_t gate = tensor(TensorRole::router, f.experts, hidden);
  graph_.tensors.back().vector = true;
  if (f.router_bias) vector(TensorRole::router_bias, TensorRole::router, f.experts);
  Operator& op = add(OperatorKind::router, gate, hidden, f.experts);
  op.experts = f.experts;
  op.experts_per_token = static_cast<double>(f.experts_per_token);
  if (f.latent > 0) linear(TensorRole::latent_down, hidden, f.latent, false);
  if (f.gated) expert_linear(TensorRole::expert_gate, f, features, inner);
  expert_linear(TensorRole::expert_up, f, features, inner);
  const std::int64_t all = f.experts_per_token * inner;
  add(OperatorKind::elementwise, -1, f.gated ? 2 * all : all, all);
  expert_linear(TensorRole::expert_down, f, inner, features);
  // The chosen experts' outputs are weighted and summed.
  add(OperatorKind::elementwise, -1, f.experts_per_token * features, features);
  if (f.latent > 0) linear(TensorRole::latent_up, f.latent, hidden, false);
}

Graph build_graph(ModelSpec spec) { return GraphBuilder(std::move(spec)).build(); }

}  // namespace cairn
