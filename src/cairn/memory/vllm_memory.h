// The pool of KV blocks that vLLM makes of a model's layers. Not for other rooms.
#pragma once

#include "cairn/memory/estimates.h"

namespace cairn::memory {

/// Layers that keep the same positions are a kind. One kind alone is one group: a
/// block has a page of every layer. Several kinds are cut into groups of as many
/// layers as the rarest kind has, or of the commonest if it is not a quarter longer,
/// and each group's last is filled up; a block has a page of every layer of one
/// group, and any group may take it. All pages have one size: kinds with smaller
/// ones put more positions in a block where that comes out even, else waste room.
/// Layers with a recurrent state take a page for each sequence; blocks of attention are
/// made long enough to hold one.
/// Source: get_kv_cache_groups, unify_kv_cache_spec_page_size in
/// vllm/v1/core/kv_cache_utils.py, _align_hybrid_block_size in
/// vllm/platforms/interface.py.
struct KvPool {
  Bytes block{};  // of one block on one rank
  std::int64_t groups = 0;
  std::int64_t block_tokens = 0;     // positions of the smallest block
  std::int64_t sequence_blocks = 0;  // that one sequence takes, over all groups

  [[nodiscard]] Bytes sequence() const { return block * to_double(sequence_blocks); }
};

/// A sequence of L positions takes in each group
///   full layers     ceil(L / b) blocks
///   sliding layers  ceil(min(W - 1 + T, L) / b) + 1 blocks, at most those of full
///   states          one block
KvPool vllm_pool(const MemoryDemand& demand, const Share& share);

/// The tokens that the engine's log gives for this many blocks (MemoryModel).
std::int64_t vllm_tokens(const KvPool& pool, std::int64_t count, const MemoryDemand& demand,
                         const EngineInfo& engine);

}  // namespace cairn::memory
