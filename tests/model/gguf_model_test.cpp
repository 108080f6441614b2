// From a GGUF header to spec and bound weights.
#include <gtest/gtest.h>

#include <algorithm>

#include "gguf_writer.h"
#include "shapes.h"

namespace cairn {
namespace {

using test::GgufWriter;
using test::parse;
using test::TemporaryFolder;
using test::value_of;

// The header in a file of full size, whose data is a hole.
GgufFile read_header(const GgufWriter& w) {
  const TemporaryFolder folder;
  const std::string header = w.header();
  return value_of(read_gguf(folder.write("m.gguf", header, header.size() + w.data_bytes()),
                            test::facts().types));
}

void expect_equal(const Graph& got, const Graph& want) {
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (std::size_t i = 0; i < got.tensors.size(); ++i) {
    const Tensor& g = got.tensors[i];
    const Tensor& w = want.tensors[i];
    ASSERT_EQ(role_name(g.role), role_name(w.role)) << i;
    ASSERT_EQ(role_name(g.owner), role_name(w.owner)) << i;
    ASSERT_EQ(g.layer, w.layer) << i;
    ASSERT_EQ(g.rows, w.rows) << role_name(g.role);
    ASSERT_EQ(g.columns, w.columns) << role_name(g.role);
    ASSERT_EQ(g.experts, w.experts) << role_name(g.role);
  }
}

struct Published {
  std::string_view model, architecture, format;
};

constexpr std::array<Published, 12> kPublished = {{
    {"llama-3.1-8b", "llama", "q4_k_m"},
    {"llama-3.2-1b", "llama", "q8_0"},
    {"mixtral-8x7b", "llama", "q4_k_m"},
    {"qwen2.5-7b", "qwen2", "q5_k_m"},
    {"qwen3-8b", "qwen3", "q6_k"},
    {"qwen3-30b-a3b", "qwen3moe", "q4_k_m"},
    {"gemma-2-9b", "gemma2", "q4_k_m"},
    {"gemma-3-27b", "gemma3", "iq4_xs"},
    {"gpt-oss-20b", "gpt-oss", "mxfp4_moe"},
    {"phi-3-mini", "phi3", "q4_0"},
    {"deepseek-v2-lite", "deepseek2", "q4_k_m"},
    {"deepseek-r1", "deepseek2", "q2_k"},
}};

// What a file of llama.cpp says of itself is what it was written from, and the
// bytes in its header are those that the recipe leads to expect.
TEST(GgufModel, SpecAndBytesOfPublishedModels) {
  for (const auto& [model, architecture, format] : kPublished) {
    SCOPED_TRACE(model);
    const Graph want = build_graph(test::spec_named(model));
    const GgufFile file = read_header(test::write_model(want, architecture, format));
    const ModelSpec spec = value_of(spec_from_gguf(file));
    EXPECT_EQ(spec.id, model);
    EXPECT_EQ(spec.architecture, architecture);
    EXPECT_EQ(spec.tied_embeddings, want.spec.tied_embeddings);
    const Graph got = build_graph(spec);
    ASSERT_NO_FATAL_FAILURE(expect_equal(got, want));
    const GgufWeights weights = value_of(bind_gguf(file, got, test::facts().formats));
    EXPECT_EQ(weights.bound.format, format);
    EXPECT_TRUE(weights.other.empty());
    const BoundWeights expected = value_of(test::facts().formats.bind(want, format));
    EXPECT_EQ(weights.bound.total(got).value(), static_cast<double>(file.tensor_bytes()));
    for (std::size_t i = 0; i < got.tensors.size(); ++i) {
      ASSERT_EQ(weights.bound.types[i], expected.types[i]) << role_name(got.tensors[i].role);
      ASSERT_EQ(weights.bound.bytes(got, i).value(), expected.bytes(want, i).value());
    }
  }
}

// A small model, tensor by tensor, with whatever a test changes.
struct Small {
  std::string arch = "llama";
  std::vector<test::TensorEntry> tensors = {{"token_embd.weight", {64, 100}, 0},
                                            {"output_norm.weight", {64}, 0},
                                            {"output.weight", {64, 100}, 0}};
  GgufWriter writer;

  explicit Small(std::string_view architecture = "llama", std::uint32_t layers = 2)
      : arch(architecture) {
    writer.text("general.architecture", arch).u32(arch + ".embedding_length", 64);
    writer.u32(arch + ".context_length", 512).u32(arch + ".attention.head_count", 4);
    writer.u32(arch + ".block_count", layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
      add(i, "attn_norm.weight", {64}).add(i, "attn_output.weight", {64, 64});
      add(i, "ffn_norm.weight", {64}).add(i, "ffn_down.weight", {96, 64});
    }
  }
  Small& add(std::uint32_t layer, std::string_view name, std::vector<std::uint64_t> size) {
    tensors.push_back(
        {"blk." + std::to_string(layer) + "." + std::string(name), std::move(size), 0});
    return *this;
  }
  Small& separate(std::uint32_t layer) {
    add(layer, "attn_q.weight", {64, 64}).add(layer, "attn_k.weight", {64, 32});
    add(layer, "attn_v.weight", {64, 32}).add(layer, "ffn_gate.weight", {64, 96});
    return add(layer, "ffn_up.weight", {64, 96});
  }
  Small& drop(std::string_view name) {
    std::erase_if(tensors, [&](const test::TensorEntry& t) { return t.name == name; });
    return *this;
  }
  [[nodiscard]] GgufFile file() const {
    GgufWriter w = writer;
    for (const test::TensorEntry& t : tensors) w.tensor(t.name, t.size, t.type);
    return value_of(parse(w.file()));
  }
  [[nodiscard]] Result<GgufWeights> bound() const {
    const GgufFile f = file();
    CAIRN_TRY(ModelSpec spec, spec_from_gguf(f));
    return bind_gguf(f, build_graph(spec), test::facts().formats);
  }
};

Small two_layers(std::string_view architecture = "llama") {
  Small m(architecture);
  m.writer.u32(m.arch + ".attention.head_count_kv", 2);
  return m.separate(0).separate(1);
}

TEST(GgufModel, FusedMatricesAreShared) {
  Small m("phi3", 1);
  m.writer.u32("phi3.attention.head_count_kv", 2).u32("phi3.attention.sliding_window", 256);
  m.add(0, "attn_qkv.weight", {64, 64 + 32 + 32}).add(0, "ffn_up.weight", {64, 2 * 96});
  const GgufFile f = m.file();
  const Graph graph = build_graph(value_of(spec_from_gguf(f)));
  EXPECT_TRUE(graph.spec.layers[0].feed_forward.gated);
  EXPECT_EQ(graph.spec.layers[0].feed_forward.intermediate, 96);
  EXPECT_EQ(graph.spec.layers[0].attention.kind, AttentionKind::sliding);
  const GgufWeights w = value_of(bind_gguf(f, graph, test::facts().formats));
  EXPECT_EQ(w.bound.total(graph).value(), static_cast<double>(f.tensor_bytes()));
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    EXPECT_EQ(w.bound.bytes(graph, i).value(),
              4.0 * static_cast<double>(graph.tensors[i].weights()));
  }
}

// One matrix for the keys and values of latent attention, as files had it until
// 2025: key_length and value_length are then the true ones.
TEST(GgufModel, LatentAttentionBeforeTheSplit) {
  Small m("deepseek2", 1);
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::uint32_t>>{
           {"key_length", 24}, {"value_length", 16}, {"kv_lora_rank", 32}}) {
    m.writer.u32("deepseek2.attention." + key, value);
  }
  m.writer.u32("deepseek2.rope.dimension_count", 8);
  m.add(0, "attn_q.weight", {64, 96}).add(0, "attn_kv_a_mqa.weight", {64, 40});
  m.add(0, "attn_kv_a_norm.weight", {32}).add(0, "attn_kv_b.weight", {32, 4 * (16 + 16)});
  m.add(0, "ffn_gate.weight", {64, 96}).add(0, "ffn_up.weight", {64, 96});
  const ModelSpec spec = value_of(spec_from_gguf(m.file()));
  EXPECT_EQ(spec.layers[0].attention.kind, AttentionKind::mla);
  EXPECT_EQ(spec.layers[0].attention.qk_nope_head_dim, 16);
  EXPECT_EQ(spec.layers[0].attention.v_head_dim, 16);
  EXPECT_TRUE(value_of(m.bound()).other.empty());
}

// Files of 2023 have a tensor for each expert.
TEST(GgufModel, OneTensorForEachExpert) {
  Small m("llama", 1);
  m.writer.u32("llama.expert_count", 3).u32("llama.expert_used_count", 2);
  m.add(0, "attn_q.weight", {64, 64}).add(0, "attn_k.weight", {64, 64});
  m.add(0, "attn_v.weight", {64, 64}).add(0, "ffn_gate_inp.weight", {64, 3});
  m.drop("blk.0.ffn_down.weight");
  for (const std::string e : {"0", "1", "2"}) {
    m.add(0, "ffn_gate." + e + ".weight", {64, 32}).add(0, "ffn_up." + e + ".weight", {64, 32});
    m.add(0, "ffn_down." + e + ".weight", {32, 64});
  }
  const GgufFile f = m.file();
  const Graph graph = build_graph(value_of(spec_from_gguf(f)));
  EXPECT_EQ(graph.spec.layers[0].feed_forward.expert_intermediate, 32);
  EXPECT_EQ(value_of(m.bound()).bound.total(graph).value(), static_cast<double>(f.tensor_bytes()));
  m.drop("blk.0.ffn_up.2.weight");
  EXPECT_EQ(m.bound().error().field, "blk.0.ffn_up.2.weight");
}

std::string windows(const ModelSpec& spec) {
  std::string out;
  for (const LayerSpec& layer : spec.layers) {
    out += layer.attention.kind == AttentionKind::full      ? 'f'
           : layer.attention.kind == AttentionKind::sliding ? 's'
                                                            : 'c';
  }
  return out;
}

// Which layers have a window: every sixth layer of Gemma 3 and every second of
// gpt-oss and Gemma 2 sees everything, every fourth of Llama 4 and Command R7B.
TEST(GgufModel, Windows) {
  const auto of = [](std::string_view arch, bool window) {
    Small m(arch, 7);
    for (std::uint32_t i = 0; i < 7; ++i) {
      m.separate(i);
      m.drop("blk." + std::to_string(i) + ".attn_k.weight");
      m.drop("blk." + std::to_string(i) + ".attn_v.weight");
      m.add(i, "attn_k.weight", {64, 64}).add(i, "attn_v.weight", {64, 64});
    }
    if (window) m.writer.u32(m.arch + ".attention.sliding_window", 128);
    return windows(value_of(spec_from_gguf(m.file())));
  };
  EXPECT_EQ(of("gemma3", true), "sssssfs");
  EXPECT_EQ(of("gemma2", true), "sfsfsfs");
  EXPECT_EQ(of("gpt-oss", true), "sfsfsfs");
  EXPECT_EQ(of("cohere2", true), "sssfsss");
  EXPECT_EQ(of("llama4", false), "cccfccc");
  EXPECT_EQ(of("phi3", true), "sssssss");
  EXPECT_EQ(of("llama", true), "fffffff");  // Mistral 0.1: llama.cpp does not apply it
  EXPECT_EQ(of("gemma3", false), "fffffff");
}

TEST(GgufModel, HeadsOfEachLayer) {
  Small m("llama", 2);
  m.writer.u32s("llama.attention.head_count_kv", {2, 4});
  m.separate(0).separate(1);
  m.drop("blk.1.attn_k.weight").drop("blk.1.attn_v.weight");
  m.add(1, "attn_k.weight", {64, 64}).add(1, "attn_v.weight", {64, 64});
  const ModelSpec spec = value_of(spec_from_gguf(m.file()));
  EXPECT_EQ(spec.layers[0].attention.kv_heads, 2);
  EXPECT_EQ(spec.layers[1].attention.kv_heads, 4);
  EXPECT_TRUE(m.bound());
}

// Tensors that are no part of the graph are counted and named.
TEST(GgufModel, OtherTensors) {
  Small m = two_layers();
  m.tensors.push_back({"rope_freqs.weight", {8}, 0});
  m.tensors.push_back({"mystery.weight", {64, 64}, 0});
  const GgufWeights w = value_of(m.bound());
  EXPECT_EQ(w.other, (std::vector<std::string>{"rope_freqs.weight", "mystery.weight"}));
  EXPECT_EQ(w.other_bytes.value(), 4.0 * (8 + 4096));
}

// Layers that draft tokens are counted among the blocks, and are parts of their own.
TEST(GgufModel, DraftingLayers) {
  Small m("glm4moe", 3);
  m.writer.u32("glm4moe.nextn_predict_layers", 1).u32("glm4moe.attention.head_count_kv", 2);
  m.separate(0).separate(1).separate(2);
  const ModelSpec spec = value_of(spec_from_gguf(m.file()));
  EXPECT_EQ(spec.layers.size(), 2U);
  EXPECT_TRUE(spec.parts.empty());  // counted, but left out of the file
  EXPECT_EQ(value_of(m.bound()).other.size(), 9U);
  m.add(2, "nextn.eh_proj.weight", {128, 64}).add(2, "nextn.shared_head_norm.weight", {64});
  const ModelSpec with = value_of(spec_from_gguf(m.file()));
  ASSERT_EQ(with.parts.size(), 1U);
  EXPECT_EQ(with.parts[0].part, ModelPart::mtp);
  // By hand: attention 64 x (64 + 64 + 32 + 32), feed-forward 3 x 64 x 96, the projection
  // 64 x 128, and five norms.
  EXPECT_EQ(count_mtp_parameters(build_graph(with)), 64 * 192 + 3 * 64 * 96 + 64 * 128 + 5 * 64);
}

TEST(GgufModel, WhatIsNotCoveredIsNamed) {
  const auto error = [](const Small& m) {
    const auto w = m.bound();
    return w ? Error{} : w.error();
  };
  const Error unknown = error(two_layers("martian"));
  EXPECT_EQ(unknown.kind, ErrorKind::unsupported);
  EXPECT_EQ(unknown.field, "general.architecture");
  EXPECT_EQ(unknown.value, "martian");
  EXPECT_EQ(error(two_layers().drop("token_embd.weight")).field, "token_embd.weight");
  EXPECT_EQ(error(two_layers().drop("blk.1.attn_k.weight")).field, "blk.1.attn_k.weight");
  EXPECT_EQ(error(two_layers().drop("blk.0.ffn_down.weight")).field, "blk.0.ffn_down.weight");
  Small shape = two_layers().drop("blk.1.attn_k.weight");
  shape.add(1, "attn_k.weight", {32, 64});
  EXPECT_EQ(error(shape).field, "blk.1.attn_k.weight");
  EXPECT_EQ(error(shape).value, "32 x 64 x 1");
  Small heads("llama", 2);
  heads.writer.u32s("llama.attention.head_count_kv", {2});
  EXPECT_EQ(error(heads.separate(0).separate(1)).field, "llama.attention.head_count_kv");
  Small none("llama", 2);
  none.writer.u32s("llama.attention.head_count_kv", {2, 0});
  EXPECT_EQ(error(none.separate(0).separate(1)).kind, ErrorKind::unsupported);
  EXPECT_EQ(value_of(parse(GgufWriter().file())).path, "test.gguf");
  EXPECT_EQ(spec_from_gguf(value_of(parse(GgufWriter().file()))).error().field,
            "general.architecture");
}

TEST(GgufModel, ArchitecturesAreSortedAndDistinct) {
  const auto names = gguf_architectures();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_GE(names.size(), 30U);
}

}  // namespace
}  // namespace cairn
