// Deployment: model x engine x layout x cluster, resolved and ready to be
// predicted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/message.h"
#include "cairn/base/result.h"
#include "cairn/engine/engine.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/host.h"
#include "cairn/layout/layout.h"
#include "cairn/memory/memory.h"
#include "cairn/model/graph.h"
#include "cairn/model/weight_format.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

/// A model that was read, with its graph; shared by the deployments of a search.
struct ModelInput {
  std::string name;
  std::shared_ptr<const Graph> graph;
  /// Storage types as the files have them.
  std::optional<BoundWeights> stored;
  Bytes file_bytes{};  // of the files of weights; zero where there are none
  /// Whose architecture a file of an unknown one was read as, and its fields that may change
  /// the shape and were passed over.
  std::string like = {};
  std::vector<std::string> ignored = {};
};

/// What is to be said about a model that was read as a relative; nothing of others.
std::vector<Message> notes_of(const ModelInput& model);

/// Positions beyond which a model has no embedding: those it was made for, where they are
/// rows of a table that was learnt; 0: no such limit.
std::int64_t position_limit(const ModelSpec& spec);

/// An error (unsupported) for more positions than that.
Result<void> check_positions(const ModelInput& model, std::int64_t positions);

/// A model by a name of the catalogue or a path (see looks_like_path). `like` is a model or an
/// architecture as which a file of an unknown architecture is read; empty: none.
Result<ModelInput> find_model(const std::string& name, const Knowledge& knowledge,
                              const std::string& like = {});

/// The engine taken where none is named: llama.cpp for its own formats, for
/// consumer cards, for machines with unified memory and where vLLM is not offered;
/// else vLLM. Where that one does not run the model's architecture, the first other that
/// does.
Result<const EngineInfo*> default_engine(const ModelInput& model, std::string_view weights,
                                         const Accelerator& accelerator,
                                         const Knowledge& knowledge);

/// A server: its cache is a pool of what is left on a device, steps take a budget of tokens,
/// and requests wait for room. llama.cpp and transformers allocate what they are told.
bool is_server(const EngineInfo& engine);

/// Every layer of any model.
inline constexpr std::int64_t kEveryLayer = 100'000;

/// Where llama.cpp is to keep what; empty fields take the engine's reference.
struct LlamaCppPlaces {
  std::optional<std::int64_t> gpu_layers;
  std::optional<std::int64_t> host_expert_layers;
  std::vector<std::string> host_tensors;  // regular expressions on names of tensors
  std::optional<SplitMode> split;
  std::vector<double> tensor_split;
  std::optional<bool> unified_cache;
  std::optional<bool> full_window_cache;
  std::optional<bool> towers;

  [[nodiscard]] bool given() const {
    return gpu_layers || host_expert_layers || !host_tensors.empty() || split ||
           !tensor_split.empty() || unified_cache || full_window_cache || towers;
  }
  /// The first that is given, by its name on the command line; empty: none.
  [[nodiscard]] std::string_view first() const {
    if (gpu_layers) return "ngl";
    if (host_expert_layers) return *host_expert_layers == kEveryLayer ? "cpu-moe" : "n-cpu-moe";
    if (!host_tensors.empty()) return "override-tensor";
    if (split) return "split-mode";
    if (!tensor_split.empty()) return "tensor-split";
    if (unified_cache) return "kv-unified";
    if (full_window_cache) return "swa-full";
    return towers ? "mmproj" : "";
  }
};

/// What a user asks for; empty fields take the engine's reference.
struct DeploymentRequest {
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
  std::string weights;  // weight format; empty: the file's or the published one
  /// The weights in that format, where a search has bound them before; else null.
  const BoundWeights* bound = nullptr;
  std::string kv;  // empty: the engine's reference
  Layout layout;
  std::optional<std::int64_t> ubatch;
  std::optional<bool> flash_attention;
  std::optional<double> memory_fraction;
  std::optional<std::int64_t> max_batched_tokens;
  std::optional<std::int64_t> max_sequences;
  std::optional<bool> hipblaslt;  // see KernelOptions
  std::optional<bool> rocwmma;
  std::optional<std::int64_t> build;
  LlamaCppPlaces places;
  const Host* host = nullptr;                    // around the cards; null: a usual one
  std::optional<BytesPerSecond> host_bandwidth;  // of its memory, instead of the catalogue's
};

struct Deployment {
  ModelInput model;
  const Accelerator* accelerator = nullptr;
  const EngineInfo* engine = nullptr;
  EngineConfig config;
  KernelOptions kernels;
  BoundWeights weights;
  KvFormat kv;
  Layout layout;
  const Host* host = nullptr;  // null: a usual one of the catalogue
  std::optional<BytesPerSecond> host_bandwidth;
  /// What the machines have for one replica of what settings keep on the host; nothing:
  /// nothing is kept there, or it is not known.
  std::optional<Bytes> host_memory;
};

/// Unsupported for a CPU or a rack of the catalogue.
Result<void> check_single(const Accelerator& accelerator);

/// Resolves a request. Refused: an engine that does not run on the vendor or
/// does not read the format, a layout that the engine or the model does not have.
Result<Deployment> resolve(const ModelInput& model, const DeploymentRequest& request,
                           const Knowledge& knowledge);

/// A format of the KV cache by a name that the engine has for it; unsupported where it
/// has none.
Result<KvFormat> find_kv_format(std::string_view name, const EngineInfo& engine,
                                const Knowledge& knowledge);

/// What the devices of one replica are to hold.
MemoryDemand memory_demand(const Deployment& deployment, std::int64_t context,
                           std::int64_t sequences);

/// The format an engine would be given when nothing is said: the published one
/// for checkpoint engines, q4_k_m for llama.cpp.
std::string default_format(const ModelInput& model, const EngineInfo& engine);

}  // namespace cairn
