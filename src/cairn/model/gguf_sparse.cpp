#include "cairn/model/gguf_sparse.h"

#include <fmt/format.h>

#include <algorithm>

namespace cairn {
namespace {

constexpr std::int64_t kMaxHeads = 1 << 12;
constexpr std::int64_t kMaxHeadDim = 1 << 13;
constexpr std::int64_t kMaxContext = 1 << 30;

/// Adds the keys of attention.
class Layer : public GgufLayer {
 public:
  using GgufLayer::GgufLayer;
  [[nodiscard]] std::string key(std::string_view name) const {
    return fmt::format("{}.attention.{}", architecture_, name);
  }
};

}  // namespace

Result<void> add_gguf_indexer(const GgufFile& file, const GgufTensors& tensors,
                              std::string_view architecture, std::size_t layer, std::int64_t hidden,
                              AttentionSpec& a) {
  const Layer l(file, tensors, architecture, layer);
  if (file.find(l.key("indexer.head_count")) == nullptr) return {};
  const GgufTensor* const latent = l.find("indexer.attn_q_b.weight");
  const GgufTensor* const direct = l.find("indexer.q_proj.weight");
  const bool own = latent != nullptr || direct != nullptr;
  // Of blocks, a layer without tensors of an indexer reads everything (MiniMax-M3).
  const bool blocks = file.find(l.key("indexer.block_size")) != nullptr;
  if (!own && blocks) return {};
  CAIRN_TRY(a.index_heads, file.integer(l.key("indexer.head_count"), 1, kMaxHeads));
  CAIRN_TRY(a.index_head_dim, file.integer(l.key("indexer.key_length"), 1, kMaxHeadDim));
  CAIRN_TRY(a.index_topk, file.integer(l.key("indexer.top_k"), 1, kMaxContext));
  CAIRN_TRY(a.index_block, file.integer_or(l.key("indexer.block_size"), 0, 0, 1 << 20));
  if (a.index_block > 0) {
    a.index_topk = std::min(a.index_topk * a.index_block, kMaxContext);
  }
  a.index_input = a.q_lora_rank > 0 ? a.q_lora_rank : hidden;
  a.index_shared = !own;
  return {};
}

Result<AttentionSpec> gguf_compressed(const GgufFile& file, const GgufTensors& tensors,
                                      std::string_view architecture, std::size_t layer,
                                      std::int64_t heads) {
  const Layer l(file, tensors, architecture, layer);
  AttentionSpec a;
  a.kind = AttentionKind::compressed;
  a.heads = heads;
  CAIRN_TRY(const GgufTensor* const kv, l.required("attn_kv.weight"));
  CAIRN_TRY(const GgufTensor* const q, l.required("attn_q_a.weight"));
  CAIRN_TRY(const GgufTensor* const out, l.required("attn_output_a.weight"));
  CAIRN_TRY(a.head_dim, file.integer(l.key("key_length"), 1, kMaxHeadDim));
  a.v_head_dim = a.head_dim;
  a.kv_heads = std::max<std::int64_t>(1, kv->size[1] / a.head_dim);
  a.q_lora_rank = q->size[1];
  CAIRN_TRY(a.window, file.integer(l.key("sliding_window"), 1, kMaxContext));
  a.output_groups = std::max<std::int64_t>(1, heads * a.head_dim / out->size[0]);
  a.output_rank = out->weights() / out->size[0] / a.output_groups;
  a.sinks = l.find("attn_sinks.weight") != nullptr;
  if (const GgufTensor* const positions = l.find("attn_compressor_ape.weight")) {
    a.compress = positions->size[1];
  }
  if (const GgufTensor* const index = l.find("indexer.attn_q_b.weight")) {
    CAIRN_TRY(a.index_heads, file.integer(l.key("indexer.head_count"), 1, kMaxHeads));
    a.index_head_dim = index->size[1] / a.index_heads;
    CAIRN_TRY(a.index_topk, file.integer(l.key("indexer.top_k"), 1, kMaxContext));
    a.index_input = index->size[0];
  }
  return a;
}

}  // namespace cairn
