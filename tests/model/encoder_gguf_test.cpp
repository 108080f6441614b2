// Encoders in GGUF files.
#include <gtest/gtest.h>

#include "cairn/data/json.h"
#include "cairn/model/hf_config.h"
#include "gguf_writer.h"

namespace cairn {
namespace {

using test::GgufWriter;
using test::TemporaryFolder;
using test::value_of;

GgufFile read_header(const GgufWriter& w) {
  const TemporaryFolder folder;
  const std::string header = w.header();
  return value_of(read_gguf(folder.write("m.gguf", header, header.size() + w.data_bytes()),
                            test::facts().types));
}

void sizes(GgufWriter& w, const std::string& architecture) {
  w.text("general.architecture", architecture).u32(architecture + ".embedding_length", 64);
  w.u32(architecture + ".block_count", 2).u32(architecture + ".attention.head_count", 4);
  w.u32(architecture + ".feed_forward_length", 96).u32(architecture + ".context_length", 32);
  w.tensor("token_embd.weight", {64, 100}).tensor("token_types.weight", {64, 2});
  w.tensor("token_embd_norm.weight", {64}).tensor("token_embd_norm.bias", {64});
}

void norms_after(GgufWriter& w, const std::string& layer) {
  for (const char* name : {"attn_output_norm", "layer_output_norm"}) {
    w.tensor(layer + name + ".weight", {64}).tensor(layer + name + ".bias", {64});
  }
}

GgufWriter bert() {
  GgufWriter w;
  sizes(w, "bert");
  w.tensor("position_embd.weight", {64, 32});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      w.tensor(layer + name + ".weight", {64, 64}).tensor(layer + name + ".bias", {64});
    }
    w.tensor(layer + "ffn_up.weight", {64, 96}).tensor(layer + "ffn_up.bias", {96});
    w.tensor(layer + "ffn_down.weight", {96, 64}).tensor(layer + "ffn_down.bias", {64});
    norms_after(w, layer);
  }
  return w;
}

// A file of llama.cpp has what its checkpoint has, without the pooler.
TEST(GgufEncoder, BertIsThatOfItsConfiguration) {
  const GgufFile file = read_header(bert());
  const Graph graph = build_graph(value_of(spec_from_gguf(file)));
  const Document config = value_of(parse_json(
      R"({"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 64,
          "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96,
          "vocab_size": 100, "max_position_embeddings": 32, "type_vocab_size": 2})",
      "config.json"));
  const ModelSpec named = value_of(spec_from_hf_config(config.root(), "bert"));
  EXPECT_EQ(graph.spec.layers, named.layers);
  EXPECT_EQ(count_parameters(graph).total + 64 * 64 + 64,
            count_parameters(build_graph(named)).total);
  EXPECT_EQ(file.weights(), count_parameters(graph).total);
  const GgufWeights weights = value_of(bind_gguf(file, graph, test::facts().formats));
  EXPECT_TRUE(weights.other.empty());
  EXPECT_EQ(weights.bound.total(graph).value(), static_cast<double>(file.tensor_bytes()));
}

TEST(GgufEncoder, RerankersHaveTheirClassifier) {
  GgufWriter w = bert();
  w.tensor("cls.weight", {64, 64}).tensor("cls.bias", {64});
  w.tensor("cls.output.weight", {64, 1}).tensor("cls.output.bias", {1});
  const GgufFile file = read_header(w);
  const Graph graph = build_graph(value_of(spec_from_gguf(file)));
  EXPECT_EQ(file.weights(), count_parameters(graph).total);
  EXPECT_TRUE(value_of(bind_gguf(file, graph, test::facts().formats)).other.empty());
}

// Queries, keys and values in one matrix, and a gate.
TEST(GgufEncoder, NomicBert) {
  GgufWriter w;
  sizes(w, "nomic-bert");
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    w.tensor(layer + "attn_qkv.weight", {64, 192}).tensor(layer + "attn_output.weight", {64, 64});
    w.tensor(layer + "ffn_gate.weight", {64, 96}).tensor(layer + "ffn_up.weight", {64, 96});
    w.tensor(layer + "ffn_down.weight", {96, 64});
    norms_after(w, layer);
  }
  const GgufFile file = read_header(w);
  const Graph graph = build_graph(value_of(spec_from_gguf(file)));
  EXPECT_TRUE(graph.spec.layers[0].feed_forward.gated);
  EXPECT_FALSE(graph.spec.layers[0].attention.qkv_bias);
  EXPECT_EQ(file.weights(), count_parameters(graph).total);
  EXPECT_TRUE(value_of(bind_gguf(file, graph, test::facts().formats)).other.empty());
}

TEST(GgufEncoder, HeadsThatDoNotDivideAreNamed) {
  GgufWriter w;
  w.text("general.architecture", "bert").u32("bert.embedding_length", 64);
  w.u32("bert.block_count", 1).u32("bert.attention.head_count", 5);
  w.u32("bert.feed_forward_length", 96).u32("bert.context_length", 32);
  w.tensor("token_embd.weight", {64, 100});
  const auto spec = spec_from_gguf(read_header(w));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().field, "bert.attention.head_count");
}

}  // namespace
}  // namespace cairn
