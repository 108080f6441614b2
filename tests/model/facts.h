// The fact files of this room, from the image of the build.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cairn/data/csv.h"
#include "cairn/data/image.h"
#include "cairn/model/tensor_type.h"
#include "cairn/model/weight_format.h"

namespace cairn::test {

struct Facts {
  Image image;
  TensorTypes types;
  WeightFormats formats;
};

template <class T>
T value_of(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().to_string();
    std::abort();
  }
  return *std::move(result);
}

/// Loaded once; the formats point into the types.
inline const Facts& facts() {
  static const std::unique_ptr<const Facts> kFacts = [] {
    Image image = value_of(Image::open(CAIRN_IMAGE_FILE));
    TensorTypes types =
        value_of(TensorTypes::load(value_of(image.root("models/tensor_types.csv"))));
    auto facts = std::make_unique<Facts>(Facts{image, std::move(types), {}});
    facts->formats = value_of(
        WeightFormats::load(value_of(image.root("models/weight_formats.yaml")), facts->types));
    return facts;
  }();
  return *kFacts;
}

/// A table beside the tests of this room.
inline Document table(const std::string& name) {
  return value_of(load_csv(std::string(CAIRN_SOURCE_DIR) + "/tests/model/" + name));
}

}  // namespace cairn::test
