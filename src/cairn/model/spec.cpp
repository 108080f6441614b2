#include "cairn/model/spec.h"

#include <algorithm>
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

Result<void> check_indexer(const ModelSpec& s, const AttentionSpec& a) {
  CAIRN_CHECK(in_range(s, "index_heads", a.index_heads, 0, 1 << 12));
  if (a.index_heads == 0) return {};
  CAIRN_CHECK(in_range(s, "index_head_dim", a.index_head_dim, 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "index_topk", a.index_topk, 1, 1 << 30));
  CAIRN_CHECK(in_range(s, "index_block", a.index_block, 0, 1 << 20));
  return in_range(s, "index_input", a.index_input, 1, kMaxSize);
}

Result<void> check_attention(const ModelSpec& s, const AttentionSpec& a) {
  CAIRN_CHECK(in_range(s, "heads", a.heads, 1, 1 << 12));
  CAIRN_CHECK(in_range(s, "kv_heads", a.kv_heads, 1, a.heads));
  if (a.heads % a.kv_heads != 0) {
    return fail(wrong(s, "kv_heads", a.kv_heads, "a divisor of " + std::to_string(a.heads)));
  }
  CAIRN_CHECK(in_range(s, "head_dim", a.head_dim, 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "v_head_dim", a.v_head_dim, 1, 1 << 13));
  const bool windowed = a.kind != AttentionKind::full && a.kind != AttentionKind::mla;
  CAIRN_CHECK(in_range(s, "window", a.window, windowed ? 1 : 0, 1 << 30));
  CAIRN_CHECK(in_range(s, "stride", a.stride, 0, 1 << 20));
  CAIRN_CHECK(in_range(s, "qk_norm_dim_q", a.qk_norm_dim_q, a.qk_norm ? 1 : 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "qk_norm_dim_k", a.qk_norm_dim_k, a.qk_norm ? 1 : 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "compress", a.compress, 0, 1 << 20));
  CAIRN_CHECK(in_range(s, "attention.input", a.input, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "output_rank", a.output_rank, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "output_groups", a.output_groups, 1, a.heads));
  CAIRN_CHECK(check_indexer(s, a));
  if (a.kind != AttentionKind::mla) return {};
  CAIRN_CHECK(in_range(s, "q_lora_rank", a.q_lora_rank, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "kv_lora_rank", a.kv_lora_rank, 1, kMaxSize));
  CAIRN_CHECK(in_range(s, "qk_nope_head_dim", a.qk_nope_head_dim, 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "qk_rope_head_dim", a.qk_rope_head_dim, 1, 1 << 13));
  return in_range(s, "head_dim", a.head_dim, a.qk_nope_head_dim + a.qk_rope_head_dim,
                  a.qk_nope_head_dim + a.qk_rope_head_dim);
}

Result<void> check_recurrent(const ModelSpec& s, const RecurrentSpec& r) {
  if (r.kind == RecurrentKind::none) return {};
  const bool conv_only = r.kind == RecurrentKind::short_conv;
  CAIRN_CHECK(in_range(s, "recurrent.heads", r.heads, conv_only ? 0 : 1, 1 << 12));
  CAIRN_CHECK(in_range(s, "recurrent.key_heads", r.key_heads, conv_only ? 0 : 1, 1 << 12));
  CAIRN_CHECK(in_range(s, "recurrent.key_dim", r.key_dim, conv_only ? 0 : 1, 1 << 13));
  CAIRN_CHECK(in_range(s, "recurrent.value_dim", r.value_dim, conv_only ? 0 : 1, 1 << 20));
  CAIRN_CHECK(in_range(s, "recurrent.conv", r.conv, conv_only ? 1 : 0, 1 << 10));
  CAIRN_CHECK(in_range(s, "recurrent.rank", r.rank, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "recurrent.gate_rank", r.gate_rank, 0, kMaxSize));
  return in_range(s, "recurrent.norm_dim", r.norm_dim, 0, kMaxSize);
}

Result<void> check_extras(const ModelSpec& s, const std::vector<MatrixSpec>& extras) {
  CAIRN_CHECK(in_range(s, "extras", static_cast<std::int64_t>(extras.size()), 0, 256));
  for (const MatrixSpec& m : extras) {
    CAIRN_CHECK(in_range(s, "extras.rows", m.rows, 1, kMaxSize));
    CAIRN_CHECK(in_range(s, "extras.columns", m.columns, 1, kMaxSize));
    CAIRN_CHECK(in_range(s, "extras.stack", m.stack, 1, 4096));
  }
  return {};
}

Result<void> check_feed_forward(const ModelSpec& s, const FeedForwardSpec& f) {
  CAIRN_CHECK(in_range(s, "intermediate", f.intermediate, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "experts", f.experts, 0, 4096));
  if (f.experts == 0) return {};
  CAIRN_CHECK(in_range(s, "experts_per_token", f.experts_per_token, 1, f.experts));
  CAIRN_CHECK(in_range(s, "expert_intermediate", f.expert_intermediate, 1, kMaxSize));
  CAIRN_CHECK(in_range(s, "latent", f.latent, 0, kMaxSize));
  return in_range(s, "shared_intermediate", f.shared_intermediate, 0, kMaxSize);
}

// The large terms only, in floating point: keeps the exact count from overflowing.
double rough_parameters(const ModelSpec& s) {
  const auto n = [](std::int64_t v) { return static_cast<double>(v); };
  double sum = 2 * n(s.vocabulary) * n(s.hidden);
  for (const LayerSpec& layer : s.layers) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    sum += 4 * n(std::max(s.hidden, a.input)) * n(a.heads) * (n(a.head_dim) + n(a.v_head_dim));
    sum += n(a.heads) * (n(a.head_dim) + n(a.v_head_dim)) * n(a.q_lora_rank + a.kv_lora_rank);
    sum += 3 * n(s.hidden) * (n(f.intermediate) + n(f.shared_intermediate));
    sum += 3 * n(s.hidden) * n(f.experts) * n(f.expert_intermediate);
    sum += 8 * n(s.hidden) * n(layer.recurrent.heads) * n(layer.recurrent.value_dim);
    sum += 4 * n(s.hidden) * n(layer.recurrent.key_heads) * n(layer.recurrent.key_dim);
    for (const MatrixSpec& m : layer.extras) sum += n(m.rows) * n(m.columns) * n(m.stack);
  }
  for (const MatrixSpec& m : s.extras) sum += n(m.rows) * n(m.columns) * n(m.stack);
  return sum;
}

Result<void> check_norms(const ModelSpec& s, const LayerSpec& layer) {
  const bool after = layer.norms_after;
  const std::int64_t n = layer.norms;
  if (n == 2 || (!after && (n == 0 || n == 1 || n == 4))) return {};
  return fail(wrong(s, "norms", n, after ? "2" : "0, 1, 2 or 4"));
}

Result<void> check_layer(const ModelSpec& s, const LayerSpec& layer) {
  const FeedForwardSpec& f = layer.feed_forward;
  const bool attends = layer.attention.heads != 0;
  if (!attends && layer.recurrent.kind == RecurrentKind::none && f.intermediate == 0 &&
      f.experts == 0 && layer.extras.empty()) {
    return fail(wrong(s, "layers", 0, "attention, a recurrence or a feed-forward part in each"));
  }
  if (attends) CAIRN_CHECK(check_attention(s, layer.attention));
  if (layer.cross_attention.heads != 0) {
    CAIRN_CHECK(check_attention(s, layer.cross_attention));
    CAIRN_CHECK(in_range(s, "cross_attention.window", layer.cross_attention.window, 1, 1 << 30));
  }
  CAIRN_CHECK(check_recurrent(s, layer.recurrent));
  CAIRN_CHECK(check_feed_forward(s, f));
  CAIRN_CHECK(in_range(s, "block", layer.block, 0, 1024));
  if (layer.block > 0 && (f.experts > 0 || layer.recurrent.kind != RecurrentKind::none)) {
    return fail(wrong(s, "block", layer.block, "attention and a dense part alone"));
  }
  CAIRN_CHECK(check_extras(s, layer.extras));
  return check_norms(s, layer);
}

}  // namespace

std::int64_t RecurrentSpec::conv_features() const {
  switch (kind) {
    case RecurrentKind::gated_delta_net:
    case RecurrentKind::kimi_delta:
    case RecurrentKind::mamba2:
      return inner() + 2 * key_heads * key_dim;
    case RecurrentKind::mamba:
      return inner();
    default:
      return 0;
  }
}

std::int64_t RecurrentSpec::state_elements() const {
  return kind == RecurrentKind::none ? 0 : heads * key_dim * value_dim;
}

std::int64_t RecurrentSpec::window_elements(std::int64_t hidden) const {
  switch (kind) {
    case RecurrentKind::none:
    case RecurrentKind::lightning:
      return 0;
    case RecurrentKind::rwkv:
      return 2 * hidden;  // the last token of each of the two mixers
    case RecurrentKind::short_conv:
      return (conv - 1) * hidden;
    default:
      return (conv > 0 ? conv - 1 : 0) * conv_features();
  }
}

Purpose purpose_of(const ModelSpec& s) {
  const auto is_encoder = [](const ModelSpec& p) { return p.part == ModelPart::encoder; };
  if (std::ranges::any_of(s.parts, is_encoder)) return Purpose::rewriting;
  const auto both_ways = [](const LayerSpec& layer) { return layer.attention.bidirectional; };
  const bool once =
      s.part != ModelPart::language || !s.output_head || std::ranges::any_of(s.layers, both_ways);
  return once ? Purpose::features : Purpose::text;
}

ModelSpec make_draft(const ModelSpec& model, const LayerSpec& layer, const DraftTraits& traits) {
  ModelSpec part;
  part.part = ModelPart::mtp;
  part.hidden = model.hidden;
  part.output_head = false;
  part.final_norm = traits.final_norm;
  part.published_format = model.published_format;
  part.layers.push_back(layer);
  const MatrixSpec norm{.role = TensorRole::mtp_norm,
                        .columns = model.hidden,
                        .use = Use::elementwise,
                        .vector = true};
  const MatrixSpec projection{
      .role = TensorRole::mtp_projection, .rows = model.hidden, .columns = 2 * model.hidden};
  MatrixSpec table{.role = TensorRole::token_embedding,
                   .rows = model.vocabulary,
                   .columns = model.hidden,
                   .use = Use::lookup};
  part.extras = {norm, norm, projection};
  if (traits.embedding) part.extras.push_back(table);
  table.role = TensorRole::output;
  table.use = Use::linear;
  if (traits.head) part.extras.push_back(table);
  return part;
}

Result<void> check_spec(const ModelSpec& s) {
  const bool part = s.part != ModelPart::language;
  CAIRN_CHECK(in_range(s, "hidden", s.hidden, 1, 1 << 20));
  CAIRN_CHECK(in_range(s, "vocabulary", s.vocabulary, part ? 0 : 1, kMaxSize));
  CAIRN_CHECK(in_range(s, "embedding", s.embedding, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "max_context", s.max_context, part ? 0 : 1, 1 << 30));
  CAIRN_CHECK(in_range(s, "position_embeddings", s.position_embeddings, 0, kMaxSize));
  CAIRN_CHECK(in_range(s, "positions", s.positions, 0, 1 << 30));
  CAIRN_CHECK(in_range(s, "outputs", s.outputs, 0, 1 << 30));
  const auto layers = static_cast<std::int64_t>(s.layers.size());
  CAIRN_CHECK(in_range(s, "layers", layers, part ? 0 : 1, 1024));
  CAIRN_CHECK(check_extras(s, s.extras));
  for (const LayerSpec& layer : s.layers) CAIRN_CHECK(check_layer(s, layer));
  if (const double total = rough_parameters(s); total > kMaxParameters) {
    return fail(bad_input("a model that cannot be").at(s.id).in("parameters").want("at most 1e15"));
  }
  CAIRN_CHECK(in_range(s, "parts", static_cast<std::int64_t>(s.parts.size()), 0, 16));
  for (const ModelSpec& inner : s.parts) {
    if (inner.part == ModelPart::language || !inner.parts.empty()) {
      return fail(wrong(s, "parts", 0, "parts of one level that are not the language model"));
    }
    CAIRN_CHECK(check_spec(inner));
  }
  return {};
}

}  // namespace cairn
