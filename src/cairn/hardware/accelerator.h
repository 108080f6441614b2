// Accelerator: one device of the catalogue as the cost and memory models see
// it. Every figure with its source stays in the catalogue's own record
// (AcceleratorCatalogue::record), which `cairn gpus show` prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/document.h"

namespace cairn {

/// Number types for which a device has a peak rate. `*_vector`: the shader
/// ALUs; the others: matrix units with 32-bit accumulation, dense. FP16 of shaders that
/// are slower in it than in FP32 does not count.
enum class ComputeType : std::uint8_t {
  f32_vector,
  f16_vector,
  tf32,
  f16,
  bf16,
  fp8,
  int8,
  int4,
  fp6,
  fp4,
};
constexpr std::size_t kComputeTypes = 10;
std::string_view name_of(ComputeType type);

enum class Status : std::uint8_t { shipping, announced, end_of_life, unknown };
std::string_view name_of(Status status);

/// How heat leaves an accelerator, and what a host is built to carry away.
enum class Cooling : std::uint8_t {
  open,     // the card's own fans blow into the case
  blower,   // the card blows its heat out of the case
  passive,  // the chassis must push air through the card
  liquid,   // cold plates and a coolant loop
  own,      // the machine is sold with its cooling: boxes and baseboards
};
std::string_view name_of(Cooling cooling);

/// A way to divide one package into several devices (partition.h).
struct PartitionMode {
  std::string compute;                    // "CPX"
  int devices = 1;                        // that it gives a package
  std::vector<std::string> memory_modes;  // that go with it, the usual first: "NPS4"
  std::optional<Bytes> memory;            // of one device; nothing: an even share
};

/// How devices of one node reach each other without the host.
enum class Topology : std::uint8_t {
  none,          // through the host's PCIe
  full_mesh,     // a direct link to every peer (xGMI)
  partial_mesh,  // direct links to some peers only (xGMI of MI250)
  switched,      // full rate to any peer (NVSwitch)
  bridge,        // pairs (NVLink bridge)
};

/// Device-to-device links of a node.
struct ScaleUp {
  Topology topology = Topology::none;
  std::string link;                          // "infinity-fabric", "nvlink"
  std::optional<BytesPerSecond> per_device;  // one direction, all links of a device
  std::optional<BytesPerSecond> per_peer;    // one direction, to one peer
  int max_devices = 1;                       // that the links join
};

/// What an engine can take of memory that an APU shares with its machine, as the machine
/// is set up.
struct SharedMemory {
  std::string engine;
  Bytes memory{};
};

/// One device as software sees it. A card of two dies (MI250) is two devices: the
/// catalogue gives the figures of both together, this has those of one.
struct Accelerator {
  std::string id;            // "rx-7900-xtx"
  std::string card;          // id of the card that is bought; another for a partition
  std::string name;          // "Radeon RX 7900 XTX"
  std::string vendor;        // "amd", "nvidia"
  std::string family;        // "radeon", "instinct" ...
  std::string architecture;  // "rdna3", "cdna3", "hopper"
  std::string target;        // "gfx1100", "sm_90"; empty if unknown
  Status status = Status::unknown;
  /// Cannot run without being told so: CPUs and whole racks of the catalogue.
  bool is_gpu = true;

  int devices_per_card = 1;  // what is bought is a card
  int compute_units = 0;     // CUs (AMD) or SMs (NVIDIA)
  Hertz boost_clock{};
  Bytes memory{};                      // what the vendor sells
  std::optional<Bytes> usable_memory;  // what the driver reports
  BytesPerSecond bandwidth{};
  Bytes l2{};
  Bytes last_level_cache{};  // Infinity Cache; 0 where there is none or it is unknown
  std::array<std::optional<FlopsPerSecond>, kComputeTypes> peak{};
  std::optional<Watts> board_power;
  std::optional<Watts> idle_power;
  int pcie_generation = 0;  // 0: unknown
  int pcie_lanes = 0;
  ScaleUp scale_up;
  bool unified_memory = false;  // an APU: the device memory is the host's
  /// By engine; empty: the setting of the machine is not said (unified_memory.h).
  std::vector<SharedMemory> set_up;
  /// "pcie" for cards of any width, "oam", "sxm", "apu", "rack" ...; empty if unknown.
  std::string form;
  int slot_width = 0;  // slots of a case that a PCIe card takes; 0: unknown or none
  std::optional<Cooling> cooling;
  std::optional<Watts> recommended_supply;  // of a machine with one card, by its maker
  std::vector<PartitionMode> partitions;

  [[nodiscard]] std::optional<FlopsPerSecond> peak_of(ComputeType t) const {
    return peak[static_cast<std::size_t>(t)];
  }
  /// Device memory that software sees: the reported size where a source gives
  /// it, else the nominal size.
  [[nodiscard]] Bytes capacity() const { return usable_memory.value_or(memory); }
  /// The same for an engine, where the machine's setting is known.
  [[nodiscard]] Bytes capacity(std::string_view engine) const;
  /// Whole cards that this many devices take.
  [[nodiscard]] std::int64_t cards(std::int64_t devices) const {
    return (devices + devices_per_card - 1) / devices_per_card;
  }
  /// One direction of the host link; nothing where the slot is unknown.
  [[nodiscard]] std::optional<BytesPerSecond> pcie_bandwidth() const;
};

/// Payload rate of a PCIe link in one direction; nothing for an unknown generation (1 to
/// 6) or no lanes.
std::optional<BytesPerSecond> pcie_rate(int generation, int lanes);

/// The `status` of a catalogue record.
Result<Status> read_status(Node record);

/// Reads one catalogue record (data/schema/accelerator.yaml). An error for a figure
/// that is missing, no number, or out of range; it stands at the figure's line.
Result<Accelerator> read_accelerator(Node record);

}  // namespace cairn
