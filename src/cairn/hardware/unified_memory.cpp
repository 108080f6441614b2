#include "cairn/hardware/unified_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

constexpr double kMostGib = 1e5;

Result<double> value_of(Node root, std::string_view key) {
  CAIRN_TRY(const Node fact, root.required(key));
  return fact.get_number("value", 0, kMostGib);
}

}  // namespace

Result<UnifiedMemory> UnifiedMemory::load(const Image& image) {
  CAIRN_TRY(const Node root, image.root("hardware/unified_memory.yaml"));
  UnifiedMemory out;
  CAIRN_TRY(out.default_share_, value_of(root, "default_gtt_share"));
  CAIRN_TRY(const double page, value_of(root, "page_kib"));
  CAIRN_TRY(const double carve_out, value_of(root, "least_carve_out_gib"));
  CAIRN_TRY(const double keeps, value_of(root, "system_keeps_gib"));
  out.page_ = Bytes(page * 1024);
  out.least_carve_out_ = gib(carve_out);
  out.system_keeps_ = gib(keeps);
  CAIRN_TRY(const Node pools, root.required("pools"));
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    Rule rule;
    CAIRN_TRY(rule.engines, pools.at(i).get_strings("engines"));
    CAIRN_TRY(rule.carve_out, pools.at(i).get<bool>("carve_out"));
    CAIRN_TRY(rule.gtt, pools.at(i).get<bool>("gtt"));
    CAIRN_TRY(rule.larger_only, pools.at(i).get_or<bool>("larger_only", false));
    out.rules_.push_back(std::move(rule));
  }
  CAIRN_TRY(const Node variables, root.required("variables"));
  for (std::uint32_t i = 0; i < variables.size(); ++i) {
    CAIRN_TRY(const std::string_view engine, variables.at(i).get<std::string_view>("engine"));
    CAIRN_TRY(const std::string_view name, variables.at(i).get<std::string_view>("name"));
    out.variables_.push_back({std::string(engine), std::string(name)});
  }
  CAIRN_TRY(const Node parameters, root.required("parameters"));
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    CAIRN_TRY(const std::string_view name, parameters.at(i).get<std::string_view>("name"));
    CAIRN_TRY(const std::string_view unit, parameters.at(i).get<std::string_view>("unit"));
    out.parameters_.push_back({std::string(name), unit == "pages"});
  }
  return out;
}

std::vector<KernelParameter> UnifiedMemory::parameters_for(Bytes gtt) const {
  std::vector<KernelParameter> out;
  for (const Parameter& p : parameters_) {
    const double value = p.pages ? gtt / page_ : in_mib(gtt);
    out.push_back({p.name, static_cast<std::int64_t>(std::llround(value))});
  }
  return out;
}

Result<std::optional<UnifiedPools>> UnifiedMemory::pools(const Accelerator& accelerator,
                                                         std::string_view engine,
                                                         const UnifiedSetting& setting,
                                                         Bytes need) const {
  const auto rule = std::ranges::find_if(rules_, [&](const Rule& r) {
    return std::ranges::find(r.engines, engine) != r.engines.end();
  });
  if (!accelerator.unified_memory || accelerator.vendor != "amd" || rule == rules_.end()) {
    return std::nullopt;
  }
  UnifiedPools out;
  out.uses_carve_out = rule->carve_out;
  out.uses_gtt = rule->gtt;
  out.larger_only = rule->larger_only;
  out.carve_out = setting.carve_out.value_or(least_carve_out_);
  const Bytes rest = accelerator.memory - out.carve_out;
  out.default_gtt = rest * default_share_;
  out.gtt = setting.gtt.value_or(out.default_gtt);
  if (out.carve_out + out.gtt > accelerator.memory) {
    return fail(bad_input("more than the machine has")
                    .in(setting.gtt ? "--gtt" : "--carve-out")
                    .got(fmt::format("{:g} GiB", in_gib(out.carve_out + out.gtt)))
                    .want(fmt::format("at most {:g} GiB together", in_gib(accelerator.memory))));
  }
  const auto variable = std::ranges::find(variables_, engine, &Variable::engine);
  if (variable != variables_.end()) out.variable = variable->name;
  if (need <= out.usable()) return out;
  const bool both = rule->carve_out && !rule->larger_only;
  const Bytes more = gib(std::ceil(in_gib(need - (both ? out.carve_out : Bytes{}))));
  if (rule->gtt && more <= rest - system_keeps_) {
    out.parameters = parameters_for(more);
  } else if (rule->gtt && out.carve_out > least_carve_out_) {
    // What the firmware sets aside cannot be mapped.
    const Bytes all = gib(std::ceil(in_gib(need - (both ? least_carve_out_ : Bytes{}))));
    if (all > accelerator.memory - least_carve_out_ - system_keeps_) return out;
    out.smaller_carve_out = least_carve_out_;
    out.parameters = parameters_for(all);
  }
  return out;
}

}  // namespace cairn
