#include "cairn/hardware/partition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace cairn {
namespace {

struct Mode {
  std::string compute;
  std::string memory;  // empty: the usual one
};

// "CPX/NPS4", "cpx-nps4", "CPX NPS4" and "cpx" in capitals, apart.
Mode split(std::string_view text) {
  Mode out;
  std::string* part = &out.compute;
  for (const char c : text) {
    if (c == '/' || c == '-' || c == '_' || c == ' ' || c == '+') {
      part = &out.memory;
    } else {
      *part += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::string known_modes(const Accelerator& card) {
  std::vector<std::string> out{"SPX"};
  for (const PartitionMode& p : card.partitions) {
    if (p.devices == 1) continue;
    for (const std::string& memory : p.memory_modes) {
      out.push_back(fmt::format("{}/{}", p.compute, memory));
    }
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Everything that the devices of a package share, for one of `n`.
void share(Accelerator& device, int n) {
  const auto divide = [n](auto& figure) {
    if (figure) *figure /= n;
  };
  device.devices_per_card *= n;
  device.compute_units /= n;
  device.memory /= n;
  device.bandwidth /= n;
  device.l2 /= n;
  device.last_level_cache /= n;
  device.pcie_lanes /= n;
  device.scale_up.max_devices *= n;
  divide(device.usable_memory);
  divide(device.board_power);
  divide(device.idle_power);
  divide(device.scale_up.per_device);
  divide(device.scale_up.per_peer);
  for (auto& peak : device.peak) divide(peak);
}

}  // namespace

Result<Accelerator> partitioned(const Accelerator& card, std::string_view mode) {
  const Mode wanted = split(mode);
  const auto found = std::ranges::find(card.partitions, wanted.compute, &PartitionMode::compute);
  if (found == card.partitions.end() && card.partitions.empty() && wanted.compute == "SPX" &&
      wanted.memory.empty()) {
    return card;
  }
  const bool memory_known =
      found != card.partitions.end() &&
      (wanted.memory.empty() ||
       std::ranges::find(found->memory_modes, wanted.memory) != found->memory_modes.end());
  if (!memory_known) {
    return fail(bad_input("no such partition mode").in(card.id).got(mode).want(known_modes(card)));
  }
  Accelerator out = card;
  if (found->devices == 1) return out;
  share(out, found->devices);
  if (found->memory) out.memory = *found->memory;
  const std::string memory = !wanted.memory.empty()        ? wanted.memory
                             : found->memory_modes.empty() ? std::string{}
                                                           : found->memory_modes.front();
  out.id =
      lower(fmt::format("{}/{}{}{}", card.id, found->compute, memory.empty() ? "" : "/", memory));
  out.name = fmt::format("{} {}{}{}", card.name, found->compute, memory.empty() ? "" : "/", memory);
  out.partitions.clear();
  return out;
}

}  // namespace cairn
