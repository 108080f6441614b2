// GGUF metadata and tensor shapes to ModelSpec. What a tensor shows (biases,
// norms, tied heads, sizes of feed-forwards) is taken from the tensor; the
// metadata gives heads, windows and the number of experts a token uses.
// Keys:
// https://github.com/ggml-org/llama.cpp/blob/0024aa7417efd50a7c2a79e049dfbbbceb0beaaf/gguf-py/gguf/constants.py
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "cairn/base/names.h"
#include "cairn/model/gguf.h"
#include "cairn/model/gguf_architectures.h"
#include "cairn/model/gguf_encoder.h"
#include "cairn/model/gguf_extras.h"
#include "cairn/model/gguf_recurrence.h"
#include "cairn/model/gguf_sparse.h"
#include "cairn/model/rwkv_layers.h"

namespace cairn {
namespace {

constexpr std::int64_t kMaxHidden = 1 << 20;
constexpr std::int64_t kMaxHeads = 1 << 12;
constexpr std::int64_t kMaxHeadDim = 1 << 13;
constexpr std::int64_t kMaxContext = 1 << 30;
constexpr std::int64_t kMaxExperts = 4096;
constexpr std::int64_t kMaxLayers = 1024;

// Llama 4's chunk, which files do not carry (llama.cpp src/llama-model.cpp).
constexpr std::int64_t kLlama4Chunk = 8192;

class SpecReader {
 public:
  SpecReader(const GgufFile& file, const GgufArchitecture& architecture)
      : file_(file), architecture_(architecture) {
    for (const GgufTensor& t : file.tensors) tensors_.emplace(t.name, &t);
  }

  Result<ModelSpec> read() {
    ModelSpec spec;
    spec.id = file_.path;
    if (const auto name = file_.text("general.name"); name && !name->empty()) spec.id = *name;
    spec.architecture = architecture_.name;
    spec.family = architecture_.family;
    spec.published_format.clear();
    CAIRN_TRY(const GgufTensor* const table, required("token_embd.weight"));
    CAIRN_TRY(hidden_, file_.integer(key("embedding_length"), 1, kMaxHidden));
    if (table->size[0] != hidden_) return fail(wrong_size(*table, hidden_));
    spec.hidden = hidden_;
    spec.vocabulary = table->size[1];
    CAIRN_TRY(spec.max_context, file_.integer(key("context_length"), 1, kMaxContext));
    spec.tied_embeddings = !has("output.weight");
    spec.output_bias = has("output.bias");
    // LFM2's has the name of a norm after the embedding.
    spec.final_norm = has("output_norm.weight") ||
                      (architecture_.family.starts_with("lfm2") && has("token_embd_norm.weight"));
    spec.final_norm_bias = has("output_norm.bias");
    if (const GgufTensor* const positions = find("position_embd.weight")) {
      spec.position_embeddings = positions->size[1];
    }
    CAIRN_TRY(const std::int64_t blocks, file_.integer(key("block_count"), 1, kMaxLayers));
    CAIRN_TRY(const std::int64_t drafts,
              file_.integer_or(key("nextn_predict_layers"), 0, 0, blocks - 1));
    layers_ = static_cast<std::size_t>(blocks - drafts);
    spec.extras = is_gguf_rwkv(architecture_.name)
                      ? rwkv_embedding_norm(hidden_)
                      : read_gguf_extras(tensors_, "", gguf_model_extras());
    CAIRN_CHECK(heads(static_cast<std::size_t>(blocks)));
    for (layer_ = 0; layer_ < layers_; ++layer_) {
      CAIRN_TRY(const LayerSpec layer, read_layer());
      spec.layers.push_back(layer);
    }
    // Draft layers follow, unless the file leaves them out.
    for (; layer_ < static_cast<std::size_t>(blocks); ++layer_) {
      if (!has_part("nextn.eh_proj.weight") || !has_part("attn_norm.weight")) continue;
      CAIRN_TRY(const LayerSpec layer, read_layer());
      spec.parts.push_back(make_draft(spec, layer,
                                      {.embedding = has_part("nextn.embed_tokens.weight"),
                                       .head = has_part("nextn.shared_head_head.weight"),
                                       .final_norm = has_part("nextn.shared_head_norm.weight")}));
    }
    CAIRN_CHECK(check_spec(spec));
    return spec;
  }

 private:
  [[nodiscard]] std::string key(std::string_view name) const {
    return fmt::format("{}.{}", architecture_.name, name);
  }

  [[nodiscard]] const GgufTensor* find(std::string_view name) const {
    const auto it = tensors_.find(std::string(name));
    return it == tensors_.end() ? nullptr : it->second;
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

  Result<const GgufTensor*> required(std::string_view name) const {
    const GgufTensor* const tensor = find(name);
    if (tensor == nullptr) {
      return fail(bad_input("missing tensor").at(file_.path).in(std::string(name)));
    }
    return tensor;
  }

  // Of the layer that is read.
  [[nodiscard]] std::string name(std::string_view part) const {
    return fmt::format("blk.{}.{}", layer_, part);
  }
  [[nodiscard]] const GgufTensor* find_part(std::string_view part) const {
    return find(name(part));
  }
  [[nodiscard]] bool has_part(std::string_view part) const { return find_part(part) != nullptr; }

  [[nodiscard]] Error wrong_size(const GgufTensor& t, std::int64_t want) const {
    return bad_input("a tensor of another size than the metadata says")
        .at(file_.path)
        .in(t.name)
        .got(std::to_string(t.size[0]))
        .want(std::to_string(want));
  }

  Result<void> heads(std::size_t blocks) {
    // Layers without attention, and whole models, have none.
    heads_.assign(blocks, 0);
    if (file_.find(key("attention.head_count")) != nullptr) {
      CAIRN_TRY(heads_, file_.per_layer(key("attention.head_count"), blocks, 0, kMaxHeads));
    }
    kv_heads_ = heads_;
    if (file_.find(key("attention.head_count_kv")) != nullptr) {
      CAIRN_TRY(kv_heads_, file_.per_layer(key("attention.head_count_kv"), blocks, 0, kMaxHeads));
    }
    return windows();
  }

  Result<void> windows() {
    CAIRN_TRY(window_, file_.integer_or(key("attention.sliding_window"), 0, 0, kMaxContext));
    period_ = architecture_.window_period;
    if (architecture_.chunked) {
      CAIRN_TRY(window_,
                file_.integer_or(key("attention.chunk_size"), kLlama4Chunk, 0, kMaxContext));
    }
    const GgufValue* const pattern = file_.find(key("attention.sliding_window_pattern"));
    if (pattern == nullptr || period_ == 0) return {};
    if (const auto* const array = std::get_if<GgufArray>(pattern)) {
      if (array->values.size() < layers_) {
        return fail(bad_input("not one value for each layer")
                        .at(file_.path)
                        .in(key("attention.sliding_window_pattern"))
                        .got(std::to_string(array->count)));
      }
      local_ = array->values;
      return {};
    }
    CAIRN_TRY(const std::int64_t period,
              file_.integer(key("attention.sliding_window_pattern"), 1, kMaxLayers));
    period_ = static_cast<int>(period);
    return {};
  }

  [[nodiscard]] bool is_local() const {
    if (window_ == 0 || period_ == 0) return false;
    if (!local_.empty()) return local_[layer_] != 0;
    const auto period = static_cast<std::size_t>(period_);
    return period == 1 || layer_ % period != period - 1;
  }

  Result<LayerSpec> read_layer() {
    if (is_gguf_rwkv(architecture_.name)) {
      return gguf_rwkv_layer(file_, tensors_, architecture_.name, layer_);
    }
    LayerSpec layer;
    CAIRN_TRY(layer.recurrent, gguf_recurrence(file_, tensors_, architecture_.name, layer_));
    if (has_part("attn_kv_a_mqa.weight")) {
      CAIRN_TRY(layer.attention, latent());
    } else if (has_part("attn_kv.weight")) {
      CAIRN_TRY(layer.attention,
                gguf_compressed(file_, tensors_, architecture_.name, layer_, heads_[layer_]));
    } else if (has_attention(layer.recurrent)) {
      CAIRN_TRY(layer.attention, attention());
    }
    CAIRN_TRY(layer.feed_forward, feed_forward());
    const bool before = has_part("attn_norm.weight");
    const bool between = has_part("ffn_norm.weight") || has_part("attn_norm_2.weight");
    const bool post = has_part("post_attention_norm.weight");
    layer.norms_after = !before && post;
    if (before) layer.norms = post && between ? 4 : post || between ? 2 : 1;
    if (!before && !post) layer.norms = between ? 1 : 0;
    layer.norm_bias = has_part("attn_norm.bias");
    layer.extras = extras(layer.attention);
    return layer;
  }

  [[nodiscard]] std::vector<MatrixSpec> extras(const AttentionSpec& a) const {
    std::vector<MatrixSpec> out = read_gguf_extras(tensors_, name(""), gguf_layer_extras());
    const auto keep = [&](std::string_view part, TensorRole role) {
      for (const MatrixSpec& m : kept_tensor(tensors_, name(part), role)) out.push_back(m);
    };
    // Layers that share a cache have these, and do not use them.
    if (a.shares_kv) {
      keep("attn_k.weight", TensorRole::attn_k);
      keep("attn_v.weight", TensorRole::attn_v);
      keep("attn_k_norm.weight", TensorRole::attn_k_norm);
    }
    if (architecture_.head_gates) {
      keep("attn_gate.weight", TensorRole::attn_gate);
      if (!out.empty()) out.back().use = Use::linear;
    }
    // Attention that was replaced by a matrix (Nemotron 51B).
    if (a.heads == 0 && architecture_.family == "decilm") {
      keep("attn_output.weight", TensorRole::attn_output);
      if (!out.empty()) out.back().use = Use::linear;
    }
    return out;
  }

  // Linear attention has projections of the same names; hybrids have layers without any.
  [[nodiscard]] bool has_attention(const RecurrentSpec& r) const {
    switch (r.kind) {
      case RecurrentKind::none:
        return heads_[layer_] > 0 && (!architecture_.layers_of_parts || has_part("attn_q.weight"));
      case RecurrentKind::mamba2:
        return has_part("attn_q.weight");
      default:
        return false;
    }
  }

  Result<AttentionSpec> attention() const {
    AttentionSpec a;
    a.heads = heads_[layer_];
    a.kv_heads = kv_heads_[layer_];
    if (a.kv_heads == 0) {
      return fail(unsupported("a layer without attention")
                      .at(file_.path)
                      .in(key("attention.head_count_kv"))
                      .got(fmt::format("layer {}", layer_)));
    }
    CAIRN_TRY(a.head_dim,
              file_.integer_or(key("attention.key_length"),
                               std::max<std::int64_t>(1, hidden_ / a.heads), 1, kMaxHeadDim));
    CAIRN_TRY(a.v_head_dim,
              file_.integer_or(key("attention.value_length"), a.head_dim, 1, kMaxHeadDim));
    if (is_local()) {  // with heads of another size (Gemma 4)
      CAIRN_TRY(a.head_dim,
                file_.integer_or(key("attention.key_length_swa"), a.head_dim, 1, kMaxHeadDim));
      CAIRN_TRY(a.v_head_dim,
                file_.integer_or(key("attention.value_length_swa"), a.v_head_dim, 1, kMaxHeadDim));
    }
    CAIRN_TRY(a.shares_kv, shares_cache());
    const bool keys_only = has_part("attn_k.weight") && !has_part("attn_v.weight");
    a.v_from_k = keys_only && architecture_.family == "gemma4";
    a.qkv_bias = has_part("attn_q.bias") || has_part("attn_qkv.bias");
    a.o_bias = has_part("attn_output.bias");
    if (const GgufTensor* const q = find_part("attn_q.weight")) {
      a.output_gate = q->size[1] == 2 * a.heads * a.head_dim;
    }
    a.sinks = has_part("attn_sinks.weight");
    if (const GgufTensor* const norm = find_part("attn_q_norm.weight")) {
      a.qk_norm = true;
      a.qk_norm_dim_q = norm->weights();
      a.qk_norm_dim_k = a.head_dim;
      if (!a.shares_kv) {
        CAIRN_TRY(const GgufTensor* const keys, required(name("attn_k_norm.weight")));
        a.qk_norm_dim_k = keys->weights();
      }
    }
    if (is_local()) {
      a.kind = architecture_.chunked ? AttentionKind::chunked : AttentionKind::sliding;
      a.window = window_;
    }
    CAIRN_CHECK(add_gguf_indexer(file_, tensors_, architecture_.name, layer_, hidden_, a));
    return a;
  }

  // The last layers of Gemma 3n and 4; files of Gemma 3n do not say how many (llama.cpp
  // src/models/gemma3n.cpp: all after the first 20).
  [[nodiscard]] Result<bool> shares_cache() const {
    const auto all = static_cast<std::int64_t>(layers_);
    const bool fixed = architecture_.family == "gemma3n";
    const std::int64_t fallback = fixed ? std::max<std::int64_t>(0, all - 20) : 0;
    CAIRN_TRY(const std::int64_t shared,
              file_.integer_or(key("attention.shared_kv_layers"), fallback, 0, all));
    return static_cast<std::int64_t>(layer_) >= all - shared;
  }

  // Files from before the split of kv_b give the true lengths as key_length and
  // value_length, later ones as key_length_mla and value_length_mla.
  Result<AttentionSpec> latent() const {
    AttentionSpec a;
    a.kind = AttentionKind::mla;
    a.heads = a.kv_heads = heads_[layer_];
    const bool later = file_.find(key("attention.key_length_mla")) != nullptr;
    CAIRN_TRY(a.head_dim,
              file_.integer(key(later ? "attention.key_length_mla" : "attention.key_length"), 2,
                            kMaxHeadDim));
    CAIRN_TRY(a.v_head_dim,
              file_.integer(key(later ? "attention.value_length_mla" : "attention.value_length"), 1,
                            kMaxHeadDim));
    CAIRN_TRY(a.kv_lora_rank, file_.integer(key("attention.kv_lora_rank"), 1, kMaxHidden));
    CAIRN_TRY(a.q_lora_rank, file_.integer_or(key("attention.q_lora_rank"), 0, 0, kMaxHidden));
    CAIRN_TRY(a.qk_rope_head_dim, file_.integer(key("rope.dimension_count"), 1, a.head_dim - 1));
    a.qk_nope_head_dim = a.head_dim - a.qk_rope_head_dim;
    a.output_gate = has_part("attn_gate.weight");
    CAIRN_CHECK(add_gguf_indexer(file_, tensors_, architecture_.name, layer_, hidden_, a));
    return a;
  }

  Result<FeedForwardSpec> feed_forward() const {
    FeedForwardSpec f;
    const bool together = has_part("ffn_down_exps.weight");
    if (together || has_part("ffn_down.0.weight")) {
      CAIRN_CHECK(experts(f, together));
    }
    if (const GgufTensor* const down = find_part("ffn_down.weight")) {
      f.intermediate = down->size[0];
      const GgufTensor* const up = find_part("ffn_up.weight");
      const bool fused = up != nullptr && up->size[1] == 2 * f.intermediate;
      f.gated = has_part("ffn_gate.weight") || fused;
      f.bias = has_part("ffn_down.bias");
    }
    if (f.intermediate == 0 && f.experts == 0 && !architecture_.layers_of_parts) {
      return fail(bad_input("missing tensor").at(file_.path).in(name("ffn_down.weight")));
    }
    return f;
  }

  Result<void> experts(FeedForwardSpec& f, bool together) const {
    CAIRN_TRY(f.experts, file_.integer(key("expert_count"), 1, kMaxExperts));
    CAIRN_TRY(f.experts_per_token, file_.integer(key("expert_used_count"), 1, kMaxExperts));
    CAIRN_TRY(const GgufTensor* const down,
              required(name(together ? "ffn_down_exps.weight" : "ffn_down.0.weight")));
    f.expert_intermediate = down->size[0];
    f.gated = has_part("ffn_gate_exps.weight") || has_part("ffn_gate.0.weight") ||
              has_part("ffn_gate_up_exps.weight");
    f.expert_bias = has_part("ffn_down_exps.bias");
    f.router_bias = has_part("exp_probs_b.bias") || has_part("ffn_gate_inp.bias");
    if (const GgufTensor* const latent = find_part("ffn_latent_down.weight")) {
      f.latent = latent->size[1];
    }
    if (const GgufTensor* const shared = find_part("ffn_down_shexp.weight")) {
      f.shared_intermediate = shared->size[0];
      f.shared_gate = has_part("ffn_gate_inp_shexp.weight");
    }
    return {};
  }

  const GgufFile& file_;
  const GgufArchitecture& architecture_;
  std::unordered_map<std::string, const GgufTensor*> tensors_;
  std::vector<std::int64_t> heads_;
  std::vector<std::int64_t> kv_heads_;
  std::vector<double> local_;
  std::int64_t hidden_ = 0;
  std::int64_t window_ = 0;
  int period_ = 0;
  std::size_t layers_ = 0;
  std::size_t layer_ = 0;
};

}  // namespace

namespace {

// The architecture a file is to be read as; its keys keep the name that the file gives.
Result<GgufArchitecture> relative_of(const GgufFile& file, std::string_view name,
                                     const Relative& like) {
  if (std::ranges::find(kGgufArchitectures, name, &GgufArchitecture::name) !=
      kGgufArchitectures.end()) {
    return fail(bad_input("the architecture is known: nothing to liken it to")
                    .at(file.path)
                    .in("--like")
                    .got(name));
  }
  for (const GgufArchitecture& a : kGgufArchitectures) {
    if (a.name != like.architecture && a.family != like.family) continue;
    GgufArchitecture out = a;
    out.name = name;
    return out;
  }
  return fail(unsupported("no architecture of GGUF files that is covered")
                  .at(file.path)
                  .in("--like")
                  .got(like.architecture));
}

}  // namespace

Result<ModelSpec> spec_from_gguf(const GgufFile& file, const Relative* like) {
  CAIRN_TRY(const std::string_view name, file.text("general.architecture"));
  if (like != nullptr) {
    CAIRN_TRY(const GgufArchitecture relative, relative_of(file, name, *like));
    return SpecReader(file, relative).read();
  }
  if (std::ranges::find(gguf_encoders(), name) != gguf_encoders().end()) {
    return encoder_spec_from_gguf(file, name);
  }
  const auto* const it = std::ranges::find(kGgufArchitectures, name, &GgufArchitecture::name);
  if (it == kGgufArchitectures.end()) {
    std::vector<std::string> known;
    known.reserve(kGgufArchitectures.size());
    for (const GgufArchitecture& a : kGgufArchitectures) known.emplace_back(a.name);
    std::vector<std::string> near = nearest_names(name, known, 2);
    if (near.empty()) near.emplace_back("llama");
    return fail(
        unsupported("an architecture that is not covered")
            .at(file.path)
            .in("general.architecture")
            .got(name)
            .want(fmt::format("--like with a relative, such as {}", fmt::join(near, " or "))));
  }
  return SpecReader(file, *it).read();
}

std::vector<std::string_view> gguf_architectures() {
  std::vector<std::string_view> names;
  names.reserve(kGgufArchitectures.size());
  for (const GgufArchitecture& a : kGgufArchitectures) names.push_back(a.name);
  names.insert(names.end(), gguf_encoders().begin(), gguf_encoders().end());
  std::ranges::sort(names);
  return names;
}

}  // namespace cairn
