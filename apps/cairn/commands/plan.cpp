#include "plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>

#include "../inputs.h"
#include "../machine.h"
#include "../plan_output.h"
#include "../price_output.h"
#include "../render.h"
#include "../residents_output.h"
#include "cairn/data/yaml.h"
#include "cairn/plan/plan_file.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

// A person's plan is a page or two; what is larger is a mistake.
constexpr ParseLimits kPlanLimits{.depth = 16, .nodes = 10'000, .bytes = 1U << 20U};

std::string_view word_for(Objective objective) {
  switch (objective) {
    case Objective::cost:
      return msg("cards and electricity, per year at a rate, else per token");
    case Objective::price:
      return msg("purchase of the cards");
    case Objective::latency:
      return msg("time per output token");
    case Objective::throughput:
      return msg("output tokens per second");
    case Objective::energy:
      return msg("energy per output token");
  }
  return msg("cards and electricity, per year at a rate, else per token");
}

// Options given on the command line take precedence over the file.
Result<void> apply_options(const ParsedCommand& args, const Knowledge& knowledge, PlanFile& plan) {
  Workload& w = plan.request.workload;
  if (args.given(kInput)) w.input = static_cast<double>(*args.integer(kInput));
  if (args.given(kOutput)) w.output = static_cast<double>(*args.integer(kOutput));
  if (args.given(kContext)) w.context = *args.integer(kContext);
  if (args.given(kRate)) w.rate = args.number(kRate);
  if (args.given(kConcurrency)) {
    w.concurrency = static_cast<double>(*args.integer(kConcurrency));
    w.rate.reset();
  }
  Constraints& c = plan.request.constraints;
  if (const auto limit = args.quantity<Seconds>(kSloTtft)) c.ttft_ms = in_ms(*limit);
  if (const auto limit = args.quantity<Seconds>(kSloTpot)) c.tpot_ms = in_ms(*limit);
  if (const auto budget = args.amount(kBudget)) {
    c.budget = budget->amount;
    c.budget_currency = budget->currency.empty() ? "USD" : budget->currency;
  }
  if (const auto watts = args.number(kPlanPower)) c.power_w = watts;
  if (const auto machine = machine_of(args)) c.host = machine;
  if (const auto cards = args.integer(kMostGpus)) c.max_cards = *cards;
  if (args.given(kVendor)) c.vendor = *args.text(kVendor) == "any" ? "" : *args.text(kVendor);
  if (const auto name = args.text(kWeights)) c.formats = {std::string(*name)};
  if (const auto name = args.text(kKv)) c.kv = *name;
  if (const auto name = args.text(kEngine)) c.engines = {std::string(*name)};
  for (const Counted& owned : args.counted(kOwned)) c.owned.emplace_back(owned.name, owned.count);
  for (const std::string& name : args.list(kGpu)) {
    if (name != "all") c.accelerators.push_back(name);
  }
  if (const auto name = args.text(kObjective)) {
    CAIRN_TRY(const Objective objective, find_objective(*name));
    plan.request.objective = objective;
  }
  if (args.given(kTop)) plan.request.top = static_cast<std::size_t>(*args.integer(kTop));
  CostTerms& t = plan.request.terms;
  CAIRN_TRY(const CostTerms typed, terms_of(args, knowledge));
  if (args.given(kCurrency)) t.currency = typed.currency;
  if (args.given(kAmortisation)) t.amortisation_years = typed.amortisation_years;
  if (args.given(kUtilisation)) t.utilisation = typed.utilisation;
  if (args.given(kElectricityPrice)) t.electricity_per_kwh = typed.electricity_per_kwh;
  if (args.given(kPue)) t.pue = typed.pue;
  if (args.given(kCo2)) t.co2_g_per_kwh = typed.co2_g_per_kwh;
  t.price_date = typed.price_date;
  t.prices = typed.prices;
  if (!args.given(kCurrency) && c.budget && t.currency == "USD") t.currency = c.budget_currency;
  return {};
}

// Names as people type them become the catalogue's ids.
Result<void> resolve_names(const Knowledge& knowledge, PlanRequest& request) {
  Constraints& c = request.constraints;
  for (std::string& name : c.accelerators) {
    CAIRN_TRY(const Accelerator* a, knowledge.accelerators.find(name));
    name = a->id;
  }
  for (auto& [name, count] : c.owned) {
    CAIRN_TRY(const Accelerator* a, knowledge.accelerators.find(name));
    name = a->id;
  }
  for (std::string& name : c.engines) {
    CAIRN_TRY(const EngineInfo* e, knowledge.engines.find(name));
    if (name.contains('@')) {
      return fail(bad_input("plans are for the newest release of an engine")
                      .in("--engine")
                      .got(name)
                      .want(e->id));
    }
    name = e->id;
  }
  for (const std::string& name : c.formats) {
    if (knowledge.weight_formats.find(name) == nullptr) {
      return fail(not_found("unknown weight format").got(name).want("one of cairn models show"));
    }
  }
  if (!c.kv.empty() && !knowledge.weight_formats.find_kv(c.kv)) {
    std::vector<std::string> known;
    for (const KvFormat& f : knowledge.weight_formats.kv_formats()) known.push_back(f.name);
    return fail(not_found("unknown KV cache format")
                    .in("--kv")
                    .got(c.kv)
                    .want(fmt::format("one of {}", fmt::join(known, ", "))));
  }
  CAIRN_TRY([[maybe_unused]] const double rate,
            knowledge.prices.convert(1, c.budget_currency, request.terms.currency));
  return {};
}

void write(const Plan& plan, const ModelInput& model, const PlanRequest& request,
           Context& context) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.plan/1").field("answer", !plan.ranked.empty());
  json.field("model", model.name);
  if (!model.like.empty()) json.field("like", model.like);
  json.field("objective", name_of(objective_of(request)));
  json.field("weights_choice", name_of(plan.format_choice));
  json.field("currency", request.terms.currency).field("evaluated", plan.evaluated);
  json.key("ranked").begin_array();
  for (const Candidate& c : plan.ranked) {
    json.begin_object().field("cards", c.cards).field("price", c.price);
    json.field("yearly_cost", c.yearly_cost).field("bits_per_weight", c.bits_per_weight);
    json.field("pareto", c.pareto).key("machines");
    write_machines(json, c.machines);
    json.key("prediction").begin_object();
    write_prediction(json, c.prediction);
    json.end_object().end_object();
  }
  json.end_array().key("rejected");
  write_rejections(json, plan.rejections);
  json.key("relax").begin_array();
  for (const Relaxation& r : plan.relaxations) {
    json.begin_object().field("constraint", r.constraint).field("from", r.from).field("to", r.to);
    json.field("unit", r.unit).field("accelerator", r.accelerator).end_object();
  }
  json.end_array();
  const PriceMix mix = price_mix(plan.ranked);
  json.key("price_mix").begin_object().key("modules_only").begin_array();
  for (const std::string& id : mix.modules) json.value(id);
  json.end_array().key("whole_machines").begin_array();
  for (const std::string& id : mix.machines) json.value(id);
  json.end_array().end_object();
  write_contests(json, plan.contests);
  write_counts(json, plan.counts);
  json.end_object();
  context.console.out(json.text());
}

// The purchase rests on a quote that no source vouches for.
bool unconfirmed(const Prediction& p) {
  return p.money.purchase_price && !p.money.purchase_price->confirmed;
}

// Prices of modules and of whole machines are not the same purchase.
void print_price_mix(const Plan& plan, Context& context) {
  const PriceMix mix = price_mix(plan.ranked);
  if (mix.modules.empty()) return;
  const std::string line = context.tr.tr(
      "prices are not of the same things: {} without board, chassis and processors, {} in whole "
      "machines; what is ranked by cost favours the former",
      fmt::format("{}", fmt::join(mix.modules, ", ")),
      fmt::format("{}", fmt::join(mix.machines, ", ")));
  context.console.out(context.console.style().paint(Tone::warn, line) + "\n\n");
}

void print_ranked(const Plan& plan, const PlanRequest& request, const Knowledge& knowledge,
                  Context& context) {
  const Translator& t = context.tr;
  TextTable table({{"#", Align::right},
                   {t.tr("cards")},
                   {t.tr("engine")},
                   {t.tr("weights")},
                   {t.tr("layout")},
                   {"TTFT ms", Align::right},
                   {"TPOT ms", Align::right},
                   {t.tr("output tok/s"), Align::right},
                   {"W", Align::right},
                   {t.tr("to buy"), Align::right},
                   {t.tr("per year"), Align::right},
                   {t.tr("per Mtok"), Align::right},
                   {""}});
  const auto interval = [](const Metric* m) {
    return m != nullptr ? format_interval(m->value, m->low, m->high) : std::string("–");
  };
  int rank = 0;
  for (const Candidate& c : plan.ranked) {
    const Prediction& p = c.prediction;
    const Metric* watts = p.metric("power_w");
    table.add({fmt::format("{}", ++rank),
               fmt::format("{} x {}{}", c.cards, p.accelerator, p.announced ? "*" : ""), p.engine,
               weights_text(p, knowledge), layout_text(p.layout, t),
               interval(p.metric("ttft_ms_mean")), interval(p.metric("tpot_ms_mean")),
               interval(p.metric("output_tokens_per_s")),
               watts != nullptr ? format_number(watts->value) : "–",
               amount(c.price, request.terms.currency) +
                   (unconfirmed(p) && c.price.value_or(0) > 0 ? "?" : ""),
               amount(c.yearly_cost, request.terms.currency),
               amount(p.money.owned_per_mtok, request.terms.currency),
               fmt::format("{}{}", c.pareto ? "◆" : "", c.narrow() ? " ≈" : "")});
  }
  context.console.out(table.render(context.console.style()));
  context.console.note(t.tr("ranked by {}", t.tr(word_for(objective_of(request)))));
  if (plan.format_choice == FormatChoice::largest) {
    context.console.note(
        t.tr("on as few cards as do, the format shown is the largest that fits within the limits; "
             "a smaller one may be faster and cheaper per token: --weights asks for it"));
  }
  if (std::ranges::any_of(plan.ranked, &Candidate::narrow)) {
    context.console.note(t.tr(kNarrowLegend));
  }
  context.console.note(
      t.tr("◆ on the Pareto front of cost, latency, throughput and energy; "
           "intervals cover 80 %; * announced; ? a price that no source vouches "
           "for; machines are counted only where cards are sold in them, networks not"));
}

// What the prices of the first few cards rest on.
void print_prices(const Plan& plan, Context& context) {
  constexpr std::size_t kMost = 5;
  std::set<std::string> told;
  for (const Candidate& c : plan.ranked) {
    const Prediction& p = c.prediction;
    if (told.size() == kMost || !told.insert(p.accelerator).second) continue;
    context.console.note(price_note(p.accelerator, p.money.purchase_price, context.tr));
  }
}

// Of several models each has its own of these in the file.
Result<void> refuse_for_residents(const ParsedCommand& args) {
  constexpr std::array kOwn{&kPlanModel,   &kInput,   &kOutput, &kContext, &kRate,
                            &kConcurrency, &kWeights, &kKv,     &kLike};
  for (const OptionSpec* option : kOwn) {
    if (!args.given(*option)) continue;
    return fail(bad_input("does not apply to a file with several models")
                    .in(fmt::format("--{}", option->name))
                    .want("its field in each of the file's models"));
  }
  if (args.given(kObjective)) {
    return fail(bad_input("does not apply to a file with several models")
                    .in("--objective")
                    .want("nothing: they are ranked by cost, then by bits per weight"));
  }
  return {};
}

// Several models on the same cards.
Result<Answer> run_residents(const Knowledge& knowledge, PlanFile& plan, Context& context) {
  CAIRN_CHECK(refuse_for_residents(context.args));
  CAIRN_CHECK(apply_options(context.args, knowledge, plan));
  CAIRN_CHECK(resolve_names(knowledge, plan.request));
  const PlanRequest& r = plan.request;
  const ResidentsRequest request{plan.residents, r.constraints, r.terms, r.top};
  CAIRN_TRY(const ResidentsPlan result, plan_residents(request, knowledge));
  if (context.json) {
    write_residents(result, request, context);
  } else {
    print_residents(result, request, context.args.flag(kExplain), context);
  }
  return result.ranked.empty() ? Answer::no : Answer::yes;
}

}  // namespace

Result<Answer> run_plan(Context& context) {
  const ParsedCommand& args = context.args;
  CAIRN_TRY(const Knowledge knowledge, open_set_up(context));
  PlanFile plan;
  if (!args.arguments().empty()) {
    CAIRN_TRY(const Document document, load_yaml(std::string(args.argument(0)), kPlanLimits));
    CAIRN_TRY(plan, read_plan(document.root()));
  }
  if (!plan.residents.empty()) return run_residents(knowledge, plan, context);
  if (const auto name = args.text(kPlanModel)) plan.model = *name;
  if (plan.model.empty()) {
    return fail(bad_input("no model is named").in("--model").want("a name from cairn models"));
  }
  CAIRN_CHECK(apply_options(args, knowledge, plan));
  CAIRN_CHECK(resolve_names(knowledge, plan.request));
  CAIRN_TRY(const ModelInput model, model_of(plan.model, context, knowledge));
  const auto timer = context.timings.scope("search");
  CAIRN_TRY(const Plan result, make_plan(model, plan.request, knowledge));
  if (context.json) {
    write(result, model, plan.request, context);
  } else {
    if (result.ranked.empty()) {
      context.console.out(context.tr.tr("nothing qualifies for {}", model.name) + "\n");
    } else {
      print_price_mix(result, context);
      print_ranked(result, plan.request, knowledge, context);
      std::vector<const Machines*> machines;
      machines.reserve(result.ranked.size());
      for (const Candidate& c : result.ranked) machines.push_back(&c.machines);
      print_machines(machines, plan.request.terms.currency, context);
      print_prices(result, context);
      print_contests(result, context);
      print_rent(result, plan.request, context);
    }
    print_counts(result.counts, context);
    print_relaxations(result.relaxations, context);
    print_rejections(result.rejections, args.flag(kExplain), context);
  }
  return result.ranked.empty() ? Answer::no : Answer::yes;
}

}  // namespace cairn::cli
