#include "plan_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "render.h"
#include "words.h"

namespace cairn::cli {
namespace {

std::string watts(const std::optional<Watts>& power) {
  return power ? fmt::format("{} W", format_count(std::round(power->value()))) : "–";
}

std::string slots_text(const HostNeed& need) {
  if (need.lanes == 0) return "–";
  std::string out =
      fmt::format("{} x PCIe {} x{}", need.cards_per_host, need.generation, need.lanes);
  if (need.slot_width > 0) out += fmt::format(", {}", need.slot_width * need.cards_per_host);
  return out;
}

std::string machine_text(const Machines& m, const Translator& t) {
  std::string kind(t.tr(word_for(m.need.kind)));
  if (m.need.hosts == 1) return kind;
  std::string out = fmt::format("{} x {}", m.need.hosts, kind);
  if (m.racks) out += ", " + t.tr("racks: {}", *m.racks);
  if (m.power) out += ", " + fmt::format("{} kW", format_number(m.power->value() / 1000));
  return out;
}

Cell check_text(const Machines& m, const Translator& t) {
  if (!m.check) return "";
  const HostFinding* worst = m.check->worst();
  if (worst == nullptr) return {t.tr(word_for(HostVerdict::enough)), Tone::good};
  const Tone tone = worst->verdict == HostVerdict::lacking ? Tone::bad : Tone::warn;
  return {t.tr("{}: {}", t.tr(word_for(worst->verdict)), t.tr(worst->text)), tone};
}

std::string_view word_for_constraint(std::string_view name) {
  if (name == "memory") return msg("memory");
  if (name == "ttft") return msg("time to first token");
  if (name == "tpot") return msg("time per output token");
  if (name == "tokens_per_s") return msg("speed of one request");
  if (name == "budget") return msg("budget");
  if (name == "power") return msg("power");
  if (name == "cards") return msg("number of cards");
  return msg("support");
}

}  // namespace

void write_machines(JsonWriter& json, const Machines& m) {
  const HostNeed& n = m.need;
  json.begin_object().field("machines", n.hosts).field("cards_per_machine", n.cards_per_host);
  json.field("kind", name_of(n.kind)).field("form", n.form);
  json.field("load_w", n.sustained).field("supply_w", n.supply);
  json.field("ram_least_bytes", n.ram_least).field("ram_bytes", n.ram);
  json.field("slot_width", n.slot_width).field("lanes", n.lanes);
  json.field("pcie_generation", n.generation).key("cooling");
  if (n.cooling) {
    json.value(name_of(*n.cooling));
  } else {
    json.null();
  }
  json.field("all_machines_w", m.power).field("host", m.host);
  json.field("host_price", m.host_price).field("rack_units", m.rack_units);
  json.field("racks", m.racks).key("fits_owned");
  if (m.check) {
    json.value(m.check->fits);
  } else {
    json.null();
  }
  json.key("findings").begin_array();
  for (const HostFinding& f : m.check ? m.check->findings : std::vector<HostFinding>{}) {
    json.begin_object().field("part", name_of(f.part)).field("verdict", name_of(f.verdict));
    json.field("text", fill(f.text.id, f.text.values)).end_object();
  }
  json.end_array().end_object();
}

void write_contests(JsonWriter& json, const std::vector<Contest>& contests) {
  json.key("contests").begin_array();
  for (const Contest& c : contests) {
    json.begin_object().field("accelerator", c.accelerator).field("better", c.better);
    json.field("other", c.other).field("weights", c.weights).field("kv", c.kv);
    json.field("other_weights", c.other_weights).field("other_kv", c.other_kv);
    json.field("ratio", c.ratio).end_object();
  }
  json.end_array();
}

void write_rejections(JsonWriter& json, const std::vector<Rejection>& rejections) {
  json.begin_array();
  for (const Rejection& r : rejections) {
    json.begin_object().field("accelerator", r.accelerator).field("engine", r.engine);
    json.field("constraint", r.constraint).field("limit", r.limit).field("needed", r.needed);
    json.field("unit", r.unit).field("reason", r.reason).end_object();
  }
  json.end_array();
}

void write_counts(JsonWriter& json, const SearchCounts& counts) {
  json.key("candidates").begin_object().field("considered", counts.considered);
  json.field("too_large", counts.too_large).field("excluded", counts.excluded);
  json.field("dominated", counts.dominated).end_object();
}

std::string weights_text(const Prediction& p, const Knowledge& knowledge) {
  const auto engine = knowledge.engines.find(p.engine);
  if (engine && p.kv == (*engine)->reference.kv_format) return p.weights;
  return fmt::format("{}, KV {}", p.weights, p.kv);
}

void print_machines(const std::vector<const Machines*>& machines, const std::string& currency,
                    Context& context) {
  const Translator& t = context.tr;
  const bool checked =
      std::ranges::any_of(machines, [](const Machines* m) { return m->check.has_value(); });
  TextTable table({{"#", Align::right},
                   {t.tr("machine")},
                   {t.tr("power supply"), Align::right},
                   {t.tr("host memory"), Align::right},
                   {t.tr("slots, widths")},
                   {t.tr("cooling")},
                   {t.tr("from the catalogue")},
                   {checked ? t.tr("yours") : ""}});
  int rank = 0;
  for (const Machines* m : machines) {
    const HostNeed& need = m->need;
    std::string host = m->host.empty() ? "–" : m->host;
    if (m->host_price) host += ", " + amount(m->host_price, currency);
    table.add({fmt::format("{}", ++rank), machine_text(*m, t), watts(need.supply), format(need.ram),
               slots_text(need), need.cooling ? std::string(t.tr(word_for(*need.cooling))) : "–",
               host, check_text(*m, t)});
  }
  context.console.out("\n" + table.render(context.console.style()));
}

void print_contests(const Plan& plan, Context& context) {
  constexpr std::size_t kMost = 5;
  std::size_t printed = 0;
  const Translator& t = context.tr;
  const auto formats = [](const std::string& weights, const std::string& kv) {
    return fmt::format("{}, KV {}", weights, kv);
  };
  for (const Contest& c : plan.contests) {
    if (printed == kMost || (c.same_formats() && !c.ratio)) continue;
    ++printed;
    const std::string mine = formats(c.weights, c.kv);
    if (!c.ratio) {
      context.console.note(
          t.tr("{}: {} ({}) is ranked before {} ({}); they have no formats in common that would "
               "compare the engines",
               c.accelerator, c.better, mine, c.other, formats(c.other_weights, c.other_kv)));
      continue;
    }
    constexpr double kAlike = 1.005;
    context.console.note(
        *c.ratio < kAlike
            ? t.tr("{}: {} and {} are alike, both with {}", c.accelerator, c.better, c.other, mine)
            : t.tr("{}: {} is better than {} by {} %, both with {}", c.accelerator, c.better,
                   c.other, format_number((*c.ratio - 1) * 100), mine));
  }
}

void print_rent(const Plan& plan, const PlanRequest& request, Context& context) {
  const Translator& t = context.tr;
  constexpr std::size_t kMost = 3;
  std::size_t printed = 0;
  std::set<std::string> told;
  for (const Candidate& c : plan.ranked) {
    const CostFigures& m = c.prediction.money;
    if (!m.rented_per_year || !m.rental_price || printed == kMost) continue;
    const std::string name = fmt::format("{} x {}", c.cards, c.prediction.accelerator);
    if (!told.insert(name).second) continue;
    ++printed;
    const std::string rent = amount(m.rented_per_year, request.terms.currency);
    const std::string quoted = fmt::format(
        "{}, {}", m.rental_price->provider,
        m.rental_price->date.empty() ? std::string(t.tr(msg("undated"))) : m.rental_price->date);
    if (m.break_even_years && std::isfinite(*m.break_even_years)) {
      // What is sold in machines is bought in whole ones.
      const std::int64_t unit = m.purchase_price ? m.purchase_price->cards : 1;
      const std::int64_t bought = (c.cards + unit - 1) / unit * unit;
      const std::string years = format_number(*m.break_even_years);
      context.console.note(
          bought == c.cards
              ? t.tr("{}: rented {} a year ({}); buying has paid for itself after {} years", name,
                     rent, quoted, years)
              : t.tr("{}: rented {} a year ({}); buying the {} that are sold together has paid "
                     "for itself after {} years",
                     name, rent, quoted, bought, years));
    } else if (m.break_even_years) {
      context.console.note(
          t.tr("{}: rented {} a year ({}); the electricity alone costs more", name, rent, quoted));
    } else {
      context.console.note(t.tr("{}: rented {} a year ({})", name, rent, quoted));
    }
  }
  if (request.terms.co2_g_per_kwh && !plan.ranked.empty()) {
    const Candidate& c = plan.ranked.front();
    const CostFigures& m = c.prediction.money;
    if (m.co2_kg_per_year && m.co2_g_per_mtok) {
      context.console.note(t.tr("{} x {}: {} kg of CO2 a year, {} g for a million output tokens",
                                c.cards, c.prediction.accelerator,
                                format_number(*m.co2_kg_per_year),
                                format_number(*m.co2_g_per_mtok)));
    }
  }
}

void print_relaxations(const std::vector<Relaxation>& relaxations, Context& context) {
  const Translator& t = context.tr;
  for (const Relaxation& r : relaxations) {
    context.console.out(t.tr("would qualify with {} {} {} instead of {}: {}",
                             t.tr(word_for_constraint(r.constraint)), format_number(r.to), r.unit,
                             format_number(r.from), r.accelerator) +
                        "\n");
  }
}

namespace {

// Sizes with their unit, as everywhere; other numbers have a column for it.
std::string limit_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return format_number(value);
  if (unit == "GiB") return format(gib(value));
  return unit == "cards" ? format_count(value) : format_number(value);
}

}  // namespace

void print_rejections(const std::vector<Rejection>& rejections, bool all, Context& context) {
  const Translator& t = context.tr;
  if (rejections.empty()) return;
  if (!all) {
    context.console.note(
        rejections.size() == 1
            ? t.tr("1 accelerator left out; --explain says why")
            : t.tr("{} accelerators left out; --explain says why", rejections.size()));
    return;
  }
  TextTable table({{t.tr("left out")},
                   {t.tr("by")},
                   {t.tr("allowed"), Align::right},
                   {t.tr("needed"), Align::right},
                   {""}});
  for (const Rejection& r : rejections) {
    if (r.reason.empty() && !std::isfinite(r.needed)) {
      table.add(
          {r.accelerator, t.tr(word_for_constraint(r.constraint)), format_number(r.limit), "–",
           r.constraint == "power" ? t.tr("its power is unknown") : t.tr("no price is known")});
      continue;
    }
    table.add({r.accelerator, t.tr(word_for_constraint(r.constraint)),
               r.reason.empty() ? limit_text(r.limit, r.unit) : "",
               r.reason.empty() ? limit_text(r.needed, r.unit) : "",
               r.reason.empty() ? (r.unit == "GiB" ? std::string() : r.unit) : r.reason});
  }
  context.console.out("\n" + table.render(context.console.style()));
}

void print_counts(const SearchCounts& counts, Context& context) {
  context.console.note(
      context.tr.tr("{} deployments considered: {} do not fit, {} break a limit, {} are not as "
                    "good, {} predicted",
                    format_count(static_cast<double>(counts.considered)),
                    format_count(static_cast<double>(counts.too_large)),
                    format_count(static_cast<double>(counts.excluded)),
                    format_count(static_cast<double>(counts.dominated)),
                    format_count(static_cast<double>(counts.evaluated))));
}

}  // namespace cairn::cli
