#include "predict.h"

#include <fmt/format.h>

#include <cmath>

#include "../inputs.h"
#include "../price_output.h"
#include "../render.h"
#include "../words.h"
#include "cairn/plan/fit.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

constexpr std::string_view kDash = "–";

// A target that the prediction misses.
struct Miss {
  std::string_view metric;
  double limit = 0;
  double value = 0;
};

std::vector<Miss> missed(const Prediction& p, const ParsedCommand& args) {
  std::vector<Miss> out;
  const auto check = [&](const OptionSpec& option, std::string_view name) {
    const auto limit = args.quantity<Seconds>(option);
    const Metric* m = p.metric(name);
    if (limit && m != nullptr && m->value > in_ms(*limit))
      out.push_back({name, in_ms(*limit), m->value});
  };
  check(kSloTtft, "ttft_ms_mean");
  check(kSloTpot, "tpot_ms_mean");
  return out;
}

std::string parts_text(const std::vector<MemoryPart>& parts, const Translator& t) {
  std::string out;
  for (const MemoryPart& part : parts) {
    if (part.bytes <= Bytes{}) continue;
    if (!out.empty()) out += ", ";
    out += t.tr(word_for_part(part.name));
    out += " " + format(part.bytes);
  }
  return out;
}

void print_memory(const Prediction& p, Context& context) {
  const Translator& t = context.tr;
  for (const DeviceMemory& d : p.memory.devices) {
    // A server's cache fills what it is given: what counts is what a request needs.
    const bool fits = d.fits() && (p.memory.fits || d.required <= d.capacity);
    const FitWord word = fit_word(fits, fits && p.memory.narrow(d));
    const std::string verdict = context.console.style().paint(word.tone, t.tr(word.word));
    context.console.out(fmt::format("{}: {} — {} / {}  ({})\n", d.device, verdict, format(d.total),
                                    format(d.capacity), parts_text(d.parts, t)));
  }
  if (p.memory.host > Bytes{}) {
    std::string size = format(p.memory.host);
    if (p.memory.host_lacks()) {
      const FitWord word = fit_word(false, false);
      size = fmt::format("{} — {} / {}", context.console.style().paint(word.tone, t.tr(word.word)),
                         size, format(*p.memory.host_capacity));
    }
    context.console.out(fmt::format("{}: {}  ({})\n", t.tr(msg("host memory")), size,
                                    parts_text(p.memory.host_parts, t)));
  }
}

void print_metrics(const Prediction& p, Context& context) {
  const Translator& t = context.tr;
  TextTable table({{""}, {""}, {""}});
  for (const Metric& m : p.metrics) {
    if (m.name == "weights_gib") continue;
    table.add({t.tr(word_for_metric(m.name)), figure(&m)});
  }
  const auto money = [&](std::string_view name, const std::optional<double>& value) {
    if (value) table.add({t.tr(name), amount(value, p.money.currency)});
  };
  money(msg("price of the cards"), p.money.purchase);
  money(msg("bought, per million output tokens"), p.money.owned_per_mtok);
  money(msg("rented, per million output tokens"), p.money.rented_per_mtok);
  context.console.out(table.render(context.console.style(), 2));
}

void print_shares(std::string_view title, const StepTime& time, Context& context) {
  const Translator& t = context.tr;
  std::string line;
  for (std::size_t i = 0; i < kTimeClasses; ++i) {
    const auto c = static_cast<TimeClass>(i);
    const double share = time.of(c) / time.total;
    if (share < 0.01) continue;
    if (!line.empty()) line += ", ";
    line += std::string(t.tr(word_for(c))) + " " + format_percent(share);
  }
  const double memory = time.memory_bound / time.total;
  const double compute = time.compute_bound / time.total;
  const std::string_view bound = memory >= compute && memory >= 0.5    ? msg("memory-bound")
                                 : compute >= memory && compute >= 0.5 ? msg("compute-bound")
                                                                       : msg("mixed");
  context.console.out(fmt::format("{}: {} — {}\n", t.tr(title), t.tr(bound), line));
}

void print_explanation(const std::vector<Explanation>& rows, Context& context) {
  const Translator& t = context.tr;
  TextTable table({{t.tr("phase")},
                   {t.tr("operator")},
                   {t.tr("type")},
                   {"n", Align::right},
                   {t.tr("FLOPs"), Align::right},
                   {t.tr("bytes"), Align::right},
                   {t.tr("time"), Align::right},
                   {t.tr("limited by")}});
  for (const Explanation& e : rows) {
    table.add({t.tr(e.phase == "prefill" ? msg("prefill") : msg("decode")), e.name,
               e.type.empty() ? std::string(kDash) : e.type, format_count(e.count),
               format(e.time.flops), format(e.time.bytes), format(e.time.total),
               t.tr(word_for(e.time.limit))});
  }
  context.console.out("\n" + table.render(context.console.style()));
}

void write_explanation(JsonWriter& json, const std::vector<Explanation>& rows) {
  json.key("operators").begin_array();
  for (const Explanation& e : rows) {
    json.begin_object().field("phase", e.phase).field("operator", e.name);
    json.field("type", e.type).field("count", e.count).field("flops", e.time.flops);
    json.field("bytes", e.time.bytes).field("seconds", e.time.total);
    json.field("compute_seconds", e.time.compute).field("memory_seconds", e.time.memory);
    json.field("unpack_seconds", e.time.unpack).field("launch_seconds", e.time.launch);
    json.field("limited_by", name_of(e.time.limit)).end_object();
  }
  json.end_array();
}

void print(const Prediction& p, const std::vector<Miss>& misses, Context& context) {
  const Translator& t = context.tr;
  context.console.out(fmt::format("{} — {}\n", p.model, deployment_line(p, t)));
  const double flight = p.workload.concurrency;
  const bool at_once = p.workload.output <= 0;
  const std::string requests =
      flight == std::floor(flight) ? format_count(flight) : format_number(flight);
  const std::string asked =
      at_once ? t.tr("{} tokens a sequence, {} sequences a batch", format_count(p.workload.input),
                     requests)
              : t.tr("{} tokens in, {} out, {} in flight", format_count(p.workload.input),
                     format_count(p.workload.output), requests);
  context.console.out(asked + "\n\n");
  print_memory(p, context);
  if (!p.memory.fits) return;
  print_metrics(p, context);
  context.console.out("\n");
  print_shares(at_once ? msg("batch") : msg("prefill"), p.prefill, context);
  if (!at_once) print_shares(msg("decode"), p.decode, context);
  context.console.out(t.tr("basis: {} ({}); intervals cover 80 %",
                           t.tr(word_for(p.metrics.front().basis.kind)), p.parameters) +
                      "\n");
  for (const Miss& miss : misses) {
    context.console.out(context.console.style().paint(
                            Tone::bad, t.tr("misses its target: {} {} ms, allowed {} ms",
                                            t.tr(word_for_metric(miss.metric)),
                                            format_number(miss.value), format_number(miss.limit))) +
                        "\n");
  }
}

// A part of what is sold together is priced by its share; a plan buys the whole.
void note_whole(const CostFigures& m, Context& context) {
  constexpr double kMore = 1 + 1e-9;
  if (!m.purchase || !m.purchase_whole || *m.purchase_whole <= *m.purchase * kMore) return;
  context.console.note(
      context.tr.tr("{} is the share of these cards; bought together as they are sold they are {}, "
                    "which a plan counts",
                    amount(m.purchase, m.currency), amount(m.purchase_whole, m.currency)));
}

Result<const Accelerator*> single_accelerator(const ParsedCommand& args,
                                              const Knowledge& knowledge) {
  const auto names = args.list(kGpu);
  if (names.size() != 1 || names.front() == "all") {
    return fail(bad_input("one accelerator is needed")
                    .in("--gpu")
                    .want("an id such as rx-7900-xtx or mi300x"));
  }
  return knowledge.accelerators.find(names.front());
}

}  // namespace

Result<Answer> run_predict(Context& context) {
  const ParsedCommand& args = context.args;
  CAIRN_TRY(const Knowledge knowledge, open_set_up(context));
  CAIRN_TRY(const Accelerator* accelerator, single_accelerator(args, knowledge));
  CAIRN_TRY(const ModelInput model, find_model(std::string(args.argument(0)), knowledge,
                                               std::string(args.text(kLike).value_or(""))));
  CAIRN_TRY(DeploymentRequest request, settings_of(args, knowledge));
  request.accelerator = accelerator;
  if (const auto name = args.text(kEngine)) {
    CAIRN_TRY(request.engine, knowledge.engines.find(*name));
  } else {
    CAIRN_TRY(request.engine, default_engine(model, request.weights, *accelerator, knowledge));
  }
  CAIRN_CHECK(check_build(args, *request.engine, model, knowledge));
  CAIRN_TRY(const Workload workload, workload_of(args));
  CAIRN_TRY(const CostTerms terms, terms_of(args, knowledge));
  CAIRN_TRY(request.layout, layout_of(args, *request.engine));
  const bool free = !args.given(kGpus) && !names_layout(args);
  CAIRN_TRY(const Deployment deployment, free
                                             ? smallest_fitting(model, request, workload, knowledge)
                                             : resolve(model, request, knowledge));
  CAIRN_TRY(const Prediction prediction, predict(deployment, workload, terms, knowledge));
  const auto misses = missed(prediction, args);
  std::vector<Explanation> explanation;
  if (args.flag(kExplain)) {
    CAIRN_TRY(explanation, explain(deployment, workload, knowledge));
  }
  const bool yes =
      prediction.memory.fits && misses.empty() && (!workload.rate || prediction.workload.rate);
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.predict/1").field("answer", yes);
    write_prediction(json, prediction);
    if (args.flag(kExplain)) write_explanation(json, explanation);
    json.end_object();
    context.console.out(json.text());
  } else {
    print(prediction, misses, context);
    if (args.flag(kExplain)) print_explanation(explanation, context);
    if (prediction.memory.fits) {
      context.console.note(
          price_note(prediction.accelerator, prediction.money.purchase_price, context.tr));
    }
    note_whole(prediction.money, context);
    if (prediction.memory.narrow()) {
      context.console.note(context.tr.tr(narrow_note(prediction.memory)));
    }
    for (const Message& note : prediction.notes) context.console.note(context.tr.tr(note));
  }
  return yes ? Answer::yes : Answer::no;
}

}  // namespace cairn::cli
