#include "cairn/model/spec.h"

#include <string_view>

namespace cairn {
namespace {

constexpr std::int64_t kMaxSize = 1 << 24;
constexpr double kMaxParameters = 1e15;  // 2^53 is the largest exact count

Error wrong(const ModelSpec& s, std::string field, std::int64_t value, std::string want) {
  return bad_input("a model that cannot be")
      .at(s.id)
      .in(std::move(field))
      .got(std::to_string(value))
      .want(std::move(want));
}

Result<void> in_range(const ModelSpec& s, std::string_view field, std::int64_t value,
                      std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return {};
  return fail(
      wrong(s, std::string(field), value, std::to_string(low) + " to " + std::to_string(high)));
}

Result<void> check_attention(const ModelSpec& s, const AttentionSpec& a) {
  CAIRN_CHECK(in_range(s, "heads", a.heads, 1, 1 << 12));
  CAIRN_CHECK(in_range(s, "kv_heads", a.kv_heads, 1, a.heads));
  if (a.heads % a.kv_heads != 0) {
    return fail(wrong(s, "kv_heads", a.kv_heads, "a divisor of " + std::to_string(a.heads)));
  }
  CAIRN_CHECK(in_range(s, "head_dim", a.head_dim, 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "v_head_dim", a.v_head_dim, 1, 1 << 13));
  const bool windowed = a.kind == AttentionKind::sliding || a.kind == AttentionKind::chunked;
  CAIRN_CHECK(in_range(s, "window", a.window, windowed ? 1 : 0, 1 << 30));
  CAIRN_CHECK(in_range(s, "qk_norm_dim_q", a.qk_norm_dim_q, a.qk_norm ? 1 : 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "qk_norm_dim_k", a.qk_norm_dim_k, a.qk_norm ? 1 : 0, kMaxSize));
  if (a.kind != AttentionKind::mla) return {};
  CAIRN_CHECK(in_range(s, "q_lora_rank", a.q_lora_rank, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "kv_lora_rank", a.kv_lora_rank, 1, kMaxSize));
  CAIRN_CHECK(in_range(s, "qk_nope_head_dim", a.qk_nope_head_dim, 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "qk_rope_head_dim", a.qk_rope_head_dim, 1, 1 << 13));
  return in_range(s, "head_dim", a.head_dim, a.qk_nope_head_dim + a.qk_rope_head_dim,
                  a.qk_nope_head_dim + a.qk_rope_head_dim);
}

Result<void> check_feed_forward(const ModelSpec& s, const FeedForwardSpec& f) {
  CAIRN_CHECK(in_range(s, "intermediate", f.intermediate, f.experts == 0 ? 1 : 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "experts", f.experts, 0, 4096));
  if (f.experts == 0) return {};
  CAIRN_CHECK(in_range(s, "experts_per_token", f.experts_per_token, 1, f.experts));
  CAIRN_CHECK(in_range(s, "expert_intermediate", f.expert_intermediate, 1, kMaxSize));
  return in_range(s, "shared_intermediate", f.shared_intermediate, 0, kMaxSize);
}

// The large terms only, in floating point: keeps the exact count from overflowing.
double rough_parameters(const ModelSpec& s) {
  const auto n = [](std::int64_t v) { return static_cast<double>(v); };
  double sum = 2 * n(s.vocabulary) * n(s.hidden);
  for (const LayerSpec& layer : s.layers) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    sum += 4 * n(s.hidden) * n(a.heads) * (n(a.head_dim) + n(a.v_head_dim));
    sum += n(a.heads) * (n(a.head_dim) + n(a.v_head_dim)) * n(a.q_lora_rank + a.kv_lora_rank);
    sum += 3 * n(s.hidden) * (n(f.intermediate) + n(f.shared_intermediate));
    sum += 3 * n(s.hidden) * n(f.experts) * n(f.expert_intermediate);
  }
  return sum;
}

}  // namespace

Result<void> check_spec(const ModelSpec& s) {
  CAIRN_CHECK(in_range(s, "hidden", s.hidden, 1, 1 << 20));
  CAIRN_CHECK(in_range(s, "vocabulary", s.vocabulary, 1, kMaxSize));
  CAIRN_CHECK(in_range(s, "max_context", s.max_context, 1, 1 << 30));
  CAIRN_CHECK(in_range(s, "position_embeddings", s.position_embeddings, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "mtp_layers", s.mtp_layers, 0, 1024));
  CAIRN_CHECK(in_range(s, "layers", static_cast<std::int64_t>(s.layers.size()), 1, 1024));
  for (const LayerSpec& layer : s.layers) {
    CAIRN_CHECK(check_attention(s, layer.attention));
    CAIRN_CHECK(check_feed_forward(s, layer.feed_forward));
    const bool after = layer.norms_after;
    if (layer.norms != 2 && (after || (layer.norms != 1 && layer.norms != 4))) {
      return fail(wrong(s, "norms", layer.norms, after ? "2" : "1, 2 or 4"));
    }
  }
  if (const double total = rough_parameters(s); total > kMaxParameters) {
    return fail(bad_input("a model that cannot be").at(s.id).in("parameters").want("at most 1e15"));
  }
  return {};
}

}  // namespace cairn
