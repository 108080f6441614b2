// The engines' memory models; memory.cpp chooses one. Not for other rooms.
#pragma once

#include <cstdint>
#include <vector>

#include "cairn/memory/memory.h"

namespace cairn::memory {

inline double to_double(std::int64_t n) { return static_cast<double>(n); }

/// n rounded up to a multiple of `to`.
inline std::int64_t padded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// Whether a layer needs only the last positions.
inline bool is_windowed(const AttentionSpec& a) {
  return (a.kind == AttentionKind::sliding || a.kind == AttentionKind::chunked) && a.window > 0;
}

/// Bytes of a tensor as one device of the share holds it.
Bytes weight_bytes(const MemoryDemand& demand, std::size_t tensor, const Share& share);

/// Name of a stage's device: "rx-7900-xtx", "rx-7900-xtx#1".
std::string device_name(const Accelerator& accelerator, std::size_t stage, std::size_t stages);

/// Adds up the parts.
void finish(DeviceMemory& device);

Result<MemoryEstimate> estimate_llama_cpp(const MemoryDemand& demand, const EngineInfo& engine,
                                          const Accelerator& accelerator);
Result<MemoryEstimate> estimate_vllm(const MemoryDemand& demand, const EngineInfo& engine,
                                     const Accelerator& accelerator);

/// Bytes of llama.cpp's compute buffer on one device of a layer split: public for
/// its validation.
///
///   U      tokens of a ubatch           4 bytes a number unless said otherwise
///   C      cells of the largest cache   copies = 4 on several devices, else 1
///   H      hidden, F feed-forward features, k experts per token of E features
///   A      features of the queries; V vocabulary
///
///   logits   U V + 2 U H, where the head is; V of one position per sequence only if
///            not reserve_all_outputs
///   widest   U (3 F + 4 H), U (3 A + 4 H), U (2 k H + 3 H), U (3 k E + 4 H)
///   layer    flash attention: widest + C U in 2 bytes on the first device, and on
///            a single one not less than C U in 6 bytes + 4 U H (the mask is
///            converted); else the larger of widest and C U heads + 4 U H, and on
///            a single device + C U
///   inputs   on several devices: copies of U H and of the mask, C U in 4 bytes,
///            with flash attention in 2 bytes after the first device
///
/// and the buffer is inputs + max(logits, layer). Follows the graphs of
/// src/llama-graph.cpp (build_attn_mha, build_ffn, build_moe_ffn) and the pipeline
/// copies of ggml/src/ggml-backend.cpp (GGML_SCHED_MAX_COPIES is 4).
Bytes llama_cpp_compute(const MemoryDemand& demand, const Share& share, bool several_devices);

/// Bytes that vLLM's profiling step holds at its peak beside weights, one rank:
///   forward  T (3 F / tp + 4 H) elements of 2 bytes, for a mixture of experts
///            T (k max(2 E / tp, H) + k E / tp + 4 H)
///   sampler  S V floats, sampler_copies times, on the last stage
/// T = max_batched_tokens, S = min(max_sequences, T); the larger of the two.
Bytes vllm_activations(const MemoryDemand& demand, const EngineInfo& engine, const Share& share);

/// Bytes of KV cache that vLLM allocates for one sequence on one rank of a stage.
///   full layers     ceil(L / b) blocks
///   sliding layers  ceil(min(W - 1 + T, L) / b) + 1 blocks, at most those of full
/// Layers of several kinds share one pool: they are cut into groups of as many
/// layers as the rarest kind has, or of the commonest if it is not a quarter
/// longer, and each group's last is filled up (vllm/v1/core/kv_cache_utils.py).
Bytes vllm_sequence_bytes(const MemoryDemand& demand, const Share& share);

}  // namespace cairn::memory
