#include "cairn/plan/machines.h"

#include <algorithm>
#include <cmath>

namespace cairn {
namespace {

// Machines whose accelerators are part of them.
bool comes_with_cards(const Host& host) {
  return host.kind == HostKind::integrated || host.kind == HostKind::node ||
         host.kind == HostKind::rack;
}

}  // namespace

Result<Cooling> find_cooling(std::string_view name) {
  for (const Cooling c :
       {Cooling::open, Cooling::blower, Cooling::passive, Cooling::liquid, Cooling::own}) {
    if (name_of(c) == name) return c;
  }
  return fail(
      bad_input("unknown cooling").got(name).want("one of open, blower, passive, liquid, own"));
}

std::int64_t processes_of(const EngineInfo& engine) {
  return engine.family == EngineFamily::llama_cpp ? 1 : 0;
}

bool on_rocm(const EngineInfo& engine, const Accelerator& accelerator) {
  return accelerator.vendor == "amd" && engine.id.find("vulkan") == std::string::npos;
}

HostRequest host_request(const Deployment& d) {
  HostRequest out;
  out.accelerator = d.accelerator;
  out.devices = d.layout.devices();
  out.weights = d.weights.total(*d.model.graph);
  // llama.cpp runs one process a replica.
  out.processes = processes_of(*d.engine) > 0 ? d.layout.dp : 0;
  out.rocm = on_rocm(*d.engine, *d.accelerator);
  return out;
}

Result<Machines> machines_of(const Deployment& d, const OwnedHost* owned,
                             const Knowledge& knowledge, const std::string& currency) {
  Machines out;
  HostRequest request = host_request(d);
  CAIRN_TRY(out.need, host_need(request, knowledge.host_rules));
  if (out.need.hosts > 1 && request.processes > 0) {
    // The replicas are spread over the machines.
    request.processes = (request.processes + out.need.hosts - 1) / out.need.hosts;
    CAIRN_TRY(out.need, host_need(request, knowledge.host_rules));
  }
  if (owned != nullptr) out.check = check_host(out.need, *owned);
  const auto hosts = static_cast<double>(out.need.hosts);
  if (out.need.sustained) out.power = *out.need.sustained * hosts;
  const auto found = knowledge.hosts.for_cards(*d.accelerator, out.need.cards_per_host);
  // One with a price before the others, so that it can be counted; then one that lacks
  // nothing.
  const auto priced = std::ranges::find_if(
      found, [&](const Host* h) { return knowledge.prices.purchase_host(h->id).has_value(); });
  if (found.empty()) return out;
  const auto enough = std::ranges::find_if(found, [&](const Host* h) {
    return check_host(out.need, *d.accelerator, *h, std::nullopt).worst() == nullptr;
  });
  const Host& host = priced != found.end()   ? **priced
                     : enough != found.end() ? **enough
                                             : *found.front();
  out.host = host.id;
  out.host_quote = knowledge.prices.purchase_host(host.id);
  if (out.host_quote) {
    CAIRN_TRY(const double each,
              knowledge.prices.convert(out.host_quote->amount, out.host_quote->currency, currency));
    out.host_price = each * hosts;
  }
  if (host.rack_units) {
    out.rack_units = *host.rack_units * hosts;
    const double per_rack =
        std::max(1.0, std::floor(knowledge.host_rules.rack_units / *host.rack_units));
    out.racks = static_cast<std::int64_t>(std::ceil(hosts / per_rack));
  }
  return out;
}

Result<bool> holds(const OwnedHost& owned, const Accelerator& accelerator, std::int64_t devices,
                   std::int64_t processes, bool rocm, Bytes weights, const HostRules& rules) {
  HostRequest request;
  request.accelerator = &accelerator;
  request.devices = devices;
  request.processes = processes;
  request.rocm = rocm;
  request.weights = weights;
  CAIRN_TRY(const HostNeed need, host_need(request, rules));
  return need.hosts == 1 && check_host(need, owned).fits;
}

std::optional<Price> place_price(const Accelerator& accelerator, const Knowledge& knowledge) {
  std::optional<Price> best;
  double least = 0;
  for (const Host* host : knowledge.hosts.for_cards(accelerator, 1)) {
    if (!comes_with_cards(*host)) continue;
    auto quote = knowledge.prices.purchase_host(host->id);
    if (!quote) continue;
    quote->amount /= host->max_cards;
    const auto usd = knowledge.prices.convert(quote->amount, quote->currency, "USD");
    if (!usd || (best && *usd >= least)) continue;
    least = *usd;
    best = std::move(quote);
  }
  return best;
}

}  // namespace cairn
