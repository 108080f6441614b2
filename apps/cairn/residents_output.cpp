#include "residents_output.h"

#include <fmt/format.h>

#include <set>

#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "plan_output.h"
#include "price_output.h"
#include "render.h"

namespace cairn::cli {
namespace {

void write(JsonWriter& json, const ResidentsCandidate& c) {
  json.begin_object().field("accelerator", c.accelerator).field("engine", c.engine);
  json.field("cards", c.cards).field("tp", c.layout.tp).field("pp", c.layout.pp);
  json.field("used_bytes", c.used).field("usable_bytes", c.usable);
  json.field("narrow", c.narrow());
  json.field("price", c.price).field("yearly_cost", c.yearly_cost);
  json.field("kwh_per_year", c.kwh_per_year).field("co2_kg_per_year", c.co2_kg_per_year);
  write_purchase(json, "purchase_price", c.purchase);
  json.key("models").begin_array();
  for (const ResidentFit& f : c.residents) {
    json.begin_object().field("memory_bytes", f.memory).field("bits_per_weight", f.bits_per_weight);
    json.field("busy", f.busy).field("slowdown", f.slowdown);
    json.field("ttft_ms", f.ttft_ms()).field("tpot_ms", f.tpot_ms());
    json.field("output_tokens_per_s", f.output_tokens_per_s).key("alone").begin_object();
    write_prediction(json, f.alone);
    json.end_object().end_object();
  }
  json.end_array().key("machines");
  write_machines(json, c.machines);
  json.end_object();
}

}  // namespace

void write_residents(const ResidentsPlan& plan, const ResidentsRequest& request, Context& context) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.residents/1").field("answer", !plan.ranked.empty());
  json.field("currency", request.terms.currency).key("ranked").begin_array();
  for (const ResidentsCandidate& c : plan.ranked) write(json, c);
  json.end_array().key("rejected");
  write_rejections(json, plan.rejections);
  json.end_object();
  context.console.out(json.text());
}

void print_residents(const ResidentsPlan& plan, const ResidentsRequest& request, bool explain,
                     Context& context) {
  const Translator& t = context.tr;
  if (plan.ranked.empty()) {
    context.console.out(
        std::string(t.tr("no cards of one machine hold these models within the limits")) + "\n");
    print_rejections(plan.rejections, explain, context);
    return;
  }
  TextTable table({{"#", Align::right},
                   {t.tr("cards")},
                   {t.tr("engine")},
                   {t.tr("model")},
                   {t.tr("weights")},
                   {t.tr("memory"), Align::right},
                   {t.tr("busy"), Align::right},
                   {"TTFT ms", Align::right},
                   {"TPOT ms", Align::right},
                   {t.tr("output tok/s"), Align::right},
                   {t.tr("to buy"), Align::right},
                   {t.tr("per year"), Align::right}});
  int rank = 0;
  for (const ResidentsCandidate& c : plan.ranked) {
    table.add({fmt::format("{}", ++rank), fmt::format("{} x {}", c.cards, c.accelerator), c.engine,
               "", "",
               fmt::format("{} / {}{}", format(c.used), format(c.usable), c.narrow() ? " ≈" : ""),
               "", "", "", "",
               amount(c.price, request.terms.currency) +
                   (c.purchase && !c.purchase->confirmed ? "?" : ""),
               amount(c.yearly_cost, request.terms.currency)});
    for (const ResidentFit& f : c.residents) {
      table.add({"", "", "", f.alone.model, f.alone.weights, format(f.memory),
                 fmt::format("{} %", format_number(100 * f.busy)), format_number(f.ttft_ms()),
                 format_number(f.tpot_ms()), format_number(f.output_tokens_per_s), "", ""});
    }
  }
  context.console.out(table.render(context.console.style()));
  context.console.note(
      t.tr("memory on the fullest card; times while the other models are busy; busy: part of the "
           "cards' time"));
  if (std::ranges::any_of(plan.ranked, &ResidentsCandidate::narrow)) {
    context.console.note(t.tr(kNarrowLegend));
  }
  std::vector<const Machines*> machines;
  machines.reserve(plan.ranked.size());
  for (const ResidentsCandidate& c : plan.ranked) machines.push_back(&c.machines);
  print_machines(machines, request.terms.currency, context);
  std::set<std::string> told;
  for (const ResidentsCandidate& c : plan.ranked) {
    if (told.insert(c.accelerator).second) {
      context.console.note(price_note(c.accelerator, c.purchase, t));
    }
  }
  if (const auto& co2 = plan.ranked.front().co2_kg_per_year) {
    const ResidentsCandidate& first = plan.ranked.front();
    context.console.note(
        t.tr("{} x {}: {} kg of CO2 a year", first.cards, first.accelerator, format_number(*co2)));
  }
  print_rejections(plan.rejections, explain, context);
}

}  // namespace cairn::cli
