#include "cairn/model/catalogue.h"

#include <gtest/gtest.h>

#include <chrono>

#include "cairn/data/yaml.h"
#include "cairn/model/graph.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

const ModelCatalogue& catalogue() {
  static const ModelCatalogue kCatalogue = value_of(ModelCatalogue::load(test::facts().image));
  return kCatalogue;
}

std::string id_of(std::string_view name) {
  auto listing = catalogue().listing(name);
  return listing ? std::string(listing->id) : listing.error().to_string();
}

// https://huggingface.co/zai-org/GLM-4.7-FP8, https://huggingface.co/amd/DeepSeek-R1-0528-MXFP4
TEST(ModelCatalogueNames, RepositoriesOfOtherFormatsNameTheModelAndTheFormat) {
  EXPECT_EQ(catalogue().find("zai-org/GLM-4.7-FP8").error().expected,
            "zai-org/GLM-4.7 with --weights fp8");
  EXPECT_EQ(catalogue().find("amd/DeepSeek-R1-0528-MXFP4").error().expected,
            "deepseek-ai/DeepSeek-R1-0528 with --weights mxfp4-linear");
}

TEST(Catalogue, FindsModelsByTheNamesPeopleType) {
  EXPECT_EQ(id_of("meta-llama/Llama-3.1-8B"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(id_of("LLAMA-3.1-8b"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(id_of("llama3.1:8b"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(id_of("llama 3.1 8b"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(id_of("meta-llama/Meta-Llama-3.1-8B-Instruct"), "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(id_of("qwen3-30b-a3b"), "Qwen/Qwen3-30B-A3B");
  EXPECT_EQ(id_of("gpt-oss:20b"), "openai/gpt-oss-20b");
  EXPECT_EQ(id_of("deepseek-r1"), "deepseek-ai/DeepSeek-R1");
  EXPECT_EQ(id_of("deepseek-r1:32b"), "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B");
  EXPECT_EQ(id_of("mistral-small:24b"), "mistralai/Mistral-Small-24B-Instruct-2501");
  EXPECT_EQ(id_of("phi4"), "microsoft/phi-4");
}

TEST(Catalogue, ProposesSimilarNames) {
  const auto unknown = catalogue().find("lama3.1-8b");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
  EXPECT_EQ(unknown.error().value, "lama3.1-8b");
  EXPECT_TRUE(unknown.error().expected.contains("meta-llama/Llama-3.1-8B"))
      << unknown.error().expected;
  const auto hopeless = catalogue().find("zzzzzzzzzzzzzzzz");
  ASSERT_FALSE(hopeless);
  EXPECT_EQ(hopeless.error().kind, ErrorKind::not_found);
}

TEST(Catalogue, AVariantSharesTheShapeOfItsEntry) {
  const ModelSpec base = value_of(catalogue().find("Qwen/Qwen3-8B"));
  const ModelSpec fp8 = value_of(catalogue().find("Qwen/Qwen3-8B-FP8"));
  EXPECT_EQ(fp8.id, "Qwen/Qwen3-8B-FP8");
  EXPECT_EQ(fp8.published_format, "fp8-block");
  EXPECT_EQ(base.published_format, "bf16");
  EXPECT_EQ(fp8.layers, base.layers);
}

TEST(Catalogue, EveryEntryIsAModelAndSurvivesTheRoundTrip) {
  ASSERT_GE(catalogue().size(), 100U);
  for (const ModelListing& m : catalogue().all()) {
    const auto spec = catalogue().find(m.id);
    ASSERT_TRUE(spec) << spec.error().to_string();
    EXPECT_EQ(spec->id, m.id);
    EXPECT_TRUE(m.source_url.starts_with("https://")) << m.id;
    EXPECT_EQ(m.date.size(), 10U) << m.id;
    if (!spec->published_format.empty()) {
      EXPECT_NE(test::facts().formats.find(spec->published_format), nullptr)
          << m.id << ": " << spec->published_format;
    }
    for (const std::string_view alias : m.aliases) EXPECT_EQ(id_of(alias), m.id) << alias;

    const std::string text =
        "models:\n" + catalogue_entry(*spec, "https://example.org/a: \"b\"", "2026-11-30",
                                      std::vector<std::string>{"an:alias"}, "a \"note\"");
    const Document document = value_of(parse_yaml(text, "entry.yaml"));
    const auto again = spec_from_entry(document.root().find("models")->at(0));
    ASSERT_TRUE(again) << again.error().to_string() << "\n" << text;
    EXPECT_EQ(*again, *spec) << text;
  }
}

TEST(Catalogue, AllModelsThatThePlansNeedAreThere) {
  for (const char* name : {"llama-2-7b",
                           "llama-2-13b",
                           "llama-2-70b",
                           "llama-3-8b",
                           "llama-3-70b",
                           "llama-3.1-8b",
                           "llama-3.1-70b",
                           "llama-3.1-405b",
                           "llama-3.2-1b",
                           "llama-3.2-3b",
                           "llama-3.3-70b",
                           "mistral-7b",
                           "mistral-nemo",
                           "mistral-small-24b",
                           "mistral-large",
                           "mixtral-8x7b",
                           "mixtral-8x22b",
                           "qwen2-7b",
                           "qwen2-72b",
                           "qwen2.5-0.5b",
                           "qwen2.5-1.5b",
                           "qwen2.5-3b",
                           "qwen2.5-7b",
                           "qwen2.5-14b",
                           "qwen2.5-32b",
                           "qwen2.5-72b",
                           "qwen2.5-coder-32b",
                           "qwen3-0.6b",
                           "qwen3-1.7b",
                           "qwen3-4b",
                           "qwen3-8b",
                           "qwen3-14b",
                           "qwen3-32b",
                           "qwen3-30b-a3b",
                           "qwen3-235b-a22b",
                           "qwen3-coder",
                           "gemma-2-2b",
                           "gemma-2-9b",
                           "gemma-2-27b",
                           "gemma-3-1b",
                           "gemma-3-4b",
                           "gemma-3-12b",
                           "gemma-3-27b",
                           "phi3",
                           "phi3.5",
                           "phi4",
                           "gpt-oss-20b",
                           "gpt-oss-120b",
                           "deepseek-v2-lite",
                           "deepseek-v2",
                           "deepseek-v3",
                           "deepseek-r1",
                           "deepseek-r1-distill-llama-8b",
                           "deepseek-r1-distill-qwen-32b",
                           "kimi-k2",
                           "llama-4-scout",
                           "llama-4-maverick",
                           "glm-4.5",
                           "minimax-m2.5"}) {
    const auto spec = catalogue().find(name);
    EXPECT_TRUE(spec) << spec.error().to_string();
  }
}

TEST(Catalogue, LoadsInLessThanTwoMilliseconds) {
  // The fastest of several, for machines that do something else meanwhile.
  auto fastest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const ModelCatalogue loaded = value_of(ModelCatalogue::load(test::facts().image));
    const ModelSpec spec = value_of(loaded.find("qwen3-30b-a3b"));
    fastest = std::min<std::chrono::nanoseconds>(fastest, std::chrono::steady_clock::now() - start);
    ASSERT_EQ(spec.layers.size(), 48U);
  }
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers are slow";
#endif
  EXPECT_LT(fastest, std::chrono::milliseconds(2));
}

constexpr const char* kOwn = R"(models:
  - id: me/Own-1B
    aliases: [own]
    source_url: https://example.org/own
    date: "2026-01-02"
    architecture: LlamaForCausalLM
    family: llama
    hidden: 64
    vocabulary: 100
    max_context: 512
    kinds:
      a: {attention: {heads: 4, kv_heads: 2, head_dim: 16}, feed_forward: {intermediate: 128}}
      b: {attention: {kind: sliding, window: 8, heads: 4, head_dim: 16}, feed_forward: {intermediate: 128}}
    layers:
      - {repeat: 2, of: [{count: 2, kind: b}, {count: 1, kind: a}]}
      - {count: 1, kind: b}
)";

TEST(Catalogue, TakesModelsOfTheUser) {
  ModelCatalogue models = catalogue();
  ASSERT_TRUE(models.add(value_of(parse_yaml(kOwn, "own.yaml"))));
  EXPECT_EQ(models.size(), catalogue().size() + 1);
  const ModelSpec spec = value_of(models.find("own-1b"));
  ASSERT_EQ(spec.layers.size(), 7U);
  EXPECT_EQ(spec.layers[2].attention.kind, AttentionKind::full);
  EXPECT_EQ(spec.layers[5].attention.kind, AttentionKind::full);
  EXPECT_EQ(spec.layers[6].attention.window, 8);
  EXPECT_EQ(spec.layers[6].attention.kv_heads, 4);
  // A name that is taken is refused, and nothing is changed.
  const auto twice = models.add(value_of(parse_yaml(kOwn, "twice.yaml")));
  ASSERT_FALSE(twice);
  EXPECT_TRUE(twice.error().where.starts_with("twice.yaml:"));
  EXPECT_EQ(models.size(), catalogue().size() + 1);
  EXPECT_TRUE(models.find("own"));
}

TEST(CatalogueEntry, RefusesWhatItDoesNotKnow) {
  const std::string good = kOwn;
  const auto error_of = [](std::string text) {
    const Document document = value_of(parse_yaml(text, "own.yaml"));
    const auto spec = spec_from_entry(document.root().find("models")->at(0));
    return spec ? std::string("accepted") : spec.error().to_string();
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.substr(0, at) + to + text.substr(at + from.size());
  };
  EXPECT_EQ(error_of(good), "accepted");
  EXPECT_TRUE(error_of(with("hidden: 64", "hiden: 64")).contains("hiden"));
  EXPECT_TRUE(error_of(with("hidden: 64", "hidden: 0")).contains("hidden"));
  EXPECT_TRUE(error_of(with("kv_heads: 2", "kv_heads: 3")).contains("kv_heads"));
  EXPECT_TRUE(error_of(with("kind: sliding", "kind: slanting")).contains("slanting"));
  EXPECT_TRUE(error_of(with("window: 8", "window: 0")).contains("window"));
  EXPECT_TRUE(error_of(with("count: 1, kind: a", "count: 1, kind: c")).contains("kind"));
  EXPECT_TRUE(error_of(with("repeat: 2", "repeat: 1000")).contains("layers"));
  EXPECT_TRUE(error_of(with("intermediate: 128}}\n    layers",
                            "experts: 4, experts_per_token: 8}}\n    layers"))
                  .contains("experts_per_token"));
}

}  // namespace
}  // namespace cairn
