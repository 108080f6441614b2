// Schemes of quantisation tools to the storage types of data/models/tensor_types.csv.
#pragma once

#include <string>

#include "cairn/base/result.h"
#include "cairn/data/document.h"

namespace cairn::hf {

/// The storage of a scheme as compressed-tensors writes it (num_bits, type, strategy,
/// group_size, symmetric, actorder) for `group`, one of config_groups.
///   https://github.com/vllm-project/compressed-tensors/blob/ac8e2ba82f4e0d5eaa40069f8fc642738f124cd4/src/compressed_tensors/quantization/quant_args.py
/// Errors: unsupported, at the field whose value is not covered.
Result<std::string> scheme_storage(Node group);

/// Of an algorithm of NVIDIA's modelopt ("NVFP4", "FP8" ...) in `entry`, which may hold
/// a group_size.
///   https://github.com/NVIDIA/TensorRT-Model-Optimizer/blob/5a4242faf4147fb0688bb73e10ca30b8ad3aabb3/modelopt/torch/export/quant_utils.py
Result<std::string> algorithm_storage(Node entry);

/// Of the weights of a configuration of AMD's Quark: {weight: {dtype, qscheme ...}}.
///   https://quark.docs.amd.com/latest/pytorch/user_guide_config_description.html
/// Empty: not quantised.
Result<std::string> quark_storage(Node config);

/// Of integers packed as GPTQ ("gptq") or AWQ ("awq") does, by bits and group size;
/// `bits` and `group` are the fields they stand in.
Result<std::string> packed_storage(std::string_view layout, Node q, std::string_view bits,
                                   std::string_view group);

/// An error that stands at the node: what is there is not covered.
Error not_covered(Node node, std::string field);

}  // namespace cairn::hf
