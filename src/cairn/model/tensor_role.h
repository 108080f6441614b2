// TensorRole: what a tensor is for. Quantisation recipes, layouts and file readers
// decide by role.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

/// Names follow GGUF's (gguf-py/gguf/constants.py in llama.cpp).
enum class TensorRole : std::uint8_t {
  token_embedding,
  position_embedding,
  type_embedding,  // segments (BERT)
  embedding_norm,
  output_norm,
  output,
  // Attention.
  attn_norm,
  attn_q,
  attn_k,
  attn_v,
  attn_output,
  attn_gate,  // the gate of the output, where it is a matrix of its own
  attn_q_norm,
  attn_k_norm,
  attn_v_norm,
  attn_sub_norm,  // a norm before the output projection
  attn_sinks,
  attn_rel_b,  // relative position biases (T5)
  attn_scale,  // a learned scale per layer or feature
  attn_q_a,    // MLA
  attn_q_a_norm,
  attn_q_b,
  attn_kv_a,
  attn_kv_a_norm,
  attn_k_b,
  attn_v_b,
  attn_output_a,    // a low-rank output projection (DeepSeek V4)
  attn_compress_k,  // compression of the cache by positions (DeepSeek V4)
  attn_compress_gate,
  attn_compress_pos,
  attn_compress_norm,
  indexer_q,  // the selection of positions of sparse attention
  indexer_k,
  indexer_q_norm,
  indexer_k_norm,
  indexer_weights,
  indexer_compress_k,
  indexer_compress_gate,
  indexer_compress_pos,
  indexer_compress_norm,
  post_attn_norm,
  cross_attn_norm,  // attention to an encoder
  cross_attn_q,
  cross_attn_k,
  cross_attn_v,
  cross_attn_output,
  cross_attn_q_norm,
  cross_attn_k_norm,
  cross_attn_gate,
  cross_attn_rel_b,
  // Recurrent mixers.
  linear_qkv,  // queries, keys and values of linear attention in one matrix
  ssm_in,
  ssm_conv,
  ssm_conv_q,
  ssm_conv_k,
  ssm_conv_v,
  ssm_x,
  ssm_dt,
  ssm_a,
  ssm_d,
  ssm_dt_norm,
  ssm_b_norm,
  ssm_c_norm,
  ssm_beta_alpha,
  ssm_beta,
  ssm_alpha,
  ssm_f_a,
  ssm_f_b,
  ssm_g_a,
  ssm_g_b,
  ssm_norm,
  ssm_out,
  shortconv_in,
  shortconv_conv,
  shortconv_out,
  time_mix_vector,  // interpolations, decays and bonuses of RWKV
  time_mix_a,       // its low-rank pairs
  time_mix_b,
  time_mix_receptance,
  time_mix_key,
  time_mix_value,
  time_mix_gate,
  time_mix_norm,
  time_mix_output,
  channel_mix_vector,
  channel_mix_receptance,
  channel_mix_key,
  channel_mix_value,
  // Feed-forward.
  ffn_norm,
  post_ffn_norm,
  ffn_gate,
  ffn_up,
  ffn_down,
  ffn_sub_norm,
  ffn_scale,
  router,
  router_bias,
  router_table,  // experts by token instead of by scores (DeepSeek V4)
  router_scale,
  expert_norm,  // more norms of a layer with experts beside a dense part
  expert_post_norm,
  expert_gate,
  expert_up,
  expert_down,
  expert_scale,
  latent_down,  // hidden features to those the experts work on, and back
  latent_up,
  latent_norm,
  shared_gate,
  shared_up,
  shared_down,
  shared_router,
  // Around the layers, and parts beside the language model.
  layer_embedding,  // a table of inputs of every layer (Gemma 3n)
  layer_embedding_proj,
  layer_embedding_norm,
  layer_input_gate,
  layer_input_proj,
  layer_input_norm,
  layer_scale,   // what a layer's output is multiplied with
  residual_mix,  // learned mixtures of residual streams
  residual_norm,
  patch_embedding,  // pixels or mel bins to features
  class_embedding,
  pre_norm,
  projector,  // features of a tower to those of the language model
  projector_norm,
  pooler,
  classifier,
  mtp_projection,  // two hidden states to one
  mtp_norm,
  other,
  bias,
};

/// GGUF's name of a role without layer and suffix: "attn_q", "ffn_down_exps" ...
std::string_view role_name(TensorRole role);

}  // namespace cairn
