// The tensors of one layer of a GGUF file; for the readers of GGUF alone.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cairn/model/gguf.h"

namespace cairn {

/// The tensors of a file by name.
using GgufTensors = std::unordered_map<std::string, const GgufTensor*>;

class GgufLayer {
 public:
  GgufLayer(const GgufFile& file, const GgufTensors& tensors, std::string_view architecture,
            std::size_t layer)
      : file_(file), tensors_(tensors), architecture_(architecture), layer_(layer) {}

  /// By its name after "blk.N."; null: the layer has none.
  [[nodiscard]] const GgufTensor* find(std::string_view name) const {
    const auto it = tensors_.find(fmt::format("blk.{}.{}", layer_, name));
    return it == tensors_.end() ? nullptr : it->second;
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] Result<const GgufTensor*> required(std::string_view name) const {
    const GgufTensor* const t = find(name);
    if (t != nullptr) return t;
    return fail(
        bad_input("missing tensor").at(file_.path).in(fmt::format("blk.{}.{}", layer_, name)));
  }

 protected:
  const GgufFile& file_;
  const GgufTensors& tensors_;
  std::string_view architecture_;
  std::size_t layer_;
};

}  // namespace cairn
