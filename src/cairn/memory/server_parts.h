// What the memory models of the server engines (vLLM, SGLang, TensorRT-LLM) have in
// common: a rank's weights and the peak of a step. Not for other rooms.
#pragma once

#include <string_view>
#include <vector>

#include "cairn/memory/estimates.h"

namespace cairn::memory {

/// Bytes of weights that one rank holds:
///   every tensor of its share, and the rotation table, cosines and sines for each
///   position the model was made for, in 16 bits
///   experts of gpt-oss in mxfp4 are filled up to what the kernels take: hidden features
///   to multiples of 256, a rank's expert features to 256 on ROCm and to 128 elsewhere
///   towers for images and sound, whole on every rank of the first stage; encoders
///   divided
/// Source: vllm/model_executor/layers/rotary_embedding, quantization/mxfp4.py.
Bytes server_weights(const MemoryDemand& demand, const Share& share, std::string_view vendor);

/// Bytes that a step of T tokens holds at its peak beside weights, one rank:
///   forward  T (3 F / tp + c H) or T (3 A / tp + c H) elements of `width` bytes; for a
///            mixture of experts T (k (max(2 E / tp, H) + E / tp) + c H), under expert
///            parallelism with all of E; where r replicas share the experts
///            T (r k (2 H + 3 E) + c H): rows sorted by expert, gate and up, their
///            product, and what each expert gives, of everybody's tokens
///   sampler  S V floats, sampler_copies times, on the last stage
/// T = max_batched_tokens, S = min(max_sequences, T), c = hidden_copies, A features of
/// the queries; the largest, and beside it what sparse attention gathers in, for L
/// positions of the context:
///   keys     index_contexts L / m rows of the indexer (m: positions of an entry)
///   latents  latent_contexts L rows, or entry_contexts (L / m + W + T), in 16 bits
/// of which the larger is kept: they share a buffer. While scores of the indexer are at
/// hand, up to index_scores of them, the rest of a step is not.
/// Source: get_max_prefill_buffer_size in vllm/v1/attention/backends/mla/indexer.py,
/// get_prefill_workspace_size in flashmla_sparse.py, PREFILL_CHUNK_SIZE in
/// vllm/models/deepseek_v4, sparse_attn_indexer in
/// vllm/model_executor/layers/sparse_attn_indexer.py, vllm/v1/worker/workspace.py.
Bytes server_activations(const MemoryDemand& demand, const EngineInfo& engine, const Share& share,
                         double width = 2);

/// What one rank of a stage takes beside the runtime of its device; `Cache` is what an
/// engine's pool is made of.
template <class Cache>
struct RankNeed {
  Bytes weights{};
  Bytes activations{};
  bool parallel = false;  // shares tensors or experts with others
  Cache cache{};
};

/// Of one rank of each stage. `step` is the demand that activations are of, and
/// `cache_of(share)` gives what the pool is made of.
template <class Cache, class CacheOf>
Result<std::vector<RankNeed<Cache>>> rank_needs(const MemoryDemand& demand,
                                                const MemoryDemand& step, const EngineInfo& engine,
                                                std::string_view vendor, const CacheOf& cache_of) {
  CAIRN_TRY(const std::vector<Share> shares, divide(*demand.graph, demand.layout));
  std::vector<RankNeed<Cache>> out;
  for (const Share& share : shares) {
    out.push_back({.weights = server_weights(demand, share, vendor),
                   .activations = server_activations(step, engine, share),
                   .parallel = share.tp > 1 || share.ep > 1,
                   .cache = cache_of(share)});
  }
  return out;
}

/// Bytes of cache of `positions` positions in a layer on one rank: its keys and values,
/// and the keys of the indexer of sparse attention, in 8 bits with a scale of 4 bytes
/// for 128 of them (DeepseekV32IndexerCache in vllm/model_executor/models/deepseek_v2.py,
/// NSATokenToKVPool in python/sglang/srt/mem_cache/memory_pool.py).
Bytes server_cache(const AttentionSpec& attention, const KvFormat& kv, double positions, int tp);
/// The indexer's part of it.
Bytes server_index(const AttentionSpec& attention, double positions);

/// Bytes of recurrent state of one sequence in a layer on one rank: the window of the
/// convolution in 16 bits and the state in 16, or 32 where the model says so.
Bytes server_state(const RecurrentSpec& recurrent, std::int64_t hidden, int tp);

}  // namespace cairn::memory
