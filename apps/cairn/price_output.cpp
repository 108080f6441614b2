#include "price_output.h"

#include "cairn/report/number.h"
#include "words.h"

namespace cairn::cli {
namespace {

std::string dates(const Purchase& p, const Translator& t) {
  if (p.newest.empty()) return std::string(t.tr(msg("undated")));
  return p.oldest == p.newest ? p.newest : t.tr("{} to {}", p.oldest, p.newest);
}

// "; sold in machines of 8: 515,000 USD for dgx-b200".
std::string sold_together(const Purchase& p, const Translator& t) {
  const std::string all = format_money(p.amount, p.currency);
  if (p.bare) {
    return t.tr(
        "; sold on base boards of {}: {} for the modules, without board, chassis and "
        "processors, whose price is not known",
        p.cards, all);
  }
  if (p.cards > 1) return t.tr("; sold in machines of {}: {} for one {}", p.cards, all, p.machine);
  return p.machine.empty() ? "" : t.tr("; the price of one {}", p.machine);
}

}  // namespace

void write_quote(JsonWriter& json, std::string_view key, const std::optional<Price>& p) {
  json.key(key);
  if (!p) {
    json.null();
    return;
  }
  json.begin_object().field("amount", p->amount).field("currency", p->currency);
  json.field("kind", name_of(p->kind)).field("provider", p->provider).field("date", p->date);
  json.field("source", p->source).field("confirmed", p->confirmed).end_object();
}

void write_purchase(JsonWriter& json, std::string_view key, const std::optional<Purchase>& p) {
  json.key(key);
  if (!p) {
    json.null();
    return;
  }
  const auto cards = static_cast<double>(p->cards);
  json.begin_object().field("amount", p->each()).field("currency", p->currency);
  json.field("basis", name_of(p->basis)).field("kind", name_of(p->middle.kind));
  json.field("provider", p->middle.provider).field("region", p->middle.region);
  json.field("date", p->middle.date).field("source", p->middle.source);
  json.field("confirmed", p->confirmed).field("quotes", p->quotes);
  json.field("low", p->low / cards).field("high", p->high / cards);
  json.field("oldest", p->oldest).field("newest", p->newest);
  json.field("quoted_in", p->quoted_in).field("rate_date", p->rate_date);
  json.field("sold_together", p->cards).field("machine", p->machine);
  json.field("modules_only", p->bare).end_object();
}

std::string price_text(const std::optional<Purchase>& p) {
  if (!p) return "–";
  return (p->basis == PriceBasis::estimate ? "~" : "") + format_money(p->each(), p->currency) +
         (p->confirmed ? "" : "?");
}

std::string price_note(std::string_view id, const std::optional<Purchase>& p, const Translator& t) {
  if (!p) return t.tr("{}: no price known", id);
  const auto cards = static_cast<double>(p->cards);
  const std::string each = format_money(p->each(), p->currency);
  const std::string_view basis = t.tr(word_for(p->basis));
  std::string out;
  if (p->quotes > 1) {
    out = t.tr("{}: {} each, the median of {} quotes ({}) from {} to {}, {}", id, each, p->quotes,
               basis, format_money(p->low / cards, p->currency),
               format_money(p->high / cards, p->currency), dates(*p, t));
  } else if (p->quotes == 1) {
    out = t.tr("{}: {} each, one quote ({}), {}", id, each, basis, dates(*p, t));
  } else {
    out = t.tr("{}: {} each, {}", id, each, basis);
  }
  if (!p->rate_date.empty()) {
    out += t.tr("; converted from {} at the rate of {}", p->quoted_in, p->rate_date);
  }
  out += sold_together(*p, t);
  if (!p->confirmed) out += t.tr(msg("; no source vouches for it"));
  return out;
}

}  // namespace cairn::cli
