// What a number of cards needs of the machine around them, and whether a machine that
// somebody owns has it. Every constant with its source is in data/hardware/host_rules.yaml.
//
//   supply >= (cards x board power + processor + rest) / continuous_load
//   supply >= the maker's recommendation for one card + (cards - 1) x board power
//                                                              / continuous_load
//   supply >= (one card's excursion + the other cards + processor + rest) / supply_peak
//
// each where its figures are known, rounded up to a size that is sold.
//   RAM >= base + worker processes x process + what stays in host memory
// and, recommended, room for the weight files beside it, so that they are read once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/message.h"
#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/host.h"

namespace cairn {

/// data/hardware/host_rules.yaml.
struct HostRules {
  struct Base {                       // a kind of machine without its accelerators
    Watts processor{};                // under load
    Watts rest{};                     // board, memory, drives, fans
    int most_cards = 1;               // for which this kind is proposed
    double cards_per_slot_width = 0;  // unused widths are no slots; 0: not limited by a case
  };
  Base desktop, workstation, server;
  double continuous_load = 1;                // share of a supply's rating to draw without end
  double card_excursion = 1;                 // x board power, for 100 us
  double supply_peak = 1;                    // x rating that a supply gives for 100 us
  std::vector<double> sizes_w;               // supplies that are sold, ascending
  double circuit_w = 0;                      // that a household circuit gives without end
  Bytes ram_base{};                          // operating system and services
  Bytes ram_process{};                       // one worker process of an engine
  std::vector<double> ram_sizes_gib;         // that are sold as one set, ascending
  std::vector<std::string> atomics_targets;  // gfx prefixes whose firmware needs PCIe atomics
  int least_lanes = 0;                       // below this a slot is a finding, not an error

  static Result<HostRules> load(const Image& image);
};

struct HostRequest {
  const Accelerator* accelerator = nullptr;
  std::int64_t devices = 1;  // cards follow: Accelerator::cards
  /// Whole weight files that one machine reads.
  Bytes weights{};
  /// What stays in host memory while it runs: layers or experts on the CPU, KV in host memory.
  Bytes host_resident{};
  /// Worker processes of the engine on one machine; 0: one a device (llama.cpp: 1).
  std::int64_t processes = 0;
  /// The engine runs on ROCm; atomics matter only there.
  bool rocm = true;
  /// A power limit set on the cards, W a card.
  std::optional<Watts> card_power;
  /// Where the machine's processor is known.
  std::optional<Watts> processor_power;
  /// Cards of one machine; 0: as many as a machine of the form takes (8; racks 72).
  std::int64_t cards_per_host = 0;
};

/// What one machine must have; `hosts` of them. Nothing where a figure is unknown.
struct HostNeed {
  std::int64_t cards = 0;
  std::int64_t hosts = 1;
  std::int64_t cards_per_host = 0;  // on the fullest of them
  HostKind kind = HostKind::desktop;
  std::string form;                  // of the accelerators: "pcie", "oam" ...
  std::optional<Watts> cards_power;  // all cards of one machine under load
  Watts other_power{};               // processor and rest
  std::optional<Watts> sustained;    // both: what the machine draws without end
  std::optional<Watts> supply;       // rating to buy, with margin; of several where one is not made
  Bytes ram_least{};
  Bytes ram{};         // recommended
  int slot_width = 0;  // case slots a card takes; 0: no PCIe card, or unknown
  int lanes = 0;       // of each card at its full rate; 0: no PCIe card, or unknown
  int generation = 0;  // as lanes
  std::optional<Cooling> cooling;
  bool atomics = false;  // slots without PCIe atomics are refused by the driver
  /// Why, a sentence each.
  std::vector<Message> reasons;
};

/// An error for no devices or an accelerator without catalogue entry.
Result<HostNeed> host_need(const HostRequest& request, const HostRules& rules);

/// What a user has, as far as he says it.
struct OwnedHost {
  std::optional<Watts> supply;
  std::optional<Bytes> ram;
  std::optional<int> slots;       // slots for cards, x16 mechanically
  std::optional<int> lanes;       // electrical, of each of them
  std::optional<int> generation;  // of PCIe
  std::optional<int> case_slots;  // slot widths of the case
  std::optional<bool> atomics;    // PCIe atomics in every slot
  std::vector<Cooling> cooling;   // empty: not said
};

/// A machine of the catalogue as if it were owned with `ram` in it, `cards` cards plugged.
/// Slots, lanes and atomics are those of the worst slot that they take.
OwnedHost owned(const Host& host, std::int64_t cards, std::optional<Bytes> ram);

enum class HostPart : std::uint8_t {
  supply,
  ram,
  slots,
  width,
  lanes,
  atomics,
  cooling,
  form,
  cards
};
std::string_view name_of(HostPart part);

enum class HostVerdict : std::uint8_t {
  enough,
  slow,     // works below the full rate
  lacking,  // does not work, or not safely
  unknown,  // the user has not said, or no source does
};
std::string_view name_of(HostVerdict verdict);

struct HostFinding {
  HostPart part = HostPart::supply;
  HostVerdict verdict = HostVerdict::unknown;
  Message text;
};

struct HostCheck {
  /// No part is lacking. Unknown ones do not count against it.
  bool fits = true;
  std::vector<HostFinding> findings;  // one a part that matters, in the order of HostPart
};

HostCheck check_host(const HostNeed& need, const OwnedHost& owned);
/// As above for a machine of the catalogue; also whether it takes such accelerators at all.
HostCheck check_host(const HostNeed& need, const Accelerator& accelerator, const Host& host,
                     std::optional<Bytes> ram);

}  // namespace cairn
