// quantization_config of a config.json to the name of a WeightFormat.
#include "cairn/model/hf_config.h"

namespace cairn {
namespace {

Error not_covered(Node node, std::string field) {
  return unsupported("a quantisation that is not covered")
      .at(node.where())
      .in("quantization_config." + std::move(field))
      .got(node.text());
}

// One scheme for weights, as compressed-tensors and modelopt write it:
// https://github.com/vllm-project/compressed-tensors
Result<std::string> scheme_format(Node weights) {
  CAIRN_TRY(const std::int64_t bits, weights.get_integer("num_bits", 1, 32));
  CAIRN_TRY(const std::string_view type, weights.get_or<std::string_view>("type", "int"));
  CAIRN_TRY(const std::int64_t group, weights.get_integer_or("group_size", 0, -1, 1 << 20));
  CAIRN_TRY(const std::string_view strategy,
            weights.get_or<std::string_view>("strategy", group > 0 ? "group" : "tensor"));
  if (type == "float" && bits == 8) {
    if (strategy == "tensor") return "fp8";
    if (strategy == "channel") return "fp8-channel";
    if (strategy == "block") return "fp8-block";
  }
  if (type == "float" && bits == 4 && group == 16) return "nvfp4";
  if (type == "float" && bits == 4 && group == 32) return "mxfp4";
  if (type == "int" && bits == 8 && strategy == "channel") return "int8";
  if (type == "int" && bits == 4 && group == 32) return "int4";
  if (type == "int" && bits == 4 && group == 128) return "gptq-int4";
  return fail(not_covered(*weights.find("num_bits"), "config_groups.weights"));
}

Result<std::string> groups_format(Node groups) {
  std::string format;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    const Node group = groups.is_mapping() ? groups.member(i).value : groups.at(i);
    CAIRN_TRY(const Node weights, group.required("weights"));
    CAIRN_TRY(std::string one, scheme_format(weights));
    if (!format.empty() && one != format) return fail(not_covered(group, "config_groups"));
    format = std::move(one);
  }
  if (format.empty()) return fail(not_covered(groups, "config_groups"));
  return format;
}

Result<std::string> fp8_format(Node q) {
  const auto block = q.find_value("weight_block_size");
  if (q.find_value("moe_quant_algo")) {
    return fail(not_covered(*q.find("moe_quant_algo"), "moe_quant_algo"));
  }
  if (!block) return "fp8";
  const bool square = block->is_sequence() && block->size() == 2 &&
                      block->at(0).integer().value_or(0) == 128 &&
                      block->at(1).integer().value_or(0) == 128;
  if (!square) return fail(not_covered(*block, "weight_block_size").want("[128, 128]"));
  return "fp8-block";
}

// GPTQ and AWQ: groups of 128, the layout the weight formats describe.
Result<std::string> int4_format(Node q, std::string name) {
  CAIRN_TRY(const Node bits, q.required(q.find_value("bits") ? "bits" : "w_bit"));
  CAIRN_TRY(const std::int64_t n, bits.integer());
  if (n != 4) return fail(not_covered(bits, "bits").want("4"));
  const std::string_view key = q.find_value("group_size") ? "group_size" : "q_group_size";
  CAIRN_TRY(const std::int64_t group, q.get_integer_or(key, 128, -1, 1 << 20));
  if (group != 128) return fail(not_covered(*q.find(key), std::string(key)).want("128"));
  return name;
}

Result<std::string> bitsandbytes_format(Node q) {
  CAIRN_TRY(const bool four, q.get_or<bool>("load_in_4bit", false));
  if (!four) {
    CAIRN_TRY(const bool eight, q.get_or<bool>("load_in_8bit", false));
    if (!eight) return fail(not_covered(q, "load_in_4bit"));
    return "bnb-int8";
  }
  CAIRN_TRY(const std::string_view type, q.get<std::string_view>("bnb_4bit_quant_type"));
  if (type != "nf4")
    return fail(not_covered(*q.find("bnb_4bit_quant_type"), "bnb_4bit_quant_type"));
  CAIRN_TRY(const bool twice, q.get_or<bool>("bnb_4bit_use_double_quant", false));
  return twice ? "bnb-nf4-dq" : "bnb-nf4";
}

// https://quark.docs.amd.com/latest/pytorch/user_guide_config_description.html
Result<std::string> quark_format(Node q) {
  CAIRN_TRY(const Node global, q.required("global_quant_config"));
  CAIRN_TRY(const Node weight, global.required("weight"));
  CAIRN_TRY(const std::string_view type, weight.get<std::string_view>("dtype"));
  CAIRN_TRY(const std::string_view scheme, weight.get<std::string_view>("qscheme"));
  CAIRN_TRY(const std::int64_t group, weight.get_integer_or("group_size", 0, -1, 1 << 20));
  if (type == "fp4" && scheme == "per_group" && group == 32) return "mxfp4-linear";
  if (type == "fp8_e4m3" && scheme == "per_tensor") return "fp8";
  if (type == "fp8_e4m3" && scheme == "per_channel") return "fp8-channel";
  if (type == "int8" && scheme == "per_channel") return "int8";
  return fail(not_covered(*weight.find("dtype"), "global_quant_config.weight.dtype"));
}

// NVIDIA's ModelOpt, in config.json or hf_quant_config.json.
Result<std::string> modelopt_format(Node q) {
  CAIRN_TRY(const std::string_view algorithm, q.get<std::string_view>("quant_algo"));
  if (algorithm == "FP8") return "fp8";
  if (algorithm == "NVFP4") return "nvfp4";
  return fail(not_covered(*q.find("quant_algo"), "quant_algo").want("FP8 or NVFP4"));
}

Result<std::string> quantised_format(Node q) {
  if (!q.find_value("quant_method") && q.find_value("quant_algo")) return modelopt_format(q);
  CAIRN_TRY(const std::string_view method, q.get<std::string_view>("quant_method"));
  if (method == "fp8") return fp8_format(q);
  if (method == "fbgemm_fp8") return "fp8-channel";
  if (method == "mxfp4") return "mxfp4";
  if (method == "awq") return int4_format(q, "awq-int4");
  if (method == "gptq") return int4_format(q, "gptq-int4");
  if (method == "bitsandbytes") return bitsandbytes_format(q);
  if (method == "quark") return quark_format(q);
  if (method == "modelopt") return modelopt_format(q);
  if (method == "compressed-tensors") {
    CAIRN_TRY(const Node groups, q.required("config_groups"));
    return groups_format(groups);
  }
  return fail(not_covered(*q.find("quant_method"), "quant_method"));
}

}  // namespace

Result<std::string> published_format(Node root) {
  for (const std::string_view key : {"quantization_config", "quantization"}) {
    const auto q = root.find_value(key);
    if (q && q->is_mapping() && q->size() > 0) return quantised_format(*q);
  }
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

}  // namespace cairn
