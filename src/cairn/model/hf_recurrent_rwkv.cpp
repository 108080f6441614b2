// RWKV: states of features (4) or matrices (5, 6 and 7), no attention.
#include <array>
#include <string>

#include "cairn/model/hf_recurrent.h"
#include "cairn/model/rwkv_layers.h"

namespace cairn::hf {
namespace {

// Trained lengths are no limit (see the state spaces); files may state one.
constexpr std::int64_t kUnlimited = 1 << 20;

Result<Dims> rwkv_dims(Fields& f) {
  Dims d;
  CAIRN_TRY(d.hidden, f.integer("hidden_size", 1, kMaxHidden));
  CAIRN_TRY(d.layers, f.integer("num_hidden_layers", 1, kMaxLayers));
  CAIRN_TRY(d.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  d.max_context = kUnlimited;
  f.skip({"attention_hidden_size", "num_attention_heads", "num_heads", "head_size_divisor",
          "model_version", "layer_norm_epsilon"});
  return d;
}

// The head is a matrix of its own in every model of the series, whatever a file says of
// tied embeddings (https://github.com/BlinkDL/RWKV-LM, head.weight).
ModelSpec rwkv(Fields& f, const Dims& d, std::string_view family, const RwkvShape& shape) {
  f.skip({"tie_word_embeddings"});
  ModelSpec s = make_spec(d, family);
  s.final_norm_bias = true;
  s.extras = rwkv_embedding_norm(d.hidden);
  for (std::int64_t i = 0; i < d.layers; ++i) s.layers.push_back(rwkv_layer(shape, i == 0));
  return s;
}

Result<RwkvShape> rwkv_shape(Fields& f, const Dims& d, std::string_view head_key) {
  RwkvShape s;
  s.hidden = d.hidden;
  CAIRN_TRY(s.head_dim, f.integer_or(head_key, 64, 1, kMaxHeadDim));
  if (d.hidden % s.head_dim != 0) {
    return fail(f.error(head_key, "heads that do not divide the hidden size"));
  }
  return s;
}

// https://huggingface.co/RWKV/rwkv-5-world-3b/blob/main/modeling_rwkv5.py and
// https://huggingface.co/RWKV/v6-Finch-1B6-HF/blob/main/modeling_rwkv6.py: channels are mixed
// in 3.5 times the hidden size in whole multiples of 32; low ranks are 64 and 128 at 4096
// features and half of it below.
Result<ModelSpec> rwkv_of(Fields& f, std::int64_t version, std::string_view family) {
  CAIRN_TRY(const Dims d, rwkv_dims(f));
  CAIRN_TRY(RwkvShape s, rwkv_shape(f, d, "head_size"));
  CAIRN_TRY(s.inner, f.integer_or("intermediate_size", d.hidden * 7 / 2 / 32 * 32, 1, kMaxInner));
  s.version = version;
  if (version == 6) {
    s.lerp_rank = d.hidden == 4096 ? 64 : 32;
    s.decay_rank = 2 * s.lerp_rank;
  }
  return rwkv(f, d, family, s);
}

Result<ModelSpec> rwkv5(Fields& f) { return rwkv_of(f, 5, "rwkv5"); }

// https://github.com/huggingface/transformers/tree/main/src/transformers/models/rwkv
Result<ModelSpec> rwkv4(Fields& f) {
  CAIRN_TRY(const std::string_view type, f.text_or("model_type", "rwkv"));
  // RWKV 5 has files of the same class.
  if (type == "rwkv5") return rwkv5(f);
  CAIRN_TRY(const std::int64_t inner_attention,
            f.integer_or("attention_hidden_size", 0, 0, kMaxInner));
  CAIRN_TRY(const Dims d, rwkv_dims(f));
  if (inner_attention != 0 && inner_attention != d.hidden) {
    return fail(f.error("attention_hidden_size", "not covered").want(std::to_string(d.hidden)));
  }
  RwkvShape s{.version = 4, .hidden = d.hidden};
  CAIRN_TRY(s.inner, f.integer_or("intermediate_size", 4 * d.hidden, 1, kMaxInner));
  f.skip({"context_length", "rescale_every"});
  return rwkv(f, d, "rwkv4", s);
}

Result<ModelSpec> rwkv6(Fields& f) { return rwkv_of(f, 6, "rwkv6"); }

// https://github.com/fla-org/flash-linear-attention/tree/main/fla/models/rwkv7
Result<ModelSpec> rwkv7(Fields& f) {
  CAIRN_TRY(const Dims d, rwkv_dims(f));
  CAIRN_TRY(RwkvShape s, rwkv_shape(f, d, "head_dim"));
  CAIRN_CHECK(f.refuse("attn", "layers with attention are not covered"));
  f.skip({"attn_mode", "fuse_norm", "hidden_ratio", "norm_first", "value_dim", "fuse_cross_entropy",
          "norm_bias", "max_position_embeddings"});
  CAIRN_TRY(s.inner, f.integer_or("intermediate_size", 4 * d.hidden, 1, kMaxInner));
  CAIRN_TRY(s.decay_rank, f.integer("decay_low_rank_dim", 1, kMaxInner));
  CAIRN_TRY(s.rate_rank, f.integer("a_low_rank_dim", 1, kMaxInner));
  CAIRN_TRY(s.value_rank, f.integer("v_low_rank_dim", 1, kMaxInner));
  CAIRN_TRY(s.gate_rank, f.integer("gate_low_rank_dim", 1, kMaxInner));
  s.version = 7;
  return rwkv(f, d, "rwkv7", s);
}

constexpr auto kFamilies = std::to_array<Family>({
    {"RwkvForCausalLM", "rwkv", rwkv4},
    {"Rwkv5ForCausalLM", "rwkv5", rwkv5},
    {"Rwkv6ForCausalLM", "rwkv6", rwkv6},
    {"RWKV7ForCausalLM", "rwkv7", rwkv7},
});

}  // namespace

std::span<const Family> rwkv_families() { return kFamilies; }

}  // namespace cairn::hf
