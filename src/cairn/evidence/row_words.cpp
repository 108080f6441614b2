#include "cairn/evidence/row_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cairn/base/message.h"

namespace cairn {
namespace {

constexpr std::pair<std::string_view, SourceKind> kKinds[] = {
    {"vendor", SourceKind::vendor},
    {"independent", SourceKind::independent},
    {"mlperf", SourceKind::mlperf},
    {"community", SourceKind::community},
    {"user", SourceKind::user}};
constexpr std::pair<std::string_view, Scenario> kScenarios[] = {
    {"llama-bench", Scenario::llama_bench},
    {"single-stream", Scenario::single_stream},
    {"offline-throughput", Scenario::offline_throughput},
    {"offline-latency", Scenario::offline_latency},
    {"serving", Scenario::serving},
    {"mlperf-offline", Scenario::mlperf_offline},
    {"mlperf-server", Scenario::mlperf_server},
    {"mlperf-interactive", Scenario::mlperf_interactive}};
constexpr std::pair<std::string_view, LengthKind> kLengths[] = {
    {"exact", LengthKind::exact},
    {"uniform", LengthKind::uniform},
    {"mean", LengthKind::mean},
    {"benchmark", LengthKind::benchmark}};

template <class E, std::size_t N>
std::string_view word(const std::pair<std::string_view, E> (&words)[N], E value) {
  const auto it = std::ranges::find(words, value, &std::pair<std::string_view, E>::second);
  return it == std::end(words) ? std::string_view() : it->first;
}

template <class E, std::size_t N>
Result<E> parse_word(const std::pair<std::string_view, E> (&words)[N], std::string_view text) {
  const auto it = std::ranges::find(words, text, &std::pair<std::string_view, E>::first);
  if (it != std::end(words)) return it->second;
  std::string want = "one of";
  for (const auto& [name, value] : words) want += fmt::format(" {}", name);
  return fail(bad_input(std::string(msg("not one of the choices"))).got(text).want(want));
}

}  // namespace

std::string_view name_of(SourceKind kind) { return word(kKinds, kind); }
std::string_view name_of(Scenario scenario) { return word(kScenarios, scenario); }
std::string_view name_of(LengthKind kind) { return word(kLengths, kind); }

Result<SourceKind> parse_source_kind(std::string_view text) { return parse_word(kKinds, text); }
Result<Scenario> parse_scenario(std::string_view text) { return parse_word(kScenarios, text); }
Result<LengthKind> parse_length_kind(std::string_view text) { return parse_word(kLengths, text); }

}  // namespace cairn
