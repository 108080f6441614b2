#include "gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "../price_output.h"
#include "../words.h"
#include "cairn/base/names.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/purchase.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "cairn/report/table.h"

namespace cairn::cli {
namespace {

struct Entry {
  const Accelerator* accelerator;
  std::optional<Purchase> price;
};

// What the options ask for. Fails where an amount has no usable currency.
class Filter {
 public:
  static Result<Filter> from(const ParsedCommand& args, const PriceBook& prices) {
    Filter out;
    out.vendor_ = args.text(kVendor).value_or("any");
    out.status_ = args.text(kStatus).value_or("any");
    out.family_ = normalise_name(args.text(kFamily).value_or(""));
    out.min_memory_ = args.quantity<Bytes>(kMinMemory);
    out.max_price_ = args.amount(kMaxPrice);
    if (!out.max_price_) return out;
    if (out.max_price_->currency.empty()) {
      return fail(bad_input("the currency is missing").in("--max-price").want("600USD"));
    }
    CAIRN_CHECK(prices.convert(1, out.max_price_->currency, "USD"));
    return out;
  }

  /// The currency of the answer.
  [[nodiscard]] std::string currency() const { return max_price_ ? max_price_->currency : "USD"; }

  [[nodiscard]] bool keeps(const Entry& e) const {
    const Accelerator& a = *e.accelerator;
    if (vendor_ != "any" && a.vendor != vendor_) return false;
    if (status_ != "any" && name_of(a.status) != status_) return false;
    if (!family_.empty() && a.family != family_ && a.architecture != family_) return false;
    if (min_memory_ && a.memory < *min_memory_) return false;
    if (!max_price_) return true;
    return e.price && e.price->each() <= max_price_->amount;
  }

 private:
  std::string_view vendor_;
  std::string_view status_;
  std::string family_;
  std::optional<Bytes> min_memory_;
  std::optional<Amount> max_price_;
};

std::string peak(const Accelerator& a, ComputeType type) {
  const auto rate = a.peak_of(type);
  return rate ? format_number(rate->value() / 1e12) : "–";
}

void add_row(TextTable& table, const Entry& e, const Translator& t) {
  const Accelerator& a = *e.accelerator;
  const Cell status = a.status == Status::announced
                          ? Cell(t.tr(word_for(a.status)), Tone::warn)
                          : Cell(a.status == Status::shipping ? "" : t.tr(word_for(a.status)));
  const std::string name =
      a.devices_per_card > 1 ? t.tr("{}, one of {} dies", a.name, a.devices_per_card) : a.name;
  table.add({a.id, name, format_number(in_gib(a.memory)), format_number(a.bandwidth.value() / 1e9),
             peak(a, ComputeType::f16), peak(a, ComputeType::fp8), peak(a, ComputeType::int8),
             a.board_power ? format_number(a.board_power->value()) : "–",
             a.target.empty() ? "–" : a.target, price_text(e.price), status});
}

void write_entry(JsonWriter& json, const Entry& e) {
  const Accelerator& a = *e.accelerator;
  json.begin_object().field("id", a.id).field("name", a.name).field("vendor", a.vendor);
  json.field("family", a.family).field("architecture", a.architecture);
  json.field("target", a.target).field("status", name_of(a.status));
  json.field("memory_bytes", a.memory).field("bandwidth_bytes_per_s", a.bandwidth);
  json.key("peak_flops").begin_object();
  for (std::size_t i = 0; i < kComputeTypes; ++i) {
    json.field(name_of(static_cast<ComputeType>(i)), a.peak[i]);
  }
  json.end_object().field("board_power_w", a.board_power);
  write_purchase(json, "price", e.price);
  json.end_object();
}

void print(const std::vector<Entry>& entries, Context& context) {
  const Translator& t = context.tr;
  TextTable table({{"ID"},
                   {t.tr("name")},
                   {"GiB", Align::right},
                   {"GB/s", Align::right},
                   {"FP16", Align::right},
                   {"FP8", Align::right},
                   {"INT8", Align::right},
                   {"W", Align::right},
                   {t.tr("target")},
                   {t.tr("price"), Align::right},
                   {""}});
  for (const Entry& e : entries) add_row(table, e, t);
  context.console.out(table.render(context.console.style()));
  context.console.note(
      t.tr("a price is of a whole card, or its share of the machine that it is sold in; ~ an "
           "estimate, ? one that no source vouches for, – no price known"));
  context.console.note(
      t.tr("{} accelerators; FP16, FP8 and INT8 in dense TFLOPS or TOPS; "
           "cairn gpus show ID gives the sources",
           entries.size()));
}

}  // namespace

Result<Answer> run_gpus(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const AcceleratorCatalogue catalogue, AcceleratorCatalogue::load(image));
  CAIRN_TRY(const PriceBook prices, PriceBook::load(image));
  CAIRN_TRY(const HostCatalogue hosts, HostCatalogue::load(image));
  CAIRN_TRY(const Filter filter, Filter::from(context.args, prices));
  std::vector<Entry> entries;
  for (const Accelerator& a : catalogue.all()) {
    if (!a.is_gpu) continue;  // processors and whole racks
    Entry entry{&a, {}};
    CAIRN_TRY(entry.price, purchase_of(a, {filter.currency(), "", {}}, prices, hosts));
    if (filter.keeps(entry)) entries.push_back(std::move(entry));
  }
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.gpus/1").key("accelerators").begin_array();
    for (const Entry& e : entries) write_entry(json, e);
    json.end_array().end_object();
    context.console.out(json.text());
  } else {
    print(entries, context);
  }
  return entries.empty() ? Answer::no : Answer::yes;
}

}  // namespace cairn::cli
