// llama.cpp's parts: where tensors lie, the cache and the compute buffers.
// llama_cpp_memory.cpp puts them together. Not for other rooms.
#pragma once

#include <cstdint>
#include <vector>

#include "cairn/memory/memory.h"

namespace cairn::memory {

/// Where the engine puts what. Devices are 0 .. gpus - 1, and `gpus` is the host.
struct LlamaCppPlacement {
  int gpus = 1;
  std::vector<int> layers;     // device of each layer, with its cache
  std::vector<bool> on_host;   // of each tensor of the graph: kept from its device
  int head = 0;                // device of output norm and head
  bool rows = false;           // matrices are cut by rows over all devices
  std::vector<double> shares;  // of each GPU, of sum 1
  bool all_on_gpus = true;     // every layer and the head
  /// Passes overlap on several devices, each with copies of what crosses them.
  bool pipeline = false;
};

/// What a demand takes on each device, the host last, beside the runtime of the device.
struct LlamaCppNeed {
  std::vector<Bytes> weights;
  std::vector<Bytes> cache;
  std::vector<Bytes> compute;
  std::vector<Bytes> pool;  // of attention, outside of the compute buffer; not on the host
  Bytes towers{};           // of images and sound, on the first device
};

/// The rule of --n-gpu-layers, --split-mode, --tensor-split, --n-cpu-moe and
/// --override-tensor: the
/// head counts as one more layer; the last n of them go to the GPUs, item i of n to
/// the first device whose summed share is above i / n (load_tensors,
/// src/llama-model.cpp; --n-cpu-moe, common/arg.cpp).
/// Errors: not a share for each device, shares that are not positive, a pattern that is
/// no regular expression.
Result<LlamaCppPlacement> llama_cpp_placement(const MemoryDemand& demand);

/// Bytes of weights on each device, the host last. Of a tensor with a row that is no
/// multiple of 512 weights, HIP and CUDA round the last row up (MATRIX_ROW_PADDING,
/// ggml/src/ggml-cuda/ggml-cuda.cu).
std::vector<Bytes> llama_cpp_weights(const MemoryDemand& demand, const EngineInfo& engine,
                                     const LlamaCppPlacement& placement);

/// Contexts are rounded up to a multiple of this.
inline std::int64_t context_pad(const EngineConfig& config) {
  return config.flash_attention ? config.context_pad : config.context_pad_plain;
}

/// Cells of a cache: positions of one stream, and how many streams there are.
struct LlamaCppCells {
  std::int64_t per_stream = 0;
  std::int64_t streams = 1;

  [[nodiscard]] std::int64_t all() const { return per_stream * streams; }
};

/// The cells of a layer's cache. Contexts are rounded up to context_pad(); a windowed layer keeps
/// the window (of every sequence, if they share the cache) and one ubatch, in multiples of 256
/// (src/llama-kv-cache-iswa.cpp).
LlamaCppCells llama_cpp_cells(const AttentionSpec& attention, const MemoryDemand& demand);

/// Bytes of a layer's cache or state.
Bytes llama_cpp_layer_cache(const MemoryDemand& demand, std::size_t layer);

/// Bytes of caches on each device, the host last.
std::vector<Bytes> llama_cpp_cache(const MemoryDemand& demand, const LlamaCppPlacement& placement);

/// Bytes of the compute buffers on each device, the host last: see tensor_graph.h.
std::vector<Bytes> llama_cpp_compute(const MemoryDemand& demand, const EngineInfo& engine,
                                     const LlamaCppPlacement& placement);

/// Bytes of the buffer, in host memory, into which logits are copied: one position
/// of every sequence (output_reserve, src/llama-context.cpp).
Bytes llama_cpp_outputs(const MemoryDemand& demand);

}  // namespace cairn::memory
