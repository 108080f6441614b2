#include "cairn/hardware/catalogue.h"

#include <algorithm>

#include "cairn/base/message.h"
#include "cairn/hardware/partition.h"

namespace cairn {
Result<AcceleratorCatalogue> AcceleratorCatalogue::load(const Image& image) {
  AcceleratorCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("hardware/accelerators/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(Accelerator accelerator, read_accelerator(record));
    const std::size_t index = out.accelerators_.size();
    out.names_.add(accelerator.id, index);
    out.names_.add(accelerator.name, index);
    CAIRN_TRY(const auto aliases, record.get_strings("aliases"));
    for (const std::string& alias : aliases) out.names_.add(alias, index);
    out.accelerators_.push_back(std::move(accelerator));
    out.records_.push_back(record);
  }
  CAIRN_CHECK(out.add_partitions());
  out.names_.sort();
  return out;
}

Result<void> AcceleratorCatalogue::add_partitions() {
  for (const Accelerator& card : accelerators_) {
    for (const PartitionMode& mode : card.partitions) {
      if (mode.devices == 1) continue;
      bool usual = true;
      for (const std::string& memory : mode.memory_modes) {
        CAIRN_TRY(Accelerator device, partitioned(card, mode.compute + "/" + memory));
        const std::size_t index = accelerators_.size() + partitions_.size();
        names_.add(device.id, index);
        if (usual) names_.add(card.id + "/" + mode.compute, index);
        usual = false;
        partitions_.push_back(std::move(device));
      }
    }
  }
  return {};
}

const Accelerator& AcceleratorCatalogue::at(std::size_t index) const {
  if (index < accelerators_.size()) return accelerators_[index];
  return partitions_[index - accelerators_.size()];
}

Result<const Accelerator*> AcceleratorCatalogue::find(std::string_view name) const {
  const auto id_of = [this](std::size_t i) -> const std::string& { return at(i).id; };
  auto index = names_.find(name, "unknown accelerator", "an accelerator such as", id_of);
  if (index) return &at(*index);
  Error error = std::move(index).error();
  if (error.expected.empty()) error.expected = msg("an id from cairn gpus");
  return fail(std::move(error));
}

void AcceleratorCatalogue::set_up(const UnifiedSetting& setting, const UnifiedMemory& rules,
                                  const std::vector<std::string>& engines) {
  for (Accelerator& a : accelerators_) {
    for (const std::string& engine : engines) {
      const auto pools = rules.pools(a, engine, setting, Bytes{});
      if (pools && *pools) a.set_up.push_back({engine, (*pools)->usable()});
    }
  }
}

Node AcceleratorCatalogue::record(const Accelerator& accelerator) const {
  const auto it = std::ranges::find(accelerators_, accelerator.card, &Accelerator::id);
  return records_[static_cast<std::size_t>(it - accelerators_.begin())];
}

}  // namespace cairn
