// Models by the names that tables of published sizes use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cairn/model/catalogue.h"
#include "cairn/model/hf_config.h"
#include "facts.h"
#include "shapes.h"

namespace cairn::test {

class PublishedModels {
 public:
  /// A repository from the catalogue, else its published file where that is at hand; a
  /// name without an owner is a shape of shapes.h. Nothing where the model's architecture
  /// is not read.
  std::optional<ModelSpec> find(const std::string& id) const {
    const std::size_t slash = id.find('/');
    if (slash == std::string::npos) return spec_named(id);
    auto spec = catalogue_.find(id);
    if (spec) return *std::move(spec);
    std::string folder = id;
    folder.replace(slash, 1, "__");
    auto file = load_hf((root_ / folder).string());
    if (file) return *std::move(file);
    return std::nullopt;
  }

 private:
  ModelCatalogue catalogue_ = value_of(ModelCatalogue::load(facts().image));
  std::filesystem::path root_ =
      std::filesystem::path(CAIRN_SOURCE_DIR) / ".." / "shared" / "models" / "hf";
};

/// Bytes of a unit: "GiB", "MB" ...
inline double unit_bytes(std::string_view unit) {
  if (unit == "GiB") return kGiB;
  if (unit == "MiB") return kMiB;
  if (unit == "GB") return 1e9;
  if (unit == "MB") return 1e6;
  EXPECT_TRUE(unit == "B" || unit == "bytes") << unit;
  return 1;
}

}  // namespace cairn::test
