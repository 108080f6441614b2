// The fact files a fuzzer needs, loaded once.
#pragma once

#include <cstdlib>
#include <memory>

#include "cairn/data/image.h"
#include "cairn/model/tensor_type.h"
#include "cairn/model/weight_format.h"

namespace cairn::fuzz {

struct Facts {
  Image image;
  TensorTypes types;
  WeightFormats formats;
};

template <class T>
T value_of(Result<T> result) {
  if (!result) std::abort();
  return *std::move(result);
}

inline const Facts& facts() {
  static const std::unique_ptr<const Facts> kFacts = [] {
    Image image = value_of(Image::open(CAIRN_IMAGE_FILE));
    TensorTypes types =
        value_of(TensorTypes::load(value_of(image.root("models/tensor_types.csv"))));
    auto out = std::make_unique<Facts>(Facts{image, std::move(types), {}});
    out->formats = value_of(
        WeightFormats::load(value_of(image.root("models/weight_formats.yaml")), out->types));
    return out;
  }();
  return *kFacts;
}

/// An error must be one line that says something.
inline void check(const Error& error) {
  const std::string line = error.to_string();
  if (line.empty() || line.find('\n') != std::string::npos) std::abort();
}

}  // namespace cairn::fuzz
