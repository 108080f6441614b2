#include "cairn/predict/knowledge.h"

#include <utility>

namespace cairn {

Result<Knowledge> Knowledge::load(Image image) {
  CAIRN_TRY(AcceleratorCatalogue accelerators, AcceleratorCatalogue::load(image));
  CAIRN_TRY(EngineCatalogue engines, EngineCatalogue::load(image));
  CAIRN_TRY(ModelCatalogue models, ModelCatalogue::load(image));
  CAIRN_TRY(const Node types_table, image.root("models/tensor_types.csv"));
  CAIRN_TRY(TensorTypes types, TensorTypes::load(types_table));
  auto tensor_types = std::make_unique<const TensorTypes>(std::move(types));
  CAIRN_TRY(const Node formats, image.root("models/weight_formats.yaml"));
  CAIRN_TRY(WeightFormats weight_formats, WeightFormats::load(formats, *tensor_types));
  CAIRN_TRY(CostData cost, CostData::load(image));
  CAIRN_TRY(PriceBook prices, PriceBook::load(image));
  CAIRN_TRY(UnifiedMemory unified, UnifiedMemory::load(image));
  CAIRN_TRY(HostCatalogue hosts, HostCatalogue::load(image));
  CAIRN_TRY(HostRules host_rules, HostRules::load(image));
  return Knowledge{std::move(image),  std::move(accelerators), std::move(engines),
                   std::move(models), std::move(tensor_types), std::move(weight_formats),
                   std::move(cost),   std::move(prices),       std::move(unified),
                   std::move(hosts),  std::move(host_rules)};
}

Result<void> Knowledge::set_up(const UnifiedSetting& setting,
                               const std::vector<std::string>& named) {
  if (!setting.carve_out && !setting.gtt) return {};
  std::vector<std::string> ids;
  for (const EngineInfo& engine : engines.all()) ids.push_back(engine.id);
  accelerators.set_up(setting, unified, ids);
  for (const std::string& name : named) {
    CAIRN_TRY(const Accelerator* a, accelerators.find(name));
    if (!a->set_up.empty()) continue;
    for (const std::string& id : ids) {
      CAIRN_TRY([[maybe_unused]] const auto pools, unified.pools(*a, id, setting, Bytes{}));
    }
    return fail(unsupported("its memory is not shared with the machine")
                    .in(setting.gtt ? "--gtt" : "--carve-out")
                    .got(a->id));
  }
  return {};
}

}  // namespace cairn
