// The tensors of one forward pass, and the bytes that llama.cpp reserves for them
// on every device before it runs: its order of execution, its choice of devices,
// the copies between them and its allocator, followed step by step on sizes alone.
// Not for other rooms.
//
//   order       depth first, sources from left to right, each tensor once
//               (ggml_build_forward_expand, ggml/src/ggml.c)
//   devices     an operation runs where its weights or its cache lie; the others
//               take the device of their neighbours, a GPU before the host; host
//               weights are copied to the first GPU for batches of 32 and more
//               (ggml_backend_sched_split_graph, ggml/src/ggml-backend.cpp)
//   copies      what an operation reads from another device is copied: once, and
//               then freed like any other tensor, or, in a pipeline of devices,
//               GGML_SCHED_MAX_COPIES = 4 times and kept
//   allocation  a result takes the place of a source that nobody reads any more,
//               where the operation allows it, else the smallest free gap that
//               holds it (ggml_gallocr, ggml_dyn_tallocr, ggml/src/ggml-alloc.c)
//
// Files of https://github.com/ggml-org/llama.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace cairn::memory {

class TensorGraph {
 public:
  using Id = std::int32_t;
  static constexpr Id kNone = -1;
  static constexpr std::int8_t kAnywhere = -1;

  /// What an operation is, as far as memory goes.
  struct Operation {
    std::int64_t bytes = 0;      // of its result
    std::int64_t workspace = 0;  // behind it, for the operation alone
    bool in_place = false;       // the result may take the place of a source of the same layout
    bool movable = true;         // host weights may be copied to a GPU for it (not for look-ups)
    /// Reads weights that do not decide where it runs (rope factors, sinks).
    bool ignores_weights = false;
    std::int8_t device = kAnywhere;  // where the engine says so
  };

  /// Devices 0 .. gpus - 1, and the host as device `gpus`.
  explicit TensorGraph(int gpus) : host_(static_cast<std::int8_t>(gpus)) {
    tensors_.reserve(kExpected);
    order_.reserve(kExpected);
  }

  /// A matrix or vector of the model, and a cache, on their devices.
  Id weight(std::int64_t bytes, int device);
  Id cache(std::int64_t bytes, int device);
  /// A tensor that the host fills before each pass.
  Id input(std::int64_t bytes);
  Id add(const Operation& operation, std::initializer_list<Id> sources);
  /// Another look at a tensor, or at a part of it. No result takes the place of one.
  Id view(Id of);
  /// A write into a cache, at places that an input gives; runs where the cache lies.
  Id store(Id cache, Id value, Id places);
  /// A view of a cache after what was stored.
  Id read(Id cache);
  [[nodiscard]] std::int64_t bytes(Id id) const { return at(id).bytes; }
  /// Never freed and never overwritten: what the host reads back.
  void mark_output(Id tensor);
  /// Appends the tensor and all that it needs to the order of execution.
  void expand(Id tensor);

  struct Rules {
    int copies = 1;                    // of what crosses devices; 4 in a pipeline
    bool copies_all_inputs = true;     // also of inputs that nobody reads
    bool move_operations = true;       // to a GPU, of weights on the host
    std::int64_t gpu_alignment = 128;  // bytes
  };
  /// Bytes reserved on each device, the host last.
  [[nodiscard]] std::vector<std::int64_t> reserve(const Rules& rules);

 private:
  static constexpr std::size_t kSources = 6;
  static constexpr std::size_t kExpected = 512;  // tensors of a graph; more are no error
  struct Tensor {
    std::int64_t bytes = 0;
    std::int64_t workspace = 0;
    std::array<Id, kSources> sources{kNone, kNone, kNone, kNone, kNone, kNone};
    Id viewed = kNone;  // the tensor whose memory this is a view of
    std::int8_t device = kAnywhere;
    bool external = false;  // lies in a buffer of its own: weights and caches
    bool is_weight = false;
    bool is_input = false;
    bool is_output = false;
    bool is_view = false;  // an operation that does nothing: skipped by the scheduler
    bool in_place = false;
    bool movable = true;
    bool ignores_weights = false;
    bool visited = false;
  };
  /// A step of the plan: a tensor to compute, or one to keep until then.
  struct Action {
    Id tensor = kNone;
    bool keeps = false;  // computes nothing; reads `tensor`
    std::int8_t device = 0;
  };
  class Allocator;
  class Plan;

  Id push(const Tensor& tensor);
  [[nodiscard]] Tensor& at(Id id) { return tensors_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Tensor& at(Id id) const { return tensors_[static_cast<std::size_t>(id)]; }
  void choose_devices(bool move_operations);
  void spread(bool downwards, bool gpus_only);
  [[nodiscard]] std::int8_t own_device(const Tensor& t, bool move_operations) const;
  void fill_sources();

  std::int8_t host_;
  std::vector<Tensor> tensors_;
  std::vector<Id> order_;   // operations
  std::vector<Id> leaves_;  // inputs, in the order in which they are met
};

}  // namespace cairn::memory
