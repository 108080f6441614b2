// `cairn hosts show`: the catalogue's own record, figure by figure.
#include <fmt/format.h>

#include "../price_output.h"
#include "../record.h"
#include "../words.h"
#include "cairn/hardware/host.h"
#include "cairn/hardware/purchase.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "hosts.h"

namespace cairn::cli {
namespace {

std::string atomics_text(const Slot& slot, const Translator& t) {
  if (!slot.atomics) return "–";
  return std::string(*slot.atomics ? t.tr("yes") : t.tr("no"));
}

void print_slots(const Host& host, std::string& out, Context& context) {
  if (host.arrangements.empty()) return;
  const Translator& t = context.tr;
  out += '\n';
  TextTable table({{t.tr("cards"), Align::right},
                   {t.tr("slot"), Align::right},
                   {t.tr("lanes"), Align::right},
                   {t.tr("PCIe"), Align::right},
                   {t.tr("attached to")},
                   {t.tr("atomics")}});
  // Arrangements in which nothing changes for the cards before are told once.
  for (std::size_t n = 0; n < host.arrangements.size(); ++n) {
    const auto& slots = host.arrangements[n];
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool told = n > 0 && i < n && slots[i] == host.arrangements[n - 1][i];
      if (told) continue;
      table.add({std::to_string(n + 1), std::to_string(i + 1), std::to_string(slots[i].lanes),
                 std::to_string(slots[i].generation), t.tr(word_for(slots[i].path)),
                 atomics_text(slots[i], t)});
    }
  }
  out += table.render(context.console.style());
}

void print_text(const Host& host, Node record, const std::optional<Purchase>& price,
                Context& context) {
  const Translator& t = context.tr;
  std::string out = context.console.style().paint(Tone::strong, host.name) + "\n";
  TextTable head({{""}, {""}});
  head.add({"ID", host.id});
  head.add({t.tr("also called"), member_text(record, "aliases")});
  head.add({t.tr("vendor"), host.vendor});
  head.add({t.tr("kind"), t.tr(word_for(host.kind))});
  head.add({t.tr("accelerators"),
            host.accelerators.empty() ? host.form : member_text(record, "accelerators")});
  head.add(
      {t.tr("status"),
       {t.tr(word_for(host.status)), host.status == Status::announced ? Tone::warn : Tone::plain}});
  out += head.render(context.console.style()) + "\n";
  print_figures(record, out, context);
  print_slots(host, out, context);
  out += "\n" + price_note(t.tr(msg("to buy")), price, t) + "\n";
  if (!host.nics.empty()) {
    out += '\n';
    for (const Nics& nics : host.nics) out += fmt::format("{} x {}\n", nics.count, nics.link);
  }
  if (const std::string notes = member_text(record, "notes"); !notes.empty()) {
    out += "\n" + notes + "\n";
  }
  context.console.out(out);
}

}  // namespace

Result<Answer> run_hosts_show(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const HostCatalogue catalogue, HostCatalogue::load(image));
  CAIRN_TRY(const PriceBook book, PriceBook::load(image));
  CAIRN_TRY(const Host* const host, catalogue.find(context.args.argument(0)));
  const Node record = catalogue.record(*host);
  CAIRN_TRY(const auto price, purchase_of(*host, {}, book));
  if (!context.json) {
    print_text(*host, record, price, context);
    return Answer::yes;
  }
  JsonWriter json;
  json.begin_object().field("schema", "cairn.hosts_show/1").field("id", host->id).key("record");
  write_record(json, record);
  write_purchase(json, "price", price);
  json.end_object();
  context.console.out(json.text());
  return Answer::yes;
}

}  // namespace cairn::cli
