// The parameters of the cost model for one engine on one device architecture:
// few, each with a physical meaning, a prior and its source. They are data
// (data/cost/*.yaml); this header says what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/image.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

/// A parameter: its value, and the standard deviation of its logarithm.
struct Prior {
  double value = 1;
  double sigma = 0.3;
};

/// How an engine multiplies a batch of tokens by weights of one storage type.
/// The compute type is the kernel's, not the weight's: llama.cpp's MMQ multiplies
/// int8, dequantise + BLAS multiplies fp16.
struct MatmulPath {
  std::string kernel;  // "mmq", "hipblaslt", "coopmat" ...
  ComputeType compute = ComputeType::f16;
  Prior efficiency;          // of the peak rate, for a large well-shaped product
  double half_tokens = 0;    // tokens at which full tiles reach half of that
  double tile_rows = 128;    // macro-tile: output features ...
  double tile_tokens = 128;  // ... by tokens
  double split_k = 1;        // ways a product may be cut along the inner dimension
  /// Of the memory efficiency, where few tokens choose experts and there is no
  /// matrix-vector kernel for these: a matrix kernel loads tiles that are mostly padding.
  double few_experts_memory = 1;
  double max_tokens = 1e9;  // larger products take the next path of their type
  /// Experts are not grouped into one kernel but run one after the other, each at
  /// this cost; zero where they are grouped.
  Seconds expert_launch{};
};

/// How an engine runs the recurrences of linear attention and state spaces.
struct RecurrenceKernel {
  /// By chunks of tokens with matrix products, or token by token on the vector units.
  bool by_chunks = false;
  Prior efficiency;  // of the matrix peak, or of the fp32 vector rate
};

struct KernelParameters {
  std::string id;  // "llama.cpp on rdna3"
  /// Given for this architecture, for a relative of it, or for any device.
  enum class Scope : std::uint8_t { architecture, vendor, any } scope = Scope::any;

  // Fixed costs.
  Prior launch;    // seconds between dependent kernels, per operator
  Prior step;      // host seconds per step (scheduling, sampling, sync)
  Prior sequence;  // host seconds per sequence and step

  // Memory-bound work.
  Prior memory_efficiency;   // of peak bandwidth, streaming weights
  double expert_memory = 1;  // what of that reading the chosen experts reaches
  Prior vector_efficiency;   // of the fp32 vector rate, unpacking quantised weights
  double matvec_tokens = 8;  // up to this many tokens weights are streamed by a
                             // matrix-vector kernel, which unpacks for every token
  double cache_speedup = 1;  // bandwidth of the last-level cache over memory

  // Attention.
  Prior attention_decode;   // of peak bandwidth, reading the KV cache
  Prior attention_prefill;  // of the peak of `attention_compute`
  ComputeType attention_compute = ComputeType::f16;
  double attention_tokens = 64;  // queries at which prefill reaches half its rate

  RecurrenceKernel recurrence;
  /// Sparse attention goes over every entry, with a mask for those that were not chosen.
  bool masks_chosen = false;

  // Matrix products by storage type.
  struct TypedPath {
    std::vector<std::string> types;  // names of TensorTypes; "*" for the rest
    MatmulPath path;
  };
  std::vector<TypedPath> paths;
  /// Vector operations that unpacking one weight costs, by storage type.
  std::unordered_map<std::string, double> unpack_operations;
  /// Kernels that an operator is composed of where that is more than one, by its name.
  std::unordered_map<std::string, double> kernels_of;

  /// The first path that takes the type by name and so many tokens per matrix, else
  /// the first that takes any type; null if there is none.
  [[nodiscard]] const MatmulPath* path(std::string_view type, double tokens) const;
  [[nodiscard]] double unpack(std::string_view type) const;
  /// By the name of an operator group, or "compressed_attention".
  [[nodiscard]] double composed_of(std::string_view operation) const;
};

/// What of a run's configuration decides which kernels it gets. Unset fields mean
/// the engine's reference configuration.
struct KernelOptions {
  bool flash_attention = true;
  std::optional<bool> hipblaslt;      // llama.cpp on HIP: BLAS calls go to hipBLASLt
  std::optional<bool> rocwmma;        // ... flash attention built with rocWMMA
  std::optional<std::int64_t> build;  // build number, as in "b9187"
};

/// Parameters of links: latency of one hop and the share of the peak that
/// collectives reach.
struct LinkParameters {
  Prior latency;     // seconds per step of an algorithm
  Prior efficiency;  // of the link's peak
};

struct PowerParameters {
  Prior memory_bound;          // share of (board - idle) power drawn while streaming memory
  Prior compute_bound;         // ... while the matrix units are busy
  double idle_fraction = 0.1;  // of board power, where the catalogue has no idle figure
};

/// Work on weights that stay in host memory (data/cost/host.yaml).
struct HostParameters {
  Prior flops_per_byte;          // of the vector units in 32 bits, by memory bandwidth
  Prior copy;                    // share of the link that copies of weights reach
  Prior handover;                // seconds in which a step passes from GPU to host or back
  Prior row_start;               // seconds of starting a row-cut product on another device
  Prior row_copy;                // share of the link's usable rate that its copies reach
  double gpu_tokens = 0;         // tokens of a step from which on a GPU does the work
  BytesPerSecond fabric_from{};  // bandwidth beyond which cores cannot reach all of it
};

/// What the intervals of times hold besides the priors of the parameters.
struct Uncertainty {
  double model_floor = 0;  // sigma that remains however well the parameters are known
  double transferred = 1;  // factor where they are not those of the architecture
};

class CostData {
 public:
  static Result<CostData> load(const Image& image);

  /// The parameters for an engine on a device: those of its target (gfx1151,
  /// sm_80) or architecture, else of its vendor, else the engine's general ones, with the variants
  /// that the options ask for applied in order. An engine that is described as like
  /// another (SGLang, as vLLM) has that one's, times its factors. An error if the
  /// engine has none.
  [[nodiscard]] Result<KernelParameters> parameters(std::string_view engine,
                                                    const Accelerator& accelerator,
                                                    const KernelOptions& options) const;
  /// By link name ("infinity-fabric", "nvlink", "pcie"); an error for another.
  [[nodiscard]] Result<LinkParameters> link(std::string_view name) const;
  [[nodiscard]] const PowerParameters& power() const { return power_; }
  [[nodiscard]] const HostParameters& host() const { return host_; }
  [[nodiscard]] const Uncertainty& uncertainty() const { return uncertainty_; }

 private:
  std::unordered_map<std::string, Node> engines_;
  std::unordered_map<std::string, LinkParameters> links_;
  PowerParameters power_;
  HostParameters host_;
  Uncertainty uncertainty_;
  std::optional<Image> image_;
};

}  // namespace cairn
