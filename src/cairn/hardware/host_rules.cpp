// Reads data/hardware/host_rules.yaml (data/schema/host_rules.yaml).
#include <array>
#include <utility>

#include "cairn/hardware/figures.h"
#include "cairn/hardware/host_need.h"

namespace cairn {
namespace {

Result<HostRules::Base> read_base(Node root, std::string_view key) {
  CAIRN_TRY(const Node node, root.required(key));
  const Figures figures(node);
  HostRules::Base out;
  CAIRN_TRY(const double processor, figures.required("processor_w"));
  CAIRN_TRY(const double rest, figures.required("rest_w"));
  CAIRN_TRY(out.cooling_share, figures.number_or("cooling_share", 0));
  CAIRN_TRY(const double cards, figures.required("most_cards"));
  out.processor = Watts(processor);
  out.rest = Watts(rest);
  out.most_cards = static_cast<int>(cards);
  return out;
}

Result<void> read_supply(const Figures& figures, HostRules& out) {
  CAIRN_TRY(out.continuous_load, figures.required("continuous_load"));
  CAIRN_TRY(out.card_excursion, figures.required("card_excursion"));
  CAIRN_TRY(out.supply_peak, figures.required("supply_peak"));
  CAIRN_TRY(const double step, figures.required("step_w"));
  CAIRN_TRY(const double largest, figures.required("largest_w"));
  CAIRN_TRY(const double circuit, figures.required("circuit_w"));
  out.supply_step = Watts(step);
  out.largest_supply = Watts(largest);
  out.circuit = Watts(circuit);
  return {};
}

Result<void> read_ram(Node node, HostRules& out) {
  const Figures figures(node);
  CAIRN_TRY(const double base, figures.required("base_gib"));
  CAIRN_TRY(const double process, figures.required("process_gib"));
  out.ram_base = gib(base);
  out.ram_process = gib(process);
  CAIRN_TRY(const Node sizes, node.required("sizes_gib"));
  CAIRN_TRY(const Node list, sizes.required("value"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(const double size, list.at(i).number());
    out.ram_sizes.push_back(gib(size));
  }
  return {};
}

Result<void> read_cooling(Node root, HostRules& out) {
  constexpr std::array<std::pair<std::string_view, Cooling>, 4> kWords{{
      {"open", Cooling::open},
      {"blower", Cooling::blower},
      {"passive", Cooling::passive},
      {"liquid", Cooling::liquid},
  }};
  CAIRN_TRY(const Node list, root.required("cooling"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    HostRules::FamilyCooling entry;
    CAIRN_TRY(entry.family, list.at(i).get<std::string_view>("family"));
    CAIRN_TRY(const std::string_view text, list.at(i).get<std::string_view>("cooling"));
    for (const auto& [word, cooling] : kWords) {
      if (word == text) entry.cooling = cooling;
    }
    out.cooling.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

Result<HostRules> HostRules::load(const Image& image) {
  CAIRN_TRY(const Node root, image.root("hardware/host_rules.yaml"));
  HostRules out;
  CAIRN_TRY(out.desktop, read_base(root, "desktop"));
  CAIRN_TRY(out.workstation, read_base(root, "workstation"));
  CAIRN_TRY(out.server, read_base(root, "server"));
  CAIRN_TRY(const Node supply, root.required("supply"));
  CAIRN_CHECK(read_supply(Figures(supply), out));
  CAIRN_TRY(out.rack_units, Figures(root).required("rack_units"));
  CAIRN_TRY(const Node ram, root.required("ram"));
  CAIRN_CHECK(read_ram(ram, out));
  CAIRN_TRY(const Node atomics, root.required("atomics"));
  CAIRN_TRY(out.atomics_targets, atomics.get_strings("value"));
  CAIRN_CHECK(read_cooling(root, out));
  return out;
}

}  // namespace cairn
