// The layers of RWKV 4 to 7, from whatever file they are read.
#pragma once

#include <cstdint>
#include <vector>

#include "cairn/model/spec.h"

namespace cairn {

struct RwkvShape {
  std::int64_t version = 0;  // 4, 5 (5.2), 6 or 7
  std::int64_t hidden = 0;
  std::int64_t inner = 0;       // of the channel mixing
  std::int64_t head_dim = 0;    // 4 has no heads
  std::int64_t lerp_rank = 0;   // 6: of the data-dependent interpolation
  std::int64_t decay_rank = 0;  // 6 and 7
  std::int64_t rate_rank = 0;   // 7: of the in-context learning rate
  std::int64_t value_rank = 0;  // 7: of the value residual, which the first layer has not
  std::int64_t gate_rank = 0;   // 7; a full matrix in 5 and 6, none in 4
};

/// A layer: RWKV 4 (arXiv:2305.13048, section 3), RWKV 5 and 6 (arXiv:2404.05892, section 4), RWKV
/// 7 (arXiv:2503.14456, appendix on the number of parameters).
LayerSpec rwkv_layer(const RwkvShape& shape, bool first);

/// The norm between the embedding and the first layer.
std::vector<MatrixSpec> rwkv_embedding_norm(std::int64_t hidden);

}  // namespace cairn
