// What the tests of predictions and plans share: every fact of the image, and
// deployments by name.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "../must.h"
#include "cairn/predict/prediction.h"

namespace cairn::test {

inline const Knowledge& knowledge() {
  static const Knowledge kKnowledge = must(Knowledge::load(must(Image::open(CAIRN_IMAGE_FILE))));
  return kKnowledge;
}
inline const Accelerator& accelerator(std::string_view name) {
  return *must(knowledge().accelerators.find(name));
}
inline const EngineInfo& engine(std::string_view name) {
  return *must(knowledge().engines.find(name));
}
inline ModelInput model(const std::string& name) { return must(find_model(name, knowledge())); }

inline DeploymentRequest request(std::string_view gpu, std::string_view engine_name,
                                 std::string weights = "", Layout layout = {}) {
  DeploymentRequest r;
  r.accelerator = &accelerator(gpu);
  r.engine = &engine(engine_name);
  r.weights = std::move(weights);
  r.layout = layout;
  return r;
}
inline Deployment deployment(const std::string& model_name, const DeploymentRequest& r) {
  return must(resolve(model(model_name), r, knowledge()));
}
inline double value(const Prediction& p, std::string_view name) {
  const Metric* m = p.metric(name);
  if (m == nullptr) throw std::runtime_error("no metric " + std::string(name));
  return m->value;
}
inline RequestTimes times(const Deployment& d) { return must(RequestTimes::build(d, knowledge())); }

}  // namespace cairn::test
