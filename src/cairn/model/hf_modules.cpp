#include "cairn/model/hf_modules.h"

#include <algorithm>
#include <array>

namespace cairn::hf {
namespace {

// What quantisers call the module of a role: the names in the implementations of
// transformers (https://github.com/huggingface/transformers/tree/main/src/transformers/models)
// and in models' own repositories. Alternatives are separated by bars.
struct RoleNames {
  std::string_view role;     // GGUF's name, of role_name()
  std::string_view parents;  // within a layer; empty: outside the layers
  std::string_view modules;  // an empty alternative: the parent itself
  std::string_view fused = {};
};

constexpr std::string_view kAttention =
    "self_attn|attention|attn|mixer|self_attention|attention.self";
constexpr std::string_view kFusedAttention = "qkv_proj|W_pack|c_attn|query_key_value|wqkv";
constexpr std::string_view kLinearAttention = "linear_attn|mixer|mamba|self_attn|attention";
constexpr std::string_view kIndexer = "self_attn.indexer|attn.indexer|self_attn";
constexpr std::string_view kDense = "mlp|feed_forward|ffn|mixer|block_sparse_moe";
constexpr std::string_view kExperts =
    "mlp.experts|mlp.experts.0|block_sparse_moe.experts|block_sparse_moe.experts.0|"
    "feed_forward.experts|feed_forward.experts.0|ffn.experts|ffn.experts.0|mixer.experts|"
    "mixer.experts.0|moe|experts|experts.0";
constexpr std::string_view kShared =
    "mlp.shared_experts|mlp.shared_expert|feed_forward.shared_expert|"
    "feed_forward.shared_experts|block_sparse_moe.shared_experts|ffn.shared_experts|"
    "mixer.shared_experts|mlp.shared_mlp|shared_mlp|share_expert";

constexpr auto kTable = std::to_array<RoleNames>({
    {"token_embd", "", "embed_tokens|embeddings|embed|wte|word_embeddings|tok_embeddings"},
    {"output", "", "lm_head|head|output|embed_out|output_layer"},
    {"attn_q", kAttention, "q_proj|wq|query", kFusedAttention},
    {"attn_k", kAttention, "k_proj|wk|key", kFusedAttention},
    {"attn_v", kAttention, "v_proj|wv|value", kFusedAttention},
    {"attn_output", kAttention, "o_proj|out_proj|wo|wo_b|dense|c_proj"},
    {"attn_output_a", kAttention, "wo_a"},
    {"attn_gate", "linear_attn|self_attn|attention", "in_proj_z|gate_proj|g_proj", "in_proj_qkvz"},
    {"attn_q_a", kAttention, "q_a_proj|wq_a", "fused_qkv_a_proj"},
    {"attn_q_b", kAttention, "q_b_proj|wq_b"},
    {"attn_kv_a_mqa", kAttention, "kv_a_proj_with_mqa|wkv|wkv_a", "fused_qkv_a_proj"},
    {"attn_k_b", kAttention, "kv_b_proj|wkv_b"},
    {"attn_v_b", kAttention, "kv_b_proj|wkv_b"},
    {"indexer.attn_q_b", kIndexer, "wq_b|index_q_proj"},
    {"indexer.attn_k", kIndexer, "wk|index_k_proj"},
    {"indexer.proj", kIndexer, "weights_proj"},
    {"attn_qkv", kLinearAttention, "in_proj_qkv|in_proj_qkvz"},
    {"ssm_in", kLinearAttention, "in_proj"},
    {"ssm_conv1d", kLinearAttention, "conv1d"},
    {"ssm_x", kLinearAttention, "x_proj"},
    {"ssm_dt", kLinearAttention, "dt_proj"},
    {"ssm_ba", kLinearAttention, "in_proj_ba"},
    {"ssm_beta", kLinearAttention, "in_proj_b|b_proj"},
    {"ssm_alpha", kLinearAttention, "in_proj_a"},
    {"ssm_f_a", kLinearAttention, "f_a_proj"},
    {"ssm_f_b", kLinearAttention, "f_b_proj"},
    {"ssm_g_a", kLinearAttention, "g_a_proj"},
    {"ssm_g_b", kLinearAttention, "g_b_proj"},
    {"ssm_out", kLinearAttention, "out_proj"},
    {"shortconv.in_proj", "conv", "in_proj"},
    {"shortconv.out_proj", "conv", "out_proj"},
    {"ffn_gate", kDense, "gate_proj|w1", "gate_up_proj"},
    {"ffn_up", kDense, "up_proj|w3|fc1|dense_h_to_4h|c_fc", "gate_up_proj"},
    {"ffn_down", kDense, "down_proj|w2|fc2|dense_4h_to_h|c_proj"},
    {"ffn_gate_inp", "mlp|block_sparse_moe|feed_forward|ffn|mixer|moe", "gate|router|gate.wg"},
    {"ffn_gate_exps", kExperts, "gate_proj|w1|", "gate_up_proj"},
    {"ffn_up_exps", kExperts, "up_proj|w3|", "gate_up_proj"},
    {"ffn_down_exps", kExperts, "down_proj|w2|"},
    {"ffn_gate_shexp", kShared, "gate_proj|w1|", "gate_up_proj"},
    {"ffn_up_shexp", kShared, "up_proj|w3|", "gate_up_proj"},
    {"ffn_down_shexp", kShared, "down_proj|w2|"},
    {"ffn_gate_inp_shexp", "mlp", "shared_expert_gate"},
});

constexpr auto kPrefixes = std::to_array<std::string_view>(
    {"model.language_model.model.", "language_model.model.", "model.language_model.",
     "language_model.", "thinker.model.", "transformer.", "backbone.", "model.", ""});

std::vector<std::string_view> alternatives(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t bar = text.find('|');
    out.push_back(text.substr(0, bar));
    if (bar == std::string_view::npos) return out;
    text.remove_prefix(bar + 1);
  }
}

}  // namespace

ModuleNames module_names(const Tensor& tensor) {
  ModuleNames names;
  const auto* const row = std::ranges::find(kTable, role_name(tensor.role), &RoleNames::role);
  if (row == kTable.end()) return names;
  const std::string layer = "layers." + std::to_string(tensor.layer) + ".";
  const auto add = [&](std::string_view modules, std::vector<std::string>& out) {
    for (const std::string_view parent : alternatives(row->parents)) {
      for (const std::string_view module : alternatives(modules)) {
        std::string name = parent.empty() ? "" : layer + std::string(parent);
        if (!name.empty() && !module.empty()) name += '.';
        out.push_back(name.append(module));
      }
    }
  };
  add(row->modules, names.own);
  if (!row->fused.empty()) add(row->fused, names.fused);
  return names;
}

std::vector<std::string_view> module_prefixes() { return {kPrefixes.begin(), kPrefixes.end()}; }

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (!prefix.empty() && name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

}  // namespace cairn::hf
