// What the cost tests share: the facts of the image, and a device with round figures
// for arithmetic by hand.
#pragma once

#include <string>
#include <string_view>

#include "../must.h"
#include "cairn/cost/operator_time.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/model/tensor_type.h"

namespace cairn::test {

inline const Image& image() {
  static const Image kImage = must(Image::open(CAIRN_IMAGE_FILE));
  return kImage;
}
inline const CostData& cost_data() {
  static const CostData kData = must(CostData::load(image()));
  return kData;
}
inline const AcceleratorCatalogue& accelerators() {
  static const AcceleratorCatalogue kCatalogue = must(AcceleratorCatalogue::load(image()));
  return kCatalogue;
}
inline const Accelerator& accelerator(std::string_view name) {
  return *must(accelerators().find(name));
}
inline const TensorTypes& tensor_types() {
  static const TensorTypes kTypes =
      must(TensorTypes::load(must(image().root("models/tensor_types.csv"))));
  return kTypes;
}
inline const TensorType& type(std::string_view name) {
  const TensorType* found = tensor_types().find(name);
  if (found == nullptr) throw std::runtime_error("no type " + std::string(name));
  return *found;
}

/// 1000 GB/s, 50 TFLOPS of vectors, 100 of fp16 and 200 of int8 matrices, 64 units;
/// 0.8 of the bandwidth, half of every rate, 5 us a kernel.
inline Accelerator round_device() {
  Accelerator a;
  a.id = "round";
  a.compute_units = 64;
  a.memory = gib(64);
  a.bandwidth = gb_per_s(1000);
  a.peak[static_cast<std::size_t>(ComputeType::f32_vector)] = tflops(50);
  a.peak[static_cast<std::size_t>(ComputeType::f16)] = tflops(100);
  a.peak[static_cast<std::size_t>(ComputeType::int8)] = tflops(200);
  return a;
}

inline DeviceModel device_of(const Accelerator& a) {
  DeviceModel d;
  d.accelerator = &a;
  KernelParameters& k = d.kernels;
  k.launch = {5e-6, 0.1};
  k.step = {0, 0.1};
  k.sequence = {0, 0.1};
  k.memory_efficiency = {0.8, 0.1};
  k.vector_efficiency = {0.5, 0.1};
  k.attention_decode = {0.6, 0.1};
  k.attention_prefill = {0.3, 0.1};
  MatmulPath path;
  path.kernel = "plain";
  path.compute = ComputeType::f16;
  path.efficiency = {0.5, 0.1};
  k.paths = {{{"*"}, path}};
  k.unpack_operations["q4_k"] = 10;
  return d;
}

inline Operator linear(std::int64_t in, std::int64_t out) {
  Operator op;
  op.kind = OperatorKind::linear;
  op.input = in;
  op.output = out;
  return op;
}

inline Operator attention(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  Operator op;
  op.kind = OperatorKind::attention;
  op.attention.heads = heads;
  op.attention.kv_heads = kv_heads;
  op.attention.head_dim = op.attention.v_head_dim = head_dim;
  return op;
}

inline Step decode(double sequences, double context) {
  return {.sequences = sequences,
          .tokens_per_sequence = 1,
          .context = context,
          .output_tokens = sequences};
}
inline Step prefill(double tokens, double context = 0) {
  return {.sequences = 1, .tokens_per_sequence = tokens, .context = context, .output_tokens = 1};
}

}  // namespace cairn::test
