// ModelSpec: the architecture of a model in one normalised form, whatever file
// it came from (config.json, GGUF metadata, Cairn's catalogue). The Graph is
// built from it and from nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/model/tensor_role.h"

namespace cairn {

/// How a layer mixes positions.
enum class AttentionKind : std::uint8_t {
  full,     // every earlier position
  sliding,  // the last `window` positions
  chunked,  // the positions of the same chunk of `window` (Llama 4)
  mla,      // multi-head latent attention: one compressed latent per position (DeepSeek V2)
  cross,    // the `window` positions of an encoder, cached once per sequence
  /// The last `window` positions, and one entry for every `compress` positions before
  /// (DeepSeek V4); keys are values.
  compressed,
};

struct AttentionSpec {
  AttentionKind kind = AttentionKind::full;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;    // of queries and keys; for MLA qk_nope + qk_rope
  std::int64_t v_head_dim = 0;  // of values
  std::int64_t window = 0;      // positions, for sliding and chunked
  /// Of full attention: beyond the window, one position in so many is read (Phi-3-small,
  /// arXiv:2404.14219, section 2); 0: all are.
  std::int64_t stride = 0;
  bool qkv_bias = false;
  bool k_bias = true;  // where qkv_bias is: of keys too (Whisper has none)
  bool o_bias = false;
  bool qk_norm = false;            // RMS norm on queries and keys, per head (Qwen 3, Gemma 3)
  std::int64_t qk_norm_dim_q = 0;  // weights of those norms; head_dim where per head
  std::int64_t qk_norm_dim_k = 0;
  bool sinks = false;          // one learned logit per head (gpt-oss)
  bool output_gate = false;    // q projection twice as wide, half of it a gate
  bool shares_kv = false;      // uses the KV cache of an earlier layer: no K and V of its own
  bool v_from_k = false;       // values are the keys' projection: no matrix of their own (Gemma 4)
  bool bidirectional = false;  // sees later positions too, and keeps no cache (encoders)
  std::int64_t input = 0;      // features it works on; 0: hidden (Zamba 2 adds the embedding)
  /// Its output is averaged with that of the layer's recurrence, before one projection of
  /// both (Hymba): none of its own.
  bool joins_recurrence = false;
  std::int64_t compress = 0;       // of compressed attention: positions an entry stands for
  std::int64_t output_rank = 0;    // low-rank output projection: features between; 0: none ...
  std::int64_t output_groups = 1;  // ... in as many groups of heads (DeepSeek V4)
  // Sparse attention: an indexer scores all cached entries with small heads of its own,
  // and attention reads the best (DeepSeek-V3.2, arXiv:2512.02556, section 2.1).
  std::int64_t index_heads = 0;  // 0: no selection
  std::int64_t index_head_dim = 0;
  std::int64_t index_topk = 0;   // entries that attention reads at most
  std::int64_t index_input = 0;  // features of the indexer's queries: the query's latent, or hidden
  /// Positions are chosen by whole blocks of this many, by their best score, without a
  /// learned weight for each head (MiniMax-M3); 0: one by one.
  std::int64_t index_block = 0;
  bool index_shared = false;  // takes the choice of an earlier layer: no indexer of its own
  // MLA only.
  std::int64_t q_lora_rank = 0;  // 0: queries are projected directly
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;

  bool operator==(const AttentionSpec&) const = default;
};

/// Mixers that keep a state of fixed size instead of a cache.
enum class RecurrentKind : std::uint8_t {
  none,
  gated_delta_net,  // Qwen3-Next (arXiv:2412.06464)
  kimi_delta,       // Kimi Linear (arXiv:2510.26692)
  lightning,        // MiniMax-01 (arXiv:2501.08313)
  mamba,            // selective state space (arXiv:2312.00752)
  mamba2,           // state space duality (arXiv:2405.21060)
  rwkv,             // matrix-valued states (arXiv:2404.05892)
  short_conv,       // gated short convolution (LFM2, arXiv:2511.23404)
};

struct RecurrentSpec {
  RecurrentKind kind = RecurrentKind::none;
  std::int64_t heads = 0;      // of values; of step sizes for mamba, 1: one for each feature
  std::int64_t key_heads = 0;  // of queries and keys; groups of B and C for mamba2
  std::int64_t key_dim = 0;    // per head: of queries and keys; d_state of a state space
  std::int64_t value_dim = 0;  // per head: of values; all inner features for mamba
  std::int64_t conv = 0;       // kernel of the causal convolution before; 0: none
  std::int64_t rank = 0;       // of the low-rank step size (mamba), decay (KDA, RWKV)
  std::int64_t gate_rank = 0;  // of a low-rank gate; 0: a full matrix, or the kind has none
  bool gate_full = false;      // KDA: the gate is a full matrix
  bool conv_bias = false;
  bool bias = false;  // in the projections in and out
  /// Weights of the norm before the output projection; 0: none.
  std::int64_t norm_dim = 0;
  bool inner_norms = false;  // norms of dt, B and C with weights (Jamba)
  bool split_gates = false;  // beta and alpha in two matrices (Qwen3.5), not one (Qwen3-Next)
  bool wide_state = false;   // the state is kept in 32 bits, whatever the model's type

  bool operator==(const RecurrentSpec&) const = default;

  [[nodiscard]] std::int64_t inner() const { return heads * value_dim; }
  /// Features that pass through the convolution.
  [[nodiscard]] std::int64_t conv_features() const;
  /// Elements of a sequence's state, and of the convolution's (or token shift's) window.
  [[nodiscard]] std::int64_t state_elements() const;
  [[nodiscard]] std::int64_t window_elements(std::int64_t hidden) const;
};

/// What a tensor outside the usual pattern does with each token.
enum class Use : std::uint8_t {
  linear,       // y = x W
  lookup,       // a row per token
  elementwise,  // a vector multiplied or added
  stored,       // read in other operators, or not at all
};

/// A tensor outside the usual pattern of a layer or a model, so that odd ones need no
/// field of their own.
struct MatrixSpec {
  TensorRole role = TensorRole::other;
  std::int64_t rows = 1;     // output features
  std::int64_t columns = 1;  // input features
  std::int64_t stack = 1;    // matrices of this shape
  Use use = Use::linear;
  bool bias = false;    // rows * stack more numbers
  bool vector = false;  // kept in 32 or 16 bits by every format

  bool operator==(const MatrixSpec&) const = default;
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
  /// Features that routed experts work on, projected from the hidden ones and back
  /// (Nemotron 3 Super); 0: the hidden ones.
  std::int64_t latent = 0;

  bool operator==(const FeedForwardSpec&) const = default;
};

struct LayerSpec {
  AttentionSpec attention;  // heads = 0: none
  /// Beside or instead of attention; both in one layer run on the same input (Falcon-H1).
  RecurrentSpec recurrent;
  AttentionSpec cross_attention;  // after attention, to an encoder; heads = 0: none
  FeedForwardSpec feed_forward;   // intermediate = experts = 0: none
  /// Norms over the hidden size: 2; 4 with a norm before and after each part
  /// (Gemma 2/3, GLM-4-0414); 1 where attention and feed-forward run in parallel
  /// on one norm (GPT-J, Falcon 7B, Command R) or the layer has only one of them
  /// (Nemotron-H); 0 where norms have no weights (OLMo).
  std::int64_t norms = 2;
  bool norms_after = false;  // the two norms follow the parts (OLMo 2, EXAONE 4)
  bool norm_bias = false;    // LayerNorm with bias
  /// From 1: a block that comes back: norms, attention and feed-forward have the weights of
  /// the first layer with this number (Zamba 2), extras are its own. 0: all are.
  std::int64_t block = 0;
  std::vector<MatrixSpec> extras;

  bool operator==(const LayerSpec&) const = default;
};

/// What a model is a part of.
enum class ModelPart : std::uint8_t {
  language,  // the model itself, or all of it
  encoder,   // of an encoder-decoder: its input is read once (T5, Whisper)
  vision,    // images to tokens of the language model
  audio,     // sound to tokens of the language model, or back
  mtp,       // drafts tokens (multi-token prediction)
};

struct ModelSpec {
  std::string id;            // "meta-llama/Llama-3.1-8B"
  std::string architecture;  // as the file names it: "LlamaForCausalLM"
  std::string family;        // "llama", "qwen3-moe", "deepseek-v3" ...
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t embedding = 0;            // features of a row of the embedding; 0: hidden
  std::int64_t max_context = 0;          // positions the model was made for
  std::int64_t position_embeddings = 0;  // rows of a learned position table; 0: none
  bool tied_embeddings = false;          // output head shares the token embedding
  bool output_head = true;               // false: a base model without a head (embedders)
  bool output_bias = false;
  bool final_norm = true;
  bool final_norm_bias = false;
  /// The file describes a multimodal model and this is its language model alone.
  bool text_part = false;
  std::vector<LayerSpec> layers;
  std::vector<MatrixSpec> extras;
  ModelPart part = ModelPart::language;
  /// Of a part: positions its layers work on for one input (patches of an image, frames
  /// of half a minute) at the size it was made for, and how many tokens it makes of them.
  std::int64_t positions = 0;
  std::int64_t outputs = 0;
  /// Towers, encoders and draft layers: models of their own without embedding and head,
  /// whatever enters and leaves them in `extras`.
  std::vector<ModelSpec> parts;
  /// The weight format in which the model was published ("bf16", "fp8-block",
  /// "mxfp4" ...): the name of a WeightFormat; empty where the file does not say.
  std::string published_format = "bf16";

  bool operator==(const ModelSpec&) const = default;
};

/// What a model makes of its input.
enum class Purpose : std::uint8_t {
  text,       // one token after another
  features,   // vectors, classes or masked words, at once: encoders, models without a head
  rewriting,  // one token after another of what an encoder reads once (T5, Whisper)
};
Purpose purpose_of(const ModelSpec& spec);

/// What a draft layer has in a checkpoint besides a layer of the model.
struct DraftTraits {
  bool embedding = false;  // a copy of the embedding ...
  bool head = false;       // ... and of the head
  bool final_norm = true;  // a norm before the head
};

/// A part that drafts tokens (multi-token prediction): two norms and a projection of two
/// hidden states to one before `layer` (DeepSeek-V3, arXiv:2412.19437, section 2.2).
ModelSpec make_draft(const ModelSpec& model, const LayerSpec& layer, const DraftTraits& traits);

/// An error that names the field if the spec is not a model that can exist: a
/// size out of range (layers to 1024, hidden to 2^20, vocabulary to 2^24, experts
/// to 4096, 1e15 parameters), heads that kv_heads do not divide, more experts per
/// token than there are, a window without length, a layer without anything. Every
/// reader ends with it.
Result<void> check_spec(const ModelSpec& spec);

}  // namespace cairn
