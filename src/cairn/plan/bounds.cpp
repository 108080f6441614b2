#include "cairn/plan/bounds.h"

#include <algorithm>
#include <limits>

#include "cairn/cost/operator_time.h"
#include "cairn/cost/power.h"
#include "cairn/cost/step_time.h"
#include "cairn/memory/memory.h"

namespace cairn {
namespace {

// Engines cut prompts into chunks of no fewer tokens.
constexpr double kShortestChunk = 256;

// The highest rate of any kernel that takes weights of a type.
FlopsPerSecond highest_rate(const DeviceModel& device, const TensorType& type) {
  FlopsPerSecond out{};
  for (const TypeKernels::Path& p : TypeKernels::of(device, type.name).paths) {
    out = std::max(out, p.rate);
  }
  return out;
}

// What is read again and again may come from the last-level cache, if a device's part
// of it is not twice as long; stages differ in length, hence another factor of two.
BytesPerSecond highest_bandwidth(const Accelerator& a, const KernelParameters& k,
                                 Bytes of_a_device) {
  const bool cached = of_a_device < 4.0 * a.last_level_cache;
  return a.bandwidth * k.memory_efficiency.value * (cached ? k.cache_speedup : 1.0);
}

}  // namespace

WorkOfModel WorkOfModel::of(const Graph& graph, const Workload& w) {
  WorkOfModel out;
  const Step prompt{.sequences = 1, .tokens_per_sequence = w.input};
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::attention) out.attention += flops(op, prompt);
    if (op.tensor >= 0) {
      const TensorRole role = graph.tensors[static_cast<std::size_t>(op.tensor)].role;
      if (sums_over_ranks(role)) out.all_reduces += 1;
    }
    if (op.kind == OperatorKind::expert_linear) {
      out.matrices_per_token =
          std::max(out.matrices_per_token, static_cast<double>(op.experts) / op.experts_per_token);
    }
  }
  out.operators = static_cast<double>(graph.operators.size());
  constexpr double kElement = 2;  // 16 bits, or more
  out.activations = Bytes(kElement * static_cast<double>(graph.spec.hidden));
  return out;
}

WorkOfFormat WorkOfFormat::of(const Graph& graph, const BoundWeights& weights, const Workload& w) {
  WorkOfFormat out;
  out.total = weights.total(graph);
  out.on_device = out.total;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const TensorRole role = graph.tensors[i].role;
    // Tables of inputs may stay on the host.
    if (role == TensorRole::token_embedding || role == TensorRole::position_embedding) {
      out.on_device -= weights.bytes(graph, i);
    }
  }
  const Step token{.sequences = 1, .tokens_per_sequence = 1, .context = w.input};
  const Step prompt{.sequences = 1, .tokens_per_sequence = w.input};
  for (const Operator& op : graph.operators) {
    if (!is_product(op.kind) || op.tensor < 0) continue;
    const TensorType* type = weights.types[static_cast<std::size_t>(op.tensor)];
    if (type == nullptr) continue;
    const Bytes matrix = type->bytes(static_cast<double>(op.output), static_cast<double>(op.input));
    out.streamed += op.kind == OperatorKind::expert_linear
                        ? matrix * std::min(op.experts_per_token, static_cast<double>(op.experts))
                        : matrix;
    Products& products = out.products[type];
    products.token += flops(op, token);
    products.prompt += flops(op, prompt);
  }
  return out;
}

FormatRates FormatRates::of(const WorkOfModel& model, const WorkOfFormat& format,
                            const Accelerator& a, const KernelParameters& kernels) {
  FormatRates out;
  DeviceModel device;
  device.accelerator = &a;
  device.kernels = kernels;
  // Of the last chunk of a prompt so many tokens may go through matrix-vector kernels.
  const double few = kernels.matvec_tokens * model.matrices_per_token;
  for (const auto& [type, products] : format.products) {
    const FlopsPerSecond rate = highest_rate(device, *type);
    if (rate <= FlopsPerSecond{}) continue;
    out.token += products.token / rate;
    const double counted = products.token > Flops{} ? products.prompt / products.token : 0;
    if (few < kShortestChunk && counted > few) {
      out.prompt += (1 - few / counted) * products.prompt / rate;
    }
  }
  const FlopsPerSecond rate = device.peak(kernels.attention_compute);
  if (rate > FlopsPerSecond{}) {
    out.prompt += model.attention / (rate * kernels.attention_prefill.value);
  }
  return out;
}

Bytes least_cache(const Graph& graph, const KvFormat& kv, std::int64_t positions) {
  Bytes out{};
  for (const LayerSpec& layer : graph.spec.layers) {
    const AttentionKind kind = layer.attention.kind;
    if (kind != AttentionKind::full && kind != AttentionKind::mla) continue;
    out += kv_bytes(layer.attention, kv, static_cast<double>(positions), 1);
  }
  return out;
}

Bounds::Bounds(const WorkOfModel& model, const WorkOfFormat& format, const FormatRates& rates,
               const Layout& replica, const Accelerator& a, const KernelParameters& kernels,
               const CollectiveModel& links, const PowerParameters& power, const Workload& w)
    : steps_(std::max(0.0, w.output - 1)),
      matrix_from_(kernels.matvec_tokens * model.matrices_per_token * replica.pp),
      output_(w.output),
      devices_(static_cast<double>(replica.tp) * replica.pp) {
  const double sharing = std::max(replica.tp, replica.ep);
  const double stages = replica.pp;
  const double holding = std::max<double>(devices_, sharing);
  stream_ = format.streamed / (highest_bandwidth(a, kernels, format.on_device / holding) * sharing);
  compute_ = rates.token / devices_;
  const Seconds host(kernels.step.value * stages + kernels.launch.value * model.operators);
  const auto all_reduces = [&](double tokens) {
    return model.all_reduces * links.all_reduce(model.activations * tokens, replica.tp);
  };
  fixed_ = host + all_reduces(1 / stages);
  const Seconds prompt = rates.prompt / replica.tp + all_reduces(w.input);
  prompt_ = max(prompt / stages, stream_) + host / stages;
  prompt_busy_ = max(rates.prompt / devices_, stream_);
  if (a.board_power) {
    idle_ = idle_power(a, *a.board_power, power);
    // Each stage works at least its share of the time.
    dynamic_ = (*a.board_power - idle_) *
               (std::min(power.memory_bound.value, power.compute_bound.value) / stages);
  }
}

Seconds Bounds::busy(double running) const {
  return running > matrix_from_ ? max(stream_, running * compute_) : stream_;
}

Seconds Bounds::tpot(double running) const {
  if (steps_ <= 0) return {};
  return step(running) + (running - 1) * prompt_ / steps_;
}

// The least of busy(n) / n and of (busy(n) + h) / n for n up to `most`.
Seconds Bounds::busy_each(double most, Seconds fixed) const {
  const Seconds few = (stream_ + fixed) / std::min(most, matrix_from_);
  if (most <= matrix_from_) return few;
  const Seconds many = max(compute_, (stream_ + fixed) / most);
  return matrix_from_ >= 1 ? min(few, many) : many;
}

double Bounds::requests_per_s(double most, Seconds prompt) const {
  return 1 / (prompt + steps_ * busy_each(most, fixed_)).value();
}

double Bounds::joules_per_token(double most) const {
  const Seconds work = prompt_busy_ + steps_ * busy_each(most, {});
  const Seconds whole = prompt_ + steps_ * (busy_each(most, {}) + fixed_ / most);
  return devices_ * (idle_.value() * whole.value() + dynamic_.value() * work.value()) / output_;
}

double Bounds::speed(double running) const {
  return output_ / (prompt_ + steps_ * tpot(running)).value();
}

Seconds Bounds::tpot_at(double tokens_per_s) const {
  if (steps_ <= 0) return {};  // a request without steps has no time between tokens
  return (Seconds(output_ / tokens_per_s) - prompt_) / steps_;
}

double Bounds::most_within(Seconds limit) const {
  if (steps_ <= 0) return std::numeric_limits<double>::infinity();
  const Seconds left = limit - step(1);
  if (left < Seconds{}) return 0;
  return 1 + steps_ * (left / prompt_);
}

double Bounds::in_flight(double requests_per_s) const {
  return std::max(1.0, requests_per_s * (prompt_ + steps_ * step(1)).value());
}

}  // namespace cairn
