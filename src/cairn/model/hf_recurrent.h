// What the readers of hybrid and recurrent families share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cairn/model/hf_fields.h"

namespace cairn::hf {

/// Draft layers that follow one another (make_draft has one).
ModelSpec draft_part(const ModelSpec& model, std::span<const LayerSpec> layers);

/// A feed-forward of gate, up and down.
FeedForwardSpec gated_ffn(std::int64_t inner, bool bias = false);

/// A norm over the features of each head.
void norm_heads(AttentionSpec& a);

/// True for the layers of a list, from 0; for none where the key is absent or null.
Result<std::vector<bool>> marked_layers(Fields& f, std::string_view key, std::int64_t layers);

/// One state space over all features (arXiv:2312.00752).
RecurrentSpec selective(std::int64_t inner, std::int64_t state, std::int64_t conv,
                        std::int64_t rank);

/// hidden / 16, rounded up, where a file says "auto" (state-spaces/mamba, mamba_simple.py).
Result<std::int64_t> step_rank(Fields& f, std::string_view key, std::int64_t hidden);

/// A list of names, one a layer, each translated by `kinds`; nothing where the key is
/// absent. A name that is none of them is an error.
struct LayerName {
  std::string_view name;
  int kind;
};
Result<std::optional<std::vector<int>>> layer_names(Fields& f, std::string_view key,
                                                    std::span<const LayerName> kinds);

}  // namespace cairn::hf
