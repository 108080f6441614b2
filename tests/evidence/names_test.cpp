// What names in evidence stand for.
#include "cairn/evidence/names.h"

#include <gtest/gtest.h>

#include "book_fixture.h"
#include "cairn/data/csv.h"

namespace cairn {
namespace {

using test::evidence;
using test::must;

ModelName model(std::string_view name, std::string_view weights, FileKind files,
                std::optional<double> parameters = {}) {
  return evidence().names.model(
      {.name = name, .weights = weights, .files = files, .parameters_b = parameters});
}

// 68.98 billion parameters are those of Llama 2 70B, 70.55 those of Llama 3 70B, whose
// vocabulary is larger by 96,256 words: 2 x 96256 x 8192 = 1.58e9.
TEST(Names, ParametersTellModelsApart) {
  EXPECT_EQ(model("llama 70B", "q4_k_m", FileKind::gguf, 70.55).model, "meta-llama/Llama-3-70B");
  EXPECT_EQ(model("llama 70B", "q4_k_m", FileKind::gguf).model, "");
  EXPECT_EQ(model("llama 7B", "q4_0", FileKind::gguf, 6.74).model, "meta-llama/Llama-2-7b-hf");
  EXPECT_EQ(model("llama 7B", "q4_0", FileKind::gguf).model, "");
}

TEST(Names, FormatsDependOnTheFile) {
  EXPECT_EQ(model("Qwen/Qwen3-8B", "fp16", FileKind::gguf).format, "f16");
  EXPECT_EQ(model("Qwen/Qwen3-8B", "fp16", FileKind::checkpoint).format, "fp16");
  EXPECT_EQ(model("openai/gpt-oss-120b", "mxfp4", FileKind::gguf).format, "mxfp4_moe");
  EXPECT_EQ(model("openai/gpt-oss-120b", "mxfp4", FileKind::checkpoint).format, "mxfp4");
  // DeepSeek publishes in FP8 by blocks of 128 x 128; AMD's copies have a scale a tensor.
  EXPECT_EQ(model("deepseek-ai/DeepSeek-R1", "fp8", FileKind::checkpoint).format, "fp8-block");
  EXPECT_EQ(model("amd/Llama-3.1-405B-Instruct-FP8-KV", "fp8", FileKind::checkpoint).format, "fp8");
  // Only where the page prints no format is it that of the published checkpoint.
  EXPECT_EQ(model("openai/gpt-oss-20b", "", FileKind::gguf).format, "mxfp4_moe");
  EXPECT_EQ(model("openai/gpt-oss-20b", "q4_k_m", FileKind::gguf).format, "q4_k_m");
  EXPECT_EQ(model("Qwen/Qwen3-8B", "", FileKind::gguf).format, "");
}

TEST(Names, CardsOfUnknownSize) {
  // 16 GiB of weights do not fit a card of 16 GB.
  EXPECT_EQ(evidence().names.card("mi50", 16.1).gpu, "mi50-32gb");
  EXPECT_EQ(evidence().names.card("mi50").gpu, "mi50-16gb");
  const CardName target = evidence().names.card("gfx950-unspecified");
  EXPECT_EQ(target.gpu, "");
  EXPECT_EQ(target.candidates, (std::vector<std::string>{"mi350x", "mi355x"}));
  EXPECT_EQ(evidence().names.card("dgx-spark").gpu, "gb10");
  EXPECT_FALSE(evidence().names.card("apple-m4").note.empty());
}

TEST(Names, Engines) {
  EXPECT_EQ(evidence().names.engine("trt-llm").engine, "tensorrt-llm");
  EXPECT_FALSE(evidence().names.engine("ollama").known);
  EXPECT_EQ(evidence().names.engine("ollama").files, FileKind::gguf);
}

// Every alias leads to a model, an engine, a card and a format that are there.
TEST(Names, AliasesLeadSomewhere) {
  const auto column = [](const char* file, const char* name) {
    const Table table = must(Table::from(must(evidence().image.root(file))));
    std::vector<std::string> out;
    for (std::uint32_t i = 0; i < table.rows(); ++i) {
      out.emplace_back(table.row(i).text(must(table.column(name))));
    }
    return out;
  };
  for (const std::string& m : column("evidence/models.csv", "model")) {
    EXPECT_TRUE(m.empty() || evidence().knowledge.models.listing(m).has_value()) << m;
  }
  for (const char* file : {"evidence/models.csv", "evidence/formats.csv"}) {
    for (const std::string& f : column(file, "format")) {
      EXPECT_TRUE(f.empty() || f == "published" ||
                  evidence().knowledge.weight_formats.find(f) != nullptr)
          << f;
    }
  }
  for (const std::string& e : column("evidence/engines.csv", "engine")) {
    EXPECT_TRUE(e.empty() || evidence().knowledge.engines.find(e).has_value()) << e;
  }
  for (const std::string& g : column("evidence/gpus.csv", "gpu")) {
    EXPECT_TRUE(g.empty() || evidence().knowledge.accelerators.find(g).has_value()) << g;
  }
  for (const std::string& list : column("evidence/gpus.csv", "candidates")) {
    for (std::size_t from = 0; from < list.size();) {
      const std::size_t end = std::min(list.find(';', from), list.size());
      const std::string g = list.substr(from, end - from);
      EXPECT_TRUE(evidence().knowledge.accelerators.find(g).has_value()) << g;
      from = end + 1;
    }
  }
}

}  // namespace
}  // namespace cairn
