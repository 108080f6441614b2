#include "cairn/predict/deployment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fixture.h"

namespace cairn {
namespace {

using test::accelerator;
using test::engine;
using test::knowledge;
using test::model;
using test::must;
using test::request;

Error refusal(const std::string& name, const DeploymentRequest& r) {
  auto d = resolve(model(name), r, knowledge());
  if (d) throw std::runtime_error("not refused");
  return std::move(d).error();
}

TEST(Resolve, RefusesAnEngineThatDoesNotRunOnTheCard) {
  // vLLM runs on gfx90a and newer, not on RDNA 2
  // (https://docs.vllm.ai/en/v0.14.0/getting_started/installation/gpu/).
  const Error e = refusal("llama-3.1-8b", request("rx-6800", "vllm"));
  EXPECT_EQ(e.kind, ErrorKind::unsupported);
  EXPECT_EQ(e.field, "vllm");
  EXPECT_EQ(e.value, "rx-6800");
  EXPECT_EQ(refusal("llama-3.1-8b", request("epyc-9654", "llama.cpp")).kind,
            ErrorKind::unsupported);
}

TEST(Resolve, RefusesFormatsOfTheOtherKind) {
  EXPECT_EQ(refusal("llama-3.1-8b", request("mi300x", "vllm", "q4_k_m")).value, "q4_k_m");
  EXPECT_EQ(refusal("llama-3.1-8b", request("mi300x", "llama.cpp", "awq-int4")).kind,
            ErrorKind::unsupported);
  EXPECT_EQ(refusal("llama-3.1-8b", request("mi300x", "llama.cpp", "q9_k")).kind,
            ErrorKind::not_found);
}

TEST(Resolve, RefusesFilesThatTheEngineDoesNotRead) {
  ModelInput gguf = model("llama-3.1-8b");
  gguf.stored = must(knowledge().weight_formats.bind(*gguf.graph, "q4_k_m"));
  const auto vllm = resolve(gguf, request("mi300x", "vllm"), knowledge());
  ASSERT_FALSE(vllm.has_value());
  EXPECT_EQ(vllm.error().kind, ErrorKind::unsupported);
  EXPECT_TRUE(resolve(gguf, request("mi300x", "llama.cpp"), knowledge()).has_value());
}

TEST(Resolve, RefusesCacheFormatsOfOtherEngines) {
  DeploymentRequest r = request("mi300x", "vllm");
  r.kv = "q8_0";
  const Error e = refusal("llama-3.1-8b", r);
  EXPECT_EQ(e.kind, ErrorKind::unsupported);
  EXPECT_EQ(e.value, "q8_0");
  EXPECT_NE(e.expected.find("fp8"), std::string::npos);
  r = request("mi300x", "llama.cpp");
  r.kv = "q8_0";
  EXPECT_EQ(must(resolve(model("llama-3.1-8b"), r, knowledge())).kv.name, "q8_0");
  r.kv = "f16";
  EXPECT_EQ(must(resolve(model("llama-3.1-8b"), r, knowledge())).kv.name, "fp16");
}

TEST(Resolve, RefusesLayoutsTheEngineOrTheModelDoesNotHave) {
  const Error split = refusal("llama-3.1-8b", request("mi300x", "llama.cpp", "", {.tp = 2}));
  EXPECT_EQ(split.kind, ErrorKind::unsupported);
  EXPECT_EQ(split.field, "llama.cpp");
  // Qwen2.5 0.5B has 14 heads (https://huggingface.co/Qwen/Qwen2.5-0.5B/blob/main/config.json).
  const Error heads = refusal("qwen2.5-0.5b", request("mi300x", "vllm", "", {.tp = 4}));
  EXPECT_EQ(heads.kind, ErrorKind::unsupported);
  EXPECT_EQ(heads.field, "tp");
  EXPECT_EQ(refusal("qwen2.5-0.5b", request("mi300x", "vllm", "", {.tp = 0})).kind,
            ErrorKind::bad_input);
}

TEST(Defaults, FormatFollowsEngineAndPublication) {
  EXPECT_EQ(default_format(model("llama-3.1-8b"), engine("llama.cpp")), "q4_k_m");
  EXPECT_EQ(default_format(model("llama-3.1-8b"), engine("vllm")), "bf16");
  EXPECT_EQ(default_format(model("gpt-oss-20b"), engine("llama.cpp")), "mxfp4_moe");
  EXPECT_EQ(default_format(model("gpt-oss-20b"), engine("vllm")), "mxfp4");
}

TEST(Defaults, EngineFollowsFormatThenCard) {
  const ModelInput m = model("llama-3.1-8b");
  const auto chosen = [&](std::string_view weights, std::string_view gpu) {
    return must(default_engine(m, weights, accelerator(gpu), knowledge()))->id;
  };
  EXPECT_EQ(chosen("", "rx-7900-xtx"), "llama.cpp");
  EXPECT_EQ(chosen("", "rtx-4090"), "llama.cpp");
  EXPECT_EQ(chosen("", "ryzen-ai-max-395"), "llama.cpp");
  EXPECT_EQ(chosen("", "mi300x"), "vllm");
  EXPECT_EQ(chosen("", "h100-sxm"), "vllm");
  EXPECT_EQ(chosen("q4_k_m", "mi300x"), "llama.cpp");
  EXPECT_EQ(chosen("awq-int4", "rx-7900-xtx"), "vllm");
}

// A file of Qwen 3 8B's sizes under another name: as Qwen 3 it has that model's parameters.
TEST(FindModel, AFileOfAnUnknownArchitectureIsReadAsARelative) {
  const auto path = std::filesystem::temp_directory_path() / "cairn_like_test.json";
  std::ofstream(path) << R"({"architectures": ["FancyForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
    "max_position_embeddings": 40960, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16", "moe_trick": 3})";
  EXPECT_EQ(find_model(path.string(), knowledge()).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(find_model(path.string(), knowledge(), "no-such").error().field, "--like");
  EXPECT_EQ(find_model("qwen3-8b", knowledge(), "llama-3-8b").error().field, "--like");
  const ModelInput like = must(find_model(path.string(), knowledge(), "qwen3-0.6b"));
  EXPECT_EQ(count_parameters(*like.graph).total, count_parameters(*model("qwen3-8b").graph).total);
  EXPECT_EQ(like.like, "Qwen3ForCausalLM");
  ASSERT_EQ(notes_of(like).size(), 2U);
  EXPECT_EQ(notes_of(like)[1].values.front(), "moe_trick");
  const Deployment d = must(resolve(like, request("mi300x", "vllm"), knowledge()));
  const Prediction p = must(predict(d, {}, {}, knowledge()));
  EXPECT_EQ(p.metrics.front().basis.kind, BasisKind::transferred);
  EXPECT_EQ(p.notes.front(), notes_of(like).front());
  EXPECT_TRUE(notes_of(model("qwen3-8b")).empty());
  std::filesystem::remove(path);
}

// The same by the name of a family, a model_type or an architecture, in any case; a name that
// is none of them is told the nearest.
TEST(FindModel, ARelativeIsNamedByItsFamilyToo) {
  const auto path = std::filesystem::temp_directory_path() / "cairn_family_test.json";
  std::ofstream(path) << R"({"architectures": ["FancyForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
    "tie_word_embeddings": false})";
  const std::int64_t total = count_parameters(*model("llama-3-8b").graph).total;
  for (const char* const name : {"llama", "Llama", "LlamaForCausalLM", "llamaforcausallm"}) {
    const ModelInput like = must(find_model(path.string(), knowledge(), name));
    EXPECT_EQ(like.like, "LlamaForCausalLM") << name;
    EXPECT_EQ(count_parameters(*like.graph).total, total) << name;
  }
  // A family of the catalogue whose models are parts of multimodal ones.
  EXPECT_EQ(must(find_model(path.string(), knowledge(), "gemma3")).like, "Gemma3ForCausalLM");
  const auto refused = find_model(path.string(), knowledge(), "lama");
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
  EXPECT_NE(refused.error().expected.find("llama"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(FindModel, UnknownNamesAreToldTheNearest) {
  const auto m = find_model("llama-3.1-8bb", knowledge());
  ASSERT_FALSE(m.has_value());
  EXPECT_EQ(m.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(find_model("./no/such/model.gguf", knowledge()).has_value());
}

}  // namespace
}  // namespace cairn
