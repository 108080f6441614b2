// The time of one engine step on one device: the operators of the device's
// share, one after the other, the collectives between devices, and the host's
// fixed costs.
//
// A StepShape merges operators that differ in nothing (the layers of a model), so that
// a step of an 80-layer model costs a dozen evaluations; it is built once for a model,
// weight format and layout. A StepModel is that shape on a device.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/cost/collective.h"
#include "cairn/cost/operator_time.h"
#include "cairn/layout/layout.h"
#include "cairn/model/graph.h"
#include "cairn/model/weight_format.h"

namespace cairn {

/// What the time of a step is spent on.
enum class TimeClass : std::uint8_t {
  attention_linear,  // q, k, v and output projections
  attention,         // scores and values over the KV cache
  dense_ffn,
  experts,  // routed experts and routers
  head,     // embedding and output head
  other,    // norms, activations, rope
  communication,
  host,  // fixed time per step and per sequence
};
constexpr std::size_t kTimeClasses = 8;
/// As in JSON: "attention_projections", "dense_ffn" ...
std::string_view name_of(TimeClass c);

/// Matrices whose inner dimension tensor parallelism divides: an all-reduce follows.
bool sums_over_ranks(TensorRole role);

struct StepTime {
  Seconds total{};
  std::array<Seconds, kTimeClasses> by_class{};
  Seconds compute_bound{};  // time in operators limited by compute or unpacking
  Seconds memory_bound{};   // ... by memory
  Seconds fixed{};          // launches, host, latency of collectives
  Seconds from_host{};      // on what lies in host memory: the processor's work, and copies
  Flops flops{};
  Bytes bytes{};

  [[nodiscard]] Seconds of(TimeClass c) const { return by_class[static_cast<std::size_t>(c)]; }
  StepTime& operator+=(const StepTime& o);
};

/// One merged group of operators, for `predict --explain`.
struct OperatorGroup {
  Operator op;
  const TensorType* type = nullptr;
  std::string name;  // "attn_q", "ffn_down_exps", "attention" ...
  TimeClass time_class = TimeClass::other;
  double count = 1;  // how many operators are alike
  /// Takes the time of the group before, in any state: gate and up, keys and values.
  bool repeats = false;
};

struct GroupTime {
  const OperatorGroup* group = nullptr;
  OperatorTime time;  // of one operator
};

/// Products that are cut by rows over several devices (llama.cpp --split-mode row): one
/// device sends the input to the others and gathers what they put out
/// (ggml_cuda_op_mul_mat, ggml/src/ggml-cuda/ggml-cuda.cu). Sums over a step's products.
struct RowCut {
  double starts = 0;    // of a product on another device
  double sent = 0;      // features of a token that go to other devices
  double gathered = 0;  // ... and that come back
  Seconds start{};      // host time of one start
  double share = 1;     // of the link's usable rate that these copies reach
  friend bool operator==(const RowCut&, const RowCut&) = default;
};

/// Work on weights in host memory. A step of few tokens is the processor's. One of more is
/// done by a GPU, to which weights are copied each time (op offload:
/// ggml_backend_sched_backend_id_from_cur, ggml/src/ggml-backend.cpp, and
/// ggml_backend_cuda_device_offload_op, ggml/src/ggml-cuda/ggml-cuda.cu).
struct HostWork {
  std::shared_ptr<const DeviceModel> gpu;
  double gpu_tokens = 0;  // of a step, from which on the GPU takes it
  BytesPerSecond copy{};  // usable, from host memory to the GPU
  Seconds handover{};     // of a step, from one to the other
};

/// What one device of a layout computes in a step, whatever the device is.
struct StepShape {
  std::vector<OperatorGroup> groups;
  Layout layout;
  Share share;
  double hidden = 0;
  double all_reduces = 0;  // per step on this device
  double expert_layers = 0;
  double vocabulary = 0;
  Bytes weight_bytes{};  // that a step streams from memory apart from the KV cache
  double handovers = 0;  // of a step's activations between host and devices
  RowCut rows;

  /// An operator as the device runs it, with the tensor and the type of its weight (null
  /// without one).
  void add(const Operator& op, const Tensor* tensor, const TensorType* type);

  static StepShape of(const Graph& graph, const BoundWeights& weights, const Layout& layout,
                      const Share& share);
  /// Takes the same time on the same device.
  [[nodiscard]] bool like(const StepShape& other) const;
};

/// The shapes of the stages of a layout, one entry a stage; like stages share theirs.
using StepShapes = std::vector<std::shared_ptr<const StepShape>>;
Result<StepShapes> shapes_of(const Graph& graph, const BoundWeights& weights, const Layout& layout);

class StepModel {
 public:
  /// `host`: of a shape whose weights lie in host memory, with the processor as device.
  StepModel(std::shared_ptr<const StepShape> shape, const KvFormat& kv,
            std::shared_ptr<const DeviceModel> device, CollectiveModel links,
            std::shared_ptr<const HostWork> host = nullptr);

  /// The time of a step in which every sequence is in the same state.
  [[nodiscard]] StepTime time(const Step& step) const { return mean(step, step.context); }
  /// The mean of such steps while the context grows from step.context to `last`. Only
  /// attention depends on the context, and its time is smooth in it: Simpson's rule.
  [[nodiscard]] StepTime mean(const Step& step, double last) const;
  /// The same, operator by operator.
  [[nodiscard]] std::vector<GroupTime> explain(const Step& step) const;
  /// Bytes that a step streams from memory apart from the KV cache.
  [[nodiscard]] Bytes weight_bytes() const { return shape_->weight_bytes; }
  [[nodiscard]] const DeviceModel& device() const { return *device_; }
  [[nodiscard]] const StepShape& shape() const { return *shape_; }
  [[nodiscard]] bool from_host() const { return host_ != nullptr; }

 private:
  /// Of one operator of a group. `copied`: the part of it that copies from host memory took.
  [[nodiscard]] OperatorTime time_of(std::size_t group, const Step& step, Seconds& copied) const;
  [[nodiscard]] Seconds communication(const Step& step, Seconds& fixed) const;

  std::shared_ptr<const StepShape> shape_;
  std::shared_ptr<const DeviceModel> device_;
  std::vector<TypeKernels> kernels_;  // one a group; they point into device_
  CollectiveModel links_;
  KvFormat kv_;
  std::shared_ptr<const HostWork> host_;
  std::vector<TypeKernels> taken_over_;  // as kernels_, of the GPU that takes over
};

}  // namespace cairn
