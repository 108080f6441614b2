#include "compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../inputs.h"
#include "../price_output.h"
#include "../render.h"
#include "cairn/plan/comparison.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

// A prediction that cannot keep up has dropped the rate.
bool overloaded(const Compared& c, bool rate) {
  return rate && c.prediction && c.prediction->memory.fits && !c.prediction->workload.rate;
}

void write(const std::vector<Compared>& cards, bool rate, const CostTerms& terms,
           Context& context) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.compare/1").field("currency", terms.currency);
  json.field("mixed_weights", weight_formats_of(cards).size() > 1);
  json.key("cards").begin_array();
  for (const Compared& c : cards) {
    const Accelerator& a = *c.accelerator;
    json.begin_object().field("id", a.id).field("name", a.name);
    json.field("memory_bytes", a.memory).field("bandwidth_bytes_per_s", a.bandwidth);
    json.field("peak_fp16_flops", a.peak_of(ComputeType::f16));
    json.field("peak_fp8_flops", a.peak_of(ComputeType::fp8));
    json.field("board_power_w", a.board_power).field("price", c.price);
    write_purchase(json, "purchase_price", c.purchase);
    json.field("memory_gib_per_1000", c.memory_per_1000);
    json.field("output_tokens_per_s_per_1000", c.tokens_per_1000);
    json.field("output_tokens_per_s_per_w", c.tokens_per_watt);
    json.field("output_tokens_per_s_per_gib", c.tokens_per_gib);
    json.field("overloaded", overloaded(c, rate)).field("reason", c.reason).key("prediction");
    if (c.prediction) {
      json.begin_object();
      write_prediction(json, *c.prediction);
      json.end_object();
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array().end_object();
  context.console.out(json.text());
}

std::string number(const std::optional<double>& value) {
  return value ? format_number(*value) : "–";
}

class Rows {
 public:
  Rows(const std::vector<Compared>& cards, const Translator& t)
      : cards_(&cards), table_(columns(cards, t)), t_(&t) {}

  void add(std::string_view title, auto text) {
    std::vector<Cell> row{Cell(t_->tr(title))};
    for (const Compared& c : *cards_) row.emplace_back(text(c));
    table_.add(std::move(row));
  }
  void metric(std::string_view name) {
    add(word_for_metric(name), [name](const Compared& c) {
      return c.prediction ? figure(c.prediction->metric(name)) : std::string("–");
    });
  }
  [[nodiscard]] const TextTable& table() const { return table_; }

 private:
  static std::vector<Column> columns(const std::vector<Compared>& cards, const Translator& t) {
    std::vector<Column> out{Column("")};
    for (const Compared& c : cards) {
      const Accelerator& a = *c.accelerator;
      std::string title = a.id;
      if (a.devices_per_card > 1) title = t.tr("{}, one of {} dies", title, a.devices_per_card);
      if (a.status == Status::announced) title += "*";
      out.emplace_back(title, Align::right);
    }
    return out;
  }
  const std::vector<Compared>* cards_;
  TextTable table_;
  const Translator* t_;
};

void print(const std::vector<Compared>& cards, bool workload, bool rate, const CostTerms& terms,
           Context& context) {
  Rows rows(cards, context.tr);
  rows.add(msg("memory"), [](const Compared& c) { return format(c.accelerator->memory); });
  rows.add(msg("bandwidth"), [](const Compared& c) { return format(c.accelerator->bandwidth); });
  rows.add(msg("peak fp16"),
           [](const Compared& c) { return format(c.accelerator->peak_of(ComputeType::f16)); });
  rows.add(msg("peak fp8"),
           [](const Compared& c) { return format(c.accelerator->peak_of(ComputeType::fp8)); });
  rows.add(msg("board power"),
           [](const Compared& c) { return format(c.accelerator->board_power); });
  rows.add(msg("price of a whole card"),
           [&](const Compared& c) { return amount(c.price, terms.currency); });
  rows.add(msg("GiB per 1000 of the currency"),
           [](const Compared& c) { return number(c.memory_per_1000); });
  if (workload) {
    rows.add(msg("deployment"), [&](const Compared& c) {
      return c.prediction ? fmt::format("{} x {}, {}", c.prediction->layout.devices(),
                                        c.prediction->engine, c.prediction->weights)
                          : std::string("–");
    });
    rows.add(msg("fits"), [&](const Compared& c) {
      if (!c.prediction) return c.reason;
      if (overloaded(c, rate)) return std::string(context.tr.tr(msg("overloaded")));
      return std::string(context.tr.tr(c.prediction->memory.fits ? msg("yes") : msg("no")));
    });
    for (const std::string_view name : {"ttft_ms_mean", "tpot_ms_mean", "prefill_tokens_per_s",
                                        "output_tokens_per_s", "power_w", "energy_j_per_token"}) {
      rows.metric(name);
    }
    rows.add(msg("output tok/s per 1000 of the currency"),
             [](const Compared& c) { return number(c.tokens_per_1000); });
    rows.add(msg("output tok/s per watt"),
             [](const Compared& c) { return number(c.tokens_per_watt); });
    rows.add(msg("output tok/s per GiB"),
             [](const Compared& c) { return number(c.tokens_per_gib); });
    rows.add(msg("bought, per million output tokens"), [&](const Compared& c) {
      return c.prediction ? amount(c.prediction->money.owned_per_mtok, terms.currency) : "–";
    });
    rows.add(msg("rented, per million output tokens"), [&](const Compared& c) {
      return c.prediction ? amount(c.prediction->money.rented_per_mtok, terms.currency) : "–";
    });
  }
  context.console.out(rows.table().render(context.console.style()));
  for (const Compared& c : cards) {
    context.console.note(price_note(c.accelerator->id, c.purchase, context.tr));
  }
  const auto formats = weight_formats_of(cards);
  if (formats.size() > 1) {
    context.console.note(
        context.tr.tr("not the same work: weights in {}; --weights takes one format for all",
                      fmt::format("{}", fmt::join(formats, ", "))));
  }
}

}  // namespace

Result<Answer> run_compare(Context& context) {
  const ParsedCommand& args = context.args;
  CAIRN_TRY(const Knowledge knowledge, open_knowledge(context));
  ComparisonRequest request;
  for (const std::string& name : args.arguments()) {
    CAIRN_TRY(const Accelerator* a, knowledge.accelerators.find(name));
    request.accelerators.push_back(a);
  }
  CAIRN_TRY(request.settings, settings_of(args, knowledge));
  CAIRN_TRY(request.workload, workload_of(args));
  CAIRN_TRY(request.terms, terms_of(args, knowledge));
  CAIRN_CHECK(engine_is_named(args));
  if (const auto name = args.text(kEngine)) {
    CAIRN_TRY(request.settings.engine, knowledge.engines.find(*name));
    if (names_layout(args) || args.given(kGpus)) {
      CAIRN_TRY(request.layout, layout_of(args, *request.settings.engine));
    }
  }
  request.cards = args.integer(kGpus);
  std::optional<ModelInput> model;
  if (const auto name = args.text(kPlanModel)) {
    CAIRN_TRY(model, model_of(std::string(*name), context, knowledge));
  }
  CAIRN_TRY(const auto cards, compare(model ? &*model : nullptr, request, knowledge));
  const bool rate = request.workload.rate.has_value();
  if (context.json) {
    write(cards, rate, request.terms, context);
  } else {
    print(cards, model.has_value(), rate, request.terms, context);
  }
  const bool behind =
      std::ranges::any_of(cards, [&](const Compared& c) { return overloaded(c, rate); });
  return behind ? Answer::no : Answer::yes;
}

}  // namespace cairn::cli
