#include "fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "../inputs.h"
#include "../render.h"
#include "cairn/plan/fit.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

std::string cards(const Fit& f) {
  return fmt::format("{} x {}", f.layout.devices(), f.accelerator->id);
}

void write_pools(JsonWriter& json, const UnifiedPools& pools) {
  json.key("unified_memory").begin_object();
  json.field("carve_out_bytes", pools.uses_carve_out ? pools.carve_out : Bytes{});
  if (pools.smaller_carve_out) json.field("smaller_carve_out_bytes", *pools.smaller_carve_out);
  json.field("gtt_bytes", pools.uses_gtt ? pools.gtt : Bytes{});
  json.field("default_gtt_bytes", pools.default_gtt);
  json.key("kernel_parameters").begin_object();
  for (const KernelParameter& p : pools.parameters) json.field(p.name, p.value);
  json.end_object().end_object();
}

std::string pools_text(const Fit& f, bool as_set, const std::string& parameters,
                       const Translator& t) {
  const UnifiedPools& pools = *f.unified;
  const std::string carve_out = format(pools.carve_out);
  const std::string gtt = format(as_set ? pools.gtt : pools.default_gtt);
  const auto fill = [&](std::string_view sentence) {
    return t.tr(
        message(sentence, f.accelerator->id, f.engine->id, carve_out, gtt, f.format, parameters));
  };
  if (pools.larger_only) {
    return fill(as_set ? msg("{} in {} takes the larger of carve-out and GTT, as set up {} and {}; "
                             "for {} set {}")
                       : msg("{} in {} takes the larger of carve-out and GTT, by default {} and "
                             "{}; for {} set {}"));
  }
  return fill(
      as_set ? msg("{} in {} takes the carve-out and GTT, as set up {} and {}; for {} set {}")
             : msg("{} in {} takes the carve-out and GTT, by default {} and {}; for {} set {}"));
}

// What a machine with unified memory has to be told so that its GPU gets enough.
void note_pools(const std::vector<Fit>& fits, const UnifiedSetting& setting, Context& context) {
  const auto it = std::ranges::find_if(
      fits, [](const Fit& f) { return f.unified && !f.unified->parameters.empty(); });
  if (it == fits.end()) return;
  const Translator& t = context.tr;
  const UnifiedPools& pools = *it->unified;
  std::string parameters;
  for (const KernelParameter& p : pools.parameters) {
    if (!parameters.empty()) parameters += " ";
    parameters += fmt::format("{}={}", p.name, p.value);
  }
  context.console.note(pools_text(*it, setting.carve_out || setting.gtt, parameters, t));
  if (pools.smaller_carve_out) {
    context.console.note(
        t.tr("and let the firmware set aside {} only", format(*pools.smaller_carve_out)));
  }
  if (!pools.variable.empty()) {
    context.console.note(
        t.tr("or {}=1, with which {} takes plain system memory", pools.variable, it->engine->id));
  }
}

void write(const std::vector<Fit>& fits, bool yes, const FitRequest& request,
           const ModelInput& model, Context& context) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.fit/1").field("answer", yes);
  json.field("model", model.name);
  if (!model.like.empty()) json.field("like", model.like);
  json.field("context", request.context).field("sequences", request.sequences);
  json.key("fits").begin_array();
  for (const Fit& f : fits) {
    json.begin_object().field("accelerator", f.accelerator->id);
    json.field("cards", f.layout.devices()).field("engine", f.engine->id);
    json.field("weights", f.format).field("weights_approximate", f.approximate);
    json.field("bits_per_weight", f.bits_per_weight);
    json.field("largest_context", f.largest_context).field("largest_batch", f.largest_batch);
    json.key("memory");
    write_memory(json, f.memory);
    if (f.unified) write_pools(json, *f.unified);
    json.end_object();
  }
  json.end_array().end_object();
  context.console.out(json.text());
}

void print(const std::vector<Fit>& fits, const FitRequest& request, const std::string& model,
           Context& context) {
  const Translator& t = context.tr;
  context.console.out(t.tr("{}: {} positions for each of {} sequences", model,
                           format_count(static_cast<double>(request.context)), request.sequences) +
                      "\n\n");
  TextTable table({{t.tr("cards")},
                   {t.tr("engine")},
                   {t.tr("weights")},
                   {t.tr("bits"), Align::right},
                   {t.tr("per card"), Align::right},
                   {t.tr("of"), Align::right},
                   {""},
                   {t.tr("longest context"), Align::right},
                   {t.tr("most sequences"), Align::right}});
  for (const Fit& f : fits) {
    const DeviceMemory* fullest = &f.memory.devices.front();
    for (const DeviceMemory& d : f.memory.devices) {
      if (d.total > fullest->total) fullest = &d;
    }
    const FitWord verdict = fit_word(f.memory.fits, f.memory.narrow());
    table.add({cards(f), f.engine->id, f.format + (f.approximate ? "~" : ""),
               format_number(f.bits_per_weight), format(fullest->total), format(fullest->capacity),
               Cell(t.tr(verdict.word), verdict.tone),
               format_count(static_cast<double>(f.largest_context)),
               format_count(static_cast<double>(f.largest_batch))});
  }
  context.console.out(table.render(context.console.style()));
}

void note_narrow(const std::vector<Fit>& fits, Context& context) {
  const auto it = std::ranges::find_if(fits, [](const Fit& f) { return f.memory.narrow(); });
  if (it == fits.end()) return;
  context.console.note(context.tr.tr(narrow_note(it->memory)));
}

}  // namespace

Result<Answer> run_fit(Context& context) {
  const ParsedCommand& args = context.args;
  CAIRN_TRY(const Knowledge knowledge, open_set_up(context));
  CAIRN_TRY(const ModelInput model, model_of(std::string(args.argument(0)), context, knowledge));
  FitRequest request;
  CAIRN_TRY(request.accelerators, accelerators_of(args, knowledge));
  CAIRN_TRY(request.settings, settings_of(args, knowledge));
  CAIRN_CHECK(engine_is_named(args));
  if (const auto name = args.text(kEngine)) {
    CAIRN_TRY(const EngineInfo* engine, knowledge.engines.find(*name));
    request.engines.push_back(engine);
    CAIRN_CHECK(check_build(args, *engine, model, knowledge));
    if (names_layout(args)) {
      CAIRN_TRY(request.settings.layout, layout_of(args, *engine));
    }
  } else {
    // HIP and Vulkan builds of llama.cpp hold the same; one line for both.
    for (const EngineInfo& e : knowledge.engines.all()) {
      if (e.id != "llama.cpp-vulkan") request.engines.push_back(&e);
    }
  }
  if (!request.settings.weights.empty()) request.formats = {request.settings.weights};
  request.cards = args.integer(kGpus);
  request.unified = unified_of(args);
  const std::int64_t limit = position_limit(model.graph->spec);
  request.context =
      args.integer(kContext).value_or(limit > 0 ? std::min<std::int64_t>(limit, 4096) : 4096);
  request.sequences = args.integer(kConcurrency).value_or(args.integer(kParallel).value_or(1));
  CAIRN_TRY(const std::vector<Fit> fits, fit(model, request, knowledge));
  const bool yes = fits.front().memory.fits;
  if (context.json) {
    write(fits, yes, request, model, context);
  } else {
    print(fits, request, model.name, context);
    note_pools(fits, request.unified, context);
    note_narrow(fits, context);
    if (fits.front().host_note) context.console.note(context.tr.tr(*fits.front().host_note));
    const std::int64_t made_for = model.graph->spec.max_context;
    if (made_for > 0 && request.context > made_for) {
      context.console.note(context.tr.tr("the model was made for {} positions, not for {}",
                                         made_for, request.context));
    }
  }
  return yes ? Answer::yes : Answer::no;
}

}  // namespace cairn::cli
