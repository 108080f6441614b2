#include "cairn/model/weight_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>

#include "cairn/data/yaml.h"
#include "facts.h"
#include "shapes.h"

namespace cairn {
namespace {

using test::facts;
using test::value_of;

struct Sized {
  Graph graph;
  BoundWeights weights;
  double bytes = 0;
  double bits_per_weight = 0;
};

Sized size(std::string_view model, std::string_view format) {
  Sized out;
  out.graph = build_graph(test::spec_named(model));
  out.weights = value_of(facts().formats.bind(out.graph, format));
  out.bytes = out.weights.total(out.graph).value();
  double weights = 0;
  for (const Tensor& t : out.graph.tensors) weights += static_cast<double>(t.weights());
  out.bits_per_weight = 8 * out.bytes / weights;
  return out;
}

double unit_of(std::string_view name) { return name == "GiB" ? kGiB : kMiB; }

// Half a unit in the last place of a number as it was printed.
double rounding(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto digits = point == std::string_view::npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10, -static_cast<double>(digits)) * 1.000001;
}

struct SizeRow {
  std::string model, format, text, unit;
};

std::vector<SizeRow> size_rows(const std::string& file) {
  const Document document = test::table(file);
  const Table table = value_of(Table::from(document.root()));
  std::vector<SizeRow> rows;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    rows.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                    std::string(row.text(3))});
  }
  return rows;
}

// Sizes that llama.cpp and its users published, to the digit they printed.
TEST(WeightFormats, PublishedSizesOfGgufFiles) {
  const auto rows = size_rows("gguf_sizes.csv");
  ASSERT_GE(rows.size(), 70U);
  for (const SizeRow& row : rows) {
    const Sized s = size(row.model, row.format);
    const double got = row.unit == "bpw" ? s.bits_per_weight : s.bytes / unit_of(row.unit);
    EXPECT_NEAR(got, parse_number(row.text).value(), rounding(row.text))
        << row.model << " " << row.format << " in " << row.unit;
    EXPECT_FALSE(s.weights.approximate) << row.format;
  }
}

// Two files of one model by one converter have the same header, so their sizes
// differ by exactly the bytes of their tensors.
TEST(WeightFormats, DifferencesOfFilesAreExact) {
  const Document document = test::table("gguf_differences.csv");
  const Table table = value_of(Table::from(document.root()));
  ASSERT_EQ(table.rows(), 4U);
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const double want = value_of(row.number(3)).value() - value_of(row.number(5)).value();
    EXPECT_EQ(size(row.text(0), row.text(2)).bytes - size(row.text(0), row.text(4)).bytes, want)
        << row.text(1);
  }
}

// A README row made without an importance matrix: the quantiser then stores the
// down projections of the first eighth of the layers, 4 of 32, in q5_k (5.5 bits)
// instead of iq4_xs (4.25) or iq4_nl (4.5). 4.4597 and 4.6818 bits per weight:
// https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md
TEST(WeightFormats, ImportanceMatrixSavesFourTensors) {
  const double weights = 4.0 * 4096 * 14336;
  const Sized xs = size("llama-3.1-8b", "iq4_xs");
  const Sized nl = size("llama-3.1-8b", "iq4_nl");
  const double all = 8 * xs.bytes / xs.bits_per_weight;
  EXPECT_NEAR((8 * xs.bytes + weights * (5.5 - 4.25)) / all, 4.4597, 0.00006);
  EXPECT_NEAR((8 * nl.bytes + weights * (5.5 - 4.5)) / all, 4.6818, 0.00006);
}

// Files from before the split of DeepSeek's kv_b hold it in one q4_k matrix
// (4.5 bits); since, its key half has rows of 128 and falls back to q5_0 (5.5).
// 9.649 GiB: DeepSeek-Coder-V2-Lite, 376.65 GiB: DeepSeek-R1,
// https://github.com/ikawrakow/ik_llama.cpp/tree/8337e4cd3861406fc04e0854b1409cd1b027fbc9/github-data
TEST(WeightFormats, LatentAttentionBeforeAndAfterTheSplit) {
  const double lite = 27.0 * 16 * 128 * 512;  // layers, heads, key size, latent
  const double large = 61.0 * 128 * 128 * 512;
  EXPECT_NEAR((size("deepseek-v2-lite", "q4_k_m").bytes - lite / 8) / kGiB, 9.649, 0.0005);
  EXPECT_NEAR((size("deepseek-r1", "q4_k_m").bytes - large / 8) / kGiB, 376.65, 0.005);
}

// Stand-ins for recipes that are not public: within 2.5 % of the real files.
TEST(WeightFormats, StandInsForUnslothDynamic) {
  for (const SizeRow& row : size_rows("gguf_stand_ins.csv")) {
    const Sized s = size(row.model, row.format);
    const double want = parse_number(row.text).value() * unit_of(row.unit);
    EXPECT_LT(std::abs(s.bytes / want - 1), 0.025) << row.model << " " << row.format;
    EXPECT_TRUE(s.weights.approximate);
    EXPECT_FALSE(facts().formats.find(row.format)->stand_in.empty());
  }
}

const TensorType* type_of(const Sized& s, TensorRole role, std::int32_t layer) {
  for (std::size_t i = 0; i < s.graph.tensors.size(); ++i) {
    const Tensor& t = s.graph.tensors[i];
    if (t.role == role && t.layer == layer) return s.weights.types[i];
  }
  return nullptr;
}

// Mixtral in q4_k_m: values and keys in q8_0, attention output in q5_k, as in the
// quantiser's rules for eight experts; its router stays in 32 bits.
TEST(WeightFormats, EightExperts) {
  const Sized s = size("mixtral-8x7b", "q4_k_m");
  EXPECT_EQ(type_of(s, TensorRole::attn_v, 9)->name, "q8_0");
  EXPECT_EQ(type_of(s, TensorRole::attn_k, 9)->name, "q8_0");
  EXPECT_EQ(type_of(s, TensorRole::attn_q, 9)->name, "q4_k");
  EXPECT_EQ(type_of(s, TensorRole::attn_output, 9)->name, "q5_k");
  EXPECT_EQ(type_of(s, TensorRole::router, 9)->name, "f32");
  EXPECT_EQ(type_of(s, TensorRole::expert_down, 0)->name, "q6_k");
  EXPECT_EQ(type_of(s, TensorRole::expert_down, 4)->name, "q4_k");
  EXPECT_EQ(type_of(size("mixtral-8x7b", "iq2_xs"), TensorRole::attn_k, 0)->name, "q4_k");
}

// A head that is also the table has the type of a head; an untied table has not.
TEST(WeightFormats, TiedTables) {
  EXPECT_EQ(type_of(size("llama-3.2-1b", "q4_k_m"), TensorRole::token_embedding, -1)->name, "q6_k");
  EXPECT_EQ(type_of(size("llama-3.1-8b", "q4_k_m"), TensorRole::token_embedding, -1)->name, "q4_k");
  EXPECT_EQ(type_of(size("llama-3.1-8b", "iq2_m"), TensorRole::token_embedding, -1)->name, "iq3_s");
  EXPECT_EQ(type_of(size("llama-3.1-8b", "iq2_m"), TensorRole::output, -1)->name, "q5_k");
}

// Rows of 896 and 2880 are no whole number of 256 weights, and of 2880 + 16 not
// even of 32.
TEST(WeightFormats, RowsThatAreNoWholeBlocks) {
  const Sized small = size("qwen2.5-0.5b", "q4_k_m");
  EXPECT_EQ(type_of(small, TensorRole::attn_q, 0)->name, "q5_0");
  EXPECT_EQ(type_of(small, TensorRole::attn_v, 0)->name, "q8_0");  // from q6_k
  EXPECT_EQ(type_of(small, TensorRole::ffn_down, 0)->name, "q6_k");
  ModelSpec odd = test::spec_named("gpt-oss-20b");
  odd.hidden = 2880 + 16;
  const Graph graph = build_graph(odd);
  const BoundWeights bound = value_of(facts().formats.bind(graph, "q4_k_m"));
  EXPECT_EQ(bound.types[0]->name, "f16");
}

// Checkpoints: embeddings, head, norms and routers keep 16 bits. Llama 3 8B:
// 16060522496 bytes in bf16,
// https://github.com/huggingface/hub-docs/blob/242f4a1eeb867daf4ac3f44026a5df4a68908a3d/docs/hub/transformers.md
TEST(WeightFormats, Checkpoints) {
  EXPECT_EQ(size("llama-3.1-8b", "bf16").bytes, 16060522496.0);
  const Sized fp8 = size("llama-3.1-8b", "fp8");
  EXPECT_EQ(type_of(fp8, TensorRole::token_embedding, -1)->name, "bf16");
  EXPECT_EQ(type_of(fp8, TensorRole::output, -1)->name, "bf16");
  EXPECT_EQ(type_of(fp8, TensorRole::ffn_norm, 3)->name, "bf16");
  EXPECT_EQ(type_of(fp8, TensorRole::ffn_down, 3)->name, "fp8");
  // 32 layers of (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) weights in a
  // byte each and 7 scales of 4 bytes; the rest, 1050939392 weights, in two.
  EXPECT_EQ(fp8.bytes, 32.0 * (218103808 + 28) + 2.0 * (8030261248 - 32.0 * 218103808));
}

// gpt-oss in its published MXFP4: only the experts. 4.25 bits of 24 layers x 32
// experts x 3 x 2880 x 2880 weights, 16 bits of the others.
TEST(WeightFormats, ExpertsOnly) {
  const Sized s = size("gpt-oss-20b", "mxfp4");
  const double experts = 24.0 * 32 * 3 * 2880 * 2880;
  const double all = 8 * s.bytes / s.bits_per_weight;
  EXPECT_DOUBLE_EQ(s.bytes, experts * 4.25 / 8 + (all - experts) * 2);
  EXPECT_EQ(type_of(s, TensorRole::attn_q, 0)->name, "bf16");
  // A dense model in MXFP4 has all matrices of its layers in it.
  EXPECT_EQ(type_of(size("llama-3.1-70b", "mxfp4"), TensorRole::attn_q, 0)->name, "mxfp4");
}

// Published gpt-oss files keep the experts in MXFP4 whatever they are called: "F16" files
// of the 20B are 12.83 GiB, of the 120B 60.87 GiB,
// https://github.com/lhl/strix-halo-testing/blob/5ee14b5b0ecfbd16b7fd0aa41a91581c32b33b61/rpc-test/README.md
TEST(WeightFormats, GptOssKeepsItsExperts) {
  for (const char* format : {"q4_k_m", "q8_0", "q2_k", "f16"}) {
    const Sized s = size("gpt-oss-20b", format);
    EXPECT_EQ(type_of(s, TensorRole::expert_up, 3)->name, "mxfp4") << format;
    EXPECT_NE(type_of(s, TensorRole::attn_q, 3)->name, "mxfp4") << format;
  }
  EXPECT_NEAR(size("gpt-oss-20b", "f16").bytes / kGiB, 12.83, 0.005);
  EXPECT_NEAR(size("gpt-oss-120b", "f16").bytes / kGiB, 60.87, 0.005);
}

// Two of four weights, each with its place in two bits: of 16-bit matrices 9/16, of
// 8-bit ones 5/8 is left. Llama 3.1 8B has 6979321856 weights in 224 matrices of layers,
// 1050939392 others; the shapes of the matrices are stored in 16 bytes each.
TEST(WeightFormats, StructuredZeros) {
  const double matrices = 6979321856;
  EXPECT_EQ(size("llama-3.1-8b", "bf16-24").bytes, matrices * 9 / 8 + 2 * 1050939392.0 + 224 * 16);
  EXPECT_TRUE(facts().formats.find("bf16-24")->sparse);
  EXPECT_FALSE(facts().formats.find("bf16")->sparse);
  // V_SMFMAC has no 4-bit form, V_SWMMAC has; RDNA 3 and CDNA 2 have neither.
  const WeightFormats& formats = facts().formats;
  EXPECT_TRUE(formats.multiplies_sparse("cdna3", NumberClass::fp8));
  EXPECT_FALSE(formats.multiplies_sparse("cdna3", NumberClass::int4));
  EXPECT_TRUE(formats.multiplies_sparse("rdna4", NumberClass::int4));
  EXPECT_FALSE(formats.multiplies_sparse("rdna3", NumberClass::f16));
  EXPECT_FALSE(formats.multiplies_sparse("cdna2", NumberClass::f16));
}

// The names of llama.cpp's --cache-type-k and vLLM's --kv-cache-dtype.
TEST(KvFormats, NamesOfEngines) {
  for (const auto& [written, name, bits] :
       std::vector<std::tuple<std::string_view, std::string_view, double>>{
           {"f32", "f32", 32},
           {"f16", "fp16", 16},
           {"bf16", "bf16", 16},
           {"q8_0", "q8_0", 8.5},
           {"q5_1", "q5_1", 6},
           {"q5_0", "q5_0", 5.5},
           {"q4_1", "q4_1", 5},
           {"q4_0", "q4_0", 4.5},
           {"iq4_nl", "iq4_nl", 4.5},
           {"fp8_e4m3", "fp8", 8},
           {"FP8-E5M2", "fp8", 8},
           {"float16", "fp16", 16}}) {
    const auto kv = facts().formats.find_kv(written);
    ASSERT_TRUE(kv) << written;
    EXPECT_EQ(kv->name, name);
    EXPECT_EQ(kv->type->bits_per_weight(), bits) << written;
  }
  EXPECT_FALSE(facts().formats.find_kv("q3_k"));
  EXPECT_EQ(facts().formats.kv_formats().size(), 10U);
}

TEST(WeightFormats, NamesAsPeopleWriteThem) {
  const WeightFormats& formats = facts().formats;
  for (const auto& [written, name] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"Q4_K_M", "q4_k_m"},
                                                                  {"q4-k-m", "q4_k_m"},
                                                                  {"AWQ", "awq-int4"},
                                                                  {"gptq", "gptq-int4"},
                                                                  {"float16", "fp16"},
                                                                  {"UD-Q4_K_XL", "ud-q4_k_xl"},
                                                                  {"nf4", "bnb-nf4"}}) {
    ASSERT_NE(formats.find(written), nullptr) << written;
    EXPECT_EQ(formats.find(written)->name, name);
  }
  EXPECT_EQ(formats.find("q4_k_x"), nullptr);
  EXPECT_EQ(formats.find_ftype(15)->name, "q4_k_m");
  EXPECT_EQ(formats.find_ftype(-1), nullptr);
  for (const WeightFormatInfo& info : formats.all()) {
    EXPECT_FALSE(info.description.empty()) << info.name;
    EXPECT_FALSE(info.description_zh.empty()) << info.name;
    EXPECT_TRUE(info.source_url.starts_with("https://")) << info.name;
  }
}

TEST(WeightFormats, UnknownFormatNamesTheNearest) {
  const Graph graph = build_graph(test::spec_named("llama-2-7b"));
  const auto bound = facts().formats.bind(graph, "q4_k_n");
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().kind, ErrorKind::not_found);
  EXPECT_NE(bound.error().expected.find("q4_k_m"), std::string::npos);
}

// Every format binds every shape, with a type for each tensor and no row that is
// not a whole number of GGUF blocks.
TEST(WeightFormats, EveryFormatBindsEveryShape) {
  for (const WeightFormatInfo& info : facts().formats.all()) {
    for (const test::Shape& shape : test::shapes()) {
      const Graph graph = build_graph(test::spec_of(shape));
      const BoundWeights bound = value_of(facts().formats.bind(graph, info.name));
      ASSERT_EQ(bound.types.size(), graph.tensors.size());
      for (std::size_t i = 0; i < bound.types.size(); ++i) {
        ASSERT_NE(bound.types[i], nullptr);
        if (info.kind != "gguf") continue;
        ASSERT_EQ(graph.tensors[i].columns % bound.types[i]->block_weights, 0)
            << info.name << " " << shape.name;
      }
    }
  }
}

TEST(WeightFormats, MalformedFilesAreRefused) {
  const auto error = [](std::string_view formats) {
    const std::string text =
        "gguf: {source_url: https://a, date: 2026-01-01, vectors: f32, last_resort: f16, "
        "fallbacks: [], fused_qkv: []}\nrule_sets: {}\nformats:\n- {name: a, kind: gguf, "
        "description: a, description_zh: a, " +
        std::string(formats) + "}\n";
    const Document document = value_of(parse_yaml(text, "formats.yaml"));
    const auto loaded = WeightFormats::load(document.root(), facts().types);
    return loaded ? std::string() : loaded.error().to_string();
  };
  EXPECT_EQ(error("default: q4_k"), "");
  EXPECT_NE(error("default: q9_k").find("unknown tensor type"), std::string::npos);
  EXPECT_NE(error("default: q4_k, then: missing").find("missing"), std::string::npos);
  EXPECT_NE(error("default: q4_k, rules: [{tensors: [nose], type: q4_k}]").find("nose"),
            std::string::npos);
  EXPECT_NE(error("default: q4_k, rules: [{tensors: [ffn_up], layers: few, type: q4_k}]")
                .find("unknown name"),
            std::string::npos);
  EXPECT_NE(error("default: q4_k, typo: 1").find("typo"), std::string::npos);
  EXPECT_NE(error("default: q4_k, aliases: [A]").find("the same name twice"), std::string::npos);
}

}  // namespace
}  // namespace cairn
