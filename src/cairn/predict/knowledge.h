// Knowledge: every fact the program was built with, opened once and passed to
// whoever needs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cairn/cost/kernel_parameters.h"
#include "cairn/data/image.h"
#include "cairn/engine/engine.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/hardware/host.h"
#include "cairn/hardware/host_need.h"
#include "cairn/hardware/prices.h"
#include "cairn/hardware/unified_memory.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/tensor_type.h"
#include "cairn/model/weight_format.h"

namespace cairn {

struct Knowledge {
  Image image;
  AcceleratorCatalogue accelerators;
  EngineCatalogue engines;
  ModelCatalogue models;
  /// At a fixed address: formats and bound weights point into it.
  std::unique_ptr<const TensorTypes> tensor_types;
  WeightFormats weight_formats;
  CostData cost;
  PriceBook prices;
  UnifiedMemory unified;
  HostCatalogue hosts;
  HostRules host_rules;

  static Result<Knowledge> load(Image image);

  /// Takes the machines of APUs as set up so. An error for an accelerator of `named`, ids
  /// or other names, whose memory is not shared or less than that.
  Result<void> set_up(const UnifiedSetting& setting, const std::vector<std::string>& named);
};

}  // namespace cairn
