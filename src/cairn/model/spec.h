// ModelSpec: the architecture of a model in one normalised form, whatever file
// it came from (config.json, GGUF metadata, Cairn's catalogue). The Graph is
// built from it and from nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

/// How a layer mixes positions.
enum class AttentionKind : std::uint8_t {
  full,     // every earlier position
  sliding,  // the last `window` positions
  chunked,  // the positions of the same chunk of `window` (Llama 4)
  mla,      // multi-head latent attention: one compressed latent per position (DeepSeek V2)
};

struct AttentionSpec {
  AttentionKind kind = AttentionKind::full;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;    // of queries and keys; for MLA qk_nope + qk_rope
  std::int64_t v_head_dim = 0;  // of values
  std::int64_t window = 0;      // positions, for sliding and chunked
  bool qkv_bias = false;
  bool o_bias = false;
  bool qk_norm = false;            // RMS norm on queries and keys, per head (Qwen 3, Gemma 3)
  std::int64_t qk_norm_dim_q = 0;  // weights of those norms; head_dim where per head
  std::int64_t qk_norm_dim_k = 0;
  bool sinks = false;        // one learned logit per head (gpt-oss)
  bool output_gate = false;  // q projection twice as wide, half of it a gate
  bool shares_kv = false;    // uses the KV cache of an earlier layer: no K and V of its own
  // MLA only.
  std::int64_t q_lora_rank = 0;  // 0: queries are projected directly
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;

  bool operator==(const AttentionSpec&) const = default;
};

struct FeedForwardSpec {
  bool gated = true;  // gate, up and down; else up and down
  bool bias = false;
  std::int64_t intermediate = 0;  // of the dense part; 0 where the layer has none
  // Mixture of experts; experts = 0 for a dense layer.
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t shared_intermediate = 0;  // all shared experts together; 0: none
  bool shared_gate = false;              // a learned gate on the shared expert (Qwen 2 MoE)
  bool router_bias = false;              // a bias or correction term per expert
  bool expert_bias = false;              // biases in the experts' projections (gpt-oss)

  bool operator==(const FeedForwardSpec&) const = default;
};

struct LayerSpec {
  AttentionSpec attention;
  FeedForwardSpec feed_forward;
  /// Norms over the hidden size: 2; 4 with a norm before and after each part
  /// (Gemma 2/3, GLM-4-0414); 1 where attention and feed-forward run in parallel
  /// on one norm (GPT-J, Falcon 7B, Command R).
  std::int64_t norms = 2;
  bool norms_after = false;  // the two norms follow the parts (OLMo 2, EXAONE 4)
  bool norm_bias = false;    // LayerNorm with bias

  bool operator==(const LayerSpec&) const = default;
};

struct ModelSpec {
  std::string id;            // "meta-llama/Llama-3.1-8B"
  std::string architecture;  // as the file names it: "LlamaForCausalLM"
  std::string family;        // "llama", "qwen3-moe", "deepseek-v3" ...
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;          // positions the model was made for
  std::int64_t position_embeddings = 0;  // rows of a learned position table; 0: none
  bool tied_embeddings = false;          // output head shares the token embedding
  bool output_head = true;               // false: a base model without a head (embedders)
  bool output_bias = false;
  bool final_norm_bias = false;
  /// Multi-token-prediction layers that the checkpoint carries besides `layers`
  /// (DeepSeek V3, GLM-4.5); they draft tokens and are no part of the graph.
  std::int64_t mtp_layers = 0;
  /// The file describes a multimodal model and this is its language model alone.
  bool text_part = false;
  std::vector<LayerSpec> layers;
  /// The weight format in which the model was published ("bf16", "fp8-block",
  /// "mxfp4" ...): the name of a WeightFormat; empty where the file does not say.
  std::string published_format = "bf16";

  bool operator==(const ModelSpec&) const = default;
};

/// An error that names the field if the spec is not a model that can exist: a
/// size out of range (layers to 1024, hidden to 2^20, vocabulary to 2^24, experts
/// to 4096, 1e15 parameters), heads that kv_heads do not divide, more experts per
/// token than there are, a window without length. Every reader ends with it.
Result<void> check_spec(const ModelSpec& spec);

}  // namespace cairn
