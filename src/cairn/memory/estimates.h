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
Result<MemoryEstimate> estimate_sglang(const MemoryDemand& demand, const EngineInfo& engine,
                                       const Accelerator& accelerator);
Result<MemoryEstimate> estimate_tensorrt_llm(const MemoryDemand& demand, const EngineInfo& engine,
                                             const Accelerator& accelerator);
Result<MemoryEstimate> estimate_transformers(const MemoryDemand& demand, const EngineInfo& engine,
                                             const Accelerator& accelerator);

}  // namespace cairn::memory
