// Graph: the operators of one forward pass, symbolic in tokens and context, and
// the tensors they read. Sized by memory, timed by cost, run by engines; a new
// operator has its tensors, FLOPs and bytes here and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/units.h"
#include "cairn/model/spec.h"
#include "cairn/model/tensor_role.h"

namespace cairn {

struct Tensor {
  TensorRole role = TensorRole::bias;
  /// Of a bias: the matrix it is added to; else the role itself.
  TensorRole owner = TensorRole::bias;
  std::int32_t layer = -1;   // -1: outside the layers
  std::int64_t rows = 1;     // output features; vocabulary for embeddings
  std::int64_t columns = 1;  // input features, contiguous in memory
  /// Stacked matrices of this shape: experts, or the heads of attn_k_b and
  /// attn_v_b, which GGUF stores one by one.
  std::int64_t experts = 1;
  /// Always kept in 32 or 16 bits by every format: norms, biases, sinks, router.
  bool vector = false;

  [[nodiscard]] std::int64_t weights() const { return rows * columns * experts; }
};

enum class OperatorKind : std::uint8_t {
  embedding,      // one row of a table per token
  norm,           // also the element-wise operators fused with it
  linear,         // y = x W
  expert_linear,  // the chosen experts' matrices, grouped
  attention,      // scores, softmax and weighted sum, over the KV cache
  indexer,        // scores of the cached entries that sparse attention chooses from
  recurrence,     // a state of fixed size, read and written
  elementwise,    // rope, activation, residual
  router,         // gate scores and top-k choice
};

/// The work of one step: a batch of sequences, each adding tokens to a context.
struct Step {
  double sequences = 1;            // sequences in the batch
  double tokens_per_sequence = 1;  // new tokens each: 1 in decode, the chunk in prefill
  double context = 0;              // positions already in the cache of each sequence
  double output_tokens = 1;        // positions whose logits are wanted, in all

  [[nodiscard]] double tokens() const { return sequences * tokens_per_sequence; }
};

struct Operator {
  OperatorKind kind = OperatorKind::elementwise;
  std::int32_t layer = -1;
  std::int32_t tensor = -1;      // index in Graph::tensors; -1: no weight
  std::int64_t input = 0;        // features per token in
  std::int64_t output = 0;       // features per token out
  std::int64_t experts = 1;      // of an expert_linear: how many there are ...
  double experts_per_token = 1;  // ... and how many a token uses; a device's share of them
                                 // under expert parallelism need not be whole
  AttentionSpec attention = {};  // of an attention or indexer operator
  RecurrentSpec recurrent = {};  // of a recurrence
  bool output_only = false;      // runs only on the positions whose logits are wanted
};

struct Graph {
  ModelSpec spec;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  std::vector<Graph> parts;  // one per spec.parts; each is run on inputs of its own
};

/// Builds the graph. The spec is assumed valid (readers validate).
Graph build_graph(ModelSpec spec);

/// Positions a query attends to, averaged over the new tokens of a step: causal
/// (unless bidirectional), and limited by the window and by what sparse attention
/// chooses; entries, where positions are compressed. Units: positions per query.
double attended_positions(const AttentionSpec& a, double context, double new_tokens);

/// Multiply-adds counted as two FLOPs; operators that only move data count 0.
///   linear:    2 * tokens * in * out (also the router)
///   experts:   the same, times experts per token
///   indexer:   2 * tokens * index_heads * index_head_dim * entries
///   recurrence: see recurrence_flops
///   attention: 2 * tokens * heads * attended * (head_dim + v_head_dim); MLA in decode
///              (one new token) works on the latent: head_dim = kv_lora + rope,
///              v_head_dim = kv_lora (DeepSeek-V2, arXiv:2405.04434, section 2.1)
/// Operators marked output_only count step.output_tokens instead of all tokens.
Flops flops(const Operator& op, const Step& step);

/// A recurrence over `tokens` new tokens of one sequence. One token (a state of
/// heads * key_dim * value_dim elements): 2 FLOPs an element for the update and 2 for
/// the output, with a delta rule 2 more for what the state predicts, and 1 for the
/// decay. Many tokens go by chunks of 64: for each token 2 * 64 * (key_dim + value_dim)
/// a head inside the chunk, and the state's part as matrix products
/// (arXiv:2405.21060, section 6; arXiv:2406.06484, section 3).
Flops recurrence_flops(const RecurrentSpec& r, double tokens);

/// Cached entries that an indexer scores for a query, averaged likewise; 0 without one.
double indexed_positions(const AttentionSpec& a, double context, double new_tokens);

/// Distinct experts that `tokens` tokens touch when each picks k of n at random:
/// n * (1 - (1 - k/n)^tokens).
double expected_experts(double experts, double per_token, double tokens);

/// Parameters of the model by part. The parts add up to the total.
struct ParameterCount {
  std::int64_t total = 0;
  /// What one token of the language model is multiplied with: all but the experts it
  /// does not choose and input tables of their own (lookups). OpenAI, DeepSeek and Moonshot
  /// publish this number; Qwen adds the input table.
  std::int64_t active = 0;
  std::int64_t embedding = 0;  // token and position tables, and the head if untied
  std::int64_t attention = 0;
  std::int64_t dense_ffn = 0;  // dense and shared-expert feed-forward
  std::int64_t experts = 0;    // routed experts and routers
  std::int64_t recurrent = 0;  // linear attention, state spaces, convolutions
  std::int64_t norms = 0;      // over the hidden size, of queries and keys, of latents
  std::int64_t other = 0;      // what does not belong to any of these
  std::int64_t parts = 0;      // encoders and towers, not draft layers; not in `active`
};
ParameterCount count_parameters(const Graph& graph);

/// Parameters of the draft layers (multi-token prediction) that the checkpoint carries
/// besides the model, with the copies of embedding and head it stores for them.
std::int64_t count_mtp_parameters(const Graph& graph);

/// Elements that one position (or entry) adds to the KV cache of a layer: K and V, the
/// MLA latent (kv_lora + rope, once), or a key that is also the value. Without the
/// indexer's keys, index_elements_per_token, which have a format of their own.
std::int64_t kv_elements_per_token(const AttentionSpec& a);
std::int64_t index_elements_per_token(const AttentionSpec& a);

}  // namespace cairn
