#include "cairn/evidence/evidence_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "../evidence_input.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"
#include "evidence.h"

namespace cairn::cli {
namespace {

void write_groups(JsonWriter& json, std::string_view name, std::span<const EvidenceGroup> groups) {
  json.key(name).begin_array();
  for (const EvidenceGroup& g : groups) {
    json.begin_object().field("what", g.what).field("low", g.low).field("high", g.high);
    json.field("unit", g.unit).array("ids", g.ids).end_object();
  }
  json.end_array();
}

void write_names(JsonWriter& json, std::string_view name, std::span<const UnmappedName> names) {
  json.key(name).begin_array();
  for (const UnmappedName& n : names) {
    json.begin_object().field("name", n.name).field("rows", n.rows);
    json.field("reason", n.reason).end_object();
  }
  json.end_array();
}

void write_report(const EvidenceReport& r, Context& context) {
  JsonWriter json;
  json.begin_object().field("schema", "cairn.evidence_check/1");
  json.field("rows", r.rows).field("sources", r.sources).field("campaigns", r.campaigns);
  json.field("unconfirmed_rows", r.unconfirmed).field("rows_with_card", r.with_card);
  json.field("inference_rows", r.inference).field("inference_with_model", r.with_model);
  json.field("inference_with_format", r.with_format).field("inference_with_all", r.with_all);
  write_groups(json, "duplicates", r.duplicates);
  write_groups(json, "copies", r.near_duplicates);
  write_groups(json, "contradictions", r.contradictions);
  json.array("layouts", r.layouts);
  write_names(json, "unknown_cards", r.cards);
  write_names(json, "unknown_models", r.models);
  write_names(json, "unknown_formats", r.formats);
  json.key("doubts").begin_object();
  for (const auto& [code, rows] : r.doubts) json.field(code, rows);
  json.end_object().end_object();
  context.console.out(json.text());
}

std::string ids_of(const EvidenceGroup& group) {
  constexpr std::size_t kShown = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(group.ids.size(), kShown); ++i) out += " " + group.ids[i];
  return group.ids.size() > kShown ? out + " ..." : out;
}

class Text {
 public:
  Text(Context& context, std::size_t top) : context_(context), top_(top) {}

  void print(const EvidenceReport& r) {
    const Translator& t = context_.tr;
    line(t.tr("{} rows of {} pages and {} campaigns; {} rows of pages that could not be named",
              r.rows, r.sources, r.campaigns, r.unconfirmed));
    line(t.tr("card known: {}", share(r.with_card, r.rows)));
    line(t.tr("language models: model known {}, weight format {}, card and both {}",
              share(r.with_model, r.inference), share(r.with_format, r.inference),
              share(r.with_all, r.inference)));
    names(msg("cards without an entry"), r.cards);
    names(msg("models without an entry"), r.models);
    names(msg("weight formats without an entry"), r.formats);
    groups(msg("the same row twice"), r.duplicates);
    groups(msg("the same figure on different pages"), r.near_duplicates);
    groups(msg("contradictions"), r.contradictions);
    line("");
    line(t.tr("rows whose layout needs more cards than they are of: {}", r.layouts.size()));
    doubts(r);
  }

 private:
  static std::string share(std::size_t part, std::size_t whole) {
    const double of = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    return fmt::format("{} ({})", part, format_percent(of));
  }

  void line(std::string_view text) { context_.console.out(std::string(text) + "\n"); }

  void names(std::string_view title, std::span<const UnmappedName> list) {
    line("");
    TextTable table({{context_.tr.tr(title)}, {context_.tr.tr("rows"), Align::right}, {""}});
    for (const UnmappedName& n : list.first(std::min(list.size(), top_))) {
      table.add({n.name.empty() ? "–" : n.name, std::to_string(n.rows), n.reason});
    }
    context_.console.out(table.render(context_.console.style()));
  }

  void groups(std::string_view title, std::span<const EvidenceGroup> list) {
    line("");
    line(fmt::format("{}: {}", context_.tr.tr(title), list.size()));
    for (const EvidenceGroup& g : list.first(std::min(list.size(), top_))) {
      line(fmt::format("  {}  {}–{} {} {}", g.what, format_number(g.low), format_number(g.high),
                       g.unit, ids_of(g)));
    }
  }

  void doubts(const EvidenceReport& r) {
    line("");
    TextTable table({{context_.tr.tr("doubt")}, {context_.tr.tr("rows"), Align::right}});
    for (const auto& [code, rows] : r.doubts) table.add({code, std::to_string(rows)});
    context_.console.out(table.render(context_.console.style()));
  }

  Context& context_;
  std::size_t top_;
};

}  // namespace

Result<Answer> run_evidence_check(Context& context) {
  CAIRN_TRY(const OpenEvidence evidence, open_evidence(context));
  const double factor = context.args.number(kFactor).value_or(kContradictionFactor);
  const EvidenceReport report = check_evidence(evidence.book, evidence.names, factor);
  if (context.json) {
    write_report(report, context);
  } else {
    Text(context, static_cast<std::size_t>(context.args.integer(kOfTop).value_or(50)))
        .print(report);
  }
  return report.duplicates.empty() ? Answer::yes : Answer::no;
}

}  // namespace cairn::cli
