#include "cairn/predict/usual_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace cairn {
namespace {

// What hosts of a kind cost and hold grows in this order.
bool usual_before(const Host& a, const Host& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  return a.memory_bandwidth.value_or(BytesPerSecond{}) >
         b.memory_bandwidth.value_or(BytesPerSecond{});
}

}  // namespace

const Host* usual_host(const Accelerator& accelerator, std::int64_t cards,
                       const Knowledge& knowledge) {
  const Host* out = nullptr;
  for (const Host* host : knowledge.hosts.for_cards(accelerator, cards)) {
    if (!host->memory_bandwidth || host->status == Status::announced) continue;
    if (out == nullptr || usual_before(*host, *out)) out = host;
  }
  return out;
}

std::optional<Bytes> room_of(const Host& host, const Knowledge& knowledge) {
  const std::optional<Bytes> all = host.max_memory ? host.max_memory : host.memory;
  if (!all) return std::nullopt;
  return std::max(Bytes{}, *all - knowledge.host_rules.ram_base);
}

std::optional<Bytes> room_of_replica(const Host& host, std::int64_t cards, int replicas,
                                     const Knowledge& knowledge) {
  const std::optional<Bytes> room = room_of(host, knowledge);
  if (!room) return std::nullopt;
  const std::int64_t most = std::max(1, host.max_cards);
  const std::int64_t hosts = (cards + most - 1) / most;  // rounded up
  return *room * static_cast<double>(hosts) / std::max(1, replicas);
}

std::string hosts_with_room(const Accelerator& accelerator, std::int64_t cards, int replicas,
                            Bytes need, const Knowledge& knowledge) {
  std::vector<const Host*> found;
  for (const Host* host : knowledge.hosts.for_cards(accelerator, cards)) {
    const auto room = room_of_replica(*host, cards, replicas, knowledge);
    if (room && *room >= need) found.push_back(host);
  }
  std::ranges::stable_sort(found, usual_before,
                           [](const Host* host) -> const Host& { return *host; });
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const Host* host : found) names.push_back(host->id);
  return fmt::format("{}", fmt::join(names, ", "));
}

Message note_of_host(const Deployment& d, const MemoryEstimate& memory,
                     const Knowledge& knowledge) {
  const auto gib = [](Bytes bytes) { return fmt::format("{:.1f} GiB", in_gib(bytes)); };
  const Accelerator& a = *d.accelerator;
  const Bytes capacity = memory.host_capacity.value_or(Bytes{});
  if (a.unified_memory) {
    return message("does not fit: {} stay in the machine's memory, of which the GPU leaves {}",
                   gib(memory.host), gib(capacity));
  }
  const std::int64_t cards = a.cards(d.layout.devices());
  const Host* host = d.host != nullptr ? d.host : usual_host(a, cards, knowledge);
  const std::string name = host != nullptr ? host->id : std::string();
  const std::string others = hosts_with_room(a, cards, d.layout.dp, memory.host, knowledge);
  if (others.empty()) {
    return message("does not fit: {} stay in host memory, {} has room for {}", gib(memory.host),
                   name, gib(capacity));
  }
  return message(
      "does not fit: {} stay in host memory, {} has room for {}; --host names another: {}",
      gib(memory.host), name, gib(capacity), others);
}

}  // namespace cairn
