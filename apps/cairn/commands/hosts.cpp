#include "hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "../machine.h"
#include "../words.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/host.h"
#include "cairn/hardware/host_need.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

// Everything that the answer is made of.
struct Answering {
  std::vector<const Host*> hosts;
  std::vector<HostCheck> checks;      // as hosts; empty where no cards are asked about
  const Accelerator* card = nullptr;  // null: no cards are asked about
  std::optional<HostNeed> need;
  std::optional<HostCheck> own;  // of the machine that the options describe
};

Result<Answering> answer_for(const ParsedCommand& args, const HostCatalogue& hosts,
                             const AcceleratorCatalogue& accelerators, const HostRules& rules) {
  Answering out;
  const auto names = args.list(kGpu);
  if (names.empty()) {
    if (args.given(kCards) || machine_of(args)) {
      return fail(bad_input("no accelerator is named").in("--gpu").want("an accelerator"));
    }
    for (const Host& host : hosts.all()) out.hosts.push_back(&host);
    return out;
  }
  if (names.size() != 1) {
    return fail(bad_input("more than one accelerator").in("--gpu").got(names[1]).want("one"));
  }
  CAIRN_TRY(out.card, accelerators.find(names.front()));
  HostRequest request;
  request.accelerator = out.card;
  request.devices = args.integer(kCards).value_or(1) * out.card->devices_per_card;
  CAIRN_TRY(out.need, host_need(request, rules));
  out.hosts = hosts.for_cards(*out.card, out.need->cards_per_host);
  for (const Host* host : out.hosts) {
    out.checks.push_back(check_host(*out.need, *out.card, *host, std::nullopt));
  }
  if (const auto own = machine_of(args)) out.own = check_host(*out.need, *own);
  return out;
}

Tone tone_of(HostVerdict verdict) {
  switch (verdict) {
    case HostVerdict::enough:
      return Tone::good;
    case HostVerdict::lacking:
      return Tone::bad;
    case HostVerdict::reduced:
      return Tone::warn;
    case HostVerdict::unknown:
      return Tone::plain;
  }
  return Tone::plain;
}

std::string watts(std::optional<Watts> power) {
  return power ? fmt::format("{} W", format_count(power->value())) : "–";
}

std::string slots_text(const Host& host) {
  if (host.arrangements.empty()) return host.form;
  std::vector<std::string> parts;
  for (const Slot& slot : host.arrangements.back()) {
    parts.push_back(fmt::format("x{}{}", slot.lanes, slot.path == SlotPath::chipset ? "*" : ""));
  }
  return fmt::format("PCIe {}: {}", host.arrangements.back().front().generation,
                     fmt::join(parts, " "));
}

// What speaks against a machine for these cards; its status where none are asked about.
Cell remark(const Answering& answer, std::size_t i, const Translator& t) {
  if (answer.hosts[i]->status == Status::announced) {
    return {t.tr(word_for(Status::announced)), Tone::warn};
  }
  const HostFinding* worst = answer.checks.empty() ? nullptr : answer.checks[i].worst();
  if (worst == nullptr) return "";
  return {t.tr("{}: {}", t.tr(word_for(worst->verdict)), t.tr(worst->text)),
          tone_of(worst->verdict)};
}

void print_hosts(const Answering& answer, std::string& out, Context& context) {
  const Translator& t = context.tr;
  TextTable table({{"ID"},
                   {t.tr("name")},
                   {t.tr("kind")},
                   {t.tr("cards"), Align::right},
                   {t.tr("slots")},
                   {t.tr("memory GB/s"), Align::right},
                   {t.tr("maximum"), Align::right},
                   {""}});
  for (std::size_t i = 0; i < answer.hosts.size(); ++i) {
    const Host* host = answer.hosts[i];
    table.add({host->id, host->name, t.tr(word_for(host->kind)), std::to_string(host->max_cards),
               slots_text(*host),
               host->memory_bandwidth ? format_number(host->memory_bandwidth->value() / 1e9) : "–",
               watts(host->max_power), remark(answer, i, t)});
  }
  out += table.render(context.console.style());
}

void print_need(const Answering& answer, std::string& out, Context& context) {
  const Translator& t = context.tr;
  const HostNeed& need = *answer.need;
  TextTable head({{""}, {""}});
  head.add({t.tr("cards"), t.tr("{} x {}", need.cards, answer.card->name)});
  if (need.hosts > 1) head.add({t.tr("machines"), std::to_string(need.hosts)});
  head.add({t.tr("kind"), t.tr(word_for(need.kind))});
  head.add({t.tr("under load"), watts(need.sustained)});
  if (need.supply) head.add({t.tr("power supply"), watts(need.supply)});
  if (need.ram > Bytes{}) {
    head.add({t.tr("RAM"), t.tr("{}, at least {}", format(need.ram), format(need.ram_least))});
  }
  if (need.lanes > 0) {
    head.add({t.tr("slots"), t.tr("{} of PCIe {} x{}, {} widths each", need.cards_per_host,
                                  need.generation, need.lanes, need.slot_width)});
  }
  if (need.cooling) head.add({t.tr("cooling"), t.tr(word_for(*need.cooling))});
  out += head.render(context.console.style());
  for (const Message& reason : need.reasons) out += "  " + t.tr(reason) + "\n";
  if (answer.own) {
    out +=
        fmt::format("\n{}\n", context.console.style().paint(
                                  Tone::strong, answer.own->fits
                                                    ? t.tr("The machine described is enough")
                                                    : t.tr("The machine described is not enough")));
    TextTable findings({{""}, {""}});
    for (const HostFinding& f : answer.own->findings) {
      findings.add({{t.tr(word_for(f.verdict)), tone_of(f.verdict)}, t.tr(f.text)});
    }
    out += findings.render(context.console.style());
  }
  if (!answer.hosts.empty()) out += '\n';
}

void write_check(JsonWriter& json, const HostCheck* check) {
  if (check == nullptr) {
    json.null();
    return;
  }
  json.begin_object().field("fits", check->fits).key("findings").begin_array();
  for (const HostFinding& f : check->findings) {
    json.begin_object().field("part", name_of(f.part)).field("verdict", name_of(f.verdict));
    json.field("text", fill(f.text.id, f.text.values)).end_object();
  }
  json.end_array().end_object();
}

void write_host(JsonWriter& json, const Host& host, const HostCheck* check) {
  json.begin_object().field("id", host.id).field("name", host.name);
  json.field("vendor", host.vendor).field("kind", name_of(host.kind));
  json.field("status", name_of(host.status)).field("form", host.form);
  json.array("accelerators", host.accelerators).field("max_cards", host.max_cards);
  json.field("memory_bandwidth_bytes_per_s", host.memory_bandwidth);
  json.field("memory_bytes", host.memory).field("max_memory_bytes", host.max_memory);
  json.field("supply_w", host.supply).field("max_power_w", host.max_power);
  json.key("slots").begin_array();
  if (!host.arrangements.empty()) {
    for (const Slot& slot : host.arrangements.back()) {
      json.begin_object().field("lanes", slot.lanes).field("generation", slot.generation);
      json.field("path", name_of(slot.path)).field("atomics", slot.atomics).end_object();
    }
  }
  json.end_array().key("check");
  write_check(json, check);
  json.end_object();
}

void write_need(JsonWriter& json, const HostNeed& need) {
  json.begin_object().field("cards", need.cards).field("hosts", need.hosts);
  json.field("cards_per_host", need.cards_per_host).field("kind", name_of(need.kind));
  json.field("form", need.form).field("cards_power_w", need.cards_power);
  json.field("other_power_w", need.other_power).field("sustained_power_w", need.sustained);
  json.field("supply_w", need.supply).field("ram_least_bytes", need.ram_least);
  json.field("ram_bytes", need.ram).field("slot_width", need.slot_width);
  json.field("lanes", need.lanes).field("generation", need.generation);
  json.key("cooling");
  if (need.cooling) {
    json.value(name_of(*need.cooling));
  } else {
    json.null();
  }
  json.field("atomics", need.atomics).key("reasons").begin_array();
  for (const Message& reason : need.reasons) json.value(fill(reason.id, reason.values));
  json.end_array().end_object();
}

void write_json(const Answering& answer, Console& console) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.hosts/1").key("hosts").begin_array();
  for (std::size_t i = 0; i < answer.hosts.size(); ++i) {
    write_host(json, *answer.hosts[i], answer.checks.empty() ? nullptr : &answer.checks[i]);
  }
  json.end_array().key("need");
  if (answer.need) {
    write_need(json, *answer.need);
  } else {
    json.null();
  }
  json.key("check");
  write_check(json, answer.own ? &*answer.own : nullptr);
  json.end_object();
  console.out(json.text());
}

}  // namespace

Result<Answer> run_hosts(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const HostCatalogue hosts, HostCatalogue::load(image));
  CAIRN_TRY(const AcceleratorCatalogue accelerators, AcceleratorCatalogue::load(image));
  CAIRN_TRY(const HostRules rules, HostRules::load(image));
  CAIRN_TRY(const Answering answer, answer_for(context.args, hosts, accelerators, rules));
  const Answer status = answer.own && !answer.own->fits ? Answer::no : Answer::yes;
  if (context.json) {
    write_json(answer, context.console);
    return status;
  }
  std::string out;
  if (answer.need) print_need(answer, out, context);
  if (!answer.hosts.empty()) print_hosts(answer, out, context);
  context.console.out(out);
  if (!answer.hosts.empty()) {
    context.console.note(
        context.tr.tr("{} hosts; * hangs on the chipset; cairn hosts show ID "
                      "gives the sources",
                      answer.hosts.size()));
  }
  return status;
}

}  // namespace cairn::cli
