#include "machine.h"

#include <algorithm>

#include "options/host.h"

namespace cairn::cli {

std::optional<OwnedHost> machine_of(const ParsedCommand& args) {
  const bool described =
      std::ranges::any_of(kMachineOptions, [&args](const OptionSpec* o) { return args.given(*o); });
  if (!described) return std::nullopt;
  OwnedHost out;
  out.supply = args.quantity<Watts>(kPsu);
  out.ram = args.quantity<Bytes>(kRam);
  const auto number = [&args](const OptionSpec& option) -> std::optional<int> {
    const auto value = args.integer(option);
    if (!value) return std::nullopt;
    return static_cast<int>(*value);
  };
  out.slots = number(kSlots);
  out.lanes = number(kSlotLanes);
  out.generation = number(kSlotGeneration);
  out.case_slots = number(kCaseSlots);
  return out;
}

}  // namespace cairn::cli
