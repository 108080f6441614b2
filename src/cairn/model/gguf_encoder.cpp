// BERT and its relatives as llama.cpp has them: norms after the parts, or (ModernBERT)
// before; matrices of queries, keys and values together or apart. Names of tensors:
// https://github.com/ggml-org/llama.cpp/blob/0024aa7417efd50a7c2a79e049dfbbbceb0beaaf/gguf-py/gguf/constants.py
#include "cairn/model/gguf_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cairn/model/hf_tower.h"

namespace cairn {
namespace {

using enum TensorRole;

constexpr auto kEncoders = std::to_array<std::string_view>({"bert", "modern-bert", "nomic-bert"});

// In ModernBERT every third layer from the first on sees all positions.
constexpr std::int64_t kPeriod = 3;

struct Reader {
  const GgufFile& file;
  std::string_view architecture;

  [[nodiscard]] std::string key(std::string_view name) const {
    return fmt::format("{}.{}", architecture, name);
  }
  [[nodiscard]] bool has(std::string_view name) const { return file.find_tensor(name) != nullptr; }
  [[nodiscard]] bool in_layer(std::int64_t layer, std::string_view name) const {
    return has(fmt::format("blk.{}.{}", layer, name));
  }

  Result<hf::Stack> stack() const {
    hf::Stack s;
    CAIRN_TRY(s.hidden, file.integer(key("embedding_length"), 1, hf::kMaxHidden));
    CAIRN_TRY(s.layers, file.integer(key("block_count"), 1, hf::kMaxLayers));
    CAIRN_TRY(s.heads, file.integer(key("attention.head_count"), 1, hf::kMaxHeads));
    CAIRN_TRY(s.intermediate, file.integer(key("feed_forward_length"), 1, hf::kMaxInner));
    if (s.hidden % s.heads == 0) {
      s.head_dim = s.hidden / s.heads;
      return s;
    }
    return fail(bad_input("the hidden size is no multiple of the number of heads")
                    .at(file.path)
                    .in(key("attention.head_count"))
                    .got(std::to_string(s.heads)));
  }

  [[nodiscard]] LayerSpec layer(const hf::Stack& s, std::int64_t i, std::int64_t window) const {
    LayerSpec out = hf::stack_layer(s);
    AttentionSpec& a = out.attention;
    a.qkv_bias = in_layer(i, "attn_q.bias") || in_layer(i, "attn_qkv.bias");
    a.o_bias = in_layer(i, "attn_output.bias");
    out.norms_after = in_layer(i, "attn_output_norm.weight");
    out.norm_bias = in_layer(i, "attn_output_norm.bias") || in_layer(i, "ffn_norm.bias");
    if (!out.norms_after && !in_layer(i, "attn_norm.weight")) out.norms = 1;
    const GgufTensor* const up = file.find_tensor(fmt::format("blk.{}.ffn_up.weight", i));
    const bool fused = up != nullptr && up->size[1] == 2 * s.intermediate;
    out.feed_forward.gated = in_layer(i, "ffn_gate.weight") || fused;
    out.feed_forward.bias = in_layer(i, "ffn_up.bias");
    if (window > 0 && i % kPeriod != 0) {
      a.kind = AttentionKind::sliding;
      a.window = window;
    }
    return out;
  }

  Result<ModelSpec> read() const {
    CAIRN_TRY(const hf::Stack s, stack());
    ModelSpec spec = hf::stack_spec(s, ModelPart::language);
    spec.id = file.path;
    if (const auto name = file.text("general.name"); name && !name->empty()) spec.id = *name;
    spec.architecture = architecture;
    spec.family = architecture == "modern-bert" ? "modernbert" : architecture;
    spec.published_format.clear();
    const GgufTensor* const words = file.find_tensor("token_embd.weight");
    if (words == nullptr) {
      return fail(bad_input("missing tensor").at(file.path).in("token_embd.weight"));
    }
    spec.vocabulary = words->size[1];
    CAIRN_TRY(spec.max_context, file.integer(key("context_length"), 1, hf::kMaxContext));
    const GgufTensor* const rows = file.find_tensor("position_embd.weight");
    if (rows != nullptr) spec.position_embeddings = rows->size[1];
    const GgufTensor* const segments = file.find_tensor("token_types.weight");
    if (segments != nullptr) {
      spec.extras.push_back(hf::table(type_embedding, segments->weights() / s.hidden, s.hidden));
    }
    spec.extras.push_back(hf::vector(embedding_norm, s.hidden, has("token_embd_norm.bias")));
    spec.final_norm = has("output_norm.weight");
    spec.final_norm_bias = has("output_norm.bias");
    if (has("cls.weight")) {
      spec.extras.push_back(hf::matrix(pooler, s.hidden, s.hidden, has("cls.bias")));
    }
    if (const GgufTensor* const out = file.find_tensor("cls.output.weight")) {
      spec.extras.push_back(
          hf::matrix(classifier, out->weights() / s.hidden, s.hidden, has("cls.output.bias")));
    }
    CAIRN_TRY(const std::int64_t window,
              file.integer_or(key("attention.sliding_window"), 0, 0, hf::kMaxContext));
    for (std::int64_t i = 0; i < s.layers; ++i) {
      spec.layers[static_cast<std::size_t>(i)] = layer(s, i, window);
    }
    CAIRN_CHECK(check_spec(spec));
    return spec;
  }
};

}  // namespace

std::span<const std::string_view> gguf_encoders() { return kEncoders; }

Result<ModelSpec> encoder_spec_from_gguf(const GgufFile& file, std::string_view architecture) {
  return Reader{.file = file, .architecture = architecture}.read();
}

}  // namespace cairn
