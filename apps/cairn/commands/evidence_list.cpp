#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "../evidence_input.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "evidence.h"

namespace cairn::cli {
namespace {

// The members of an object, which the caller begins and ends.
void write_source(JsonWriter& json, const EvidenceSource& source) {
  json.field("key", source.key).field("url", source.url);
  json.field("date", source.date).field("kind", name_of(source.kind));
  json.field("campaign", source.campaign).field("confirmed", source.confirmed);
}

void write_item(JsonWriter& json, const EvidenceItem& item) {
  json.begin_object().field("id", item.id).field("set", name_of(item.set));
  json.field("gpu", item.gpu).field("gpu_printed", item.gpu_printed);
  json.field("devices", item.devices);
  json.field("model", item.model).field("model_printed", item.model_printed);
  json.field("engine", item.engine).field("metric", item.metric);
  json.field("value", item.value).field("unit", item.unit);
  json.field("date", item.source->date).field("source", item.source->key);
  json.field("campaign", item.source->campaign).field("doubt", item.doubt).end_object();
}

std::string figure_of(const EvidenceItem& item) {
  return format_number(item.value) + " " + std::string(item.unit);
}

std::string card_of(const EvidenceItem& item) {
  const std::string_view name = item.gpu.empty() ? item.gpu_printed : item.gpu;
  return item.devices > 1 ? fmt::format("{} x {}", format_count(item.devices), name)
                          : std::string(name);
}

}  // namespace

Result<Answer> run_evidence_list(Context& context) {
  CAIRN_TRY(const OpenEvidence evidence, open_evidence(context));
  CAIRN_TRY(const EvidenceFilter filter, filter_of(context, evidence.names, true));
  const auto top = static_cast<std::size_t>(context.args.integer(kOfTop).value_or(50));
  const Translator& t = context.tr;
  TextTable table({{t.tr("id")},
                   {t.tr("accelerator")},
                   {t.tr("model")},
                   {t.tr("engine")},
                   {t.tr("metric")},
                   {t.tr("value"), Align::right},
                   {t.tr("date")},
                   {t.tr("doubt")}});
  JsonWriter json;
  json.begin_object().field("schema", "cairn.evidence_list/1").key("rows").begin_array();
  std::size_t found = 0;
  evidence.book.visit([&](const EvidenceItem& item) {
    if (!matches(item, filter) || ++found > top) return;
    if (context.json) {
      write_item(json, item);
      return;
    }
    table.add({item.id,
               card_of(item),
               item.model.empty() ? item.model_printed : item.model,
               item.engine,
               item.metric,
               figure_of(item),
               item.source->date,
               {std::string(item.doubt), Tone::warn}});
  });
  json.end_array().field("found", found).field("shown", std::min(found, top)).end_object();
  context.console.out(context.json ? json.text() : table.render(context.console.style()));
  if (!context.json) {
    context.console.note(t.tr("{} of {} rows; cairn evidence show ID gives all that a page says",
                              std::min(found, top), found));
  }
  return found > 0 ? Answer::yes : Answer::no;
}

Result<Answer> run_evidence_show(Context& context) {
  CAIRN_TRY(const OpenEvidence evidence, open_evidence(context));
  const std::string_view id = context.args.argument(0);
  const auto item = evidence.book.find(id);
  if (!item) {
    return fail(not_found(std::string(msg("no evidence of this id"))).got(id));
  }
  const CardName card = evidence.names.card(item->gpu_printed);
  const std::vector<EvidenceCell> cells = evidence.book.cells(id);
  const auto& rows = evidence.book.inference();
  const auto row = std::ranges::find(rows, id, &InferenceRow::id);
  const std::string format = row == rows.end() ? "" : row->format;
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.evidence_show/1");
    json.field("id", id).field("set", name_of(item->set)).key("columns").begin_object();
    for (const EvidenceCell& cell : cells) json.field(cell.column, cell.text);
    json.end_object().key("resolved").begin_object();
    json.field("gpu", item->gpu).array("gpu_candidates", card.candidates);
    json.field("gpu_note", card.note).field("model", item->model).field("format", format);
    json.field("engine", item->engine).end_object().key("source").begin_object();
    write_source(json, *item->source);
    json.end_object().end_object();
    context.console.out(json.text());
    return Answer::yes;
  }
  const Translator& t = context.tr;
  TextTable table({{t.tr("column")}, {t.tr("value")}});
  for (const EvidenceCell& cell : cells) table.add({cell.column, cell.text});
  context.console.out(table.render(context.console.style()) + "\n");
  TextTable meaning({{t.tr("stands for")}, {""}});
  meaning.add({t.tr("accelerator"), item->gpu.empty() ? card.note : std::string(item->gpu)});
  if (item->set != EvidenceSet::micro) meaning.add({t.tr("model"), item->model});
  if (!format.empty()) meaning.add({t.tr("weight format"), format});
  meaning.add({t.tr("page"), item->source->url});
  meaning.add({t.tr("campaign"), item->source->campaign});
  meaning.add({t.tr("date"), item->source->date});
  meaning.add({t.tr("measured by"), t.tr(word_for(item->source->kind))});
  context.console.out(meaning.render(context.console.style()));
  return Answer::yes;
}

Result<Answer> run_evidence_sources(Context& context) {
  CAIRN_TRY(const OpenEvidence evidence, open_evidence(context));
  CAIRN_TRY(const EvidenceFilter filter, filter_of(context, evidence.names, false));
  std::map<const EvidenceSource*, std::size_t> rows;
  evidence.book.visit([&rows](const EvidenceItem& item) { ++rows[item.source]; });
  struct Campaign {
    std::size_t pages = 0;
    std::size_t rows = 0;
    SourceKind kind = SourceKind::community;
    std::string_view newest;
  };
  std::map<std::string_view, Campaign> campaigns;
  JsonWriter json;
  json.begin_object().field("schema", "cairn.evidence_sources/1").key("sources").begin_array();
  for (const EvidenceSource& source : evidence.book.sources().all()) {
    if (!matches(source, filter)) continue;
    Campaign& c = campaigns[source.campaign];
    ++c.pages;
    c.rows += rows[&source];
    c.kind = source.kind;
    c.newest = std::max(c.newest, std::string_view(source.date));
    json.begin_object();
    write_source(json, source);
    json.field("rows", rows[&source]).end_object();
  }
  json.end_array().field("campaigns", campaigns.size()).end_object();
  if (context.json) {
    context.console.out(json.text());
    return campaigns.empty() ? Answer::no : Answer::yes;
  }
  std::vector<std::pair<std::string_view, Campaign>> sorted(campaigns.begin(), campaigns.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const auto& entry) { return entry.second.rows; });
  const Translator& t = context.tr;
  TextTable table({{t.tr("campaign")},
                   {t.tr("measured by")},
                   {t.tr("pages"), Align::right},
                   {t.tr("rows"), Align::right},
                   {t.tr("newest")}});
  const auto top = static_cast<std::size_t>(context.args.integer(kOfTop).value_or(50));
  for (const auto& [name, c] : sorted) {
    if (table.rows() >= top) break;
    table.add({name, t.tr(word_for(c.kind)), format_count(static_cast<double>(c.pages)),
               format_count(static_cast<double>(c.rows)), c.newest});
  }
  context.console.out(table.render(context.console.style()));
  context.console.note(t.tr("{} of {} campaigns", table.rows(), campaigns.size()));
  return campaigns.empty() ? Answer::no : Answer::yes;
}

}  // namespace cairn::cli
