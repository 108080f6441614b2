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

}  // namespace

LlamaCppCells llama_cpp_cells(const AttentionSpec& attention, const MemoryDemand& demand) {
  const EngineConfig& c = demand.config;
  const bool shared = c.unified_cache || demand.sequences == 1;
  const std::int64_t sequences = shared ? demand.sequences : 1;
  LlamaCppCells out;
  out.streams = shared ? 1 : demand.sequences;
  out.per_stream = padded(demand.context * sequences, context_pad(c));
  if (is_windowed(attention) && !c.full_window_cache) {
    out.per_stream = padded(std::min(out.per_stream, attention.window * sequences + c.ubatch),
                            kWindowPad);
  }
  return out;
}

std::vector<Bytes> llama_cpp_cache(const MemoryDemand& demand,
                                   const LlamaCppPlacement& placement) {
  const ModelSpec& spec = demand.graph->spec;
  std::vector<Bytes> out(static_cast<std::size_t>(placement.gpus) + 1, Bytes(0));
  const std::int64_t widest = widest_values(spec);
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    AttentionSpec a = spec.layers[i].attention;
    const std::int64_t cells = llama_cpp_cells(a, demand).all();
    if (!demand.config.flash_attention && a.kind != AttentionKind::mla && a.kv_heads > 0) {
      a.v_head_dim = widest / a.kv_heads;
    }
    // States are of 32 bits, and as many as there are sequences.
    constexpr double kFloat = 4;
    const Bytes state = state_bytes(spec.layers[i].recurrent, spec.hidden, kFloat, kFloat, 1);
    out[static_cast<std::size_t>(placement.layers[i])] +=
        kv_bytes(a, demand.kv, to_double(cells), 1) + state * to_double(demand.sequences);
  }
  return out;
}

Bytes llama_cpp_outputs(const MemoryDemand& demand) {
  constexpr double kFloat = 4;
  return Bytes(kFloat * to_double(demand.graph->spec.vocabulary) * to_double(demand.sequences));
}

}  // namespace cairn::memory
