// The tensors of a GGUF file to those of a graph, by role, layer and shape.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "cairn/model/gguf.h"
#include "cairn/model/gguf_extras.h"

namespace cairn {
namespace {

using enum TensorRole;

// Names under which files hold a tensor, the usual one first. A name that
// several tensors of the graph share is a fused matrix.
std::vector<std::string> names_of(const Tensor& t) {
  std::vector<std::string> names;
  const std::string prefix = t.layer >= 0 ? fmt::format("blk.{}.", t.layer) : "";
  const auto add = [&](std::string_view name) { names.push_back(prefix + std::string(name)); };
  const TensorRole role = t.role == bias ? t.owner : t.role;
  const std::string_view suffix = t.role == bias ? ".bias" : ".weight";
  const auto with = [&](std::string_view name) { add(std::string(name) + std::string(suffix)); };
  if (t.role == router_bias) {
    add("exp_probs_b.bias");
    add("ffn_gate_inp.bias");
    return names;
  }
  // Odd tensors by all the names of their role.
  const auto extras = t.layer >= 0 ? gguf_layer_extras() : gguf_model_extras();
  for (const GgufExtra& extra : extras) {
    if (extra.role == role && t.role != bias) add(extra.name);
  }
  if (!names.empty()) return names;
  // These have no suffix.
  if (role == ssm_a || role == ssm_d) add(role_name(role));
  with(role_name(role));
  switch (role) {
    case output_norm:
      with("token_embd_norm");  // LFM2
      break;
    case linear_qkv:
    case attn_gate:
      with("ssm_in");  // the first files of Qwen3-Next
      break;
    case time_mix_vector:
      for (const auto* name :
           {"lerp_fused", "lerp_x", "first", "decay", "w0", "a0", "v0", "k_k", "k_a", "r_k"}) {
        with("time_mix_" + std::string(name));
      }
      break;
    case time_mix_a:
    case time_mix_b:
      for (const auto* name : {"w", "decay_w", "a", "v", "g"}) {
        with("time_mix_" + std::string(name) + (role == time_mix_a ? "1" : "2"));
      }
      break;
    case channel_mix_vector:
      with("channel_mix_lerp_k");
      with("channel_mix_lerp_r");
      break;
    case attn_q:
    case attn_k:
    case attn_v:
      with("attn_qkv");
      break;
    case attn_k_b:
    case attn_v_b:
      with("attn_kv_b");
      break;
    case attn_kv_a:
      with("attn_kv");  // DeepSeek V4
      break;
    case attn_output:
      with("attn_output_b");
      break;
    case indexer_q:
      with("indexer.q_proj");  // MiniMax-M3
      break;
    case indexer_k:
      with("indexer.k_proj");
      break;
    case attn_norm:
      with("ffn_norm");  // the only norm of a layer without attention
      break;
    case ffn_gate:
      with("ffn_up");
      break;
    case expert_gate:
    case expert_up:
      with("ffn_gate_up_exps");
      break;
    case ffn_norm:
      with("post_attention_norm");
      with("attn_norm_2");
      break;
    case post_attn_norm:
      with("attn_output_norm");  // encoders
      break;
    case post_ffn_norm:
      with("layer_output_norm");
      break;
    default:
      break;
  }
  return names;
}

// Old files have a tensor for each expert: "blk.0.ffn_gate.3.weight".
std::optional<std::string_view> lone_expert(TensorRole role) {
  switch (role) {
    case expert_gate:
      return "ffn_gate";
    case expert_up:
      return "ffn_up";
    case expert_down:
      return "ffn_down";
    default:
      return std::nullopt;
  }
}

class Binder {
 public:
  Binder(const GgufFile& file, const Graph& graph) : file_(file), graph_(graph) {
    for (const GgufTensor& t : file.tensors) index_.emplace(t.name, Use{.tensor = &t, .by = {}});
  }

  Result<GgufWeights> bind() {
    out_.bound.types.resize(graph_.tensors.size(), nullptr);
    out_.bound.exact.resize(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) CAIRN_CHECK(claim(i));
    for (const GgufTensor& t : file_.tensors) CAIRN_CHECK(settle(index_.at(t.name)));
    return std::move(out_);
  }

 private:
  struct Use {
    const GgufTensor* tensor = nullptr;
    std::vector<std::size_t> by;  // tensors of the graph
  };

  Result<void> claim(std::size_t i) {
    const Tensor& t = graph_.tensors[i];
    const std::vector<std::string> names = names_of(t);
    for (const std::string& name : names) {
      const auto it = index_.find(name);
      if (it == index_.end() || (one_of_many(t.role) && !is_free(it->second, t))) continue;
      it->second.by.push_back(i);
      return {};
    }
    const auto part = t.role == bias ? std::nullopt : lone_expert(t.role);
    if (part && index_.contains(fmt::format("blk.{}.{}.0.weight", t.layer, *part))) {
      for (std::int64_t e = 0; e < t.experts; ++e) {
        const std::string name = fmt::format("blk.{}.{}.{}.weight", t.layer, *part, e);
        const auto it = index_.find(name);
        if (it == index_.end()) return fail(missing(name));
        it->second.by.push_back(i);
      }
      return {};
    }
    return fail(missing(names.front()));
  }

  // Vectors and low-rank pairs of RWKV, mixtures of residual streams: the first of their names
  // that is not taken yet and has as many weights.
  static bool one_of_many(TensorRole role) {
    return role == time_mix_vector || role == time_mix_a || role == time_mix_b ||
           role == channel_mix_vector || role == residual_mix || role == residual_norm ||
           role == layer_scale || role == expert_post_norm;
  }
  static bool is_free(const Use& use, const Tensor& t) {
    return use.by.empty() && use.tensor->weights() == t.weights();
  }

  [[nodiscard]] Error missing(const std::string& name) const {
    return bad_input("missing tensor").at(file_.path).in(name);
  }

  // Gives the bytes of a tensor of the file to those that claimed it: each has
  // whole rows of it, and rows are whole blocks.
  Result<void> settle(const Use& use) {
    const GgufTensor& t = *use.tensor;
    if (use.by.empty()) {
      out_.other.push_back(t.name);
      out_.other_bytes += Bytes(static_cast<double>(t.bytes));
      return {};
    }
    std::int64_t sum = 0;
    bool rows = true;
    for (const std::size_t i : use.by) {
      sum += share(t, i);
      rows = rows && share(t, i) % t.size[0] == 0;
    }
    if (sum != t.weights() || !rows || !fits(use)) {
      return fail(bad_input("a tensor of another shape than its architecture has")
                      .at(file_.path)
                      .in(t.name)
                      .got(fmt::format("{} x {} x {}", t.size[0], t.size[1], t.size[2]))
                      .want(shape(graph_.tensors[use.by.front()])));
    }
    for (const std::size_t i : use.by) {
      out_.bound.types[i] = t.type;
      const std::int64_t bytes = share(t, i) / t.type->block_weights * t.type->block_bytes;
      out_.bound.exact[i] += Bytes(static_cast<double>(bytes));
    }
    return {};
  }

  // Weights of a graph's tensor that lie in this tensor of the file: all, or one expert's.
  [[nodiscard]] std::int64_t share(const GgufTensor& t, std::size_t i) const {
    const Tensor& g = graph_.tensors[i];
    const bool lone = lone_expert(g.role) && t.name.find("_exps") == std::string::npos &&
                      g.role != bias && g.experts > 1;
    return lone ? g.rows * g.columns : g.weights();
  }

  // A matrix that is not fused has the rows and columns of the graph's.
  [[nodiscard]] bool fits(const Use& use) const {
    const Tensor& g = graph_.tensors[use.by.front()];
    const bool heads = g.role == attn_k_b || g.role == attn_v_b || g.role == attn_output_a;
    if (use.by.size() > 1 || g.vector || heads) return true;
    return use.tensor->size[0] == g.columns && use.tensor->size[1] == g.rows;
  }

  static std::string shape(const Tensor& g) {
    return fmt::format("{} x {} x {}", g.columns, g.rows, g.experts);
  }

  const GgufFile& file_;
  const Graph& graph_;
  std::unordered_map<std::string, Use> index_;
  GgufWeights out_;
};

}  // namespace

Result<GgufWeights> bind_gguf(const GgufFile& file, const Graph& graph,
                              const WeightFormats& formats) {
  CAIRN_TRY(GgufWeights weights, Binder(file, graph).bind());
  weights.bound.format = "gguf";
  CAIRN_TRY(const std::int64_t type, file.integer_or("general.file_type", -1, -1, 1 << 16));
  if (const WeightFormatInfo* const info = formats.find_ftype(static_cast<int>(type))) {
    weights.bound.format = info->name;
  }
  return weights;
}

}  // namespace cairn
