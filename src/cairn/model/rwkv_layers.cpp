#include "cairn/model/rwkv_layers.h"

namespace cairn {
namespace {

using enum TensorRole;

MatrixSpec vectors(TensorRole role, std::int64_t features, std::int64_t count) {
  return {
      .role = role, .columns = features, .stack = count, .use = Use::elementwise, .vector = true};
}

// x W1 W2 through `rank` features.
void low_rank(std::vector<MatrixSpec>& out, std::int64_t hidden, std::int64_t rank) {
  out.push_back({.role = time_mix_a, .rows = rank, .columns = hidden});
  out.push_back({.role = time_mix_b, .rows = hidden, .columns = rank});
}

// Interpolations of token shift, decay and bonus.
void time_mixing(std::vector<MatrixSpec>& out, const RwkvShape& s) {
  const std::int64_t h = s.hidden;
  if (s.version == 4) {
    out.push_back(vectors(time_mix_vector, h, 3 + 2));
  } else if (s.version == 5) {
    out.push_back(vectors(time_mix_vector, h, 4 + 2));
  } else if (s.version == 6) {
    out.push_back(vectors(time_mix_vector, h, 1));
    out.push_back(vectors(time_mix_vector, h, 5));
    out.push_back({.role = time_mix_a, .rows = 5 * s.lerp_rank, .columns = h, .vector = true});
    out.push_back(
        {.role = time_mix_b, .rows = h, .columns = s.lerp_rank, .stack = 5, .vector = true});
    out.push_back({.role = time_mix_a, .rows = s.decay_rank, .columns = h, .vector = true});
    out.push_back({.role = time_mix_b, .rows = h, .columns = s.decay_rank, .vector = true});
    out.push_back(vectors(time_mix_vector, h, 1));  // decay
    out.push_back(vectors(time_mix_vector, h, 1));  // bonus
  }
}

// Interpolations, learning rates, keys' scales and the bonus; low-rank decay, rates,
// value residual and gate.
void time_mixing_7(std::vector<MatrixSpec>& out, const RwkvShape& s, bool first) {
  const std::int64_t h = s.hidden;
  out.push_back(vectors(time_mix_vector, h, 6));
  // w0, a0, k_k, k_a and r_k; v0.
  for (int i = 0; i < (first ? 5 : 6); ++i) out.push_back(vectors(time_mix_vector, h, 1));
  low_rank(out, h, s.decay_rank);
  low_rank(out, h, s.rate_rank);
  if (!first) low_rank(out, h, s.value_rank);
  low_rank(out, h, s.gate_rank);
}

void channel_mixing(std::vector<MatrixSpec>& out, const RwkvShape& s) {
  const int shifts = s.version == 7 ? 1 : 2;
  for (int i = 0; i < shifts; ++i) out.push_back(vectors(channel_mix_vector, s.hidden, 1));
  out.push_back({.role = channel_mix_key, .rows = s.inner, .columns = s.hidden});
  if (s.version != 7) {
    out.push_back({.role = channel_mix_receptance, .rows = s.hidden, .columns = s.hidden});
  }
  out.push_back({.role = channel_mix_value, .rows = s.hidden, .columns = s.inner});
}

}  // namespace

LayerSpec rwkv_layer(const RwkvShape& s, bool first) {
  LayerSpec layer;
  layer.norm_bias = true;
  RecurrentSpec& r = layer.recurrent;
  r.kind = RecurrentKind::rwkv;
  if (s.version == 4) {
    // Numerator, denominator and the largest exponent of each feature.
    r.heads = r.key_heads = 1;
    r.key_dim = 3;
    r.value_dim = s.hidden;
    r.wide_state = true;
  } else {
    r.heads = r.key_heads = s.hidden / s.head_dim;
    r.key_dim = r.value_dim = s.head_dim;
  }
  r.norm_dim = s.version == 4 ? 0 : s.hidden;
  r.gate_full = s.version == 5 || s.version == 6;
  r.rank = s.decay_rank;
  r.gate_rank = s.gate_rank;
  if (s.version == 7) {
    time_mixing_7(layer.extras, s, first);
  } else {
    time_mixing(layer.extras, s);
  }
  channel_mixing(layer.extras, s);
  return layer;
}

std::vector<MatrixSpec> rwkv_embedding_norm(std::int64_t hidden) {
  return {{.role = embedding_norm,
           .rows = hidden,
           .use = Use::elementwise,
           .bias = true,
           .vector = true}};
}

}  // namespace cairn
