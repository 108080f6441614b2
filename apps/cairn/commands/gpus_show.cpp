// `cairn gpus show`: the catalogue's own record, figure by figure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../words.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/prices.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "gpus.h"

namespace cairn::cli {
namespace {

// A scalar or a list of scalars as text.
std::string text_of(Node node) {
  if (!node.is_sequence()) return node.text();
  std::vector<std::string> items;
  items.reserve(node.size());
  for (std::uint32_t i = 0; i < node.size(); ++i) items.push_back(node.at(i).text());
  return fmt::format("{}", fmt::join(items, " "));
}

std::string member_text(Node node, std::string_view key) {
  const auto member = node.find_value(key);
  return member ? text_of(*member) : "";
}

// Keys of sources that a figure names, in their order.
std::vector<std::string> source_keys(Node figure) {
  const auto source = figure.find_value("source");
  if (!source) return {};
  if (!source->is_sequence()) return {source->text()};
  std::vector<std::string> out;
  out.reserve(source->size());
  for (std::uint32_t i = 0; i < source->size(); ++i) out.push_back(source->at(i).text());
  return out;
}

void write_scalar(JsonWriter& json, Node node) {
  switch (node.kind()) {
    case NodeKind::null:
      json.null();
      break;
    case NodeKind::boolean:
      json.value(*node.boolean());
      break;
    case NodeKind::integer:
      json.value(*node.integer());
      break;
    case NodeKind::number:
      json.value(*node.number());
      break;
    case NodeKind::string:
      json.value(*node.string());
      break;
    case NodeKind::sequence:
      json.begin_array();
      for (std::uint32_t i = 0; i < node.size(); ++i) write_scalar(json, node.at(i));
      json.end_array();
      break;
    case NodeKind::mapping:
      json.begin_object();
      for (std::uint32_t i = 0; i < node.size(); ++i) {
        const Member m = node.member(i);
        json.key(m.key);
        write_scalar(json, m.value);
      }
      json.end_object();
      break;
  }
}

void print_figures(Node record, std::string& out, Context& context) {
  const Translator& t = context.tr;
  const auto sources = record.find_value("sources");
  const auto number_of = [&](const std::string& key) -> std::string {
    for (std::uint32_t i = 0; sources && i < sources->size(); ++i) {
      if (sources->member(i).key == key) return fmt::format("[{}]", i + 1);
    }
    return key;
  };
  TextTable table(
      {{t.tr("figure")}, {t.tr("value"), Align::right}, {t.tr("source")}, {t.tr("note")}});
  const auto figures = record.find_value("figures");
  for (std::uint32_t i = 0; figures && i < figures->size(); ++i) {
    const Member m = figures->member(i);
    std::vector<std::string> numbers;
    for (const std::string& key : source_keys(m.value)) numbers.push_back(number_of(key));
    std::vector<std::string> notes;
    if (!member_text(m.value, "derived").empty()) {
      notes.push_back(t.tr("derived: {}", member_text(m.value, "derived")));
    }
    if (m.value.find_value("unconfirmed")) notes.emplace_back(t.tr("unconfirmed"));
    const std::string value = member_text(m.value, "value");
    table.add({std::string(m.key), value.empty() ? "–" : value,
               fmt::format("{}", fmt::join(numbers, "")),
               fmt::format("{}", fmt::join(notes, "; "))});
  }
  out += table.render(context.console.style());
  out += fmt::format("\n{}\n", context.console.style().paint(Tone::strong, t.tr("Sources")));
  for (std::uint32_t i = 0; sources && i < sources->size(); ++i) {
    const Node source = sources->member(i).value;
    const std::string url = member_text(source, "url");
    out += fmt::format(
        "  [{}] {} ({})\n", i + 1,
        url.empty() ? t.tr("address not recorded") : std::string_view(url),
        source.find_value("date") ? member_text(source, "date") : std::string(t.tr("undated")));
  }
}

void print_prices(const std::vector<const Price*>& prices, std::string& out, Context& context) {
  if (prices.empty()) return;
  const Translator& t = context.tr;
  out += '\n';
  TextTable table({{t.tr("price"), Align::right},
                   {t.tr("kind")},
                   {t.tr("provider")},
                   {t.tr("date")},
                   {t.tr("source")}});
  for (const Price* p : prices) {
    table.add({format_money(p->amount, p->currency), t.tr(word_for(p->kind)), p->provider,
               p->date.empty() ? t.tr("undated") : std::string_view(p->date), p->source});
  }
  out += table.render(context.console.style());
}

void print_json(const Accelerator& a, Node record, const std::vector<const Price*>& prices,
                Console& console) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.gpus_show/1").field("id", a.id).key("record");
  write_scalar(json, record);
  json.key("prices").begin_array();
  for (const Price* p : prices) {
    json.begin_object().field("amount", p->amount).field("currency", p->currency);
    json.field("kind", name_of(p->kind)).field("provider", p->provider);
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
  const auto prices = book.of(a.id);
  if (context.json) {
    print_json(a, record, prices, context.console);
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
  print_prices(prices, out, context);
  if (const std::string notes = member_text(record, "notes"); !notes.empty()) {
    out += "\n" + notes + "\n";
  }
  context.console.out(out);
  return Answer::yes;
}

}  // namespace cairn::cli
