#include "cairn/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cairn/base/message.h"

namespace cairn {
namespace {

constexpr std::int64_t kVocabularyPad = 64;  // vLLM, DEFAULT_VOCAB_PADDING_SIZE

std::int64_t divide_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

std::int64_t vocabulary_share(std::int64_t rows, int tp) {
  if (tp == 1) return rows;
  return divide_up(divide_up(rows, kVocabularyPad) * kVocabularyPad, tp);
}

// What tensor parallelism does to a matrix.
enum class Cut : std::uint8_t { none, rows, kv_rows, columns, stack, vocabulary };

Cut cut_of(TensorRole role) {
  switch (role) {
    case TensorRole::token_embedding:
    case TensorRole::output:
      return Cut::vocabulary;
    case TensorRole::attn_q:
    case TensorRole::attn_q_b:
    case TensorRole::attn_sinks:
    case TensorRole::ffn_gate:
    case TensorRole::ffn_up:
    case TensorRole::shared_gate:
    case TensorRole::shared_up:
    case TensorRole::expert_gate:
    case TensorRole::expert_up:
    case TensorRole::attn_gate:
    case TensorRole::cross_attn_q:
    case TensorRole::linear_qkv:
    case TensorRole::ssm_in:
    case TensorRole::ssm_conv:
    case TensorRole::ssm_conv_q:
    case TensorRole::ssm_conv_k:
    case TensorRole::ssm_conv_v:
    case TensorRole::ssm_dt:
    case TensorRole::ssm_d:
    case TensorRole::ssm_beta_alpha:
    case TensorRole::ssm_beta:
    case TensorRole::ssm_alpha:
    case TensorRole::ssm_f_b:
    case TensorRole::ssm_g_b:
    case TensorRole::shortconv_in:
    case TensorRole::shortconv_conv:
    case TensorRole::time_mix_receptance:
    case TensorRole::time_mix_key:
    case TensorRole::time_mix_value:
    case TensorRole::time_mix_gate:
    case TensorRole::channel_mix_key:
      return Cut::rows;
    case TensorRole::attn_k:
    case TensorRole::attn_v:
    case TensorRole::cross_attn_k:
    case TensorRole::cross_attn_v:
      return Cut::kv_rows;
    case TensorRole::attn_output:
    case TensorRole::cross_attn_output:
    case TensorRole::ssm_x:
    case TensorRole::ssm_out:
    case TensorRole::shortconv_out:
    case TensorRole::time_mix_output:
    case TensorRole::channel_mix_value:
    case TensorRole::ffn_down:
    case TensorRole::shared_down:
    case TensorRole::expert_down:
      return Cut::columns;
    case TensorRole::attn_k_b:
    case TensorRole::attn_v_b:
    case TensorRole::attn_output_a:
      return Cut::stack;
    default:
      return Cut::none;
  }
}

bool is_expert(TensorRole role) {
  return role == TensorRole::expert_gate || role == TensorRole::expert_up ||
         role == TensorRole::expert_down;
}

bool in_layers(std::int32_t layer, const Share& share) {
  return layer >= share.first_layer && layer < share.last_layer;
}

const LayerSpec& layer_of(const Graph& graph, std::int32_t layer) {
  return graph.spec.layers[static_cast<std::size_t>(layer)];
}

bool holds(const Tensor& t, const Graph& graph, const Share& share) {
  if (t.layer >= 0) return in_layers(t.layer, share);
  switch (t.owner) {
    case TensorRole::token_embedding:
      return share.embedding ||
             (share.head && graph.spec.tied_embeddings && graph.spec.output_head);
    case TensorRole::position_embedding:
      return share.embedding;
    default:
      return share.head;
  }
}

// Rows of the matrix that a role names, on one rank.
std::int64_t rows_share(std::int64_t rows, Cut cut, std::int64_t kv_heads, int tp) {
  switch (cut) {
    case Cut::rows:
      return divide_up(rows, tp);
    case Cut::kv_rows:
      return divide_up(rows, std::min<std::int64_t>(tp, std::max<std::int64_t>(kv_heads, 1)));
    case Cut::vocabulary:
      return vocabulary_share(rows, tp);
    default:
      return rows;
  }
}

Error cannot_divide(std::string_view field, int value, std::string message) {
  return bad_input(std::move(message)).in(std::string(field)).got(std::to_string(value));
}

// Heads of keys and values; linear attention has projections of the same names.
std::int64_t key_heads(const LayerSpec& layer) {
  return layer.attention.heads > 0 ? layer.attention.kv_heads : layer.recurrent.key_heads;
}

// Whether keys and values are of heads that are divided, not one latent for all.
bool has_kv_heads(const AttentionSpec& a) {
  return a.kind != AttentionKind::mla && a.kind != AttentionKind::compressed && a.kv_heads > 0;
}

Result<void> check_layer(const LayerSpec& layer, std::size_t index, const Layout& layout) {
  const int tp = layout.tp;
  const AttentionSpec& a = layer.attention;
  const FeedForwardSpec& f = layer.feed_forward;
  const auto divides = [&](std::int64_t n, std::string_view what) -> Result<void> {
    if (n % tp == 0) return {};
    return fail(cannot_divide(
        "tp", tp,
        fmt::format("tensor parallelism does not divide {} {} of layer {}", n, what, index)));
  };
  CAIRN_CHECK(divides(a.heads, msg("attention heads")));
  CAIRN_CHECK(divides(layer.cross_attention.heads, msg("cross-attention heads")));
  // State spaces of one head divide by features.
  const RecurrentSpec& r = layer.recurrent;
  CAIRN_CHECK(divides(r.heads > 1 ? r.heads : r.value_dim, msg("heads of the recurrence")));
  if (has_kv_heads(a) && a.kv_heads % tp != 0 && tp % a.kv_heads != 0) {
    return fail(cannot_divide("tp", tp,
                              "tensor parallelism neither divides nor is a multiple of "
                              "the KV heads")
                    .want(fmt::format("a divisor or a multiple of {}", a.kv_heads)));
  }
  CAIRN_CHECK(divides(f.intermediate, msg("feed-forward features")));
  CAIRN_CHECK(divides(f.shared_intermediate, msg("shared-expert features")));
  if (layout.ep == 1) CAIRN_CHECK(divides(f.expert_intermediate, msg("expert features")));
  return {};
}

Result<void> check(const Graph& graph, const Layout& layout) {
  for (const auto& [name, n] : {std::pair{"tp", layout.tp}, std::pair{"pp", layout.pp},
                                std::pair{"dp", layout.dp}, std::pair{"ep", layout.ep}}) {
    if (n < 1) return fail(cannot_divide(name, n, "not a degree of parallelism").want("1 or more"));
  }
  const auto& layers = graph.spec.layers;
  if (static_cast<std::size_t>(layout.pp) > layers.size()) {
    return fail(cannot_divide("pp", layout.pp, "more stages than layers")
                    .want(fmt::format("at most {}", layers.size())));
  }
  if (layout.ep > 1 && (layout.ep % layout.tp != 0 || layout.dp % (layout.ep / layout.tp) != 0)) {
    return fail(cannot_divide("ep", layout.ep, "expert parallelism does not fit tp and dp")
                    .want("tp times a divisor of dp"));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) CAIRN_CHECK(check_layer(layers[i], i, layout));
  return {};
}

// Layers of each stage.
std::vector<std::int32_t> count_out(std::int32_t layers, int stages, Stages how) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(stages), 0);
  if (how == Stages::head_counts) {
    for (std::int32_t i = 0; i < layers; ++i) {
      ++out[static_cast<std::size_t>(std::int64_t{i} * stages / (layers + 1))];
    }
    return out;
  }
  std::ranges::fill(out, layers / stages);
  const auto rest = static_cast<std::size_t>(layers % stages);
  for (std::size_t i = 0; i < rest; ++i) ++out[out.size() - 2 - i];
  return out;
}

}  // namespace

std::string Layout::to_string() const {
  std::vector<std::string> parts;
  if (tp > 1) parts.push_back(fmt::format("tp{}", tp));
  if (pp > 1) parts.push_back(fmt::format("pp{}", pp));
  if (dp > 1) parts.push_back(fmt::format("dp{}", dp));
  if (ep > 1) parts.push_back(fmt::format("ep{}", ep));
  if (parts.empty()) return "1 device";
  return fmt::format("{}", fmt::join(parts, " x "));
}

Result<std::vector<Share>> divide(const Graph& graph, const Layout& layout, Stages stages) {
  CAIRN_CHECK(check(graph, layout));
  const auto layers = static_cast<std::int32_t>(graph.spec.layers.size());
  std::vector<Share> out;
  std::int32_t first = 0;
  for (const std::int32_t n : count_out(layers, layout.pp, stages)) {
    out.push_back({.first_layer = first,
                   .last_layer = first + n,
                   .embedding = out.empty(),
                   .head = false,
                   .tp = layout.tp,
                   .ep = layout.ep});
    first += n;
  }
  out.back().head = true;
  return out;
}

AttentionSpec share_of(const AttentionSpec& attention, int tp) {
  AttentionSpec out = attention;
  out.heads = divide_up(attention.heads, tp);
  if (has_kv_heads(attention)) {
    out.kv_heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  }
  return out;
}

RecurrentSpec share_of(const RecurrentSpec& recurrent, int tp) {
  RecurrentSpec out = recurrent;
  if (recurrent.heads > 1) {
    out.heads = divide_up(recurrent.heads, tp);
    out.key_heads = std::max<std::int64_t>(1, recurrent.key_heads / tp);
  } else {
    out.value_dim = divide_up(recurrent.value_dim, tp);
  }
  return out;
}

Tensor share_of(const Tensor& tensor, const Graph& graph, const Share& share) {
  Tensor out = tensor;
  if (!holds(tensor, graph, share)) {
    out.rows = 0;
    return out;
  }
  const bool expert = is_expert(tensor.owner);
  if (expert) out.experts = divide_up(tensor.experts, share.ep);
  if (share.tp == 1 || (expert && share.ep > 1)) return out;
  const Cut cut = cut_of(tensor.owner);
  const std::int64_t kv_heads = tensor.layer >= 0 ? key_heads(layer_of(graph, tensor.layer)) : 0;
  if (tensor.vector && tensor.rows == 1) {
    // A bias or a vector of one number per output feature.
    out.columns = rows_share(tensor.columns, cut, kv_heads, share.tp);
    return out;
  }
  out.rows = rows_share(tensor.rows, cut, kv_heads, share.tp);
  if (cut == Cut::columns) out.columns = divide_up(tensor.columns, share.tp);
  if (cut == Cut::stack) out.experts = divide_up(tensor.experts, share.tp);
  return out;
}

Operator share_of(const Operator& op, const Graph& graph, const Share& share) {
  Operator out = op;
  const int tp = share.tp;
  if (op.kind == OperatorKind::attention) {
    out.attention = share_of(op.attention, tp);
    out.input = divide_up(op.input, tp);
    out.output = divide_up(op.output, tp);
    return out;
  }
  if (op.kind == OperatorKind::recurrence) {
    out.recurrent = share_of(op.recurrent, tp);
    out.input = divide_up(op.input, tp);
    out.output = divide_up(op.output, tp);
    return out;
  }
  // Every rank chooses for itself (vllm/model_executor/models/deepseek_v2.py, Indexer).
  if (op.kind == OperatorKind::indexer) return out;
  if (op.tensor < 0) {
    // Element-wise work on the hidden size is repeated on each rank; the rest
    // (rotation, activation, gates) is on features that are split.
    if (op.output != graph.spec.hidden) out.output = divide_up(op.output, tp);
    if (op.output != graph.spec.hidden) out.input = divide_up(op.input, tp);
    return out;
  }
  const Tensor& whole = graph.tensors[static_cast<std::size_t>(op.tensor)];
  if (op.kind == OperatorKind::norm) {
    const bool per_head = whole.owner == TensorRole::attn_q_norm ||
                          whole.owner == TensorRole::attn_k_norm ||
                          whole.owner == TensorRole::ssm_norm || cut_of(whole.owner) == Cut::rows;
    if (per_head) {
      out.input = divide_up(op.input, tp);
      out.output = divide_up(op.output, tp);
    }
    return out;
  }
  if (op.kind == OperatorKind::embedding || op.kind == OperatorKind::router) return out;
  const Tensor part = share_of(whole, graph, share);
  if (cut_of(whole.owner) == Cut::stack) {
    out.output = divide_up(op.output, tp);
    return out;
  }
  // The head of a tied model reads the embedding table, whose rows are its outputs.
  if (part.rows > 0) out.output = part.rows;
  out.input = part.columns;
  if (op.kind == OperatorKind::expert_linear) {
    out.experts = part.experts;
    if (share.ep > 1) out.experts_per_token = op.experts_per_token / tp;
  }
  return out;
}

bool runs(const Operator& op, const Graph& /*graph*/, const Share& share) {
  if (op.layer >= 0) return in_layers(op.layer, share);
  if (op.kind == OperatorKind::embedding) return share.embedding;
  return share.head;
}

}  // namespace cairn
