// The time of one operator on one device:
//
//   time = launch + smooth-max(compute, memory + unpack)
//
//   compute = FLOPs / (peak(compute type) * efficiency) * (1 / utilisation + ramp)
//     tokens       per matrix, at least the 16 of the smallest tile
//     ramp         half_tokens / tokens: filling the matrix pipelines costs as
//                  much as so many tokens
//     utilisation  tile and wave quantisation: macro-tiles cover the product,
//                  whole waves of tiles cover the compute units
//   memory  = bytes / (bandwidth * memory efficiency)
//   unpack  = weights * operations per weight / (fp32 vector rate * efficiency);
//             a wavefront loads and unpacks in turn, so the two add up. Matrix-vector
//             kernels, taken for few tokens, unpack for each token and compute nothing
//             else; matrix kernels unpack once
//
// The smooth maximum is the p-norm with p = 4: two equal terms overlap to 1.19 of
// one of them, one term alone is itself.
#pragma once

#include <string_view>
#include <vector>

#include "cairn/base/units.h"
#include "cairn/cost/kernel_parameters.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/model/graph.h"
#include "cairn/model/tensor_type.h"

namespace cairn {

enum class Limit : std::uint8_t { compute, memory, unpack, launch };
std::string_view name_of(Limit limit);

struct OperatorTime {
  Seconds total{};
  Seconds compute{};
  Seconds memory{};
  Seconds unpack{};
  Seconds launch{};
  Flops flops{};
  Bytes bytes{};
  Limit limit = Limit::launch;
};

/// A device as an engine uses it.
struct DeviceModel {
  const Accelerator* accelerator = nullptr;
  KernelParameters kernels;
  double activation_bytes = 2;  // per element between operators: 4 in llama.cpp, 2 in vLLM
  bool flash_attention = true;
  bool graph_capture = true;

  /// The peak of a compute type; where the device has no such matrix rate, the
  /// next wider type's, then the fp32 vector rate.
  [[nodiscard]] FlopsPerSecond peak(ComputeType type) const;
};

/// What a device's kernels do with one storage type, looked up once.
struct TypeKernels {
  struct Path {
    const MatmulPath* path = nullptr;
    FlopsPerSecond rate{};  // of a large well-shaped product
  };
  double kernels = 1;             // that an operator is composed of
  double unpack = 0;              // vector operations a weight ...
  FlopsPerSecond unpack_rate{1};  // ... and how many a second
  std::vector<Path> paths;        // in the order in which they are taken
  static TypeKernels of(const DeviceModel& device, std::string_view type);
  /// As KernelParameters::path.
  [[nodiscard]] const Path* path(double tokens) const;
};

/// `type` is the storage type of the operator's weight (null without one), `kv`
/// that of the cache. `resident` is what the whole step streams from memory: if it
/// fits the last-level cache, the cache serves a part.
OperatorTime time_operator(const Operator& op, const TensorType* type, const TensorType& kv,
                           const Step& step, const DeviceModel& device, Bytes resident);
/// The same where `kernels`, those of the type, are at hand.
OperatorTime time_operator(const Operator& op, const TensorType* type, const TypeKernels& kernels,
                           const TensorType& kv, const Step& step, const DeviceModel& device,
                           Bytes resident);

/// Multiplies by weights, which a step reads.
bool is_product(OperatorKind kind);

/// What a step reads of an operator's weights (of the experts that it touches), or of the
/// cache that attention goes over.
Bytes stored_bytes(const Operator& op, const TensorType* type, const TensorType& kv,
                   const Step& step);

/// Share of the tile slots that a product of `rows` output features by `tokens`
/// fills with useful work on `units` compute units: padding of the last tile in
/// each direction, and a last wave that is half full on average (t tiles take
/// t / units + 1/2 waves). In (0, 1].
/// `spread`: `tokens` is the mean of products whose sizes differ (experts); the last
/// tile of each is half full on average too.
double tile_utilisation(double rows, double tokens, double inner, const MatmulPath& path, int units,
                        bool spread = false);

}  // namespace cairn
