// Safetensors headers, sharded checkpoints, and models from any path.
#include "cairn/model/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cairn/model/model_file.h"
#include "gguf_writer.h"

namespace cairn {
namespace {

using test::Bytestring;
using test::facts;
using test::TemporaryFolder;
using test::value_of;

// A file: length, JSON, and so many bytes of data.
std::string file_of(std::string_view json, std::uint64_t data) {
  std::string out = Bytestring().put(static_cast<std::uint64_t>(json.size())).bytes;
  out += json;
  out.resize(out.size() + data, '\0');
  return out;
}

Result<SafetensorsFile> parse(std::string_view bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "test.safetensors");
}

TEST(Safetensors, TensorsInTheOrderOfTheirData) {
  const SafetensorsFile f = value_of(parse(file_of(R"({"__metadata__":{"format":"pt"},
    "b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]},
    "a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},
    "scalar":{"dtype":"F8_E4M3","shape":[],"data_offsets":[24,25]},
    "none":{"dtype":"I64","shape":[0,7],"data_offsets":[25,25]},
    "packed":{"dtype":"F4","shape":[2,3],"data_offsets":[25,28]}})",
                                                   28)));
  ASSERT_EQ(f.tensors.size(), 5U);
  EXPECT_EQ(f.tensors[0].name, "a");
  EXPECT_EQ(f.tensors[0].weights, 6);
  EXPECT_EQ(f.tensors[1].name, "b");
  EXPECT_EQ(f.tensors[2].weights, 1);
  EXPECT_EQ(f.tensors[3].bytes, 0U);
  EXPECT_EQ(f.tensors[4].bytes, 3U);  // 6 numbers of 4 bits
  EXPECT_EQ(f.file_bytes, f.header_bytes + 28);
}

TEST(Safetensors, HostileFilesAreOneLineOfError) {
  const auto one = [](std::string_view tensor, std::uint64_t data) {
    return file_of(R"({"a":)" + std::string(tensor) + "}", data);
  };
  const std::vector<std::pair<std::string, std::string_view>> files = {
      {"", "ends in the middle"},
      {"1234567", "ends in the middle"},
      {Bytestring().put(std::uint64_t{0} - 1).bytes + "{}", "longer than can be"},
      {Bytestring().put(std::uint64_t{100}).bytes + "{}", "longer than can be"},
      {file_of("[]", 0), "no JSON object"},
      {file_of("{", 0), "test.safetensors"},
      {file_of(R"({"a":1})", 0), "not a tensor"},
      {one(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", 4), "unknown dtype"},
      {one(R"({"dtype":"F32","shape":4,"data_offsets":[0,4]})", 4), "not a shape"},
      {one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4), "out of range"},
      {one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})", 4),
       "out of range"},
      {one(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", 4), "1.5"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,5]})", 5), "not the size of the shape"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4), "not the size of the shape"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[-4,0]})", 4), "negative offset"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", 4), "not a pair"},
      {one(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", 2), "not the size of the shape"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8), "a gap between tensors"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 3), "truncated"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 5), "after the last tensor"},
      {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1})", 4), "more"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
                   "b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
               6),
       "tensors overlap"},
      {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},
                   "a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
               8),
       "a"},
      {file_of(std::string(200000, '['), 0), "no JSON object"},
      {file_of(R"({"a":)" + std::string(200000, '['), 0), "test.safetensors"},
  };
  for (const auto& [bytes, message] : files) {
    const auto file = parse(bytes);
    ASSERT_FALSE(file) << bytes.substr(0, 100);
    const std::string line = file.error().to_string();
    EXPECT_NE(line.find(message), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(file.error().kind, ErrorKind::bad_input) << line;
  }
}

// ---- a small Llama with its checkpoint -----------------------------------------

constexpr std::string_view kConfig = R"({"architectures":["LlamaForCausalLM"],
  "model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,
  "num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,
  "max_position_embeddings":512,"tie_word_embeddings":false,"torch_dtype":"bfloat16"})";

struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
};

std::vector<Entry> llama_tensors() {
  std::vector<Entry> out = {{"model.embed_tokens.weight", {100, 64}},
                            {"model.norm.weight", {64}},
                            {"lm_head.weight", {100, 64}}};
  for (const std::string i : {"0", "1"}) {
    const std::string layer = "model.layers." + i + ".";
    out.push_back({layer + "input_layernorm.weight", {64}});
    out.push_back({layer + "post_attention_layernorm.weight", {64}});
    out.push_back({layer + "self_attn.q_proj.weight", {64, 64}});
    out.push_back({layer + "self_attn.k_proj.weight", {32, 64}});
    out.push_back({layer + "self_attn.v_proj.weight", {32, 64}});
    out.push_back({layer + "self_attn.o_proj.weight", {64, 64}});
    out.push_back({layer + "mlp.gate_proj.weight", {96, 64}});
    out.push_back({layer + "mlp.up_proj.weight", {96, 64}});
    out.push_back({layer + "mlp.down_proj.weight", {64, 96}});
  }
  return out;
}

std::string safetensors(const std::vector<Entry>& entries) {
  std::string json;
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    std::uint64_t bytes = 2;
    std::string shape;
    for (const std::int64_t n : e.shape) {
      bytes *= static_cast<std::uint64_t>(n);
      shape += (shape.empty() ? "" : ",") + std::to_string(n);
    }
    json += fmt::format(R"({}"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})",
                        json.empty() ? "" : ",", e.name, shape, at, at + bytes);
    at += bytes;
  }
  return file_of("{" + json + "}", at);
}

// 2 * 100 * 64 + 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 96 * 64)
constexpr std::int64_t kWeights = 12864 + 2 * (128 + 8192 + 4096 + 18432);

Result<LoadedModel> load(const std::string& path) {
  return load_model_path(path, facts().types, facts().formats);
}

TEST(ModelFile, FolderWithOneFile) {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  const LoadedModel bare = value_of(load(folder.path()));
  EXPECT_EQ(bare.kind, ModelFileKind::config);
  EXPECT_FALSE(bare.weights);
  folder.write("model.safetensors", safetensors(llama_tensors()));
  const LoadedModel m = value_of(load(folder.path()));
  EXPECT_EQ(m.kind, ModelFileKind::checkpoint);
  EXPECT_EQ(m.check->counted, kWeights);
  EXPECT_EQ(m.check->expected, kWeights);
  EXPECT_EQ(m.weights->total(m.graph).value(), 2.0 * kWeights);
  EXPECT_EQ(value_of(load(folder.file("config.json"))).graph.spec.hidden, 64);
  EXPECT_TRUE(load(folder.file("model.safetensors")));
}

TEST(ModelFile, CheckpointOfAnotherModel) {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  auto tensors = llama_tensors();
  tensors[5].shape = {64, 32};
  folder.write("model.safetensors", safetensors(tensors));
  const auto m = load(folder.path());
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().kind, ErrorKind::bad_input);
  EXPECT_NE(m.error().message.find(fmt::format("{} weights", kWeights - 64 * 32)),
            std::string::npos);
}

// A head stored again though it is the table, a drafting layer, an image tower and
// rotary buffers do not count against a checkpoint.
TEST(ModelFile, WhatTheGraphDoesNotHoldIsLeftOut) {
  const TemporaryFolder folder;
  std::string config(kConfig);
  config.replace(config.find("false"), 5, "true");
  folder.write("config.json", config);
  auto tensors = llama_tensors();
  tensors.push_back({"model.layers.2.mlp.up_proj.weight", {96, 64}});
  tensors.push_back({"visual.patch_embed.weight", {10, 10}});
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {8}});
  folder.write("model.safetensors", safetensors(tensors));
  const LoadedModel m = value_of(load(folder.path()));
  EXPECT_EQ(m.check->counted, kWeights - 6400);
  EXPECT_EQ(m.other_bytes.value(), 2.0 * (6400 + 6144 + 100 + 8));
}

// A BERT as it is published: the head for pairs, a pooler and the decoder that is the
// table again are not what its configuration names; numbers of positions are no weights.
TEST(ModelFile, CheckpointsOfEncoders) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"architectures":["BertForMaskedLM"],"model_type":"bert",
    "hidden_size":64,"intermediate_size":96,"num_hidden_layers":1,"num_attention_heads":4,
    "vocab_size":100,"max_position_embeddings":32,"type_vocab_size":2})");
  std::vector<Entry> tensors = {{"bert.embeddings.word_embeddings.weight", {100, 64}},
                                {"bert.embeddings.position_embeddings.weight", {32, 64}},
                                {"bert.embeddings.token_type_embeddings.weight", {2, 64}},
                                {"bert.embeddings.LayerNorm.weight", {64}},
                                {"bert.embeddings.LayerNorm.bias", {64}},
                                {"cls.predictions.bias", {100}},
                                {"cls.predictions.transform.dense.weight", {64, 64}},
                                {"cls.predictions.transform.dense.bias", {64}},
                                {"cls.predictions.transform.LayerNorm.weight", {64}},
                                {"cls.predictions.transform.LayerNorm.bias", {64}}};
  const std::string layer = "bert.encoder.layer.0.";
  for (const std::string name : {"attention.self.query", "attention.self.key",
                                 "attention.self.value", "attention.output.dense"}) {
    tensors.push_back({layer + name + ".weight", {64, 64}});
    tensors.push_back({layer + name + ".bias", {64}});
  }
  for (const std::string name : {"attention.output.LayerNorm", "output.LayerNorm"}) {
    tensors.push_back({layer + name + ".weight", {64}});
    tensors.push_back({layer + name + ".bias", {64}});
  }
  tensors.push_back({layer + "intermediate.dense.weight", {96, 64}});
  tensors.push_back({layer + "intermediate.dense.bias", {96}});
  tensors.push_back({layer + "output.dense.weight", {64, 96}});
  tensors.push_back({layer + "output.dense.bias", {64}});
  std::int64_t held = 0;
  for (const Entry& e : tensors) held += e.shape[0] * (e.shape.size() > 1 ? e.shape[1] : 1);
  tensors.push_back({"bert.pooler.dense.weight", {64, 64}});
  tensors.push_back({"cls.seq_relationship.weight", {2, 64}});
  tensors.push_back({"cls.predictions.decoder.weight", {100, 64}});
  tensors.push_back({"bert.embeddings.position_ids", {1, 32}});
  folder.write("model.safetensors", safetensors(tensors));
  const LoadedModel m = value_of(load(folder.path()));
  EXPECT_EQ(m.check->counted, held);
  EXPECT_EQ(m.check->expected, held);
  EXPECT_EQ(m.other_bytes.value(), 2.0 * (4096 + 128 + 6400 + 32));
}

// An encoder may have more layers than its decoder, and tables are stored twice.
TEST(ModelFile, CheckpointsOfEncoderDecoders) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"architectures":["T5ForConditionalGeneration"],
    "model_type":"t5","d_model":64,"d_kv":16,"d_ff":96,"num_heads":4,"num_layers":2,
    "num_decoder_layers":1,"vocab_size":100,"n_positions":32,
    "relative_attention_num_buckets":8})");
  std::vector<Entry> tensors = {{"shared.weight", {100, 64}}};
  const auto block = [&](const std::string& side, int layer) {
    const std::string at = side + ".block." + std::to_string(layer) + ".layer.";
    const bool decodes = side == "decoder";
    for (const std::string name : {"q", "k", "v", "o"}) {
      tensors.push_back({at + "0.SelfAttention." + name + ".weight", {64, 64}});
      if (decodes) tensors.push_back({at + "1.EncDecAttention." + name + ".weight", {64, 64}});
    }
    const std::string last = decodes ? "2" : "1";
    tensors.push_back({at + "0.layer_norm.weight", {64}});
    if (decodes) tensors.push_back({at + "1.layer_norm.weight", {64}});
    tensors.push_back({at + last + ".layer_norm.weight", {64}});
    tensors.push_back({at + last + ".DenseReluDense.wi.weight", {96, 64}});
    tensors.push_back({at + last + ".DenseReluDense.wo.weight", {64, 96}});
    if (layer == 0) {
      tensors.push_back({at + "0.SelfAttention.relative_attention_bias.weight", {8, 4}});
    }
  };
  block("encoder", 0);
  block("encoder", 1);
  block("decoder", 0);
  tensors.push_back({"encoder.final_layer_norm.weight", {64}});
  tensors.push_back({"decoder.final_layer_norm.weight", {64}});
  std::int64_t held = 0;
  for (const Entry& e : tensors) held += e.shape[0] * (e.shape.size() > 1 ? e.shape[1] : 1);
  tensors.push_back({"encoder.embed_tokens.weight", {100, 64}});
  tensors.push_back({"decoder.embed_tokens.weight", {100, 64}});
  tensors.push_back({"lm_head.weight", {100, 64}});
  folder.write("model.safetensors", safetensors(tensors));
  const LoadedModel m = value_of(load(folder.path()));
  EXPECT_EQ(m.check->counted, held);
  EXPECT_EQ(m.weights->total(m.graph).value(), 2.0 * static_cast<double>(held));
}

TEST(ModelFile, ShardedCheckpoints) {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  const auto tensors = llama_tensors();
  const std::vector<Entry> first(tensors.begin(), tensors.begin() + 8);
  const std::vector<Entry> second(tensors.begin() + 8, tensors.end());
  folder.write("model-00001-of-00002.safetensors", safetensors(first));
  folder.write("model-00002-of-00002.safetensors", safetensors(second));
  std::string map;
  for (const Entry& e : tensors) {
    const bool early = &e - tensors.data() < 8;
    map += fmt::format(R"({}"{}":"model-0000{}-of-00002.safetensors")", map.empty() ? "" : ",",
                       e.name, early ? 1 : 2);
  }
  folder.write("model.safetensors.index.json",
               R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
  EXPECT_EQ(value_of(load(folder.path())).check->counted, kWeights);
  EXPECT_TRUE(load(folder.file("model-00001-of-00002.safetensors")));
  const auto checkpoint = value_of(read_checkpoint(folder.path()));
  EXPECT_EQ(checkpoint->files, 2U);
  EXPECT_EQ(checkpoint->bytes_by_dtype().size(), 1U);
  EXPECT_EQ(checkpoint->bytes_by_dtype()[0].second, 2U * kWeights);

  // A tensor that is not where the index says, a missing file, a file elsewhere.
  folder.write("model-00002-of-00002.safetensors", safetensors({second.begin(), second.end() - 1}));
  EXPECT_EQ(load(folder.path()).error().field, second.back().name);
  std::filesystem::remove(folder.file("model-00002-of-00002.safetensors"));
  EXPECT_EQ(load(folder.path()).error().where, folder.file("model-00002-of-00002.safetensors"));
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"../x.safetensors"}})");
  EXPECT_EQ(load(folder.path()).error().field, "weight_map");
}

// Packed integers are compared by bytes: 2 % beyond what GPTQ leads to expect.
TEST(ModelFile, PackedCheckpoints) {
  const TemporaryFolder folder;
  std::string config(kConfig);
  config.insert(config.size() - 1,
                R"(,"quantization_config":{"quant_method":"gptq","bits":4,"group_size":128})");
  folder.write("config.json", config);
  const LoadedModel bare = value_of(load(folder.path()));
  const double expected =
      value_of(facts().formats.bind(bare.graph, "gptq-int4")).total(bare.graph).value();
  const auto of = [&](double bytes) {
    const auto n = static_cast<std::uint64_t>(bytes / 4) * 4;
    folder.write(
        "model.safetensors",
        file_of(
            fmt::format(R"({{"x.qweight":{{"dtype":"I32","shape":[{}],"data_offsets":[0,{}]}}}})",
                        n / 4, n),
            n));
    return load(folder.path()).has_value();
  };
  EXPECT_TRUE(of(expected));
  EXPECT_TRUE(of(expected * 1.015));
  EXPECT_FALSE(of(expected * 1.03));
  EXPECT_FALSE(of(expected * 0.5));
}

TEST(ModelFile, GgufFiles) {
  const TemporaryFolder folder;
  const Graph graph = build_graph(value_of(load(folder.write("config.json", kConfig))).graph.spec);
  const test::GgufWriter w = test::write_model(graph, "llama", "q8_0");
  const LoadedModel m = value_of(load(folder.write("m.gguf", w.file())));
  EXPECT_EQ(m.kind, ModelFileKind::gguf);
  EXPECT_EQ(m.graph.spec.published_format, "q8_0");
  EXPECT_EQ(m.file_bytes.value(), static_cast<double>(w.file().size()));
  // 5 norms of 64 weights in 32 bits, the rest in 8.5.
  EXPECT_EQ(m.weights->total(m.graph).value(), 5 * 64 * 4 + (kWeights - 5 * 64) * 8.5 / 8);
}

TEST(ModelFile, WhatAPathIsNot) {
  const TemporaryFolder folder;
  EXPECT_EQ(load(folder.file("nothing")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(load(folder.path()).error().message, "a folder without config.json");
  EXPECT_EQ(load(folder.write("notes.txt", "x")).error().kind, ErrorKind::bad_input);
  EXPECT_EQ(load(folder.write("a.safetensors", "x")).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(looks_like_path("x.gguf"));
  EXPECT_TRUE(looks_like_path("./model"));
  EXPECT_TRUE(looks_like_path(folder.path()));
  EXPECT_FALSE(looks_like_path("Qwen/Qwen3-8B"));
}

}  // namespace
}  // namespace cairn
