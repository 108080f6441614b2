// `cairn gpus show`: the catalogue's own record, figure by figure.
#include "../price_output.h"
#include "../record.h"
#include "../words.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/prices.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "gpus.h"

namespace cairn::cli {
namespace {

void print_prices(const std::vector<const Price*>& prices, std::string& out, Context& context) {
  if (prices.empty()) return;
  const Translator& t = context.tr;
  out += '\n';
  TextTable table({{t.tr("price"), Align::right},
                   {t.tr("kind")},
                   {t.tr("condition")},
                   {t.tr("provider")},
                   {t.tr("date")},
                   {t.tr("source")}});
  for (const Price* p : prices) {
    table.add({format_money(p->amount, p->currency), t.tr(word_for(p->kind)),
               t.tr(word_for(p->condition)), p->provider,
               p->date.empty() ? t.tr("undated") : std::string_view(p->date), p->source});
  }
  out += table.render(context.console.style());
}

void print_json(const Accelerator& a, Node record, const std::vector<const Price*>& prices,
                const std::optional<Purchase>& price, Console& console) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.gpus_show/1").field("id", a.id).key("record");
  write_record(json, record);
  write_purchase(json, "price", price);
  json.key("prices").begin_array();
  for (const Price* p : prices) {
    json.begin_object().field("amount", p->amount).field("currency", p->currency);
    json.field("kind", name_of(p->kind)).field("condition", name_of(p->condition));
    json.field("provider", p->provider);
    json.field("region", p->region).field("date", p->date).field("source", p->source);
    json.field("confirmed", p->confirmed).end_object();
  }
  json.end_array().end_object();
  console.out(json.text());
}

}  // namespace

Result<Answer> run_gpus_show(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const AcceleratorCatalogue catalogue, AcceleratorCatalogue::load(image));
  CAIRN_TRY(const PriceBook book, PriceBook::load(image));
  CAIRN_TRY(const Accelerator* const found, catalogue.find(context.args.argument(0)));
  const Accelerator& a = *found;
  const Node record = catalogue.record(a);
  const auto prices = book.of(a.card);
  CAIRN_TRY(const HostCatalogue hosts, HostCatalogue::load(image));
  CAIRN_TRY(const auto price, purchase_of(a, {}, book, hosts));
  if (context.json) {
    print_json(a, record, prices, price, context.console);
    return Answer::yes;
  }
  const Translator& t = context.tr;
  std::string out = context.console.style().paint(Tone::strong, a.name) + "\n";
  TextTable head({{""}, {""}});
  head.add({"ID", a.id});
  head.add({t.tr("also called"), member_text(record, "aliases")});
  head.add({t.tr("vendor"), a.vendor});
  head.add({t.tr("family"), a.family});
  head.add({t.tr("architecture"), a.architecture});
  head.add({t.tr("target"), a.target.empty() ? "–" : a.target});
  head.add({t.tr("status"),
            {t.tr(word_for(a.status)), a.status == Status::announced ? Tone::warn : Tone::plain}});
  out += head.render(context.console.style()) + "\n";
  print_figures(record, out, context);
  out += "\n" + price_note(t.tr(msg("to buy")), price, t) + "\n";
  print_prices(prices, out, context);
  if (const std::string notes = member_text(record, "notes"); !notes.empty()) {
    out += "\n" + notes + "\n";
  }
  context.console.out(out);
  if (a.id != a.card) {
    context.console.note(
        t.tr("the figures are those of the whole card; {} is one of {} devices of it", a.id,
             a.devices_per_card));
  }
  return Answer::yes;
}

}  // namespace cairn::cli
