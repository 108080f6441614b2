// The pool that vLLM makes of compressed attention (DeepSeek V4). Not for other rooms.
#pragma once

#include "cairn/memory/vllm_memory.h"

namespace cairn::memory {

/// Whether a rank's share has compressed attention.
bool has_compressed(const MemoryDemand& demand, const Share& share);

/// A block is of 256 positions and has, for each of n layers, a page of every kind of
/// entry: of 256 / m entries for layers that compress m positions into one, and of the
/// indexer's keys. Pages are filled up to multiples of 576 bytes (8 bits) or 512. What
/// else a layer keeps takes pages of the same sizes, in groups of their own that share the
/// block numbers:
///   entries    ceil(L / 256) blocks, one group
///   windows    64 positions a page: ceil(min(W - 1 + T, L) / 64) + 1
///   states     of unfinished entries, in 32 bits: 4 positions a page where entries overlap
///              (m = 4), of a window of 2 m, else 8 and m; the same formula
/// n is the number of layers a group, from that of the entries upwards, at which groups
/// need the least filling up.
/// Sources, vllm/ of https://github.com/vllm-project/vllm: models/deepseek_v4/attention.py
/// and compressor.py, v1/attention/backends/mla/sparse_swa.py, and
/// _get_kv_cache_groups_uniform_groups in v1/core/kv_cache_utils.py.
KvPool compressed_pool(const MemoryDemand& demand, const Share& share);

}  // namespace cairn::memory
