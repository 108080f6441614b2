#include "cairn/memory/llama_cpp_graph.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cairn/memory/estimates.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kHalf = 2;
constexpr std::int64_t kIndex = 4;      // tokens and positions are 32-bit integers
constexpr std::int64_t kCellIndex = 8;  // places in a cache are 64-bit integers
constexpr std::int64_t kRotation = 64;  // features of the smallest rotation

}  // namespace

LlamaCppGraph::LlamaCppGraph(const MemoryDemand& demand, const EngineInfo& engine,
                             const LlamaCppPlacement& placement)
    : graph_(placement.gpus),
      demand_(demand),
      engine_(engine),
      spec_(demand.graph->spec),
      config_(demand.config),
      placement_(placement),
      overrides_(std::ranges::find(placement.on_host, true) != placement.on_host.end()) {
  const std::int64_t context = padded(demand.context, context_pad(config_)) * demand.sequences;
  tokens_ = padded(std::min(config_.ubatch, context), demand.sequences);
  outputs_ = config_.reserve_all_outputs ? tokens_ : std::min(tokens_, demand.sequences);
}

std::vector<std::int64_t> LlamaCppGraph::reserve() {
  lay_out();
  TensorGraph::Rules rules;
  if (placement_.pipeline && config_.pipelines) rules.copies = 4;  // GGML_SCHED_MAX_COPIES
  rules.copies_all_inputs = config_.copies_all_inputs;
  // minStorageBufferOffsetAlignment of the drivers of AMD and NVIDIA is 4 to 64.
  if (engine_.id == "llama.cpp-vulkan") rules.gpu_alignment = 64;
  return graph_.reserve(rules);
}

// Layers that are alike, on one device and after like layers, need the same memory: the
// first three show all that a fourth would.
void LlamaCppGraph::lay_out() {
  constexpr int kShown = 3;
  struct Kind {
    const LayerSpec* spec;
    int device;
    std::vector<TensorRole> kept;
  };
  inputs();
  std::vector<Kind> kinds;
  struct Seen {
    std::size_t before;
    std::size_t kind;
    int times;
  };
  std::vector<Seen> seen;
  std::size_t before = 0;
  const auto count = static_cast<std::int32_t>(spec_.layers.size());
  for (std::int32_t i = 0; i < count; ++i) {
    const std::vector<TensorRole> held = kept(i);
    const auto it = std::ranges::find_if(kinds, [&](const Kind& k) {
      return k.device == device(i) && k.kept == held && *k.spec == spec(i);
    });
    const auto kind = static_cast<std::size_t>(it - kinds.begin());
    if (it == kinds.end()) kinds.push_back({&spec(i), device(i), held});
    const bool last = i + 1 == count;
    auto pair = std::ranges::find_if(
        seen, [&](const Seen& s) { return s.before == before && s.kind == kind; });
    if (pair == seen.end()) pair = seen.insert(seen.end(), {before, kind, 0});
    if (++pair->times <= kShown || last) layer(i, last);
    before = kind;
  }
  output();
}

std::optional<std::size_t> LlamaCppGraph::stored(std::int32_t layer, TensorRole role) const {
  const auto& tensors = demand_.graph->tensors;
  const auto it = std::ranges::find_if(tensors, [&](const Tensor& t) {
    return t.layer == layer && t.role == role && t.owner == role;
  });
  if (it == tensors.end()) return std::nullopt;
  return static_cast<std::size_t>(it - tensors.begin());
}

// The bytes count where the weights are copied from the host to a GPU.
LlamaCppGraph::Id LlamaCppGraph::weights(std::int32_t layer, TensorRole role) {
  int where = layer < 0 ? placement_.head : device(layer);
  if (!overrides_ && where != placement_.gpus) return graph_.weight(0, where);
  const auto i = stored(layer, role);
  if (!i) return graph_.weight(0, where);
  if (placement_.on_host[*i]) where = placement_.gpus;
  const double bytes = demand_.weights->bytes(*demand_.graph, *i).value();
  return graph_.weight(where == placement_.gpus ? static_cast<std::int64_t>(bytes) : 0, where);
}

// Roles of a layer's tensors that are kept from its device.
std::vector<TensorRole> LlamaCppGraph::kept(std::int32_t layer) const {
  std::vector<TensorRole> out;
  for (std::size_t i = 0; overrides_ && i < demand_.graph->tensors.size(); ++i) {
    const Tensor& t = demand_.graph->tensors[i];
    if (t.layer == layer && placement_.on_host[i]) out.push_back(t.role);
  }
  return out;
}

LlamaCppGraph::Id LlamaCppGraph::multiply(Id weights, Id x, std::int64_t features,
                                          std::int64_t rows) {
  return graph_.add({.bytes = kFloat * features * rows}, {weights, x});
}

LlamaCppGraph::Id LlamaCppGraph::projection(std::int32_t layer, TensorRole role, Id x,
                                            std::int64_t features, std::int64_t rows, bool bias) {
  const Id out = multiply(weights(layer, role), x, features, rows);
  return bias ? sum(out, weights(layer, TensorRole::bias)) : out;
}

LlamaCppGraph::Id LlamaCppGraph::scale(Id x, Id weights) {
  return graph_.add({.bytes = graph_.bytes(x), .in_place = true}, {x, weights});
}

LlamaCppGraph::Id LlamaCppGraph::sum(Id a, Id b) {
  return graph_.add({.bytes = graph_.bytes(a), .in_place = true}, {a, b});
}

// A layer norm has no in-place form; a root-mean-square norm has.
LlamaCppGraph::Id LlamaCppGraph::norm(Id x, std::int32_t layer, TensorRole role, bool bias,
                                      std::int64_t bytes) {
  TensorGraph::Operation op{.bytes = bytes > 0 ? bytes : graph_.bytes(x), .in_place = !bias};
  if (layer >= 0 && placement_.all_on_gpus) op.device = static_cast<std::int8_t>(device(layer));
  Id out = scale(graph_.add(op, {x}), weights(layer, role));
  if (bias) out = sum(out, weights(layer, TensorRole::bias));
  return out;
}

LlamaCppGraph::Id LlamaCppGraph::output_rows(Id x, std::int64_t features) {
  return graph_.add({.bytes = kFloat * features * outputs_}, {x, output_ids_});
}

LlamaCppGraph::Id LlamaCppGraph::rope(Id x) {
  return graph_.add({.bytes = graph_.bytes(x), .in_place = true, .ignores_weights = true},
                    {x, positions_});
}

void LlamaCppGraph::inputs() {
  const Id table = graph_.weight(0, placement_.gpus);
  const Id ids = graph_.input(kIndex * tokens_);
  residual_ =
      graph_.add({.bytes = kFloat * spec_.hidden * tokens_, .movable = false}, {table, ids});
  if (config_.embedding_inputs) {
    graph_.expand(residual_);
    graph_.expand(graph_.input(kFloat * spec_.hidden * tokens_));
  }
  positions_ = graph_.input(kIndex * tokens_);
  output_ids_ = graph_.input(kIndex * outputs_);
}

bool LlamaCppGraph::rotates(std::int64_t head_size) const {
  return config_.rotates_cache && demand_.kv.type->block_weights > 1 && head_size % kRotation == 0;
}

// Where to write, and which cells a token sees.
const LlamaCppGraph::CacheInputs& LlamaCppGraph::cache_inputs(const AttentionSpec& a) {
  std::optional<CacheInputs>& in = cache_inputs_[is_windowed(a) ? 1 : 0];
  if (in) return *in;
  in = CacheInputs{};
  const std::int64_t seen = llama_cpp_cells(a, demand_).per_stream * tokens_;
  if (config_.indexed_cache) in->key_places = graph_.input(kCellIndex * tokens_);
  // Without flash attention V is stored transposed, one place per feature.
  const bool mla = a.kind == AttentionKind::mla;
  const bool transposed = !config_.flash_attention && !mla;
  const std::int64_t places = transposed ? a.kv_heads * a.v_head_dim : 1;
  if (config_.indexed_cache) in->value_places = graph_.input(kCellIndex * tokens_ * places);
  const bool half = config_.flash_attention && config_.half_mask;
  in->mask = graph_.input((half ? kHalf : kFloat) * seen);
  if (config_.flash_attention && !half) in->mask = graph_.add({.bytes = kHalf * seen}, {in->mask});
  if (!mla && rotates(a.head_dim)) {
    std::int64_t size = kRotation;
    while (a.head_dim % (2 * size) == 0) size *= 2;
    in->key_rotation = graph_.input(kFloat * size * size);
  }
  if (!mla && rotates(a.v_head_dim)) {
    in->value_rotation = graph_.input(kFloat * kRotation * kRotation);
  }
  return *in;
}

// A quantised cache is rotated before it is rounded (Hadamard matrices,
// src/llama-kv-cache.cpp).
LlamaCppGraph::Id LlamaCppGraph::rotated(Id x, Id matrix) {
  if (matrix == kNone || x == kNone) return x;
  return graph_.add({.bytes = graph_.bytes(x)}, {matrix, graph_.view(x)});
}

std::int64_t LlamaCppGraph::cache_bytes(const AttentionSpec& a, std::int64_t features) const {
  const std::int64_t block = demand_.kv.type->block_weights;
  return llama_cpp_cells(a, demand_).all() * (features + block - 1) / block *
         demand_.kv.type->block_bytes;
}

// HIP and CUDA expand a cache that their kernel cannot read to 16 bits; newer releases
// take the room from the compute buffer, older ones from a pool beside it
// (ggml-cuda/fattn-common.cuh). Vulkan reads it as it is.
std::int64_t LlamaCppGraph::workspace(const AttentionSpec& a) const {
  if (!config_.attention_workspace || engine_.id == "llama.cpp-vulkan") return 0;
  if (demand_.kv.name == "fp16" || demand_.kv.name == "f16") return 0;
  return kHalf * llama_cpp_cells(a, demand_).all() * kv_elements_per_token(a);
}

LlamaCppGraph::Id LlamaCppGraph::attend_flash(std::int32_t index, const Heads& heads, Id keys,
                                              Id values, Id mask) {
  const AttentionSpec& a = spec(index).attention;
  const Id out =
      graph_.add({.bytes = kFloat * heads.value_size * a.heads * tokens_,
                  .workspace = workspace(a),
                  .ignores_weights = true},
                 {graph_.view(heads.query), graph_.read(keys), graph_.read(values), mask});
  return a.kind == AttentionKind::mla ? expand_latent(index, out) : graph_.view(out);
}

LlamaCppGraph::Id LlamaCppGraph::attend_plain(std::int32_t index, const Heads& heads, Id keys,
                                              Id values, Id mask) {
  const AttentionSpec& a = spec(index).attention;
  const bool mla = a.kind == AttentionKind::mla;
  const std::int64_t cells = llama_cpp_cells(a, demand_).per_stream;
  const Id scores = graph_.add({.bytes = kFloat * cells * tokens_ * a.heads},
                               {graph_.read(keys), graph_.view(heads.query)});
  const Id soft = graph_.add({.bytes = graph_.bytes(scores), .in_place = true}, {scores, mask});
  Id v = graph_.read(values);
  if (mla) v = graph_.add({.bytes = cache_bytes(a, heads.value_size)}, {v});
  Id out = graph_.add({.bytes = kFloat * heads.value_size * a.heads * tokens_}, {v, soft});
  if (mla) {
    out = multiply(weights(index, TensorRole::attn_v_b), out, a.heads * a.v_head_dim, tokens_);
  }
  // The heads of a token are gathered.
  return graph_.add({.bytes = graph_.bytes(out)}, {graph_.view(out)});
}

LlamaCppGraph::Id LlamaCppGraph::expand_latent(std::int32_t index, Id latent) {
  const AttentionSpec& a = spec(index).attention;
  const Id out = multiply(weights(index, TensorRole::attn_v_b), graph_.view(latent),
                          a.heads * a.v_head_dim, tokens_);
  return graph_.add({.bytes = graph_.bytes(out)}, {graph_.view(out)});
}

LlamaCppGraph::Id LlamaCppGraph::attend(std::int32_t index, Heads heads) {
  const AttentionSpec& a = spec(index).attention;
  const CacheInputs in = cache_inputs(a);
  const bool mla = a.kind == AttentionKind::mla;
  heads.query = rotated(heads.query, in.key_rotation);
  heads.key = rotated(heads.key, in.key_rotation);
  heads.value = rotated(heads.value, in.value_rotation);
  graph_.expand(heads.query);
  graph_.expand(heads.value);
  graph_.expand(heads.key);
  const std::int64_t key_features =
      mla ? a.kv_lora_rank + a.qk_rope_head_dim : a.kv_heads * a.head_dim;
  const Id keys = graph_.cache(cache_bytes(a, key_features), device(index));
  const Id values =
      mla ? keys : graph_.cache(cache_bytes(a, a.kv_heads * a.v_head_dim), device(index));
  if (heads.key != kNone) {
    graph_.expand(graph_.store(keys, graph_.view(heads.key), in.key_places));
    if (!mla) graph_.expand(graph_.store(values, graph_.view(heads.value), in.value_places));
  }
  Id out = config_.flash_attention ? attend_flash(index, heads, keys, values, in.mask)
                                   : attend_plain(index, heads, keys, values, in.mask);
  graph_.expand(out);
  out = rotated(out, in.value_rotation);
  if (heads.gate != kNone) {
    const Id gate = graph_.add({.bytes = graph_.bytes(out)}, {graph_.view(heads.gate)});
    out = changed(out, {changed(gate)});
  }
  return projection(index, TensorRole::attn_output, out, spec_.hidden, tokens_, a.o_bias);
}

// Queries or keys seen head by head, with their norm where the model has one.
LlamaCppGraph::Id LlamaCppGraph::by_heads(std::int32_t index, Id x, TensorRole role) {
  const AttentionSpec& a = spec(index).attention;
  const Id view = graph_.view(x);
  if (!a.qk_norm) return view;
  // Queries that share a matrix with their gates are half of it.
  const bool half = a.output_gate && role == TensorRole::attn_q_norm;
  const std::int64_t size = half ? kFloat * a.heads * a.head_dim * tokens_ : graph_.bytes(view);
  return norm(view, index, role, false, size);
}

LlamaCppGraph::Heads LlamaCppGraph::heads(std::int32_t index, Id x) {
  const AttentionSpec& a = spec(index).attention;
  Heads out;
  out.value_size = a.v_head_dim;
  const std::int64_t queries = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
  out.query = projection(index, TensorRole::attn_q, x, queries, tokens_, a.qkv_bias);
  if (a.output_gate) out.gate = out.query;
  out.query = rope(by_heads(index, out.query, TensorRole::attn_q_norm));
  if (a.shares_kv) return out;
  out.key = projection(index, TensorRole::attn_k, x, a.kv_heads * a.head_dim, tokens_, a.qkv_bias);
  out.key = rope(by_heads(index, out.key, TensorRole::attn_k_norm));
  out.value = graph_.view(
      projection(index, TensorRole::attn_v, x, a.kv_heads * a.v_head_dim, tokens_, a.qkv_bias));
  return out;
}

// Multi-head latent attention with the up-projection of keys taken into the queries:
// one key head of kv_lora + rope features (src/models/deepseek2.cpp).
LlamaCppGraph::Heads LlamaCppGraph::latent_heads(std::int32_t index, Id x) {
  const AttentionSpec& a = spec(index).attention;
  const std::int64_t latent = a.kv_lora_rank;
  Id q = x;
  if (a.q_lora_rank > 0) {
    q = projection(index, TensorRole::attn_q_a, q, a.q_lora_rank, tokens_, false);
    q = norm(q, index, TensorRole::attn_q_a_norm, false);
    q = projection(index, TensorRole::attn_q_b, q, a.heads * a.head_dim, tokens_, false);
  } else {
    q = projection(index, TensorRole::attn_q, q, a.heads * a.head_dim, tokens_, false);
  }
  const Id kv =
      projection(index, TensorRole::attn_kv_a, x, latent + a.qk_rope_head_dim, tokens_, false);
  const auto turned = [&](Id from, std::int64_t features) {
    return graph_.add({.bytes = kFloat * features * tokens_, .ignores_weights = true},
                      {graph_.view(from), positions_});
  };
  const Id key_rope = turned(kv, a.qk_rope_head_dim);
  Id compressed = graph_.add({.bytes = kFloat * latent * tokens_}, {graph_.view(kv)});
  compressed = graph_.view(scale(compressed, weights(index, TensorRole::attn_kv_a_norm)));
  const Id query_rope = turned(q, a.heads * a.qk_rope_head_dim);
  const Id absorbed =
      multiply(weights(index, TensorRole::attn_k_b), graph_.view(q), a.heads * latent, tokens_);
  const auto joined = [&](Id one, Id other, std::int64_t features) {
    return graph_.add({.bytes = kFloat * features * tokens_}, {one, other});
  };
  Heads out;
  out.value_size = latent;
  out.query = joined(graph_.view(absorbed), query_rope, a.heads * (latent + a.qk_rope_head_dim));
  out.key = joined(compressed, key_rope, latent + a.qk_rope_head_dim);
  out.value = compressed;
  return out;
}

LlamaCppGraph::Id LlamaCppGraph::mixer(std::int32_t index, Id x) {
  const LayerSpec& l = spec(index);
  Id out = kNone;
  if (l.attention.heads > 0) {
    const bool mla = l.attention.kind == AttentionKind::mla;
    out = attend(index, mla ? latent_heads(index, x) : heads(index, x));
  }
  if (l.recurrent.kind != RecurrentKind::none) {
    const Id mixed = recurrent(index, x);
    out = out == kNone ? mixed : sum(out, mixed);
  }
  return out;
}

// A layer with one part alone, mixer or feed-forward (Nemotron-H).
void LlamaCppGraph::half_layer(std::int32_t index, bool last, bool mixes) {
  const LayerSpec& l = spec(index);
  Id skip = residual_;
  Id cur = norm(skip, index, TensorRole::attn_norm, l.norm_bias);
  cur = mixes ? mixer(index, cur) : feed_forward(index, cur, tokens_);
  if (last) {
    cur = output_rows(cur, spec_.hidden);
    skip = output_rows(skip, spec_.hidden);
  }
  residual_ = sum(cur, skip);
}

void LlamaCppGraph::layer(std::int32_t index, bool last) {
  const LayerSpec& l = spec(index);
  const FeedForwardSpec& f = l.feed_forward;
  const bool mixes = l.attention.heads > 0 || l.recurrent.kind != RecurrentKind::none;
  if (!mixes || f.intermediate + f.experts + f.shared_intermediate == 0) {
    half_layer(index, last, mixes);
    return;
  }
  const bool parallel = l.norms == 1;
  const bool after = l.norms == 4 || l.norms_after;
  Id skip = residual_;
  const Id x = l.norms_after ? skip : norm(skip, index, TensorRole::attn_norm, l.norm_bias);
  Id cur = mixer(index, x);
  Id beside = x;
  if (last) {
    cur = output_rows(cur, spec_.hidden);
    skip = output_rows(skip, spec_.hidden);
    if (parallel) beside = output_rows(x, spec_.hidden);
  }
  const std::int64_t rows = last ? outputs_ : tokens_;
  if (after) cur = norm(cur, index, TensorRole::post_attn_norm, l.norm_bias);
  if (parallel) {
    cur = sum(feed_forward(index, beside, rows), cur);
    residual_ = sum(cur, skip);
    return;
  }
  const Id middle = sum(cur, skip);
  const Id in = l.norms_after ? middle : norm(middle, index, TensorRole::ffn_norm, l.norm_bias);
  cur = feed_forward(index, in, rows);
  if (after) cur = norm(cur, index, TensorRole::post_ffn_norm, l.norm_bias);
  residual_ = sum(cur, middle);
}

void LlamaCppGraph::output() {
  Id cur = norm(residual_, -1, TensorRole::output_norm, spec_.final_norm_bias);
  graph_.mark_output(cur);
  if (spec_.output_head) {
    const TensorRole role =
        spec_.tied_embeddings ? TensorRole::token_embedding : TensorRole::output;
    cur = projection(-1, role, cur, spec_.vocabulary, outputs_, spec_.output_bias);
    graph_.mark_output(cur);
  }
  graph_.expand(cur);
}

std::vector<Bytes> llama_cpp_compute(const MemoryDemand& demand, const EngineInfo& engine,
                                     const LlamaCppPlacement& placement) {
  LlamaCppGraph graph(demand, engine, placement);
  std::vector<Bytes> out;
  for (const std::int64_t bytes : graph.reserve()) out.emplace_back(to_double(bytes));
  return out;
}

}  // namespace cairn::memory
