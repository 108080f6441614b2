#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "../inputs.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "models.h"

namespace cairn::cli {
namespace {

std::string_view word_for(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::full:
      return msg("full attention");
    case AttentionKind::sliding:
      return msg("sliding window");
    case AttentionKind::chunked:
      return msg("chunked attention");
    case AttentionKind::mla:
      return msg("latent attention");
    case AttentionKind::cross:
      return msg("attention to an encoder");
    case AttentionKind::compressed:
      return msg("compressed attention");
  }
  return msg("full attention");
}

std::string_view name_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::full:
      return "full";
    case AttentionKind::sliding:
      return "sliding";
    case AttentionKind::chunked:
      return "chunked";
    case AttentionKind::mla:
      return "mla";
    case AttentionKind::cross:
      return "cross";
    case AttentionKind::compressed:
      return "compressed";
  }
  return "full";
}

std::string_view name_of(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::none:
      return "none";
    case RecurrentKind::gated_delta_net:
      return "gated-delta-net";
    case RecurrentKind::kimi_delta:
      return "kimi-delta";
    case RecurrentKind::lightning:
      return "lightning";
    case RecurrentKind::mamba:
      return "mamba";
    case RecurrentKind::mamba2:
      return "mamba2";
    case RecurrentKind::rwkv:
      return "rwkv";
    case RecurrentKind::short_conv:
      return "short-conv";
  }
  return "none";
}

std::string_view name_of(ModelPart part) {
  switch (part) {
    case ModelPart::language:
      return "language";
    case ModelPart::encoder:
      return "encoder";
    case ModelPart::vision:
      return "vision";
    case ModelPart::audio:
      return "audio";
    case ModelPart::mtp:
      return "mtp";
  }
  return "language";
}

// Layers of one kind and what they keep of a sequence.
struct LayerKind {
  AttentionKind kind = AttentionKind::full;
  RecurrentKind recurrent = RecurrentKind::none;
  bool attends = true;
  std::int64_t window = 0;
  std::int64_t compress = 0;  // positions that an entry beyond the window stands for
  std::int64_t layers = 0;
  std::int64_t elements = 0;  // per position, all layers of the kind
  std::int64_t state = 0;     // per sequence, all layers of the kind
};

std::string_view word_for(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::none:
      return msg("feed-forward only");
    case RecurrentKind::gated_delta_net:
    case RecurrentKind::kimi_delta:
    case RecurrentKind::lightning:
      return msg("linear attention");
    case RecurrentKind::mamba:
    case RecurrentKind::mamba2:
      return msg("state space");
    case RecurrentKind::rwkv:
      return msg("RWKV");
    case RecurrentKind::short_conv:
      return msg("short convolution");
  }
  return msg("feed-forward only");
}

std::string_view word_for(const LayerKind& k) {
  if (!k.attends) return word_for(k.recurrent);
  return word_for(k.kind);
}

std::string_view word_for(ModelPart part) {
  switch (part) {
    case ModelPart::language:
      return msg("language model");
    case ModelPart::encoder:
      return msg("encoder");
    case ModelPart::vision:
      return msg("vision tower");
    case ModelPart::audio:
      return msg("audio tower");
    case ModelPart::mtp:
      return msg("draft layers (MTP)");
  }
  return msg("language model");
}

std::string_view name_of(const LayerKind& k) {
  if (k.attends) return name_of(k.kind);
  return name_of(k.recurrent);
}

std::vector<LayerKind> layer_kinds(const Graph& graph) {
  using Key = std::tuple<bool, AttentionKind, RecurrentKind, std::int64_t, std::int64_t>;
  std::map<Key, LayerKind> kinds;
  for (const LayerSpec& layer : graph.spec.layers) {
    const AttentionSpec& a = layer.attention;
    const bool attends = a.heads > 0;
    LayerKind& k = kinds[{!attends, a.kind, layer.recurrent.kind, a.window, a.compress}];
    k.kind = a.kind;
    k.recurrent = layer.recurrent.kind;
    k.attends = attends;
    k.window = a.window;
    k.layers += 1;
    k.compress = a.compress;
    // Beyond the window, an entry stands for several positions.
    const std::int64_t each = kv_elements_per_token(a) + index_elements_per_token(a);
    k.elements += each / std::max<std::int64_t>(1, a.compress);
    k.state +=
        layer.recurrent.state_elements() + layer.recurrent.window_elements(graph.spec.hidden);
  }
  std::vector<LayerKind> out;
  out.reserve(kinds.size());
  for (const auto& [key, kind] : kinds) out.push_back(kind);
  return out;
}

// FLOPs of one token at a context: decode of one sequence.
Flops flops_per_token(const Graph& graph, double context) {
  Flops total{};
  for (const Operator& op : graph.operators) {
    total += flops(
        op, {.sequences = 1, .tokens_per_sequence = 1, .context = context, .output_tokens = 1});
  }
  return total;
}

// Checkpoints hold the towers of a multimodal model; GGUF has them in a file of its own.
struct Sized {
  const WeightFormatInfo* format;
  Bytes bytes;
  double bits_per_weight;
  bool approximate;
};

std::int64_t tower_parameters(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Graph& part : graph.parts) {
    const ModelPart kind = part.spec.part;
    const bool tower = kind == ModelPart::vision || kind == ModelPart::audio;
    if (tower) sum += count_parameters(part).total;
  }
  return sum;
}

std::vector<Sized> sizes(const ModelInput& model, const Knowledge& knowledge,
                         std::string_view wanted) {
  std::vector<Sized> out;
  const Graph& graph = *model.graph;
  const std::int64_t all = count_parameters(graph).total;
  const std::int64_t towers = tower_parameters(graph);
  for (const WeightFormatInfo& info : knowledge.weight_formats.all()) {
    // Those of Apple's engine are there to read files, not to choose from.
    if (wanted.empty() && info.kind == "mlx") continue;
    if (!wanted.empty() && knowledge.weight_formats.find(wanted) != &info) continue;
    const auto bound =
        knowledge.weight_formats.bind(*model.graph, wanted.empty() ? info.name : wanted);
    if (!bound) continue;
    const bool gguf = info.kind == "gguf";
    const Bytes bytes = gguf ? bound->total(graph) : bound->total(graph) + bound->towers(graph);
    const auto weights = static_cast<double>(gguf ? all - towers : all);
    out.push_back({&info, bytes, 8 * bytes.value() / weights, bound->approximate});
  }
  return out;
}

struct View {
  const ModelInput& model;
  const ModelListing* listing;
  ParameterCount parameters;
  std::vector<LayerKind> kinds;
  std::vector<Sized> sized;
  double context;
};

void write_parts(const Graph& graph, JsonWriter& json) {
  json.key("parts").begin_array();
  for (const Graph& part : graph.parts) {
    json.begin_object().field("part", name_of(part.spec.part));
    json.field("parameters", count_parameters(part).total).field("hidden", part.spec.hidden);
    json.field("layers", part.spec.layers.size()).field("positions", part.spec.positions);
    json.field("outputs", part.spec.outputs).end_object();
  }
  json.end_array();
}

void write(const View& v, Context& context) {
  const ModelSpec& s = v.model.graph->spec;
  JsonWriter json;
  json.begin_object().field("schema", "cairn.model/1").field("id", v.model.name);
  if (!v.model.like.empty()) json.field("like", v.model.like);
  json.field("architecture", s.architecture).field("family", s.family);
  json.field("hidden", s.hidden).field("vocabulary", s.vocabulary);
  json.field("layers", s.layers.size()).field("max_context", s.max_context);
  json.field("published_format", s.published_format);
  json.key("parameters").begin_object().field("total", v.parameters.total);
  json.field("active", v.parameters.active).field("embedding", v.parameters.embedding);
  json.field("attention", v.parameters.attention).field("dense_ffn", v.parameters.dense_ffn);
  json.field("experts", v.parameters.experts).field("recurrent", v.parameters.recurrent);
  json.field("norms", v.parameters.norms).field("other", v.parameters.other);
  json.field("parts", v.parameters.parts).end_object();
  write_parts(*v.model.graph, json);
  json.key("layer_kinds").begin_array();
  for (const LayerKind& k : v.kinds) {
    json.begin_object().field("attention", name_of(k)).field("window", k.window);
    json.field("compress", k.compress);
    json.field("layers", k.layers).field("kv_elements_per_token", k.elements);
    json.field("kv_bytes_per_token_fp16", 2 * k.elements);
    json.field("state_elements", k.state).end_object();
  }
  json.end_array();
  json.field("flops_per_token", flops_per_token(*v.model.graph, v.context));
  json.field("flops_at_context", v.context).key("bytes_by_format").begin_array();
  for (const Sized& size : v.sized) {
    json.begin_object().field("format", size.format->name).field("kind", size.format->kind);
    json.field("bytes", size.bytes).field("approximate", size.approximate);
    json.field("bits_per_weight", size.bits_per_weight);
    json.end_object();
  }
  json.end_array();
  if (v.model.stored) {
    json.key("stored").begin_object().field("format", v.model.stored->format);
    json.field("bytes", v.model.stored->total(*v.model.graph));
    json.field("file_bytes", v.model.file_bytes).end_object();
  }
  json.key("source");
  if (v.listing != nullptr) {
    json.begin_object().field("url", v.listing->source_url).field("date", v.listing->date);
    json.field("note", v.listing->note).end_object();
  } else {
    json.null();
  }
  json.end_object();
  context.console.out(json.text());
}

void print_structure(const View& v, Context& context) {
  const Translator& t = context.tr;
  const ModelSpec& s = v.model.graph->spec;
  context.console.out(fmt::format("{} — {}\n", v.model.name, s.architecture));
  context.console.out(t.tr("{} layers, hidden size {}, vocabulary {}, up to {} positions",
                           s.layers.size(), s.hidden,
                           format_count(static_cast<double>(s.vocabulary)),
                           format_count(static_cast<double>(s.max_context))) +
                      "\n\n");
  TextTable parts({{t.tr("parameters")}, {"", Align::right}});
  const auto part = [&](std::string_view name, std::int64_t n) {
    if (n > 0) parts.add({t.tr(name), format_count(static_cast<double>(n))});
  };
  part(msg("in all"), v.parameters.total);
  part(msg("active per token"), v.parameters.active);
  part(msg("embedding and head"), v.parameters.embedding);
  part(msg("attention"), v.parameters.attention);
  part(msg("dense feed-forward"), v.parameters.dense_ffn);
  part(msg("experts"), v.parameters.experts);
  part(msg("linear attention and state spaces"), v.parameters.recurrent);
  part(msg("norms"), v.parameters.norms);
  part(msg("other"), v.parameters.other);
  for (const Graph& inner : v.model.graph->parts) {
    part(word_for(inner.spec.part), count_parameters(inner).total);
  }
  context.console.out(parts.render(context.console.style()) + "\n");
  for (const Graph& inner : v.model.graph->parts) {
    const ModelSpec& p = inner.spec;
    if (p.positions == 0) continue;
    context.console.out(t.tr("{}: {} layers, hidden size {}, {} positions for one input, {} tokens "
                             "for the language model",
                             t.tr(word_for(p.part)), p.layers.size(), p.hidden, p.positions,
                             p.outputs) +
                        "\n\n");
  }
  TextTable kinds({{t.tr("layers"), Align::right},
                   {t.tr("attention")},
                   {t.tr("window"), Align::right},
                   {t.tr("KV per position, fp16"), Align::right},
                   {t.tr("state per sequence, fp32"), Align::right}});
  for (const LayerKind& k : v.kinds) {
    kinds.add({format_count(static_cast<double>(k.layers)), t.tr(word_for(k)),
               k.window > 0 ? format_count(static_cast<double>(k.window)) : "–",
               format(Bytes(2.0 * static_cast<double>(k.elements))),
               k.state > 0 ? format(Bytes(4.0 * static_cast<double>(k.state))) : "–"});
  }
  context.console.out(kinds.render(context.console.style()));
  context.console.out(t.tr("FLOPs of one token at {} positions: {}", format_count(v.context),
                           format(flops_per_token(*v.model.graph, v.context))) +
                      "\n\n");
}

void print(const View& v, Context& context) {
  const Translator& t = context.tr;
  print_structure(v, context);
  if (v.model.stored) {
    context.console.out(t.tr("the file holds {} of weights ({} in all)",
                             format(v.model.stored->total(*v.model.graph)),
                             format(v.model.file_bytes)) +
                        "\n\n");
  }
  TextTable table({{t.tr("format")},
                   {t.tr("size"), Align::right},
                   {t.tr("bits per weight"), Align::right},
                   {""}});
  const bool chinese = t.language() == Language::zh;
  for (const Sized& size : v.sized) {
    table.add({size.format->name + (size.approximate ? "~" : ""), format(size.bytes),
               format_number(size.bits_per_weight),
               chinese ? size.format->description_zh : size.format->description});
  }
  context.console.out(table.render(context.console.style()));
  if (v.listing != nullptr) {
    context.console.note(t.tr("source: {} ({})", v.listing->source_url, v.listing->date));
  }
}

}  // namespace

Result<Answer> run_models_show(Context& context) {
  CAIRN_TRY(const Knowledge knowledge, open_knowledge(context));
  const std::string name(context.args.argument(0));
  CAIRN_TRY(const ModelInput model, model_of(name, context, knowledge));
  const auto listing = knowledge.models.listing(name);
  const std::string_view wanted = context.args.text(kWeights).value_or("");
  if (!wanted.empty() && knowledge.weight_formats.find(wanted) == nullptr) {
    return std::unexpected(knowledge.weight_formats.bind(*model.graph, wanted).error());
  }
  const View view{model,
                  listing ? &*listing : nullptr,
                  count_parameters(*model.graph),
                  layer_kinds(*model.graph),
                  sizes(model, knowledge, wanted),
                  static_cast<double>(context.args.integer(kContext).value_or(4096))};
  if (context.json) {
    write(view, context);
  } else {
    print(view, context);
  }
  return Answer::yes;
}

}  // namespace cairn::cli
