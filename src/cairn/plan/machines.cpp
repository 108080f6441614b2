#include "cairn/plan/machines.h"

#include <algorithm>
#include <cmath>

namespace cairn {
Result<Cooling> find_cooling(std::string_view name) {
  for (const Cooling c :
       {Cooling::open, Cooling::blower, Cooling::passive, Cooling::liquid, Cooling::own}) {
    if (name_of(c) == name) return c;
  }
  return fail(
      bad_input("unknown cooling").got(name).want("one of open, blower, passive, liquid, own"));
}

Bytes held(const DeviceMemory& stage, const MemoryEstimate& memory, double sequences) {
  if (memory.resident_sequences <= sequences) return stage.total;
  const Bytes cache = stage.part("kv_cache");
  return stage.total - cache + cache * (sequences / memory.resident_sequences);
}

HostRequest host_request(const Accelerator& accelerator, const EngineInfo& engine,
                         std::int64_t devices, std::int64_t replicas) {
  HostRequest out;
  out.accelerator = &accelerator;
  out.devices = devices;
  // llama.cpp runs one process a replica, others one a device.
  out.processes = engine.family == EngineFamily::llama_cpp ? replicas : 0;
  out.rocm = accelerator.vendor == "amd" && engine.id.find("vulkan") == std::string::npos;
  return out;
}

HostRequest host_request(const Deployment& d, const MemoryEstimate& memory, double sequences) {
  HostRequest out = host_request(*d.accelerator, *d.engine, d.layout.devices(), d.layout.dp);
  out.weights = d.weights.total(*d.model.graph);
  for (const DeviceMemory& stage : memory.devices) {
    out.working += (held(stage, memory, sequences) - stage.part("weights")) *
                   (static_cast<double>(d.layout.tp) * d.layout.dp);
  }
  return out;
}

Result<Machines> machines_of(HostRequest request, const OwnedHost* owned,
                             const Knowledge& knowledge, const PriceQuestion& question) {
  Machines out;
  const Accelerator& accelerator = *request.accelerator;
  CAIRN_TRY(out.need, host_need(request, knowledge.host_rules));
  if (out.need.hosts > 1 && request.processes > 0) {
    // The replicas are spread over the machines.
    request.processes = (request.processes + out.need.hosts - 1) / out.need.hosts;
    CAIRN_TRY(out.need, host_need(request, knowledge.host_rules));
  }
  if (owned != nullptr) out.check = check_host(out.need, *owned);
  const auto hosts = static_cast<double>(out.need.hosts);
  if (out.need.sustained) out.power = *out.need.sustained * hosts;
  const auto found = knowledge.hosts.for_cards(accelerator, out.need.cards_per_host);
  if (found.empty()) return out;
  // One with a price before the others, so that it can be counted; then one that lacks
  // nothing.
  const Host* chosen = nullptr;
  for (const Host* h : found) {
    CAIRN_TRY(out.host_quote, purchase_of(*h, question, knowledge.prices));
    if (!out.host_quote) continue;
    chosen = h;
    break;
  }
  const auto enough = std::ranges::find_if(found, [&](const Host* h) {
    return check_host(out.need, accelerator, *h, std::nullopt).worst() == nullptr;
  });
  if (chosen == nullptr) chosen = enough != found.end() ? *enough : found.front();
  const Host& host = *chosen;
  out.host = host.id;
  if (out.host_quote) out.host_price = out.host_quote->amount * hosts;
  if (host.rack_units) {
    out.rack_units = *host.rack_units * hosts;
    const double per_rack =
        std::max(1.0, std::floor(knowledge.host_rules.rack_units / *host.rack_units));
    out.racks = static_cast<std::int64_t>(std::ceil(hosts / per_rack));
  }
  return out;
}

Result<bool> holds(const OwnedHost& owned, const HostRequest& request, const HostRules& rules) {
  CAIRN_TRY(const HostNeed need, host_need(request, rules));
  return need.hosts == 1 && check_host(need, owned).fits;
}

}  // namespace cairn
