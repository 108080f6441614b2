#include "cairn/plan/variants.h"

#include <algorithm>

namespace cairn {

std::vector<std::string> usual_formats(const ModelInput& model, const EngineInfo& engine,
                                       const Accelerator& accelerator) {
  const std::string published =
      model.graph->spec.published_format.empty() ? "bf16" : model.graph->spec.published_format;
  if (engine.family == EngineFamily::llama_cpp) {
    std::vector<std::string> out{"q8_0", "q6_k", "q4_k_m"};
    if (published == "mxfp4") out.insert(out.begin(), "mxfp4_moe");
    return out;
  }
  std::vector<std::string> out;
  const auto offer = [&](std::string format) {
    if (engine.runs_format(format, accelerator)) out.push_back(std::move(format));
  };
  offer(published);
  const bool wide = published == "bf16" || published == "fp16" || published == "fp32";
  if (wide && accelerator.peak_of(ComputeType::fp8)) offer("fp8");
  if (wide) offer("awq-int4");
  return out;
}

std::vector<Layout> usual_splits(const EngineInfo& engine, const Accelerator& accelerator,
                                 std::int64_t max_cards) {
  // Machines take up to eight cards; an APU is a machine of its own.
  const std::int64_t most = accelerator.unified_memory ? 1 : std::min<std::int64_t>(8, max_cards);
  std::vector<Layout> out;
  for (const int n : {1, 2, 4, 8}) {
    if (n > most) break;
    out.push_back(engine.split == SplitMode::tensor ? Layout{.tp = n} : Layout{.pp = n});
  }
  return out;
}

std::vector<Variant> variants(const ModelInput& model, const Constraints& constraints,
                              const Accelerator& accelerator, const EngineInfo& engine) {
  const std::vector<std::string> formats =
      constraints.formats.empty() ? usual_formats(model, engine, accelerator) : constraints.formats;
  std::vector<Variant> out;
  for (const std::string& format : formats) {
    for (const Layout& layout : usual_splits(engine, accelerator, constraints.max_cards)) {
      out.push_back({&accelerator, &engine, format, layout});
    }
  }
  return out;
}

}  // namespace cairn
