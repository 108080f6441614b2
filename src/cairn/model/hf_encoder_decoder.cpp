// Encoder-decoders: T5 and its kind, BART and its kind, Whisper; and Llama 3.2 Vision, whose
// decoder attends to a vision tower. The decoder is the model, the encoder a part of it.
// Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/t5, .../bart,
// .../m2m_100, .../marian, .../pegasus, .../whisper, .../mllama).
#include <algorithm>
#include <array>

#include "cairn/model/hf_tower.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

Result<std::string_view> architecture(const Fields& f) {
  const auto list = f.node().find_value("architectures");
  if (!list || !list->is_sequence() || list->size() == 0) return std::string_view();
  return list->at(0).string();
}

/// Attention of a decoder's layers to the `positions` of an encoder.
AttentionSpec across(const AttentionSpec& own, std::int64_t positions) {
  AttentionSpec a = own;
  a.kind = AttentionKind::cross;
  a.window = positions;
  a.bidirectional = false;
  return a;
}

/// A decoder with its encoder, both of equal layers.
struct Pair {
  Stack encoder;
  Stack decoder;
  std::int64_t positions = 0;  // of the encoder
};

ModelSpec pair_spec(const Pair& p, std::string_view family, const Style& style) {
  ModelSpec encoder = stack_spec(p.encoder, ModelPart::encoder, style);
  encoder.positions = encoder.outputs = p.positions;
  Style causal = style;
  causal.causal = true;
  ModelSpec s = stack_spec(p.decoder, ModelPart::language, causal);
  s.family = family;
  s.output_head = true;
  for (LayerSpec& layer : s.layers) layer.cross_attention = across(layer.attention, p.positions);
  s.parts.push_back(std::move(encoder));
  return s;
}

// T5 (arXiv:1910.10683): norms before without biases, no bias anywhere, positions as biases
// of buckets of distances in the first layer, or (umT5) in every one.
struct T5 {
  Pair pair;
  std::int64_t buckets = 0;
  std::int64_t vocabulary = 0;
  bool gated = false;
  bool tied = true;
};

Result<T5> read_t5(Fields& f) {
  f.skip({"relative_attention_max_distance", "num_hidden_layers", "is_gated_act", "dense_act_fn",
          "classifier_dropout", "tie_encoder_decoder"});
  T5 t;
  Stack& s = t.pair.encoder;
  CAIRN_TRY(s.hidden, f.integer("d_model", 1, kMaxHidden));
  CAIRN_TRY(s.layers, f.integer("num_layers", 1, kMaxLayers));
  CAIRN_TRY(s.heads, f.integer("num_heads", 1, kMaxHeads));
  CAIRN_TRY(s.head_dim, f.integer("d_kv", 1, kMaxHeadDim));
  CAIRN_TRY(s.intermediate, f.integer("d_ff", 1, kMaxInner));
  t.pair.decoder = s;
  CAIRN_TRY(t.pair.decoder.layers, f.integer_or("num_decoder_layers", s.layers, 1, kMaxLayers));
  // Where there is no length, that of pretraining.
  CAIRN_TRY(t.pair.positions, f.integer_or("n_positions", 512, 1, kMaxContext));
  CAIRN_TRY(t.buckets, f.integer_or("relative_attention_num_buckets", 32, 1, 4096));
  CAIRN_TRY(t.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(const std::string_view ffn, f.text_or("feed_forward_proj", "relu"));
  t.gated = ffn.starts_with("gated-");
  CAIRN_TRY(t.tied, f.tied(true));
  return t;
}

void relative(ModelSpec& s, const T5& t, bool every_layer) {
  const MatrixSpec bias = table(attn_rel_b, t.buckets, t.pair.encoder.heads);
  if (!every_layer) {
    s.extras.push_back(bias);
    return;
  }
  for (LayerSpec& layer : s.layers) layer.extras.push_back(bias);
}

Result<ModelSpec> t5_kind(Fields& f, std::string_view family, bool every_layer) {
  CAIRN_TRY(const T5 t, read_t5(f));
  const Style style{.bias = false, .gated = t.gated, .rms = true};
  CAIRN_TRY(const std::string_view name, architecture(f));
  if (name.ends_with("EncoderModel")) {
    ModelSpec s = stack_spec(t.pair.encoder, ModelPart::language, style);
    s.family = family;
    s.vocabulary = t.vocabulary;
    s.max_context = t.pair.positions;
    relative(s, t, every_layer);
    return s;
  }
  ModelSpec s = pair_spec(t.pair, family, style);
  s.vocabulary = t.vocabulary;
  s.max_context = t.pair.positions;
  s.tied_embeddings = t.tied;
  if (name == "T5Model") s.output_head = s.tied_embeddings = false;
  relative(s, t, every_layer);
  relative(s.parts.front(), t, every_layer);
  return s;
}

Result<ModelSpec> t5(Fields& f) { return t5_kind(f, "t5", false); }
Result<ModelSpec> umt5(Fields& f) { return t5_kind(f, "umt5", true); }

/// What sets BART's relatives apart.
struct Bart {
  std::string_view family;
  bool norms_after = false;
  bool embedding_norm = false;
  bool final_norm = true;
  bool table = true;        // positions are a table
  std::int64_t offset = 0;  // rows of it before the first position
};

Result<Pair> read_pair(Fields& f) {
  f.skip({"num_hidden_layers", "encoder_layerdrop", "decoder_layerdrop", "scale_embedding",
          "normalize_embedding", "classif_dropout", "static_position_embeddings", "add_bias_logits",
          "num_attention_heads", "extra_pos_embeddings", "share_encoder_decoder_embeddings",
          "tie_encoder_decoder", "decoder_vocab_size", "force_bos_token_to_be_generated"});
  Pair p;
  CAIRN_TRY(p.encoder.hidden, f.integer("d_model", 1, kMaxHidden));
  CAIRN_TRY(p.encoder.layers, f.integer("encoder_layers", 1, kMaxLayers));
  CAIRN_TRY(p.encoder.heads, f.integer("encoder_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(p.encoder.head_dim,
            even_head_dim(f, "encoder_attention_heads", p.encoder.hidden, p.encoder.heads));
  CAIRN_TRY(p.encoder.intermediate, f.integer("encoder_ffn_dim", 1, kMaxInner));
  p.decoder.hidden = p.encoder.hidden;
  CAIRN_TRY(p.decoder.layers, f.integer("decoder_layers", 1, kMaxLayers));
  CAIRN_TRY(p.decoder.heads, f.integer("decoder_attention_heads", 1, kMaxHeads));
  CAIRN_TRY(p.decoder.head_dim,
            even_head_dim(f, "decoder_attention_heads", p.decoder.hidden, p.decoder.heads));
  CAIRN_TRY(p.decoder.intermediate, f.integer("decoder_ffn_dim", 1, kMaxInner));
  return p;
}

Result<void> bart_head(Fields& f, ModelSpec& s) {
  CAIRN_TRY(const std::string_view name, architecture(f));
  CAIRN_TRY(s.tied_embeddings, f.tied(true));
  if (name.ends_with("ForConditionalGeneration") || name.ends_with("MTModel") || name.empty()) {
    return {};
  }
  s.output_head = s.tied_embeddings = false;
  if (name.ends_with("Model")) return {};
  const auto named = f.node().find_value("id2label");
  const std::int64_t labels = named && named->is_mapping() ? named->size() : 3;
  s.extras.push_back(matrix(classifier, s.hidden, s.hidden, true));
  s.extras.push_back(matrix(classifier, labels, s.hidden, true));
  return {};
}

Result<ModelSpec> read_bart(Fields& f, const Bart& b) {
  CAIRN_TRY(Pair p, read_pair(f));
  CAIRN_TRY(p.positions, f.integer("max_position_embeddings", 1, kMaxContext));
  ModelSpec s = pair_spec(p, b.family, {});
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  s.max_context = p.positions;
  const std::int64_t rows = p.positions + b.offset;
  ModelSpec& encoder = s.parts.front();
  if (b.table) {
    s.position_embeddings = rows;
    encoder.extras.push_back(table(position_embedding, rows, encoder.hidden));
  }
  for (ModelSpec* side : {&s, &encoder}) {
    side->final_norm = b.final_norm;
    side->final_norm_bias = b.final_norm;
    for (LayerSpec& layer : side->layers) layer.norms_after = b.norms_after;
    if (b.embedding_norm) side->extras.push_back(vector(embedding_norm, side->hidden, true));
  }
  CAIRN_CHECK(bart_head(f, s));
  return s;
}

Result<ModelSpec> bart(Fields& f) {
  CAIRN_CHECK(f.refuse("normalize_before", "norms before are not covered for this family"));
  CAIRN_CHECK(f.refuse("add_final_layer_norm", "a last norm is not covered for this family"));
  return read_bart(f, {.family = "bart",
                       .norms_after = true,
                       .embedding_norm = true,
                       .final_norm = false,
                       .offset = 2});
}

Result<ModelSpec> mbart(Fields& f) {
  f.skip({"normalize_before", "add_final_layer_norm"});
  return read_bart(f, {.family = "mbart", .embedding_norm = true, .offset = 2});
}

Result<ModelSpec> marian(Fields& f) {
  CAIRN_CHECK(f.refuse("normalize_before", "norms before are not covered for this family"));
  CAIRN_CHECK(f.refuse("add_final_layer_norm", "a last norm is not covered for this family"));
  f.skip({"normalize_embedding"});
  return read_bart(f, {.family = "marian", .norms_after = true, .final_norm = false});
}

Result<ModelSpec> pegasus(Fields& f) {
  f.skip({"normalize_before", "add_final_layer_norm"});
  return read_bart(f, {.family = "pegasus"});
}

// Positions are computed.
Result<ModelSpec> m2m100(Fields& f) { return read_bart(f, {.family = "m2m100", .table = false}); }

// arXiv:2212.04356: two convolutions over the frames of half a minute; keys have no biases.
Result<ModelSpec> whisper(Fields& f) {
  f.skip({"classifier_proj_size", "median_filter_width", "mask_feature_min_masks",
          "use_weighted_layer_sum", "lang_ids"});
  CAIRN_TRY(Pair p, read_pair(f));
  CAIRN_TRY(p.positions, f.integer_or("max_source_positions", 1500, 1, kMaxContext));
  CAIRN_TRY(const std::int64_t mels, f.integer_or("num_mel_bins", 80, 1, 4096));
  ModelSpec s = pair_spec(p, "whisper", {});
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context, f.integer_or("max_target_positions", 448, 1, kMaxContext));
  s.position_embeddings = s.max_context;
  ModelSpec& encoder = s.parts.front();
  for (LayerSpec& layer : s.layers) {
    layer.attention.k_bias = layer.cross_attention.k_bias = false;
  }
  for (LayerSpec& layer : encoder.layers) layer.attention.k_bias = false;
  const std::int64_t h = encoder.hidden;
  encoder.extras = {matrix(patch_embedding, h, 3 * mels, true),
                    matrix(patch_embedding, h, 3 * h, true),
                    table(position_embedding, p.positions, h)};
  CAIRN_CHECK(bart_head(f, s));
  return s;
}

// Tiles of an image with positions of their own; layers without gates and then some with,
// and features of some layers beside those of the last.
Result<ModelSpec> mllama_vision(Node vision, std::int64_t hidden) {
  Fields f = part_fields(vision);
  f.skip({"intermediate_layers_indices", "supported_aspect_ratios"});
  CAIRN_TRY(const Stack stack,
            read_stack(f, {.hidden = 1280, .layers = 32, .heads = 16, .intermediate = 5120}));
  CAIRN_TRY(const std::int64_t global, f.integer_or("num_global_layers", 8, 0, kMaxLayers));
  CAIRN_TRY(const Image image, read_image(f, "image_size", 448));
  CAIRN_TRY(const std::int64_t patch, f.integer_or("patch_size", 14, 1, 1024));
  CAIRN_TRY(const std::int64_t tiles, f.integer_or("max_num_tiles", 4, 1, 64));
  CAIRN_TRY(const std::int64_t out, f.integer_or("vision_output_dim", 7680, 1, kMaxHidden));
  CAIRN_CHECK(f.finish());
  const auto listed = vision.find_value("supported_aspect_ratios");
  const std::int64_t ratios = (listed && listed->is_sequence() ? listed->size() : 8) + 1;
  ModelSpec s = stack_spec(stack, ModelPart::vision);
  for (LayerSpec& layer : s.layers) layer.attention.qkv_bias = layer.attention.o_bias = false;
  LayerSpec gated = s.layers.front();
  gated.extras = {vector(attn_scale, 1), vector(ffn_scale, 1)};
  s.layers.insert(s.layers.end(), static_cast<std::size_t>(global), gated);
  const std::int64_t each = image.patches(patch) + 1;
  s.positions = s.outputs = tiles * each;
  const std::int64_t h = s.hidden;
  s.extras = {vector(class_embedding, h),
              patches(stack, patch, false),
              table(position_embedding, each, h),
              table(position_embedding, ratios, tiles * each * h),
              table(position_embedding, ratios, tiles * h),
              table(position_embedding, ratios, tiles * h),
              vector(position_embedding, 3),  // how much of each is added
              vector(pre_norm, h, true),
              matrix(projector, hidden, out, true)};
  return s;
}

Result<ModelSpec> mllama(Fields& f) {
  CAIRN_TRY(const Node text, f.node().required("text_config"));
  CAIRN_TRY(const Node vision, f.node().required("vision_config"));
  Fields inner(text, true);
  inner.skip({"cross_attention_hidden_size", "add_cross_attention", "tie_encoder_decoder"});
  const Dims usual{.hidden = 4096,
                   .layers = 40,
                   .heads = 32,
                   .kv_heads = 8,
                   .intermediate = 14336,
                   .vocabulary = 128256,
                   .max_context = 131072};
  CAIRN_TRY(const Dims d, read_dims(inner, usual));
  const auto list = text.find_value("cross_attention_layers");
  const std::size_t count = list && list->is_sequence() ? list->size() : 8;
  CAIRN_TRY(const auto crossing, inner.integers("cross_attention_layers", count, 0, d.layers - 1));
  if (!crossing) return fail(inner.error("cross_attention_layers", "missing field"));
  CAIRN_TRY(ModelSpec tower, mllama_vision(vision, d.hidden));
  ModelSpec s = make_spec(d, "mllama");
  CAIRN_TRY(s.tied_embeddings, inner.tied(false));
  CAIRN_CHECK(inner.finish());
  LayerSpec layer;
  layer.attention = make_attention(d);
  layer.feed_forward.intermediate = d.intermediate;
  s.layers.assign(static_cast<std::size_t>(d.layers), layer);
  layer.attention = across(layer.attention, tower.outputs);
  layer.attention.qk_norm = true;
  layer.attention.qk_norm_dim_q = layer.attention.qk_norm_dim_k = d.head_dim;
  layer.extras = {vector(cross_attn_gate, 1), vector(ffn_scale, 1)};
  for (const std::int64_t i : *crossing) s.layers[static_cast<std::size_t>(i)] = layer;
  // The input has rows for marks of images that the output does not.
  s.extras.push_back(table(class_embedding, 8, d.hidden));
  s.parts.push_back(std::move(tower));
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"T5ForConditionalGeneration", "t5", t5},
    {"T5WithLMHeadModel", {}, t5},
    {"T5Model", {}, t5},
    {"T5EncoderModel", {}, t5},
    {"MT5ForConditionalGeneration", "mt5", t5},
    {"MT5EncoderModel", {}, t5},
    {"UMT5ForConditionalGeneration", "umt5", umt5},
    {"UMT5EncoderModel", {}, umt5},
    {"BartModel", "bart", bart},
    {"BartForConditionalGeneration", {}, bart},
    {"BartForSequenceClassification", {}, bart},
    {"MBartForConditionalGeneration", "mbart", mbart},
    {"MarianMTModel", "marian", marian},
    {"PegasusForConditionalGeneration", "pegasus", pegasus},
    {"M2M100ForConditionalGeneration", "m2m_100", m2m100},
    {"WhisperForConditionalGeneration", "whisper", whisper},
    {"MllamaForConditionalGeneration", "mllama", mllama},
});

}  // namespace

std::span<const Family> encoder_decoder_families() { return kFamilies; }

}  // namespace cairn::hf
