#include "cairn/hardware/host_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cairn {
namespace {

constexpr std::int64_t kMostDevices = 1'000'000'000;

double watts(Watts power) { return std::round(power.value()); }

std::string size_text(Bytes size) { return fmt::format("{:.4g} GiB", in_gib(size)); }

// Cards of one machine: what its form and its links join.
std::int64_t most_cards(const Accelerator& a, const HostRules& rules) {
  if (a.form == "apu") return 1;
  if (a.form == "pcie") return rules.server.most_cards;
  const auto cards = a.cards(a.scale_up.max_devices);
  return std::max<std::int64_t>(cards, 1);
}

HostKind kind_for(const Accelerator& a, std::int64_t cards, std::optional<Cooling> cooling,
                  const HostRules& rules) {
  if (a.form == "apu") return HostKind::integrated;
  if (a.form.starts_with("rack")) return HostKind::rack;
  if (a.form != "pcie" && !a.form.empty()) return HostKind::node;
  if (cooling == Cooling::passive) return HostKind::server;
  if (cards <= rules.desktop.most_cards) return HostKind::desktop;
  if (cards <= rules.workstation.most_cards) return HostKind::workstation;
  return HostKind::server;
}

Watts round_up(Watts power, Watts step) {
  if (!(step > Watts{})) return power;
  // A rating that is met to the watt needs no larger supply.
  return step * std::ceil(power / step - 1e-9);
}

void find_power(const HostRequest& request, const HostRules& rules, HostNeed& need) {
  const Accelerator& a = *request.accelerator;
  const HostRules::Base& base = rules.of(need.kind);
  const bool alone = need.kind == HostKind::integrated;
  std::optional<Watts> card = request.card_power;
  if (!card && a.board_power) card = *a.board_power * a.devices_per_card;
  // The power of an APU is that of its processor too.
  need.other_power = alone ? Watts{} : request.processor_power.value_or(base.processor) + base.rest;
  if (!card) {
    need.reasons.push_back(message("the power of {} is unknown", a.name));
    return;
  }
  const auto n = static_cast<double>(need.cards_per_host);
  need.cards_power = *card * n;
  need.sustained = (*need.cards_power + need.other_power) * (1 + base.cooling_share);
  need.reasons.push_back(
      message("({} x {} W for the cards and {} W for the rest) x {}: {} W under load, each machine",
              need.cards_per_host, watts(*card), watts(need.other_power),
              fmt::format("{:.4g}", 1 + base.cooling_share), watts(*need.sustained)));
  if (need.kind == HostKind::node || need.kind == HostKind::rack || alone) {
    need.reasons.push_back(message("the machine comes with its power supply"));
    return;
  }
  Watts supply = *need.sustained / rules.continuous_load;
  if (a.recommended_supply && !request.card_power) {
    supply = max(supply, *a.recommended_supply + *card * (n - 1) / rules.continuous_load);
  }
  const Watts spike = *need.cards_power + *card * (rules.card_excursion - 1) + need.other_power;
  supply = max(supply, spike / rules.supply_peak);
  need.supply = round_up(supply, rules.supply_step);
  need.reasons.push_back(message("a supply of {} W is loaded to {} %", watts(*need.supply),
                                 std::round(*need.sustained / *need.supply * 100)));
  if (*need.supply > rules.largest_supply) {
    need.reasons.push_back(
        message("no single desktop supply gives this: several, or those of a server chassis"));
  }
  if (*need.sustained > rules.circuit && need.kind != HostKind::server) {
    need.reasons.push_back(
        message("more than the {} W that a 120 V household circuit gives "
                "without end",
                watts(rules.circuit)));
  }
}

Bytes sold_size(Bytes size, const std::vector<Bytes>& sizes) {
  const auto it = std::ranges::lower_bound(sizes, size);
  return it != sizes.end() ? *it : size;
}

void find_memory(const HostRequest& request, const HostRules& rules, HostNeed& need) {
  const Accelerator& a = *request.accelerator;
  if (a.unified_memory) {
    need.reasons.push_back(message(
        "the memory of {} is the machine's own: it holds weights, cache and system", a.name));
    const Bytes model = request.weights + request.working + request.host_resident;
    if (!(model > Bytes{})) return;
    // What runs in it must be in it: there is no other copy of the weights.
    need.ram_least = rules.ram_base + model;
    need.ram = sold_size(need.ram_least, rules.ram_sizes);
    return;
  }
  const std::int64_t devices = std::min(request.devices, need.cards_per_host * a.devices_per_card);
  const auto processes = static_cast<double>(request.processes > 0 ? request.processes : devices);
  need.ram_least = rules.ram_base + rules.ram_process * processes + request.host_resident;
  need.ram = sold_size(need.ram_least + request.weights, rules.ram_sizes);
  need.reasons.push_back(message("RAM: {} for the system and {} worker processes",
                                 size_text(need.ram_least - request.host_resident), processes));
  if (request.host_resident > Bytes{}) {
    need.reasons.push_back(message("{} stay in host memory", size_text(request.host_resident)));
  }
  if (request.weights > Bytes{}) {
    need.reasons.push_back(
        message("{} of weight files are read once if they find room", size_text(request.weights)));
  }
}

bool needs_atomics(const HostRequest& request, const HostRules& rules) {
  const Accelerator& a = *request.accelerator;
  if (!request.rocm || a.vendor != "amd" || a.form != "pcie") return false;
  return std::ranges::any_of(rules.atomics_targets, [&a](const std::string& target) {
    return a.target.starts_with(target);
  });
}

void find_slots(const HostRequest& request, const HostRules& rules, HostNeed& need) {
  const Accelerator& a = *request.accelerator;
  if (a.form != "pcie") return;
  need.slot_width = a.slot_width;
  need.lanes = a.pcie_lanes;
  need.generation = a.pcie_generation;
  need.atomics = needs_atomics(request, rules);
  if (need.atomics) {
    need.reasons.push_back(message(
        "ROCm wants PCIe atomics on {}: slots of the processor, not of the chipset", a.target));
  }
  if (need.cooling == Cooling::open && need.cards_per_host > rules.desktop.most_cards) {
    need.reasons.push_back(
        message("cards with open fans side by side heat each other: leave a slot between them"));
  }
  if (need.cooling == Cooling::passive) {
    need.reasons.push_back(message("{} has no fan: the chassis must blow air through it", a.name));
  }
}

// A finding for a number that is wanted and one that is there.
template <class T>
HostVerdict compare(const std::optional<T>& have, T wanted, T least) {
  if (!have) return HostVerdict::unknown;
  if (*have >= wanted) return HostVerdict::enough;
  return *have >= least ? HostVerdict::reduced : HostVerdict::lacking;
}

class Findings {
 public:
  void add(HostPart part, HostVerdict verdict, Message text) {
    if (verdict == HostVerdict::lacking) check_.fits = false;
    check_.findings.push_back({part, verdict, std::move(text)});
  }
  [[nodiscard]] HostCheck take() && { return std::move(check_); }

 private:
  HostCheck check_;
};

void check_supply(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  if (!need.supply) return;
  const HostVerdict verdict = compare(owned.supply, *need.supply, *need.sustained);
  out.add(HostPart::supply, verdict,
          owned.supply
              ? message("power supply: {} W of {} W", watts(*owned.supply), watts(*need.supply))
              : message("power supply: {} W wanted", watts(*need.supply)));
}

void check_ram(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  if (!(need.ram > Bytes{})) return;
  out.add(HostPart::ram, compare(owned.ram, need.ram, need.ram_least),
          owned.ram ? message("RAM: {} of {}", size_text(*owned.ram), size_text(need.ram))
                    : message("RAM: {} wanted", size_text(need.ram)));
}

void check_slots(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  const int cards = static_cast<int>(std::min<std::int64_t>(need.cards_per_host, 1'000'000));
  out.add(HostPart::slots, compare(owned.slots, cards, cards),
          owned.slots ? message("slots: {} of {}", *owned.slots, cards)
                      : message("slots: {} wanted", cards));
  if (need.slot_width > 0) {
    const int width = need.slot_width * cards;
    out.add(HostPart::width, compare(owned.case_slots, width, width),
            owned.case_slots
                ? message("slot widths of the case: {} of {}", *owned.case_slots, width)
                : message("slot widths of the case: {} wanted", width));
  }
}

void check_lanes(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  const auto wanted = pcie_rate(need.generation, need.lanes);
  if (!wanted) return;
  if (!owned.lanes || !owned.generation) {
    out.add(HostPart::lanes, HostVerdict::unknown,
            message("PCIe: generation {} x{} wanted", need.generation, need.lanes));
    return;
  }
  const auto have =
      pcie_rate(std::min(*owned.generation, need.generation), std::min(*owned.lanes, need.lanes));
  const double share = have ? *have / *wanted : 0;
  const HostVerdict verdict = !have        ? HostVerdict::lacking
                              : share >= 1 ? HostVerdict::enough
                                           : HostVerdict::reduced;
  out.add(HostPart::lanes, verdict,
          message("PCIe: generation {} x{}, {} % of the card's rate", *owned.generation,
                  *owned.lanes, std::round(share * 100)));
}

Message cooling_wanted(Cooling cooling) {
  switch (cooling) {
    case Cooling::open:
      return message("cooling: for cards with open fans");
    case Cooling::blower:
      return message("cooling: for cards with a blower");
    case Cooling::passive:
      return message("cooling: for cards without a fan");
    case Cooling::liquid:
      return message("cooling: for liquid-cooled cards");
    case Cooling::own:
      break;
  }
  return message("cooling: its own");
}

void check_cooling(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  if (!need.cooling || *need.cooling == Cooling::own) return;
  if (owned.cooling.empty()) {
    out.add(HostPart::cooling, HostVerdict::unknown, cooling_wanted(*need.cooling));
    return;
  }
  const bool fits = std::ranges::find(owned.cooling, *need.cooling) != owned.cooling.end();
  // A card that no fan reaches fails; one with fans of its own only runs hotter.
  const bool fatal = *need.cooling == Cooling::passive || *need.cooling == Cooling::liquid;
  out.add(HostPart::cooling,
          fits    ? HostVerdict::enough
          : fatal ? HostVerdict::lacking
                  : HostVerdict::reduced,
          cooling_wanted(*need.cooling));
}

void check_parts(const HostNeed& need, const OwnedHost& owned, Findings& out) {
  check_supply(need, owned, out);
  check_ram(need, owned, out);
  if (need.form != "pcie") return;
  check_slots(need, owned, out);
  check_lanes(need, owned, out);
  if (need.atomics) {
    const HostVerdict verdict = !owned.atomics   ? HostVerdict::unknown
                                : *owned.atomics ? HostVerdict::enough
                                                 : HostVerdict::lacking;
    out.add(HostPart::atomics, verdict, message("PCIe atomics in every slot"));
  }
  check_cooling(need, owned, out);
}

}  // namespace

const HostRules::Base& HostRules::of(HostKind kind) const {
  switch (kind) {
    case HostKind::desktop:
    case HostKind::integrated:
      return desktop;
    case HostKind::workstation:
      return workstation;
    case HostKind::server:
    case HostKind::node:
    case HostKind::rack:
      return server;
  }
  return server;
}

std::optional<Cooling> HostRules::cooling_of(const Accelerator& accelerator) const {
  if (accelerator.cooling || accelerator.form != "pcie") return accelerator.cooling;
  const auto it = std::ranges::find(cooling, accelerator.family, &FamilyCooling::family);
  if (it == cooling.end()) return std::nullopt;
  return it->cooling;
}

Result<HostNeed> host_need(const HostRequest& request, const HostRules& rules) {
  if (request.accelerator == nullptr || request.devices < 1 || request.devices > kMostDevices) {
    return fail(bad_input("number of devices out of range")
                    .in("devices")
                    .got(fmt::format("{}", request.devices))
                    .want(fmt::format("1 to {}", kMostDevices)));
  }
  if (request.weights < Bytes{} || request.host_resident < Bytes{} || request.working < Bytes{} ||
      request.cards_per_host < 0) {
    return fail(bad_input("negative size").in("host"));
  }
  const Accelerator& a = *request.accelerator;
  HostNeed need;
  need.cards = a.cards(request.devices);
  const std::int64_t most =
      request.cards_per_host > 0 ? request.cards_per_host : most_cards(a, rules);
  need.hosts = (need.cards + most - 1) / most;
  need.cards_per_host = (need.cards + need.hosts - 1) / need.hosts;
  need.form = a.form;
  need.cooling = rules.cooling_of(a);
  need.kind = kind_for(a, need.cards_per_host, need.cooling, rules);
  if (need.hosts > 1) {
    need.reasons.push_back(
        message("{} cards in {} machines of up to {}", need.cards, need.hosts, most));
  }
  find_power(request, rules, need);
  find_memory(request, rules, need);
  find_slots(request, rules, need);
  return need;
}

OwnedHost owned(const Host& host, std::int64_t cards, std::optional<Bytes> ram) {
  OwnedHost out;
  out.supply = host.supply;
  out.ram = ram ? ram : host.memory;
  out.cooling = host.cooling;
  if (host.arrangements.empty()) return out;
  out.slots = static_cast<int>(host.arrangements.size());
  // Where there are too few slots, the finding about slots says so.
  const auto plugged = host.slots(std::clamp<std::int64_t>(cards, 1, *out.slots));
  for (const Slot& slot : *plugged) {
    out.lanes = std::min(out.lanes.value_or(slot.lanes), slot.lanes);
    out.generation = std::min(out.generation.value_or(slot.generation), slot.generation);
  }
  const auto is = [](std::optional<bool> value) {
    return [value](const Slot& slot) { return slot.atomics == value; };
  };
  if (std::ranges::any_of(*plugged, is(false))) {
    out.atomics = false;
  } else if (std::ranges::all_of(*plugged, is(true))) {
    out.atomics = true;
  }
  return out;
}

const HostFinding* HostCheck::worst() const {
  for (const HostVerdict verdict : {HostVerdict::lacking, HostVerdict::reduced}) {
    const auto it = std::ranges::find(findings, verdict, &HostFinding::verdict);
    if (it != findings.end()) return &*it;
  }
  return nullptr;
}

HostCheck check_host(const HostNeed& need, const OwnedHost& owned) {
  Findings out;
  check_parts(need, owned, out);
  return std::move(out).take();
}

HostCheck check_host(const HostNeed& need, const Accelerator& accelerator, const Host& host,
                     std::optional<Bytes> ram) {
  Findings out;
  const bool takes = host.takes(accelerator);
  out.add(HostPart::form, takes ? HostVerdict::enough : HostVerdict::lacking,
          takes ? message("{} takes {}", host.name, accelerator.name)
                : message("{} does not take {}", host.name, accelerator.name));
  if (!takes) return std::move(out).take();
  out.add(HostPart::cards,
          need.cards_per_host <= host.max_cards ? HostVerdict::enough : HostVerdict::lacking,
          message("cards: {} of {}", host.max_cards, need.cards_per_host));
  check_parts(need, owned(host, need.cards_per_host, ram), out);
  return std::move(out).take();
}

std::string_view name_of(HostPart part) {
  switch (part) {
    case HostPart::form:
      return "form";
    case HostPart::cards:
      return "cards";
    case HostPart::supply:
      return "supply";
    case HostPart::ram:
      return "ram";
    case HostPart::slots:
      return "slots";
    case HostPart::width:
      return "width";
    case HostPart::lanes:
      return "lanes";
    case HostPart::atomics:
      return "atomics";
    case HostPart::cooling:
      return "cooling";
  }
  return "supply";
}

std::string_view name_of(HostVerdict verdict) {
  switch (verdict) {
    case HostVerdict::enough:
      return "enough";
    case HostVerdict::reduced:
      return "reduced";
    case HostVerdict::lacking:
      return "lacking";
    case HostVerdict::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace cairn
