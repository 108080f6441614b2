// Host: a machine that takes or holds accelerators, as far as sizing needs it.
// Every figure with its source stays in the catalogue's own record
// (HostCatalogue::record), which `cairn hosts show` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/image.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/name_index.h"

namespace cairn {

enum class HostKind : std::uint8_t {
  desktop,      // one socket, dual-channel memory, one or two cards
  workstation,  // one socket with many lanes, in a tower
  server,       // PCIe cards in a rack server
  node,         // accelerators on a baseboard: OAM, SXM
  rack,         // a rack sold as one machine: NVL72, Helios
  integrated,   // the processor is the accelerator: Strix Halo, DGX Spark
};
std::string_view name_of(HostKind kind);

/// What a slot hangs on.
enum class SlotPath : std::uint8_t { cpu, chipset, pcie_switch };
std::string_view name_of(SlotPath path);

/// One slot for a card, as it is wired when the slots before it are taken too.
struct Slot {
  int lanes = 16;
  int generation = 4;
  SlotPath path = SlotPath::cpu;
  /// PCIe atomics reach host memory; nothing: unknown.
  std::optional<bool> atomics;

  /// One direction, payload; the slower of slot and card.
  [[nodiscard]] std::optional<BytesPerSecond> bandwidth(const Accelerator& card) const;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Network adapters of one kind for traffic between hosts.
struct Nics {
  std::string link;  // id of data/hardware/links.yaml
  int count = 1;
};

struct Host {
  std::string id;      // "mi300x-node"
  std::string name;    // "Supermicro AS-8125GS-TNMR2"
  std::string vendor;  // "Supermicro"
  HostKind kind = HostKind::desktop;
  Status status = Status::unknown;
  /// Form of the accelerators, as Accelerator::form.
  std::string form;
  /// Accelerators that are part of it or that the maker names; empty: any of the form.
  std::vector<std::string> accelerators;
  /// Cards that it takes, or has.
  int max_cards = 1;
  /// How the slots are wired by the number of cards: the arrangement at index i is for
  /// i + 1 cards. Empty where the accelerators are no PCIe cards.
  std::vector<std::vector<Slot>> arrangements;
  std::vector<Cooling> cooling;  // of accelerators; empty: unknown
  std::string processor;
  int sockets = 1;
  int memory_channels = 0;                         // of all sockets; 0: unknown
  std::optional<BytesPerSecond> memory_bandwidth;  // of all sockets, theoretical
  std::optional<Bytes> memory;                     // that it comes with, or had where it was read
  std::optional<Bytes> max_memory;
  std::optional<Watts> supply;      // what its power supplies give together, redundancy taken off
  std::optional<Watts> idle_power;  // whole machine, accelerators idle or absent as its record says
  std::optional<Watts> max_power;   // whole machine
  std::vector<Nics> nics;
  std::optional<double> rack_units;

  /// The slots that `cards` cards would take, in their order; nothing if there are fewer.
  [[nodiscard]] std::optional<std::span<const Slot>> slots(std::int64_t cards) const;
  /// False if the accelerators are named and this is none of them, or the form differs.
  [[nodiscard]] bool takes(const Accelerator& accelerator) const;
};

/// Reads one catalogue record (data/schema/host.yaml). An error for a figure that is
/// missing, no number, or out of range; it stands at the figure's line.
Result<Host> read_host(Node record);

class HostCatalogue {
 public:
  /// Reads every record of hardware/hosts/ in the image.
  static Result<HostCatalogue> load(const Image& image);

  [[nodiscard]] const std::vector<Host>& all() const { return hosts_; }
  /// By id, name or alias, as AcceleratorCatalogue::find.
  [[nodiscard]] Result<const Host*> find(std::string_view name) const;
  /// Hosts that hold `cards` cards of this accelerator, in the order of the catalogue.
  [[nodiscard]] std::vector<const Host*> for_cards(const Accelerator& accelerator,
                                                   std::int64_t cards) const;
  [[nodiscard]] Node record(const Host& host) const;

 private:
  std::vector<Host> hosts_;
  std::vector<Node> records_;  // as hosts_
  NameIndex names_;
  std::optional<Image> image_;  // keeps the records mapped
};

}  // namespace cairn
