#include "models.h"

#include "../inputs.h"
#include "cairn/base/names.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {

Result<Answer> run_models(Context& context) {
  CAIRN_TRY(const Knowledge knowledge, open_knowledge(context));
  const std::string family = normalise_name(context.args.text(kModelFamily).value_or(""));
  const Translator& t = context.tr;
  TextTable table({{t.tr("model")},
                   {t.tr("family")},
                   {t.tr("parameters"), Align::right},
                   {t.tr("active"), Align::right},
                   {t.tr("layers"), Align::right},
                   {t.tr("context"), Align::right},
                   {t.tr("published in")}});
  JsonWriter json;
  json.begin_object().field("schema", "cairn.models/1").key("models").begin_array();
  std::size_t shown = 0;
  for (const ModelListing& listing : knowledge.models.all()) {
    if (!family.empty() && normalise_name(listing.family) != family) continue;
    CAIRN_TRY(const ModelSpec spec, knowledge.models.find(listing.id));
    const Graph graph = build_graph(spec);
    const ParameterCount n = count_parameters(graph);
    ++shown;
    json.begin_object().field("id", listing.id).field("family", listing.family);
    json.array("aliases", listing.aliases);
    json.field("parameters", n.total).field("active_parameters", n.active);
    json.field("layers", graph.spec.layers.size()).field("max_context", graph.spec.max_context);
    json.field("published_format", graph.spec.published_format);
    json.field("source", listing.source_url).field("date", listing.date).end_object();
    table.add({listing.id, listing.family, format_number(static_cast<double>(n.total) / 1e9) + " B",
               format_number(static_cast<double>(n.active) / 1e9) + " B",
               format_count(static_cast<double>(graph.spec.layers.size())),
               format_count(static_cast<double>(graph.spec.max_context)),
               graph.spec.published_format});
  }
  json.end_array().end_object();
  context.console.out(context.json ? json.text() : table.render(context.console.style()));
  if (!context.json) {
    context.console.note(
        t.tr("{} models; cairn models show MODEL gives structure and source", shown));
  }
  return shown > 0 ? Answer::yes : Answer::no;
}

}  // namespace cairn::cli
