#include "cairn/cost/kernel_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cairn {
namespace {

constexpr std::array<std::pair<std::string_view, ComputeType>, kComputeTypes> kComputeNames{{
    {"fp32-vector", ComputeType::f32_vector},
    {"fp16-vector", ComputeType::f16_vector},
    {"tf32", ComputeType::tf32},
    {"fp16", ComputeType::f16},
    {"bf16", ComputeType::bf16},
    {"fp8", ComputeType::fp8},
    {"int8", ComputeType::int8},
    {"int4", ComputeType::int4},
    {"fp6", ComputeType::fp6},
    {"fp4", ComputeType::fp4},
}};

Result<ComputeType> read_compute(Node map, std::string_view key) {
  CAIRN_TRY(const std::string_view name, map.get<std::string_view>(key));
  const auto it = std::ranges::find(kComputeNames, name, [](const auto& n) { return n.first; });
  if (it != kComputeNames.end()) return it->second;
  return fail(map.required(key)->error("unknown compute type").in(std::string(key)));
}

// The fields of an architecture with those of its variants laid over them.
class Layers {
 public:
  explicit Layers(Node base) : nodes_{base} {}
  void add(Node variant) { nodes_.push_back(variant); }

  [[nodiscard]] Node holder(std::string_view key) const {
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      if (nodes_[i].find_value(key)) return nodes_[i];
    }
    return nodes_.front();
  }

 private:
  std::vector<Node> nodes_;
};

// {value: 0.5, sigma: 0.2, source: key}; the unit is in the key (launch_us).
Result<Prior> read_prior(Node map, std::string_view key, double scale) {
  CAIRN_TRY(const Node node, map.required(key));
  CAIRN_TRY(const double value, node.get_number("value", 0, 1e9));
  CAIRN_TRY(const double sigma, node.get_number("sigma", 0, 5));
  return Prior{value * scale, sigma};
}

Result<Prior> read_prior(const Layers& layers, std::string_view key, double scale) {
  return read_prior(layers.holder(key), key, scale);
}

// Whether a run with these options gets the kernels of a variant.
Result<bool> applies(Node when, const KernelOptions& options) {
  CAIRN_TRY(const auto flash, when.get_optional<bool>("flash_attention"));
  CAIRN_TRY(const auto hipblaslt, when.get_optional<bool>("hipblaslt"));
  CAIRN_TRY(const auto rocwmma, when.get_optional<bool>("rocwmma"));
  CAIRN_TRY(const auto below, when.get_optional<std::int64_t>("build_below"));
  if (flash && *flash != options.flash_attention) return false;
  if (hipblaslt && *hipblaslt != options.hipblaslt.value_or(true)) return false;
  if (rocwmma && *rocwmma != options.rocwmma.value_or(false)) return false;
  if (below && (!options.build || *options.build >= *below)) return false;
  return true;
}

Result<std::vector<KernelParameters::TypedPath>> read_paths(Node list) {
  std::vector<KernelParameters::TypedPath> out;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Node node = list.at(i);
    KernelParameters::TypedPath typed;
    CAIRN_TRY(typed.types, node.get_strings("types"));
    CAIRN_TRY(const std::string_view kernel, node.get<std::string_view>("kernel"));
    typed.path.kernel = kernel;
    CAIRN_TRY(typed.path.compute, read_compute(node, "compute"));
    CAIRN_TRY(typed.path.efficiency, read_prior(node, "efficiency", 1));
    CAIRN_TRY(typed.path.half_tokens, node.get_number_or("half_tokens", 0, 0, 1e6));
    CAIRN_TRY(typed.path.tile_rows, node.get_number_or("tile_rows", 128, 1, 4096));
    CAIRN_TRY(typed.path.tile_tokens, node.get_number_or("tile_tokens", 128, 1, 4096));
    CAIRN_TRY(typed.path.max_tokens, node.get_number_or("max_tokens", 1e9, 1, 1e9));
    CAIRN_TRY(typed.path.split_k, node.get_number_or("split_k", 1, 1, 64));
    if (node.find("few_experts_memory")) {
      CAIRN_TRY(const Prior share, read_prior(node, "few_experts_memory", 1));
      typed.path.few_experts_memory = share.value;
    }
    if (node.find("expert_launch_us")) {
      CAIRN_TRY(const Prior each, read_prior(node, "expert_launch_us", 1e-6));
      typed.path.expert_launch = Seconds(each.value);
    }
    out.push_back(std::move(typed));
  }
  return out;
}

Result<KernelParameters> read_parameters(const Layers& layers, Node engine) {
  KernelParameters out;
  CAIRN_TRY(out.launch, read_prior(layers, "launch_us", 1e-6));
  CAIRN_TRY(out.step, read_prior(layers, "step_us", 1e-6));
  CAIRN_TRY(out.sequence, read_prior(layers, "sequence_us", 1e-6));
  CAIRN_TRY(out.memory_efficiency, read_prior(layers, "memory_efficiency", 1));
  CAIRN_TRY(out.vector_efficiency, read_prior(layers, "vector_efficiency", 1));
  CAIRN_TRY(out.attention_decode, read_prior(layers, "attention_decode", 1));
  CAIRN_TRY(out.attention_prefill, read_prior(layers, "attention_prefill", 1));
  const auto number = [&layers](std::string_view key, double fallback, double low, double high) {
    return layers.holder(key).get_number_or(key, fallback, low, high);
  };
  if (layers.holder("expert_memory").find("expert_memory")) {
    CAIRN_TRY(const Prior share, read_prior(layers, "expert_memory", 1));
    out.expert_memory = share.value;
  }
  CAIRN_TRY(out.matvec_tokens, number("matvec_tokens", 8, 0, 1024));
  CAIRN_TRY(out.cache_speedup, number("cache_speedup", 1, 1, 16));
  CAIRN_TRY(out.attention_tokens, number("attention_tokens", 64, 0, 65536));
  CAIRN_TRY(out.attention_compute,
            read_compute(layers.holder("attention_compute"), "attention_compute"));
  CAIRN_TRY(const Node recurrence, engine.required("recurrence"));
  CAIRN_TRY(out.recurrence.by_chunks, recurrence.get<bool>("by_chunks"));
  CAIRN_TRY(out.recurrence.efficiency, read_prior(recurrence, "efficiency", 1));
  CAIRN_TRY(out.masks_chosen, engine.get_or("masks_chosen", false));
  if (const auto composed = engine.find_value("composed_operators")) {
    for (std::uint32_t i = 0; i < composed->size(); ++i) {
      CAIRN_TRY(const auto name, composed->at(i).get<std::string_view>("operator"));
      CAIRN_TRY(out.kernels_of[std::string(name)], composed->at(i).get_number("kernels", 1, 1000));
    }
  }
  CAIRN_TRY(const Node paths, layers.holder("matmul").required("matmul"));
  CAIRN_TRY(out.paths, read_paths(paths));
  CAIRN_TRY(const Node unpack, engine.required("unpack_operations"));
  for (std::uint32_t i = 0; i < unpack.size(); ++i) {
    const Node group = unpack.at(i);
    CAIRN_TRY(const auto types, group.get_strings("types"));
    CAIRN_TRY(const double operations, group.get_number("operations", 0, 1000));
    for (const std::string& type : types) out.unpack_operations[type] = operations;
  }
  return out;
}

// An engine that is described by how it differs from another: its factors on the
// medians of the other's priors, and what they add to their spread.
Result<KernelParameters> scaled(KernelParameters p, Node engine) {
  CAIRN_TRY(const Node factors, engine.required("factors"));
  const auto scale = [&factors](Prior& prior, std::string_view key, bool rate) -> Result<void> {
    const auto node = factors.find_value(key);
    if (!node) return {};
    CAIRN_TRY(const double value, node->get_number("value", 1e-3, 1e3));
    CAIRN_TRY(const double sigma, node->get_number("sigma", 0, 5));
    prior.value *= value;
    if (rate) prior.value = std::min(prior.value, 1.0);
    prior.sigma = std::hypot(prior.sigma, sigma);
    return {};
  };
  CAIRN_CHECK(scale(p.launch, "launch_us", false));
  CAIRN_CHECK(scale(p.step, "step_us", false));
  CAIRN_CHECK(scale(p.sequence, "sequence_us", false));
  CAIRN_CHECK(scale(p.memory_efficiency, "memory_efficiency", true));
  CAIRN_CHECK(scale(p.attention_decode, "attention_decode", true));
  CAIRN_CHECK(scale(p.attention_prefill, "attention_prefill", true));
  for (KernelParameters::TypedPath& typed : p.paths) {
    CAIRN_CHECK(scale(typed.path.efficiency, "matmul", true));
  }
  // A path that names its types is taken before one for the rest.
  if (const auto own = engine.find_value("matmul")) {
    CAIRN_TRY(const auto paths, read_paths(*own));
    p.paths.insert(p.paths.end(), paths.begin(), paths.end());
  }
  return p;
}

Result<HostParameters> read_host(Node root) {
  HostParameters out;
  CAIRN_TRY(out.flops_per_byte, read_prior(root, "flops_per_byte", 1));
  CAIRN_TRY(out.copy, read_prior(root, "copy", 1));
  CAIRN_TRY(out.handover, read_prior(root, "handover_us", 1e-6));
  CAIRN_TRY(out.row_start, read_prior(root, "row_start_us", 1e-6));
  CAIRN_TRY(out.row_copy, read_prior(root, "row_copy", 1));
  CAIRN_TRY(const Node tokens, root.required("gpu_tokens"));
  CAIRN_TRY(out.gpu_tokens, tokens.get_number("value", 1, 1e6));
  CAIRN_TRY(const Node fabric, root.required("fabric_from_gb_s"));
  CAIRN_TRY(const double from, fabric.get_number("value", 0, 1e6));
  out.fabric_from = BytesPerSecond(from * 1e9);
  return out;
}

}  // namespace

const MatmulPath* KernelParameters::path(std::string_view type, double tokens) const {
  for (const std::string_view wanted : {type, std::string_view("*")}) {
    for (const TypedPath& typed : paths) {
      if (tokens > typed.path.max_tokens) continue;
      if (std::ranges::find(typed.types, wanted) != typed.types.end()) return &typed.path;
    }
  }
  return nullptr;
}

double KernelParameters::unpack(std::string_view type) const {
  const auto it = unpack_operations.find(std::string(type));
  return it != unpack_operations.end() ? it->second : 0;
}

double KernelParameters::composed_of(std::string_view operation) const {
  const auto it = kernels_of.find(std::string(operation));
  return it != kernels_of.end() ? it->second : 1;
}

Result<CostData> CostData::load(const Image& image) {
  CostData out;
  out.image_ = image;
  for (const std::string_view name : image.names("cost/kernels/")) {
    CAIRN_TRY(const Node root, image.root(name));
    CAIRN_TRY(const std::string_view engine, root.get<std::string_view>("engine"));
    out.engines_.emplace(engine, root);
  }
  CAIRN_TRY(const Node links, image.root("cost/links.yaml"));
  CAIRN_TRY(const Node list, links.required("links"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Node node = list.at(i);
    CAIRN_TRY(const std::string_view name, node.get<std::string_view>("link"));
    LinkParameters parameters;
    CAIRN_TRY(parameters.latency, read_prior(node, "latency_us", 1e-6));
    CAIRN_TRY(parameters.efficiency, read_prior(node, "efficiency", 1));
    out.links_.emplace(name, parameters);
  }
  CAIRN_TRY(const Node host, image.root("cost/host.yaml"));
  CAIRN_TRY(out.host_, read_host(host));
  CAIRN_TRY(const Node power, image.root("cost/power.yaml"));
  CAIRN_TRY(out.power_.memory_bound, read_prior(power, "memory_bound", 1));
  CAIRN_TRY(out.power_.compute_bound, read_prior(power, "compute_bound", 1));
  CAIRN_TRY(const Node idle, power.required("idle_fraction"));
  CAIRN_TRY(out.power_.idle_fraction, idle.get_number("value", 0, 1));
  CAIRN_TRY(const Node uncertainty, image.root("cost/uncertainty.yaml"));
  CAIRN_TRY(const Node model_floor, uncertainty.required("model_floor"));
  CAIRN_TRY(out.uncertainty_.model_floor, model_floor.get_number("value", 0, 5));
  CAIRN_TRY(const Node transferred, uncertainty.required("transferred"));
  CAIRN_TRY(out.uncertainty_.transferred, transferred.get_number("value", 1, 10));
  return out;
}

Result<KernelParameters> CostData::parameters(std::string_view engine,
                                              const Accelerator& accelerator,
                                              const KernelOptions& options) const {
  const auto found = engines_.find(std::string(engine));
  if (found == engines_.end()) {
    return fail(unsupported("no cost parameters for this engine").got(engine));
  }
  if (found->second.find_value("like")) {
    CAIRN_TRY(const std::string_view like, found->second.get<std::string_view>("like"));
    CAIRN_TRY(KernelParameters other, parameters(like, accelerator, options));
    other.id = fmt::format("{}{}", engine, std::string_view(other.id).substr(like.size()));
    return scaled(std::move(other), found->second);
  }
  CAIRN_TRY(const Node list, found->second.required("architectures"));
  using Scope = KernelParameters::Scope;
  const std::array<std::pair<std::string, Scope>, 4> wanted{{
      {accelerator.target, Scope::architecture},
      {accelerator.architecture, Scope::architecture},
      {accelerator.vendor, Scope::vendor},
      {"any", Scope::any},
  }};
  for (const auto& [name, scope] : wanted) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      CAIRN_TRY(const auto names, list.at(i).get_strings("match"));
      if (std::ranges::find(names, name) == names.end()) continue;
      Layers layers(list.at(i));
      const auto variants = list.at(i).find_value("variants");
      for (std::uint32_t v = 0; variants && v < variants->size(); ++v) {
        CAIRN_TRY(const Node when, variants->at(v).required("when"));
        CAIRN_TRY(const bool chosen, applies(when, options));
        if (chosen) layers.add(variants->at(v));
      }
      CAIRN_TRY(KernelParameters out, read_parameters(layers, found->second));
      out.scope = scope;
      out.id = fmt::format("{} on {}", engine, name);
      return out;
    }
  }
  return fail(unsupported("no cost parameters for this engine on this accelerator")
                  .in(std::string(engine))
                  .got(accelerator.id));
}

Result<LinkParameters> CostData::link(std::string_view name) const {
  const auto it = links_.find(std::string(name));
  if (it == links_.end()) return fail(unsupported("no cost parameters for this link").got(name));
  return it->second;
}

}  // namespace cairn
