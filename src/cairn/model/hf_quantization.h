// The quantisation that a config.json declares, module by module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/graph.h"
#include "cairn/model/hf_module_set.h"

namespace cairn::hf {

/// Which modules are stored how. Storage is a name of data/models/tensor_types.csv;
/// empty: as the model was trained.
struct Quantisation {
  struct Target {
    ModuleSet modules;
    std::string storage;
  };

  ModuleSet left_alone;
  std::vector<Target> targets;  // the first that holds a module decides
  std::string rest;             // the other matrices of layers ...
  bool experts_only = false;    // ... of routed experts, where there are any
  /// Routed experts in another storage (DeepSeek V4).
  std::string experts;

  /// The storage of each tensor of the graph. Tables, heads and gates are quantised only
  /// where a target names them: tools leave them alone unless they are told.
  Result<std::vector<std::string>> assign(const Graph& graph);
};

/// Reads `quantization_config` of `root` (also `quantization`, where modelopt and MLX
/// write it); nothing where it has none. Errors: unsupported for a method or a value
/// that is not covered, with field and value.
Result<std::optional<Quantisation>> read_quantisation(Node root);

/// The name of the format in which each tensor of the graph is in its storage and all
/// others in `trained` ("bf16", "fp16", "fp32"): a format of
/// data/models/weight_formats.yaml, with exceptions where it has them (format_name.h).
std::string format_of(const Graph& graph, const std::vector<std::string>& storage,
                      const std::string& trained);

}  // namespace cairn::hf
