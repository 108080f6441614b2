// What a number of cards needs of the machine around them, and whether a machine that
// somebody owns has it. Every constant with its source is in data/hardware/host_rules.yaml.
//
// Power of a machine under load and the rating of its supply, the largest of
//   sustained = (cards x board power + processor + rest) x (1 + cooling share)
//   sustained / continuous load
//   maker's recommendation for one card + (cards - 1) x board power / continuous load
//   (cards power + (excursion - 1) x one card + processor + rest) / supply peak
// where the figures are known, rounded up to a size that is sold. The last is a card's
// spike of 100 us (PCIe CEM 5.0), which a supply answers with a peak of its own (ATX 3.0).
//
// RAM of an accelerator that shares the machine's memory: base + weights + KV cache and
// buffers, at least.
// Else: base + worker processes x one process + what stays in host memory; recommended is
// room for the weight files beside it, so that a second load does not read the disk.
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
  /// A kind of machine without its accelerators, under load.
  struct Base {
    Watts processor{};
    Watts rest{};              // board, memory, drives, adapters
    double cooling_share = 0;  // fans of the chassis, as a share of everything else
    int most_cards = 1;        // PCIe cards for which this kind is proposed
  };
  struct FamilyCooling {
    std::string family;
    Cooling cooling = Cooling::open;
  };
  Base desktop;
  Base workstation;
  Base server;
  double continuous_load = 1;                // share of a supply's rating to draw without end
  double card_excursion = 1;                 // x board power, for 100 us
  double supply_peak = 1;                    // x rating that a supply gives for 100 us
  Watts supply_step{};                       // sizes are sold in steps of this
  Watts largest_supply{};                    // of one supply for a desktop case
  Watts circuit{};                           // that a household circuit of 120 V gives without end
  double rack_units = 0;                     // of a full rack
  Bytes ram_base{};                          // operating system and services
  Bytes ram_process{};                       // one worker process of an engine
  std::vector<Bytes> ram_sizes;              // that are sold as one set, ascending
  std::vector<std::string> atomics_targets;  // whose firmware may need PCIe atomics
  std::vector<FamilyCooling> cooling;        // of PCIe cards, by product line

  static Result<HostRules> load(const Image& image);
  [[nodiscard]] const Base& of(HostKind kind) const;
  /// As the card's record says, else as its product line is built; nothing if unknown.
  [[nodiscard]] std::optional<Cooling> cooling_of(const Accelerator& accelerator) const;
};

struct HostRequest {
  const Accelerator* accelerator = nullptr;
  std::int64_t devices = 1;  // cards follow: Accelerator::cards
  /// Whole weight files that one machine reads.
  Bytes weights{};
  /// KV cache and buffers beside the weights, of an accelerator that shares the machine's
  /// memory; of no other does it matter.
  Bytes working{};
  /// What stays in host memory while it runs: layers or experts on the CPU, KV in host memory.
  Bytes host_resident{};
  /// Worker processes of the engine on one machine; 0: one a device.
  std::int64_t processes = 0;
  /// The engine runs on ROCm; atomics matter only there.
  bool rocm = true;
  /// A power limit set on the cards, W a card.
  std::optional<Watts> card_power = {};
  /// Where the machine's processor is known.
  std::optional<Watts> processor_power = {};
  /// Cards of one machine; 0: as many as a machine of the form takes.
  std::int64_t cards_per_host = 0;
};

/// What one machine must have, and how many of them. Nothing where a figure is unknown.
struct HostNeed {
  std::int64_t cards = 0;
  std::int64_t hosts = 1;
  std::int64_t cards_per_host = 0;  // on the fullest of them
  HostKind kind = HostKind::desktop;
  std::string form;                  // of the accelerators: "pcie", "oam" ...
  std::optional<Watts> cards_power;  // all cards of one machine under load
  Watts other_power{};               // processor and rest
  std::optional<Watts> sustained;    // what one machine draws without end
  std::optional<Watts> supply;       // rating to buy; nothing where it comes with the machine
  Bytes ram_least{};
  Bytes ram{};         // recommended, a size that is sold
  int slot_width = 0;  // case slots a card takes; 0: no PCIe card, or unknown
  int lanes = 0;       // of each card at its full rate; 0: no PCIe card, or unknown
  int generation = 0;  // as lanes
  std::optional<Cooling> cooling;
  bool atomics = false;          // slots without PCIe atomics are a risk on ROCm
  std::vector<Message> reasons;  // a sentence each
};

/// An error for no devices or a negative size.
Result<HostNeed> host_need(const HostRequest& request, const HostRules& rules);

/// What a user has, as far as he says it.
struct OwnedHost {
  std::optional<Watts> supply;
  std::optional<Bytes> ram;
  std::optional<int> slots;       // slots for cards, x16 mechanically
  std::optional<int> lanes;       // electrical, of the narrowest of them
  std::optional<int> generation;  // of PCIe
  std::optional<int> case_slots;  // slot widths of the case
  std::optional<bool> atomics;    // PCIe atomics in every slot
  std::vector<Cooling> cooling;   // that it can carry away; empty: not said
};

/// A machine of the catalogue as if it were owned with `ram` in it, `cards` cards plugged.
/// Lanes, generation and atomics are those of the worst slot that they take.
OwnedHost owned(const Host& host, std::int64_t cards, std::optional<Bytes> ram);

enum class HostPart : std::uint8_t {
  form,  // the machine takes such accelerators
  cards,
  supply,
  ram,
  slots,
  width,
  lanes,
  atomics,
  cooling,
};
std::string_view name_of(HostPart part);

enum class HostVerdict : std::uint8_t {
  enough,
  reduced,  // works below the full rate or without margin
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

  /// The finding that weighs most: the first that is lacking, else the first that is
  /// reduced; null where everything known is enough.
  [[nodiscard]] const HostFinding* worst() const;
};

HostCheck check_host(const HostNeed& need, const OwnedHost& owned);
/// As above for a machine of the catalogue; also whether it takes such accelerators at all.
HostCheck check_host(const HostNeed& need, const Accelerator& accelerator, const Host& host,
                     std::optional<Bytes> ram);

}  // namespace cairn
