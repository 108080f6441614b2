// The architectures of decoders that GGUF files name; for gguf_spec.cpp alone.
#pragma once

#include <array>
#include <string_view>

namespace cairn {

// Layer i attends to everything where i % period == period - 1, and to a window
// otherwise (llama.cpp's set_swa_pattern); period 1: every layer has the window
// that the metadata gives.
struct GgufArchitecture {
  std::string_view name;
  std::string_view family;
  int window_period = 0;         // 0: no windows
  bool chunked = false;          // the window is a chunk
  bool layers_of_parts = false;  // a layer is a mixer or a feed-forward alone
  bool head_gates = false;       // attn_gate has a row for each head (Step 3.5)
};

inline constexpr std::array<GgufArchitecture, 67> kGgufArchitectures = {{
    {"arcee", "arcee"},
    {"baichuan", "baichuan"},
    {"chatglm", "glm4"},
    {"codeshell", "codeshell"},
    {"cohere2", "cohere2", 4},
    {"command-r", "cohere"},
    {"dbrx", "dbrx"},
    {.name = "deci", .family = "decilm", .layers_of_parts = true},
    {"deepseek", "deepseek"},
    {"deepseek2", "deepseek-v3"},
    {"deepseek32", "deepseek-v3.2"},
    {"deepseek4", "deepseek-v4"},
    {"dots1", "dots1"},
    {"ernie4_5", "ernie4.5"},
    {"ernie4_5-moe", "ernie4.5-moe"},
    {"exaone", "exaone"},
    {"exaone4", "exaone4", 4},
    {"falcon", "falcon"},
    {"falcon-h1", "falcon-h1"},
    {"gemma", "gemma"},
    {"gemma2", "gemma2", 2},
    {"gemma3", "gemma3", 6},
    {"gemma3n", "gemma3n", 5},
    {"gemma4", "gemma4", 6},
    {"glm-dsa", "glm-dsa"},
    {"glm4", "glm4-0414"},
    {"glm4moe", "glm4-moe"},
    {"gpt-oss", "gpt-oss", 2},
    {"gpt2", "gpt2"},
    {"gptneox", "gpt-neox"},
    {"granite", "granite"},
    {"granitehybrid", "granite-hybrid"},
    {"granitemoe", "granite-moe"},
    {"hunyuan-dense", "hunyuan"},
    {"hunyuan-moe", "hunyuan-moe"},
    {"internlm2", "internlm2"},
    {"jamba", "jamba"},
    {"kimi-linear", "kimi-linear"},
    {"lfm2", "lfm2"},
    {"lfm2moe", "lfm2-moe"},
    {"llama", "llama"},
    {"llama4", "llama4", 4, true},
    {.name = "mamba", .family = "mamba", .layers_of_parts = true},
    {.name = "mamba2", .family = "mamba2", .layers_of_parts = true},
    {"minimax-m2", "minimax-m2"},
    {"minimax-m3", "minimax-m3"},
    {"mistral3", "mistral"},
    {.name = "nemotron_h", .family = "nemotron-h", .layers_of_parts = true},
    {.name = "nemotron_h_moe", .family = "nemotron-h", .layers_of_parts = true},
    {"olmo", "olmo"},
    {"olmo2", "olmo2", 4},
    {"olmoe", "olmoe"},
    {"orion", "orion"},
    {"phi2", "phi"},
    {"phi3", "phi3", 1},
    {"qwen2", "qwen2"},
    {"qwen2moe", "qwen2-moe"},
    {"qwen3", "qwen3"},
    {"qwen35", "qwen3.5"},
    {"qwen35moe", "qwen3.5-moe"},
    {"qwen3moe", "qwen3-moe"},
    {"qwen3next", "qwen3-next"},
    {"rwkv6", "rwkv6"},
    {"rwkv7", "rwkv7"},
    {"stablelm", "stablelm"},
    {"starcoder2", "starcoder2"},
    {.name = "step35", .family = "step3.5", .window_period = 4, .head_gates = true},
}};

}  // namespace cairn
