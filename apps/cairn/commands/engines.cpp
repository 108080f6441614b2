#include "engines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cairn/engine/engine.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

std::string_view name_of(SplitMode split) {
  switch (split) {
    case SplitMode::none:
      return "none";
    case SplitMode::layer:
      return "layer";
    case SplitMode::row:
      return "row";
    case SplitMode::tensor:
      return "tensor";
  }
  return "none";
}

// The checkpoint formats that it runs anywhere.
std::vector<std::string> format_names(const EngineInfo& e) {
  std::vector<std::string> out;
  for (const FormatSupport& f : e.formats) {
    for (const std::string& name : f.formats) {
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

void write_reference(JsonWriter& json, const EngineConfig& c) {
  json.key("reference").begin_object().field("version", c.version);
  json.field("flash_attention", c.flash_attention).field("ubatch", c.ubatch);
  json.field("batch", c.batch).field("max_batched_tokens", c.max_batched_tokens);
  json.field("max_sequences", c.max_sequences).field("memory_fraction", c.memory_fraction);
  json.field("block_tokens", c.block_tokens).field("graph_capture", c.graph_capture);
  json.field("kv_format", c.kv_format).end_object();
}

void write_engine(JsonWriter& json, const EngineInfo& e) {
  json.begin_object().field("id", e.id).field("name", e.name);
  json.array("aliases", e.aliases).array("vendors", e.vendors);
  json.array("architectures", e.architectures).array("format_kinds", e.format_kinds);
  json.array("community", e.community).array("formats", format_names(e));
  json.key("format_support").begin_array();
  for (const FormatSupport& f : e.formats) {
    json.begin_object().array("formats", f.formats).array("on", f.on).end_object();
  }
  json.end_array().array("kv_formats", e.kv_formats);
  json.field("split", name_of(e.split));
  write_reference(json, e.reference);
  json.end_object();
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// The sources of an engine's record, one a line.
void print_sources(Node record, Context& context) {
  const auto sources = record.find_value("sources");
  for (std::uint32_t i = 0; sources && i < sources->size(); ++i) {
    const Member m = sources->member(i);
    const auto url = m.value.get_or<std::string_view>("url", "");
    const auto date = m.value.get_or<std::string_view>("date", "");
    if (url && date) context.console.out(fmt::format("  {}  {}  {}\n", m.key, *url, *date));
  }
}

void print_reference(const EngineInfo& e, Context& context) {
  const Translator& t = context.tr;
  const EngineConfig& c = e.reference;
  TextTable table({{t.tr("reference configuration")}, {""}});
  table.add({t.tr("version"), c.version});
  table.add({t.tr("flash attention"), t.tr(c.flash_attention ? msg("on") : msg("off"))});
  table.add({t.tr("KV cache"), c.kv_format});
  if (e.family == EngineFamily::llama_cpp) {
    table.add({"batch / ubatch", fmt::format("{} / {}", c.batch, c.ubatch)});
  } else {
    table.add({"max-num-batched-tokens", std::to_string(c.max_batched_tokens)});
    table.add({"max-num-seqs", std::to_string(c.max_sequences)});
    table.add({"gpu-memory-utilization", c.memory_fraction > 0
                                             ? fmt::format("{}", c.memory_fraction)
                                             : std::string(t.tr("automatic"))});
    table.add({"block-size", std::to_string(c.block_tokens)});
  }
  context.console.out(table.render(context.console.style()));
}

}  // namespace

Result<Answer> run_engines(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const EngineCatalogue engines, EngineCatalogue::load(image));
  const Translator& t = context.tr;
  TextTable table({{t.tr("engine")},
                   {t.tr("name")},
                   {t.tr("vendors")},
                   {t.tr("formats")},
                   {t.tr("splits by")},
                   {t.tr("version")}});
  JsonWriter json;
  json.begin_object().field("schema", "cairn.engines/1").key("engines").begin_array();
  for (const EngineInfo& e : engines.all()) {
    write_engine(json, e);
    table.add({e.id, e.name, joined(e.vendors), joined(e.format_kinds), name_of(e.split),
               e.reference.version});
  }
  json.end_array().end_object();
  context.console.out(context.json ? json.text() : table.render(context.console.style()));
  return Answer::yes;
}

Result<Answer> run_engines_show(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const EngineCatalogue engines, EngineCatalogue::load(image));
  CAIRN_TRY(const EngineInfo* engine, engines.find(context.args.argument(0)));
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.engine/1").key("engine");
    write_engine(json, *engine);
    json.end_object();
    context.console.out(json.text());
    return Answer::yes;
  }
  const Translator& t = context.tr;
  context.console.out(fmt::format("{} — {}\n", engine->id, engine->name));
  context.console.out(t.tr("runs on {}", joined(engine->vendors)) + "\n");
  if (!engine->formats.empty()) {
    context.console.out(t.tr("weight formats: {}", joined(format_names(*engine))) + "\n");
    for (const FormatSupport& f : engine->formats) {
      context.console.out(t.tr("  {} on {}", joined(f.formats), joined(f.on)) + "\n");
    }
  }
  context.console.out(t.tr("KV cache formats: {}", joined(engine->kv_formats)) + "\n\n");
  print_reference(*engine, context);
  context.console.out("\n" + std::string(t.tr("sources")) + "\n");
  print_sources(engines.record(*engine), context);
  return Answer::yes;
}

}  // namespace cairn::cli
