#include "cairn/hardware/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cairn/base/names.h"

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
  std::ranges::sort(out.names_);
  return out;
}

Result<const Accelerator*> AcceleratorCatalogue::find(std::string_view name) const {
  const std::string wanted = key_of(name);
  const auto it = std::ranges::lower_bound(names_, wanted, {},
                                           [](const auto& n) -> const auto& { return n.first; });
  if (it != names_.end() && it->first == wanted) return &accelerators_[it->second];
  // Ids are proposed, not the aliases that they were found by.
  std::vector<std::string> known;
  known.reserve(names_.size());
  for (const auto& entry : names_) known.push_back(entry.first);
  std::vector<std::string> near;
  for (const std::string& close : nearest_names(wanted, known, known.size())) {
    const auto entry = std::ranges::lower_bound(
        names_, close, {}, [](const auto& n) -> const auto& { return n.first; });
    const std::string& id = accelerators_[entry->second].id;
    if (near.size() < 3 && std::ranges::find(near, id) == near.end()) near.push_back(id);
  }
  Error error = not_found("unknown accelerator").got(name);
  if (!near.empty())
    error.expected = fmt::format("an accelerator such as {}", fmt::join(near, ", "));
  return fail(std::move(error));
}

Node AcceleratorCatalogue::record(const Accelerator& accelerator) const {
  return records_[static_cast<std::size_t>(&accelerator - accelerators_.data())];
}

}  // namespace cairn
