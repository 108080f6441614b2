// What configurations declare, module by module.
#include "cairn/model/hf_quantization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cairn/data/json.h"
#include "cairn/model/hf_modules.h"
#include "published_models.h"

namespace cairn {
namespace {

using test::facts;
using test::value_of;

Result<std::string> format_of(const std::string& model, const std::string& quantisation,
                              const std::string& more = "") {
  const std::string text =
      R"({"quantization_config": )" + quantisation + (more.empty() ? "" : ", " + more) + "}";
  const Document document = value_of(parse_json(text, "config.json"));
  return published_format(document.root(), test::spec_named(model), "bf16");
}

std::string named(const std::string& model, const std::string& quantisation,
                  const std::string& more = "") {
  const auto format = format_of(model, quantisation, more);
  return format ? *format : format.error().to_string();
}

std::string scheme(const std::string& weights, const std::string& more = "") {
  return R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"targets":
      ["Linear"], "weights": )" +
         weights + "}}" + more + "}";
}

// https://github.com/vllm-project/compressed-tensors: presets of quant_scheme.py.
TEST(CompressedTensors, Schemes) {
  const auto of = [](const std::string& weights) { return named("llama-3.1-8b", scheme(weights)); };
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "float", "strategy": "tensor"})"), "fp8");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "float", "strategy": "channel"})"), "fp8-channel");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "float", "strategy": "block",
                   "block_structure": [128, 128]})"),
            "bf16+attention,ffn:fp8-block-bf16");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "int", "strategy": "channel"})"), "int8");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "int", "strategy": "group", "group_size": 128})"),
            "bf16+attention,ffn:int8-g128");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128})"),
            "int4-g128");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128,
                   "symmetric": false})"),
            "bf16+attention,ffn:int4-g128-zp");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "int", "strategy": "channel"})"),
            "bf16+attention,ffn:int4-channel");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "float", "strategy": "tensor_group",
                   "group_size": 16})"),
            "bf16+attention,ffn:nvfp4-g16-a16");
  EXPECT_EQ(of(R"({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32})"),
            "mxfp4");
  EXPECT_EQ(of(R"({"num_bits": 8, "type": "float", "strategy": "group", "group_size": 32})"),
            "mxfp8");
  EXPECT_TRUE(of(R"({"num_bits": 5, "type": "int"})").contains("config_groups.weights"));
  EXPECT_TRUE(of(R"({"num_bits": 8, "type": "complex"})").contains("complex"));
  EXPECT_TRUE(of(R"({"num_bits": 8, "type": "float", "strategy": "block",
                     "block_structure": [64, 64]})")
                  .contains("[128, 128]"));
}

// Names before regular expressions before classes, and a list of what is left alone.
TEST(CompressedTensors, GroupsAndIgnoreLists) {
  const std::string weights = R"({"num_bits": 8, "type": "float", "strategy": "channel"})";
  EXPECT_EQ(named("llama-3.1-8b", scheme(weights, R"(, "ignore": ["lm_head",
      "re:.*self_attn.*"])")),
            "fp8-channel+attention:bf16");
  EXPECT_EQ(named("llama-3.1-8b", scheme(weights, R"(, "ignore": ["lm_head",
      "model.layers.0.mlp.down_proj", "model.layers.1.mlp.down_proj"])")),
            "fp8-channel+dense_down@0-1:bf16");
  EXPECT_EQ(named("mixtral-8x7b", scheme(weights, R"(, "ignore": ["re:.*block_sparse_moe.gate",
      "lm_head"])")),
            "fp8-channel");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "compressed-tensors", "config_groups": {
      "group_0": {"targets": ["re:.*self_attn.*"],
                  "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}},
      "group_1": {"targets": ["re:.*mlp.*"],
                  "weights": {"num_bits": 4, "type": "float", "group_size": 32}}},
      "ignore": ["lm_head"]})"),
            "mxfp4+attention:fp8-channel");
  EXPECT_TRUE(named("llama-3.1-8b", scheme(weights, R"_(, "ignore": ["re:(?!x)"])_"))
                  .contains("a kind of group that is not understood"));
}

TEST(CompressedTensors, StructuredZeros) {
  const std::string zeros = R"("sparsity_config": {"format": "sparse-24-bitmask",
      "sparsity_structure": "2:4"})";
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "compressed-tensors", )" + zeros + "}"),
            "bf16+attention,ffn:bf16-24");
  EXPECT_EQ(
      named("llama-3.1-8b",
            scheme(R"({"num_bits": 8, "type": "float", "strategy": "channel"})", ", " + zeros)),
      "bf16+attention,ffn:fp8-channel-24");
  EXPECT_EQ(named("llama-3.1-8b", scheme(R"({"num_bits": 4, "type": "int", "strategy": "group",
                             "group_size": 128})",
                                         R"(, "format": "marlin-24")")),
            "bf16+attention,ffn:int4-g128-24");
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "compressed-tensors",
      "sparsity_config": {"format": "sparse-bitmask"}})")
                  .contains("sparsity_config.format"));
}

// https://github.com/NVIDIA/TensorRT-Model-Optimizer: names with wildcards, layers with an
// algorithm of their own.
TEST(ModelOpt, AlgorithmsAndExcludedModules) {
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_algo": "FP8", "exclude_modules": ["lm_head"]})"),
            "fp8-static");
  EXPECT_EQ(named("qwen3-30b-a3b", R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
      "ignore": ["lm_head", "model.layers.*.self_attn*", "model.layers.0*"]})"),
            "nvfp4+experts@0:bf16");
  EXPECT_EQ(named("llama-3.2-3b", R"({"quant_algo": "MIXED_PRECISION", "quantized_layers": {
      "model.layers.0.mlp.gate_proj": {"quant_algo": "FP8"},
      "model.layers.1.mlp.gate_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}})"),
            "bf16+dense_gate@0:fp8-static+dense_gate@1:nvfp4-g16-a16");
  // A cache in FP8, and weights as they were trained.
  EXPECT_EQ(named("llama-3.2-3b", R"({"quant_algo": null, "kv_cache_quant_algo": "FP8"})"), "bf16");
  EXPECT_TRUE(named("llama-3.2-3b", R"({"quant_algo": "W4A8_AWQ"})").contains("W4A8_AWQ"));
  EXPECT_TRUE(
      named("llama-3.2-3b", R"({"quant_algo": "MIXED_PRECISION"})").contains("quantized_layers"));
  EXPECT_TRUE(
      named("llama-3.2-3b", R"({"quant_algo": "NVFP4", "group_size": 32})").contains("group_size"));
}

// https://quark.docs.amd.com: exceptions by layer and by type of layer.
TEST(Quark, LayersOfTheirOwn) {
  const auto config = [](const std::string& more) {
    return R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4",
        "qscheme": "per_group", "group_size": 32}}, "exclude": ["lm_head"])" +
           more + "}";
  };
  EXPECT_EQ(named("llama-3.1-8b", config("")), "mxfp4");
  EXPECT_EQ(named("llama-3.1-8b", config(R"(, "layer_quant_config": {"*self_attn*": {"weight":
      {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}, "input_tensors": {"is_dynamic": false}},
      "*down_proj": {"weight": null}})")),
            "mxfp4+dense_down:bf16+attention:fp8-static");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "quark", "global_quant_config": {"weight":
      {"dtype": "mx", "mx_element_dtype": "fp6_e2m3", "qscheme": "per_group",
       "group_size": 32}}})"),
            "mxfp6");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "quark", "global_quant_config": {"weight":
      {"dtype": "uint4", "qscheme": "per_group", "group_size": 128}}})"),
            "bf16+attention,ffn:int4-g128-zp");
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "quark", "global_quant_config": {"weight":
      {"dtype": "int3", "qscheme": "per_group", "group_size": 128}}})")
                  .contains("int3"));
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "quark", "global_quant_config": {"weight":
      [{"dtype": "fp8_e4m3"}, {"dtype": "int4"}]}})")
                  .contains("one scheme"));
}

TEST(Integers, GptqAwqAndAutoRound) {
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 8, "group_size": 32})"),
            "bf16+attention,ffn:gptq-int8-g32");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 4, "group_size": 128,
      "lm_head": true, "dynamic": {"-:.*down_proj": {}, "+:.*up_proj": {"bits": 8,
      "group_size": 128}}})"),
            "gptq-int4+dense_down:bf16+output:gptq-int4-g128+dense_up:gptq-int8-g128");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64,
      "modules_to_not_convert": ["visual", "self_attn"]})"),
            "bf16+ffn:awq-int4-g64");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "auto-round", "bits": 4,
      "group_size": 128, "packing_format": "auto_round:auto_gptq", "extra_config":
      {"model.layers.31.mlp.down_proj": {"bits": 16}}})"),
            "gptq-int4+dense_down@31:bf16");
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "awq", "bits": 8})").contains("bits"));
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 4, "group_size": 48})")
                  .contains("group_size"));
}

TEST(Others, BitsandbytesFp8AndMlx) {
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "bitsandbytes", "load_in_4bit": true,
      "bnb_4bit_use_double_quant": true, "bnb_4bit_quant_type": "nf4"})"),
            "bnb-nf4-dq");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "bitsandbytes", "load_in_8bit": true,
      "llm_int8_skip_modules": ["lm_head", "mlp"]})"),
            "bf16+attention:bnb-int8");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"),
            "bnb-fp4");
  EXPECT_EQ(named("llama-3.1-8b", R"({"quant_method": "fp8", "activation_scheme": "static"})"),
            "fp8-static");
  EXPECT_EQ(named("qwen3-30b-a3b", R"({"quant_method": "fp8", "weight_block_size": [128, 128]})",
                  R"("model_type": "deepseek_v4", "expert_dtype": "fp4")"),
            "mxfp4+attention:fp8-block-e8m0");
  EXPECT_EQ(named("gpt-oss-20b", R"({"quant_method": "mxfp4", "modules_to_not_convert":
      ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]})"),
            "mxfp4");
  EXPECT_EQ(named("llama-3.1-8b", R"({"group_size": 64, "bits": 4, "mode": "affine",
      "model.layers.0.mlp.down_proj": {"group_size": 64, "bits": 6}, "lm_head": false})"),
            "bf16+attention,token_embd:mlx-int4-g64+dense_gate,dense_up@0:mlx-int4-g64"
            "+ffn@1-31:mlx-int4-g64+dense_down@0:mlx-int6-g64");
  EXPECT_TRUE(named("llama-3.1-8b", R"({"quant_method": "hqq"})").contains("hqq"));
  EXPECT_TRUE(named("llama-3.1-8b", R"({"load_in_4bit": true})").contains("quant_method"));
}

TEST(Modules, NamesOfATensor) {
  const Tensor q{.role = TensorRole::attn_q, .owner = TensorRole::attn_q, .layer = 3};
  const auto names = hf::module_names(q);
  EXPECT_NE(std::ranges::find(names.own, "layers.3.self_attn.q_proj"), names.own.end());
  EXPECT_NE(std::ranges::find(names.fused, "layers.3.self_attn.qkv_proj"), names.fused.end());
  EXPECT_EQ(hf::without_prefix("model.language_model.layers.3.mlp"), "layers.3.mlp");
  EXPECT_EQ(hf::without_prefix("vision_tower.layers.3"), "vision_tower.layers.3");
}

// A name stands for what was read: bound to the graph it gives each tensor the storage
// that the configuration gives it.
TEST(PublishedFormats, SayWhatTheConfigurationSays) {
  const auto root = std::filesystem::path(CAIRN_SOURCE_DIR) / ".." / "shared" / "models" / "hf";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "no published files here";
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const auto spec = load_hf(entry.path().string());
    if (!spec || spec->published_format.empty()) continue;
    const Graph graph = build_graph(*spec);
    const Document document =
        value_of(load_json((entry.path() / "config.json").string(), {}, JsonDialect::python));
    const auto part = document.root().find_value("text_config");
    const bool own = document.root().find_value("quantization_config").has_value();
    auto quantisation = value_of(hf::read_quantisation(own || !part ? document.root() : *part));
    if (!quantisation) continue;
    const auto storage = value_of(quantisation->assign(graph));
    const BoundWeights bound = value_of(facts().formats.bind(graph, spec->published_format));
    for (std::size_t i = 0; i < storage.size(); ++i) {
      if (!storage[i].empty()) {
        EXPECT_EQ(bound.types[i]->name, storage[i])
            << entry.path() << role_name(graph.tensors[i].role);
      } else {
        EXPECT_EQ(bound.types[i]->block_weights, 1) << entry.path();
        EXPECT_TRUE(bound.types[i]->scales.empty()) << entry.path();
      }
    }
    ++compared;
  }
  EXPECT_GE(compared, 25);
}

// The catalogue says of each variant what its configuration says.
TEST(PublishedFormats, AreThoseOfTheCatalogue) {
  const auto root = std::filesystem::path(CAIRN_SOURCE_DIR) / ".." / "shared" / "models" / "hf";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "no published files here";
  const ModelCatalogue catalogue = value_of(ModelCatalogue::load(facts().image));
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    std::string id = entry.path().filename().string();
    id.replace(id.find("__"), 2, "/");
    const auto file = load_hf(entry.path().string());
    const auto known = catalogue.find(id);
    // Some files were stored without the part that says how they are quantised.
    const std::string_view own = file ? std::string_view(file->published_format) : "";
    if (!known || own.empty() || own == "bf16") continue;
    EXPECT_EQ(known->published_format, file->published_format) << id;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace cairn
