// Parameter counts and KV cache sizes against published ones.
//
// parameter_counts.csv lists models of the catalogue with their total, exact
// ("8030261248") or as a log printed it ("8.03B": half a unit of the last digit
// is allowed), of all or of the language model alone (column "of"), and the active
// parameters as a vendor published them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "cairn/data/csv.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_config.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

const ModelCatalogue& catalogue() {
  static const ModelCatalogue kCatalogue = value_of(ModelCatalogue::load(test::facts().image));
  return kCatalogue;
}

/// A number as it was published, and half a unit of its last digit.
struct Published {
  double value = 0;
  double half_unit = 0;
};

std::optional<Published> read_published(std::string text) {
  const std::map<char, double> scales = {{'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
  const auto scale = text.empty() ? scales.end() : scales.find(text.back());
  if (scale == scales.end()) return std::nullopt;
  text.pop_back();
  while (!text.empty() && text.back() == ' ') text.pop_back();
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  const auto point = text.find('.');
  double unit = 1;
  if (point != std::string::npos) {
    unit = std::pow(10.0, -static_cast<double>(text.size() - point - 1));
  } else {
    // "230B" is rounded to ten, "671B" to one.
    for (auto i = text.size(); i > 1 && text[i - 1] == '0'; --i) unit *= 10;
  }
  return Published{*number * scale->second, unit * scale->second / 2};
}

struct Counted {
  ParameterCount parts;
  std::int64_t mtp = 0;
  std::int64_t input_table = 0;  // the tables that `active` leaves out
};

Counted count(const ModelSpec& spec) {
  const Graph g = build_graph(spec);
  std::int64_t tables = spec.tied_embeddings ? 0 : spec.vocabulary * spec.hidden;
  for (const Tensor& t : g.tensors) {
    if (t.role == TensorRole::layer_embedding) tables += t.weights();
  }
  return {count_parameters(g), count_mtp_parameters(g), tables};
}

// Vendors round to the nearest or cut off: 32.76 is "32B" and "33B".
bool rounds_to(double exact, const Published& p) {
  return exact >= p.value - p.half_unit && exact < p.value + 2 * p.half_unit;
}

TEST(ParameterCounts, OfThePublishedModels) {
  const Document document = test::table("parameter_counts.csv");
  const Table table = value_of(Table::from(document.root()));
  const auto id = value_of(table.column("model_id"));
  const auto total = value_of(table.column("total"));
  const auto active = value_of(table.column("active"));
  const auto of = value_of(table.column("of"));
  int exact = 0;
  int rounded = 0;
  int actives = 0;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto spec = catalogue().find(row.text(id));
    ASSERT_TRUE(spec) << row.where() << ": " << spec.error().to_string();
    const Counted n = count(*spec);
    // A GGUF file has the language model alone.
    const std::int64_t all = n.parts.total - (row.has(of) ? n.parts.parts : 0);
    if (const auto published = read_published(std::string(row.text(total)))) {
      EXPECT_NEAR(static_cast<double>(all), published->value, published->half_unit)
          << row.where() << ": " << row.text(id);
      ++rounded;
    } else if (row.has(total)) {
      EXPECT_EQ(static_cast<double>(all), *value_of(row.number(total)))
          << row.where() << ": " << row.text(id);
      ++exact;
    }
    if (const auto published = read_published(std::string(row.text(active)))) {
      const auto without = static_cast<double>(n.parts.active);
      const auto with = static_cast<double>(n.parts.active + n.input_table);
      EXPECT_TRUE(rounds_to(without, *published) || rounds_to(with, *published))
          << row.where() << ": " << row.text(id) << ": " << without << " or " << with;
      ++actives;
    }
  }
  EXPECT_GE(exact, 50);
  EXPECT_GE(rounded, 40);
  EXPECT_GE(actives, 10);
}

TEST(ParameterCounts, OfGemma3AsKerasHasThem) {
  // keras-hub's Gemma 3 has a vocabulary of 262144 where the published file has
  // 262208: 64 rows of the embedding less.
  // https://github.com/keras-team/keras-hub/blob/71453d08f59edc90d276e999319fc51e61cbf82c/keras_hub/src/models/gemma3/gemma3_presets.py
  const std::map<std::string_view, std::int64_t> keras = {{"gemma-3-4b-it", 3880099328},
                                                          {"gemma-3-12b-it", 11765788416},
                                                          {"gemma-3-27b-it", 27009002240}};
  for (const auto& [name, params] : keras) {
    const ModelSpec spec = value_of(catalogue().find(name));
    const ParameterCount counted = count(spec).parts;  // keras-hub counts the language model
    EXPECT_EQ(counted.total - counted.parts - 64 * spec.hidden, params) << name;
  }
}

TEST(ParameterCounts, OfCheckpointsWithMtpLayers) {
  // llama.cpp keeps the layer for multi-token prediction: GLM-4.6 has 356.79 B
  // parameters in its GGUF (https://huggingface.co/unsloth/GLM-4.6-GGUF), and the
  // model 355 B (https://github.com/zai-org/GLM-4.5).
  const Counted glm = count(value_of(catalogue().find("glm-4.6")));
  EXPECT_NEAR(static_cast<double>(glm.parts.total + glm.mtp), 356.79e9, 0.005e9);
}

// ---- Files that are not part of the project, where they are at hand.

std::string shared(const std::string& name) {
  return std::string(CAIRN_SOURCE_DIR) + "/../shared/models/" + name;
}

/// A table of collected facts, or nothing.
std::optional<Document> shared_table(const std::string& name) {
  if (!std::filesystem::exists(shared(name))) return std::nullopt;
  return value_of(load_csv(shared(name)));
}

TEST(SharedParameterCounts, WithinRoundingOfWhatVendorsPublish) {
  const auto document = shared_table("params_published.csv");
  if (!document) GTEST_SKIP() << "no collected facts here";
  const Table table = value_of(Table::from(document->root()));
  const auto id = value_of(table.column("model_id"));
  const auto total = value_of(table.column("parameter_count"));
  const auto active = value_of(table.column("active_parameters"));
  int compared = 0;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto spec = catalogue().find(row.text(id));
    // Of a multimodal model the published count has the other parts too.
    if (!spec || spec->text_part) continue;
    // Named 48B, its checkpoint has 49.1B.
    // https://huggingface.co/moonshotai/Kimi-Linear-48B-A3B-Instruct
    if (row.text(id) == "moonshotai/Kimi-Linear-48B-A3B-Instruct") continue;
    // 1,543,490,560 in its checkpoint, "1550 M" in the table of its authors.
    // https://github.com/openai/whisper
    if (row.text(id) == "openai/whisper-large-v3") continue;
    const Counted n = count(*spec);
    const auto all = read_published(std::string(row.text(total)));
    const auto used = read_published(std::string(row.text(active)));
    ASSERT_TRUE(all) << row.where();
    const auto main = static_cast<double>(n.parts.total);
    // Vision-language models are called by their language model or by all of it.
    const auto language = static_cast<double>(n.parts.total - n.parts.parts);
    // zai-org counts the draft layer of GLM-4.5, 4.6 and 4.7.
    const auto with_mtp = static_cast<double>(n.parts.total + n.mtp);
    const bool near_mtp = n.mtp > 0 && rounds_to(with_mtp, *all);
    EXPECT_TRUE(rounds_to(main, *all) || rounds_to(language, *all) || near_mtp)
        << row.where() << ": " << row.text(id) << " " << row.text(total) << ": " << main;
    ++compared;
    if (!used) continue;  // "16 experts/token"
    // The card has 41 B (39 B and the tower), the recipe of vLLM that was collected 22 B.
    // https://huggingface.co/mistralai/Mistral-Large-3-675B-Instruct-2512
    if (row.text(id) == "mistralai/Mistral-Large-3-675B-Instruct-2512") continue;
    const auto without = static_cast<double>(n.parts.active);
    const auto with = static_cast<double>(n.parts.active + n.input_table);
    // GLM-5.2's 39 B count neither table nor head.
    const bool no_head = row.text(id) == "zai-org/GLM-5.2";
    const double less = no_head ? static_cast<double>(n.input_table) : 0;
    EXPECT_TRUE(rounds_to(without - less, *used) || rounds_to(with, *used))
        << row.where() << ": " << row.text(id) << " " << row.text(active) << ": " << without;
  }
  EXPECT_GE(compared, 25);
}

// "F32", "bf16" ... to bytes; 0 for anything else.
double width_of(std::string_view dtype) {
  if (dtype == "bf16" || dtype == "BF16" || dtype == "fp16") return 2;
  return dtype == "fp32" || dtype == "F32" ? 4 : 0;
}

TEST(SharedParameterCounts, OfCheckpointsInFullPrecision) {
  const auto document = shared_table("weights.csv");
  if (!document) GTEST_SKIP() << "no collected facts here";
  const Table table = value_of(Table::from(document->root()));
  const auto id = value_of(table.column("model_id"));
  const auto dtype = value_of(table.column("dtype"));
  const auto bytes = value_of(table.column("total_size_bytes"));
  const auto params = value_of(table.column("parameter_count"));
  const auto note = value_of(table.column("note"));
  int compared = 0;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const double width = width_of(row.text(dtype));
    const auto spec = catalogue().find(row.text(id));
    // The checkpoint has the pooler (768 x 768 and 768) and the head that tells whether
    // a sentence follows (2 x 768 and 2), which the class it names leaves out.
    const bool pair_head = row.text(id) == "google-bert/bert-base-uncased";
    const double beside = pair_head ? 768 * 768 + 768 + 2 * 768 + 2 : 0;
    // Logs round the size to 0.01 GiB; conversions have other tensors.
    if (width == 0 || !spec || spec->text_part || row.text(note).contains("rounded")) continue;
    const auto exact = value_of(row.number(params));
    const auto size = value_of(row.number(bytes));
    EXPECT_EQ(static_cast<double>(count(*spec).parts.total) + beside,
              exact ? *exact : *size / width)
        << row.where() << ": " << row.text(id);
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

TEST(SharedParameterCounts, OfChatGlm3) {
  // 12,487,168,064 bytes in fp16 with 32 rotary frequencies, which are no parameters.
  const std::string folder = shared("hf/THUDM__chatglm3-6b");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no collected facts here";
  EXPECT_EQ(count(value_of(load_hf(folder))).parts.total, 12487168064 / 2 - 32);
}

AttentionSpec first_attention(const ModelSpec& spec) {
  const auto it = std::ranges::find_if(
      spec.layers, [](const LayerSpec& layer) { return layer.attention.heads > 0; });
  return it == spec.layers.end() ? AttentionSpec() : it->attention;
}

TEST(SharedShapes, AsVllmReadsThem) {
  const auto document = shared_table("arch_groundtruth.csv");
  if (!document) GTEST_SKIP() << "no collected facts here";
  const Table table = value_of(Table::from(document->root()));
  const auto number = [&](const Row& row, std::string_view column) {
    return static_cast<std::int64_t>(*value_of(row.number(value_of(table.column(column)))));
  };
  int compared = 0;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto id = row.text(value_of(table.column("model_id")));
    const auto spec = catalogue().find(id);
    if (!spec) continue;
    // Of a hybrid, that of the layers that have attention.
    const AttentionSpec a = first_attention(*spec);
    EXPECT_EQ(spec->hidden, number(row, "hidden_size")) << id;
    // LongCat's layers have two attentions each, and experts in the first.
    const std::int64_t halves = spec->family == "longcat-flash" ? 2 : 1;
    EXPECT_EQ(static_cast<std::int64_t>(spec->layers.size()),
              halves * number(row, "total_num_hidden_layers"))
        << id;
    EXPECT_EQ(a.heads, number(row, "total_num_attention_heads")) << id;
    EXPECT_EQ(a.kv_heads, number(row, "total_num_kv_heads")) << id;
    // Of latent attention vLLM tells what is cached.
    const bool latent = a.kind == AttentionKind::mla;
    EXPECT_EQ(latent ? kv_elements_per_token(a) : a.head_dim, number(row, "head_size")) << id;
    EXPECT_EQ(spec->vocabulary, number(row, "vocab_size")) << id;
    // vLLM does not find the experts of DBRX: it says 0.
    const std::int64_t experts = number(row, "num_experts");
    const auto has = [experts](const LayerSpec& l) { return l.feed_forward.experts == experts; };
    EXPECT_TRUE(experts == 0 || std::ranges::any_of(spec->layers, has)) << id;
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

// Bytes of one element of llama.cpp's KV formats; blocks with their scales.
std::optional<double> kv_bytes(std::string_view format) {
  if (format == "f16") return 2;
  if (format == "q8_0") return 34.0 / 32;
  return std::nullopt;
}

// The number behind a name in the settings of a row; 1: it is not there.
double number_after(std::string_view settings, std::string_view name) {
  const auto at = settings.find(name);
  if (at == std::string_view::npos) return 1;
  return std::stod(std::string(settings.substr(at + name.size())));
}

// Whether a layer is in the cache that a row tells of: layers with a window have one of
// their own, known by its number of layers.
bool in_cache(const ModelSpec& spec, const LayerSpec& layer, std::string_view settings) {
  const auto windowed = [](const LayerSpec& l) {
    return l.attention.kind == AttentionKind::sliding;
  };
  const auto windows = std::ranges::count_if(spec.layers, windowed);
  const auto others = static_cast<std::ptrdiff_t>(spec.layers.size()) - windows;
  const auto layers = static_cast<std::ptrdiff_t>(number_after(settings, "; layers="));
  if (windows == 0 || (layers != windows && layers != others)) return true;
  return windowed(layer) == (layers == windows);
}

TEST(SharedKvCache, AsLlamaCppPrintsIt) {
  const auto document = shared_table("memory_truth.csv");
  if (!document) GTEST_SKIP() << "no collected facts here";
  const Table table = value_of(Table::from(document->root()));
  const auto column = [&](std::string_view name) { return value_of(table.column(name)); };
  int compared = 0;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const std::string_view settings = row.text(column("settings"));
    const auto bytes = kv_bytes(row.text(column("kv_format")));
    const auto spec = catalogue().find(row.text(column("model_id")));
    if (row.text(column("component")) != "kv" || !spec || !bytes ||
        !row.text(column("engine")).contains("llama.cpp") ||
        !settings.contains("scope=all devices")) {
      continue;
    }
    double context = *value_of(row.number(column("context")));
    // A cache smaller than the context says how many positions it has.
    if (const auto at = settings.find("cells="); at != std::string_view::npos) {
      context = std::stod(std::string(settings.substr(at + 6)));
    }
    // A context of its own for the draft layer.
    const bool draft = settings.contains("layers=1;") && spec->layers.size() > 1;
    if (draft && spec->parts.empty()) continue;
    double elements = 0;
    double copy = 0;
    for (const LayerSpec& layer : draft ? spec->parts.front().layers : spec->layers) {
      const AttentionSpec& a = layer.attention;
      if (!draft && !in_cache(*spec, layer, settings)) continue;
      elements += static_cast<double>(kv_elements_per_token(a));
      copy += static_cast<double>(a.kv_lora_rank);
    }
    // Before it knew latent attention, the engine kept whole keys and values of all
    // heads; some of its paths keep the latent a second time, as values.
    const AttentionSpec& a = spec->layers[0].attention;
    const bool latent = a.kind == AttentionKind::mla;
    const bool flash = settings.contains("fa=on");
    const bool absorbed = settings.contains("mla=");
    const double per_mib = context * *bytes / (1024.0 * 1024.0);
    const double value = *value_of(row.number(column("value")));
    double mib = elements * per_mib;
    if (latent && !absorbed && !flash) {
      mib = static_cast<double>(spec->layers.size()) *
            static_cast<double>(a.heads * (a.head_dim + a.v_head_dim)) * per_mib;
    } else if (latent && absorbed != flash && value > 1.5 * mib) {
      mib += copy * per_mib;
    }
    // DeepSeek V4's cache has its cells once, or for each sequence; rows do not tell.
    if (a.kind == AttentionKind::compressed && value > 1.5 * mib) {
      mib *= number_after(settings, "n_seq_max=");
    }
    EXPECT_NEAR(mib, value, 0.006)
        << row.where() << ": " << row.text(column("model_id")) << " " << settings;
    ++compared;
  }
  EXPECT_GE(compared, 60);
  RecordProperty("compared", compared);
}

}  // namespace
}  // namespace cairn
