// What the tests of plans share: requests, plans by the name of a model, and their figures.
#pragma once

#include <string>
#include <string_view>

#include "../predict/fixture.h"
#include "cairn/plan/plan.h"

namespace cairn::test {

/// For requests of so many tokens, with every candidate in the answer.
inline PlanRequest request_for(double input, double output) {
  PlanRequest r;
  r.workload.input = input;
  r.workload.output = output;
  r.top = 1000;
  return r;
}
inline Plan planned(const std::string& name, const PlanRequest& r) {
  return must(make_plan(model(name), r, knowledge()));
}
inline double metric(const Candidate& c, std::string_view name, double otherwise = 0) {
  const Metric* m = c.prediction.metric(name);
  return m != nullptr ? m->value : otherwise;
}

}  // namespace cairn::test
