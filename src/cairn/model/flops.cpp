// What the operators of a graph compute and read.
#include <algorithm>
#include <cmath>

#include "cairn/model/graph.h"

namespace cairn {
namespace {

double to_double(std::int64_t n) { return static_cast<double>(n); }

// Positions of the own chunk that the first n positions of a sequence see, summed.
double chunk_positions(double n, double chunk) {
  const double whole = std::floor(n / chunk);
  const double rest = n - whole * chunk;
  return whole * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2;
}

// Positions that causal queries see of at most `limit`, averaged over the new ones.
double limited(double context, double new_tokens, double limit) {
  if (context + new_tokens <= limit) return context + (new_tokens + 1) / 2;
  if (context >= limit) return limit;
  // The first `growing` queries see everything before them, the rest the limit.
  const double growing = limit - context;
  const double seen = growing * (context + (growing + 1) / 2);
  return (seen + (new_tokens - growing) * limit) / new_tokens;
}

// The entries before the window that compressed attention reads.
double compressed_positions(const AttentionSpec& a, double context, double new_tokens) {
  if (a.compress <= 0) return 0;
  const double entries = (context + (new_tokens + 1) / 2) / to_double(a.compress);
  return a.index_topk > 0 ? std::min(entries, to_double(a.index_topk)) : entries;
}

double attention_flops(const Operator& op, const Step& step) {
  const AttentionSpec& a = op.attention;
  double key = to_double(a.head_dim);
  double value = to_double(a.v_head_dim);
  if (a.kind == AttentionKind::mla && step.tokens_per_sequence <= 1) {
    key = to_double(a.kv_lora_rank + a.qk_rope_head_dim);
    value = to_double(a.kv_lora_rank);
  }
  const double attended = attended_positions(a, step.context, step.tokens_per_sequence);
  return 2 * step.tokens() * to_double(a.heads) * attended * (key + value);
}

double indexer_flops(const AttentionSpec& a, const Step& step) {
  const double entries = indexed_positions(a, step.context, step.tokens_per_sequence);
  return 2 * step.tokens() * to_double(a.index_heads * a.index_head_dim) * entries;
}

}  // namespace

double attended_positions(const AttentionSpec& a, double context, double new_tokens) {
  if (new_tokens <= 0) return 0;
  const double window = to_double(a.window);
  if (a.bidirectional) {
    const double all = context + new_tokens;
    return a.kind == AttentionKind::sliding && window > 0 ? std::min(all, window) : all;
  }
  double seen = 0;
  switch (a.kind) {
    case AttentionKind::cross:
      return window;
    case AttentionKind::chunked:
      if (window <= 0) return limited(context, new_tokens, INFINITY);
      return (chunk_positions(context + new_tokens, window) - chunk_positions(context, window)) /
             new_tokens;
    case AttentionKind::compressed:
      return limited(context, new_tokens, window) + compressed_positions(a, context, new_tokens);
    case AttentionKind::sliding:
      seen = limited(context, new_tokens, window > 0 ? window : INFINITY);
      break;
    case AttentionKind::full:
    case AttentionKind::mla:
      seen = limited(context, new_tokens, INFINITY);
      if (a.stride > 0) {
        const double near = limited(context, new_tokens, window);
        seen = near + (seen - near) / to_double(a.stride);
      }
      break;
  }
  if (a.index_topk <= 0) return seen;
  return std::min(seen, limited(context, new_tokens, to_double(a.index_topk)));
}

double indexed_positions(const AttentionSpec& a, double context, double new_tokens) {
  if (a.index_heads <= 0 || a.index_shared || new_tokens <= 0) return 0;
  const double all = context + (new_tokens + 1) / 2;
  return a.compress > 0 ? all / to_double(a.compress) : all;
}

Flops recurrence_flops(const RecurrentSpec& r, double tokens) {
  if (tokens <= 0) return Flops(0);
  const bool delta =
      r.kind == RecurrentKind::gated_delta_net || r.kind == RecurrentKind::kimi_delta;
  const double state = to_double(r.heads * r.key_dim * r.value_dim);
  const double each = delta ? 7 : 5;
  // State spaces of one head have no form by matrix products.
  const bool by_token = tokens <= 1 || r.kind == RecurrentKind::mamba;
  if (by_token) return Flops(tokens * each * state);
  constexpr double kChunk = 64;
  const double inside =
      2 * std::min(tokens, kChunk) * to_double(r.heads) * to_double(r.key_dim + r.value_dim);
  return Flops(tokens * (inside + (delta ? 6 : 4) * state));
}

Flops flops(const Operator& op, const Step& step) {
  const double tokens = op.output_only ? step.output_tokens : step.tokens();
  const double matrix = 2 * tokens * to_double(op.input) * to_double(op.output);
  switch (op.kind) {
    case OperatorKind::linear:
    case OperatorKind::router:
      return Flops(matrix);
    case OperatorKind::expert_linear:
      return Flops(matrix * op.experts_per_token);
    case OperatorKind::attention:
      return Flops(attention_flops(op, step));
    case OperatorKind::indexer:
      return Flops(indexer_flops(op.attention, step));
    case OperatorKind::recurrence:
      return step.sequences * recurrence_flops(op.recurrent, step.tokens_per_sequence);
    case OperatorKind::embedding:
    case OperatorKind::norm:
    case OperatorKind::elementwise:
      return Flops(0);
  }
  return Flops(0);
}

double expected_experts(double experts, double per_token, double tokens) {
  if (experts <= 0 || per_token <= 0 || tokens <= 0) return 0;
  if (per_token >= experts) return experts;
  // 1 - (1 - p)^t without cancellation for small p.
  return -experts * std::expm1(tokens * std::log1p(-per_token / experts));
}

std::int64_t kv_elements_per_token(const AttentionSpec& a) {
  if (a.heads == 0 || a.shares_kv || a.bidirectional) return 0;
  if (a.kind == AttentionKind::mla) return a.kv_lora_rank + a.qk_rope_head_dim;
  if (a.kind == AttentionKind::compressed) return a.kv_heads * a.head_dim;
  return a.kv_heads * (a.head_dim + a.v_head_dim);
}

std::int64_t index_elements_per_token(const AttentionSpec& a) {
  return a.index_heads > 0 && !a.index_shared ? a.index_head_dim : 0;
}

}  // namespace cairn
