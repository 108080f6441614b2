#include "cairn/model/gguf_extras.h"

#include <array>

namespace cairn {
namespace {

using enum TensorRole;

constexpr auto kLayer = std::to_array<GgufExtra>({
    // Hyper-connections (DeepSeek V4).
    {"hc_attn_fn.weight", residual_mix, Use::linear, true},
    {"hc_attn_base.weight", residual_mix, Use::stored, true},
    {"hc_attn_scale.weight", residual_mix, Use::stored, true},
    {"hc_ffn_fn.weight", residual_mix, Use::linear, true},
    {"hc_ffn_base.weight", residual_mix, Use::stored, true},
    {"hc_ffn_scale.weight", residual_mix, Use::stored, true},
    {"ffn_gate_tid2eid.weight", router_table, Use::lookup, true},
    // Experts beside a dense part (Gemma 4).
    {"pre_ffw_norm_2.weight", expert_norm, Use::elementwise, true},
    {"post_ffw_norm_1.weight", expert_post_norm, Use::elementwise, true},
    {"post_ffw_norm_2.weight", expert_post_norm, Use::elementwise, true},
    {"ffn_gate_inp.scale", router_scale, Use::elementwise, true},
    {"ffn_down_exps.scale", expert_scale, Use::elementwise, true},
    // Inputs of every layer, streams and learned residuals (Gemma 3n and 4).
    {"inp_gate.weight", layer_input_gate, Use::linear, false},
    {"proj.weight", layer_input_proj, Use::linear, false},
    {"post_norm.weight", layer_input_norm, Use::elementwise, true},
    {"altup_router.weight", residual_mix, Use::linear, true},
    {"altup_correct_coef.weight", residual_mix, Use::linear, true},
    {"altup_predict_coef.weight", residual_mix, Use::linear, true},
    {"altup_router_norm.weight", residual_norm, Use::elementwise, true},
    {"altup_correct_scale.weight", layer_scale, Use::elementwise, true},
    {"laurel_l.weight", residual_mix, Use::linear, true},
    {"laurel_r.weight", residual_mix, Use::linear, true},
    {"laurel_post_norm.weight", residual_norm, Use::elementwise, true},
    {"layer_output_scale.weight", layer_scale, Use::elementwise, true},
});

constexpr auto kModel = std::to_array<GgufExtra>({
    {"output_hc_fn.weight", residual_mix, Use::linear, true},
    {"output_hc_base.weight", residual_mix, Use::stored, true},
    {"output_hc_scale.weight", residual_mix, Use::stored, true},
    {"per_layer_token_embd.weight", layer_embedding, Use::lookup, false},
    {"per_layer_model_proj.weight", layer_embedding_proj, Use::linear, true},
    {"per_layer_proj_norm.weight", layer_embedding_norm, Use::elementwise, true},
    {"altup_proj.weight", residual_mix, Use::linear, true},
    {"altup_unembd_proj.weight", residual_mix, Use::linear, true},
});

MatrixSpec shape_of(const GgufTensor& t, TensorRole role, Use use, bool vector) {
  return {.role = role,
          .rows = t.size[1],
          .columns = t.size[0],
          .stack = t.size[2],
          .use = use,
          .vector = vector};
}

}  // namespace

std::span<const GgufExtra> gguf_layer_extras() { return kLayer; }
std::span<const GgufExtra> gguf_model_extras() { return kModel; }

std::vector<MatrixSpec> read_gguf_extras(const GgufTensors& tensors, std::string_view prefix,
                                         std::span<const GgufExtra> known) {
  std::vector<MatrixSpec> out;
  for (const GgufExtra& extra : known) {
    const auto it = tensors.find(std::string(prefix) + std::string(extra.name));
    if (it == tensors.end()) continue;
    out.push_back(shape_of(*it->second, extra.role, extra.use, extra.vector));
  }
  return out;
}

std::vector<MatrixSpec> kept_tensor(const GgufTensors& tensors, const std::string& name,
                                    TensorRole role) {
  const auto it = tensors.find(name);
  if (it == tensors.end()) return {};
  const bool vector = it->second->size[1] == 1;
  return {shape_of(*it->second, role, Use::stored, vector)};
}

}  // namespace cairn
