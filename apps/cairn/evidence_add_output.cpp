#include "evidence_add_output.h"

#include <fmt/format.h>

#include "cairn/evidence/readers/output_text.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

void print(const AddOutcome& o, Context& context) {
  const Translator& t = context.tr;
  TextTable table({{"ID"},
                   {t.tr("card")},
                   {t.tr("model")},
                   {t.tr("weights")},
                   {t.tr("engine")},
                   {t.tr("shape")},
                   {t.tr("metric")},
                   {t.tr("value"), Align::right},
                   {""},
                   {""}});
  for (const AddedFigure& f : o.figures) {
    const std::string cards =
        f.devices.value_or(1) > 1 ? fmt::format("{} x {}", format_count(*f.devices), f.gpu) : f.gpu;
    const std::string remark = !f.added ? std::string(t.tr(msg("already there"))) : f.doubt;
    table.add({f.id.empty() ? "–" : f.id,
               cards,
               f.model,
               f.format,
               f.engine,
               f.shape,
               f.metric,
               number_text(f.value),
               f.unit,
               {remark, f.added ? Tone::warn : Tone::dim}});
  }
  context.console.out(table.render(context.console.style()));
  const std::size_t known = o.figures.size() - o.added;
  context.console.note(o.dry_run
                           ? t.tr("{0}: {1} figures would be added to {2}; {3} are there already",
                                  o.tool, o.added, o.folder, known)
                           : t.tr("{0}: {1} figures added to {2}; {3} were there already", o.tool,
                                  o.added, o.folder, known));
}

void write(const AddOutcome& o, JsonWriter& json) {
  json.begin_object().field("schema", "cairn.evidence_add/1").field("file", o.file);
  json.field("tool", o.tool).field("folder", o.folder).field("dry_run", o.dry_run);
  json.field("added", o.added).field("already_there", o.figures.size() - o.added);
  json.key("figures").begin_array();
  for (const AddedFigure& f : o.figures) {
    json.begin_object().field("id", f.id).field("added", f.added).field("set", f.set);
    json.field("gpu", f.gpu).field("devices", f.devices).field("model", f.model);
    json.field("format", f.format).field("engine", f.engine).field("shape", f.shape);
    json.field("metric", f.metric).field("value", f.value).field("unit", f.unit);
    json.field("doubt", f.doubt).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void show(const AddOutcome& outcome, Context& context) {
  if (!context.json) {
    print(outcome, context);
    return;
  }
  JsonWriter json;
  write(outcome, json);
  context.console.out(json.text());
}

}  // namespace cairn::cli
