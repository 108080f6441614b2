// Any text as a config.json: read, built, and bound in the format it declares.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cairn/data/json.h"
#include "cairn/model/hf_config.h"
#include "facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_json(text, "config.json", {.nodes = 100'000}, JsonDialect::python);
  if (!document) {
    fuzz::check(document.error());
    return 0;
  }
  auto spec = spec_from_hf_config(document->root(), "fuzz");
  if (!spec) {
    fuzz::check(spec.error());
    return 0;
  }
  const Graph graph = build_graph(*std::move(spec));
  const ParameterCount count = count_parameters(graph);
  if (count.total <= 0 || count.active > count.total) std::abort();
  // What the configuration declares must be a format of its model.
  const std::string declared = graph.spec.published_format;
  const std::string published = declared.empty() ? "bf16" : declared;
  for (const std::string_view format :
       {std::string_view("bf16"), std::string_view("q4_k_m"), std::string_view("iq2_xs"),
        std::string_view("fp8-block"), std::string_view(published)}) {
    const auto bound = fuzz::facts().formats.bind(graph, format);
    if (!bound) {
      if (format == declared) std::abort();
      fuzz::check(bound.error());
      continue;
    }
    const double bytes = bound->total(graph).value();
    if (!(bytes > 0) || !std::isfinite(bytes)) std::abort();
  }
  return 0;
}
