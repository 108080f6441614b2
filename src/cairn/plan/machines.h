// The machines that a plan's cards stand in: what each must have, whether one that is
// owned has it, which of the catalogue would do, and how many racks they fill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cairn/hardware/host_need.h"
#include "cairn/hardware/purchase.h"
#include "cairn/predict/deployment.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

struct Machines {
  HostNeed need;                       // of one machine; need.hosts of them
  std::optional<HostCheck> check;      // against what is owned, where that is said
  std::string host;                    // of the catalogue, the first that holds the cards; or empty
  std::optional<double> host_price;    // of all such machines, in the currency asked for
  std::optional<Purchase> host_quote;  // behind it
  std::optional<double> rack_units;    // of all machines
  std::optional<std::int64_t> racks;   // by their height
  std::optional<Watts> power;          // of all machines under load
};

/// What a stage of a deployment holds with so many sequences in a replica: of a pool that
/// an engine fills only the part that they need.
Bytes held(const DeviceMemory& stage, const MemoryEstimate& memory, double sequences);

/// What the machine is asked for by so many replicas on so many devices: software and worker
/// processes, without what they hold.
HostRequest host_request(const Accelerator& accelerator, const EngineInfo& engine,
                         std::int64_t devices, std::int64_t replicas);

/// What the machine is asked for by a deployment with so many sequences in a replica: its
/// worker processes, weights, what it holds beside them, and software.
HostRequest host_request(const Deployment& deployment, const MemoryEstimate& memory,
                         double sequences);

/// The machines that a request needs. `owned` null: nothing is said about any.
Result<Machines> machines_of(HostRequest request, const OwnedHost* owned,
                             const Knowledge& knowledge, const PriceQuestion& question);

/// Whether one machine that is owned holds all that is asked for.
Result<bool> holds(const OwnedHost& owned, const HostRequest& request, const HostRules& rules);

/// How a machine cools, by its name; an error that lists the names.
Result<Cooling> find_cooling(std::string_view name);

}  // namespace cairn
