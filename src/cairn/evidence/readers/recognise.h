// Names as drivers and tools print them, found in the catalogues.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cairn/hardware/catalogue.h"
#include "cairn/model/catalogue.h"
#include "cairn/model/weight_format.h"

namespace cairn {

/// The accelerator that a driver calls so: "AMD Radeon RX 7900 XTX (RADV NAVI31)",
/// "AMD Instinct MI300X VF", "NVIDIA A100-SXM4-80GB". Nothing where the catalogue has none of
/// this name, or the name is that of several ("AMD Radeon Graphics").
const Accelerator* card_of_print(std::string_view printed, const AcceleratorCatalogue& cards);

/// What the name of a GGUF file says: "Qwen3-8B-UD-Q4_K_XL-00001-of-00002.gguf".
struct ModelFileName {
  std::string model;   // what stands before the format; the whole stem where there is none
  std::string format;  // name of the catalogue, of the words at the end; empty: none
};
ModelFileName model_file_name(std::string_view path, const WeightFormats& formats);

}  // namespace cairn
