#include "cairn/hardware/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cairn/hardware/figures.h"

namespace cairn {
namespace {

constexpr std::array<std::pair<ComputeType, std::string_view>, kComputeTypes> kPeakFields{{
    {ComputeType::f32_vector, "peak_fp32_tflops"},
    {ComputeType::f16_vector, "peak_fp16_vector_tflops"},
    {ComputeType::tf32, "peak_tf32_matrix_tflops"},
    {ComputeType::f16, "peak_fp16_matrix_tflops"},
    {ComputeType::bf16, "peak_bf16_matrix_tflops"},
    {ComputeType::fp8, "peak_fp8_matrix_tflops"},
    {ComputeType::int8, "peak_int8_matrix_tflops"},
    {ComputeType::int4, "peak_int4_matrix_tflops"},
    {ComputeType::fp6, "peak_fp6_matrix_tflops"},
    {ComputeType::fp4, "peak_fp4_matrix_tflops"},
}};

Result<ScaleUp> read_scale_up(const Figures& figures) {
  ScaleUp out;
  CAIRN_TRY(out.link, figures.text("scale_up_link"));
  CAIRN_TRY(const std::string topology, figures.text("scale_up_topology"));
  if (topology == "full-mesh") out.topology = Topology::full_mesh;
  if (topology == "partial-mesh") out.topology = Topology::partial_mesh;
  if (topology == "switch") out.topology = Topology::switched;
  if (topology == "bridge") out.topology = Topology::bridge;
  CAIRN_TRY(const auto per_device, figures.number("scale_up_gb_s"));
  CAIRN_TRY(const auto per_peer, figures.number("scale_up_peer_gb_s"));
  CAIRN_TRY(const double most, figures.number_or("scale_up_max_gpus", 1));
  out.per_device = scaled<BytesPerSecond>(per_device, 1e9);
  out.per_peer = scaled<BytesPerSecond>(per_peer, 1e9);
  out.max_devices = static_cast<int>(most);
  return out;
}

Result<void> read_memory(const Figures& figures, Accelerator& out) {
  CAIRN_TRY(const double memory, figures.required("memory_gib"));
  CAIRN_TRY(const double bandwidth, figures.required("memory_bandwidth_gb_s"));
  CAIRN_TRY(const auto usable, figures.number("usable_memory_mib"));
  CAIRN_TRY(const double l2, figures.number_or("l2_mib", 0));
  CAIRN_TRY(const double llc, figures.number_or("last_level_cache_mib", 0));
  out.memory = gib(memory);
  out.usable_memory = scaled<Bytes>(usable, kMiB);
  out.bandwidth = gb_per_s(bandwidth);
  out.l2 = mib(l2);
  out.last_level_cache = mib(llc);
  return {};
}

Result<void> read_compute(const Figures& figures, Accelerator& out) {
  CAIRN_TRY(const double units, figures.number_or("compute_units", 0));
  CAIRN_TRY(const double clock, figures.number_or("boost_clock_mhz", 0));
  out.compute_units = static_cast<int>(units);
  out.boost_clock = Hertz(clock * 1e6);
  for (const auto& [type, key] : kPeakFields) {
    CAIRN_TRY(const auto peak, figures.number(key));
    out.peak[static_cast<std::size_t>(type)] = scaled<FlopsPerSecond>(peak, 1e12);
  }
  // Where the shaders are slower in FP16 than in FP32 (Pascal: 1/64) engines compute in
  // FP32: no rate to fall back on.
  auto& f16 = out.peak[static_cast<std::size_t>(ComputeType::f16_vector)];
  const auto f32 = out.peak_of(ComputeType::f32_vector);
  if (f16 && f32 && *f16 < *f32) f16 = std::nullopt;
  return {};
}

Result<void> read_power_and_bus(const Figures& figures, Accelerator& out) {
  CAIRN_TRY(const auto board, figures.number("board_power_w"));
  CAIRN_TRY(const auto idle, figures.number("idle_power_w"));
  CAIRN_TRY(const double generation, figures.number_or("pcie_generation", 0));
  CAIRN_TRY(const double lanes, figures.number_or("pcie_lanes", 0));
  out.board_power = scaled<Watts>(board, 1);
  out.idle_power = scaled<Watts>(idle, 1);
  out.pcie_generation = static_cast<int>(generation);
  out.pcie_lanes = static_cast<int>(lanes);
  return {};
}

// The figures of a card become those of each of its devices. Links are counted per
// device already.
Result<void> divide_by_devices(const Figures& figures, Accelerator& out) {
  CAIRN_TRY(const double devices, figures.number_or("devices_per_card", 1));
  if (devices <= 1) return {};
  out.devices_per_card = static_cast<int>(devices);
  out.compute_units /= out.devices_per_card;
  const auto divide = [devices](auto& figure) {
    if (figure) *figure /= devices;
  };
  out.memory /= devices;
  out.bandwidth /= devices;
  out.l2 /= devices;
  out.last_level_cache /= devices;
  divide(out.usable_memory);
  divide(out.board_power);
  divide(out.idle_power);
  for (auto& peak : out.peak) divide(peak);
  return {};
}

// How the card is cooled, where its form or its record says it.
Result<std::optional<Cooling>> read_cooling(const Figures& figures, std::string_view form) {
  CAIRN_TRY(const std::string text, figures.text("cooling"));
  if (text == "open") return Cooling::open;
  if (text == "blower") return Cooling::blower;
  if (text == "passive" || form.ends_with("-passive")) return Cooling::passive;
  if (text == "liquid") return Cooling::liquid;
  if (!form.empty() && !form.starts_with("pcie")) return Cooling::own;
  return std::optional<Cooling>{};
}

Result<void> read_form(const Figures& figures, Accelerator& out) {
  CAIRN_TRY(const std::string form, figures.text("form_factor"));
  CAIRN_TRY(const auto supply, figures.number("recommended_supply_w"));
  CAIRN_TRY(out.cooling, read_cooling(figures, form));
  out.recommended_supply = scaled<Watts>(supply, 1);
  out.is_gpu = out.family != "epyc" && form != "rack" && form != "rack-module";
  out.unified_memory = form == "apu";
  out.form = form.starts_with("pcie") ? "pcie" : form;
  if (form.starts_with("pcie-single")) out.slot_width = 1;
  if (form.starts_with("pcie-dual")) out.slot_width = 2;
  if (form.starts_with("pcie-triple")) out.slot_width = 3;
  return {};
}

Result<void> read_partitions(Node record, Accelerator& out) {
  const auto modes = record.find_value("partitions");
  if (!modes) return {};
  for (std::uint32_t i = 0; i < modes->size(); ++i) {
    const Node mode = modes->at(i);
    PartitionMode partition;
    CAIRN_TRY(const std::string_view compute, mode.get<std::string_view>("compute"));
    CAIRN_TRY(const std::int64_t devices, mode.get_integer("devices", 1, 64));
    CAIRN_TRY(const auto memory, mode.get_optional<double>("memory_gib"));
    CAIRN_TRY(partition.memory_modes, mode.get_strings("memory_modes"));
    partition.compute = compute;
    partition.devices = static_cast<int>(devices);
    partition.memory = scaled<Bytes>(memory, kGiB);
    out.partitions.push_back(std::move(partition));
  }
  return {};
}

}  // namespace

std::string_view name_of(Cooling cooling) {
  switch (cooling) {
    case Cooling::open:
      return "open";
    case Cooling::blower:
      return "blower";
    case Cooling::passive:
      return "passive";
    case Cooling::liquid:
      return "liquid";
    case Cooling::own:
      return "own";
  }
  return "own";
}

Result<Status> read_status(Node record) {
  CAIRN_TRY(const auto text, record.get_optional<std::string_view>("status"));
  if (!text) return Status::unknown;
  if (*text == "shipping") return Status::shipping;
  if (*text == "announced") return Status::announced;
  if (*text == "end-of-life") return Status::end_of_life;
  return fail(record.required("status")
                  ->error("unknown status")
                  .want("shipping, announced or end-of-life"));
}

std::string_view name_of(ComputeType type) {
  constexpr std::array<std::string_view, kComputeTypes> kNames{
      "fp32_vector", "fp16_vector", "tf32", "fp16", "bf16", "fp8", "int8", "int4", "fp6", "fp4"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::shipping:
      return "shipping";
    case Status::announced:
      return "announced";
    case Status::end_of_life:
      return "end-of-life";
    case Status::unknown:
      return "unknown";
  }
  return "unknown";
}

std::optional<BytesPerSecond> pcie_rate(int generation, int lanes) {
  // Payload rate of one lane, one direction, GB/s: 8, 16, 32, 64 GT/s with
  // 128b/130b coding (242/256 flits for generation 6), PCI-SIG base specification.
  constexpr std::array<double, 7> kPerLane{0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (generation < 1 || generation > 6 || lanes < 1) return std::nullopt;
  return gb_per_s(kPerLane[static_cast<std::size_t>(generation)] * lanes);
}

Bytes Accelerator::capacity(std::string_view engine) const {
  const auto it = std::ranges::find(set_up, engine, &SharedMemory::engine);
  return it != set_up.end() ? it->memory : capacity();
}

std::optional<BytesPerSecond> Accelerator::pcie_bandwidth() const {
  return pcie_rate(pcie_generation, pcie_lanes);
}

Result<Accelerator> read_accelerator(Node record) {
  Accelerator out;
  const auto text = [&record](std::string_view key, std::string& field) -> Result<void> {
    CAIRN_TRY(const auto value, record.get_optional<std::string_view>(key));
    if (value) field = *value;
    return {};
  };
  CAIRN_TRY(const std::string_view id, record.get<std::string_view>("id"));
  out.id = id;
  out.card = id;
  CAIRN_CHECK(text("name", out.name));
  CAIRN_CHECK(text("vendor", out.vendor));
  CAIRN_CHECK(text("family", out.family));
  CAIRN_CHECK(text("architecture", out.architecture));
  CAIRN_CHECK(text("target", out.target));
  CAIRN_TRY(out.status, read_status(record));
  CAIRN_TRY(const Node node, record.required("figures"));
  const Figures figures(node);
  CAIRN_CHECK(read_memory(figures, out));
  CAIRN_CHECK(read_compute(figures, out));
  CAIRN_CHECK(read_power_and_bus(figures, out));
  CAIRN_CHECK(divide_by_devices(figures, out));
  CAIRN_TRY(out.scale_up, read_scale_up(figures));
  CAIRN_CHECK(read_form(figures, out));
  CAIRN_CHECK(read_partitions(record, out));
  return out;
}

}  // namespace cairn
