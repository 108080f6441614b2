#include "cairn/model/hf_storage.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

namespace cairn::hf {
namespace {

constexpr std::int64_t kMaxGroup = 1 << 20;

// One scheme for weights.
struct Scheme {
  std::int64_t bits = 8;
  std::string_view type = "int";
  std::string_view strategy;
  std::int64_t group = 0;
  bool symmetric = true;
  bool reordered = false;  // an index of the group of each column
};

bool one_of(std::int64_t n, std::initializer_list<std::int64_t> list) {
  return std::ranges::find(list, n) != list.end();
}

std::string with_group(std::string name, std::int64_t group) {
  return std::move(name) + "-g" + std::to_string(group);
}

Result<Scheme> read_scheme(Node weights) {
  Scheme s;
  CAIRN_TRY(s.bits, weights.get_integer("num_bits", 1, 32));
  CAIRN_TRY(s.type, weights.get_or<std::string_view>("type", "int"));
  CAIRN_TRY(s.group, weights.get_integer_or("group_size", 0, -1, kMaxGroup));
  const std::string_view usual = s.group > 0 ? "group" : s.group == 0 ? "tensor" : "channel";
  CAIRN_TRY(s.strategy, weights.get_or<std::string_view>("strategy", usual));
  CAIRN_TRY(s.symmetric, weights.get_or<bool>("symmetric", true));
  const auto order = weights.find_value("actorder");
  if (order && order->is_string()) {
    CAIRN_TRY(const std::string_view text, order->string());
    s.reordered = text == "group" || text == "dynamic";
  } else if (order) {
    CAIRN_TRY(s.reordered, order->boolean());
  }
  return s;
}

// Activations quantised with a scale that is stored.
Result<bool> static_activations(Node group) {
  const auto input = group.find_value("input_activations");
  if (!input || !input->is_mapping()) return false;
  const auto dynamic = input->find_value("dynamic");
  if (!dynamic || dynamic->is_string()) return !dynamic;
  CAIRN_TRY(const bool value, dynamic->boolean());
  return !value;
}

Result<std::string> float_storage(Node group, Node weights, const Scheme& s) {
  CAIRN_TRY(const bool fixed, static_activations(group));
  if (s.bits == 8 && s.strategy == "tensor") return fixed ? "fp8-static" : "fp8";
  if (s.bits == 8 && s.strategy == "channel") return "fp8-channel";
  if (s.bits == 8 && s.strategy == "group" && s.group == 32) return "mxfp8";
  if (s.bits == 8 && s.strategy == "block") {
    const auto block = weights.find_value("block_structure");
    const bool square = block && block->is_sequence() && block->size() == 2 &&
                        block->at(0).integer().value_or(0) == 128 &&
                        block->at(1).integer().value_or(0) == 128;
    if (block && !square) return fail(not_covered(*block, "block_structure").want("[128, 128]"));
    return "fp8-block-bf16";
  }
  if (s.bits == 4 && s.group == 16) {
    return group.find_value("input_activations") ? "nvfp4-g16" : "nvfp4-g16-a16";
  }
  if (s.bits == 4 && s.group == 32) return "mxfp4";
  return fail(not_covered(*weights.find("num_bits"), "config_groups.weights"));
}

Result<std::string> integer_storage(Node weights, const Scheme& s) {
  const Node at = *weights.find("num_bits");
  std::string name;
  if (s.bits == 8 && s.strategy == "channel") name = "int8-channel";
  if (s.bits == 8 && s.strategy == "tensor") name = "int8";
  if (s.bits == 8 && s.strategy == "group" && one_of(s.group, {32, 64, 128})) {
    name = with_group("int8", s.group);
  }
  if (s.bits == 4 && s.strategy == "channel") name = "int4-channel";
  if (s.bits == 4 && s.strategy == "group" && one_of(s.group, {32, 64, 128})) {
    name = with_group("int4", s.group);
  }
  if (name.empty()) return fail(not_covered(at, "config_groups.weights"));
  if (s.reordered) {
    if (!s.symmetric || name != "int4-g128") {
      return fail(not_covered(*weights.find("actorder"), "actorder"));
    }
    return name + "-gidx";
  }
  if (s.symmetric || s.strategy == "tensor") return name;
  if (s.bits != 4) return fail(not_covered(*weights.find("symmetric"), "symmetric"));
  return name + "-zp";
}

}  // namespace

Error not_covered(Node node, std::string field) {
  return unsupported("a quantisation that is not covered")
      .at(node.where())
      .in("quantization_config." + std::move(field))
      .got(node.text());
}

Result<std::string> scheme_storage(Node group) {
  const auto weights = group.find_value("weights");
  if (!weights) return std::string();  // activations or the cache alone
  CAIRN_TRY(const Scheme s, read_scheme(*weights));
  if (s.type == "float") return float_storage(group, *weights, s);
  if (s.type == "int") return integer_storage(*weights, s);
  return fail(not_covered(*weights->find("type"), "config_groups.weights.type"));
}

Result<std::string> algorithm_storage(Node entry) {
  CAIRN_TRY(const Node node, entry.required("quant_algo"));
  CAIRN_TRY(const std::string_view name, node.string());
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kStored = {{
      {"FP8", "fp8-static"},
      {"FP8_PER_CHANNEL_PER_TOKEN", "fp8-channel-f32"},
      {"FP8_PB_WO", "fp8-block"},
      {"FP8_BLOCK_SCALES", "fp8-block"},
      {"NVFP4", "nvfp4-g16"},
      {"NVFP4_AWQ", "nvfp4-g16-awq"},
      {"W4A16_NVFP4", "nvfp4-g16-a16"},
      {"MXFP4", "mxfp4"},
      {"W4A8_MXFP4_FP8", "mxfp4"},
      {"MXFP8", "mxfp8"},
      {"W8A16", "int8-channel"},
      {"W8A8_SQ_PER_CHANNEL", "int8-channel"},
  }};
  const auto* const it = std::ranges::find(kStored, name, [](const auto& k) { return k.first; });
  if (it == kStored.end()) return fail(not_covered(node, "quant_algo"));
  std::string stored(it->second);
  const std::int64_t usual = stored.starts_with("nvfp4") ? 16 : stored.starts_with("mx") ? 32 : 0;
  CAIRN_TRY(const std::int64_t group, entry.get_integer_or("group_size", usual, 0, kMaxGroup));
  if (usual != 0 && group != usual && group != 0) {
    return fail(not_covered(*entry.find("group_size"), "group_size").want(std::to_string(usual)));
  }
  return stored;
}

Result<std::string> quark_storage(Node config) {
  const auto weight = config.find_value("weight");
  if (!weight) return std::string();
  if (!weight->is_mapping()) return fail(not_covered(*weight, "weight").want("one scheme"));
  CAIRN_TRY(std::string_view type, weight->get<std::string_view>("dtype"));
  CAIRN_TRY(const std::string_view scheme, weight->get<std::string_view>("qscheme"));
  CAIRN_TRY(const std::int64_t group, weight->get_integer_or("group_size", 0, -1, kMaxGroup));
  if (type == "mx") {
    CAIRN_TRY(type, weight->get<std::string_view>("mx_element_dtype"));
  }
  const bool blocks = scheme == "per_group" && group == 32;
  if (type == "bfloat16" || type == "float16" || type == "float32") return std::string();
  if (type == "fp4" && blocks) return "mxfp4";
  if ((type == "fp6_e3m2" || type == "fp6_e2m3") && blocks) return "mxfp6";
  const bool fp8 = type == "fp8_e4m3" || type == "fp8_e5m2";
  if (fp8 && blocks) return "mxfp8";
  if (fp8 && scheme == "per_channel") return "fp8-channel-f32";
  if (fp8 && scheme == "per_tensor") {
    const auto input = config.find_value("input_tensors");
    CAIRN_TRY(const bool dynamic,
              input && input->is_mapping() ? input->get_or<bool>("is_dynamic", false) : true);
    return dynamic ? "fp8" : "fp8-static";
  }
  if (type == "int8" && scheme == "per_channel") return "int8-channel";
  if (type == "int8" && scheme == "per_tensor") return "int8";
  const bool grouped = scheme == "per_group" && one_of(group, {32, 64, 128});
  if (type == "int4" && grouped) return with_group("int4", group);
  if (type == "uint4" && grouped) return with_group("int4", group) + "-zp";
  return fail(not_covered(*weight->find("dtype"), "weight.dtype"));
}

Result<std::string> packed_storage(std::string_view layout, Node q, std::string_view bits,
                                   std::string_view group) {
  CAIRN_TRY(const Node width, q.required(bits));
  CAIRN_TRY(const std::int64_t n, width.integer());
  CAIRN_TRY(const std::int64_t size, q.get_integer_or(group, 128, -1, kMaxGroup));
  const bool gptq = layout == "gptq";
  const bool known = gptq ? one_of(n, {2, 3, 4, 8}) : n == 4;
  if (!known) return fail(not_covered(width, std::string(bits)).want(gptq ? "2, 3, 4 or 8" : "4"));
  const std::string name = std::string(layout) + "-int" + std::to_string(n);
  if (size == -1 && gptq) return name + "-channel";
  if (!one_of(size, {32, 64, 128})) {
    return fail(not_covered(*q.find(group), std::string(group)).want("32, 64 or 128"));
  }
  return with_group(name, size);
}

}  // namespace cairn::hf
