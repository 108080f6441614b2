#include "cairn/predict/placed_stages.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "cairn/memory/llama_cpp.h"
#include "cairn/predict/usual_host.h"

namespace cairn {
namespace {

// A row of the input is sent in q8_1, 36 bytes for 32 features, to products of quantised
// weights (quantize_row_q8_1_cuda, ggml/src/ggml-cuda/quantize.cu).
constexpr double kQuantisedShare = 36.0 / 32.0 / 4.0;

class StageBuilder {
 public:
  StageBuilder(const Deployment& d, const memory::LlamaCppPlacement& placement,
               const HostParameters& host)
      : d_(d), placement_(placement), shapes_(static_cast<std::size_t>(placement.gpus) + 1) {
    for (StepShape& shape : shapes_) {
      shape.layout = d.layout;
      shape.hidden = static_cast<double>(d.model.graph->spec.hidden);
      shape.vocabulary = static_cast<double>(d.model.graph->spec.vocabulary);
      shape.share.head = false;
      shape.rows.start = Seconds(host.row_start.value);
      shape.rows.share = host.row_copy.value;
    }
    shapes_[static_cast<std::size_t>(placement.head)].share.head = true;
  }

  PlacedStages take() {
    for (const Operator& op : d_.model.graph->operators) add(op);
    PlacedStages out;
    out.pipelined = placement_.pipeline;
    // The layers in host memory are the first ones, and so is their work.
    const int host = placement_.gpus;
    std::vector<int> used;
    if (!shape(host).groups.empty()) used.push_back(host);
    for (int i = 0; i < placement_.gpus; ++i) {
      if (!shape(i).groups.empty()) used.push_back(i);
    }
    const auto cards =
        static_cast<int>(std::ranges::count_if(used, [&](int i) { return i != host; }));
    for (const int i : used) {
      // Activations go on to another card from all but the last; what host and cards pass to
      // one another is counted as handovers.
      shape(i).layout.pp = i != host && i != used.back() ? cards : 1;
      out.stages.push_back({std::make_shared<const StepShape>(std::move(shape(i))), i == host});
    }
    return out;
  }

 private:
  StepShape& shape(int device) { return shapes_[static_cast<std::size_t>(device)]; }

  [[nodiscard]] int device_of(const Operator& op) const {
    if (op.tensor >= 0 && op.kind != OperatorKind::embedding &&
        placement_.on_host[static_cast<std::size_t>(op.tensor)]) {
      return placement_.gpus;
    }
    if (op.layer >= 0) return placement_.layers[static_cast<std::size_t>(op.layer)];
    // A row of the table goes to where the first layer is.
    if (op.kind == OperatorKind::embedding && !placement_.layers.empty()) {
      return placement_.layers.front();
    }
    return placement_.head;
  }

  void add(const Operator& op) {
    const int device = device_of(op);
    const bool weighted = op.tensor >= 0;
    const auto index = static_cast<std::size_t>(std::max(0, op.tensor));
    const Tensor* tensor = weighted ? &d_.model.graph->tensors[index] : nullptr;
    const TensorType* type = weighted ? d_.weights.types[index] : nullptr;
    // Element-wise operators run where their input is.
    if (op.kind != OperatorKind::elementwise) {
      const int host = placement_.gpus;
      if (previous_ && *previous_ != device && (*previous_ == host || device == host)) {
        shape(host).handovers += 1;
      }
      previous_ = device;
    }
    Operator part = op;
    const bool cut = placement_.rows && placement_.gpus > 1 && device != placement_.gpus &&
                     op.kind == OperatorKind::linear && tensor != nullptr && !tensor->vector;
    if (cut) part = cut_rows(op, *type, shape(device).rows);
    shape(device).add(part, tensor, type);
  }

  // All devices work at once; the one with the largest share is the last.
  [[nodiscard]] Operator cut_rows(const Operator& op, const TensorType& type, RowCut& rows) const {
    const double largest = *std::ranges::max_element(placement_.shares);
    const auto others =
        std::ranges::count_if(placement_.shares, [](double s) { return s > 0; }) - 1;
    if (others < 1) return op;
    Operator out = op;
    out.output = static_cast<std::int64_t>(std::ceil(static_cast<double>(op.output) * largest));
    rows.starts += static_cast<double>(others);
    const double sent = type.block_weights > 1 ? kQuantisedShare : 1;
    rows.sent += static_cast<double>(others) * static_cast<double>(op.input) * sent;
    rows.gathered += static_cast<double>(op.output - out.output);
    return out;
  }

  const Deployment& d_;
  const memory::LlamaCppPlacement& placement_;
  std::vector<StepShape> shapes_;  // one a device, the host last
  std::optional<int> previous_;
};

// The slowest of the slots that the cards are in.
std::optional<BytesPerSecond> slot_rate(const Host& host, const Accelerator& a,
                                        std::int64_t cards) {
  std::optional<BytesPerSecond> out;
  const auto slots = host.slots(cards);
  if (!slots) return a.pcie_bandwidth();
  for (const Slot& slot : *slots) {
    const auto rate = slot.bandwidth(a);
    if (rate && (!out || *rate < *out)) out = rate;
  }
  return out ? out : a.pcie_bandwidth();
}

}  // namespace

bool is_placed(const Deployment& d) {
  if (d.engine->family != EngineFamily::llama_cpp) return false;
  const EngineConfig& c = d.config;
  const bool host = c.gpu_layers || c.host_expert_layers > 0 || !c.host_tensors.empty();
  return host || (d.layout.pp > 1 && (c.split != SplitMode::layer || !c.tensor_split.empty()));
}

Result<PlacedStages> placed_stages(const Deployment& d, const Knowledge& knowledge) {
  // Where layers lie does not depend on the context.
  CAIRN_TRY(const memory::LlamaCppPlacement placement,
            memory::llama_cpp_placement(memory_demand(d, 1, 1)));
  return StageBuilder(d, placement, knowledge.cost.host()).take();
}

Result<HostMemory> host_memory(const Deployment& d, const Knowledge& knowledge) {
  const Accelerator& a = *d.accelerator;
  const std::int64_t cards = a.cards(d.layout.devices());
  HostMemory out;
  const Host* host = d.host;
  if (a.unified_memory && host == nullptr) {
    // One memory: a copy reads it and writes it.
    out.bandwidth = d.host_bandwidth.value_or(a.bandwidth);
    out.link = a.bandwidth / 2;
    return out;
  }
  if (host == nullptr) host = usual_host(a, cards, knowledge);
  if (host != nullptr) {
    out.host = host->id;
    if (host->memory_bandwidth) out.bandwidth = *host->memory_bandwidth;
  }
  if (d.host_bandwidth) out.bandwidth = *d.host_bandwidth;
  const auto link = host != nullptr ? slot_rate(*host, a, cards) : a.pcie_bandwidth();
  if (out.bandwidth <= BytesPerSecond{} || !link) {
    return fail(unsupported("cannot say how fast: the host's memory or its link is not known")
                    .at(a.id)
                    .in("--host")
                    .got(out.host)
                    .want("a host with a bandwidth, or --host-bandwidth"));
  }
  out.link = *link;
  return out;
}

Result<HostDevice> host_device(const Deployment& d, const HostMemory& memory,
                               const std::shared_ptr<const DeviceModel>& gpu,
                               const Knowledge& knowledge) {
  const HostParameters& parameters = knowledge.cost.host();
  struct Processor {
    Accelerator chip;
    DeviceModel model;
  };
  auto out = std::make_shared<Processor>();
  Accelerator& chip = out->chip;
  chip.id = chip.architecture = memory.bandwidth > parameters.fabric_from ? "cpu-fabric" : "cpu";
  chip.bandwidth = memory.bandwidth;
  chip.peak[static_cast<std::size_t>(ComputeType::f32_vector)] =
      FlopsPerSecond(memory.bandwidth.value() * parameters.flops_per_byte.value);
  // One backend for processors, whatever the GPU's is.
  CAIRN_TRY(out->model.kernels, knowledge.cost.parameters("llama.cpp", chip, d.kernels));
  out->model.accelerator = &chip;
  out->model.activation_bytes = gpu->activation_bytes;
  HostWork work;
  work.gpu = gpu;
  work.gpu_tokens = parameters.gpu_tokens;
  work.copy = min(memory.link * parameters.copy.value,
                  memory.bandwidth * out->model.kernels.memory_efficiency.value);
  work.handover = Seconds(parameters.handover.value);
  return HostDevice{std::shared_ptr<const DeviceModel>(out, &out->model),
                    std::make_shared<const HostWork>(std::move(work))};
}

}  // namespace cairn
