// Small files of the families with tensors outside the usual pattern, by the names and shapes
// of llama.cpp's loaders (https://github.com/ggml-org/llama.cpp/tree/master/src/models).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cairn/model/gguf.h"
#include "cairn/model/graph.h"
#include "facts.h"
#include "gguf_writer.h"

namespace cairn {
namespace {

using test::GgufWriter;
using test::parse;
using test::value_of;

struct Shape {
  std::string name;
  std::vector<std::uint64_t> size;
};

/// A file of fp32 tensors: what every model has, and more by layer.
class SmallFile {
 public:
  SmallFile(std::string architecture, std::uint32_t layers) : arch_(std::move(architecture)) {
    writer.text("general.architecture", arch_).u32(key("embedding_length"), 64);
    writer.u32(key("context_length"), 512).u32(key("block_count"), layers);
    tensors_ = {{"token_embd.weight", {64, 100}}, {"output_norm.weight", {64}}};
  }
  [[nodiscard]] std::string key(std::string_view name) const {
    return arch_ + "." + std::string(name);
  }
  SmallFile& add(const std::vector<Shape>& shapes) {
    tensors_.insert(tensors_.end(), shapes.begin(), shapes.end());
    return *this;
  }
  SmallFile& layer(int i, const std::vector<Shape>& shapes) {
    for (const Shape& s : shapes) {
      tensors_.push_back({"blk." + std::to_string(i) + "." + s.name, s.size});
    }
    return *this;
  }
  [[nodiscard]] GgufFile file() const {
    GgufWriter w = writer;
    for (const Shape& s : tensors_) w.tensor(s.name, s.size, 0);
    return value_of(parse(w.file()));
  }
  /// Weights of all its tensors.
  [[nodiscard]] std::int64_t weights() const {
    std::int64_t sum = 0;
    for (const Shape& s : tensors_) {
      std::int64_t n = 1;
      for (const std::uint64_t d : s.size) n *= static_cast<std::int64_t>(d);
      sum += n;
    }
    return sum;
  }

  GgufWriter writer;

 private:
  std::string arch_;
  std::vector<Shape> tensors_;
};

// Every tensor is one of the graph, and has the weights that the graph counts.
ModelSpec whole(const SmallFile& small) {
  const GgufFile file = small.file();
  const ModelSpec spec = value_of(spec_from_gguf(file));
  const Graph graph = build_graph(spec);
  const GgufWeights bound = value_of(bind_gguf(file, graph, test::facts().formats));
  EXPECT_TRUE(bound.other.empty()) << bound.other.front();
  EXPECT_EQ(count_parameters(graph).total, small.weights());
  return spec;
}

std::vector<Shape> v4_layer() {
  return {{"attn_norm.weight", {64}},
          {"attn_sinks.weight", {4}},
          {"attn_q_a.weight", {64, 16}},
          {"attn_q_a_norm.weight", {16}},
          {"attn_q_b.weight", {16, 128}},
          {"attn_kv.weight", {64, 32}},
          {"attn_kv_a_norm.weight", {32}},
          {"attn_output_a.weight", {64, 48}},
          {"attn_output_b.weight", {48, 64}},
          {"hc_attn_fn.weight", {256, 24}},
          {"hc_attn_base.weight", {24}},
          {"hc_attn_scale.weight", {3}},
          {"hc_ffn_fn.weight", {256, 24}},
          {"hc_ffn_base.weight", {24}},
          {"hc_ffn_scale.weight", {3}},
          {"ffn_norm.weight", {64}},
          {"ffn_gate_inp.weight", {64, 8}},
          {"ffn_gate_exps.weight", {64, 32, 8}},
          {"ffn_down_exps.weight", {32, 64, 8}},
          {"ffn_up_exps.weight", {64, 32, 8}},
          {"ffn_gate_shexp.weight", {64, 32}},
          {"ffn_down_shexp.weight", {32, 64}},
          {"ffn_up_shexp.weight", {64, 32}}};
}

TEST(GgufSparse, DeepSeekV4) {
  SmallFile m("deepseek4", 2);
  m.writer.u32(m.key("attention.head_count"), 4).u32(m.key("attention.head_count_kv"), 1);
  m.writer.u32(m.key("attention.key_length"), 32).u32(m.key("attention.sliding_window"), 128);
  m.writer.u32(m.key("attention.indexer.head_count"), 2);
  m.writer.u32(m.key("attention.indexer.key_length"), 16);
  m.writer.u32(m.key("attention.indexer.top_k"), 512);
  m.writer.u32(m.key("expert_count"), 8).u32(m.key("expert_used_count"), 2);
  m.add({{"output.weight", {64, 100}},
         {"output_hc_fn.weight", {256, 4}},
         {"output_hc_base.weight", {4}},
         {"output_hc_scale.weight", {1}}});
  m.layer(0, v4_layer()).layer(0, {{"ffn_gate_tid2eid.weight", {2, 100}}});
  m.layer(1, v4_layer());
  m.layer(1, {{"exp_probs_b.bias", {8}},
              {"attn_compressor_kv.weight", {64, 64}},
              {"attn_compressor_gate.weight", {64, 64}},
              {"attn_compressor_ape.weight", {64, 4}},
              {"attn_compressor_norm.weight", {32}},
              {"indexer.proj.weight", {64, 2}},
              {"indexer.attn_q_b.weight", {16, 32}},
              {"indexer_compressor_kv.weight", {64, 32}},
              {"indexer_compressor_gate.weight", {64, 32}},
              {"indexer_compressor_ape.weight", {32, 4}},
              {"indexer_compressor_norm.weight", {16}}});
  const ModelSpec spec = whole(m);
  const AttentionSpec& window = spec.layers[0].attention;
  EXPECT_EQ(window.kind, AttentionKind::compressed);
  EXPECT_EQ(window.compress, 0);
  EXPECT_EQ(window.output_groups, 2);  // 4 heads of 32, 64 features a group
  EXPECT_EQ(window.output_rank, 24);
  EXPECT_FALSE(spec.layers[0].feed_forward.router_bias);
  const AttentionSpec& chosen = spec.layers[1].attention;
  EXPECT_EQ(chosen.compress, 4);
  EXPECT_EQ(chosen.index_heads, 2);
  EXPECT_EQ(chosen.index_topk, 512);
}

std::vector<Shape> gemma_layer(std::uint64_t head, std::uint64_t kv, bool values) {
  std::vector<Shape> shapes = {{"attn_norm.weight", {64}},
                               {"attn_q.weight", {64, 4 * head}},
                               {"attn_k.weight", {64, kv * head}},
                               {"attn_output.weight", {4 * head, 64}},
                               {"attn_q_norm.weight", {head}},
                               {"attn_k_norm.weight", {head}},
                               {"post_attention_norm.weight", {64}},
                               {"layer_output_scale.weight", {1}},
                               {"ffn_norm.weight", {64}},
                               {"ffn_gate.weight", {64, 96}},
                               {"ffn_up.weight", {64, 96}},
                               {"ffn_down.weight", {96, 64}},
                               {"post_ffw_norm.weight", {64}}};
  if (values) shapes.push_back({"attn_v.weight", {64, kv * head}});
  return shapes;
}

TEST(GgufSparse, Gemma4WithExpertsBesideADensePart) {
  SmallFile m("gemma4", 2);
  m.writer.u32(m.key("attention.head_count"), 4);
  m.writer.u32s(m.key("attention.head_count_kv"), {2, 1});
  m.writer.u32(m.key("attention.key_length"), 32).u32(m.key("attention.key_length_swa"), 16);
  m.writer.u32(m.key("attention.value_length"), 32).u32(m.key("attention.value_length_swa"), 16);
  m.writer.u32(m.key("attention.sliding_window"), 128);
  m.writer.bools(m.key("attention.sliding_window_pattern"), {true, false});
  m.writer.u32(m.key("expert_count"), 8).u32(m.key("expert_used_count"), 2);
  const std::vector<Shape> experts = {
      {"ffn_gate_inp.weight", {64, 8}},      {"ffn_gate_inp.scale", {64}},
      {"pre_ffw_norm_2.weight", {64}},       {"post_ffw_norm_1.weight", {64}},
      {"post_ffw_norm_2.weight", {64}},      {"ffn_gate_up_exps.weight", {64, 64, 8}},
      {"ffn_down_exps.weight", {32, 64, 8}}, {"ffn_down_exps.scale", {8}}};
  m.layer(0, gemma_layer(16, 2, true)).layer(0, experts);
  m.layer(1, gemma_layer(32, 1, false)).layer(1, experts);
  const ModelSpec spec = whole(m);
  EXPECT_EQ(spec.layers[0].attention.kind, AttentionKind::sliding);
  EXPECT_EQ(spec.layers[0].attention.head_dim, 16);
  EXPECT_EQ(spec.layers[1].attention.head_dim, 32);
  EXPECT_TRUE(spec.layers[1].attention.v_from_k);
  // Keys and values are both kept: 2 x 1 x 32 elements a position.
  EXPECT_EQ(kv_elements_per_token(spec.layers[1].attention), 64);
  EXPECT_EQ(spec.layers[0].feed_forward.intermediate, 96);
  EXPECT_EQ(spec.layers[0].feed_forward.experts, 8);
}

TEST(GgufSparse, Gemma4WithInputsOfEveryLayer) {
  SmallFile m("gemma4", 2);
  m.writer.u32(m.key("attention.head_count"), 4).u32(m.key("attention.head_count_kv"), 1);
  m.writer.u32(m.key("attention.key_length"), 16).u32(m.key("attention.shared_kv_layers"), 1);
  m.add({{"per_layer_token_embd.weight", {16, 100}},
         {"per_layer_model_proj.weight", {64, 16}},
         {"per_layer_proj_norm.weight", {8}}});
  const std::vector<Shape> inputs = {
      {"inp_gate.weight", {64, 8}}, {"proj.weight", {8, 64}}, {"post_norm.weight", {64}}};
  m.layer(0, gemma_layer(16, 1, true)).layer(0, inputs);
  m.layer(1, gemma_layer(16, 1, true)).layer(1, inputs);
  const ModelSpec spec = whole(m);
  EXPECT_FALSE(spec.layers[0].attention.shares_kv);
  EXPECT_TRUE(spec.layers[1].attention.shares_kv);
}

TEST(GgufSparse, IndexersOfGlm52AreShared) {
  SmallFile m("glm-dsa", 2);
  m.writer.u32(m.key("attention.head_count"), 4).u32(m.key("attention.head_count_kv"), 1);
  m.writer.u32(m.key("attention.key_length_mla"), 24).u32(m.key("attention.value_length_mla"), 16);
  m.writer.u32(m.key("attention.kv_lora_rank"), 32).u32(m.key("attention.q_lora_rank"), 16);
  m.writer.u32(m.key("rope.dimension_count"), 8);
  m.writer.u32(m.key("attention.indexer.head_count"), 2);
  m.writer.u32(m.key("attention.indexer.key_length"), 16);
  m.writer.u32(m.key("attention.indexer.top_k"), 2048);
  m.add({{"output.weight", {64, 100}}});
  for (const int i : {0, 1}) {
    m.layer(i, {{"attn_norm.weight", {64}},
                {"attn_q_a.weight", {64, 16}},
                {"attn_q_a_norm.weight", {16}},
                {"attn_q_b.weight", {16, 96}},
                {"attn_kv_a_mqa.weight", {64, 40}},
                {"attn_kv_a_norm.weight", {32}},
                {"attn_k_b.weight", {16, 32, 4}},
                {"attn_v_b.weight", {32, 16, 4}},
                {"attn_output.weight", {64, 64}},
                {"ffn_norm.weight", {64}},
                {"ffn_gate.weight", {64, 96}},
                {"ffn_up.weight", {64, 96}},
                {"ffn_down.weight", {96, 64}}});
  }
  m.layer(0, {{"indexer.k_norm.weight", {16}},
              {"indexer.k_norm.bias", {16}},
              {"indexer.proj.weight", {64, 2}},
              {"indexer.attn_k.weight", {64, 16}},
              {"indexer.attn_q_b.weight", {16, 32}}});
  const ModelSpec spec = whole(m);
  EXPECT_FALSE(spec.layers[0].attention.index_shared);
  EXPECT_TRUE(spec.layers[1].attention.index_shared);
  EXPECT_EQ(spec.layers[1].attention.index_topk, 2048);
}

// Heads by layer, gates by head, and a draft layer behind (Step 3.5).
TEST(GgufSparse, Step35) {
  SmallFile m("step35", 3);
  m.writer.u32s(m.key("attention.head_count"), {4, 8, 8});
  m.writer.u32(m.key("attention.head_count_kv"), 2).u32(m.key("attention.key_length"), 16);
  m.writer.u32(m.key("attention.sliding_window"), 128).u32(m.key("nextn_predict_layers"), 1);
  m.writer.bools(m.key("attention.sliding_window_pattern"), {false, true, true});
  m.add({{"output.weight", {64, 100}}});
  for (const auto& [i, heads] :
       std::vector<std::pair<int, std::uint64_t>>{{0, 4}, {1, 8}, {2, 8}}) {
    m.layer(i, {{"attn_norm.weight", {64}},
                {"attn_q.weight", {64, 16 * heads}},
                {"attn_k.weight", {64, 32}},
                {"attn_v.weight", {64, 32}},
                {"attn_output.weight", {16 * heads, 64}},
                {"attn_q_norm.weight", {16}},
                {"attn_k_norm.weight", {16}},
                {"attn_gate.weight", {64, heads}},
                {"ffn_norm.weight", {64}},
                {"ffn_gate.weight", {64, 96}},
                {"ffn_up.weight", {64, 96}},
                {"ffn_down.weight", {96, 64}}});
  }
  m.layer(2, {{"nextn.eh_proj.weight", {128, 64}},
              {"nextn.enorm.weight", {64}},
              {"nextn.hnorm.weight", {64}},
              {"nextn.shared_head_norm.weight", {64}}});
  const GgufFile file = m.file();
  const ModelSpec spec = value_of(spec_from_gguf(file));
  const Graph graph = build_graph(spec);
  EXPECT_EQ(spec.layers.size(), 2U);
  EXPECT_EQ(spec.layers[1].attention.heads, 8);
  EXPECT_EQ(spec.layers[1].attention.window, 128);
  ASSERT_TRUE(bind_gguf(file, graph, test::facts().formats));
  EXPECT_EQ(count_parameters(graph).total + count_mtp_parameters(graph), m.weights());
}

// A block without attention, and one whose attention is a matrix (Nemotron 51B).
TEST(GgufSparse, Deci) {
  SmallFile m("deci", 3);
  m.writer.u32s(m.key("attention.head_count"), {4, 0, 4});
  m.writer.u32s(m.key("attention.head_count_kv"), {2, 0, 0});
  m.add({{"output.weight", {64, 100}}});
  const std::vector<Shape> ffn = {{"ffn_norm.weight", {64}},
                                  {"ffn_gate.weight", {64, 96}},
                                  {"ffn_up.weight", {64, 96}},
                                  {"ffn_down.weight", {96, 64}}};
  m.layer(0, {{"attn_norm.weight", {64}},
              {"attn_q.weight", {64, 64}},
              {"attn_k.weight", {64, 32}},
              {"attn_v.weight", {64, 32}},
              {"attn_output.weight", {64, 64}}});
  m.layer(0, ffn).layer(1, ffn).layer(2, ffn);
  m.layer(2, {{"attn_norm.weight", {64}}, {"attn_output.weight", {64, 64}}});
  const ModelSpec spec = whole(m);
  EXPECT_EQ(spec.layers[1].attention.heads, 0);
  EXPECT_EQ(spec.layers[2].extras.size(), 1U);
}

}  // namespace
}  // namespace cairn
