#include "cairn/hardware/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cairn/base/names.h"
#include "cairn/hardware/partition.h"

namespace cairn {
namespace {

// How names are compared: "RX 7900XT", "rx-7900-xt" and "rx7900xt" are one.
std::string key_of(std::string_view name) {
  std::string key = normalise_name(name);
  std::erase(key, '-');
  return key;
}

}  // namespace

Result<AcceleratorCatalogue> AcceleratorCatalogue::load(const Image& image) {
  AcceleratorCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("hardware/accelerators/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(Accelerator accelerator, read_accelerator(record));
    const std::size_t index = out.accelerators_.size();
    out.names_.emplace_back(key_of(accelerator.id), index);
    out.names_.emplace_back(key_of(accelerator.name), index);
    CAIRN_TRY(const auto aliases, record.get_strings("aliases"));
    for (const std::string& alias : aliases) out.names_.emplace_back(key_of(alias), index);
    out.accelerators_.push_back(std::move(accelerator));
    out.records_.push_back(record);
  }
  CAIRN_CHECK(out.add_partitions());
  std::ranges::sort(out.names_);
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
        names_.emplace_back(key_of(device.id), index);
        if (usual) names_.emplace_back(key_of(card.id + "/" + mode.compute), index);
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
  const std::string wanted = key_of(name);
  const auto it = std::ranges::lower_bound(names_, wanted, {},
                                           [](const auto& n) -> const auto& { return n.first; });
  if (it != names_.end() && it->first == wanted) return &at(it->second);
  // Ids are proposed, not the aliases that they were found by.
  std::vector<std::string> known;
  known.reserve(names_.size());
  for (const auto& entry : names_) known.push_back(entry.first);
  std::vector<std::string> near;
  for (const std::string& close : nearest_names(wanted, known, known.size())) {
    const auto entry = std::ranges::lower_bound(
        names_, close, {}, [](const auto& n) -> const auto& { return n.first; });
    const std::string& id = at(entry->second).id;
    if (near.size() < 3 && std::ranges::find(near, id) == near.end()) near.push_back(id);
  }
  Error error = not_found("unknown accelerator").got(name);
  if (!near.empty())
    error.expected = fmt::format("an accelerator such as {}", fmt::join(near, ", "));
  return fail(std::move(error));
}

Node AcceleratorCatalogue::record(const Accelerator& accelerator) const {
  const auto it = std::ranges::find(accelerators_, accelerator.card, &Accelerator::id);
  return records_[static_cast<std::size_t>(it - accelerators_.begin())];
}

}  // namespace cairn
