#include "cairn/plan/comparison.h"

#include <algorithm>

#include "cairn/plan/variants.h"

namespace cairn {
namespace {

std::vector<Layout> layouts(const ComparisonRequest& request, const EngineInfo& engine,
                            const Accelerator& accelerator) {
  if (request.layout) return {*request.layout};
  return usual_splits(engine, accelerator, request.cards);
}

Result<void> add_prediction(const ModelInput& model, const ComparisonRequest& request,
                            const Knowledge& knowledge, Compared& out) {
  DeploymentRequest r = request.settings;
  r.accelerator = out.accelerator;
  if (r.engine == nullptr) {
    CAIRN_TRY(r.engine, default_engine(model, r.weights, *out.accelerator, knowledge));
  }
  for (const Layout& layout : layouts(request, *r.engine, *out.accelerator)) {
    r.layout = layout;
    auto deployment = resolve(model, r, knowledge);
    if (!deployment) {
      if (deployment.error().kind != ErrorKind::unsupported) {
        return std::unexpected(std::move(deployment).error());
      }
      out.reason = deployment.error().to_string();
      continue;
    }
    auto p = predict(*deployment, request.workload, request.terms, knowledge);
    if (!p) {
      if (p.error().kind != ErrorKind::unsupported) return std::unexpected(std::move(p).error());
      out.reason = p.error().to_string();
      continue;
    }
    out.prediction = *std::move(p);
    if (out.prediction->memory.fits) break;
  }
  return {};
}

void add_ratios(Compared& c) {
  const Prediction& p = *c.prediction;
  const Metric* tokens = p.metric("output_tokens_per_s");
  const Metric* watts = p.metric("power_w");
  if (tokens == nullptr) return;
  if (p.money.purchase && *p.money.purchase > 0) {
    c.tokens_per_1000 = tokens->value / *p.money.purchase * 1000;
  }
  if (watts != nullptr && watts->value > 0) c.tokens_per_watt = tokens->value / watts->value;
  c.tokens_per_gib =
      tokens->value / (in_gib(c.accelerator->memory) * static_cast<double>(p.layout.devices()));
}

}  // namespace

std::vector<std::string> weight_formats_of(const std::vector<Compared>& cards) {
  std::vector<std::string> out;
  for (const Compared& c : cards) {
    if (!c.prediction) continue;
    const std::string& format = c.prediction->weights;
    if (std::ranges::find(out, format) == out.end()) out.push_back(format);
  }
  return out;
}

Result<std::vector<Compared>> compare(const ModelInput* model, const ComparisonRequest& request,
                                      const Knowledge& knowledge) {
  std::vector<Compared> out;
  for (const Accelerator* accelerator : request.accelerators) {
    Compared c;
    c.accelerator = accelerator;
    CAIRN_TRY(c.purchase, purchase_of(*accelerator, request.terms.question(), knowledge.prices,
                                      knowledge.hosts));
    if (c.purchase && c.purchase->amount > 0) {
      c.price = c.purchase->each();
      const double memory = in_gib(accelerator->memory) * accelerator->devices_per_card;
      c.memory_per_1000 = memory / *c.price * 1000;
    }
    if (model != nullptr) CAIRN_CHECK(add_prediction(*model, request, knowledge, c));
    if (c.prediction && c.prediction->memory.fits) add_ratios(c);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace cairn
