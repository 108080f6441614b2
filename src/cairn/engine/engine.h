// Engine: an inference program as far as sizing and timing need to know it, and
// its reference configuration: what a prediction means when nothing is said.
// Facts: data/engines/*.yaml, each with its sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/image.h"

namespace cairn {

/// How an engine divides memory and schedules; decides which memory model and
/// which overheads apply.
enum class EngineFamily : std::uint8_t { llama_cpp, vllm };

/// How several devices of one machine share a model.
enum class SplitMode : std::uint8_t {
  none,
  layer,   // llama.cpp --split-mode layer: consecutive layers on each device
  tensor,  // tensor parallel, an all-reduce after attention and feed-forward
};

/// The knobs of one run. An engine's reference configuration fills them all.
struct EngineConfig {
  std::string version;  // the versions the parameters describe
  bool flash_attention = true;
  std::int64_t ubatch = 512;       // llama.cpp: tokens per device batch in prefill
  std::int64_t batch = 2048;       // llama.cpp: logical batch
  std::int64_t context_pad = 256;  // llama.cpp: cells of a cache come in multiples of this
  bool full_window_cache = false;  // llama.cpp --swa-full: windowed layers keep every position
  /// llama.cpp: compute buffers have room for the logits of a whole ubatch. False
  /// for llama-server since June 2026: one position per sequence.
  bool reserve_all_outputs = true;
  std::int64_t max_batched_tokens = 8192;  // vLLM: tokens per step
  std::int64_t max_sequences = 256;        // vLLM: sequences per step
  double memory_fraction = 0.9;            // vLLM: share of the device that it takes
  std::int64_t block_tokens = 16;          // vLLM: positions per KV block
  bool graph_capture = true;               // decode steps replayed as one device graph
  std::string kv_format = "fp16";
};

/// Defaults that the engine takes from the device that it finds.
struct DeviceDefaults {
  Bytes memory_at_least{};          // of the device
  std::vector<std::string> except;  // words in an accelerator's id: "a100"
  std::int64_t max_batched_tokens = 0;
  std::int64_t max_sequences = 0;
};

/// Device memory that an engine takes beside what a model accounts for.
struct DeviceOverheads {
  std::string vendor;
  std::vector<std::string> architectures;  // empty: every one of the vendor
  Bytes reserved{};          // of the memory the catalogue gives, kept back by the driver
  Bytes runtime{};           // driver context, kernels and library workspaces
  Bytes runtime_parallel{};  // what tensor parallelism adds to that on each device
  Bytes graphs{};            // pools of captured device graphs
};

struct EngineInfo {
  std::string id;  // "llama.cpp", "llama.cpp-vulkan", "vllm"
  std::string name;
  EngineFamily family = EngineFamily::llama_cpp;
  std::vector<std::string> aliases;
  std::vector<std::string> vendors;        // of the accelerators it runs on
  std::vector<std::string> architectures;  // empty: every one of these vendors
  std::vector<std::string> format_kinds;   // "gguf", "checkpoint"
  std::vector<std::string> formats;        // checkpoint formats it runs; empty: all of the kinds
  std::vector<std::string> kv_formats;
  SplitMode split = SplitMode::layer;
  EngineConfig reference;
  std::vector<DeviceDefaults> device_defaults;  // the first that applies is taken
  std::vector<DeviceOverheads> overheads;       // the first that applies is taken
  /// Arrays of one float per sequence and vocabulary entry that sampling holds at
  /// once (vLLM: logits, sorted copy, indices, probabilities, sums, noise).
  double sampler_copies = 0;
  /// Uncertainty of a memory estimate: one sigma as a share of its total.
  double memory_sigma = 0;

  [[nodiscard]] bool supports_vendor(std::string_view vendor) const;
  /// Whether it runs on devices of this vendor and architecture.
  [[nodiscard]] bool supports(std::string_view vendor, std::string_view architecture) const;
  [[nodiscard]] bool supports_kv(std::string_view kv_format) const;
  /// The overheads on devices of this vendor and architecture; none if unlisted.
  [[nodiscard]] DeviceOverheads overheads_on(std::string_view vendor,
                                             std::string_view architecture) const;
  /// The reference configuration on a device of this memory and id.
  [[nodiscard]] EngineConfig reference_on(Bytes device_memory, std::string_view accelerator) const;
};

class EngineCatalogue {
 public:
  /// Reads engines/*.yaml of the image (data/schema/engine.yaml).
  static Result<EngineCatalogue> load(const Image& image);
  [[nodiscard]] const std::vector<EngineInfo>& all() const { return engines_; }
  /// By id or alias; an unknown name is an error that names the nearest.
  [[nodiscard]] Result<const EngineInfo*> find(std::string_view name) const;
  /// The record of an engine of this catalogue: every fact with its source.
  [[nodiscard]] Node record(const EngineInfo& engine) const;

 private:
  std::vector<EngineInfo> engines_;
  std::vector<Node> records_;
  std::optional<Image> image_;
};

}  // namespace cairn
