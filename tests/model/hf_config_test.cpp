#include "cairn/model/hf_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "cairn/data/json.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/graph.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

Result<ModelSpec> read(const std::string& text) {
  const Document document = value_of(parse_json(text, "config.json"));
  return spec_from_hf_config(document.root(), "test/model");
}

constexpr const char* kLlama = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_size": 64,
  "intermediate_size": 160,
  "num_hidden_layers": 3,
  "num_attention_heads": 8,
  "num_key_value_heads": 2,
  "max_position_embeddings": 512,
  "vocab_size": 100,
  "rms_norm_eps": 1e-05,
  "torch_dtype": "bfloat16"
})";

// kLlama with one line replaced or added.
std::string with(std::string_view key, std::string_view value) {
  std::string text = kLlama;
  const std::string quoted = "\"" + std::string(key) + "\": ";
  const std::string line = quoted + std::string(value);
  if (const auto at = text.find(quoted); at != std::string::npos) {
    const auto end = text.find_first_of(key == "architectures" ? "]" : ",\n", at);
    return text.replace(at, end - at + (key == "architectures" ? 1 : 0), line);
  }
  return text.replace(1, 0, line + ",");
}

TEST(HfConfig, ReadsALlama) {
  const ModelSpec s = value_of(read(kLlama));
  EXPECT_EQ(s.id, "test/model");
  EXPECT_EQ(s.architecture, "LlamaForCausalLM");
  EXPECT_EQ(s.family, "llama");
  EXPECT_EQ(s.published_format, "bf16");
  EXPECT_FALSE(s.tied_embeddings);
  ASSERT_EQ(s.layers.size(), 3U);
  EXPECT_EQ(s.layers[0].attention.head_dim, 8);
  // Embedding and head, attention of 8 and 2 heads of 8, feed-forward, norms.
  EXPECT_EQ(count_parameters(build_graph(s)).total,
            2 * 100 * 64 + 3 * (2 * 64 * 64 + 2 * 64 * 16 + 3 * 64 * 160 + 2 * 64) + 64);
}

struct Refused {
  const char* key;
  const char* value;
  const char* field;
  ErrorKind kind;
};

TEST(HfConfig, RefusesBrokenFilesByField) {
  const std::vector<Refused> cases = {
      {"architectures", "[\"NoSuchModel\"]", "architectures", ErrorKind::unsupported},
      {"architectures", "[7]", "architectures", ErrorKind::bad_input},
      {"hidden_size", "0", "hidden_size", ErrorKind::bad_input},
      {"hidden_size", "-64", "hidden_size", ErrorKind::bad_input},
      {"hidden_size", "1048577", "hidden_size", ErrorKind::bad_input},
      {"hidden_size", "\"64\"", "hidden_size", ErrorKind::bad_input},
      {"hidden_size", "64.5", "hidden_size", ErrorKind::bad_input},
      {"hidden_size", "null", "hidden_size", ErrorKind::bad_input},
      {"num_hidden_layers", "1025", "num_hidden_layers", ErrorKind::bad_input},
      {"num_hidden_layers", "1e300", "num_hidden_layers", ErrorKind::bad_input},
      {"vocab_size", "16777217", "vocab_size", ErrorKind::bad_input},
      {"num_attention_heads", "7", "num_attention_heads", ErrorKind::bad_input},
      {"num_key_value_heads", "3", "kv_heads", ErrorKind::bad_input},
      {"num_key_value_heads", "9", "kv_heads", ErrorKind::bad_input},
      {"attention_bias", "3", "attention_bias", ErrorKind::bad_input},
      {"torch_dtype", "\"int3\"", "torch_dtype", ErrorKind::unsupported},
      // Fields that change the shape in a way the family does not know.
      {"num_experts", "8", "num_experts", ErrorKind::unsupported},
      {"sliding_window", "128", "sliding_window", ErrorKind::unsupported},
      {"mamba_d_state", "16", "mamba_d_state", ErrorKind::unsupported},
      {"index_topk", "2048", "index_topk", ErrorKind::unsupported},
      {"cross_attention_layers", "[1]", "cross_attention_layers", ErrorKind::unsupported},
      {"quantization_config", "{\"quant_method\": \"hqq\"}", "quantization_config.quant_method",
       ErrorKind::unsupported},
      {"layer_types", "[\"full_attention\"]", "layer_types", ErrorKind::bad_input},
      {"layer_types", "[\"full_attention\", \"linear_attention\", \"full_attention\"]",
       "layer_types", ErrorKind::unsupported},
  };
  for (const Refused& c : cases) {
    const auto spec = read(with(c.key, c.value));
    ASSERT_FALSE(spec) << c.key << " " << c.value;
    EXPECT_EQ(spec.error().field, c.field) << spec.error().to_string();
    EXPECT_EQ(spec.error().kind, c.kind) << spec.error().to_string();
    EXPECT_TRUE(spec.error().where.starts_with("config.json:")) << spec.error().to_string();
  }
}

TEST(HfConfig, FieldsThatAreOffAreNoObstacle) {
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"num_experts", "0"},
                                          {"sliding_window", "null"},
                                          {"mamba_d_state", "null"},
                                          {"cross_attention_layers", "[]"},
                                          {"use_cache", "true"},
                                          {"head_dim", "8"}}) {
    const auto spec = read(with(key, value));
    EXPECT_TRUE(spec) << spec.error().to_string();
  }
}

TEST(HfConfig, RefusesWhatIsNoConfiguration) {
  EXPECT_FALSE(read("[]"));
  EXPECT_FALSE(read("3"));
  EXPECT_FALSE(read("{}"));
  EXPECT_FALSE(read(R"({"architectures": []})"));
  EXPECT_FALSE(read(R"({"architectures": ["Gemma3ForConditionalGeneration"]})"));
  EXPECT_FALSE(read(R"({"architectures": ["Gemma3ForConditionalGeneration"], "text_config": 1})"));
  EXPECT_FALSE(load_hf("/no/such/folder"));
}

TEST(HfConfig, AnUnknownArchitectureIsReadAsARelative) {
  const std::string text = with("architectures", "[\"FancyForCausalLM\"]");
  const Document document =
      value_of(parse_json(text.substr(0, 1) + "\"moe_trick\": 3," + text.substr(1), "config.json"));
  const auto refused = spec_from_hf_config(document.root(), "test/model");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().expected.find("--like"), std::string::npos);
  EXPECT_NE(refused.error().expected.find("LlamaForCausalLM"), std::string::npos);
  Relative llama{.architecture = "LlamaForCausalLM", .family = "llama", .ignored = {}};
  const ModelSpec s = value_of(spec_from_hf_config(document.root(), "test/model", &llama));
  EXPECT_EQ(s.architecture, "FancyForCausalLM");
  EXPECT_EQ(s.family, "llama");
  EXPECT_EQ(llama.ignored, std::vector<std::string>{"moe_trick"});
  EXPECT_EQ(s.layers, value_of(read(kLlama)).layers);
  // One that is known is not likened to another.
  const Document known = value_of(parse_json(kLlama, "config.json"));
  EXPECT_EQ(spec_from_hf_config(known.root(), "test/model", &llama).error().field, "--like");
}

TEST(HfConfig, TheTextPartOfAMultimodalModel) {
  // What the nested part leaves out is the default of Gemma3TextConfig.
  const ModelSpec s = value_of(read(R"({
    "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
    "torch_dtype": "bfloat16", "vision_config": {"hidden_size": 1152},
    "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
                    "num_hidden_layers": 34, "sliding_window": 1024}})"));
  EXPECT_TRUE(s.text_part);
  EXPECT_TRUE(s.tied_embeddings);
  EXPECT_EQ(s.vocabulary, 262208);
  EXPECT_EQ(s.layers[0].attention.heads, 8);
  EXPECT_EQ(s.layers[4].attention.window, 1024);
  EXPECT_EQ(s.layers[5].attention.kind, AttentionKind::full);
  EXPECT_EQ(s.published_format, "bf16");
}

TEST(HfConfig, ABaseModelHasNoHead) {
  const std::string text = with("architectures", "[\"LlamaModel\"]");
  const ModelSpec s = value_of(read(text));
  EXPECT_FALSE(s.output_head);
  EXPECT_EQ(count_parameters(build_graph(s)).total, 136128 - 100 * 64);
}

std::string format_of(const std::string& quantisation) {
  const auto spec = read(with("quantization_config", quantisation));
  return spec ? spec->published_format : spec.error().to_string();
}

TEST(PublishedFormat, OfQuantisedCheckpoints) {
  EXPECT_EQ(format_of(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})"), "fp8-block");
  EXPECT_EQ(format_of(R"({"quant_method": "fp8", "weight_block_size": null})"), "fp8");
  EXPECT_EQ(format_of(R"({"quant_method": "fbgemm_fp8"})"), "fbgemm-fp8");
  EXPECT_EQ(format_of(R"({"quant_method": "mxfp4"})"), "mxfp4");
  EXPECT_EQ(format_of(R"({"quant_method": "awq", "bits": 4, "group_size": 128})"), "awq-int4");
  EXPECT_EQ(format_of(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})"), "gptq-int4");
  EXPECT_EQ(format_of(R"({"quant_algo": "NVFP4"})"), "nvfp4");
  EXPECT_EQ(format_of(R"({"quant_method": "bitsandbytes", "load_in_4bit": true,
                          "bnb_4bit_quant_type": "nf4"})"),
            "bnb-nf4");
  EXPECT_EQ(format_of(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
      {"weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}})"),
            "fp8-channel");
  EXPECT_EQ(format_of(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
      {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32}}}})"),
            "int4");
  EXPECT_EQ(format_of(R"({"quant_method": "quark", "global_quant_config": {"weight":
      {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}}})"),
            "mxfp4");
  EXPECT_TRUE(format_of(R"({"quant_method": "gptq", "bits": 5})").contains("bits"));
  EXPECT_TRUE(format_of(R"({"quant_method": "fp8", "weight_block_size": [64, 64]})")
                  .contains("weight_block_size"));
  EXPECT_TRUE(format_of(R"({"quant_algo": "MIXED_PRECISION"})").contains("quant_algo"));
}

TEST(LoadHf, NamesAModelByItsFolder) {
  const auto base = std::filesystem::temp_directory_path() / "cairn_load_hf_test";
  std::filesystem::remove_all(base);
  const auto write = [&](const std::filesystem::path& folder, const std::string& name,
                         const std::string& text) {
    std::filesystem::create_directories(base / folder);
    std::ofstream(base / folder / name) << text;
    return (base / folder).string();
  };
  EXPECT_EQ(value_of(load_hf(write("Tiny-1B", "config.json", kLlama))).id, "Tiny-1B");
  EXPECT_EQ(value_of(load_hf((base / "Tiny-1B" / "config.json").string())).id, "Tiny-1B");
  const std::string cached =
      write("models--org--Tiny-1B/snapshots/0123abcd", "config.json", kLlama);
  EXPECT_EQ(value_of(load_hf(cached)).id, "org/Tiny-1B");
  // ModelOpt keeps the quantisation in a file of its own.
  write("Tiny-1B", "hf_quant_config.json", R"({"quantization": {"quant_algo": "NVFP4"}})");
  EXPECT_EQ(value_of(load_hf((base / "Tiny-1B").string())).published_format, "nvfp4");
  std::filesystem::remove_all(base);
}

// ---- Published files, where they are at hand.

std::vector<std::filesystem::path> shared_folders() {
  const auto root = std::filesystem::path(CAIRN_SOURCE_DIR) / ".." / "shared" / "models" / "hf";
  std::vector<std::filesystem::path> folders;
  if (!std::filesystem::exists(root)) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

TEST(SharedConfigs, AreReadOrRefusedWithAField) {
  const auto folders = shared_folders();
  if (folders.empty()) GTEST_SKIP() << "no published files here";
  int read_well = 0;
  std::map<std::string, int> refused;
  for (const auto& folder : folders) {
    const auto spec = load_hf(folder.string());
    if (spec) {
      EXPECT_GT(count_parameters(build_graph(*spec)).total, 0);
      ++read_well;
      continue;
    }
    const Error& e = spec.error();
    EXPECT_FALSE(e.message.empty()) << folder;
    // A pipeline has no config.json of its own, and "Infinity" is no JSON.
    const bool file =
        e.kind == ErrorKind::not_found || e.kind == ErrorKind::io || e.message == "not valid JSON";
    EXPECT_TRUE(file || !e.field.empty()) << e.to_string();
    ++refused[file ? e.message : e.field + ": " + e.message + ": " + e.value];
  }
  EXPECT_GE(read_well, 180);
  for (const auto& [why, count] : refused)
    std::cout << "[ refused  ] " << count << " " << why << "\n";
}

TEST(SharedConfigs, AgreeWithTheCatalogue) {
  const auto folders = shared_folders();
  if (folders.empty()) GTEST_SKIP() << "no published files here";
  const ModelCatalogue catalogue = value_of(ModelCatalogue::load(test::facts().image));
  int compared = 0;
  for (const auto& folder : folders) {
    std::string id = folder.filename().string();
    id.replace(id.find("__"), 2, "/");
    const auto file = load_hf(folder.string());
    const auto entry = catalogue.find(id);
    // An abridged file, without the heads that layers with a window have.
    if (!file || !entry || id.starts_with("stepfun-ai/")) continue;
    EXPECT_EQ(entry->layers, file->layers) << id;
    EXPECT_EQ(entry->hidden, file->hidden) << id;
    EXPECT_EQ(entry->vocabulary, file->vocabulary) << id;
    EXPECT_EQ(entry->tied_embeddings, file->tied_embeddings) << id;
    // Some files describe the language model alone.
    const ParameterCount listed = count_parameters(build_graph(*entry));
    const ParameterCount read = count_parameters(build_graph(*file));
    EXPECT_EQ(listed.total - listed.parts, read.total - read.parts) << id;
    EXPECT_TRUE(listed.parts == read.parts || read.parts == 0 || listed.parts == 0) << id;
    ++compared;
  }
  EXPECT_GE(compared, 150);
}

}  // namespace
}  // namespace cairn
