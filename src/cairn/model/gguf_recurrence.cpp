#include "cairn/model/gguf_recurrence.h"

#include <fmt/format.h>

#include <string>

#include "cairn/model/rwkv_layers.h"

namespace cairn {
namespace {

constexpr std::int64_t kMaxHeads = 1 << 12;
constexpr std::int64_t kMaxHeadDim = 1 << 13;
constexpr std::int64_t kMaxInner = 1 << 20;

class LayerReader : public GgufLayer {
 public:
  using GgufLayer::GgufLayer;

  [[nodiscard]] Result<std::int64_t> key(std::string_view name, std::int64_t high) const {
    return file_.integer(fmt::format("{}.{}", architecture_, name), 1, high);
  }
  [[nodiscard]] Error error(std::string_view name, std::int64_t value, std::string want) const {
    return bad_input("a size that does not fit the others")
        .at(file_.path)
        .in(fmt::format("{}.{}", architecture_, name))
        .got(std::to_string(value))
        .want(std::move(want));
  }

  // Heads of the inner features, in as many groups of keys.
  Result<RecurrentSpec> heads_and_groups(RecurrentKind kind) const {
    RecurrentSpec r;
    r.kind = kind;
    CAIRN_TRY(const std::int64_t inner, key("ssm.inner_size", kMaxInner));
    CAIRN_TRY(r.heads, key("ssm.time_step_rank", kMaxHeads));
    CAIRN_TRY(r.key_heads, key("ssm.group_count", kMaxHeads));
    CAIRN_TRY(r.key_dim, key("ssm.state_size", kMaxHeadDim));
    if (inner % r.heads != 0) {
      return fail(error("ssm.time_step_rank", r.heads, fmt::format("a divisor of {}", inner)));
    }
    r.value_dim = inner / r.heads;
    CAIRN_TRY(const GgufTensor* const conv, required("ssm_conv1d.weight"));
    r.conv = conv->size[0];
    r.conv_bias = has("ssm_conv1d.bias");
    if (const GgufTensor* const norm = find("ssm_norm.weight")) r.norm_dim = norm->weights();
    r.bias = has("ssm_out.bias");
    return r;
  }

  Result<RecurrentSpec> selective() const {
    RecurrentSpec r;
    r.kind = RecurrentKind::mamba;
    r.heads = r.key_heads = 1;
    CAIRN_TRY(r.value_dim, key("ssm.inner_size", kMaxInner));
    CAIRN_TRY(r.key_dim, key("ssm.state_size", kMaxHeadDim));
    CAIRN_TRY(r.rank, key("ssm.time_step_rank", kMaxInner));
    CAIRN_TRY(const GgufTensor* const conv, required("ssm_conv1d.weight"));
    r.conv = conv->size[0];
    r.conv_bias = has("ssm_conv1d.bias");
    r.inner_norms = has("ssm_dt_norm.weight");
    r.bias = has("ssm_out.bias");
    return r;
  }

  Result<RecurrentSpec> kimi_delta() const {
    RecurrentSpec r;
    r.kind = RecurrentKind::kimi_delta;
    CAIRN_TRY(r.key_dim, key("kda.head_dim", kMaxHeadDim));
    CAIRN_TRY(const GgufTensor* const rank, required("ssm_f_a.weight"));
    CAIRN_TRY(const GgufTensor* const heads, required("ssm_beta.weight"));
    CAIRN_TRY(const GgufTensor* const conv, required("ssm_conv1d_q.weight"));
    r.rank = rank->size[1];
    r.heads = r.key_heads = heads->size[1];
    r.conv = conv->size[0];
    r.value_dim = r.norm_dim = r.key_dim;
    if (const GgufTensor* const gate = find("ssm_g_a.weight")) {
      r.gate_rank = gate->size[1];
    } else {
      r.gate_full = true;
    }
    return r;
  }

  Result<RecurrentSpec> short_conv() const {
    RecurrentSpec r;
    r.kind = RecurrentKind::short_conv;
    CAIRN_TRY(const GgufTensor* const conv, required("shortconv.conv.weight"));
    r.conv = conv->size[0];
    r.conv_bias = has("shortconv.conv.bias");
    r.bias = has("shortconv.in_proj.bias");
    return r;
  }
};

}  // namespace

Result<RecurrentSpec> gguf_recurrence(const GgufFile& file, const GgufTensors& tensors,
                                      std::string_view architecture, std::size_t layer) {
  const LayerReader l(file, tensors, architecture, layer);
  if (l.has("shortconv.conv.weight")) return l.short_conv();
  if (l.has("ssm_f_a.weight")) return l.kimi_delta();
  if (l.has("ssm_beta.weight") || l.has("ssm_ba.weight")) {
    CAIRN_TRY(RecurrentSpec r, l.heads_and_groups(RecurrentKind::gated_delta_net));
    r.split_gates = l.has("ssm_beta.weight");
    return r;
  }
  if (l.has("ssm_x.weight")) return l.selective();
  if (l.has("ssm_in.weight")) return l.heads_and_groups(RecurrentKind::mamba2);
  return RecurrentSpec{};
}

bool is_gguf_rwkv(std::string_view architecture) {
  return architecture == "rwkv6" || architecture == "rwkv7";
}

Result<LayerSpec> gguf_rwkv_layer(const GgufFile& file, const GgufTensors& tensors,
                                  std::string_view architecture, std::size_t layer) {
  const LayerReader l(file, tensors, architecture, layer);
  RwkvShape s;
  s.version = architecture == "rwkv7" ? 7 : 6;
  CAIRN_TRY(s.head_dim, l.key("wkv.head_size", kMaxHeadDim));
  CAIRN_TRY(const GgufTensor* const key, l.required("time_mix_key.weight"));
  CAIRN_TRY(const GgufTensor* const inner, l.required("channel_mix_key.weight"));
  s.hidden = key->size[0];
  s.inner = inner->size[1];
  if (s.hidden % s.head_dim != 0) {
    return fail(l.error("wkv.head_size", s.head_dim, fmt::format("a divisor of {}", s.hidden)));
  }
  if (s.version == 6) {
    CAIRN_TRY(s.lerp_rank, l.key("time_mix_extra_dim", kMaxInner));
    CAIRN_TRY(s.decay_rank, l.key("time_decay_extra_dim", kMaxInner));
  } else {
    CAIRN_TRY(s.decay_rank, l.key("attention.decay_lora_rank", kMaxInner));
    CAIRN_TRY(s.rate_rank, l.key("attention.iclr_lora_rank", kMaxInner));
    CAIRN_TRY(s.value_rank, l.key("attention.value_residual_mix_lora_rank", kMaxInner));
    CAIRN_TRY(s.gate_rank, l.key("attention.gate_lora_rank", kMaxInner));
  }
  return rwkv_layer(s, layer == 0);
}

}  // namespace cairn
