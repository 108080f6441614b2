// Engine: an inference program as far as sizing and timing need to know it, and
// its reference configuration: what a prediction means when nothing is said.
// Facts: data/engines/*.yaml, each with its sources.
//
// A record describes the newest release; its `versions` say what older ones did
// otherwise. "vllm" is the newest, "vllm@0.6.4" the release asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/image.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

/// How an engine divides memory and schedules; decides which memory model and
/// which overheads apply.
enum class EngineFamily : std::uint8_t { llama_cpp, vllm, sglang, tensorrt_llm, transformers };

/// How several devices of one machine share a model.
enum class SplitMode : std::uint8_t {
  none,
  layer,   // llama.cpp --split-mode layer: consecutive layers on each device
  row,     // llama.cpp --split-mode row: matrices by rows, caches by layers
  tensor,  // tensor parallel, an all-reduce after attention and feed-forward
};

/// The knobs of one run. An engine's reference configuration fills them all.
struct EngineConfig {
  std::string version;  // the versions the parameters describe
  bool flash_attention = true;
  std::int64_t ubatch = 512;       // llama.cpp: tokens per device batch in prefill
  std::int64_t batch = 2048;       // llama.cpp: logical batch
  std::int64_t context_pad = 256;  // llama.cpp: cells of a cache come in multiples of this ...
  std::int64_t context_pad_plain = 256;  // ... and without flash attention of this
  bool full_window_cache = false;  // llama.cpp --swa-full: windowed layers keep every position
  /// llama.cpp: compute buffers have room for the logits of a whole ubatch. False
  /// for llama-server since June 2026: one position per sequence.
  bool reserve_all_outputs = true;
  std::int64_t max_batched_tokens = 8192;  // servers: tokens per step
  std::int64_t max_sequences = 256;        // servers: sequences per step
  /// vLLM: share of the device that it takes. SGLang: share for weights and cache,
  /// 0 for the one it works out itself. TensorRT-LLM: share for the cache of what
  /// is left after loading.
  double memory_fraction = 0.9;
  std::int64_t block_tokens = 16;  // servers: positions per KV block
  std::int64_t graph_batch = 0;    // SGLang: sequences of the largest captured step
  bool graph_capture = true;       // decode steps replayed as one device graph
  bool static_cache = false;       // transformers: the cache is allocated once
  std::string kv_format = "fp16";

  // llama.cpp: what goes where.
  std::optional<std::int64_t> gpu_layers;  // --n-gpu-layers; none: all
  std::int64_t host_expert_layers = 0;     // --n-cpu-moe: experts of the first n layers
  std::vector<std::string> host_tensors;   // --override-tensor PATTERN=CPU: the patterns
  SplitMode split = SplitMode::layer;      // --split-mode
  std::vector<double> tensor_split;        // --tensor-split; empty: alike
  bool towers = false;                     // --mmproj: for images and sound
  bool unified_cache = false;              // --kv-unified: sequences share the cells
  /// States that a recurrent layer keeps of a sequence: one, and one more for every
  /// token that is drafted ahead (--draft-max).
  std::int64_t kept_states = 1;

  // llama.cpp: how its releases differ.
  bool half_mask = true;            // flash attention's mask is an input of 16 bits
  bool fused_activation = true;     // gate and up make a tensor of their own
  bool fused_delta_net = true;      // one operation instead of one per chunk of 64 tokens
  bool embedding_inputs = true;     // room for embeddings beside tokens
  bool pipelines = true;            // several devices work on several ubatches at once
  bool copies_all_inputs = true;    // a pipeline's copies are of inputs nobody reads, too
  bool indexed_cache = true;        // rows are stored at places that an input gives
  bool rotates_cache = true;        // what goes into a quantised cache
  bool attention_workspace = true;  // expanded caches lie in the compute buffer

  friend bool operator==(const EngineConfig&, const EngineConfig&) = default;
};

/// What rules about devices go by.
struct DeviceKind {
  std::string_view vendor;        // "amd"
  std::string_view architecture;  // "cdna3"
  std::string_view target;        // "gfx942"; may be empty

  DeviceKind(std::string_view vendor_name, std::string_view architecture_name,
             std::string_view target_name = {})
      : vendor(vendor_name), architecture(architecture_name), target(target_name) {}
  // NOLINTNEXTLINE(google-explicit-constructor): an accelerator is of a kind
  DeviceKind(const Accelerator& a)
      : vendor(a.vendor), architecture(a.architecture), target(a.target) {}

  /// Whether a rule's list names the vendor, the chip generation or the target.
  [[nodiscard]] bool in(const std::vector<std::string>& list) const;
};

/// Defaults that the engine takes from the device that it finds.
struct DeviceDefaults {
  Bytes memory_at_least{};          // of the device
  std::vector<std::string> except;  // words in an accelerator's id: "a100"
  std::int64_t max_batched_tokens = 0;
  std::int64_t max_sequences = 0;
  std::int64_t graph_batch = 0;           // SGLang: with up to three devices ...
  std::int64_t graph_batch_parallel = 0;  // ... and with four and more
};

/// Device memory that an engine takes beside what a model accounts for.
struct DeviceOverheads {
  std::string vendor;
  std::vector<std::string> architectures;  // empty: every one of the vendor
  Bytes reserved{};             // of the memory the catalogue gives, kept back by the driver
  Bytes runtime{};              // driver context, kernels and library workspaces
  Bytes runtime_parallel{};     // what tensor parallelism adds to that on each device
  Bytes graphs{};               // pools of captured device graphs
  bool graphs_counted = false;  // vLLM: the graphs are estimated and kept free of cache
};

/// Weight formats and the devices on which the engine runs them.
struct FormatSupport {
  std::vector<std::string> formats;
  std::vector<std::string> on;  // vendors, chip generations, targets
};

/// Whether a release runs models of an architecture.
enum class RunsModel : std::uint8_t { yes, no, unknown };

/// Architectures of models, as a list that the engine keeps of them has it.
struct ModelSupport {
  /// Classes of a configuration: "LlamaForCausalLM". Releases share the list.
  std::shared_ptr<const std::vector<std::string>> names;
  std::string until;                // the last release that ran them; empty: the newest
  std::string absent;               // the newest release known not to run them yet; or empty
  std::string present;              // the oldest release known to run them; or empty
  RunsModel runs = RunsModel::yes;  // whether the release at hand does
  std::string url;                  // of the list
  std::string date;                 // when it was read

  /// Whether it says when the engine learnt them.
  [[nodiscard]] bool dated() const { return !absent.empty() || !present.empty(); }
};

/// Parameters of the memory model; which of them count depends on the family.
struct MemoryModel {
  /// Arrays of one float per sequence and vocabulary entry that sampling holds at
  /// once (vLLM: logits, sorted copy, indices, probabilities, sums, noise).
  double sampler_copies = 0;
  /// Arrays of the hidden size that a feed-forward holds beside its own.
  double hidden_copies = 4;
  /// vLLM: the log states concurrency x context. Older: what the pool would hold if
  /// every group of layers took the same number of blocks.
  bool tokens_by_concurrency = true;
  // SGLang: what its automatic share leaves free.
  Bytes reserve{};                  // always
  Bytes reserve_per_token{};        // of a prefill chunk
  Bytes reserve_per_graph_batch{};  // sequence of the largest captured step
  Bytes reserve_per_device{};       // of a tensor-parallel group
  Bytes reserve_least{};            // on devices of at least ...
  Bytes reserve_least_from{};       // ... this memory
  double window_share = 1;          // SGLang: cells of windowed layers, of those of full ones
  double state_ratio = 0;           // SGLang: memory for recurrent states, of that for the cache
  double states_per_sequence = 1;   // recurrent states that one sequence pins
  /// transformers: copies of a growing cache that the allocator ends up holding.
  double cache_copies = 1;
  // vLLM: room that a step of sparse attention gathers in, in contexts of the cache.
  double index_contexts = 0;   // of the indexer's keys
  double latent_contexts = 0;  // of latents, in 16 bits
  double entry_contexts = 0;   // of compressed entries, in 16 bits
  Bytes index_scores{};        // of the indexer, at most
};

struct EngineInfo {
  std::string id;  // "llama.cpp", "llama.cpp-vulkan", "vllm"
  std::string name;
  EngineFamily family = EngineFamily::llama_cpp;
  std::vector<std::string> aliases;
  std::vector<std::string> vendors;        // of the accelerators it runs on
  std::vector<std::string> architectures;  // or targets; empty: every one of these vendors
  /// Targets on which others than its makers keep it running; not offered unasked.
  std::vector<std::string> community;
  std::vector<std::string> format_kinds;  // "gguf", "checkpoint"
  std::vector<FormatSupport> formats;     // of checkpoints; empty: all of the kinds
  /// Types of weights that it reads and has no kernels for on GPUs.
  std::vector<std::string> no_kernels;
  std::vector<std::string> kv_formats;
  std::vector<ModelSupport> models;  // empty: not known, taken as every one
  SplitMode split = SplitMode::layer;
  EngineConfig reference;
  std::vector<DeviceDefaults> device_defaults;  // the first that applies is taken
  std::vector<DeviceOverheads> overheads;       // the first that applies is taken
  MemoryModel memory;
  /// Uncertainty of a memory estimate: one sigma as a share of its total.
  double memory_sigma = 0;

  [[nodiscard]] bool supports_vendor(std::string_view vendor) const;
  /// Whether its makers say that it runs on devices of this kind: what plans offer.
  [[nodiscard]] bool offered_on(const DeviceKind& device) const;
  /// Whether it runs there at all, be it a build kept up by its users.
  [[nodiscard]] bool supports(const DeviceKind& device) const;
  /// Whether it runs weights of this checkpoint format on devices of this kind.
  [[nodiscard]] bool runs_format(std::string_view format, const DeviceKind& device) const;
  /// Whether it runs models of this architecture, a class as configurations name it.
  [[nodiscard]] RunsModel answer_for(std::string_view model_class) const;
  [[nodiscard]] bool runs_model(std::string_view model_class) const {
    return answer_for(model_class) == RunsModel::yes;
  }
  /// An error that names the list the architecture is missing from, or says that it is
  /// not known for this release, unless it runs it.
  [[nodiscard]] Result<void> check_model(std::string_view model_class) const;
  [[nodiscard]] bool supports_kv(std::string_view kv_format) const;
  /// The overheads on devices of this vendor and architecture; none if unlisted.
  [[nodiscard]] DeviceOverheads overheads_on(std::string_view vendor,
                                             std::string_view architecture) const;
  /// The reference configuration on a device of this memory and id, of which
  /// `parallel` share the model.
  [[nodiscard]] EngineConfig reference_on(Bytes device_memory, std::string_view accelerator,
                                          int parallel = 1) const;
};

class EngineCatalogue {
 public:
  /// Reads engines/*.yaml of the image (data/schema/engine.yaml).
  static Result<EngineCatalogue> load(const Image& image);
  /// The newest release of every engine.
  [[nodiscard]] const std::vector<EngineInfo>& all() const { return engines_; }
  /// By id or alias, with "@release" for one that is not the newest; an unknown
  /// name is an error that names the nearest.
  [[nodiscard]] Result<const EngineInfo*> find(std::string_view name) const;
  /// The record of an engine of this catalogue: every fact with its source.
  [[nodiscard]] Node record(const EngineInfo& engine) const;

 private:
  /// Releases before `below`, down to the next entry's.
  struct Older {
    std::vector<std::int64_t> below;
    EngineInfo engine;
  };
  static Result<std::vector<Older>> older_of(Node record, const EngineInfo& newest);
  std::vector<EngineInfo> engines_;
  std::vector<std::vector<Older>> older_;  // of each engine, newest first
  std::vector<Node> records_;
  std::optional<Image> image_;
};

}  // namespace cairn
