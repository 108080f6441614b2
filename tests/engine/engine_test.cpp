#include "cairn/engine/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "cairn/data/yaml.h"

namespace cairn {
namespace {

const EngineCatalogue& catalogue() {
  static const EngineCatalogue kCatalogue = [] {
    auto image = Image::open(CAIRN_IMAGE_FILE);
    if (!image) throw std::runtime_error(image.error().to_string());
    auto engines = EngineCatalogue::load(*image);
    if (!engines) throw std::runtime_error(engines.error().to_string());
    return *std::move(engines);
  }();
  return kCatalogue;
}

const EngineInfo& engine(std::string_view name) {
  const auto found = catalogue().find(name);
  EXPECT_TRUE(found) << found.error().to_string();
  return **found;
}

TEST(EngineCatalogue, FindsByIdAndAlias) {
  EXPECT_EQ(engine("llama.cpp").id, "llama.cpp");
  EXPECT_EQ(engine("llama.cpp-rocm").id, "llama.cpp");
  EXPECT_EQ(engine("LLAMA_CPP").id, "llama.cpp");
  EXPECT_EQ(engine("vulkan").id, "llama.cpp-vulkan");
  EXPECT_EQ(engine("vLLM").id, "vllm");
}

TEST(EngineCatalogue, NamesTheNearestOfAnUnknownEngine) {
  const auto found = catalogue().find("vlm");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_NE(found.error().expected.find("vllm"), std::string::npos);
}

// Defaults that the engines document themselves: llama-bench's README (-b 2048,
// -ub 512, -ctk f16) and vLLM's pull requests 16158 and 17073.
TEST(EngineReference, LlamaCppTakesTheDefaultsOfLlamaBench) {
  const EngineInfo& e = engine("llama.cpp");
  EXPECT_EQ(e.reference.ubatch, 512);
  EXPECT_EQ(e.reference.batch, 2048);
  EXPECT_EQ(e.reference.kv_format, "fp16");
  EXPECT_TRUE(e.reference.flash_attention);
  EXPECT_EQ(e.split, SplitMode::layer);
  EXPECT_TRUE(e.supports_kv("q8_0"));
}

TEST(EngineReference, VllmTakesMoreTokensOnLargeDevices) {
  const EngineInfo& e = engine("vllm");
  const EngineConfig large = e.reference_on(gib(192), "mi300x");
  EXPECT_EQ(large.max_batched_tokens, 8192);
  EXPECT_EQ(large.max_sequences, 1024);
  const EngineConfig a100 = e.reference_on(gib(80), "a100-80gb-sxm");
  EXPECT_EQ(a100.max_batched_tokens, 2048);
  EXPECT_EQ(a100.max_sequences, 256);
  const EngineConfig small = e.reference_on(gib(24), "rx-7900-xtx");
  EXPECT_EQ(small.max_batched_tokens, 2048);
  EXPECT_EQ(small.memory_fraction, 0.92);
  EXPECT_EQ(small.block_tokens, 16);
}

TEST(EngineInfo, SaysWhereItRuns) {
  EXPECT_TRUE(engine("vllm").supports({"amd", "cdna3", "gfx942"}));
  EXPECT_FALSE(engine("vllm").supports({"amd", "rdna2", "gfx1030"}));
  EXPECT_FALSE(engine("vllm").supports({"intel", "xe2"}));
  EXPECT_TRUE(engine("llama.cpp").supports({"amd", "rdna2"}));
  EXPECT_TRUE(engine("llama.cpp-vulkan").supports_vendor("intel"));
}

TEST(EngineInfo, HasOverheadsForEveryVendor) {
  for (const EngineInfo& e : catalogue().all()) {
    for (const std::string& vendor : e.vendors) {
      EXPECT_GT(e.overheads_on(vendor, "").runtime, Bytes(0)) << e.id << " " << vendor;
    }
  }
  // vLLM's own print on MI300X: non_torch_memory takes 0.66GiB.
  EXPECT_NEAR(in_gib(engine("vllm").overheads_on("amd", "cdna3").runtime), 0.66, 0.005);
  EXPECT_EQ(engine("vllm").overheads_on("apple", "m4").runtime, Bytes(0));
}

TEST(EngineCatalogue, EveryFactOfARecordHasASource) {
  for (const EngineInfo& e : catalogue().all()) {
    const Node record = catalogue().record(e);
    const auto sources = record.required("sources");
    ASSERT_TRUE(sources);
    for (const std::string_view part : {"supports", "reference", "memory"}) {
      const auto facts = record.required(part);
      ASSERT_TRUE(facts) << e.id;
      for (std::uint32_t i = 0; i < facts->size(); ++i) {
        const Member fact = facts->member(i);
        const auto source = fact.value.get<std::string_view>("source");
        ASSERT_TRUE(source) << e.id << ": " << fact.key;
        EXPECT_TRUE(sources->find(*source)) << e.id << ": " << *source;
      }
    }
  }
}

// "gpu_memory_utilization" 0.9 until the graphs were counted, 0.92 since
// (https://docs.vllm.ai/en/v0.14.0/configuration/engine_args/, and the stable pages).
TEST(EngineReleases, OlderOnesDiffer) {
  EXPECT_EQ(engine("vllm").reference.memory_fraction, 0.92);
  EXPECT_EQ(engine("vllm@0.21.0").reference.memory_fraction, 0.92);
  EXPECT_EQ(engine("vllm@0.20.2rc1").reference.memory_fraction, 0.9);
  EXPECT_EQ(engine("vllm@v0.6.4.post1").reference.memory_fraction, 0.9);
  EXPECT_EQ(engine("vllm@0.20").memory.hidden_copies, 4);
  EXPECT_EQ(engine("vllm@0.6.4").memory.hidden_copies, 3);
  EXPECT_EQ(engine("vllm@0.6.4").id, "vllm");
  EXPECT_TRUE(engine("vllm").overheads_on("nvidia", "hopper").graphs_counted);
  EXPECT_FALSE(engine("vllm@0.11").overheads_on("nvidia", "hopper").graphs_counted);
  const auto none = catalogue().find("vllm@newest");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().value, "newest");
}

// vLLM's list of ROCm targets has no gfx906, gfx908 and gfx1102
// (docs/getting_started/installation/gpu.rocm.inc.md); others keep it running there.
TEST(EngineInfo, OffersWhatItsMakersSupport) {
  const EngineInfo& vllm = engine("vllm");
  EXPECT_TRUE(vllm.offered_on({"amd", "cdna2", "gfx90a"}));
  EXPECT_TRUE(vllm.offered_on({"amd", "rdna3", "gfx1100"}));
  for (const DeviceKind& device :
       {DeviceKind{"amd", "gcn5.1", "gfx906"}, DeviceKind{"amd", "cdna1", "gfx908"},
        DeviceKind{"amd", "rdna3", "gfx1102"}}) {
    EXPECT_FALSE(vllm.offered_on(device)) << device.target;
    EXPECT_TRUE(vllm.supports(device)) << device.target;
  }
  EXPECT_FALSE(vllm.supports({"amd", "rdna2", "gfx1030"}));
  EXPECT_FALSE(engine("tensorrt-llm").supports({"amd", "cdna3", "gfx942"}));
  EXPECT_TRUE(engine("tensorrt-llm").offered_on({"nvidia", "hopper", "sm_90"}));
}

// TensorRT-LLM's Hardware Support Matrix (docs/source/features/quantization.md), vLLM's
// platforms/rocm.py, SGLang's Platform Compatibility.
TEST(EngineInfo, RunsFormatsWhereItHasKernels) {
  const DeviceKind mi300x{"amd", "cdna3", "gfx942"};
  const DeviceKind mi355x{"amd", "cdna4", "gfx950"};
  const DeviceKind mi210{"amd", "cdna2", "gfx90a"};
  const DeviceKind rx7900{"amd", "rdna3", "gfx1100"};
  const DeviceKind h100{"nvidia", "hopper", "sm_90"};
  const DeviceKind b200{"nvidia", "blackwell", "sm_100"};
  const DeviceKind rtx5090{"nvidia", "blackwell", "sm_120"};
  const DeviceKind a100{"nvidia", "ampere", "sm_80"};
  const DeviceKind t4{"nvidia", "turing", "sm_75"};
  for (const EngineInfo& e : catalogue().all()) {
    if (e.formats.empty()) continue;  // llama.cpp: everything it reads
    for (const DeviceKind& amd : {mi300x, mi355x, mi210, rx7900}) {
      EXPECT_FALSE(e.runs_format("nvfp4", amd)) << e.id << " " << amd.target;
    }
  }
  const EngineInfo& vllm = engine("vllm");
  EXPECT_TRUE(vllm.runs_format("fp8", mi300x));
  EXPECT_FALSE(vllm.runs_format("fp8", mi210));
  EXPECT_FALSE(vllm.runs_format("fp8-block", rx7900));
  EXPECT_TRUE(vllm.runs_format("fp8", a100));  // weights alone
  EXPECT_FALSE(vllm.runs_format("bf16", t4));
  EXPECT_TRUE(vllm.runs_format("mxfp6", mi355x));
  EXPECT_FALSE(vllm.runs_format("mxfp6", mi300x));
  const EngineInfo& trt = engine("tensorrt-llm");
  EXPECT_TRUE(trt.runs_format("fp8-block", b200));
  EXPECT_FALSE(trt.runs_format("fp8-block", rtx5090));
  EXPECT_FALSE(trt.runs_format("nvfp4", h100));
  EXPECT_FALSE(trt.runs_format("fp8", a100));
  EXPECT_FALSE(engine("sglang").runs_format("nvfp4", h100));
}

// SGLang's table: below 35 GiB chunks of 2048 tokens and 24 captured sequences, 80 from
// four devices on; from 160 GiB 16384 and 512 (_handle_gpu_memory_settings).
TEST(EngineReference, SglangGoesByTheDevice) {
  const EngineInfo& e = engine("sglang");
  EXPECT_EQ(e.reference_on(gib(32), "ai-pro-r9700").max_batched_tokens, 2048);
  EXPECT_EQ(e.reference_on(gib(32), "ai-pro-r9700", 2).graph_batch, 24);
  EXPECT_EQ(e.reference_on(gib(32), "ai-pro-r9700", 4).graph_batch, 80);
  EXPECT_EQ(e.reference_on(gib(192), "mi300x").max_batched_tokens, 16384);
  EXPECT_EQ(e.reference_on(gib(192), "mi300x", 8).graph_batch, 512);
}

constexpr std::string_view kRecord = R"(id: x
name: X
family: FAMILY
aliases: []
vendors: [amd]
split: layer
format_kinds: [gguf]
kv_formats: [fp16]
reference:
  version: {value: "1"}
  kv_format: {value: fp16}
  flash_attention: {value: true}
  graph_capture: {value: true}
  ubatch: {value: UBATCH}
  batch: {value: 2048}
  context_pad: {value: 256}
  full_window_cache: {value: false}
  reserve_all_outputs: {value: true}
overheads: []
memory: {sigma: {value: 0.1}}
)";

Result<EngineCatalogue> load_with(std::string family, std::string ubatch) {
  std::string text(kRecord);
  text.replace(text.find("FAMILY"), 6, family);
  text.replace(text.find("UBATCH"), 6, ubatch);
  auto document = parse_yaml(text, "engines/x.yaml");
  EXPECT_TRUE(document) << document.error().to_string();
  std::vector<Document> documents;
  documents.push_back(*std::move(document));
  const std::string path = ::testing::TempDir() + "engine_test.image";
  EXPECT_TRUE(write_image(path, documents));
  auto image = Image::open(path);
  EXPECT_TRUE(image);
  return EngineCatalogue::load(*image);
}

TEST(EngineCatalogue, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(load_with("llama.cpp", "512"));
  const auto family = load_with("exllama", "512");
  ASSERT_FALSE(family);
  EXPECT_EQ(family.error().where, "engines/x.yaml:3");
  EXPECT_EQ(family.error().value, "exllama");
  const auto ubatch = load_with("llama.cpp", "0");
  ASSERT_FALSE(ubatch);
  EXPECT_EQ(ubatch.error().where, "engines/x.yaml:14");
}

// By the registries of vLLM 0.33.0 (which says that Mllama ran until 0.10.2) and SGLang 0.5.23
// and by the converter of llama.cpp.
TEST(EngineModels, RunTheArchitecturesOfTheirOwnLists) {
  EXPECT_TRUE(engine("vllm").runs_model("DeepseekV4ForCausalLM"));
  EXPECT_FALSE(engine("vllm").runs_model("Rwkv6ForCausalLM"));
  EXPECT_FALSE(engine("vllm").runs_model("Phi3SmallForCausalLM"));
  EXPECT_TRUE(engine("sglang").runs_model("Phi3SmallForCausalLM"));
  EXPECT_TRUE(engine("llama.cpp").runs_model("Rwkv6ForCausalLM"));
  EXPECT_TRUE(engine("llama.cpp").runs_model("KimiK3ForConditionalGeneration"));
  EXPECT_FALSE(engine("llama.cpp").runs_model("LongcatFlashForCausalLM"));
  EXPECT_FALSE(engine("llama.cpp-vulkan").runs_model("MllamaForConditionalGeneration"));
  EXPECT_FALSE(engine("tensorrt-llm").runs_model("MambaForCausalLM"));
  EXPECT_TRUE(engine("transformers").runs_model("Rwkv6ForCausalLM"));
}

TEST(EngineModels, OlderReleasesRanWhatTheNewestDropped) {
  EXPECT_FALSE(engine("vllm").runs_model("MllamaForConditionalGeneration"));
  EXPECT_FALSE(engine("vllm@0.11").runs_model("MllamaForConditionalGeneration"));
  EXPECT_TRUE(engine("vllm@0.10.2").runs_model("MllamaForConditionalGeneration"));
  EXPECT_TRUE(engine("vllm@0.6.4").runs_model("MllamaForConditionalGeneration"));
  EXPECT_FALSE(engine("vllm@0.24").runs_model("QWenLMHeadModel"));
  EXPECT_TRUE(engine("vllm@0.23.0").runs_model("QWenLMHeadModel"));
}

// Gemma 3 came with b4875 (https://github.com/ggml-org/llama.cpp/issues/12345), GLM-4.5 with
// b6085 (https://github.com/oobabooga/textgen/issues/7177), Qwen3-Next with b7186
// (https://github.com/ollama/ollama/issues/12349).
TEST(EngineModels, OlderReleasesOfLlamaCppRunWhatTheyHadLearnt) {
  EXPECT_FALSE(engine("llama.cpp@b4874").runs_model("Gemma3ForCausalLM"));
  EXPECT_TRUE(engine("llama.cpp@b4875").runs_model("Gemma3ForCausalLM"));
  EXPECT_TRUE(engine("llama.cpp-vulkan@b9999").runs_model("Gemma3ForCausalLM"));
  EXPECT_EQ(engine("llama.cpp@b6084").answer_for("Glm4MoeForCausalLM"), RunsModel::no);
  EXPECT_EQ(engine("llama.cpp@b6085").answer_for("Glm4MoeForCausalLM"), RunsModel::yes);
  EXPECT_EQ(engine("llama.cpp-vulkan@7185").answer_for("Qwen3NextForCausalLM"), RunsModel::no);
  EXPECT_EQ(engine("llama.cpp@b4000").answer_for("LlamaForCausalLM"), RunsModel::yes);
  EXPECT_EQ(engine("llama.cpp@b1000").answer_for("LlamaForCausalLM"), RunsModel::unknown);
}

// Qwen3 was proposed on 2025-04-08, after b4875, and run by b5921: between the two it is
// not known which release was the first. Of other classes nothing is known but that the
// newest release has them.
TEST(EngineModels, BetweenAbsentAndPresentNothingIsSaid) {
  EXPECT_EQ(engine("llama.cpp@b4000").answer_for("Qwen3ForCausalLM"), RunsModel::no);
  EXPECT_EQ(engine("llama.cpp@b5200").answer_for("Qwen3ForCausalLM"), RunsModel::unknown);
  EXPECT_EQ(engine("llama.cpp@b5921").answer_for("Qwen3ForCausalLM"), RunsModel::yes);
  EXPECT_EQ(engine("llama.cpp@b4000").answer_for("AfmoeForCausalLM"), RunsModel::unknown);
  EXPECT_EQ(engine("llama.cpp").answer_for("AfmoeForCausalLM"), RunsModel::yes);
  const auto checked = engine("llama.cpp@b5200").check_model("Qwen3ForCausalLM");
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("not known"), std::string::npos);
  EXPECT_NE(checked.error().expected.find("llama.cpp@5921"), std::string::npos);
}

TEST(EngineModels, ARefusalNamesTheList) {
  const auto checked = engine("llama.cpp").check_model("MllamaForConditionalGeneration");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(checked.error().field, "llama.cpp");
  EXPECT_NE(checked.error().expected.find("conversion/__init__.py"), std::string::npos);
}

}  // namespace
}  // namespace cairn
