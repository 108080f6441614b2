// The machines that a plan's cards stand in: what each must have, whether one that is
// owned has it, which of the catalogue would do, and how many racks they fill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cairn/hardware/host_need.h"
#include "cairn/predict/deployment.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

struct Machines {
  HostNeed need;                      // of one machine; need.hosts of them
  std::optional<HostCheck> check;     // against what is owned, where that is said
  std::string host;                   // of the catalogue, the first that holds the cards; or empty
  std::optional<double> host_price;   // of all such machines, in the currency asked for
  std::optional<Price> host_quote;    // behind it
  std::optional<double> rack_units;   // of all machines
  std::optional<std::int64_t> racks;  // by their height
  std::optional<Watts> power;         // of all machines under load
};

/// What the machine is asked for by a deployment: its worker processes, weights and
/// software.
HostRequest host_request(const Deployment& deployment);

/// The machines of a deployment. `owned` null: nothing is said about any.
Result<Machines> machines_of(const Deployment& deployment, const OwnedHost* owned,
                             const Knowledge& knowledge, const std::string& currency);

/// Whether a machine that is owned holds so many devices of an accelerator with so many
/// worker processes (0: one a device) and whole weights.
Result<bool> holds(const OwnedHost& owned, const Accelerator& accelerator, std::int64_t devices,
                   std::int64_t processes, bool rocm, Bytes weights, const HostRules& rules);

/// The price of a place in a machine that comes with its accelerators, where no price of
/// the accelerator alone is known: that of the cheapest such machine by its cards.
std::optional<Price> place_price(const Accelerator& accelerator, const Knowledge& knowledge);

/// How a machine cools, by its name; an error that lists the names.
Result<Cooling> find_cooling(std::string_view name);

/// Worker processes that an engine starts on a machine; 0: one a device.
std::int64_t processes_of(const EngineInfo& engine);
/// The engine runs on ROCm on this accelerator.
bool on_rocm(const EngineInfo& engine, const Accelerator& accelerator);

}  // namespace cairn
