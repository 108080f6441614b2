// Architectures of published models, written down by hand from their published
// configurations: what the tests of this room size and bind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/model/spec.h"

namespace cairn::test {

/// A decoder of equal layers.
struct Shape {
  std::string_view name;
  std::string_view family;
  std::int64_t layers, hidden, inner, heads, kv_heads, head_dim, vocabulary;
  bool tied = false, qkv_bias = false, qk_norm = false;
  std::int64_t norms = 2;
  std::int64_t experts = 0, experts_per_token = 0;
  bool gpt_oss = false;
};

// name, family, layers, hidden, inner, heads, kv heads, head size, vocabulary,
// tied, q/k/v bias, q/k norm, norms, experts, of which used
inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"llama-2-7b", "llama", 32, 4096, 11008, 32, 32, 128, 32000},
      {"llama-2-13b", "llama", 40, 5120, 13824, 40, 40, 128, 32000},
      {"llama-2-70b", "llama", 80, 8192, 28672, 64, 8, 128, 32000},
      {"llama-30b", "llama", 60, 6656, 17920, 52, 52, 128, 32000},
      {"llama-65b", "llama", 80, 8192, 22016, 64, 64, 128, 32000},
      {"codellama-7b-instruct", "llama", 32, 4096, 11008, 32, 32, 128, 32016},
      {"llama-3.1-8b", "llama", 32, 4096, 14336, 32, 8, 128, 128256},
      {"llama-3.1-70b", "llama", 80, 8192, 28672, 64, 8, 128, 128256},
      {"llama-3.1-405b", "llama", 126, 16384, 53248, 128, 8, 128, 128256},
      {"llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, true},
      {"llama-3.2-3b", "llama", 28, 3072, 8192, 24, 8, 128, 128256, true},
      {"mistral-7b", "llama", 32, 4096, 14336, 32, 8, 128, 32000},
      {"mistral-small-24b", "llama", 40, 5120, 32768, 32, 8, 128, 131072},
      {"tinyllama-1.1b", "llama", 22, 2048, 5632, 32, 4, 64, 32000},
      {"deepseek-coder-6.7b", "llama", 32, 4096, 11008, 32, 32, 128, 32256},
      {"mixtral-8x7b", "llama", 32, 4096, 14336, 32, 8, 128, 32000, false, false, false, 2, 8, 2},
      {"qwen2-1.5b", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, true, true},
      {"deepseek-r1-distill-qwen-1.5b", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, false, true},
      {"qwen2.5-0.5b", "qwen2", 24, 896, 4864, 14, 2, 64, 151936, true, true},
      {"qwen2.5-3b", "qwen2", 36, 2048, 11008, 16, 2, 128, 151936, true, true},
      {"qwen2.5-7b", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, false, true},
      {"qwen2.5-14b", "qwen2", 48, 5120, 13824, 40, 8, 128, 152064, false, true},
      {"qwen2.5-32b", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, false, true},
      {"qwen2.5-72b", "qwen2", 80, 8192, 29568, 64, 8, 128, 152064, false, true},
      {"qwen1.5-7b", "qwen2", 32, 4096, 11008, 32, 32, 128, 151936, false, true},
      {"qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, true, false, true},
      {"qwen3-4b", "qwen3", 36, 2560, 9728, 32, 8, 128, 151936, true, false, true},
      {"qwen3-8b", "qwen3", 36, 4096, 12288, 32, 8, 128, 151936, false, false, true},
      {"qwen3-14b", "qwen3", 40, 5120, 17408, 40, 8, 128, 151936, false, false, true},
      {"qwen3-32b", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, false, false, true},
      {"qwen3-30b-a3b", "qwen3-moe", 48, 2048, 768, 32, 4, 128, 151936, false, false, true, 2, 128,
       8},
      {"qwen3-235b-a22b", "qwen3-moe", 94, 4096, 1536, 64, 4, 128, 151936, false, false, true, 2,
       128, 8},
      {"gemma-2b", "gemma", 18, 2048, 16384, 8, 1, 256, 256000, true},
      {"gemma-2-9b", "gemma2", 42, 3584, 14336, 16, 8, 256, 256000, true, false, false, 4},
      {"gemma-3-4b", "gemma3", 34, 2560, 10240, 8, 4, 256, 262144, true, false, true, 4},
      {"gemma-3-12b", "gemma3", 48, 3840, 15360, 16, 8, 256, 262144, true, false, true, 4},
      {"gemma-3-27b", "gemma3", 62, 5376, 21504, 32, 16, 128, 262144, true, false, true, 4},
      {"phi-3-mini", "phi3", 32, 3072, 8192, 32, 32, 96, 32064},
      {"gpt-oss-20b", "gpt-oss", 24, 2880, 2880, 64, 8, 64, 201088, false, true, false, 2, 32, 4,
       true},
      {"gpt-oss-120b", "gpt-oss", 36, 2880, 2880, 64, 8, 64, 201088, false, true, false, 2, 128, 4,
       true},
  };
  return kShapes;
}

inline ModelSpec spec_of(const Shape& s) {
  LayerSpec layer;
  layer.norms = s.norms;
  AttentionSpec& a = layer.attention;
  a.heads = s.heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = a.v_head_dim = s.head_dim;
  a.qkv_bias = s.qkv_bias;
  a.qk_norm = s.qk_norm;
  a.qk_norm_dim_q = a.qk_norm_dim_k = s.head_dim;
  FeedForwardSpec& f = layer.feed_forward;
  f.intermediate = s.experts == 0 ? s.inner : 0;
  f.experts = s.experts;
  f.experts_per_token = s.experts_per_token;
  f.expert_intermediate = s.experts == 0 ? 0 : s.inner;
  a.o_bias = a.sinks = f.router_bias = f.expert_bias = s.gpt_oss;
  ModelSpec spec;
  spec.id = s.name;
  spec.family = s.family;
  spec.hidden = s.hidden;
  spec.vocabulary = s.vocabulary;
  spec.tied_embeddings = s.tied;
  spec.layers.assign(static_cast<std::size_t>(s.layers), layer);
  return spec;
}

/// DeepSeek's latent attention and shared experts: V2 Lite and V3/R1.
inline ModelSpec deepseek(bool lite) {
  ModelSpec spec;
  spec.id = lite ? "deepseek-v2-lite" : "deepseek-r1";
  spec.family = lite ? "deepseek-v2" : "deepseek-v3";
  spec.hidden = lite ? 2048 : 7168;
  spec.vocabulary = lite ? 102400 : 129280;
  LayerSpec layer;
  AttentionSpec& a = layer.attention;
  a.kind = AttentionKind::mla;
  a.heads = a.kv_heads = lite ? 16 : 128;
  a.q_lora_rank = lite ? 0 : 1536;
  a.kv_lora_rank = 512;
  a.qk_nope_head_dim = 128;
  a.qk_rope_head_dim = 64;
  a.head_dim = 192;
  a.v_head_dim = 128;
  FeedForwardSpec& f = layer.feed_forward;
  f.intermediate = lite ? 10944 : 18432;
  spec.layers.assign(lite ? 1 : 3, layer);
  f.intermediate = 0;
  f.experts = lite ? 64 : 256;
  f.experts_per_token = lite ? 6 : 8;
  f.expert_intermediate = lite ? 1408 : 2048;
  f.shared_intermediate = lite ? 2 * 1408 : 2048;
  f.router_bias = !lite;
  spec.layers.resize(lite ? 27 : 61, layer);
  return spec;
}

inline ModelSpec spec_named(std::string_view name) {
  for (const Shape& s : shapes()) {
    if (s.name == name) return spec_of(s);
  }
  return deepseek(name == "deepseek-v2-lite");
}

}  // namespace cairn::test
