#include "cairn/cost/operator_time.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "cairn/base/rounding.h"

namespace cairn {
namespace {

// The p-norm of two non-negative times, p = 4.
double smooth_max(double a, double b) {
  const double top = std::max(a, b);
  if (top <= 0 || !std::isfinite(top)) return top;
  const double other = std::min(a, b);
  if (other <= 0) return top;
  const double r = other / top;
  if (r < 1e-4) return top;  // r^4 is lost beside 1
  return top * std::sqrt(std::sqrt(1 + r * r * r * r));
}

// Bandwidth seen by a step that streams `resident` bytes in all: what fits the
// last-level cache from one step to the next is read from there.
BytesPerSecond effective_bandwidth(const DeviceModel& d, Bytes resident) {
  const Bytes cache = d.accelerator->last_level_cache;
  const double speedup = d.kernels.cache_speedup;
  const BytesPerSecond memory = d.accelerator->bandwidth;
  if (speedup <= 1 || cache <= Bytes{} || resident <= Bytes{}) return memory;
  // A cyclic stream longer than the cache finds nothing of itself there.
  if (2.0 * cache <= resident) return memory;
  const double hit = std::clamp(2.0 * (cache / resident) - 1.0, 0.0, 1.0);
  return memory / ((1.0 - hit) + hit / speedup);
}

double tokens_of(const Operator& op, const Step& step) {
  return op.output_only ? step.output_tokens : step.tokens();
}

// Matrices that a product reads: one, or the experts that its tokens choose.
double matrices_read(const Operator& op, const Step& step) {
  if (op.kind != OperatorKind::expert_linear) return 1;
  return expected_experts(static_cast<double>(op.experts),
                          static_cast<double>(op.experts_per_token), tokens_of(op, step));
}

// The cache is read once per sequence in decode and once per query tile in prefill, where it
// comes from the last-level cache; new K and V are written once.
Bytes cache_bytes(const AttentionSpec& a, const TensorType& kv, const Step& step) {
  const double attended = attended_positions(a, step.context, step.tokens_per_sequence);
  return step.sequences * kv.bytes(attended + step.tokens_per_sequence,
                                   static_cast<double>(kv_elements_per_token(a)));
}

struct Work {
  Flops flops{};
  Bytes bytes{};
  double unpack_operations = 0;
};

// Matrices read and bytes moved by a linear operator: each weight loaded and unpacked
// once, the activations in and out.
Work linear_work(const Operator& op, const TensorType& type, const TypeKernels& kernels,
                 const Step& step, const DeviceModel& d, double matrices) {
  Work w;
  const double tokens = tokens_of(op, step);
  const auto in = static_cast<double>(op.input);
  const auto out = static_cast<double>(op.output);
  w.flops = flops(op, step);
  w.bytes = matrices * type.bytes(out, in) + Bytes(tokens * (in + out) * d.activation_bytes);
  w.unpack_operations = matrices * out * in * kernels.unpack;
  return w;
}

// Matrix units work on tiles of at least this many tokens.
constexpr double kSmallestTile = 16;

Seconds matmul_compute(const Operator& op, const TypeKernels::Path& kernel, double tokens,
                       const DeviceModel& d, double matrices) {
  const MatmulPath& path = *kernel.path;
  const double per_matrix = std::max(kSmallestTile, tokens);
  const double rows = static_cast<double>(op.output) * matrices;
  const double fill =
      tile_utilisation(rows, per_matrix, static_cast<double>(op.input), path,
                       d.accelerator->compute_units, op.kind == OperatorKind::expert_linear);
  const Flops work(2 * per_matrix * rows * static_cast<double>(op.input));
  // Filling the pipelines takes the time of half_tokens, however full the tiles are:
  // a product of more tokens never takes less time.
  return work / kernel.rate * (1 / fill + path.half_tokens / per_matrix);
}

// The kernel that an engine takes for a product: what it computes and unpacks, and
// what launching it for each expert costs. `load` is the time of loading the weights,
// `unpack` that of unpacking each once.
//
// A matrix-vector kernel unpacks for every token. Engines take it up to a number of
// tokens that was chosen where the matrix kernel becomes faster; where the matrix
// kernel is faster before, by these parameters, it is taken there.
void take_kernel(const Operator& op, const TypeKernels& kernels, const Step& step,
                 const DeviceModel& d, double matrices, Seconds load, Seconds unpack,
                 OperatorTime& t) {
  const double tokens = tokens_of(op, step);
  const double products = tokens * static_cast<double>(op.experts_per_token);
  const double per_matrix = matrices > 1 ? products / matrices : products;
  t.unpack = unpack * std::max(1.0, per_matrix);
  const TypeKernels::Path* path = kernels.path(per_matrix);
  if (path == nullptr) return;
  Seconds launch{};
  if (op.kind == OperatorKind::expert_linear) launch = path->path->expert_launch * matrices;
  const bool few = per_matrix <= d.kernels.matvec_tokens;
  // However fast a matrix kernel computes, it loads and unpacks once.
  if (few && load + t.unpack <= launch + (load + unpack)) return;
  const Seconds compute = matmul_compute(op, *path, per_matrix, d, matrices);
  const Seconds busy(few ? smooth_max(compute.value(), (load + unpack).value()) : 0);
  if (few && load + t.unpack <= launch + busy) return;
  t.unpack = unpack;
  t.compute = compute;
  t.launch = launch;
}

// Attention kernels keep a tile of queries, scores and values in registers: heads
// wider than 256 (MLA's latent has 576) halve the tile as often as they are wider.
double head_share(const AttentionSpec& a) {
  constexpr double kWidest = 256;
  const auto width = static_cast<double>(
      a.kind == AttentionKind::mla ? a.kv_lora_rank + a.qk_rope_head_dim : a.head_dim);
  return std::min(1.0, kWidest / std::max(1.0, width));
}

// Scores and values over the cache; `compute` is of a prompt, steps of single tokens wait for
// memory.
Work attention_work(const Operator& op, const TensorType& kv, const Step& step,
                    const DeviceModel& d, Seconds& compute) {
  const AttentionSpec& a = op.attention;
  const KernelParameters& k = d.kernels;
  Work work;
  work.flops = flops(op, step);
  work.bytes = cache_bytes(a, kv, step);
  // Window and entries are put together first: read, written, and read again.
  if (k.masks_chosen && a.kind == AttentionKind::compressed) work.bytes *= 3;
  if (step.tokens_per_sequence <= 1) return work;
  // The heads that share a KV head fill a tile of queries together.
  const double shared = a.kind == AttentionKind::mla
                            ? static_cast<double>(a.heads)
                            : static_cast<double>(a.heads) / static_cast<double>(a.kv_heads);
  const double queries = step.tokens_per_sequence * shared;
  const double ramp = queries / (queries + k.attention_tokens);
  compute = work.flops /
            (d.peak(k.attention_compute) * (k.attention_prefill.value * ramp * head_share(a)));
  return work;
}

// Scores of every entry, then the best are kept; the keys are the indexer's own.
Work indexer_work(const Operator& op, const TensorType& kv, const Step& step, const DeviceModel& d,
                  Seconds& compute) {
  const AttentionSpec& a = op.attention;
  const KernelParameters& k = d.kernels;
  const double entries = indexed_positions(a, step.context, step.tokens_per_sequence);
  Work work;
  work.flops = flops(op, step);
  work.bytes = step.sequences * kv.bytes(entries + step.tokens_per_sequence,
                                         static_cast<double>(index_elements_per_token(a)));
  if (step.tokens_per_sequence > 1) {
    compute = work.flops / (d.peak(k.attention_compute) * k.attention_prefill.value);
  }
  return work;
}

constexpr double kStateBytes = 4;  // engines keep states in 32 bits

// Kernels go through the tokens one by one on the vector units, or by chunks on the
// matrix units.
Seconds recurrence_compute(const RecurrentSpec& r, const Step& step, const DeviceModel& d) {
  const RecurrenceKernel& kernel = d.kernels.recurrence;
  const double tokens = step.tokens_per_sequence;
  if (!kernel.by_chunks || tokens <= 1) {
    return step.sequences * tokens * recurrence_flops(r, 1) /
           (d.peak(ComputeType::f32_vector) * kernel.efficiency.value);
  }
  return step.sequences * recurrence_flops(r, tokens) /
         (d.peak(d.kernels.attention_compute) * kernel.efficiency.value);
}

Limit limit_of(const OperatorTime& t, Seconds busy) {
  if (busy <= t.launch) return Limit::launch;
  if (t.compute > t.memory && t.compute > t.unpack) return Limit::compute;
  return t.unpack > t.memory && t.unpack > t.compute ? Limit::unpack : Limit::memory;
}

}  // namespace

bool is_product(OperatorKind kind) {
  return kind == OperatorKind::linear || kind == OperatorKind::expert_linear ||
         kind == OperatorKind::router;
}

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::compute:
      return "compute";
    case Limit::memory:
      return "memory";
    case Limit::unpack:
      return "unpack";
    case Limit::launch:
      return "launch";
  }
  return "launch";
}

FlopsPerSecond DeviceModel::peak(ComputeType type) const {
  // A kernel falls back along this chain where a device lacks the type.
  constexpr std::array<ComputeType, 6> kWider{ComputeType::fp4, ComputeType::fp6,
                                              ComputeType::fp8, ComputeType::bf16,
                                              ComputeType::f16, ComputeType::f16_vector};
  if (const auto p = accelerator->peak_of(type)) return *p;
  auto it = std::ranges::find(kWider, type);
  if (it == kWider.end()) it = std::ranges::find(kWider, ComputeType::bf16);
  for (; it != kWider.end(); ++it) {
    if (const auto p = accelerator->peak_of(*it)) return *p;
  }
  return accelerator->peak_of(ComputeType::f32_vector).value_or(FlopsPerSecond{});
}

double tile_utilisation(double rows, double tokens, double inner, const MatmulPath& path, int units,
                        bool spread) {
  // Kernels come in narrower token tiles for small batches, down to 16.
  constexpr double kMostTokens = 1e15;
  const auto whole = static_cast<std::uint64_t>(rounded_up(std::clamp(tokens, 1.0, kMostTokens)));
  const auto narrow = static_cast<double>(std::bit_ceil(whole));
  const double tile_tokens =
      std::min(path.tile_tokens, std::max(kSmallestTile, spread ? tokens : narrow));
  const double tiles_r = rounded_up(rows / path.tile_rows);
  const double tiles_t = spread ? tokens / tile_tokens + 0.5 : rounded_up(tokens / tile_tokens);
  const double covered = tiles_r * path.tile_rows * tiles_t * tile_tokens;
  if (units <= 0) return rows * tokens / covered;
  constexpr double kShortestInner = 1024;  // a cut along k shorter than this gains nothing
  const double tiles = tiles_r * tiles_t;
  double cut = 1;
  if (tiles < units) {
    cut = std::clamp(std::min(rounded_down(units / tiles), rounded_down(inner / kShortestInner)),
                     1.0, path.split_k);
  }
  const double slots = tiles * cut;
  return rows * tokens * slots / (covered * (slots + 0.5 * units));
}

TypeKernels TypeKernels::of(const DeviceModel& device, std::string_view type) {
  const KernelParameters& kernels = device.kernels;
  TypeKernels out;
  out.unpack = kernels.unpack(type);
  out.unpack_rate = device.peak(ComputeType::f32_vector) * kernels.vector_efficiency.value;
  for (const std::string_view wanted : {type, std::string_view("*")}) {
    for (const KernelParameters::TypedPath& typed : kernels.paths) {
      if (std::ranges::find(typed.types, wanted) == typed.types.end()) continue;
      out.paths.push_back(
          {&typed.path, device.peak(typed.path.compute) * typed.path.efficiency.value});
    }
  }
  return out;
}

const TypeKernels::Path* TypeKernels::path(double tokens) const {
  for (const Path& p : paths) {
    if (tokens <= p.path->max_tokens) return &p;
  }
  return nullptr;
}

Bytes stored_bytes(const Operator& op, const TensorType* type, const TensorType& kv,
                   const Step& step) {
  if (op.kind == OperatorKind::attention) return cache_bytes(op.attention, kv, step);
  if (!is_product(op.kind) || type == nullptr) return {};
  return matrices_read(op, step) *
         type->bytes(static_cast<double>(op.output), static_cast<double>(op.input));
}

OperatorTime time_operator(const Operator& op, const TensorType* type, const TensorType& kv,
                           const Step& step, const DeviceModel& d, Bytes resident) {
  const TypeKernels kernels = type != nullptr ? TypeKernels::of(d, type->name) : TypeKernels{};
  return time_operator(op, type, kernels, kv, step, d, resident);
}

OperatorTime time_operator(const Operator& op, const TensorType* type, const TypeKernels& kernels,
                           const TensorType& kv, const Step& step, const DeviceModel& d,
                           Bytes resident) {
  OperatorTime t;
  const double tokens = tokens_of(op, step);
  const KernelParameters& k = d.kernels;
  const BytesPerSecond bandwidth = effective_bandwidth(d, resident);
  Work work;
  double memory_efficiency = k.memory_efficiency.value;
  double matrices = 0;  // read; none where it is no product
  switch (op.kind) {
    case OperatorKind::embedding:
      work.bytes = Bytes(tokens * static_cast<double>(op.output) * (d.activation_bytes + 2));
      break;
    case OperatorKind::linear:
    case OperatorKind::router:
    case OperatorKind::expert_linear: {
      if (type == nullptr) break;  // no weights, no product
      matrices = matrices_read(op, step);
      if (op.kind == OperatorKind::expert_linear) {
        memory_efficiency *= k.expert_memory;
        const TypeKernels::Path* few = tokens <= k.matvec_tokens ? kernels.path(1) : nullptr;
        if (few != nullptr) memory_efficiency *= few->path->few_experts_memory;
      }
      work = linear_work(op, *type, kernels, step, d, matrices);
      break;
    }
    case OperatorKind::attention: {
      if (k.masks_chosen && op.attention.index_topk > 0) {
        Operator all = op;
        all.attention.index_topk = 0;
        return time_operator(all, type, kernels, kv, step, d, resident);
      }
      work = attention_work(op, kv, step, d, t.compute);
      memory_efficiency = k.attention_decode.value;
      break;
    }
    case OperatorKind::indexer:
      work = indexer_work(op, kv, step, d, t.compute);
      memory_efficiency = k.attention_decode.value;
      break;
    case OperatorKind::recurrence: {
      const RecurrentSpec& r = op.recurrent;
      work.flops = flops(op, step);
      work.bytes =
          Bytes(step.sequences * 2 * kStateBytes * static_cast<double>(r.state_elements()) +
                tokens * static_cast<double>(op.input + op.output) * d.activation_bytes);
      memory_efficiency = k.attention_decode.value;
      t.compute = recurrence_compute(r, step, d);
      break;
    }
    case OperatorKind::norm:
    case OperatorKind::elementwise:
      work.bytes = Bytes(tokens * static_cast<double>(op.input + op.output) * d.activation_bytes);
      break;
  }
  t.flops = work.flops;
  t.bytes = work.bytes;
  t.memory = work.bytes / (bandwidth * memory_efficiency);
  if (matrices > 0) {
    const Flops unpack(work.unpack_operations);
    take_kernel(op, kernels, step, d, matrices, t.memory,
                unpack > Flops{} ? unpack / kernels.unpack_rate : Seconds{}, t);
  }
  t.launch += Seconds(k.launch.value * kernels.kernels);
  const double busy = smooth_max(t.compute.value(), (t.memory + t.unpack).value());
  t.total = t.launch + Seconds(busy);
  t.limit = limit_of(t, Seconds(busy));
  return t;
}

}  // namespace cairn
