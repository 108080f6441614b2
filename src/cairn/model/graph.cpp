#include "cairn/model/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cairn {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(TensorRole::bias) + 1> kRoleNames =
    {
        "token_embd",     "position_embd",
        "output_norm",    "output",
        "attn_norm",      "attn_q",
        "attn_k",         "attn_v",
        "attn_output",    "attn_q_norm",
        "attn_k_norm",    "attn_sinks",
        "attn_q_a",       "attn_q_a_norm",
        "attn_q_b",       "attn_kv_a_mqa",
        "attn_kv_a_norm", "attn_k_b",
        "attn_v_b",       "post_attention_norm",
        "ffn_norm",       "post_ffw_norm",
        "ffn_gate",       "ffn_up",
        "ffn_down",       "ffn_gate_inp",
        "exp_probs_b",    "ffn_gate_exps",
        "ffn_up_exps",    "ffn_down_exps",
        "ffn_gate_shexp", "ffn_up_shexp",
        "ffn_down_shexp", "ffn_gate_inp_shexp",
        "bias",
};

double to_double(std::int64_t n) { return static_cast<double>(n); }

class GraphBuilder {
 public:
  explicit GraphBuilder(ModelSpec spec) { graph_.spec = std::move(spec); }

  Graph build() && {
    const ModelSpec& s = graph_.spec;
    graph_.tensors.reserve(s.layers.size() * 16 + 4);
    graph_.operators.reserve(s.layers.size() * 16 + 4);
    const std::int32_t table = embeddings();
    layer_ = 0;
    for (const LayerSpec& layer : s.layers) {
      add_layer(layer);
      ++layer_;
    }
    layer_ = -1;
    norm(TensorRole::output_norm, s.hidden, s.final_norm_bias);
    if (s.output_head) head(table);
    return std::move(graph_);
  }

 private:
  std::int32_t tensor(TensorRole role, std::int64_t rows, std::int64_t columns,
                      std::int64_t stack = 1) {
    graph_.tensors.push_back({.role = role,
                              .owner = role,
                              .layer = layer_,
                              .rows = rows,
                              .columns = columns,
                              .experts = stack});
    return static_cast<std::int32_t>(graph_.tensors.size() - 1);
  }

  std::int32_t vector(TensorRole role, TensorRole owner, std::int64_t size,
                      std::int64_t stack = 1) {
    const std::int32_t index = tensor(role, 1, size, stack);
    Tensor& t = graph_.tensors.back();
    t.owner = owner;
    t.vector = true;
    return index;
  }

  Operator& add(OperatorKind kind, std::int32_t tensor, std::int64_t input, std::int64_t output) {
    graph_.operators.push_back(
        {.kind = kind, .layer = layer_, .tensor = tensor, .input = input, .output = output});
    return graph_.operators.back();
  }

  std::int32_t embeddings() {
    const ModelSpec& s = graph_.spec;
    const std::int32_t table = tensor(TensorRole::token_embedding, s.vocabulary, s.hidden);
    add(OperatorKind::embedding, table, 1, s.hidden);
    if (s.position_embeddings > 0) {
      add(OperatorKind::embedding,
          tensor(TensorRole::position_embedding, s.position_embeddings, s.hidden), 1, s.hidden);
    }
    return table;
  }

  void head(std::int32_t table) {
    const ModelSpec& s = graph_.spec;
    const std::int32_t weight =
        s.tied_embeddings ? table : tensor(TensorRole::output, s.vocabulary, s.hidden);
    if (s.output_bias) vector(TensorRole::bias, TensorRole::output, s.vocabulary);
    add(OperatorKind::linear, weight, s.hidden, s.vocabulary).output_only = true;
  }

  void norm(TensorRole role, std::int64_t size, bool bias) {
    const std::int32_t weight = vector(role, role, size);
    if (bias) vector(TensorRole::bias, role, size);
    add(OperatorKind::norm, weight, size, size);
  }

  void linear(TensorRole role, std::int64_t input, std::int64_t output, bool bias) {
    const std::int32_t weight = tensor(role, output, input);
    if (bias) vector(TensorRole::bias, role, output);
    add(OperatorKind::linear, weight, input, output);
  }

  void add_layer(const LayerSpec& layer) {
    const std::int64_t hidden = graph_.spec.hidden;
    const bool before = !layer.norms_after;
    const bool after = layer.norms_after || layer.norms == 4;
    if (before) norm(TensorRole::attn_norm, hidden, layer.norm_bias);
    if (layer.attention.kind == AttentionKind::mla) {
      latent_attention(layer.attention);
    } else {
      attention(layer.attention);
    }
    if (after) norm(TensorRole::post_attn_norm, hidden, layer.norm_bias);
    if (before && layer.norms >= 2) norm(TensorRole::ffn_norm, hidden, layer.norm_bias);
    feed_forward(layer.feed_forward);
    if (after) norm(TensorRole::post_ffn_norm, hidden, layer.norm_bias);
  }

  void attention(const AttentionSpec& a) {
    const std::int64_t hidden = graph_.spec.hidden;
    const std::int64_t q = a.heads * a.head_dim;
    const std::int64_t k = a.shares_kv ? 0 : a.kv_heads * a.head_dim;
    linear(TensorRole::attn_q, hidden, a.output_gate ? 2 * q : q, a.qkv_bias);
    if (!a.shares_kv) {
      linear(TensorRole::attn_k, hidden, k, a.qkv_bias);
      linear(TensorRole::attn_v, hidden, a.kv_heads * a.v_head_dim, a.qkv_bias);
    }
    if (a.qk_norm) {
      add(OperatorKind::norm,
          vector(TensorRole::attn_q_norm, TensorRole::attn_q_norm, a.qk_norm_dim_q), q, q);
      if (!a.shares_kv) {
        add(OperatorKind::norm,
            vector(TensorRole::attn_k_norm, TensorRole::attn_k_norm, a.qk_norm_dim_k), k, k);
      }
    }
    if (a.sinks) vector(TensorRole::attn_sinks, TensorRole::attn_sinks, a.heads);
    add(OperatorKind::elementwise, -1, q + k, q + k);
    const std::int64_t mixed = a.heads * a.v_head_dim;
    add(OperatorKind::attention, -1, q, mixed).attention = a;
    if (a.output_gate) add(OperatorKind::elementwise, -1, 2 * mixed, mixed);
    linear(TensorRole::attn_output, mixed, hidden, a.o_bias);
  }

  // Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): the up-projections
  // of keys and values are applied to each new token, or absorbed into query and
  // output in decode: the same multiplications either way.
  void latent_attention(const AttentionSpec& a) {
    const std::int64_t hidden = graph_.spec.hidden;
    const std::int64_t q = a.heads * a.head_dim;
    if (a.q_lora_rank > 0) {
      linear(TensorRole::attn_q_a, hidden, a.q_lora_rank, a.qkv_bias);
      norm(TensorRole::attn_q_a_norm, a.q_lora_rank, false);
      linear(TensorRole::attn_q_b, a.q_lora_rank, q, false);
    } else {
      linear(TensorRole::attn_q, hidden, q, false);
    }
    linear(TensorRole::attn_kv_a, hidden, a.kv_lora_rank + a.qk_rope_head_dim, a.qkv_bias);
    norm(TensorRole::attn_kv_a_norm, a.kv_lora_rank, false);
    add(OperatorKind::linear,
        tensor(TensorRole::attn_k_b, a.kv_lora_rank, a.qk_nope_head_dim, a.heads), a.kv_lora_rank,
        a.heads * a.qk_nope_head_dim);
    add(OperatorKind::linear, tensor(TensorRole::attn_v_b, a.v_head_dim, a.kv_lora_rank, a.heads),
        a.kv_lora_rank, a.heads * a.v_head_dim);
    const std::int64_t rotated = (a.heads + 1) * a.qk_rope_head_dim;
    add(OperatorKind::elementwise, -1, rotated, rotated);
    add(OperatorKind::attention, -1, q, a.heads * a.v_head_dim).attention = a;
    linear(TensorRole::attn_output, a.heads * a.v_head_dim, hidden, a.o_bias);
  }

  void feed_forward(const FeedForwardSpec& f) {
    if (f.intermediate > 0) {
      dense({TensorRole::ffn_gate, TensorRole::ffn_up, TensorRole::ffn_down}, f, f.intermediate);
    }
    if (f.experts == 0) return;
    mixture(f);
    if (f.shared_intermediate == 0) return;
    if (f.shared_gate) linear(TensorRole::shared_router, graph_.spec.hidden, 1, false);
    dense({TensorRole::shared_gate, TensorRole::shared_up, TensorRole::shared_down}, f,
          f.shared_intermediate);
  }

  struct Roles {
    TensorRole gate;
    TensorRole up;
    TensorRole down;
  };

  void dense(const Roles& roles, const FeedForwardSpec& f, std::int64_t inner) {
    const std::int64_t hidden = graph_.spec.hidden;
    if (f.gated) linear(roles.gate, hidden, inner, f.bias);
    linear(roles.up, hidden, inner, f.bias);
    add(OperatorKind::elementwise, -1, f.gated ? 2 * inner : inner, inner);
    linear(roles.down, inner, hidden, f.bias);
  }

  void expert_linear(TensorRole role, const FeedForwardSpec& f, std::int64_t input,
                     std::int64_t output) {
    const std::int32_t weight = tensor(role, output, input, f.experts);
    if (f.expert_bias) vector(TensorRole::bias, role, output, f.experts);
    Operator& op = add(OperatorKind::expert_linear, weight, input, output);
    op.experts = f.experts;
    op.experts_per_token = to_double(f.experts_per_token);
  }

  void mixture(const FeedForwardSpec& f) {
    const std::int64_t hidden = graph_.spec.hidden;
    const std::int64_t inner = f.expert_intermediate;
    const std::int32_t gate = tensor(TensorRole::router, f.experts, hidden);
    graph_.tensors.back().vector = true;
    if (f.router_bias) vector(TensorRole::router_bias, TensorRole::router, f.experts);
    Operator& op = add(OperatorKind::router, gate, hidden, f.experts);
    op.experts = f.experts;
    op.experts_per_token = to_double(f.experts_per_token);
    if (f.gated) expert_linear(TensorRole::expert_gate, f, hidden, inner);
    expert_linear(TensorRole::expert_up, f, hidden, inner);
    const std::int64_t all = f.experts_per_token * inner;
    add(OperatorKind::elementwise, -1, f.gated ? 2 * all : all, all);
    expert_linear(TensorRole::expert_down, f, inner, hidden);
    // The chosen experts' outputs are weighted and summed.
    add(OperatorKind::elementwise, -1, f.experts_per_token * hidden, hidden);
  }

  Graph graph_;
  std::int32_t layer_ = -1;
};

// Positions of the own chunk that the first n positions of a sequence see, summed.
double chunk_positions(double n, double chunk) {
  const double whole = std::floor(n / chunk);
  const double rest = n - whole * chunk;
  return whole * chunk * (chunk + 1) / 2 + rest * (rest + 1) / 2;
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

std::int64_t& part_of(const Tensor& t, ParameterCount& count) {
  switch (t.owner) {
    case TensorRole::token_embedding:
    case TensorRole::position_embedding:
    case TensorRole::output:
      return count.embedding;
    case TensorRole::output_norm:
    case TensorRole::attn_norm:
    case TensorRole::attn_q_norm:
    case TensorRole::attn_k_norm:
    case TensorRole::attn_q_a_norm:
    case TensorRole::attn_kv_a_norm:
    case TensorRole::post_attn_norm:
    case TensorRole::ffn_norm:
    case TensorRole::post_ffn_norm:
      return count.norms;
    case TensorRole::ffn_gate:
    case TensorRole::ffn_up:
    case TensorRole::ffn_down:
    case TensorRole::shared_gate:
    case TensorRole::shared_up:
    case TensorRole::shared_down:
    case TensorRole::shared_router:
      return count.dense_ffn;
    case TensorRole::router:
    case TensorRole::router_bias:
    case TensorRole::expert_gate:
    case TensorRole::expert_up:
    case TensorRole::expert_down:
      return count.experts;
    default:
      return count.attention;
  }
}

bool is_expert(TensorRole role) {
  return role == TensorRole::expert_gate || role == TensorRole::expert_up ||
         role == TensorRole::expert_down;
}

}  // namespace

std::string_view role_name(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

Graph build_graph(ModelSpec spec) { return GraphBuilder(std::move(spec)).build(); }

double attended_positions(const AttentionSpec& a, double context, double new_tokens) {
  if (new_tokens <= 0) return 0;
  const double full = context + (new_tokens + 1) / 2;
  const double window = to_double(a.window);
  if (a.kind == AttentionKind::chunked && window > 0) {
    return (chunk_positions(context + new_tokens, window) - chunk_positions(context, window)) /
           new_tokens;
  }
  if (a.kind != AttentionKind::sliding || window <= 0 || context + new_tokens <= window) {
    return full;
  }
  if (context >= window) return window;
  // The first `growing` queries see everything before them, the rest a full window.
  const double growing = window - context;
  const double seen = growing * (context + (growing + 1) / 2);
  return (seen + (new_tokens - growing) * window) / new_tokens;
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

ParameterCount count_parameters(const Graph& graph) {
  ParameterCount count;
  for (const Tensor& t : graph.tensors) {
    const std::int64_t weights = t.weights();
    count.total += weights;
    part_of(t, count) += weights;
    if (is_expert(t.owner)) {
      const auto& f = graph.spec.layers[static_cast<std::size_t>(t.layer)].feed_forward;
      count.active += weights / f.experts * f.experts_per_token;
    } else if (t.role != TensorRole::token_embedding || graph.spec.tied_embeddings) {
      count.active += weights;
    }
  }
  return count;
}

std::int64_t count_mtp_parameters(const Graph& graph) {
  const ModelSpec& s = graph.spec;
  const auto last = static_cast<std::int32_t>(s.layers.size()) - 1;
  std::int64_t one = 2 * s.hidden * s.hidden + 3 * s.hidden;
  for (const Tensor& t : graph.tensors) {
    if (t.layer == last) one += t.weights();
  }
  return s.mtp_layers * one;
}

std::int64_t kv_elements_per_token(const AttentionSpec& a) {
  if (a.shares_kv) return 0;
  if (a.kind == AttentionKind::mla) return a.kv_lora_rank + a.qk_rope_head_dim;
  return a.kv_heads * (a.head_dim + a.v_head_dim);
}

}  // namespace cairn
