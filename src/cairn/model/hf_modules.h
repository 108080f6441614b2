// What the modules of a checkpoint are called, for the tensors of a graph; quantisation
// configurations name modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/model/graph.h"

namespace cairn::hf {

/// The names that implementations give the module of a matrix, without what stands
/// before the language model ("model.", "language_model.model." ...): of attn_q in
/// layer 3 "layers.3.self_attn.q_proj", "layers.3.attention.wq" ... The first expert
/// stands for all. A tensor of a role that is not known gets no name.
struct ModuleNames {
  std::vector<std::string> own;
  /// Of modules that hold other matrices too ("qkv_proj"); patterns that were written for
  /// those others ("*v_proj") would match them by chance.
  std::vector<std::string> fused;
};
ModuleNames module_names(const Tensor& tensor);

/// What may stand before such a name in a whole one.
std::vector<std::string_view> module_prefixes();

/// The name without the prefix; a name that does not begin with one as it is.
std::string_view without_prefix(std::string_view name);

}  // namespace cairn::hf
