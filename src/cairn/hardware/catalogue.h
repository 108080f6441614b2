// The accelerator catalogue: data/hardware/accelerators/*.yaml by id and alias.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/image.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/name_index.h"
#include "cairn/hardware/unified_memory.h"

namespace cairn {

class AcceleratorCatalogue {
 public:
  /// Reads every record of the image.
  static Result<AcceleratorCatalogue> load(const Image& image);

  [[nodiscard]] const std::vector<Accelerator>& all() const { return accelerators_; }
  /// By id or alias, case-insensitive, without regard to spaces, dashes and underscores;
  /// a partition of a card as "mi300x/cpx" or "mi300x/cpx/nps4" (partition.h).
  /// An unknown name is an error that names the nearest ones.
  [[nodiscard]] Result<const Accelerator*> find(std::string_view name) const;
  /// Takes the machines of APUs as set up so; those with less memory stay as they are.
  void set_up(const UnifiedSetting& setting, const UnifiedMemory& rules,
              const std::vector<std::string>& engines);
  /// The catalogue record of an accelerator, or of its card: every figure with its source.
  [[nodiscard]] Node record(const Accelerator& accelerator) const;

 private:
  Result<void> add_partitions();
  [[nodiscard]] const Accelerator& at(std::size_t index) const;

  std::vector<Accelerator> accelerators_;
  std::vector<Node> records_;            // as accelerators_
  std::vector<Accelerator> partitions_;  // of the cards that have modes
  NameIndex names_;
  std::optional<Image> image_;  // keeps the records mapped
};

}  // namespace cairn
