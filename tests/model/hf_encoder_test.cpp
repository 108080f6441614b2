// Encoders, encoder-decoders and towers against the counts of transformers, published
// checkpoints, and hand arithmetic.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cairn/data/json.h"
#include "cairn/data/yaml.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_config.h"
#include "cairn/model/model_file.h"
#include "facts.h"

namespace cairn {
namespace {

using test::value_of;

Result<ModelSpec> read(const std::string& text) {
  const Document document = value_of(parse_json(text, "config.json"));
  return spec_from_hf_config(document.root(), "test/model");
}

std::int64_t total(const ModelSpec& spec) { return count_parameters(build_graph(spec)).total; }

// Weights of a role, and of biases on tensors of a role.
std::int64_t weights_of(const Graph& graph, TensorRole role, bool biases) {
  std::int64_t sum = 0;
  for (const Tensor& t : graph.tensors) {
    if (biases ? t.role == TensorRole::bias && t.owner == role : t.role == role) {
      sum += t.weights();
    }
  }
  return sum;
}

const ModelSpec* part(const ModelSpec& spec, ModelPart kind) {
  for (const ModelSpec& p : spec.parts) {
    if (p.part == kind) return &p;
  }
  return nullptr;
}

std::string shared(const std::string& path) {
  return std::string(CAIRN_SOURCE_DIR) + "/../shared/models/hf/" + path;
}

TEST(HfEncoder, CountsAreThoseOfTransformers) {
  const Document document =
      value_of(load_yaml(std::string(CAIRN_SOURCE_DIR) + "/tests/model/transformers_counts.yaml"));
  const Node models = value_of(document.root().required("models"));
  ASSERT_GE(models.size(), 50U);
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    const Node config = value_of(models.at(i).required("config"));
    const auto name = value_of(config.get_strings("architectures")).front();
    const auto spec = spec_from_hf_config(config, "test/model");
    ASSERT_TRUE(spec) << name << ": " << spec.error().to_string();
    EXPECT_EQ(total(*spec), value_of(models.at(i).get_integer("parameters", 1, 1LL << 40))) << name;
  }
}

constexpr const char* kBert = R"({"architectures": ["BertForMaskedLM"], "model_type": "bert",
  "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
  "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512,
  "type_vocab_size": 2})";

// The files of bert-base-uncased hold 110,106,428 weights, those of roberta-base
// 124,697,947, as huggingface.js asserts
// (https://github.com/huggingface/huggingface.js/blob/main/packages/hub/src/lib/parse-safetensors-metadata.spec.ts).
TEST(HfEncoder, PublishedCheckpointsHoldMoreThanTheirConfigurationNames) {
  // BERT's has the pooler (768 x 768 + 768) and the head for pairs of sentences too.
  EXPECT_EQ(total(value_of(read(kBert))) + 768 * 768 + 768 + (2 * 768 + 2), 110106428);
  // RoBERTa's has the numbers of its 514 positions.
  const auto roberta = read(R"({"architectures": ["RobertaForMaskedLM"], "model_type": "roberta",
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "vocab_size": 50265, "max_position_embeddings": 514,
    "type_vocab_size": 1, "pad_token_id": 1})");
  EXPECT_EQ(total(value_of(roberta)) + 514, 124697947);
  // Positions 0 and 1 are those of padding.
  EXPECT_EQ(roberta->max_context, 512);
  EXPECT_EQ(roberta->position_embeddings, 514);
}

TEST(HfEncoder, KeepsNoCacheAndSeesBothWays) {
  const ModelSpec spec = value_of(read(kBert));
  for (const LayerSpec& layer : spec.layers) {
    EXPECT_EQ(kv_elements_per_token(layer.attention), 0);
    EXPECT_EQ(attended_positions(layer.attention, 0, 512), 512);
    EXPECT_TRUE(layer.norms_after);
  }
  EXPECT_FALSE(spec.final_norm);
  EXPECT_TRUE(spec.output_head);
}

TEST(HfEncoder, WhatIsNotUnderstoodIsRefusedByName) {
  const auto error_of = [](std::string from, const std::string& to) {
    std::string text = kBert;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    const auto spec = read(text.replace(at, from.size(), to));
    return spec ? std::string("accepted") : spec.error().to_string();
  };
  EXPECT_TRUE(error_of(R"("type_vocab_size": 2)",
                       R"("type_vocab_size": 2, "position_embedding_type": "relative_key")")
                  .contains("relative_key"));
  EXPECT_TRUE(error_of("BertForMaskedLM", "BertForNextSentencePrediction")
                  .contains("BertForNextSentencePrediction"));
  EXPECT_TRUE(error_of(R"("type_vocab_size": 2)", R"("type_vocab_size": 2, "num_mixers_layers": 3)")
                  .contains("num_mixers_layers"));
  EXPECT_TRUE(error_of(R"("num_attention_heads": 12)", R"("num_attention_heads": 7)")
                  .contains("num_attention_heads"));
  EXPECT_TRUE(error_of(R"("model_type": "bert")", R"("is_decoder": true)").contains("is_decoder"));
}

// Qwen2ForSequenceClassification: a row of the hidden size for each label, no head.
TEST(HfEncoder, ClassifiersOnDecoders) {
  const std::string shape = R"("hidden_size": 64, "intermediate_size": 160,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "vocab_size": 1000, "max_position_embeddings": 512, "model_type": "llama")";
  const ModelSpec head =
      value_of(read(R"({"architectures": ["LlamaForCausalLM"], )" + shape + "}"));
  const ModelSpec classes = value_of(read(
      R"({"architectures": ["LlamaForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"}, )" +
      shape + "}"));
  EXPECT_FALSE(classes.output_head);
  EXPECT_EQ(classes.architecture, "LlamaForSequenceClassification");
  EXPECT_EQ(total(classes), total(head) - 1000 * 64 + 3 * 64);
}

constexpr const char* kWhisper = R"({"architectures": ["WhisperForConditionalGeneration"],
  "model_type": "whisper", "d_model": 1280, "encoder_layers": 32, "decoder_layers": 4,
  "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120,
  "decoder_ffn_dim": 5120, "vocab_size": 51866, "num_mel_bins": 128,
  "max_source_positions": 1500, "max_target_positions": 448})";

TEST(HfEncoderDecoder, WhisperHasNoBiasesOnKeysAndCachesItsEncoderOnce) {
  const ModelSpec spec = value_of(read(kWhisper));
  // OpenAI names 809 million (https://github.com/openai/whisper#available-models-and-languages).
  EXPECT_NEAR(static_cast<double>(total(spec)), 809e6, 0.5e6);
  const Graph graph = build_graph(spec);
  ASSERT_EQ(graph.parts.size(), 1U);
  EXPECT_EQ(weights_of(graph, TensorRole::attn_k, true), 0);
  EXPECT_EQ(weights_of(graph, TensorRole::cross_attn_k, true), 0);
  EXPECT_EQ(weights_of(graph, TensorRole::cross_attn_v, true), 4 * 1280);
  EXPECT_EQ(weights_of(graph.parts[0], TensorRole::attn_k, true), 0);
  EXPECT_EQ(weights_of(graph.parts[0], TensorRole::attn_v, true), 32 * 1280);
  const ModelSpec* const encoder = part(spec, ModelPart::encoder);
  ASSERT_NE(encoder, nullptr);
  // Half a minute in frames of 10 ms, halved by the second convolution.
  EXPECT_EQ(encoder->positions, 30 * 100 / 2);
  const AttentionSpec& across = spec.layers.front().cross_attention;
  EXPECT_EQ(across.kind, AttentionKind::cross);
  EXPECT_EQ(across.window, 1500);
  EXPECT_EQ(kv_elements_per_token(across), 2 * 1280);
  EXPECT_TRUE(encoder->layers.front().attention.bidirectional);
}

// The index of T5 1.1 XXL's encoder (FLUX's second text encoder) gives 9,524,621,312 bytes
// in bf16; of Qwen2-Audio-7B 16,794,189,824.
TEST(HfEncoderDecoder, TotalSizesOfPublishedIndices) {
  struct Case {
    const char* config;
    const char* index;
  };
  const Case cases[] = {
      {"Qwen__Qwen2-Audio-7B-Instruct/config.json",
       "Qwen__Qwen2-Audio-7B-Instruct/model.safetensors.index.json"},
      {"stabilityai__stable-diffusion-3-medium-diffusers/text_encoder_3/config.json",
       "black-forest-labs__FLUX.1-dev/text_encoder_2/model.safetensors.index.json"}};
  for (const Case& c : cases) {
    if (!std::filesystem::exists(shared(c.index))) GTEST_SKIP() << "no shared files";
    const Document index = value_of(load_json(shared(c.index)));
    const Node meta = value_of(index.root().required("metadata"));
    EXPECT_EQ(2 * total(value_of(load_hf(shared(c.config)))),
              value_of(meta.get_integer("total_size", 1, 1LL << 40)))
        << c.config;
  }
}

TEST(HfVision, PositionsAndTokensOfOneImage) {
  struct Case {
    const char* folder;
    std::int64_t positions;
    std::int64_t outputs;
  };
  const Case cases[] = {
      {"llava-hf__llava-1.5-7b-hf", 24 * 24 + 1, 24 * 24},  // 336 / 14
      {"google__gemma-3-4b-it", 64 * 64, 256},              // 896 / 14, pooled to 16 x 16
      {"Qwen__Qwen3-VL-8B-Instruct", 48 * 48, 24 * 24},     // table of 48 x 48, merged by 2 x 2
      {"Qwen__Qwen2-VL-7B-Instruct", 4 * 1280, 1280},       // 28 x 28 x 1280 pixels at most
      {"OpenGVLab__InternVL2-2B", 32 * 32 + 1, 16 * 16},    // 448 / 14
      {"mistralai__Ministral-3-3B-Instruct-2512", 110 * 110, 55 * 55},  // 1540 / 14
      {"zai-org__GLM-4.1V-9B-Thinking", 24 * 24, 12 * 12},              // 336 / 14
      {"moonshotai__Kimi-K2.5", 64 * 64, 32 * 32},
      {"meta-llama__Llama-4-Scout-17B-16E-Instruct", 24 * 24 + 1, 144},
      {"meta-llama__Llama-3.2-11B-Vision-Instruct", 4 * (40 * 40 + 1), 4 * 1601},  // 560 / 14
      {"google__gemma-4-26B-A4B", 9 * 280, 280},
      {"openbmb__MiniCPM-V-2_6", 32 * 32, 64},  // slices of 448
      {"allenai__Molmo-7B-D-0924", 577, 144},
  };
  if (!std::filesystem::exists(shared(cases[0].folder))) GTEST_SKIP() << "no shared files";
  for (const Case& c : cases) {
    const ModelSpec spec = value_of(load_hf(shared(c.folder)));
    const ModelSpec* const tower = part(spec, ModelPart::vision);
    ASSERT_NE(tower, nullptr) << c.folder;
    EXPECT_EQ(tower->positions, c.positions) << c.folder;
    EXPECT_EQ(tower->outputs, c.outputs) << c.folder;
    EXPECT_FALSE(spec.text_part) << c.folder;
    for (const LayerSpec& layer : tower->layers) {
      EXPECT_EQ(kv_elements_per_token(layer.attention), 0) << c.folder;
    }
  }
}

// Names of models against counts their makers or repositories publish.
TEST(HfVision, PublishedCountsByName) {
  struct Case {
    const char* name;
    double count;
    double half_unit;
  };
  const Case cases[] = {
      {"llama-3.2-11b-vision-instruct", 10.67e9, 0.005e9},  // model card: 10.6B with tower
      {"whisper-large-v3", 1.55e9, 0.01e9},                 // https://github.com/openai/whisper
      {"bge-large-zh-v1.5", 326e6, 1e6},                    // arXiv:2309.07597
      {"bge-base-zh-v1.5", 102e6, 0.5e6},
      {"bge-small-zh-v1.5", 24e6, 0.5e6},
      {"all-minilm-l6-v2", 22.7e6, 0.05e6},
      {"nomic-embed-text-v1.5", 137e6, 0.5e6},  // arXiv:2402.01613
      {"t5-11b", 11.3e9, 0.05e9},
      {"flan-t5-xxl", 11.1e9, 0.05e9},
      {"pixtral-12b", 12e9 + 400e6, 0.3e9},  // arXiv:2410.07073: 12B decoder, 400M encoder
      {"qwen2-vl-72b", 73.4e9, 0.05e9},
  };
  const ModelCatalogue models = value_of(ModelCatalogue::load(test::facts().image));
  for (const Case& c : cases) {
    const ModelSpec spec = value_of(models.find(c.name));
    EXPECT_NEAR(static_cast<double>(total(spec)), c.count, c.half_unit) << c.name;
  }
}

// GLM-4.5V by transformers has 107,710,927,360 parameters besides the correction of each of
// the 128 experts in 45 layers, which it keeps as a buffer.
TEST(HfVision, MixtureWithTower) {
  const ModelSpec spec = value_of(read(R"({"architectures": ["Glm4vMoeForConditionalGeneration"],
    "model_type": "glm4v_moe",
    "text_config": {"model_type": "glm4v_moe_text", "hidden_size": 4096, "num_hidden_layers": 46,
      "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 128,
      "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
      "vocab_size": 151552, "max_position_embeddings": 65536, "attention_bias": true,
      "tie_word_embeddings": false},
    "vision_config": {"depth": 24, "hidden_size": 1536, "num_heads": 12, "image_size": 336,
      "patch_size": 14, "out_hidden_size": 4096, "intermediate_size": 10944,
      "spatial_merge_size": 2, "temporal_patch_size": 2}})"));
  EXPECT_EQ(total(spec), 107710927360 + 45 * 128);
}

// A tower that cannot be read leaves the language model, and says so.
TEST(HfVision, UnreadableTowers) {
  const std::string text = R"({"architectures": ["LlavaForConditionalGeneration"],
    "model_type": "llava",
    "text_config": {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 160, "vocab_size": 100,
      "max_position_embeddings": 512},
    "vision_config": {"model_type": "$", "hidden_size": 32, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 64, "image_size": 28, "patch_size": 14}})";
  const auto with = [&](const std::string& type) {
    std::string copy = text;
    return read(copy.replace(copy.find('$'), 1, type));
  };
  const ModelSpec unknown = value_of(with("tower_of_babel"));
  EXPECT_TRUE(unknown.text_part);
  EXPECT_TRUE(unknown.parts.empty());
  const ModelSpec known = value_of(with("clip_vision_model"));
  EXPECT_FALSE(known.text_part);
  ASSERT_EQ(known.parts.size(), 1U);
  EXPECT_EQ(known.parts[0].positions, 5);
  EXPECT_EQ(total(known) - total(unknown), total(known.parts[0]));
}

TEST(HfVision, PipelinesOfDiffusionAreRefusedByTheirName) {
  const auto folder = std::filesystem::temp_directory_path() / "cairn-pipeline-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "model_index.json") << R"({"_class_name": "FluxPipeline"})";
  const auto model = load_model_path(folder.string(), test::facts().types, test::facts().formats);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().field, "_class_name");
  EXPECT_TRUE(model.error().to_string().contains("FluxPipeline"));
  std::filesystem::remove_all(folder);
  const auto part = read(R"({"_class_name": "ControlNetModel", "block_out_channels": [320]})");
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().field, "_class_name");
}

// transformers 5.24.0 gives Gemma 3n E4B a vision tower of 294,126,912 parameters with 4,460,544
// that lead to the language model, an audio tower of 681,348,640 with 3,345,408, and 7,818,517,072
// in all, without the keys and values of the 15 layers that share a cache: checkpoints have
// those too, 15 (2 x 2048 x 512 + 256).
TEST(HfAudio, Gemma3nSeesAndHears) {
  const ModelSpec spec = value_of(read(R"({"architectures": ["Gemma3nForConditionalGeneration"],
    "model_type": "gemma3n", "tie_word_embeddings": true, "vision_soft_tokens_per_image": 256,
    "text_config": {"model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35,
      "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
      "intermediate_size": 16384, "vocab_size": 262400, "vocab_size_per_layer_input": 262144,
      "hidden_size_per_layer_input": 256, "max_position_embeddings": 32768,
      "num_kv_shared_layers": 15, "laurel_rank": 64, "altup_num_inputs": 4},
    "audio_config": {"model_type": "gemma3n_audio", "hidden_size": 1536,
      "conf_num_hidden_layers": 12, "conf_num_attention_heads": 8, "conf_conv_kernel_size": 5,
      "conf_reduction_factor": 4, "sscp_conv_channel_size": [128, 32], "vocab_size": 128},
    "vision_config": {"model_type": "gemma3n_vision", "architecture": "mobilenetv5_300m_enc",
      "hidden_size": 2048, "vocab_size": 128}})"));
  ASSERT_EQ(spec.parts.size(), 2U);
  EXPECT_EQ(total(spec.parts[0]), 294126912 + 4460544);
  EXPECT_EQ(total(spec.parts[1]), 681348640 + 3345408);
  EXPECT_EQ(total(spec), 7818517072 + 15LL * (2 * 2048 * 512 + 256));
  EXPECT_EQ(spec.parts[0].outputs, 256);
  EXPECT_EQ(spec.parts[1].outputs, 188);
}

// transformers 5.24.0 gives VibeVoiceForConditionalGeneration of these sizes 2,704,021,987
// parameters, two of them the scale and the shift of the latents: the encoder of 343,696,032 and
// its connector of 2,462,208, the decoder of 343,695,969, the semantic encoder of 344,613,600 with
// 2,560,512, the diffusion head of 123,279,360, the language model of 1,543,714,304.
TEST(HfAudio, VibeVoiceHearsAndSpeaks) {
  const std::string tokenizer = R"("channels": 1, "conv_bias": true, "conv_norm": "none",
    "disable_last_norm": true, "encoder_depths": "3-3-3-3-3-3-8", "encoder_n_filters": 32,
    "encoder_ratios": [8, 5, 5, 4, 2, 2], "layernorm": "RMSNorm", "mixer_layer": "depthwise_conv",
    "layer_scale_init_value": 1e-06, "vae_dim": )";
  const ModelSpec spec = value_of(read(R"({"architectures": ["VibeVoiceForConditionalGeneration"],
    "model_type": "vibevoice", "acoustic_tokenizer_config": {)" +
                                       tokenizer + R"(64, "decoder_depths": null},
    "semantic_tokenizer_config": {)" + tokenizer +
                                       R"(128},
    "diffusion_head_config": {"hidden_size": 1536, "head_layers": 4, "head_ffn_ratio": 3.0,
      "latent_size": 64, "speech_vae_dim": 64},
    "decoder_config": {"model_type": "qwen2", "hidden_size": 1536, "intermediate_size": 8960,
      "num_hidden_layers": 28, "num_attention_heads": 12, "num_key_value_heads": 2,
      "vocab_size": 151936, "max_position_embeddings": 65536, "tie_word_embeddings": true}})"));
  std::vector<std::int64_t> parts;
  for (const ModelSpec& p : spec.parts) parts.push_back(total(p));
  EXPECT_EQ(parts, (std::vector<std::int64_t>{343696032 + 2462208, 343695969, 344613600 + 2560512,
                                              123279360}));
  EXPECT_EQ(total(spec), 2704021987 - 2);
  // 24,000 samples a second, 3,200 of them a position; half a minute.
  EXPECT_EQ(spec.parts[0].outputs, 225);
  EXPECT_FALSE(spec.text_part);
}

// "a granular MoE of 675 B parameters ... with a vision encoder of 2.5 B":
// https://huggingface.co/mistralai/Mistral-Large-3-675B-Instruct-2512
TEST(HfVision, MistralLarge3HasATower) {
  const ModelCatalogue catalogue = value_of(ModelCatalogue::load(test::facts().image));
  const ModelSpec spec = value_of(catalogue.find("mistral-large-3"));
  const ParameterCount count = count_parameters(build_graph(spec));
  EXPECT_NEAR(static_cast<double>(count.parts), 2.5e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>(count.total), 675e9, 1e9);
}

}  // namespace
}  // namespace cairn
