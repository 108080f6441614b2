// The recurrent mixers of llama.cpp's graphs: src/models/delta-net-base.cpp,
// qwen35.cpp, qwen3next.cpp, mamba-base.cpp, rwkv7-base.cpp, lfm2.cpp, kimi-linear.cpp.
#include <algorithm>

#include "cairn/memory/estimates.h"
#include "cairn/memory/llama_cpp_graph.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kIndex = 4;
constexpr std::int64_t kChunk = 64;  // tokens of a chunk of the delta rule

}  // namespace

LlamaCppGraph::Id LlamaCppGraph::fresh(std::int64_t elements, std::initializer_list<Id> sources) {
  return graph_.add({.bytes = kFloat * elements}, sources);
}

LlamaCppGraph::Id LlamaCppGraph::changed(Id x, std::initializer_list<Id> others) {
  const TensorGraph::Operation op{.bytes = graph_.bytes(x), .in_place = true};
  switch (others.size()) {
    case 0:
      return graph_.add(op, {x});
    case 1:
      return graph_.add(op, {x, *others.begin()});
    default:
      return graph_.add(op, {x, *others.begin(), *(others.begin() + 1)});
  }
}

// The states of the sequences in the batch, gathered from the cache.
LlamaCppGraph::Id LlamaCppGraph::states(Id cache, std::int64_t elements) {
  if (state_ids_ == kNone) state_ids_ = graph_.input(kIndex * demand_.sequences);
  const Id out = fresh(elements * demand_.sequences, {graph_.read(cache), state_ids_});
  graph_.expand(out);
  return out;
}

// Inputs behind the window that the cache keeps; the end goes back to the cache.
LlamaCppGraph::Id LlamaCppGraph::convolution(std::int32_t index, Id x, std::int64_t features,
                                             std::int64_t kernel) {
  const std::int64_t window = (kernel - 1) * features;
  const Id cache = graph_.cache(kFloat * window * demand_.sequences, device(index));
  const Id before = states(cache, window);
  const Id in =
      fresh(features * tokens_ + window * demand_.sequences, {graph_.view(before), graph_.view(x)});
  graph_.expand(graph_.store(cache, graph_.view(in), kNone));
  return in;
}

// The delta rule in chunks of 64 tokens, as releases without an operation for it lay
// it out (build_delta_net_chunking).
LlamaCppGraph::Id LlamaCppGraph::delta_chunks(const RecurrentSpec& r, const DeltaInputs& in) {
  const std::int64_t positions = padded(tokens_ / demand_.sequences, kChunk) * demand_.sequences;
  const std::int64_t wide = r.inner() * positions;           // a row of values per position
  const std::int64_t square = kChunk * r.heads * positions;  // a row of a chunk's scores
  const std::int64_t thin = r.heads * positions;
  const Id q = fresh(wide, {graph_.view(changed(in.query))});
  const Id k = fresh(wide, {graph_.view(in.key)});
  const Id v = fresh(wide, {graph_.view(in.value)});
  const Id g = fresh(thin, {graph_.view(in.gate)});
  const Id b = fresh(thin, {graph_.view(in.beta)});
  const Id values = changed(v, {b});
  const Id keys = changed(k, {b});
  const Id sums = fresh(thin, {fresh(thin, {graph_.view(g)})});
  const Id spread = fresh(square, {graph_.view(sums)});
  const Id decay = changed(fresh(square, {changed(spread, {sums})}));
  const Id kb = changed(fresh(square, {graph_.view(k), graph_.view(keys)}), {decay});
  const Id kq = fresh(square, {changed(fresh(square, {graph_.view(k), graph_.view(q)}), {decay})});
  const Id lower = fresh(square, {kb});
  const Id one = fresh(kChunk * kChunk, {graph_.view(lower)});
  const Id left = changed(lower, {one});
  const Id solved = changed(fresh(square, {left, changed(lower)}), {one});
  const Id mixed = fresh(wide, {fresh(wide, {graph_.view(values)}), solved});
  const Id gates = changed(sums);
  const Id decayed = fresh(wide, {changed(fresh(wide, {graph_.view(keys)}), {gates}), solved});
  const Id turned = changed(graph_.view(q), {fresh(thin, {graph_.view(gates)})});
  const Id rest = fresh(thin, {graph_.view(sums)});
  const Id last = fresh(wide, {graph_.view(changed(graph_.view(k), {rest}))});
  const Id columns = fresh(wide, {graph_.view(mixed)});
  // The chunks take turns on the state; one shows what all need.
  const std::int64_t state = r.state_elements() * demand_.sequences;
  const std::int64_t one_chunk = r.inner() * kChunk * demand_.sequences;
  const Id prime = fresh(one_chunk, {graph_.view(decayed), in.state});
  const Id news = fresh(one_chunk, {graph_.view(columns), prime});
  const Id own = fresh(one_chunk, {news, graph_.view(kq)});
  const Id old = fresh(one_chunk, {in.state, graph_.view(turned)});
  const Id both = changed(old, {own});
  const Id out = graph_.add({.bytes = graph_.bytes(mixed), .in_place = true}, {mixed, both});
  const Id update = fresh(state, {graph_.view(last), news});
  const Id after = changed(fresh(state, {in.state}), {update});
  graph_.expand(graph_.store(in.cache, graph_.view(after), kNone));
  return graph_.view(out);
}

LlamaCppGraph::Id LlamaCppGraph::delta_rule(const RecurrentSpec& r, const DeltaInputs& in) {
  if (!config_.fused_delta_net) return delta_chunks(r, in);
  const Id out =
      graph_.add({.bytes = kFloat * (r.inner() * tokens_ + r.state_elements() * demand_.sequences)},
                 {in.query, in.key, in.value, in.gate, in.beta, in.state});
  graph_.expand(graph_.store(in.cache, graph_.view(out), kNone));
  return graph_.view(out);
}

// Queries and keys of the key heads, each normalised, and repeated for the heads of
// values where the operation does not do that itself.
LlamaCppGraph::Id LlamaCppGraph::delta_side(const RecurrentSpec& r, Id mixed) {
  const Id unit = fresh(r.key_heads * r.key_dim * tokens_, {graph_.view(mixed)});
  const bool repeats = r.key_heads != r.heads && !(config_.fused_delta_net && r.split_gates);
  return repeats ? fresh(r.heads * r.key_dim * tokens_, {graph_.view(unit)}) : unit;
}

LlamaCppGraph::Id LlamaCppGraph::delta_net(std::int32_t index, Id x) {
  const RecurrentSpec& r = spec(index).recurrent;
  const std::int64_t features = r.conv_features();
  const Id qkv = projection(index, TensorRole::linear_qkv, x, features, tokens_, false);
  const Id gate = projection(index, TensorRole::attn_gate, x, r.inner(), tokens_, false);
  DeltaInputs in;
  in.beta = graph_.view(
      changed(graph_.view(projection(index, TensorRole::ssm_beta, x, r.heads, tokens_, false))));
  in.gate = graph_.view(
      changed(graph_.view(projection(index, TensorRole::ssm_alpha, x, r.heads, tokens_, false)),
              {weights(index, TensorRole::ssm_a)}));
  const Id conv_in = convolution(index, qkv, features, r.conv);
  in.cache = graph_.cache(kFloat * r.state_elements() * demand_.sequences, device(index));
  in.state = graph_.view(states(in.cache, r.state_elements()));
  const Id conv = changed(graph_.add({.bytes = kFloat * features * tokens_},
                                     {conv_in, weights(index, TensorRole::ssm_conv)}));
  in.query = delta_side(r, conv);
  in.key = delta_side(r, conv);
  in.value = graph_.view(conv);
  const Id out = delta_rule(r, in);
  const Id normed = scale(fresh(r.inner() * tokens_, {out}), weights(index, TensorRole::ssm_norm));
  const Id gated = changed(normed, {fresh(r.inner() * tokens_, {graph_.view(gate)})});
  return projection(index, TensorRole::ssm_out, graph_.view(gated), spec_.hidden, tokens_, false);
}

// State spaces, RWKV and short convolutions: one projection in, the scan over all
// tokens with the state behind it, one projection out.
LlamaCppGraph::Id LlamaCppGraph::scan(std::int32_t index, Id x) {
  const RecurrentSpec& r = spec(index).recurrent;
  const std::int64_t features = std::max(r.conv_features(), r.inner());
  const std::int64_t state = r.state_elements();
  const Id in = projection(index, TensorRole::ssm_in, x, features + r.inner(), tokens_, r.bias);
  Id cur = graph_.view(in);
  if (r.conv > 0) {
    const Id conv_in = convolution(index, cur, features, r.conv);
    cur = changed(graph_.add({.bytes = kFloat * features * tokens_},
                             {conv_in, weights(index, TensorRole::ssm_conv)}));
  }
  if (state > 0) {
    const Id cache = graph_.cache(kFloat * state * demand_.sequences, device(index));
    const Id before = states(cache, state);
    const Id out = fresh(r.inner() * tokens_ + state * demand_.sequences, {before, cur});
    graph_.expand(graph_.store(cache, graph_.view(out), kNone));
    cur = changed(fresh(r.inner() * tokens_, {graph_.view(out)}), {graph_.view(in)});
  } else {
    cur = fresh(r.inner() * tokens_, {graph_.view(cur), graph_.view(in)});
  }
  return projection(index, TensorRole::ssm_out, cur, spec_.hidden, tokens_, r.bias);
}

LlamaCppGraph::Id LlamaCppGraph::recurrent(std::int32_t index, Id x) {
  const RecurrentKind kind = spec(index).recurrent.kind;
  const bool delta = kind == RecurrentKind::gated_delta_net || kind == RecurrentKind::kimi_delta;
  return delta ? delta_net(index, x) : scan(index, x);
}

}  // namespace cairn::memory
