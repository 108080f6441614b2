// Hybrid and recurrent families: parameters, states and configurations.
#include <gtest/gtest.h>

#include <cmath>

#include "cairn/data/json.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_config.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

Result<ModelSpec> read(const std::string& text) {
  const Document document = value_of(parse_json(text, "config.json", {}, JsonDialect::python));
  return spec_from_hf_config(document.root(), "test/model");
}

ModelSpec published(std::string_view name) {
  static const ModelCatalogue kCatalogue = value_of(ModelCatalogue::load(test::facts().image));
  return value_of(kCatalogue.find(name));
}

TEST(PythonJson, ReadsItsNumbersAsNothing) {
  const Document d = value_of(parse_json(R"({"a": [0.0, Infinity, -Infinity, NaN],
    "b": "NaN \" Infinity", "c": 3})",
                                         "x.json", {}, JsonDialect::python));
  const Node list = value_of(d.root().required("a"));
  ASSERT_EQ(list.size(), 4U);
  for (std::uint32_t i = 1; i < 4; ++i) EXPECT_EQ(list.at(i).kind(), NodeKind::null);
  EXPECT_EQ(value_of(d.root().get<std::string_view>("b")), "NaN \" Infinity");
  EXPECT_EQ(value_of(d.root().get<std::int64_t>("c")), 3);
}

TEST(PythonJson, IsRefusedWhereItIsNotAskedFor) {
  EXPECT_FALSE(parse_json(R"({"a": Infinity})", "x.json"));
  for (const std::string_view text :
       {R"({"a": Infinityx})", R"({"a": 1Infinity})", R"({"a": +Infinity})", R"({"a": nan})",
        R"({Infinity: 1})", R"({"a": "Infinity)"}) {
    EXPECT_FALSE(parse_json(text, "x.json", {}, JsonDialect::python)) << text;
  }
}

// States and convolution windows of a sequence, in 32 bits, as llama.cpp prints them
// ("RS buffer size").
TEST(RecurrentStates, AreWhatLlamaCppPrints) {
  struct Row {
    std::string_view model;
    double mib;
    std::string_view source;
  };
  // Qwen3.8-27B keeps three copies to take back what it drafted: 448.88 MiB.
  const std::vector<Row> rows = {
      {"Qwen/Qwen3.5-122B-A10B", 149.06,
       "github.com/stevio2d/GFX906-MI50-optimisations, fix39-split-dst-slot-wait-dedupe"},
      {"Qwen/Qwen3-Next-80B-A3B-Thinking", 75.38,
       "github.com/pestopoppa/epyc-inference-research, 20251217_104145"},
      {"Qwen/Qwen3.8-27B", 448.88 / 3,
       "github.com/boxwrench/R9700, data/experimental/qwen38_diag_raw_logs.txt"},
  };
  for (const Row& row : rows) {
    const ModelSpec s = published(row.model);
    double elements = 0;
    for (const LayerSpec& l : s.layers) {
      elements +=
          static_cast<double>(l.recurrent.state_elements() + l.recurrent.window_elements(s.hidden));
    }
    EXPECT_NEAR(elements * 4 / 1048576, row.mib, 0.005) << row.model << " " << row.source;
  }
}

// arXiv:2404.05892, appendix: 13 D^2 L + 14 D L + 4 D + 2 D V for Eagle, 464 for 14 for
// Finch below 4096 features. arXiv:2503.14456, appendix: the sizes of Goose.
TEST(Rwkv, HasAsManyParametersAsItsPapersSay) {
  const auto total = [](std::string_view name) {
    return count_parameters(build_graph(published(name))).total;
  };
  const auto paper = [](std::int64_t d, std::int64_t layers, std::int64_t vectors) {
    return 13 * d * d * layers + vectors * d * layers + 4 * d + 2 * d * 65536;
  };
  EXPECT_EQ(total("RWKV/rwkv-5-world-3b"), paper(2560, 32, 14));
  EXPECT_EQ(total("RWKV/v6-Finch-1B6-HF"), paper(2048, 24, 464));
  EXPECT_EQ(total("RWKV/v6-Finch-3B-HF"), paper(2560, 32, 464));
  EXPECT_EQ(total("RWKV/RWKV7-Goose-World2.8-0.1B-HF"), 191034624);
  EXPECT_EQ(total("RWKV/RWKV7-Goose-World2.9-0.4B-HF"), 450767872);
  EXPECT_EQ(total("RWKV/RWKV7-Goose-World3-1.5B-HF"), 1527404544);
}

constexpr const char* kNemotron = R"({
  "architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h",
  "hidden_size": 64, "vocab_size": 100, "max_position_embeddings": 512,
  "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
  "mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 8, "n_groups": 2,
  "conv_kernel": 4, "use_conv_bias": true, "time_step_limit": [0.0, Infinity],
  "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 48,
  "n_shared_experts": 1, "moe_shared_expert_intermediate_size": 40, "moe_latent_size": 32,
  "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*E",
  "hybrid_override_pattern": "M-M*E", "num_hidden_layers": 5})";

std::string with(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST(NemotronH, LayersByTheirLetters) {
  const ModelSpec s = value_of(read(kNemotron));
  ASSERT_EQ(s.layers.size(), 5U);
  EXPECT_EQ(s.layers[0].recurrent.kind, RecurrentKind::mamba2);
  EXPECT_EQ(s.layers[1].feed_forward.intermediate, 96);
  EXPECT_EQ(s.layers[3].attention.kv_heads, 2);
  EXPECT_EQ(s.layers[4].feed_forward.latent, 32);
  const Graph g = build_graph(s);
  // In: x, z, B, C, dt; convolution with bias; A, D, dt; norm; out; and the layer's norm.
  const std::int64_t space =
      64 * (2 * 64 + 2 * 2 * 8 + 4) + 5 * (64 + 2 * 2 * 8) + 3 * 4 + 64 + 64 * 64 + 64;
  const std::int64_t attention = 64 * (64 + 2 * 32) + 64 * 64 + 64;
  const std::int64_t experts = 8 * 64 + 8 + 2 * 64 * 32 + 8 * 2 * 32 * 48 + 2 * 64 * 40 + 64;
  const std::int64_t around = 2 * 100 * 64 + 64;
  EXPECT_EQ(count_parameters(g).total,
            around + 2 * space + (2 * 64 * 96 + 64) + attention + experts);
  // The draft layers: two norms and a projection of two hidden states, a norm after.
  EXPECT_EQ(count_mtp_parameters(g), attention + experts + 2 * 64 * 64 + 3 * 64);
}

TEST(NemotronH, TheListOfNamesIsThePattern) {
  const ModelSpec s =
      value_of(read(with(kNemotron, R"("hybrid_override_pattern": "M-M*E")",
                         R"("layers_block_type": ["mamba", "mlp", "mamba", "attention", "moe"])")));
  const ModelSpec letters = value_of(read(kNemotron));
  EXPECT_EQ(s, letters);
}

TEST(NemotronH, RefusesWhatItDoesNotKnow) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"\"M-M*E\"", "\"M-MxE\"", "hybrid_override_pattern"},
      {"\"num_hidden_layers\": 5", "\"num_hidden_layers\": 6", "num_hidden_layers"},
      {"\"n_groups\": 2", "\"n_groups\": 2, \"mamba_norms\": 1", "mamba_norms"},
      {"\"head_dim\": 16", "\"head_dim\": 16, \"sliding_window\": 9", "sliding_window"},
  };
  for (const auto& [from, to, field] : cases) {
    const auto spec = read(with(kNemotron, from, to));
    ASSERT_FALSE(spec) << to;
    EXPECT_EQ(spec.error().field, field) << spec.error().to_string();
  }
}

// Every fourth layer has attention with a gate in its queries, if no list says otherwise.
TEST(Qwen35, TheTextPartAndItsDraftLayer) {
  const ModelSpec s = value_of(read(R"({
    "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100, "max_position_embeddings": 512,
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
    "linear_value_head_dim": 8, "linear_conv_kernel_dim": 4, "mtp_num_hidden_layers": 1})"));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(s.layers[i].attention.heads, i == 3 ? 4 : 0);
    EXPECT_EQ(s.layers[i].recurrent.heads, i == 3 ? 0 : 4);
  }
  const Graph g = build_graph(s);
  const std::int64_t rest = 3 * 64 * 96 + 2 * 64;
  const std::int64_t full = 64 * 128 + 2 * 64 * 32 + 64 * 64 + 2 * 16 + rest;
  // Queries, keys and values; gate; beta and alpha; convolution; A and dt; norm; out.
  const std::int64_t linear =
      64 * (32 + 2 * 16) + 64 * 32 + 2 * 64 * 4 + 4 * 64 + 2 * 4 + 8 + 32 * 64 + rest;
  EXPECT_EQ(count_parameters(g).total, 2 * 100 * 64 + 64 + 3 * linear + full);
  EXPECT_EQ(count_mtp_parameters(g), full + 2 * 64 * 64 + 3 * 64);
}

TEST(Lfm2, TheFeedForwardIsTwoThirdsOfWhatIsStated) {
  // 12288 * 2 / 3 = 8192; 6656 * 2 / 3 = 4437, rounded up to 4608.
  EXPECT_EQ(published("LiquidAI/LFM2-1.2B").layers[0].feed_forward.intermediate, 8192);
  EXPECT_EQ(published("LiquidAI/LFM2-350M").layers[0].feed_forward.intermediate, 4608);
}

std::string plamo2_config() {
  return R"({"architectures": ["PlamoForCausalLM"], "model_type": "plamo2", "hidden_size": 2048,
    "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 1,
    "hidden_size_per_head": 128, "intermediate_size": 8192, "vocab_size": 100000,
    "max_position_embeddings": 10485760, "attention_window_size": 2048, "mamba_d_state": 64,
    "mamba_d_conv": 4, "mamba_num_heads": 32, "mamba_step": 2, "mamba_chunk_size": 256,
    "mamba_enabled": true, "tie_word_embeddings": true, "full_attention_idx": [3]})";
}

// By hand from https://huggingface.co/pfnet/plamo-2-1b/blob/main/modeling_plamo.py: eight layers
// of 8192 x 2048 + 4096 x 4 + 4096 (128 + 2 x 64) + 128 x 32 + 3 x 32 + 256 + 2048 x 4096 and
// eight of 2048 (2048 + 2 x 128) + 2048 x 2048 + 17 x 128, each with 3 x 2048 x 8192 and four
// norms; the published files hold 1.29 B.
TEST(Plamo2, IsReadFromItsConfiguration) {
  const Graph g = build_graph(value_of(read(plamo2_config())));
  const std::int64_t space = 8192 * 2048 + 4096 * 4 + 4096 * (128 + 2 * 64) + 128 * 32 + 3 * 32 +
                             (128 + 2 * 64) + 2048 * 4096;
  const std::int64_t attention = 2048 * (2048 + 2 * 128) + 2048 * 2048 + 17 * 128;
  const std::int64_t rest = 16 * (3 * 2048 * 8192 + 4 * 2048) + 100000 * 2048 + 2048;
  EXPECT_EQ(count_parameters(g).total, 8 * space + 8 * attention + rest);
  EXPECT_NEAR(static_cast<double>(count_parameters(g).total), 1.29e9, 0.005e9);
  const RecurrentSpec& r = g.spec.layers[0].recurrent;
  EXPECT_EQ(r.state_elements(), 32 * 128 * 64);
  EXPECT_EQ(r.window_elements(2048), 3 * 4096);
  EXPECT_EQ(g.spec.layers[1].attention.kind, AttentionKind::sliding);
  EXPECT_EQ(g.spec.layers[3].attention.kind, AttentionKind::full);
}

// One transformer block, visited six times: its weights are there once, its caches and its
// work six times.
TEST(Zamba2, BlocksThatComeBackHaveTheirWeightsOnce) {
  const auto read_blocks = [](std::string_view blocks) {
    return build_graph(value_of(read(std::string(R"({"architectures": ["Zamba2ForCausalLM"],
      "model_type": "zamba2", "hidden_size": 64, "num_hidden_layers": 6, "vocab_size": 100,
      "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid", "hybrid", "mamba"],
      "num_attention_heads": 4, "n_mamba_heads": 4, "adapter_rank": 8, "num_mem_blocks": )") +
                                     std::string(blocks) + "}")));
  };
  const Graph one = read_blocks("1");
  const Graph two = read_blocks("2");
  ASSERT_EQ(one.spec.layers.size(), 9U);
  // Attention on 128 features with heads of 32, 64 back; 256 features inside; two norms.
  const std::int64_t block = 3 * 128 * 128 + 128 * 64 + 3 * 64 * 256 + 128 + 64;
  EXPECT_EQ(count_parameters(two).total - count_parameters(one).total, block);
  double cached = 0;
  double work = 0;
  for (const Operator& op : one.operators) {
    if (op.kind != OperatorKind::attention) continue;
    cached += static_cast<double>(kv_elements_per_token(op.attention));
    work += flops(op, {.context = 9}).value();
  }
  EXPECT_EQ(cached, 3 * 2 * 128);
  EXPECT_EQ(work, 3 * 2.0 * 4 * 10 * (32 + 32));
  double other = 0;
  double all = 0;
  for (const Operator& op : one.operators) all += flops(op, {}).value();
  for (const Operator& op : two.operators) other += flops(op, {}).value();
  EXPECT_EQ(all, other);
}

// https://huggingface.co/nvidia/Hymba-1.5B-Base: 1.52 B parameters, 32 layers of 1600 features,
// 25 heads, 5504 features inside, 16 states, three layers with full attention, 128 memory
// tokens; keys and values of 15 layers are those of the layer before.
TEST(Hymba, HasAttentionAndAStateSpaceInEveryLayer) {
  const Graph g = build_graph(value_of(read(R"({"architectures": ["HymbaForCausalLM"],
    "model_type": "hymba", "hidden_size": 1600, "num_hidden_layers": 32,
    "num_attention_heads": 25, "num_key_value_heads": 5, "intermediate_size": 5504,
    "vocab_size": 32001, "max_position_embeddings": 8192, "tie_word_embeddings": true,
    "mamba_d_state": 16, "mamba_d_conv": 3, "mamba_expand": 2, "mamba_dt_rank": 100,
    "mamba_conv_bias": true, "mamba_inner_layernorms": true, "mamba_proj_bias": false,
    "sliding_window": 1024, "global_attn_idx": [0, 15, 31], "num_memory_tokens": 128,
    "num_experts": 1, "num_experts_per_tok": 1, "mlp_hidden_act": "silu",
    "kv_reuse_group": [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 14],
      [16, 17, 18], [19, 20], [21, 22], [23, 24], [25, 26], [27, 28], [29, 30]]})")));
  EXPECT_NEAR(static_cast<double>(count_parameters(g).total), 1.52e9, 0.005e9);
  std::int64_t cached = 0;
  int windows = 0;
  for (const LayerSpec& layer : g.spec.layers) {
    cached += kv_elements_per_token(layer.attention);
    windows += layer.attention.kind == AttentionKind::sliding ? 1 : 0;
    EXPECT_EQ(layer.recurrent.state_elements(), 3200 * 16);
  }
  EXPECT_EQ(cached, (32 - 15) * 5 * (64 + 128));
  EXPECT_EQ(windows, 29);
}

// A numerator, a denominator and the largest exponent of each feature, in 32 bits, and the last
// token of both mixers.
TEST(Rwkv4, KeepsThreeNumbersForEachFeature) {
  const ModelSpec s = value_of(read(R"({"architectures": ["RwkvForCausalLM"],
    "model_type": "rwkv", "hidden_size": 768, "num_hidden_layers": 12, "vocab_size": 50277,
    "attention_hidden_size": 768, "context_length": 1024, "rescale_every": 6})"));
  const RecurrentSpec& r = s.layers[0].recurrent;
  EXPECT_EQ(r.state_elements(), 3 * 768);
  EXPECT_EQ(r.window_elements(768), 2 * 768);
  EXPECT_TRUE(r.wide_state);
  EXPECT_FALSE(s.tied_embeddings);
}

}  // namespace
}  // namespace cairn
