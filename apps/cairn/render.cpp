#include "render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/report/number.h"
#include "price_output.h"

namespace cairn::cli {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

template <std::size_t N>
std::string_view look_up(const std::array<Words, N>& words, std::string_view name) {
  const auto it = std::ranges::find(words, name, &Words::first);
  return it != words.end() ? it->second : name;
}

void write_metric(JsonWriter& json, const Metric& m) {
  json.begin_object().field("name", m.name).field("value", m.value);
  json.field("low", m.low).field("high", m.high).field("unit", m.unit);
  json.key("basis").begin_object();
  json.field("kind", name_of(m.basis.kind)).field("rows", m.basis.rows);
  json.end_object().end_object();
}

void write_money(JsonWriter& json, const CostFigures& m) {
  json.key("money").begin_object();
  json.field("currency", m.currency).field("purchase", m.purchase);
  json.field("purchase_whole", m.purchase_whole);
  json.field("owned_per_hour", m.owned_per_hour).field("rented_per_hour", m.rented_per_hour);
  json.field("owned_per_million_output_tokens", m.owned_per_mtok);
  json.field("rented_per_million_output_tokens", m.rented_per_mtok);
  json.field("owned_per_year", m.owned_per_year).field("rented_per_year", m.rented_per_year);
  json.field("break_even_years", m.break_even_years).field("kwh_per_year", m.kwh_per_year);
  json.field("co2_kg_per_year", m.co2_kg_per_year);
  json.field("co2_g_per_million_output_tokens", m.co2_g_per_mtok);
  write_purchase(json, "purchase_price", m.purchase_price);
  write_quote(json, "rental_price", m.rental_price);
  json.end_object();
}

void write_step(JsonWriter& json, std::string_view key, const StepTime& t) {
  json.key(key).begin_object().field("seconds", t.total).key("by_class").begin_object();
  for (std::size_t i = 0; i < kTimeClasses; ++i) {
    const auto c = static_cast<TimeClass>(i);
    if (t.of(c) > Seconds{}) json.field(name_of(c), t.of(c));
  }
  json.end_object();
  json.field("compute_bound_seconds", t.compute_bound);
  json.field("memory_bound_seconds", t.memory_bound).field("fixed_seconds", t.fixed);
  json.field("flops", t.flops).field("bytes", t.bytes).end_object();
}

}  // namespace

FitWord fit_word(bool fits, bool narrow) {
  if (narrow) return {msg("fits narrowly"), Tone::warn};
  return fits ? FitWord{msg("fits"), Tone::good} : FitWord{msg("does not fit"), Tone::bad};
}

Message narrow_note(const MemoryEstimate& memory) {
  return message(
      "fits narrowly: what is left is within the error of the estimate, one sigma of {} %",
      format_number(100 * memory.sigma));
}

void write_memory(JsonWriter& json, const MemoryEstimate& memory) {
  json.begin_object().field("fits", memory.fits).field("narrow", memory.narrow());
  json.key("devices").begin_array();
  for (const DeviceMemory& d : memory.devices) {
    json.begin_object().field("device", d.device).field("capacity_bytes", d.capacity);
    json.field("total_bytes", d.total).field("required_bytes", d.required);
    json.key("parts").begin_object();
    for (const MemoryPart& part : d.parts) json.field(part.name, part.bytes);
    json.end_object().end_object();
  }
  json.end_array().field("host_bytes", memory.host);
  json.field("host_capacity_bytes", memory.host_capacity);
  json.key("host_parts").begin_object();
  for (const MemoryPart& part : memory.host_parts) json.field(part.name, part.bytes);
  json.end_object().field("kv_tokens", memory.kv_tokens);
  json.field("sigma", memory.sigma).end_object();
}

void write_prediction(JsonWriter& json, const Prediction& p) {
  json.field("model", p.model).field("accelerator", p.accelerator);
  json.field("announced", p.announced).field("cards", p.layout.devices());
  json.field("engine", p.engine).field("engine_version", p.config.version);
  json.field("weights", p.weights).field("weights_approximate", p.weights_approximate);
  json.field("kv", p.kv);
  json.key("layout").begin_object().field("tp", p.layout.tp).field("pp", p.layout.pp);
  json.field("dp", p.layout.dp).field("ep", p.layout.ep).end_object();
  json.key("workload").begin_object().field("input", p.workload.input);
  json.field("output", p.workload.output).field("concurrency", p.workload.concurrency);
  json.field("rate", p.workload.rate).field("context", p.workload.context).end_object();
  json.field("parameters", p.parameters);
  json.key("memory");
  write_memory(json, p.memory);
  json.key("metrics").begin_array();
  for (const Metric& m : p.metrics) write_metric(json, m);
  json.end_array();
  write_step(json, "prefill_time", p.prefill);
  write_step(json, "decode_step_time", p.decode);
  write_money(json, p.money);
  json.key("notes").begin_array();
  for (const Message& note : p.notes) json.value(fill(note.id, note.values));
  json.end_array();
}

namespace {

// "0.21 and later", "b9480 to b10399", "before b2413"; what follows a comma is a remark.
std::string version_text(std::string_view version, const Translator& t) {
  constexpr std::string_view kLater = " and later";
  constexpr std::string_view kBefore = "before ";
  constexpr std::string_view kTo = " to ";
  version = version.substr(0, version.find(','));
  if (version.ends_with(kLater)) {
    return t.tr("{} and later", version.substr(0, version.size() - kLater.size()));
  }
  if (version.starts_with(kBefore)) return t.tr("before {}", version.substr(kBefore.size()));
  const std::size_t to = version.find(kTo);
  if (to == std::string_view::npos) return std::string(version);
  return t.tr("{} to {}", version.substr(0, to), version.substr(to + kTo.size()));
}

}  // namespace

std::string deployment_line(const Prediction& p, const Translator& t) {
  std::string line = fmt::format("{} x {}, {} ({}), {}", p.layout.devices(), p.accelerator,
                                 p.engine, version_text(p.config.version, t), p.weights);
  if (p.layout.devices() > 1) line += ", " + p.layout.to_string();
  // What only reads keeps no cache.
  if (p.workload.output > 0 && p.kv != "fp16" && p.kv != "auto") line += ", KV " + p.kv;
  if (p.announced) line += " (" + std::string(t.tr(msg("announced"))) + ")";
  return line;
}

std::string layout_text(const Layout& layout, const Translator& t) {
  return layout.devices() == 1 ? std::string(t.tr(msg("1 device"))) : layout.to_string();
}

std::string figure(const Metric* m) {
  if (m == nullptr) return "–";
  return format_interval(m->value, m->low, m->high) + " " + m->unit;
}

std::string amount(const std::optional<double>& value, const std::string& currency) {
  return value ? format_money(*value, currency) : "–";
}

std::string_view word_for_metric(std::string_view name) {
  constexpr std::array<Words, 15> kWords{{
      {"prefill_tokens_per_s", msg("prefill")},
      {"decode_tokens_per_s", msg("decode, all requests")},
      {"ttft_ms_mean", msg("time to first token")},
      {"tpot_ms_mean", msg("time per output token")},
      {"e2e_ms_mean", msg("whole request")},
      {"requests_per_s", msg("requests")},
      {"output_tokens_per_s", msg("output")},
      {"total_tokens_per_s", msg("input and output")},
      {"batch_ms_mean", msg("time of a batch")},
      {"sequences_per_s", msg("sequences")},
      {"energy_j_per_sequence", msg("energy per sequence")},
      {"power_w", msg("power of the cards")},
      {"energy_j_per_token", msg("energy per output token")},
      {"weights_gib", msg("weights in all")},
      {"kv_cache_tokens", msg("room for positions")},
  }};
  return look_up(kWords, name);
}

std::string_view word_for_part(std::string_view name) {
  constexpr std::array<Words, 9> kWords{{
      {"weights", msg("weights")},
      {"towers", msg("towers for images and sound")},
      {"kv_cache", msg("KV cache")},
      {"compute", msg("compute buffers")},
      {"output", msg("output buffer")},
      {"activations", msg("activations")},
      {"graphs", msg("captured graphs")},
      {"runtime", msg("driver and libraries")},
      {"non_torch", msg("driver and libraries")},
  }};
  return look_up(kWords, name);
}

std::string_view word_for(BasisKind kind) {
  switch (kind) {
    case BasisKind::calibrated:
      return msg("calibrated on this card and engine");
    case BasisKind::transferred:
      return msg("transferred from relatives");
    case BasisKind::physics:
      return msg("physics and priors only");
  }
  return msg("physics and priors only");
}

std::string_view word_for(TimeClass c) {
  switch (c) {
    case TimeClass::attention_linear:
      return msg("attention projections");
    case TimeClass::attention:
      return msg("attention");
    case TimeClass::dense_ffn:
      return msg("dense feed-forward");
    case TimeClass::experts:
      return msg("experts");
    case TimeClass::head:
      return msg("embedding and head");
    case TimeClass::other:
      return msg("norms and activations");
    case TimeClass::communication:
      return msg("communication");
    case TimeClass::host:
      return msg("host");
  }
  return msg("host");
}

}  // namespace cairn::cli
