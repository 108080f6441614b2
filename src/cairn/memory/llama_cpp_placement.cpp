// Which device holds which tensor of llama.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <regex>

#include "cairn/memory/estimates.h"
#include "cairn/memory/llama_cpp.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kRowPadding = 512;   // MATRIX_ROW_PADDING, weights
constexpr std::int64_t kRowRounding = 128;  // rows: the tile height of the product kernels
constexpr double kDeviceAlignment = 128;    // bytes
constexpr double kHostAlignment = 32;

Result<std::vector<double>> shares_of(const EngineConfig& config, int gpus) {
  std::vector<double> shares(static_cast<std::size_t>(gpus), 1.0);
  if (config.split == SplitMode::none) std::fill(shares.begin() + 1, shares.end(), 0.0);
  if (!config.tensor_split.empty()) {
    const auto wrong = [&](std::string_view what) {
      return fail(bad_input(std::string(what))
                      .in("tensor-split")
                      .got(std::to_string(config.tensor_split.size()))
                      .want(fmt::format("{} positive shares, one a device", gpus)));
    };
    if (config.tensor_split.size() != shares.size()) return wrong("not a share for each device");
    shares = config.tensor_split;
    if (std::ranges::any_of(shares, [](double s) { return !(s >= 0) || !std::isfinite(s); })) {
      return wrong("not shares");
    }
  }
  double sum = 0;
  for (const double s : shares) sum += s;
  if (!(sum > 0)) {
    return fail(bad_input("no device has a share").in("tensor-split").want("a positive share"));
  }
  for (double& s : shares) s /= sum;
  return shares;
}

bool is_expert(const Tensor& t) {
  const auto expert = [](TensorRole role) {
    return role == TensorRole::expert_gate || role == TensorRole::expert_up ||
           role == TensorRole::expert_down;
  };
  return expert(t.role) || expert(t.owner);
}

// Patterns are searched in names such as "blk.7.ffn_up_exps.weight".
Result<std::vector<std::regex>> patterns_of(const EngineConfig& config) {
  std::vector<std::regex> out;
  for (const std::string& text : config.host_tensors) {
    try {
      out.emplace_back(text);
    } catch (const std::regex_error&) {
      return fail(bad_input("not a regular expression").in("override-tensor").got(text));
    }
  }
  return out;
}

Result<std::vector<bool>> kept_on_host(const MemoryDemand& demand) {
  CAIRN_TRY(const std::vector<std::regex> patterns, patterns_of(demand.config));
  std::vector<bool> out(demand.graph->tensors.size(), false);
  if (patterns.empty() && demand.config.host_expert_layers == 0) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Tensor& t = demand.graph->tensors[i];
    if (t.layer < 0) continue;
    const std::string name = fmt::format("blk.{}.{}.{}", t.layer, role_name(t.owner),
                                         t.role == TensorRole::bias ? "bias" : "weight");
    out[i] = (is_expert(t) && t.layer < demand.config.host_expert_layers) ||
             std::ranges::any_of(patterns, [&](const std::regex& pattern) {
               return std::regex_search(name, pattern);
             });
  }
  return out;
}

// The token table is read on the host, so it stays there; where it is the head too,
// the head's device has a copy. Position tables are inputs as well.
bool is_input(const Tensor& t) {
  return t.role == TensorRole::token_embedding || t.role == TensorRole::position_embedding;
}

double stored(const MemoryDemand& demand, std::size_t i) {
  return demand.weights->bytes(*demand.graph, i).value();
}

class Weights {
 public:
  Weights(const MemoryDemand& demand, const EngineInfo& engine, const LlamaCppPlacement& placement)
      : demand_(demand),
        placement_(placement),
        pads_rows_(engine.id == "llama.cpp"),
        bytes_(static_cast<std::size_t>(placement.gpus) + 1, Bytes(0)) {}

  std::vector<Bytes> add_up() {
    const ModelSpec& spec = demand_.graph->spec;
    for (std::size_t i = 0; i < demand_.graph->tensors.size(); ++i) {
      const Tensor& t = demand_.graph->tensors[i];
      if (is_input(t)) {
        put(placement_.gpus, i);
        const bool head = t.role == TensorRole::token_embedding && spec.tied_embeddings &&
                          spec.output_head && placement_.head != placement_.gpus;
        if (head) place(placement_.head, i);
      } else {
        place(home(i), i);
      }
    }
    for (std::size_t i = 0; i < demand_.weights->parts.size(); ++i) {
      const Graph& part = demand_.graph->parts[i];
      if (part.spec.part == ModelPart::encoder) add_encoder(part, demand_.weights->parts[i]);
    }
    return bytes_;
  }

 private:
  // Layers of an encoder lie where the decoder's of the same number do.
  void add_encoder(const Graph& encoder, const BoundWeights& weights) {
    for (std::size_t i = 0; i < encoder.tensors.size(); ++i) {
      const std::int32_t layer = encoder.tensors[i].layer;
      const bool known = layer >= 0 && static_cast<std::size_t>(layer) < placement_.layers.size();
      at(known ? placement_.layers[static_cast<std::size_t>(layer)] : placement_.head) +=
          weights.bytes(encoder, i);
    }
  }

  [[nodiscard]] int home(std::size_t i) const {
    const Tensor& t = demand_.graph->tensors[i];
    if (placement_.on_host[i]) return placement_.gpus;
    return t.layer < 0 ? placement_.head : placement_.layers[static_cast<std::size_t>(t.layer)];
  }

  void place(int device, std::size_t i) {
    const Tensor& t = demand_.graph->tensors[i];
    const bool matrix = t.rows > 1 && t.experts == 1 && !t.vector;
    if (placement_.rows && matrix && device != placement_.gpus) {
      put_rows(i);
    } else {
      put(device, i);
    }
  }

  [[nodiscard]] double row_bytes(std::size_t i) const {
    const Tensor& t = demand_.graph->tensors[i];
    return stored(demand_, i) / to_double(t.rows * t.experts);
  }

  // What a device's kernels read beyond the last row.
  [[nodiscard]] double overhang(std::size_t i) const {
    const Tensor& t = demand_.graph->tensors[i];
    const TensorType& type = *demand_.weights->types[i];
    const std::int64_t missing = t.columns % kRowPadding;
    if (!pads_rows_ || type.block_weights == 1 || missing == 0) return 0;
    return to_double((kRowPadding - missing) / type.block_weights * type.block_bytes);
  }

  void put(int device, std::size_t i) {
    const bool host = device == placement_.gpus;
    const double alignment = host ? kHostAlignment : kDeviceAlignment;
    const double size = stored(demand_, i) + (host ? 0 : overhang(i));
    at(device) += Bytes(std::ceil(size / alignment) * alignment);
  }

  void put_rows(std::size_t i) {
    const Tensor& t = demand_.graph->tensors[i];
    double sum = 0;
    std::int64_t low = 0;
    for (std::size_t d = 0; d < placement_.shares.size(); ++d) {
      sum += placement_.shares[d];
      const bool last = d + 1 == placement_.shares.size();
      auto high = static_cast<std::int64_t>(to_double(t.rows) * sum);
      high = last ? t.rows : high - high % kRowRounding;
      if (high > low) {
        at(static_cast<int>(d)) += Bytes(to_double(high - low) * row_bytes(i) + overhang(i));
      }
      low = std::max(low, high);
    }
  }

  Bytes& at(int device) { return bytes_[static_cast<std::size_t>(device)]; }

  const MemoryDemand& demand_;
  const LlamaCppPlacement& placement_;
  bool pads_rows_;
  std::vector<Bytes> bytes_;
};

}  // namespace

Result<LlamaCppPlacement> llama_cpp_placement(const MemoryDemand& demand) {
  const EngineConfig& config = demand.config;
  LlamaCppPlacement out;
  out.gpus = demand.layout.pp;
  CAIRN_TRY(out.shares, shares_of(config, out.gpus));
  const auto layers = static_cast<std::int64_t>(demand.graph->spec.layers.size());
  const std::int64_t items = layers + 1;
  const std::int64_t on_gpus = std::min(config.gpu_layers.value_or(items), items);
  const auto device_of = [&](std::int64_t item) {
    const std::int64_t at = item - (items - on_gpus);
    if (at < 0 || out.gpus == 0) return out.gpus;
    // Summed in single precision, as the engine does: it decides at equal shares.
    float sum = 0;
    float total = 0;
    for (const double s : out.shares) total += static_cast<float>(s);
    for (std::size_t d = 0; d < out.shares.size(); ++d) {
      sum += static_cast<float>(out.shares[d]);
      if (sum / total > static_cast<float>(at) / static_cast<float>(on_gpus)) {
        return static_cast<int>(d);
      }
    }
    return out.gpus - 1;
  };
  for (std::int64_t i = 0; i < layers; ++i) {
    out.layers.push_back(device_of(i));
  }
  out.head = device_of(layers);
  out.rows = config.split == SplitMode::row;
  out.all_on_gpus = on_gpus == items;
  CAIRN_TRY(out.on_host, kept_on_host(demand));
  const bool overrides = config.host_expert_layers > 0 || !config.host_tensors.empty();
  out.pipeline = out.gpus > 1 && out.all_on_gpus && config.split == SplitMode::layer && !overrides;
  return out;
}

std::vector<Bytes> llama_cpp_weights(const MemoryDemand& demand, const EngineInfo& engine,
                                     const LlamaCppPlacement& placement) {
  return Weights(demand, engine, placement).add_up();
}

}  // namespace cairn::memory
