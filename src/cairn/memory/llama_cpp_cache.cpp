// The caches of llama.cpp: src/llama-kv-cache.cpp, src/llama-kv-cache-iswa.cpp.
#include <algorithm>
#include <cstddef>

#include "cairn/memory/estimates.h"
#include "cairn/memory/llama_cpp.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kWindowPad = 256;  // cells

// Without flash attention V is stored by features, and layers of one cache get the
// widest V of the model (TAG_V_CACHE_VARIABLE).
std::int64_t widest_values(const ModelSpec& spec) {
  std::int64_t most = 0;
  for (const LayerSpec& l : spec.layers) {
    most = std::max(most, l.attention.kv_heads * l.attention.v_head_dim);
  }
  return most;
}

// Bytes of one row of `features` elements, in whole blocks.
double row_bytes(const KvFormat& kv, std::int64_t features) {
  const std::int64_t blocks = (features + kv.type->block_weights - 1) / kv.type->block_weights;
  return to_double(blocks * kv.type->block_bytes);
}

// What sparse and compressed attention keep beside the cache that they read whole: keys
// of the indexer, entries that stand for `compress` positions, and, in 32 bits, the
// positions of an unfinished entry with their scores (src/llama-kv-cache-dsa.cpp,
// src/llama-kv-cache-dsv4.cpp).
double beside(const AttentionSpec& a, const MemoryDemand& demand) {
  const std::int64_t indexed = a.index_heads > 0 && !a.index_shared ? a.index_head_dim : 0;
  const std::int64_t context = padded(demand.context, context_pad(demand.config));
  if (a.kind != AttentionKind::compressed || a.compress == 0) {
    return to_double(context * demand.sequences) * row_bytes(demand.kv, indexed);
  }
  constexpr std::int64_t kFloat = 4;
  constexpr std::int64_t kOverlapped = 4;  // entries of four positions overlap by half
  const std::int64_t entries = padded((context + a.compress - 1) / a.compress, kWindowPad);
  const std::int64_t twice = a.compress == kOverlapped ? 2 : 1;
  const std::int64_t state = 2 * kFloat * twice * twice * a.compress * (a.head_dim + indexed);
  return to_double(demand.sequences) *
         (to_double(entries) * (row_bytes(demand.kv, a.head_dim) + row_bytes(demand.kv, indexed)) +
          to_double(state));
}

}  // namespace

LlamaCppCells llama_cpp_cells(const AttentionSpec& attention, const MemoryDemand& demand) {
  const EngineConfig& c = demand.config;
  const bool compressed = attention.kind == AttentionKind::compressed;
  const bool shared = demand.sequences == 1 || (c.unified_cache && !compressed);
  const std::int64_t sequences = shared ? demand.sequences : 1;
  LlamaCppCells out;
  out.streams = shared ? 1 : demand.sequences;
  out.per_stream = padded(demand.context * sequences, context_pad(c));
  const bool windowed = is_windowed(attention) || (compressed && attention.window > 0);
  if (windowed && !c.full_window_cache) {
    out.per_stream =
        padded(std::min(out.per_stream, attention.window * sequences + c.ubatch), kWindowPad);
  }
  return out;
}

Bytes llama_cpp_layer_cache(const MemoryDemand& demand, std::size_t layer) {
  const ModelSpec& spec = demand.graph->spec;
  AttentionSpec a = spec.layers[layer].attention;
  const std::int64_t cells = llama_cpp_cells(a, demand).all();
  if (!demand.config.flash_attention && a.kind != AttentionKind::mla && a.kv_heads > 0) {
    a.v_head_dim = widest_values(spec) / a.kv_heads;
  }
  // States are of 32 bits.
  constexpr double kFloat = 4;
  const Bytes state = state_bytes(spec.layers[layer].recurrent, spec.hidden, kFloat, kFloat, 1);
  return kv_bytes(a, demand.kv, to_double(cells), 1) + Bytes(beside(a, demand)) +
         state * to_double(demand.sequences * demand.config.kept_states);
}

std::vector<Bytes> llama_cpp_cache(const MemoryDemand& demand, const LlamaCppPlacement& placement) {
  std::vector<Bytes> out(static_cast<std::size_t>(placement.gpus) + 1, Bytes(0));
  for (std::size_t i = 0; i < placement.layers.size(); ++i) {
    out[static_cast<std::size_t>(placement.layers[i])] += llama_cpp_layer_cache(demand, i);
  }
  return out;
}

Bytes llama_cpp_outputs(const MemoryDemand& demand) {
  constexpr double kFloat = 4;
  return Bytes(kFloat * to_double(demand.graph->spec.vocabulary) * to_double(demand.sequences));
}

}  // namespace cairn::memory
