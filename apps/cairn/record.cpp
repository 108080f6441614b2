#include "record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "cairn/report/table.h"

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

}  // namespace

std::string member_text(Node node, std::string_view key) {
  const auto member = node.find_value(key);
  return member ? text_of(*member) : "";
}

void write_record(JsonWriter& json, Node node) {
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
      for (std::uint32_t i = 0; i < node.size(); ++i) write_record(json, node.at(i));
      json.end_array();
      break;
    case NodeKind::mapping:
      json.begin_object();
      for (std::uint32_t i = 0; i < node.size(); ++i) {
        const Member m = node.member(i);
        json.key(m.key);
        write_record(json, m.value);
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

}  // namespace cairn::cli
