#include "cairn/cost/step_time.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cairn {
namespace {

TimeClass class_of(const Operator& op, const Tensor* tensor) {
  switch (op.kind) {
    case OperatorKind::embedding:
      return TimeClass::head;
    case OperatorKind::attention:
    case OperatorKind::indexer:
    case OperatorKind::recurrence:
      return TimeClass::attention;
    case OperatorKind::expert_linear:
    case OperatorKind::router:
      return TimeClass::experts;
    case OperatorKind::norm:
    case OperatorKind::elementwise:
      return TimeClass::other;
    case OperatorKind::linear:
      break;
  }
  if (tensor == nullptr) return TimeClass::other;
  switch (tensor->role) {
    case TensorRole::output:
    case TensorRole::token_embedding:
      return TimeClass::head;
    case TensorRole::ffn_gate:
    case TensorRole::ffn_up:
    case TensorRole::ffn_down:
    case TensorRole::shared_gate:
    case TensorRole::shared_up:
    case TensorRole::shared_down:
      return TimeClass::dense_ffn;
    default:
      return TimeClass::attention_linear;
  }
}

std::string name_for(const Operator& op, const Tensor* tensor) {
  if (op.kind == OperatorKind::attention) {
    return op.attention.kind == AttentionKind::sliding ? "attention (window)" : "attention";
  }
  if (op.kind == OperatorKind::indexer) return "indexer";
  if (op.kind == OperatorKind::recurrence) return "recurrence";
  if (op.kind == OperatorKind::elementwise) return "elementwise";
  return tensor != nullptr ? std::string(role_name(tensor->role)) : "norm";
}

// Everything that the time of an operator depends on.
auto work_of(const OperatorGroup& g) {
  const AttentionSpec& a = g.op.attention;
  const RecurrentSpec& r = g.op.recurrent;
  return std::tuple(g.op.kind, g.type, g.op.input, g.op.output, g.op.experts,
                    g.op.experts_per_token, g.op.output_only, a.kind, a.heads, a.kv_heads,
                    a.head_dim, a.v_head_dim, a.window, a.kv_lora_rank, a.qk_rope_head_dim,
                    a.bidirectional, a.shares_kv, a.compress, a.index_topk, r.kind, r.heads,
                    r.key_heads, r.key_dim, r.value_dim);
}

// ... and what it is called.
auto signature(const OperatorGroup& g) { return std::tuple(work_of(g), std::string_view(g.name)); }

bool depends_on_context(OperatorKind kind) {
  return kind == OperatorKind::attention || kind == OperatorKind::indexer;
}

}  // namespace

std::string_view name_of(TimeClass c) {
  constexpr std::array<std::string_view, kTimeClasses> kNames{
      "attention_projections", "attention", "dense_ffn", "experts", "head", "other",
      "communication",         "host"};
  return kNames[static_cast<std::size_t>(c)];
}

// Shared and routed experts are summed before theirs.
bool sums_over_ranks(TensorRole role) {
  switch (role) {
    case TensorRole::attn_output:
    case TensorRole::cross_attn_output:
    case TensorRole::ssm_out:
    case TensorRole::shortconv_out:
    case TensorRole::time_mix_output:
    case TensorRole::channel_mix_value:
    case TensorRole::ffn_down:
    case TensorRole::expert_down:
      return true;
    default:
      return false;
  }
}

StepTime& StepTime::operator+=(const StepTime& o) {
  total += o.total;
  for (std::size_t i = 0; i < kTimeClasses; ++i) by_class[i] += o.by_class[i];
  compute_bound += o.compute_bound;
  memory_bound += o.memory_bound;
  fixed += o.fixed;
  from_host += o.from_host;
  flops += o.flops;
  bytes += o.bytes;
  return *this;
}

StepShape StepShape::of(const Graph& graph, const BoundWeights& weights, const Layout& layout,
                        const Share& share) {
  StepShape out;
  out.layout = layout;
  out.share = share;
  out.hidden = static_cast<double>(graph.spec.hidden);
  out.vocabulary = static_cast<double>(graph.spec.vocabulary);
  for (const Operator& op : graph.operators) {
    if (!runs(op, graph, share)) continue;
    const auto index = static_cast<std::size_t>(std::max(0, op.tensor));
    const bool weighted = op.tensor >= 0;
    out.add(share_of(op, graph, share), weighted ? &graph.tensors[index] : nullptr,
            weighted ? weights.types[index] : nullptr);
  }
  return out;
}

void StepShape::add(const Operator& op, const Tensor* tensor, const TensorType* type) {
  OperatorGroup group;
  group.type = type;
  group.name = name_for(op, tensor);
  group.time_class = class_of(op, tensor);
  // Weights that one step reads on this device, all experts included.
  if (is_product(op.kind) && type != nullptr) {
    weight_bytes += static_cast<double>(op.experts) *
                    type->bytes(static_cast<double>(op.output), static_cast<double>(op.input));
  }
  if (tensor != nullptr && sums_over_ranks(tensor->role)) all_reduces += 1;
  if (op.kind == OperatorKind::router) expert_layers += 1;
  group.op = op;
  const auto it = std::ranges::find_if(groups, [&group](const OperatorGroup& other) {
    return signature(other) == signature(group);
  });
  if (it != groups.end()) {
    it->count += 1;
  } else {
    group.repeats = !groups.empty() && !depends_on_context(group.op.kind) &&
                    work_of(groups.back()) == work_of(group);
    groups.push_back(std::move(group));
  }
}

bool StepShape::like(const StepShape& o) const {
  if (share.head != o.share.head || share.tp != o.share.tp || share.ep != o.share.ep) return false;
  if (layout.pp != o.layout.pp || all_reduces != o.all_reduces) return false;
  if (expert_layers != o.expert_layers || weight_bytes != o.weight_bytes) return false;
  if (handovers != o.handovers || rows != o.rows) return false;
  return std::ranges::equal(groups, o.groups, [](const OperatorGroup& a, const OperatorGroup& b) {
    return a.count == b.count && signature(a) == signature(b);
  });
}

Result<StepShapes> shapes_of(const Graph& graph, const BoundWeights& weights,
                             const Layout& layout) {
  CAIRN_TRY(const std::vector<Share> shares, divide(graph, layout));
  StepShapes out;
  for (const Share& share : shares) {
    auto shape = std::make_shared<const StepShape>(StepShape::of(graph, weights, layout, share));
    const auto known =
        std::ranges::find_if(out, [&](const auto& other) { return other->like(*shape); });
    out.push_back(known != out.end() ? *known : std::move(shape));
  }
  return out;
}

StepModel::StepModel(std::shared_ptr<const StepShape> shape, const KvFormat& kv,
                     std::shared_ptr<const DeviceModel> device, CollectiveModel links,
                     std::shared_ptr<const HostWork> host)
    : shape_(std::move(shape)),
      device_(std::move(device)),
      links_(std::move(links)),
      kv_(kv),
      host_(std::move(host)) {
  const auto kernels_on = [this](const DeviceModel& on) {
    std::vector<TypeKernels> out;
    out.reserve(shape_->groups.size());
    for (const OperatorGroup& g : shape_->groups) {
      out.push_back(g.type != nullptr ? TypeKernels::of(on, g.type->name) : TypeKernels{});
      const bool compressed =
          g.op.kind == OperatorKind::attention && g.op.attention.kind == AttentionKind::compressed;
      out.back().kernels = on.kernels.composed_of(compressed ? "compressed_attention" : g.name);
    }
    return out;
  };
  kernels_ = kernels_on(*device_);
  if (host_ != nullptr) taken_over_ = kernels_on(*host_->gpu);
}

OperatorTime StepModel::time_of(std::size_t i, const Step& step, Seconds& copied) const {
  const OperatorGroup& g = shape_->groups[i];
  const double tokens = g.op.output_only ? step.output_tokens : step.tokens();
  if (host_ == nullptr || tokens < host_->gpu_tokens) {
    return time_operator(g.op, g.type, kernels_[i], *kv_.type, step, *device_,
                         shape_->weight_bytes);
  }
  // What was copied for one step is overwritten by the next weights.
  OperatorTime t =
      time_operator(g.op, g.type, taken_over_[i], *kv_.type, step, *host_->gpu, Bytes{});
  copied = stored_bytes(g.op, g.type, *kv_.type, step) / host_->copy;
  t.memory += copied;
  t.total += copied;
  return t;
}

Seconds StepModel::communication(const Step& step, Seconds& fixed) const {
  Seconds total{};
  const double tokens = step.tokens();
  const StepShape& shape = *shape_;
  const Share& share = shape.share;
  const double element = device_->activation_bytes;
  const Bytes activations(tokens * shape.hidden * element);
  if (share.tp > 1) {
    total += shape.all_reduces * links_.all_reduce(activations, share.tp);
    if (share.head) {
      total += links_.all_gather(Bytes(step.output_tokens * shape.vocabulary * element), share.tp);
    }
    fixed += shape.all_reduces * links_.latency();
  }
  if (share.ep > share.tp) {
    total += 2 * shape.expert_layers * links_.all_to_all(activations, share.ep);
    fixed += 2 * shape.expert_layers * links_.latency();
  }
  if (shape.layout.pp > 1 && !share.head) total += links_.send(activations);
  if (shape.rows.starts > 0) {
    const Bytes moved(tokens * element * (shape.rows.sent + shape.rows.gathered));
    const Seconds starts = shape.rows.starts * shape.rows.start;
    total += starts + links_.send(moved / shape.rows.share);
    fixed += starts;
  }
  if (host_ != nullptr && tokens < host_->gpu_tokens) {
    total += shape.handovers * (host_->handover + activations / host_->copy);
    fixed += shape.handovers * host_->handover;
  }
  return total;
}

StepTime StepModel::mean(const Step& step, double last) const {
  StepTime out;
  const auto add = [&](const OperatorGroup& g, const OperatorTime& t, Seconds copied,
                       double weight) {
    const double count = g.count * weight;
    const Seconds all = t.total * count;
    out.total += all;
    out.by_class[static_cast<std::size_t>(g.time_class)] += all;
    out.flops += t.flops * count;
    out.bytes += t.bytes * count;
    if (host_ != nullptr && copied <= Seconds{}) {
      out.from_host += all;
      return;
    }
    out.from_host += copied * count;
    const Seconds busy = (t.total - t.launch - copied) * count;
    (t.limit == Limit::compute || t.limit == Limit::unpack ? out.compute_bound
                                                           : out.memory_bound) += busy;
    out.fixed += t.launch * count;
  };
  Step middle = step;
  middle.context = (step.context + last) / 2;
  Step end = step;
  end.context = last;
  const std::vector<OperatorGroup>& groups = shape_->groups;
  const auto repeats = [&](std::size_t i) {
    return groups[i].repeats && kernels_[i].kernels == kernels_[i - 1].kernels;
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Seconds copied{};
    if (last <= step.context || !depends_on_context(groups[i].op.kind)) {
      const OperatorTime t = time_of(i, step, copied);
      add(groups[i], t, copied, 1);
      for (; i + 1 < groups.size() && repeats(i + 1); ++i) add(groups[i + 1], t, copied, 1);
      continue;
    }
    const auto at = [&](const Step& state, double weight) {
      const OperatorTime t = time_of(i, state, copied);
      add(groups[i], t, copied, weight);
    };
    at(step, 1.0 / 6);
    at(middle, 4.0 / 6);
    at(end, 1.0 / 6);
  }
  const Seconds wires = communication(step, out.fixed);
  const KernelParameters& k = device_->kernels;
  const Seconds host = Seconds(k.step.value + k.sequence.value * step.sequences);
  out.by_class[static_cast<std::size_t>(TimeClass::communication)] += wires;
  out.by_class[static_cast<std::size_t>(TimeClass::host)] += host;
  out.fixed += host;
  out.total += wires + host;
  return out;
}

std::vector<GroupTime> StepModel::explain(const Step& step) const {
  std::vector<GroupTime> out;
  out.reserve(kernels_.size());
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const OperatorGroup& g = shape_->groups[i];
    Seconds copied{};
    out.push_back({&g, time_of(i, step, copied)});
  }
  return out;
}

}  // namespace cairn
