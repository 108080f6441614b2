// Encoders of text and the classifiers built on them: BERT, RoBERTa, XLM-RoBERTa, MPNet,
// DistilBERT, ELECTRA, DeBERTa, NomicBERT, GTE, ModernBERT. MiniLM, BGE, E5, GTE, arctic-embed
// and granite-embedding are BERT or XLM-RoBERTa by their configuration. Shapes: transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models/bert ...).
#include <algorithm>
#include <array>

#include "cairn/model/hf_tower.h"

namespace cairn::hf {
namespace {

using enum TensorRole;

/// What stands on an encoder, by the end of the architecture's name.
enum class Top : std::uint8_t { none, masked, sequence, tokens, answers, pretraining };

Result<Top> top_of(const Fields& f) {
  constexpr auto kTops = std::to_array<std::pair<std::string_view, Top>>({
      {"ForMaskedLM", Top::masked},
      {"ForSequenceClassification", Top::sequence},
      {"ForTokenClassification", Top::tokens},
      {"ForQuestionAnswering", Top::answers},
      {"ForPreTraining", Top::pretraining},
      {"Model", Top::none},
  });
  const auto list = f.node().find_value("architectures");
  if (!list || !list->is_sequence() || list->size() == 0) return Top::none;
  CAIRN_TRY(const std::string_view name, list->at(0).string());
  const auto* const it =
      std::ranges::find_if(kTops, [&](const auto& top) { return name.ends_with(top.first); });
  if (it == kTops.end()) {
    return fail(unsupported("its architecture is not that of an encoder")
                    .in("architectures")
                    .got(name)
                    .want("a relative that generates text, such as LlamaForCausalLM"));
  }
  return it->second;
}

/// What sets a family apart.
struct Traits {
  std::string_view family;
  bool pooler = false;            // a matrix on the first position, in the bare model
  bool sequence_pooler = false;   // ... and before the classifier of sequences
  bool classifier_dense = false;  // the classifier of sequences is two matrices
  std::int64_t offset = 0;        // rows of the position table before the first position
};

// Fields that say nothing of the shape, of BERT and its relatives.
void skip_common(Fields& f) {
  f.skip({"attention_probs_dropout_prob",
          "pooler_fc_size",
          "pooler_num_attention_heads",
          "pooler_num_fc_layers",
          "pooler_size_per_head",
          "pooler_hidden_size",
          "pooler_dropout",
          "pooler_hidden_act",
          "seq_classif_dropout",
          "qa_dropout",
          "sinusoidal_pos_embds",
          "classifier_pooling",
          "classifier_bias",
          "mlp_dropout",
          "embedding_dropout",
          "summary_last_dropout",
          "max_relative_positions",
          "num_labels",
          "_num_labels",
          "sentence_transformers"});
}

Result<std::int64_t> labels(Fields& f) {
  const auto named = f.node().find_value("id2label");
  if (named && named->is_mapping() && named->size() > 0) return named->size();
  return f.integer_or(f.any({"num_labels", "_num_labels"}), 2, 1, 1 << 20);
}

// A matrix with activation and norm before logits of the vocabulary.
void masked_head(ModelSpec& s, std::int64_t width, bool tied, bool dense_bias, bool norm_bias) {
  s.output_head = true;
  s.output_bias = true;
  s.tied_embeddings = tied;
  s.extras.push_back(matrix(classifier, width, s.hidden, dense_bias));
  s.extras.push_back(vector(classifier, width, norm_bias));
}

Result<void> add_top(Fields& f, const Traits& t, ModelSpec& s) {
  CAIRN_TRY(const Top top, top_of(f));
  CAIRN_TRY(const bool tied, f.flag("tie_word_embeddings", true));
  CAIRN_TRY(const std::int64_t count, labels(f));
  const std::int64_t h = s.hidden;
  const MatrixSpec dense = matrix(pooler, h, h, true);
  s.output_head = false;
  switch (top) {
    case Top::none:
      if (t.pooler) s.extras.push_back(dense);
      break;
    case Top::masked:
      masked_head(s, s.embedding > 0 ? s.embedding : h, tied, true, true);
      break;
    case Top::sequence:
      if (t.sequence_pooler) s.extras.push_back(dense);
      if (t.classifier_dense) s.extras.push_back(matrix(classifier, h, h, true));
      s.extras.push_back(matrix(classifier, count, h, true));
      break;
    case Top::tokens:
      s.extras.push_back(matrix(classifier, count, h, true));
      break;
    case Top::answers:
      s.extras.push_back(matrix(classifier, 2, h, true));
      break;
    case Top::pretraining:
      // Masked words, and whether one sentence follows another.
      if (t.pooler) s.extras.push_back(dense);
      masked_head(s, h, tied, true, true);
      s.extras.push_back(matrix(classifier, 2, h, true));
      break;
  }
  return {};
}

/// A stack with norms after its parts, and none at the end.
ModelSpec after_norms(const Stack& stack, std::string_view family, const Style& style = {}) {
  ModelSpec s = stack_spec(stack, ModelPart::language, style);
  s.family = family;
  s.final_norm = false;
  s.final_norm_bias = false;
  for (LayerSpec& layer : s.layers) layer.norms_after = true;
  return s;
}

Result<void> absolute_positions(Fields& f) {
  CAIRN_TRY(const std::string_view kind, f.text_or("position_embedding_type", "absolute"));
  if (kind == "absolute") return {};
  return fail(f.error("position_embedding_type", "not covered").want("absolute"));
}

// The tables before the layers: words, positions, and segments where there are any.
Result<void> add_tables(Fields& f, const Traits& t, std::int64_t segments, ModelSpec& s) {
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(const std::int64_t rows,
            f.integer("max_position_embeddings", t.offset + 1, kMaxContext));
  s.position_embeddings = rows;
  s.max_context = rows - t.offset;
  const std::int64_t width = s.embedding > 0 ? s.embedding : s.hidden;
  if (segments > 0) s.extras.push_back(table(type_embedding, segments, width));
  s.extras.push_back(vector(embedding_norm, width, true));
  return {};
}

// embedding_size, where it is not that of the layers, and the matrix between.
Result<void> factored(Fields& f, ModelSpec& s) {
  CAIRN_TRY(const std::int64_t width, f.integer_or("embedding_size", s.hidden, 1, kMaxHidden));
  if (width == s.hidden) return {};
  s.embedding = width;
  s.extras.push_back(matrix(layer_embedding_proj, s.hidden, width, true));
  return {};
}

Result<ModelSpec> read_bert(Fields& f, const Traits& t, std::int64_t usual_segments = 2) {
  skip_common(f);
  CAIRN_CHECK(absolute_positions(f));
  CAIRN_CHECK(f.refuse("is_decoder", "a decoder of this family is not covered"));
  CAIRN_CHECK(f.refuse("add_cross_attention", "cross attention is not covered"));
  CAIRN_TRY(const Stack stack, read_stack(f));
  ModelSpec s = after_norms(stack, t.family);
  CAIRN_CHECK(factored(f, s));
  CAIRN_TRY(const std::int64_t segments,
            f.integer_or("type_vocab_size", usual_segments, 0, kMaxVocabulary));
  CAIRN_CHECK(add_tables(f, t, segments, s));
  CAIRN_CHECK(add_top(f, t, s));
  return s;
}

Result<ModelSpec> bert(Fields& f) {
  return read_bert(f, {.family = "bert", .pooler = true, .sequence_pooler = true});
}

// Positions start after the padding token's row.
Result<ModelSpec> roberta(Fields& f) {
  CAIRN_TRY(const std::int64_t pad, f.integer_or("pad_token_id", 1, 0, 16));
  return read_bert(
      f, {.family = "roberta", .pooler = true, .classifier_dense = true, .offset = pad + 1});
}

Result<ModelSpec> electra(Fields& f) {
  CAIRN_TRY(const Top top, top_of(f));
  // The discriminator; the masked head of the generator works in the embedding's width.
  if (top == Top::pretraining) return fail(f.error("architectures", "not covered"));
  return read_bert(f, {.family = "electra", .classifier_dense = true});
}

Result<ModelSpec> mpnet(Fields& f) {
  CAIRN_TRY(const std::int64_t pad, f.integer_or("pad_token_id", 1, 0, 16));
  CAIRN_TRY(const std::int64_t buckets,
            f.integer_or("relative_attention_num_buckets", 32, 1, 4096));
  const Traits t{.family = "mpnet", .pooler = true, .classifier_dense = true, .offset = pad + 1};
  CAIRN_TRY(ModelSpec s, read_bert(f, t, 0));
  s.extras.push_back(table(attn_rel_b, buckets, s.layers.front().attention.heads));
  return s;
}

Result<ModelSpec> distilbert(Fields& f) {
  skip_common(f);
  Stack stack;
  CAIRN_TRY(stack.hidden, f.integer("dim", 1, kMaxHidden));
  CAIRN_TRY(stack.layers, f.integer("n_layers", 1, kMaxLayers));
  CAIRN_TRY(stack.heads, f.integer("n_heads", 1, kMaxHeads));
  CAIRN_TRY(stack.head_dim, even_head_dim(f, "n_heads", stack.hidden, stack.heads));
  CAIRN_TRY(stack.intermediate, f.integer("hidden_dim", 1, kMaxInner));
  const Traits t{.family = "distilbert", .classifier_dense = true};
  ModelSpec s = after_norms(stack, t.family);
  CAIRN_CHECK(add_tables(f, t, 0, s));
  CAIRN_CHECK(add_top(f, t, s));
  return s;
}

// "c2p|p2c", or a list.
Result<std::vector<std::string>> position_terms(Fields& f) {
  f.skip({"pos_att_type"});
  const auto node = f.node().find_value("pos_att_type");
  std::vector<std::string> terms;
  if (!node) return terms;
  if (node->is_sequence()) return f.node().get_strings("pos_att_type");
  CAIRN_TRY(std::string_view text, node->string());
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    terms.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 1);
  }
  return terms;
}

/// DeBERTa's relative positions: a table for all layers, whose rows layers project again
/// unless they share the projections of queries and keys (arXiv:2006.03654, section 3).
struct Disentangled {
  bool relative = false;
  bool biased_input = true;  // absolute positions are added to words too
  std::int64_t rows = 0;
  bool to_position = false;    // "c2p"
  bool from_position = false;  // "p2c"
};

Result<Disentangled> disentangled(Fields& f) {
  Disentangled d;
  CAIRN_TRY(d.relative, f.flag("relative_attention", false));
  CAIRN_TRY(d.biased_input, f.flag("position_biased_input", true));
  CAIRN_TRY(const std::int64_t limit, f.integer_or("max_relative_positions", -1, -1, kMaxContext));
  CAIRN_TRY(const std::int64_t usual, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(const std::int64_t buckets, f.integer_or("position_buckets", -1, -1, kMaxContext));
  d.rows = 2 * (buckets > 0 ? buckets : limit > 0 ? limit : usual);
  CAIRN_TRY(const auto terms, position_terms(f));
  d.to_position = std::ranges::find(terms, "c2p") != terms.end();
  d.from_position = std::ranges::find(terms, "p2c") != terms.end();
  return d;
}

Result<ModelSpec> read_deberta(Fields& f, const Traits& t, const Disentangled& d) {
  skip_common(f);
  f.skip({"pooler_hidden_size"});
  CAIRN_TRY(const Stack stack, read_stack(f));
  ModelSpec s = after_norms(stack, t.family);
  CAIRN_TRY(const std::int64_t width, f.integer_or("embedding_size", s.hidden, 1, kMaxHidden));
  if (width != s.hidden) return fail(f.error("embedding_size", "not covered"));
  CAIRN_TRY(const std::int64_t segments, f.integer_or("type_vocab_size", 0, 0, kMaxVocabulary));
  CAIRN_CHECK(add_tables(f, t, segments, s));
  if (!d.biased_input) s.position_embeddings = 0;
  if (d.relative) s.extras.push_back(table(attn_rel_b, d.rows, s.hidden));
  CAIRN_CHECK(add_top(f, t, s));
  return s;
}

Result<ModelSpec> deberta(Fields& f) {
  CAIRN_TRY(const Disentangled d, disentangled(f));
  f.skip({"c2p_bias", "p2c_bias"});
  CAIRN_CHECK(f.refuse("talking_head", "not covered"));
  CAIRN_TRY(ModelSpec s, read_deberta(f, {.family = "deberta", .sequence_pooler = true}, d));
  const std::int64_t h = s.hidden;
  for (LayerSpec& layer : s.layers) {
    layer.attention.k_bias = false;
    if (!d.relative) continue;
    if (d.to_position) layer.extras.push_back(matrix(attn_rel_b, h, h));
    if (d.from_position) layer.extras.push_back(matrix(attn_rel_b, h, h, true));
  }
  return s;
}

Result<ModelSpec> deberta_v2(Fields& f) {
  CAIRN_TRY(const Disentangled d, disentangled(f));
  CAIRN_TRY(const bool shared, f.flag("share_att_key", false));
  CAIRN_TRY(const std::string_view norm, f.text_or("norm_rel_ebd", "none"));
  CAIRN_TRY(const std::int64_t kernel, f.integer_or("conv_kernel_size", 0, 0, 1024));
  f.skip({"conv_act"});
  CAIRN_TRY(const std::int64_t groups, f.integer_or("conv_groups", 1, 1, 1));
  CAIRN_TRY(ModelSpec s, read_deberta(f, {.family = "deberta-v2", .sequence_pooler = true}, d));
  const std::int64_t h = s.hidden;
  if (d.relative && norm.contains("layer_norm")) s.extras.push_back(vector(attn_rel_b, h, true));
  if (kernel > 0) {
    s.extras.push_back(matrix(other, h, h * kernel / groups, true));
    s.extras.push_back(vector(other, h, true));
  }
  for (LayerSpec& layer : s.layers) {
    if (!d.relative || shared) continue;
    if (d.to_position) layer.extras.push_back(matrix(attn_rel_b, h, h, true));
    if (d.from_position) layer.extras.push_back(matrix(attn_rel_b, h, h, true));
  }
  return s;
}

// Every second feed-forward a mixture of experts without gates, with one bias for all
// (https://huggingface.co/nomic-ai/nomic-bert-2048/blob/main/modeling_hf_nomic_bert.py).
Result<void> nomic_experts(Fields& f, ModelSpec& s) {
  f.skip({"moe_normalize_expert_weights", "num_shared_experts"});
  CAIRN_TRY(const std::int64_t experts, f.integer_or("num_experts", 0, 0, kMaxExperts));
  if (experts == 0) return {};
  CAIRN_TRY(const std::int64_t every, f.integer("moe_every_n_layers", 1, kMaxLayers));
  CAIRN_TRY(const std::int64_t used, f.integer("moe_top_k", 1, experts));
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    if (static_cast<std::int64_t>(i) % every != every - 1) continue;
    FeedForwardSpec& ffn = s.layers[i].feed_forward;
    ffn.experts = experts;
    ffn.experts_per_token = used;
    ffn.expert_intermediate = ffn.intermediate;
    ffn.intermediate = 0;
    s.layers[i].extras.push_back(vector(ffn_down, s.hidden));
  }
  return {};
}

// GPT-2's names in the published files; rotary positions.
Result<ModelSpec> nomic_bert(Fields& f) {
  skip_common(f);
  f.skip({"rotary_emb_fraction", "rotary_emb_interleaved", "rotary_emb_scale_base",
          "max_trained_positions", "use_xentropy", "dense_seq_output", "fused_bias_fc",
          "fused_dropout_add_ln", "causal", "parallel_block_tied_norm", "pad_vocab_size_multiple",
          "mlp_checkpoint_lvl", "head_dim", "ffn_div", "expert_choice_router",
          "router_aux_loss_coef"});
  CAIRN_CHECK(f.refuse("prenorm", "norms before are not covered for this family"));
  CAIRN_CHECK(f.refuse("parallel_block", "not covered"));
  CAIRN_CHECK(f.refuse("use_rms_norm", "not covered"));
  Stack stack;
  CAIRN_TRY(stack.hidden, f.integer(f.any({"n_embd", "hidden_size"}), 1, kMaxHidden));
  CAIRN_TRY(stack.layers, f.integer(f.any({"n_layer", "num_hidden_layers"}), 1, kMaxLayers));
  const auto heads = f.any({"n_head", "num_attention_heads"});
  CAIRN_TRY(stack.heads, f.integer(heads, 1, kMaxHeads));
  CAIRN_TRY(stack.head_dim, even_head_dim(f, heads, stack.hidden, stack.heads));
  CAIRN_TRY(stack.intermediate,
            f.integer_or(f.any({"n_inner", "intermediate_size"}), 4 * stack.hidden, 1, kMaxInner));
  CAIRN_TRY(const std::string_view act,
            f.text_or(f.any({"activation_function", "hidden_act"}), "swiglu"));
  CAIRN_TRY(const bool qkv_bias, f.flag("qkv_proj_bias", false));
  CAIRN_TRY(const bool bias, f.flag("mlp_fc1_bias", false));
  CAIRN_TRY(const bool bias2, f.flag("mlp_fc2_bias", bias));
  if (bias != bias2) return fail(f.error("mlp_fc2_bias", "not covered"));
  const bool gated = act == "swiglu" || act == "silu" || act == "geglu";
  ModelSpec s = after_norms(stack, "nomic-bert", {.bias = bias, .gated = gated});
  for (LayerSpec& layer : s.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = qkv_bias;
  }
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context,
            f.integer(f.any({"n_positions", "max_position_embeddings"}), 1, kMaxContext));
  CAIRN_TRY(const std::int64_t segments, f.integer_or("type_vocab_size", 2, 0, kMaxVocabulary));
  if (segments > 0) s.extras.push_back(table(type_embedding, segments, s.hidden));
  s.extras.push_back(vector(embedding_norm, s.hidden, true));
  CAIRN_CHECK(nomic_experts(f, s));
  CAIRN_CHECK(add_top(f, {.family = "nomic-bert"}, s));
  return s;
}

// Alibaba's "new" BERT: rotary positions, a gated feed-forward with one bias
// (https://huggingface.co/Alibaba-NLP/new-impl/blob/main/modeling.py).
Result<ModelSpec> gte(Fields& f) {
  skip_common(f);
  f.skip({"logn_attention_clip1", "logn_attention_scale", "pack_qkv", "unpad_inputs",
          "use_memory_efficient_attention", "layer_norm_type", "position_embedding_type"});
  CAIRN_TRY(const Stack stack, read_stack(f));
  ModelSpec s = after_norms(stack, "gte", {.gated = true});
  for (LayerSpec& layer : s.layers) {
    layer.feed_forward.bias = false;
    layer.extras = {vector(ffn_down, s.hidden)};
  }
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  CAIRN_TRY(const std::int64_t segments, f.integer_or("type_vocab_size", 1, 0, kMaxVocabulary));
  if (segments > 0) s.extras.push_back(table(type_embedding, segments, s.hidden));
  s.extras.push_back(vector(embedding_norm, s.hidden, true));
  CAIRN_CHECK(add_top(f, {.family = "gte", .sequence_pooler = true}, s));
  return s;
}

// Norms before the parts, without biases; the first layer's attention has none
// (arXiv:2412.13663, appendix D). Every third layer sees all positions.
Result<ModelSpec> modernbert(Fields& f) {
  skip_common(f);
  f.skip({"reference_compile", "sparse_prediction", "sparse_pred_ignore_index",
          "repad_logits_with_grad", "deterministic_flash_attn", "layer_types", "attention_layer",
          "embedding_dropout"});
  CAIRN_TRY(const Stack stack, read_stack(f));
  CAIRN_TRY(const bool bias, f.flag("attention_bias", false));
  CAIRN_TRY(const bool mlp_bias, f.flag("mlp_bias", false));
  CAIRN_TRY(const bool norm_bias, f.flag("norm_bias", false));
  CAIRN_TRY(const bool head_bias, f.flag("classifier_bias", false));
  CAIRN_TRY(const std::int64_t every, f.integer_or("global_attn_every_n_layers", 3, 1, kMaxLayers));
  CAIRN_TRY(const std::int64_t window, f.integer_or("local_attention", 128, 1, kMaxContext));
  CAIRN_TRY(const bool decoder_bias, f.flag("decoder_bias", true));
  ModelSpec s =
      stack_spec(stack, ModelPart::language, {.bias = bias, .gated = true, .rms = !norm_bias});
  s.family = "modernbert";
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    LayerSpec& layer = s.layers[i];
    layer.feed_forward.bias = mlp_bias;
    if (i == 0) layer.norms = 1;
    if (static_cast<std::int64_t>(i) % every == 0) continue;
    layer.attention.kind = AttentionKind::sliding;
    layer.attention.window = window;
  }
  CAIRN_TRY(s.vocabulary, f.integer("vocab_size", 1, kMaxVocabulary));
  CAIRN_TRY(s.max_context, f.integer("max_position_embeddings", 1, kMaxContext));
  s.extras.push_back(vector(embedding_norm, s.hidden, norm_bias));
  CAIRN_TRY(const Top top, top_of(f));
  CAIRN_TRY(const bool tied, f.flag("tie_word_embeddings", true));
  CAIRN_TRY(const std::int64_t count, labels(f));
  if (top == Top::none) return s;
  masked_head(s, s.hidden, tied, head_bias, norm_bias);
  s.output_bias = decoder_bias;
  if (top == Top::masked) return s;
  s.output_head = s.output_bias = s.tied_embeddings = false;
  s.extras.push_back(matrix(classifier, top == Top::answers ? 2 : count, s.hidden, true));
  return s;
}

constexpr auto kFamilies = std::to_array<Family>({
    {"BertModel", "bert", bert},
    {"BertForMaskedLM", {}, bert},
    {"BertForPreTraining", {}, bert},
    {"BertForSequenceClassification", {}, bert},
    {"BertForTokenClassification", {}, bert},
    {"BertForQuestionAnswering", {}, bert},
    {"RobertaModel", "roberta", roberta},
    {"RobertaForMaskedLM", {}, roberta},
    {"RobertaForSequenceClassification", {}, roberta},
    {"RobertaForTokenClassification", {}, roberta},
    {"RobertaForQuestionAnswering", {}, roberta},
    {"XLMRobertaModel", "xlm-roberta", roberta},
    {"XLMRobertaForMaskedLM", {}, roberta},
    {"XLMRobertaForSequenceClassification", {}, roberta},
    {"XLMRobertaForTokenClassification", {}, roberta},
    {"XLMRobertaForQuestionAnswering", {}, roberta},
    {"CamembertModel", "camembert", roberta},
    {"CamembertForMaskedLM", {}, roberta},
    {"ElectraModel", "electra", electra},
    {"ElectraForMaskedLM", {}, electra},
    {"ElectraForSequenceClassification", {}, electra},
    {"ElectraForTokenClassification", {}, electra},
    {"ElectraForQuestionAnswering", {}, electra},
    {"MPNetModel", "mpnet", mpnet},
    {"MPNetForMaskedLM", {}, mpnet},
    {"DistilBertModel", "distilbert", distilbert},
    {"DistilBertForMaskedLM", {}, distilbert},
    {"DistilBertForSequenceClassification", {}, distilbert},
    {"DistilBertForTokenClassification", {}, distilbert},
    {"DistilBertForQuestionAnswering", {}, distilbert},
    {"DebertaModel", "deberta", deberta},
    {"DebertaForMaskedLM", {}, deberta},
    {"DebertaForSequenceClassification", {}, deberta},
    {"DebertaV2Model", "deberta-v2", deberta_v2},
    {"DebertaV2ForMaskedLM", {}, deberta_v2},
    {"DebertaV2ForSequenceClassification", {}, deberta_v2},
    {"DebertaV2ForTokenClassification", {}, deberta_v2},
    {"NomicBertModel", "nomic_bert", nomic_bert},
    {"NewModel", "new", gte},
    {"NewForSequenceClassification", {}, gte},
    {"NewForTokenClassification", {}, gte},
    {"GteModel", "gte", gte},
    {"GteForSequenceClassification", {}, gte},
    {"ModernBertModel", "modernbert", modernbert},
    {"ModernBertForMaskedLM", {}, modernbert},
    {"ModernBertForSequenceClassification", {}, modernbert},
    {"ModernBertForTokenClassification", {}, modernbert},
});

}  // namespace

std::span<const Family> encoder_families() { return kFamilies; }

}  // namespace cairn::hf
