#include "cairn/model/hf_quantization.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/model/gguf_recipe.h"
#include "cairn/model/hf_config.h"
#include "cairn/model/hf_modules.h"
#include "cairn/model/hf_storage.h"

namespace cairn::hf {
namespace {

using Read = Result<Quantisation> (*)(Node q, Node root);

// The lists under which tools name what they left alone, all of them read alike.
Result<void> leave_alone(Quantisation& out, Node q, NameKind kind,
                         std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto list = q.find_value(key);
    if (list) CAIRN_CHECK(out.left_alone.add_all(*list, kind));
  }
  return {};
}

// ---- compressed-tensors

// "Linear", "torch.nn.modules.linear.Linear": a class, no module.
bool is_class(std::string_view target) {
  if (target.starts_with("re:")) return false;
  const std::size_t dot = target.rfind('.');
  const std::string_view last = target.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return !last.empty() && last.front() >= 'A' && last.front() <= 'Z';
}

// Targets are compared by name before they are compared by class:
// https://github.com/vllm-project/compressed-tensors/blob/ac8e2ba82f4e0d5eaa40069f8fc642738f124cd4/src/compressed_tensors/utils/match.py
Result<void> add_group(Quantisation& out, Node group, std::string storage) {
  const auto targets = group.find_value("targets");
  if (!targets) {
    out.rest = std::move(storage);
    return {};
  }
  if (!targets->is_sequence()) return fail(targets->error("not a list of targets"));
  ModuleSet named;
  for (std::uint32_t i = 0; i < targets->size(); ++i) {
    CAIRN_TRY(const std::string_view text, targets->at(i).string());
    if (text.empty()) return fail(targets->at(i).error("an empty target"));
    if (is_class(text)) {
      if (!out.rest.empty() && out.rest != storage) {
        return fail(not_covered(targets->at(i), "config_groups.targets"));
      }
      out.rest = storage;
    } else {
      CAIRN_CHECK(named.add(targets->at(i), text, NameKind::names));
    }
  }
  if (!named.empty()) out.targets.push_back({std::move(named), std::move(storage)});
  return {};
}

// Two of four weights are zero, and the others are stored with their places:
// https://github.com/vllm-project/compressed-tensors/blob/3739ac98/src/compressed_tensors/compressors/sparse_compressors/sparse_24_bitmask.py
Result<bool> sparse(Node q) {
  const auto config = q.find_value("sparsity_config");
  if (!config || !config->is_mapping() || config->size() == 0) return false;
  CAIRN_TRY(const std::string_view format, config->get_or<std::string_view>("format", "dense"));
  if (format == "dense") return false;
  if (format != "sparse-24-bitmask") {
    return fail(not_covered(*config->find("format"), "sparsity_config.format"));
  }
  return true;
}

Result<Quantisation> read_compressed_tensors(Node q, Node root) {
  Quantisation out;
  CAIRN_TRY(const bool zeros, sparse(q));
  CAIRN_TRY(const std::string_view format, q.get_or<std::string_view>("format", ""));
  const bool half = zeros || format == "marlin-24";
  const auto groups = q.find_value("config_groups");
  for (std::uint32_t i = 0; groups && i < groups->size(); ++i) {
    const Node group = groups->is_mapping() ? groups->member(i).value : groups->at(i);
    CAIRN_TRY(std::string storage, scheme_storage(group));
    if (!storage.empty() && half) storage += "-24";
    CAIRN_CHECK(add_group(out, group, std::move(storage)));
  }
  if (zeros && (!groups || groups->size() == 0)) {
    CAIRN_TRY(const std::string_view type, root.get_or<std::string_view>("torch_dtype", ""));
    out.rest = type == "float16" ? "f16-24" : "bf16-24";
  }
  if (out.rest.empty() && out.targets.empty()) {
    return fail(not_covered(groups ? *groups : q, "config_groups"));
  }
  CAIRN_CHECK(leave_alone(out, q, NameKind::names, {"ignore"}));
  return out;
}

// ---- modelopt

// A name for each quantised layer, each with its algorithm; one set for each storage.
Result<void> add_layers(Quantisation& out, Node layers) {
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    const Member layer = layers.member(i);
    CAIRN_TRY(std::string storage, algorithm_storage(layer.value));
    auto it = std::ranges::find(out.targets, storage, &Quantisation::Target::storage);
    if (it == out.targets.end()) {
      out.targets.push_back({ModuleSet(), std::move(storage)});
      it = std::prev(out.targets.end());
    }
    CAIRN_CHECK(it->modules.add(layer.value, layer.key, NameKind::globs));
  }
  return {};
}

Result<Quantisation> read_modelopt(Node q, Node /*root*/) {
  Quantisation out;
  CAIRN_TRY(const std::string_view algorithm, q.get<std::string_view>("quant_algo"));
  if (algorithm == "MIXED_PRECISION") {
    const auto layers = q.find_value("quantized_layers");
    if (!layers || !layers->is_mapping() || layers->size() == 0) {
      return fail(not_covered(*q.find("quant_algo"), "quant_algo").want("quantized_layers"));
    }
    CAIRN_CHECK(add_layers(out, *layers));
  } else {
    CAIRN_TRY(out.rest, algorithm_storage(q));
  }
  CAIRN_CHECK(leave_alone(out, q, NameKind::globs, {"ignore", "exclude_modules"}));
  return out;
}

// ---- FP8 of DeepSeek, Qwen, Mistral and others

Result<std::string> fp8_storage(Node q, Node root) {
  const auto block = q.find_value("weight_block_size");
  if (!block) {
    CAIRN_TRY(const std::string_view scheme,
              q.get_or<std::string_view>("activation_scheme", "dynamic"));
    return scheme == "static" ? "fp8-static" : "fp8";
  }
  const bool square = block->is_sequence() && block->size() == 2 &&
                      block->at(0).integer().value_or(0) == 128 &&
                      block->at(1).integer().value_or(0) == 128;
  if (!square) return fail(not_covered(*block, "weight_block_size").want("[128, 128]"));
  // The scales of DeepSeek V4 are stored as the powers of two they are.
  CAIRN_TRY(const std::string_view model, root.get_or<std::string_view>("model_type", ""));
  return model == "deepseek_v4" ? "fp8-block-e8m0" : "fp8-block";
}

Result<Quantisation> read_fp8(Node q, Node root) {
  Quantisation out;
  CAIRN_TRY(out.rest, fp8_storage(q, root));
  CAIRN_TRY(const std::string_view experts, root.get_or<std::string_view>("expert_dtype", ""));
  if (experts == "fp4") out.experts = "mxfp4";
  // Experts that modelopt quantised further; its list of what it left alone is then of
  // what stays in FP8.
  const auto layers = q.find_value("quantized_layers");
  if (q.find_value("moe_quant_algo") && layers && layers->is_mapping()) {
    CAIRN_CHECK(add_layers(out, *layers));
    return out;
  }
  if (const auto algorithm = q.find_value("moe_quant_algo")) {
    return fail(not_covered(*algorithm, "moe_quant_algo"));
  }
  CAIRN_CHECK(
      leave_alone(out, q, NameKind::components, {"modules_to_not_convert", "ignored_layers"}));
  return out;
}

Result<Quantisation> read_fbgemm(Node q, Node /*root*/) {
  Quantisation out;
  out.rest = "fp8-channel-f32";
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"modules_to_not_convert"}));
  return out;
}

// ---- 4 and 8 bits

Result<Quantisation> read_mxfp4(Node q, Node /*root*/) {
  Quantisation out;
  out.rest = "mxfp4";
  out.experts_only = true;
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"modules_to_not_convert"}));
  return out;
}

Result<Quantisation> read_awq(Node q, Node /*root*/) {
  Quantisation out;
  const bool old = !q.find_value("bits");
  const std::string_view group =
      old && q.find_value("q_group_size") ? "q_group_size" : "group_size";
  CAIRN_TRY(out.rest, packed_storage("awq", q, old ? "w_bit" : "bits", group));
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"modules_to_not_convert"}));
  return out;
}

// GPTQModel's exceptions: "-:PATTERN" is left alone, "+:PATTERN" has bits of its own.
Result<void> read_dynamic(Quantisation& out, Node q) {
  const auto dynamic = q.find_value("dynamic");
  if (!dynamic || !dynamic->is_mapping()) return {};
  for (std::uint32_t i = 0; i < dynamic->size(); ++i) {
    const auto [key, value] = dynamic->member(i);
    if (key.starts_with("-:")) {
      CAIRN_CHECK(out.left_alone.add(value, key.substr(2), NameKind::regexes));
      continue;
    }
    const Node bits = value.find_value("bits") ? value : q;
    CAIRN_TRY(std::string storage, packed_storage("gptq", bits, "bits", "group_size"));
    ModuleSet named;
    CAIRN_CHECK(named.add(value, key.starts_with("+:") ? key.substr(2) : key, NameKind::regexes));
    out.targets.push_back({std::move(named), std::move(storage)});
  }
  return {};
}

Result<void> read_head(Quantisation& out, Node q) {
  CAIRN_TRY(const bool head, q.get_or<bool>("lm_head", false));
  if (!head) return {};
  ModuleSet named;
  CAIRN_CHECK(named.add(q, "lm_head", NameKind::names));
  out.targets.push_back({std::move(named), out.rest});
  return {};
}

Result<Quantisation> read_gptq(Node q, Node /*root*/) {
  Quantisation out;
  CAIRN_TRY(out.rest, packed_storage("gptq", q, "bits", "group_size"));
  CAIRN_CHECK(read_dynamic(out, q));
  CAIRN_CHECK(read_head(out, q));
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"modules_to_not_convert"}));
  return out;
}

// https://github.com/intel/auto-round/blob/main/docs/step_by_step.md
Result<Quantisation> read_autoround(Node q, Node /*root*/) {
  Quantisation out;
  CAIRN_TRY(const std::string_view packing,
            q.get_or<std::string_view>("packing_format", "auto_round:auto_gptq"));
  const std::string_view layout = packing.contains("awq") ? "awq" : "gptq";
  CAIRN_TRY(const std::string_view type, q.get_or<std::string_view>("data_type", "int"));
  if (!type.starts_with("int")) return fail(not_covered(*q.find("data_type"), "data_type"));
  CAIRN_TRY(out.rest, packed_storage(layout, q, "bits", "group_size"));
  const auto extra = q.find_value("extra_config");
  for (std::uint32_t i = 0; extra && extra->is_mapping() && i < extra->size(); ++i) {
    const auto [key, value] = extra->member(i);
    CAIRN_TRY(const std::int64_t bits, value.get_integer_or("bits", 0, 0, 64));
    if (bits == 0) continue;
    if (bits >= 16) {
      CAIRN_CHECK(out.left_alone.add(value, key, NameKind::names));
      continue;
    }
    CAIRN_TRY(std::string storage, packed_storage(layout, value, "bits", "group_size"));
    ModuleSet named;
    CAIRN_CHECK(named.add(value, key, NameKind::names));
    out.targets.push_back({std::move(named), std::move(storage)});
  }
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"modules_to_not_convert"}));
  return out;
}

Result<std::string> bitsandbytes_storage(Node q) {
  CAIRN_TRY(const bool four, q.get_or<bool>("load_in_4bit", false));
  if (!four) {
    CAIRN_TRY(const bool eight, q.get_or<bool>("load_in_8bit", false));
    if (!eight) return fail(not_covered(q, "load_in_4bit"));
    return "bnb-int8";
  }
  CAIRN_TRY(const std::string_view type, q.get_or<std::string_view>("bnb_4bit_quant_type", "fp4"));
  if (type != "nf4" && type != "fp4") {
    return fail(not_covered(*q.find("bnb_4bit_quant_type"), "bnb_4bit_quant_type"));
  }
  CAIRN_TRY(const bool twice, q.get_or<bool>("bnb_4bit_use_double_quant", false));
  return "bnb-" + std::string(type) + (twice ? "-dq" : "");
}

Result<Quantisation> read_bitsandbytes(Node q, Node /*root*/) {
  Quantisation out;
  CAIRN_TRY(out.rest, bitsandbytes_storage(q));
  CAIRN_CHECK(leave_alone(out, q, NameKind::components, {"llm_int8_skip_modules"}));
  return out;
}

// ---- Quark

Result<Quantisation> read_quark(Node q, Node /*root*/) {
  Quantisation out;
  if (const auto layers = q.find_value("layer_quant_config"); layers && layers->is_mapping()) {
    for (std::uint32_t i = 0; i < layers->size(); ++i) {
      const auto [key, value] = layers->member(i);
      CAIRN_TRY(std::string storage, quark_storage(value));
      ModuleSet named;
      CAIRN_CHECK(named.add(value, key, NameKind::globs));
      out.targets.push_back({std::move(named), std::move(storage)});
    }
  }
  Node rest = q;
  CAIRN_TRY(rest, q.required("global_quant_config"));
  const auto types = q.find_value("layer_type_quant_config");
  for (std::uint32_t i = 0; types && types->is_mapping() && i < types->size(); ++i) {
    const auto [key, value] = types->member(i);
    if (key.contains("Linear")) rest = value;
  }
  CAIRN_TRY(out.rest, quark_storage(rest));
  CAIRN_CHECK(leave_alone(out, q, NameKind::globs, {"exclude"}));
  return out;
}

// ---- MLX

// {"group_size": 64, "bits": 4, "mode": "affine", MODULE: false or settings of its own}.
// https://github.com/ml-explore/mlx-lm/blob/d78bf58e217c904ec282ed8da9b947491f78c022/mlx_lm/utils.py
Result<std::string> mlx_storage(Node q, std::string_view mode) {
  if (mode == "mxfp4" || mode == "mxfp8") return std::string(mode);
  if (mode != "affine") return fail(not_covered(*q.find("mode"), "mode"));
  CAIRN_TRY(const std::int64_t bits, q.get_integer("bits", 1, 16));
  CAIRN_TRY(const std::int64_t group, q.get_integer_or("group_size", 64, 1, 1 << 20));
  const bool known = bits >= 2 && bits <= 8 && bits != 7 && (group == 64 || group == 32);
  if (!known) return fail(not_covered(*q.find("bits"), "bits"));
  return "mlx-int" + std::to_string(bits) + "-g" + std::to_string(group);
}

Result<Quantisation> read_mlx(Node q, Node /*root*/) {
  Quantisation out;
  CAIRN_TRY(const std::string_view mode, q.get_or<std::string_view>("mode", "affine"));
  CAIRN_TRY(out.rest, mlx_storage(q, mode));
  for (std::uint32_t i = 0; i < q.size(); ++i) {
    const auto [key, value] = q.member(i);
    if (!key.contains('.') && key != "lm_head") continue;
    if (!value.is_mapping()) {
      CAIRN_TRY(const bool quantised, value.boolean());
      if (!quantised) CAIRN_CHECK(out.left_alone.add(value, key, NameKind::names));
      continue;
    }
    CAIRN_TRY(const std::string_view own, value.get_or<std::string_view>("mode", mode));
    CAIRN_TRY(std::string storage, mlx_storage(value, own));
    ModuleSet named;
    CAIRN_CHECK(named.add(value, key, NameKind::names));
    out.targets.push_back({std::move(named), std::move(storage)});
  }
  ModuleSet tables;  // unlike other tools it quantises tables and heads
  for (const std::string_view name : {"embed_tokens", "lm_head"}) {
    CAIRN_CHECK(tables.add(q, name, NameKind::names));
  }
  out.targets.push_back({std::move(tables), out.rest});
  return out;
}

struct Method {
  std::string_view name;
  Read read;
};

constexpr auto kMethods = std::to_array<Method>({
    {"compressed-tensors", read_compressed_tensors},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"fp8", read_fp8},
    {"fbgemm_fp8", read_fbgemm},
    {"mxfp4", read_mxfp4},
    {"awq", read_awq},
    {"gptq", read_gptq},
    {"auto-round", read_autoround},
    {"intel/auto-round", read_autoround},
    {"bitsandbytes", read_bitsandbytes},
    {"quark", read_quark},
});

Result<Quantisation> read_method(Node q, Node root) {
  CAIRN_TRY(const std::string_view name, q.get_or<std::string_view>("quant_method", ""));
  if (name.empty() && q.find_value("quant_algo")) return read_modelopt(q, root);
  if (name.empty() && q.find("quant_algo")) return Quantisation();  // the cache alone
  if (name.empty() && q.find_value("config_groups")) return read_compressed_tensors(q, root);
  if (name.empty() && q.find_value("bits") && q.find_value("group_size")) return read_mlx(q, root);
  const auto* const method = std::ranges::find(kMethods, name, &Method::name);
  if (method != kMethods.end()) return method->read(q, root);
  std::string known;
  for (const Method& m : kMethods) known.append(known.empty() ? "" : ", ").append(m.name);
  const auto node = q.find_value("quant_method");
  return fail(not_covered(node ? *node : q, "quant_method").want("one of " + known));
}

// Matrices that tools quantise when they are told to quantise linear layers.
bool is_linear(const Tensor& t) {
  constexpr auto kLinear = std::to_array<TensorGroup>(
      {TensorGroup::attention, TensorGroup::recurrent, TensorGroup::recurrent_small,
       TensorGroup::ffn, TensorGroup::shared, TensorGroup::experts});
  return std::ranges::any_of(kLinear, [&](TensorGroup g) { return in_group(t, g); });
}

}  // namespace

Result<std::vector<std::string>> Quantisation::assign(const Graph& graph) {
  const bool mixture = std::ranges::any_of(
      graph.tensors, [](const Tensor& t) { return in_group(t, TensorGroup::experts); });
  std::vector<std::string> out(graph.tensors.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& t = graph.tensors[i];
    if (t.vector) continue;
    const ModuleNames names = module_names(t);
    if (names.own.empty()) continue;  // no list can name it
    CAIRN_TRY(const bool alone, left_alone.contains(names, t.layer));
    if (alone) continue;
    bool named = false;
    for (Target& target : targets) {
      CAIRN_TRY(named, target.modules.contains(names, t.layer));
      if (!named) continue;
      out[i] = target.storage;
      break;
    }
    if (named || !is_linear(t)) continue;
    const bool expert = in_group(t, TensorGroup::experts);
    if (experts_only && mixture && !expert) continue;
    out[i] = expert && !experts.empty() ? experts : rest;
  }
  return out;
}

Result<std::optional<Quantisation>> read_quantisation(Node root) {
  for (const std::string_view key : {"quantization_config", "compression_config", "quantization"}) {
    const auto q = root.find_value(key);
    if (!q || !q->is_mapping() || q->size() == 0) continue;
    CAIRN_TRY(Quantisation out, read_method(*q, root));
    return out;
  }
  return std::nullopt;
}

}  // namespace cairn::hf

namespace cairn {

Result<std::string> trained_format(Node root) {
  for (const std::string_view key : {"torch_dtype", "dtype"}) {
    CAIRN_TRY(const std::string_view type, root.get_or<std::string_view>(key, ""));
    if (type.empty() || type == "auto") continue;
    if (type == "bfloat16") return "bf16";
    if (type == "float16") return "fp16";
    if (type == "float32") return "fp32";
    return fail(unsupported("a data type that is not covered")
                    .at(root.find(key)->where())
                    .in(std::string(key))
                    .got(type)
                    .want("bfloat16, float16 or float32"));
  }
  return "";
}

Result<std::string> published_format(Node root, const ModelSpec& spec, std::string_view trained) {
  CAIRN_TRY(auto quantisation, hf::read_quantisation(root));
  if (!quantisation) return std::string(trained);
  const Graph graph = build_graph(spec);
  CAIRN_TRY(const std::vector<std::string> storage, quantisation->assign(graph));
  return hf::format_of(graph, storage, std::string(trained));
}

}  // namespace cairn
