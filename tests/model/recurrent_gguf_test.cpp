// Files of hybrid and recurrent models, with the tensors that llama.cpp's loader asks for
// (src/models/*.cpp in https://github.com/ggml-org/llama.cpp), written down by hand.
#include <gtest/gtest.h>

#include "gguf_writer.h"

namespace cairn {
namespace {

using test::GgufWriter;
using test::parse;
using test::value_of;

using Size = std::vector<std::uint64_t>;

struct Part {
  std::string_view name;
  Size size;
};

class File {
 public:
  explicit File(std::string arch, std::uint32_t layers) : arch_(std::move(arch)) {
    writer_.text("general.architecture", arch_);
    key("embedding_length", 64).key("context_length", 512).key("block_count", layers);
    writer_.tensor("token_embd.weight", {64, 100}).tensor("output.weight", {64, 100});
  }
  File& key(std::string_view name, std::uint32_t value) {
    writer_.u32(arch_ + "." + std::string(name), value);
    return *this;
  }
  File& root(std::string name, Size size) {
    writer_.tensor(std::move(name), std::move(size));
    return *this;
  }
  File& layer(int i, const std::vector<Part>& parts) {
    for (const Part& p : parts) {
      writer_.tensor("blk." + std::to_string(i) + "." + std::string(p.name), p.size);
    }
    return *this;
  }
  /// The spec, after all tensors have found their place in its graph.
  ModelSpec bound(std::size_t other = 0) const {
    const GgufFile file = value_of(parse(writer_.file()));
    ModelSpec spec = value_of(spec_from_gguf(file));
    const Graph graph = build_graph(spec);
    const GgufWeights weights = value_of(bind_gguf(file, graph, test::facts().formats));
    EXPECT_EQ(weights.other.size(), other);
    EXPECT_EQ(weights.bound.total(graph).value() + weights.other_bytes.value(),
              static_cast<double>(file.tensor_bytes()));
    return spec;
  }
  [[nodiscard]] Result<ModelSpec> read() const {
    return spec_from_gguf(value_of(parse(writer_.file())));
  }

 private:
  std::string arch_;
  GgufWriter writer_;
};

const std::vector<Part> kDense = {
    {"ffn_gate.weight", {64, 96}}, {"ffn_up.weight", {64, 96}}, {"ffn_down.weight", {96, 64}}};

// Two value heads of 16 features on one key head; attention with a gate in its queries.
TEST(RecurrentGguf, Qwen35) {
  File f("qwen35", 3);
  f.key("nextn_predict_layers", 1).key("attention.head_count", 4);
  f.key("attention.head_count_kv", 2).key("attention.key_length", 8);
  f.key("attention.value_length", 8).key("full_attention_interval", 2);
  f.key("ssm.conv_kernel", 4).key("ssm.state_size", 16).key("ssm.group_count", 1);
  f.key("ssm.time_step_rank", 2).key("ssm.inner_size", 32);
  f.root("output_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"post_attention_norm.weight", {64}},
              {"attn_qkv.weight", {64, 64}},
              {"attn_gate.weight", {64, 32}},
              {"ssm_conv1d.weight", {4, 64}},
              {"ssm_dt.bias", {2}},
              {"ssm_a", {2}},
              {"ssm_beta.weight", {64, 2}},
              {"ssm_alpha.weight", {64, 2}},
              {"ssm_norm.weight", {16}},
              {"ssm_out.weight", {32, 64}}});
  const std::vector<Part> attention = {
      {"attn_norm.weight", {64}},  {"post_attention_norm.weight", {64}},
      {"attn_q.weight", {64, 64}}, {"attn_k.weight", {64, 16}},
      {"attn_v.weight", {64, 16}}, {"attn_output.weight", {32, 64}},
      {"attn_q_norm.weight", {8}}, {"attn_k_norm.weight", {8}}};
  f.layer(1, attention).layer(2, attention);
  for (int i = 0; i < 3; ++i) f.layer(i, kDense);
  f.layer(2, {{"nextn.eh_proj.weight", {128, 64}},
              {"nextn.enorm.weight", {64}},
              {"nextn.hnorm.weight", {64}},
              {"nextn.shared_head_norm.weight", {64}}});
  const ModelSpec s = f.bound(15);  // the eleven tensors of the draft layer, and four around
  EXPECT_EQ(s.family, "qwen3.5");
  const RecurrentSpec& r = s.layers[0].recurrent;
  EXPECT_EQ(r.kind, RecurrentKind::gated_delta_net);
  EXPECT_TRUE(r.split_gates);
  EXPECT_EQ(r.state_elements(), 2 * 16 * 16);
  EXPECT_EQ(r.window_elements(64), 3 * 64);
  EXPECT_EQ(s.layers[0].attention.heads, 0);
  EXPECT_TRUE(s.layers[1].attention.output_gate);
  ASSERT_EQ(s.parts.size(), 1U);
  EXPECT_EQ(s.parts[0].part, ModelPart::mtp);
}

// The first files of Qwen3-Next have one matrix for queries, keys, values and gate.
TEST(RecurrentGguf, Qwen3NextWithOneMatrix) {
  File f("qwen3next", 1);
  f.key("attention.head_count", 4).key("attention.head_count_kv", 2);
  f.key("ssm.conv_kernel", 4).key("ssm.state_size", 16).key("ssm.group_count", 1);
  f.key("ssm.time_step_rank", 2).key("ssm.inner_size", 32);
  f.root("output_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"post_attention_norm.weight", {64}},
              {"ssm_in.weight", {64, 96}},
              {"ssm_ba.weight", {64, 4}},
              {"ssm_conv1d.weight", {4, 64}},
              {"ssm_dt.bias", {2}},
              {"ssm_a", {2}},
              {"ssm_norm.weight", {16}},
              {"ssm_out.weight", {32, 64}}});
  f.layer(0, kDense);
  EXPECT_FALSE(f.bound().layers[0].recurrent.split_gates);
}

// A state space, attention and experts on a latent, each a layer with one norm.
TEST(RecurrentGguf, NemotronH) {
  File f("nemotron_h_moe", 3);
  f.key("attention.head_count", 4).key("attention.head_count_kv", 2);
  f.key("attention.key_length", 16).key("attention.value_length", 16);
  f.key("ssm.conv_kernel", 4).key("ssm.state_size", 8).key("ssm.group_count", 2);
  f.key("ssm.time_step_rank", 4).key("ssm.inner_size", 64);
  f.key("expert_count", 8).key("expert_used_count", 2).root("output_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"ssm_in.weight", {64, 64 + 64 + 2 * 2 * 8 + 4}},
              {"ssm_conv1d.weight", {4, 96}},
              {"ssm_conv1d.bias", {96}},
              {"ssm_dt.bias", {4}},
              {"ssm_a", {1, 4}},
              {"ssm_d", {1, 4}},
              {"ssm_norm.weight", {32, 2}},
              {"ssm_out.weight", {64, 64}}});
  f.layer(1, {{"attn_norm.weight", {64}},
              {"attn_q.weight", {64, 64}},
              {"attn_k.weight", {64, 32}},
              {"attn_v.weight", {64, 32}},
              {"attn_output.weight", {64, 64}}});
  f.layer(2, {{"attn_norm.weight", {64}},
              {"ffn_gate_inp.weight", {64, 8}},
              {"exp_probs_b.bias", {8}},
              {"ffn_latent_down.weight", {64, 32}},
              {"ffn_latent_up.weight", {32, 64}},
              {"ffn_up_exps.weight", {32, 48, 8}},
              {"ffn_down_exps.weight", {48, 32, 8}},
              {"ffn_up_shexp.weight", {64, 40}},
              {"ffn_down_shexp.weight", {40, 64}}});
  const ModelSpec s = f.bound();
  EXPECT_EQ(s.layers[0].recurrent.kind, RecurrentKind::mamba2);
  EXPECT_EQ(s.layers[0].recurrent.value_dim, 16);
  EXPECT_EQ(s.layers[0].norms, 1);
  EXPECT_EQ(s.layers[1].attention.kv_heads, 2);
  EXPECT_EQ(s.layers[2].feed_forward.latent, 32);
  EXPECT_FALSE(s.layers[2].feed_forward.gated);
}

const std::vector<Part> kMamba = {{"attn_norm.weight", {64}},
                                  {"ssm_in.weight", {64, 256}},
                                  {"ssm_conv1d.weight", {4, 128}},
                                  {"ssm_conv1d.bias", {128}},
                                  {"ssm_x.weight", {128, 4 + 32}},
                                  {"ssm_dt.weight", {4, 128}},
                                  {"ssm_dt.bias", {128}},
                                  {"ssm_a", {16, 128}},
                                  {"ssm_d", {128}},
                                  {"ssm_out.weight", {128, 64}}};

TEST(RecurrentGguf, MambaAndJamba) {
  for (const std::string arch : {"mamba", "jamba"}) {
    SCOPED_TRACE(arch);
    File f(arch, arch == "mamba" ? 1 : 2);
    f.key("ssm.conv_kernel", 4).key("ssm.state_size", 16).key("ssm.time_step_rank", 4);
    f.key("ssm.inner_size", 128).root("output_norm.weight", {64}).layer(0, kMamba);
    if (arch == "jamba") {
      f.key("attention.head_count", 4).key("attention.head_count_kv", 2);
      f.layer(0, {{"ssm_dt_norm.weight", {4}},
                  {"ssm_b_norm.weight", {16}},
                  {"ssm_c_norm.weight", {16}},
                  {"ffn_norm.weight", {64}}});
      f.layer(0, kDense).layer(1, kDense);
      f.layer(1, {{"attn_norm.weight", {64}},
                  {"attn_q.weight", {64, 64}},
                  {"attn_k.weight", {64, 32}},
                  {"attn_v.weight", {64, 32}},
                  {"attn_output.weight", {64, 64}},
                  {"ffn_norm.weight", {64}}});
    }
    const ModelSpec s = f.bound();
    const RecurrentSpec& r = s.layers[0].recurrent;
    EXPECT_EQ(r.kind, RecurrentKind::mamba);
    EXPECT_EQ(r.state_elements(), 16 * 128);
    EXPECT_EQ(r.inner_norms, arch == "jamba");
    EXPECT_EQ(s.layers.back().attention.heads, arch == "jamba" ? 4 : 0);
  }
}

TEST(RecurrentGguf, FalconH1HasBothInALayer) {
  File f("falcon-h1", 1);
  f.key("attention.head_count", 4).key("attention.head_count_kv", 2);
  f.key("ssm.conv_kernel", 4).key("ssm.state_size", 8).key("ssm.group_count", 1);
  f.key("ssm.time_step_rank", 4).key("ssm.inner_size", 48).root("output_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"ssm_in.weight", {64, 48 + 48 + 16 + 4}},
              {"ssm_conv1d.weight", {4, 64}},
              {"ssm_conv1d.bias", {64}},
              {"ssm_dt.bias", {4}},
              {"ssm_a", {1, 4}},
              {"ssm_d", {1, 4}},
              {"ssm_out.weight", {48, 64}},
              {"attn_q.weight", {64, 64}},
              {"attn_k.weight", {64, 32}},
              {"attn_v.weight", {64, 32}},
              {"attn_output.weight", {64, 64}},
              {"ffn_norm.weight", {64}}});
  f.layer(0, kDense);
  const ModelSpec s = f.bound();
  EXPECT_EQ(s.layers[0].attention.heads, 4);
  EXPECT_EQ(s.layers[0].recurrent.kind, RecurrentKind::mamba2);
  EXPECT_EQ(s.layers[0].recurrent.norm_dim, 0);
}

// The norm before the head has the name of one after the embedding.
TEST(RecurrentGguf, Lfm2) {
  File f("lfm2", 1);
  f.key("attention.head_count", 4).key("attention.head_count_kv", 0).key("shortconv.l_cache", 3);
  f.root("token_embd_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"shortconv.in_proj.weight", {64, 192}},
              {"shortconv.conv.weight", {3, 64}},
              {"shortconv.out_proj.weight", {64, 64}},
              {"ffn_norm.weight", {64}}});
  f.layer(0, kDense);
  const ModelSpec s = f.bound();
  EXPECT_EQ(s.layers[0].recurrent.kind, RecurrentKind::short_conv);
  EXPECT_EQ(s.layers[0].recurrent.window_elements(64), 2 * 64);
}

TEST(RecurrentGguf, KimiLinear) {
  File f("kimi-linear", 2);
  f.key("attention.head_count", 2).key("attention.head_count_kv", 1).key("kda.head_dim", 16);
  f.key("attention.kv_lora_rank", 24).key("attention.key_length_mla", 24);
  f.key("attention.value_length_mla", 16).key("rope.dimension_count", 8);
  f.key("ssm.conv_kernel", 4).root("output_norm.weight", {64});
  f.layer(0, {{"attn_norm.weight", {64}},
              {"attn_q.weight", {64, 32}},
              {"attn_k.weight", {64, 32}},
              {"attn_v.weight", {64, 32}},
              {"ssm_conv1d_q.weight", {4, 1, 32}},
              {"ssm_conv1d_k.weight", {4, 1, 32}},
              {"ssm_conv1d_v.weight", {4, 1, 32}},
              {"ssm_f_a.weight", {64, 16}},
              {"ssm_f_b.weight", {16, 32}},
              {"ssm_beta.weight", {64, 2}},
              {"ssm_a", {1, 2}},
              {"ssm_dt.bias", {32}},
              {"ssm_g_a.weight", {64, 16}},
              {"ssm_g_b.weight", {16, 32}},
              {"ssm_norm.weight", {16}},
              {"attn_output.weight", {32, 64}},
              {"ffn_norm.weight", {64}}});
  f.layer(1, {{"attn_norm.weight", {64}},
              {"attn_q.weight", {64, 48}},
              {"attn_kv_a_mqa.weight", {64, 32}},
              {"attn_kv_a_norm.weight", {24}},
              {"attn_k_b.weight", {16, 24, 2}},
              {"attn_v_b.weight", {24, 16, 2}},
              {"attn_output.weight", {32, 64}},
              {"ffn_norm.weight", {64}}});
  f.layer(0, kDense).layer(1, kDense);
  const ModelSpec s = f.bound();
  EXPECT_EQ(s.layers[0].recurrent.kind, RecurrentKind::kimi_delta);
  EXPECT_EQ(s.layers[0].recurrent.gate_rank, 16);
  EXPECT_EQ(s.layers[1].attention.kind, AttentionKind::mla);
}

// RWKV 7: the first layer has no value residual.
TEST(RecurrentGguf, Rwkv7) {
  File f("rwkv7", 2);
  f.key("attention.head_count", 0).key("wkv.head_size", 16);
  f.key("attention.decay_lora_rank", 8).key("attention.iclr_lora_rank", 8);
  f.key("attention.value_residual_mix_lora_rank", 4).key("attention.gate_lora_rank", 12);
  f.root("token_embd_norm.weight", {64}).root("token_embd_norm.bias", {64});
  f.root("output_norm.weight", {64}).root("output_norm.bias", {64});
  for (int i = 0; i < 2; ++i) {
    for (const std::string_view name :
         {"attn_norm.weight", "attn_norm.bias", "attn_norm_2.weight", "attn_norm_2.bias",
          "time_mix_ln.weight", "time_mix_ln.bias", "time_mix_w0.weight", "time_mix_a0.weight",
          "time_mix_k_k.weight", "time_mix_k_a.weight", "time_mix_r_k.weight",
          "channel_mix_lerp_k.weight"}) {
      f.layer(i, {{name, {64}}});
    }
    f.layer(i, {{"time_mix_lerp_fused.weight", {64, 1, 1, 6}},
                {"time_mix_w1.weight", {64, 8}},
                {"time_mix_w2.weight", {8, 64}},
                {"time_mix_a1.weight", {64, 8}},
                {"time_mix_a2.weight", {8, 64}},
                {"time_mix_g1.weight", {64, 12}},
                {"time_mix_g2.weight", {12, 64}},
                {"time_mix_receptance.weight", {64, 64}},
                {"time_mix_key.weight", {64, 64}},
                {"time_mix_value.weight", {64, 64}},
                {"time_mix_output.weight", {64, 64}},
                {"channel_mix_key.weight", {64, 256}},
                {"channel_mix_value.weight", {256, 64}}});
  }
  f.layer(1, {{"time_mix_v0.weight", {64}},
              {"time_mix_v1.weight", {64, 4}},
              {"time_mix_v2.weight", {4, 64}}});
  const ModelSpec s = f.bound();
  EXPECT_EQ(s.layers[0].recurrent.state_elements(), 4 * 16 * 16);
  // The value residual: a vector and a low-rank pair that the first layer has not.
  EXPECT_EQ(s.layers[1].extras.size(), s.layers[0].extras.size() + 3);
}

TEST(RecurrentGguf, SaysWhatIsMissingOrDoesNotFit) {
  File missing("mamba2", 1);
  missing.key("ssm.inner_size", 64).key("ssm.time_step_rank", 4).key("ssm.group_count", 1);
  missing.layer(0, {{"attn_norm.weight", {64}}, {"ssm_in.weight", {64, 148}}});
  const auto no_state = missing.read();
  ASSERT_FALSE(no_state);
  EXPECT_EQ(no_state.error().field, "mamba2.ssm.state_size");
  missing.key("ssm.state_size", 8);
  const auto no_conv = missing.read();
  ASSERT_FALSE(no_conv);
  EXPECT_EQ(no_conv.error().field, "blk.0.ssm_conv1d.weight");
  File uneven("mamba2", 1);
  uneven.key("ssm.inner_size", 64).key("ssm.time_step_rank", 5).key("ssm.group_count", 1);
  uneven.key("ssm.state_size", 8).layer(0, {{"ssm_in.weight", {64, 148}}});
  const auto divided = uneven.read();
  ASSERT_FALSE(divided);
  EXPECT_EQ(divided.error().field, "mamba2.ssm.time_step_rank");
}

}  // namespace
}  // namespace cairn
