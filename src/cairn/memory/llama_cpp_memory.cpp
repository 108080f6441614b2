// llama.cpp: what it prints as model buffer, KV buffer and compute buffer.
#include <algorithm>
#include <cstddef>

#include "cairn/memory/demand_table.h"
#include "cairn/memory/estimates.h"
#include "cairn/memory/llama_cpp.h"

namespace cairn::memory {
namespace {

// A quantised cache is expanded to 16 bits for flash attention, one layer at a
// time, in a pool that keeps its largest size (ggml-cuda/fattn-common.cuh;
// https://github.com/ggml-org/llama.cpp/issues/23446), in releases that do not take
// the room from the compute buffer. Vulkan reads it as it is.
Bytes attention_pool(const MemoryDemand& demand, const EngineInfo& engine,
                     const LlamaCppPlacement& placement, int device) {
  constexpr double kHalf = 2;
  const EngineConfig& c = demand.config;
  const bool expands = c.flash_attention && !c.attention_workspace &&
                       demand.kv.type->block_weights > 1 && engine.id != "llama.cpp-vulkan";
  if (!expands) return Bytes(0);
  double most = 0;
  const ModelSpec& spec = demand.graph->spec;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    if (placement.layers[i] != device) continue;
    const AttentionSpec& a = spec.layers[i].attention;
    most = std::max(most, to_double(kv_elements_per_token(a) * llama_cpp_cells(a, demand).all()));
  }
  return Bytes(kHalf * most);
}

Result<void> check(const MemoryDemand& demand) {
  const Layout& layout = demand.layout;
  if (layout.tp > 1 || layout.ep > 1) {
    return fail(unsupported("memory of llama.cpp under tensor or expert parallelism")
                    .in(layout.tp > 1 ? "tp" : "ep")
                    .got(std::to_string(std::max(layout.tp, layout.ep)))
                    .want("1; devices are added by layer (pp)"));
  }
  const EngineConfig& c = demand.config;
  const bool latent = std::ranges::any_of(demand.graph->spec.layers, [](const LayerSpec& l) {
    return l.attention.kind == AttentionKind::mla;
  });
  if (!c.flash_attention && demand.kv.type->block_weights > 1 && !latent) {
    return fail(unsupported("a quantised V cache needs flash attention")
                    .in("kv")
                    .got(demand.kv.name)
                    .want("fp16 or bf16, or flash attention"));
  }
  return {};
}

Result<LlamaCppNeed> need_of(const MemoryDemand& demand, const EngineInfo& engine) {
  CAIRN_CHECK(check(demand));
  CAIRN_CHECK(divide(*demand.graph, demand.layout, Stages::head_counts));
  CAIRN_TRY(const LlamaCppPlacement placement, llama_cpp_placement(demand));
  LlamaCppNeed out;
  out.weights = llama_cpp_weights(demand, engine, placement);
  out.cache = llama_cpp_cache(demand, placement);
  out.compute = llama_cpp_compute(demand, engine, placement);
  for (int i = 0; i < placement.gpus; ++i) {
    out.pool.push_back(attention_pool(demand, engine, placement, i));
  }
  if (demand.config.towers) out.towers = demand.weights->towers(*demand.graph);
  return out;
}

}  // namespace

Result<MemoryEstimate> estimate_llama_cpp(const MemoryDemand& demand, const EngineInfo& engine,
                                          const Accelerator& accelerator) {
  CAIRN_TRY(const auto need, shared_need(&MemoryCache::Tables::llama_cpp, demand, engine, "",
                                         [&] { return need_of(demand, engine); }));
  const DeviceOverheads overheads =
      engine.overheads_on(accelerator.vendor, accelerator.architecture);
  MemoryEstimate out;
  out.fits = true;
  const std::size_t gpus = need->pool.size();
  for (std::size_t i = 0; i < gpus; ++i) {
    DeviceMemory device;
    device.device = device_name(accelerator, i, gpus);
    device.capacity = accelerator.capacity(engine.id) - overheads.reserved;
    device.parts = {
        {"weights", need->weights[i]},
        {"kv_cache", need->cache[i]},
        {"compute", need->compute[i]},
        {"runtime", overheads.runtime + need->pool[i]},
    };
    // The towers, a file of their own, go to the first device.
    if (i == 0 && need->towers > Bytes{}) device.parts.push_back({"towers", need->towers});
    finish(device);
    out.fits = out.fits && device.fits();
    out.devices.push_back(std::move(device));
  }
  out.host_parts = {{"weights", need->weights[gpus]},
                    {"kv_cache", need->cache[gpus]},
                    {"compute", need->compute[gpus]},
                    {"output", llama_cpp_outputs(demand)}};
  for (const MemoryPart& part : out.host_parts) out.host += part.bytes;
  out.kv_tokens = padded(demand.context, context_pad(demand.config)) * demand.sequences;
  out.resident_sequences = to_double(demand.sequences);
  out.sigma = engine.memory_sigma;
  return out;
}

}  // namespace cairn::memory
