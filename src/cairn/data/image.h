// The data image: every fact file of the project as Documents in one file that
// the program maps at start. Nothing is parsed and nothing is copied; a page is
// read when it is first touched.
//
// Layout, little endian, all offsets from the start of the file:
//   header   magic "CAIRNIMG", version, number of entries, offset of the entries
//   entries  one a document: name, nodes, text, root; sorted by name
//   payload  names, node records (16 bytes each, aligned to 8), text
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/document.h"

namespace cairn {

/// Writes documents to an image. The names must be distinct.
Result<void> write_image(const std::string& path, std::span<const Document> documents);

class Image {
 public:
  /// Maps an image and checks every offset in it.
  static Result<Image> open(const std::string& path);

  /// The root of a document by its name ("hardware/links.yaml").
  [[nodiscard]] Result<Node> root(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  /// The names below a folder ("hardware/accelerators/"), sorted.
  [[nodiscard]] std::vector<std::string_view> names(std::string_view prefix) const;

 private:
  struct Mapping;
  Image();

  std::shared_ptr<const Mapping> mapping_;
};

}  // namespace cairn
