#include "cairn/hardware/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cairn/base/names.h"

namespace cairn {

Result<AcceleratorCatalogue> AcceleratorCatalogue::load(const Image& image) {
  AcceleratorCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("hardware/accelerators/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(Accelerator accelerator, read_accelerator(record));
    const std::size_t index = out.accelerators_.size();
    out.names_.emplace_back(normalise_name(accelerator.id), index);
    out.names_.emplace_back(normalise_name(accelerator.name), index);
    CAIRN_TRY(const auto aliases, record.get_strings("aliases"));
    for (const std::string& alias : aliases) out.names_.emplace_back(normalise_name(alias), index);
    out.accelerators_.push_back(std::move(accelerator));
    out.records_.push_back(record);
  }
  std::ranges::sort(out.names_);
  return out;
}

Result<const Accelerator*> AcceleratorCatalogue::find(std::string_view name) const {
  const std::string wanted = normalise_name(name);
  const auto it = std::ranges::lower_bound(names_, wanted, {},
                                           [](const auto& n) -> const auto& { return n.first; });
  if (it != names_.end() && it->first == wanted) return &accelerators_[it->second];
  std::vector<std::string> known;
  known.reserve(names_.size());
  for (const auto& entry : names_) known.push_back(entry.first);
  const auto near = nearest_names(wanted, known);
  Error error = not_found("unknown accelerator").got(name);
  if (!near.empty())
    error.expected = fmt::format("an accelerator such as {}", fmt::join(near, ", "));
  return fail(std::move(error));
}

Node AcceleratorCatalogue::record(const Accelerator& accelerator) const {
  return records_[static_cast<std::size_t>(&accelerator - accelerators_.data())];
}

}  // namespace cairn
