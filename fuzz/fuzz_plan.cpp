// Any text as a plan file: parsed, read, and every figure within its range.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cairn/data/yaml.h"
#include "cairn/plan/plan_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = cairn::parse_yaml(text, "plan.yaml", {.nodes = 10'000});
  if (!document) return 0;
  const auto plan = cairn::read_plan(document->root());
  if (!plan) {
    if (plan.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const cairn::Workload& w = plan->request.workload;
  if (!(w.input >= 1 && w.output >= 1 && w.concurrency >= 1 && std::isfinite(w.input))) {
    std::abort();
  }
  if (plan->request.constraints.budget.value_or(0) < 0) std::abort();
  return 0;
}
