#include "cairn/plan/variants.h"

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

Layout split_over(const EngineInfo& engine, std::int64_t devices) {
  const int n = static_cast<int>(devices);
  return engine.split == SplitMode::tensor ? Layout{.tp = n} : Layout{.pp = n};
}

std::vector<Layout> usual_splits(const EngineInfo& engine, const Accelerator& accelerator,
                                 std::optional<std::int64_t> cards) {
  if (cards) return {split_over(engine, *cards)};
  std::vector<Layout> out;
  // An APU is a machine of its own.
  const std::int64_t most = accelerator.unified_memory ? 1 : kCardsOfAMachine;
  for (std::int64_t n = 1; n <= most; n *= 2) out.push_back(split_over(engine, n));
  return out;
}

}  // namespace cairn
