// Writes the seed corpora: small inputs of each kind.
//   fuzz_seeds FOLDER
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench_output_seeds.h"

namespace {

template <class T>
void put(std::string& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> size;
};

// One layer of an architecture, every tensor in 32 bits.
std::vector<Tensor> tensors(std::string_view architecture) {
  std::vector<Tensor> out = {{"token_embd.weight", {8, 4}}, {"output_norm.weight", {8}}};
  const auto add = [&](std::string_view name, std::vector<std::uint64_t> size) {
    out.push_back({"blk.0." + std::string(name), std::move(size)});
  };
  add("attn_norm.weight", {8});
  add("ffn_norm.weight", {8});
  add("attn_output.weight", {8, 8});
  if (architecture == "phi3") {
    add("attn_qkv.weight", {8, 24});
    add("ffn_up.weight", {8, 8});
    add("ffn_down.weight", {4, 8});
    return out;
  }
  if (architecture == "deepseek2") {
    add("attn_q.weight", {8, 8});
    add("attn_kv_a_mqa.weight", {8, 6});
    add("attn_kv_a_norm.weight", {4});
    add("attn_k_b.weight", {2, 4, 2});
    add("attn_v_b.weight", {4, 4, 2});
  } else {
    add("attn_q.weight", {8, 8});
    add("attn_k.weight", {8, 8});
    add("attn_v.weight", {8, 8});
  }
  if (architecture == "qwen3moe") {
    add("ffn_gate_inp.weight", {8, 2});
    add("ffn_gate_exps.weight", {8, 4, 2});
    add("ffn_up_exps.weight", {8, 4, 2});
    add("ffn_down_exps.weight", {4, 8, 2});
    return out;
  }
  add("ffn_gate.weight", {8, 4});
  add("ffn_up.weight", {8, 4});
  add("ffn_down.weight", {4, 8});
  return out;
}

std::string gguf(const std::string& architecture) {
  constexpr std::uint32_t kU32 = 4;
  const std::vector<std::pair<std::string, std::uint32_t>> numbers = {
      {".block_count", 1},
      {".context_length", 16},
      {".embedding_length", 8},
      {".attention.head_count", 2},
      {".attention.key_length_mla", 4},
      {".attention.value_length_mla", 4},
      {".attention.kv_lora_rank", 4},
      {".rope.dimension_count", 2},
      {".attention.sliding_window", 4},
      {".expert_count", 2},
      {".expert_used_count", 1}};
  const auto list = tensors(architecture);
  std::string out;
  put(out, std::uint32_t{0x46554747});
  put(out, std::uint32_t{3});
  put(out, static_cast<std::uint64_t>(list.size()));
  put(out, static_cast<std::uint64_t>(numbers.size() + 2));
  put_text(out, "general.architecture");
  put(out, std::uint32_t{8});
  put_text(out, architecture);
  put_text(out, "tokenizer.ggml.tokens");
  put(out, std::uint32_t{9});
  put(out, std::uint32_t{8});
  put(out, std::uint64_t{2});
  put_text(out, "a");
  put_text(out, "b");
  for (const auto& [key, value] : numbers) {
    put_text(out, architecture + key);
    put(out, kU32);
    put(out, value);
  }
  std::uint64_t offset = 0;
  for (const Tensor& t : list) {
    put_text(out, t.name);
    put(out, static_cast<std::uint32_t>(t.size.size()));
    std::uint64_t bytes = 4;
    for (const std::uint64_t n : t.size) {
      put(out, n);
      bytes *= n;
    }
    put(out, std::uint32_t{0});
    put(out, offset);
    offset += (bytes + 31) / 32 * 32;
  }
  out.resize((out.size() + 31) / 32 * 32 + offset, '\0');
  return out;
}

std::string safetensors(std::string_view json, std::size_t data) {
  std::string out;
  put_text(out, json);
  out.resize(out.size() + data, '\0');
  return out;
}

std::string config(std::string_view architecture, std::string_view more) {
  return R"({"architectures":[")" + std::string(architecture) +
         R"("],"hidden_size":8,"intermediate_size":4,"num_hidden_layers":2,)"
         R"("num_attention_heads":2,"num_key_value_heads":2,"vocab_size":4,)"
         R"("max_position_embeddings":16,"torch_dtype":"bfloat16")" +
         std::string(more) + "}";
}

struct Seed {
  std::string target;
  std::string name;
  std::string bytes;
};

// One configuration for each way to say how weights are quantised.
void add_quantised(std::vector<Seed>& out) {
  const std::array<std::pair<std::string, std::string>, 6> quantised = {{
      {"modelopt", R"({"quant_algo":"MIXED_PRECISION","quantized_layers":{
          "model.layers.0.mlp.up_proj":{"quant_algo":"FP8"}},"exclude_modules":["lm_head*"]})"},
      {"compressed_tensors", R"({"quant_method":"compressed-tensors","ignore":["re:.*(q|k)_proj"],
          "config_groups":{"group_0":{"targets":["Linear"],"weights":{"num_bits":4,"type":"int",
          "strategy":"group","group_size":32,"symmetric":false}}}})"},
      {"quark", R"({"quant_method":"quark","exclude":["lm_head"],"layer_quant_config":{"*o_proj":
          {"weight":null}},"global_quant_config":{"weight":{"dtype":"fp4","qscheme":"per_group",
          "group_size":32}}})"},
      {"gptq", R"({"quant_method":"gptq","bits":4,"group_size":128,"lm_head":true,"dynamic":{
          "-:.*down.*":{}}})"},
      {"mlx", R"({"group_size":64,"bits":4,"lm_head":false})"},
      {"bitsandbytes", R"({"quant_method":"bitsandbytes","load_in_4bit":true})"},
  }};
  for (const auto& [name, q] : quantised) {
    out.push_back(
        {"config_json", name, config("LlamaForCausalLM", ",\"quantization_config\":" + q)});
  }
}

// State spaces and states of other patterns, and a model that hears and speaks.
void add_hybrids(std::vector<Seed>& out) {
  const std::string tokenizer = R"({"vae_dim":2,"encoder_n_filters":1,"encoder_depths":)"
                                R"("1-1-1-1-1-1-1","encoder_ratios":[2,2,2,2,2,2]})";
  const std::array<std::array<std::string, 3>, 5> hybrids = {{
      {"zamba2", "Zamba2ForCausalLM",
       R"(,"layers_block_type":["mamba","hybrid"],"n_mamba_heads":2,"adapter_rank":2,)"
       R"("num_mem_blocks":1,"use_shared_attention_adapter":true)"},
      {"plamo2", "Plamo2ForCausalLM",
       R"(,"hidden_size_per_head":4,"mamba_num_heads":2,"full_attention_idx":[1])"},
      {"hymba", "HymbaForCausalLM",
       R"(,"global_attn_idx":[0],"sliding_window":4,"kv_reuse_group":[[0,1]],)"
       R"("num_memory_tokens":2,"mamba_dt_rank":2)"},
      {"lfm2", "Lfm2ForCausalLM", R"(,"full_attn_idxs":[1],"conv_L_cache":3)"},
      {"bamba", "BambaForCausalLM",
       R"(,"attn_layer_indices":[1],"mamba_n_heads":2,"mamba_d_state":2,"mamba_d_conv":4)"},
  }};
  for (const auto& [name, architecture, more] : hybrids) {
    out.push_back({"config_json", name, config(architecture, more)});
  }
  out.push_back({"config_json", "rwkv4",
                 R"({"architectures":["RwkvForCausalLM"],"model_type":"rwkv","hidden_size":8,)"
                 R"("num_hidden_layers":2,"vocab_size":4,"attention_hidden_size":8})"});
  out.push_back({"config_json", "vibevoice",
                 R"({"architectures":["VibeVoiceForConditionalGeneration"],"decoder_config":)" +
                     config("Qwen2ForCausalLM", "") + R"(,"acoustic_tokenizer_config":)" +
                     tokenizer + R"(,"semantic_tokenizer_config":)" + tokenizer +
                     R"(,"diffusion_head_config":{"hidden_size":8}})"});
  out.push_back({"config_json", "gemma3n",
                 R"({"architectures":["Gemma3nForConditionalGeneration"],"text_config":)" +
                     config("Gemma3nForCausalLM", R"(,"num_kv_shared_layers":1)") +
                     R"(,"vision_config":{"vocab_size":2},"audio_config":{"hidden_size":8,)"
                     R"("conf_num_hidden_layers":1}})"});
}

std::vector<Seed> seeds() {
  std::vector<Seed> out;
  for (const std::string a : {"llama", "phi3", "deepseek2", "qwen3moe", "gemma3"}) {
    out.push_back({"gguf", a, gguf(a)});
  }
  out.push_back({"safetensors", "two",
                 safetensors(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[2,3],)"
                             R"("data_offsets":[0,12]},"b":{"dtype":"F4","shape":[4],)"
                             R"("data_offsets":[12,14]}})",
                             14)});
  out.push_back({"safetensors", "none", safetensors("{}", 0)});
  out.push_back({"config_json", "llama", config("LlamaForCausalLM", "")});
  out.push_back({"config_json", "qwen3", config("Qwen3ForCausalLM", R"(,"head_dim":4)")});
  out.push_back(
      {"config_json", "mixtral",
       config("MixtralForCausalLM", R"(,"num_local_experts":2,"num_experts_per_tok":1)")});
  out.push_back({"config_json", "fp8",
                 config("LlamaForCausalLM", R"(,"quantization_config":{"quant_method":"fp8",)"
                                            R"("weight_block_size":[128,128]})")});
  add_quantised(out);
  add_hybrids(out);
  out.push_back({"config_json", "deepseek",
                 config("DeepseekV3ForCausalLM",
                        R"(,"kv_lora_rank":4,"q_lora_rank":4,"qk_nope_head_dim":2,)"
                        R"("qk_rope_head_dim":2,"v_head_dim":4,"n_routed_experts":2,)"
                        R"("num_experts_per_tok":1,"moe_intermediate_size":4,)"
                        R"("n_shared_experts":1,"first_k_dense_replace":1)")});
  out.push_back({"yaml", "kinds",
                 "a: 1\nb: [x, 1.5e3, null, true]\nc:\n  d: |\n    text\n  e: \"q\\u00e9\"\n"});
  out.push_back({"yaml", "refused", "a: &x 1\nb: *x\n--- !t\nc: <<\n"});
  out.push_back({"plan", "whole",
                 "model: llama-3.1-70b\nworkload: {rate: 20, input: 2048, output: 256}\n"
                 "limits: {ttft_ms: 1000, tpot_ms: 50, power_w: 3000, cards: 8}\n"
                 "budget: {amount: 6000, currency: CNY}\nowned: {rx-7900-xtx: 2}\n"
                 "money: {currency: EUR, pue: 1.3}\nvendor: amd\nengines: [vllm]\n"
                 "weights: [fp8]\nkv: fp8\nobjective: latency\ntop: 3\n"});
  out.push_back({"plan", "absurd", "workload: {rate: -1, input: 1e400}\nowned: [1]\n"});
  out.push_back(
      {"evidence", "inference",
       "id,source,gpu,devices,model,weights,engine,metric,value,unit,input_len,output_len,"
       "length_kind,range_ratio,batch,rate,tp,scenario,benchmark,aiter,build,notes\n"
       "a-1,own,mi300x,8,Qwen/Qwen3-8B,fp8,vllm,output_tokens_per_s,10.5,tok/s,1024,128,"
       "uniform,0.8,64,inf,8,serving,,true,,\"k=v; l\"\n"
       "a-2,,mi50,1,llama 7B,q4_0,llama.cpp,decode_tokens_per_s,80,tok/s,0,128,,,1,,,"
       "llama-bench,,false,7356,\n"});
  out.push_back({"evidence", "micro",
                 "id,gpu,what,dtype,m,n,k,metric,value,unit,library,partition\n"
                 "m-1,mi300x,gemm,fp8,128,256,512,tflops,900,TFLOPS,rocblas,cpx/nps4\n"});
  out.push_back(
      {"evidence", "sources",
       "key,url,date,kind,campaign,confirmed\np,https://a.org,2026-01,community,a,true\n"});
  out.push_back({"csv", "plain", "a,b,c\n1,,\"x\"\"y\"\r\n2.5,z,\"two\nlines\"\n"});
  for (auto& [name, text] : cairn::fuzz::bench_output_seeds()) {
    out.push_back({"bench_output", std::move(name), std::move(text)});
  }
  out.push_back({"csv", "marked",
                 "\xef\xbb\xbf"
                 "a,b\n1,2"});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fuzz_seeds FOLDER\n", stderr);
    return 2;
  }
  for (const Seed& seed : seeds()) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / seed.target;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / seed.name, std::ios::binary) << seed.bytes;
  }
  return 0;
}
