// The feed-forward parts of llama.cpp's graphs: build_ffn and build_moe_ffn of
// src/llama-graph.cpp.
#include "cairn/memory/llama_cpp_graph.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kIndex = 4;  // experts are 32-bit integers

}  // namespace

// Gate and up become one tensor of their own; before the fused operation the gate's
// place was taken.
LlamaCppGraph::Id LlamaCppGraph::activation(Id gate, Id up) {
  if (config_.fused_activation) {
    return graph_.add({.bytes = graph_.bytes(gate)}, {gate, up});
  }
  const Id active = graph_.add({.bytes = graph_.bytes(gate), .in_place = true}, {gate});
  return graph_.add({.bytes = graph_.bytes(gate), .in_place = true}, {active, up});
}

LlamaCppGraph::Id LlamaCppGraph::dense(std::int32_t index, Id x, std::int64_t rows,
                                       std::int64_t features,
                                       const std::array<TensorRole, 3>& roles) {
  const FeedForwardSpec& f = spec(index).feed_forward;
  const Id up = projection(index, roles[1], x, features, rows, f.bias);
  Id cur = kNone;
  if (f.gated) {
    cur = activation(projection(index, roles[0], x, features, rows, f.bias), up);
  } else {
    cur = graph_.add({.bytes = graph_.bytes(up), .in_place = true}, {up});
  }
  return projection(index, roles[2], cur, spec_.hidden, rows, f.bias);
}

// The weights of the chosen experts, and which they are.
LlamaCppGraph::Id LlamaCppGraph::router(std::int32_t index, Id x, std::int64_t rows, Id& chosen) {
  const FeedForwardSpec& f = spec(index).feed_forward;
  const std::int64_t k = f.experts_per_token;
  const Id logits = projection(index, TensorRole::router, x, f.experts, rows, false);
  const Id gates = graph_.add({.bytes = graph_.bytes(logits), .in_place = true}, {logits});
  Id ranking = gates;
  if (f.router_bias) ranking = sum(gates, weights(index, TensorRole::router_bias));
  const Id sorted = graph_.add({.bytes = kIndex * f.experts * rows}, {ranking});
  chosen = graph_.view(sorted);
  const Id picked = graph_.add({.bytes = kFloat * k * rows}, {graph_.view(gates), chosen});
  const Id total = graph_.add({.bytes = kFloat * rows}, {graph_.view(picked)});
  return graph_.view(
      graph_.add({.bytes = kFloat * k * rows, .in_place = true}, {graph_.view(picked), total}));
}

LlamaCppGraph::Id LlamaCppGraph::mixture(std::int32_t index, Id x, std::int64_t rows) {
  const FeedForwardSpec& f = spec(index).feed_forward;
  const std::int64_t each = f.experts_per_token * rows;
  Id chosen = kNone;
  const Id shares = router(index, x, rows, chosen);
  graph_.expand(shares);
  const Id in = graph_.view(x);
  const auto experts = [&](TensorRole role, Id from, std::int64_t features) {
    Id out = graph_.add({.bytes = kFloat * features * each}, {weights(index, role), from, chosen});
    if (f.expert_bias) {
      out = graph_.add({.bytes = graph_.bytes(out), .in_place = true},
                       {out, weights(index, TensorRole::bias), chosen});
    }
    return out;
  };
  const Id up = experts(TensorRole::expert_up, in, f.expert_intermediate);
  const Id gate = experts(TensorRole::expert_gate, in, f.expert_intermediate);
  Id down = experts(TensorRole::expert_down, activation(gate, up), spec_.hidden);
  down = graph_.add({.bytes = graph_.bytes(down), .in_place = true}, {down, shares});
  graph_.expand(down);
  std::vector<Id> parts;
  for (std::int64_t i = 0; i < f.experts_per_token; ++i) {
    parts.push_back(graph_.view(down));
    graph_.expand(parts.back());
  }
  // A part is a slice: the first sum is a tensor of its own, the others add to it.
  const std::int64_t bytes = kFloat * spec_.hidden * rows;
  Id out = graph_.add({.bytes = bytes}, {parts[0], parts.size() > 1 ? parts[1] : kNone});
  graph_.expand(out);
  for (std::size_t i = 2; i < parts.size(); ++i) {
    out = graph_.add({.bytes = bytes, .in_place = true}, {out, parts[i]});
    graph_.expand(out);
  }
  return out;
}

LlamaCppGraph::Id LlamaCppGraph::feed_forward(std::int32_t index, Id x, std::int64_t rows) {
  const FeedForwardSpec& f = spec(index).feed_forward;
  Id out = kNone;
  if (f.intermediate > 0) {
    out = dense(index, x, rows, f.intermediate,
                {TensorRole::ffn_gate, TensorRole::ffn_up, TensorRole::ffn_down});
  }
  if (f.experts > 0) {
    const Id routed = mixture(index, x, rows);
    out = out == kNone ? routed : sum(out, routed);
  }
  if (f.shared_intermediate > 0) {
    out =
        sum(out, dense(index, x, rows, f.shared_intermediate,
                       {TensorRole::shared_gate, TensorRole::shared_up, TensorRole::shared_down}));
  }
  return out;
}

}  // namespace cairn::memory
