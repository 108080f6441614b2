// The operators of mixers that keep a state instead of a cache. Tensors are those of
// the checkpoints in transformers (src/transformers/models/{qwen3_next,minimax,jamba,
// mamba2,rwkv,lfm2}) and llama.cpp (src/llama-arch.cpp).
#include "cairn/model/graph_builder.h"

namespace cairn {

void GraphBuilder::recurrent(const RecurrentSpec& r) {
  switch (r.kind) {
    case RecurrentKind::none:
      break;
    case RecurrentKind::gated_delta_net:
      delta_net(r);
      break;
    case RecurrentKind::kimi_delta:
      kimi_delta(r);
      break;
    case RecurrentKind::lightning:
      lightning(r);
      break;
    case RecurrentKind::mamba:
      mamba(r);
      break;
    case RecurrentKind::mamba2:
      mamba2(r);
      break;
    case RecurrentKind::rwkv:
      rwkv(r);
      break;
    case RecurrentKind::short_conv:
      short_conv(r);
      break;
  }
}

// One filter per feature. As work: the features in and out, and the window.
void GraphBuilder::convolution(TensorRole role, std::int64_t features, std::int64_t kernel,
                               bool bias) {
  const std::int32_t weight = tensor(role, features, kernel);
  graph_.tensors.back().vector = true;
  if (bias) vector(TensorRole::bias, role, features);
  add(OperatorKind::norm, weight, features * kernel, features);
}

void GraphBuilder::recurrence(const RecurrentSpec& r, std::int64_t input) {
  add(OperatorKind::recurrence, -1, input, r.inner()).recurrent = r;
}

void GraphBuilder::delta_net(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  linear(TensorRole::linear_qkv, hidden, r.conv_features(), r.bias);
  linear(TensorRole::attn_gate, hidden, inner, r.bias);
  if (r.split_gates) {
    linear(TensorRole::ssm_beta, hidden, r.heads, false);
    linear(TensorRole::ssm_alpha, hidden, r.heads, false);
  } else {
    linear(TensorRole::ssm_beta_alpha, hidden, 2 * r.heads, false);
  }
  convolution(TensorRole::ssm_conv, r.conv_features(), r.conv, r.conv_bias);
  vector(TensorRole::bias, TensorRole::ssm_dt, r.heads);
  vector(TensorRole::ssm_a, TensorRole::ssm_a, r.heads);
  recurrence(r, r.conv_features());
  head_norm(TensorRole::ssm_norm, r.norm_dim, inner);
  add(OperatorKind::elementwise, -1, 2 * inner, inner);
  linear(TensorRole::ssm_out, inner, hidden, r.bias);
}

void GraphBuilder::kimi_delta(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  const std::int64_t keys = r.key_heads * r.key_dim;
  linear(TensorRole::attn_q, hidden, keys, false);
  linear(TensorRole::attn_k, hidden, keys, false);
  linear(TensorRole::attn_v, hidden, inner, false);
  convolution(TensorRole::ssm_conv_q, keys, r.conv, false);
  convolution(TensorRole::ssm_conv_k, keys, r.conv, false);
  convolution(TensorRole::ssm_conv_v, inner, r.conv, false);
  linear(TensorRole::ssm_f_a, hidden, r.rank, false);
  linear(TensorRole::ssm_f_b, r.rank, keys, false);
  linear(TensorRole::ssm_beta, hidden, r.heads, false);
  vector(TensorRole::bias, TensorRole::ssm_dt, keys);
  vector(TensorRole::ssm_a, TensorRole::ssm_a, r.heads);
  recurrence(r, r.conv_features());
  if (r.gate_full) {
    linear(TensorRole::attn_gate, hidden, inner, false);
  } else {
    linear(TensorRole::ssm_g_a, hidden, r.gate_rank, false);
    linear(TensorRole::ssm_g_b, r.gate_rank, inner, false);
  }
  head_norm(TensorRole::ssm_norm, r.norm_dim, inner);
  add(OperatorKind::elementwise, -1, 2 * inner, inner);
  linear(TensorRole::attn_output, inner, hidden, false);
}

void GraphBuilder::lightning(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  const std::int64_t all = inner + 2 * r.key_heads * r.key_dim;
  linear(TensorRole::linear_qkv, hidden, all, r.bias);
  recurrence(r, all);
  linear(TensorRole::attn_gate, hidden, inner, r.bias);
  head_norm(TensorRole::ssm_norm, r.norm_dim, inner);
  add(OperatorKind::elementwise, -1, 2 * inner, inner);
  linear(TensorRole::ssm_out, inner, hidden, r.bias);
}

void GraphBuilder::mamba(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  linear(TensorRole::ssm_in, hidden, 2 * inner, r.bias);
  convolution(TensorRole::ssm_conv, inner, r.conv, r.conv_bias);
  linear(TensorRole::ssm_x, inner, r.rank + 2 * r.key_dim, false);
  if (r.inner_norms) {
    head_norm(TensorRole::ssm_dt_norm, r.rank, r.rank);
    head_norm(TensorRole::ssm_b_norm, r.key_dim, r.key_dim);
    head_norm(TensorRole::ssm_c_norm, r.key_dim, r.key_dim);
  }
  // With heads, step size, A and D are one number for each (PLaMo 2).
  const std::int64_t steps = r.heads > 1 ? r.heads : inner;
  linear(TensorRole::ssm_dt, r.rank, steps, true);
  vector(TensorRole::ssm_a, TensorRole::ssm_a, r.heads > 1 ? 1 : r.key_dim, steps);
  vector(TensorRole::ssm_d, TensorRole::ssm_d, steps);
  recurrence(r, 2 * inner + 2 * r.key_dim);
  add(OperatorKind::elementwise, -1, 2 * inner, inner);
  linear(TensorRole::ssm_out, inner, hidden, r.bias);
}

void GraphBuilder::mamba2(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  linear(TensorRole::ssm_in, hidden, inner + r.conv_features() + r.heads, r.bias);
  convolution(TensorRole::ssm_conv, r.conv_features(), r.conv, r.conv_bias);
  vector(TensorRole::bias, TensorRole::ssm_dt, r.heads);
  vector(TensorRole::ssm_a, TensorRole::ssm_a, r.heads);
  vector(TensorRole::ssm_d, TensorRole::ssm_d, r.heads);
  recurrence(r, r.conv_features() + r.heads);
  if (r.norm_dim > 0) head_norm(TensorRole::ssm_norm, r.norm_dim, inner);
  add(OperatorKind::elementwise, -1, 2 * inner, inner);
  linear(TensorRole::ssm_out, inner, hidden, r.bias);
}

// The projections that every version has; vectors and low-rank pairs, which differ by
// version and layer, are extras.
void GraphBuilder::rwkv(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  const std::int64_t inner = r.inner();
  linear(TensorRole::time_mix_receptance, hidden, inner, false);
  linear(TensorRole::time_mix_key, hidden, inner, false);
  linear(TensorRole::time_mix_value, hidden, inner, false);
  if (r.gate_full) linear(TensorRole::time_mix_gate, hidden, inner, false);
  recurrence(r, 3 * inner);
  if (r.norm_dim > 0) norm(TensorRole::time_mix_norm, r.norm_dim, true);
  linear(TensorRole::time_mix_output, inner, hidden, false);
}

void GraphBuilder::short_conv(const RecurrentSpec& r) {
  const std::int64_t hidden = graph_.spec.hidden;
  linear(TensorRole::shortconv_in, hidden, 3 * hidden, r.bias);
  convolution(TensorRole::shortconv_conv, hidden, r.conv, r.conv_bias);
  add(OperatorKind::elementwise, -1, 3 * hidden, hidden);
  linear(TensorRole::shortconv_out, hidden, hidden, r.bias);
}

}  // namespace cairn
