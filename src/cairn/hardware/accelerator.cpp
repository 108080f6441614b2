#include "cairn/hardware/accelerator.h"

#include <fmt/format.h>

#include <utility>

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

// The figures of a record: each is a mapping with a `value`.
class Figures {
 public:
  explicit Figures(Node figures) : figures_(figures) {}

  [[nodiscard]] Result<std::optional<double>> number(std::string_view key) const {
    const auto figure = figures_.find_value(key);
    if (!figure) return std::optional<double>{};
    CAIRN_TRY(const std::optional<double> value, figure->get_optional<double>("value"));
    if (value && (*value < 0 || *value >= 1e9)) {
      return fail(
          figure->required("value")->error("out of range").in(std::string(key)).want("0 to 1e9"));
    }
    return value;
  }
  [[nodiscard]] Result<double> required(std::string_view key) const {
    CAIRN_TRY(const std::optional<double> value, number(key));
    if (value) return *value;
    return fail(bad_input("missing figure").at(figures_.where()).in(std::string(key)));
  }
  [[nodiscard]] Result<double> number_or(std::string_view key, double fallback) const {
    CAIRN_TRY(const std::optional<double> value, number(key));
    return value.value_or(fallback);
  }
  [[nodiscard]] Result<std::string> text(std::string_view key) const {
    const auto figure = figures_.find_value(key);
    if (!figure || !figure->find_value("value")) return std::string{};
    CAIRN_TRY(const std::string_view value, figure->get<std::string_view>("value"));
    return std::string(value);
  }

 private:
  Node figures_;
};

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

template <class Unit>
std::optional<Unit> scaled(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return Unit(*value * factor);
}

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

}  // namespace

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

std::optional<BytesPerSecond> Accelerator::pcie_bandwidth() const {
  // Payload rate of one lane, one direction, GB/s: 8, 16, 32, 64 GT/s with
  // 128b/130b coding (242/256 flits for generation 6), PCI-SIG base specification.
  constexpr std::array<double, 7> kPerLane{0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  if (pcie_generation < 1 || pcie_generation > 6 || pcie_lanes < 1) return std::nullopt;
  return gb_per_s(kPerLane[static_cast<std::size_t>(pcie_generation)] * pcie_lanes);
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
  CAIRN_TRY(const std::string form, figures.text("form_factor"));
  out.is_gpu = out.family != "epyc" && form != "rack" && form != "rack-module";
  out.unified_memory = form == "apu";
  return out;
}

}  // namespace cairn
