#include "cairn/hardware/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cairn/base/names.h"
#include "cairn/hardware/figures.h"

namespace cairn {
namespace {

constexpr std::array<std::pair<HostKind, std::string_view>, 6> kKinds{{
    {HostKind::desktop, "desktop"},
    {HostKind::workstation, "workstation"},
    {HostKind::server, "server"},
    {HostKind::node, "node"},
    {HostKind::rack, "rack"},
    {HostKind::integrated, "integrated"},
}};
constexpr std::array<std::pair<SlotPath, std::string_view>, 3> kPaths{{
    {SlotPath::cpu, "cpu"},
    {SlotPath::chipset, "chipset"},
    {SlotPath::pcie_switch, "switch"},
}};
constexpr std::array<std::pair<Cooling, std::string_view>, 5> kCoolings{{
    {Cooling::open, "open"},
    {Cooling::blower, "blower"},
    {Cooling::passive, "passive"},
    {Cooling::liquid, "liquid"},
    {Cooling::own, "own"},
}};

template <class Value, std::size_t N>
Result<Value> word(Node node, std::string_view key,
                   const std::array<std::pair<Value, std::string_view>, N>& words) {
  CAIRN_TRY(const std::string_view text, node.get<std::string_view>(key));
  const auto it = std::ranges::find(words, text, [](const auto& w) { return w.second; });
  if (it != words.end()) return it->first;
  std::vector<std::string_view> known;
  known.reserve(words.size());
  for (const auto& w : words) known.push_back(w.second);
  return fail(node.required(key)
                  ->error("unknown word")
                  .want(fmt::format("one of {}", fmt::join(known, ", "))));
}

Result<Slot> read_slot(Node node) {
  Slot out;
  CAIRN_TRY(const std::int64_t lanes, node.get_integer("lanes", 1, 32));
  CAIRN_TRY(const std::int64_t generation, node.get_integer("generation", 1, 8));
  CAIRN_TRY(out.path, word(node, "path", kPaths));
  CAIRN_TRY(out.atomics, node.get_optional<bool>("atomics"));
  out.lanes = static_cast<int>(lanes);
  out.generation = static_cast<int>(generation);
  return out;
}

Result<void> read_slots(Node record, Host& out) {
  const auto slots = record.find_value("slots");
  if (!slots) return {};
  CAIRN_TRY(const Node by_cards, slots->required("by_cards"));
  for (std::uint32_t i = 0; i < by_cards.size(); ++i) {
    const Node row = by_cards.at(i);
    if (row.size() != i + 1) {
      return fail(row.error("slots do not match the number of cards")
                      .in("slots")
                      .want(fmt::format("{} slots", i + 1)));
    }
    std::vector<Slot> arrangement;
    for (std::uint32_t k = 0; k < row.size(); ++k) {
      CAIRN_TRY(const Slot slot, read_slot(row.at(k)));
      arrangement.push_back(slot);
    }
    out.arrangements.push_back(std::move(arrangement));
  }
  return {};
}

Result<void> read_nics(Node record, Host& out) {
  const auto nics = record.find_value("nics");
  if (!nics) return {};
  for (std::uint32_t i = 0; i < nics->size(); ++i) {
    CAIRN_TRY(const std::string_view link, nics->at(i).get<std::string_view>("link"));
    CAIRN_TRY(const std::int64_t count, nics->at(i).get_integer("count", 1, 1000));
    out.nics.push_back({std::string(link), static_cast<int>(count)});
  }
  return {};
}

Result<void> read_cooling(const Figures& figures, Node node, Host& out) {
  CAIRN_TRY(const auto words, figures.words("cooling"));
  for (const std::string& text : words) {
    const auto it = std::ranges::find(kCoolings, text, [](const auto& c) { return c.second; });
    if (it == kCoolings.end()) {
      return fail(bad_input("unknown kind of cooling").at(node.where()).in("cooling").got(text));
    }
    out.cooling.push_back(it->first);
  }
  return {};
}

Result<void> read_figures(Node node, Host& out) {
  const Figures figures(node);
  CAIRN_TRY(const double cards, figures.required("max_cards"));
  CAIRN_TRY(out.processor, figures.text("processor"));
  CAIRN_TRY(const double sockets, figures.number_or("sockets", 1));
  CAIRN_TRY(const double channels, figures.number_or("memory_channels", 0));
  CAIRN_TRY(const auto bandwidth, figures.number("memory_bandwidth_gb_s"));
  CAIRN_TRY(const auto memory, figures.number("memory_gib"));
  CAIRN_TRY(const auto most, figures.number("max_memory_gib"));
  CAIRN_TRY(const auto supply, figures.number("supply_w"));
  CAIRN_TRY(const auto idle, figures.number("idle_power_w"));
  CAIRN_TRY(const auto power, figures.number("max_power_w"));
  CAIRN_TRY(out.rack_units, figures.number("rack_units"));
  CAIRN_CHECK(read_cooling(figures, node, out));
  out.max_cards = static_cast<int>(cards);
  out.sockets = static_cast<int>(sockets);
  out.memory_channels = static_cast<int>(channels);
  out.memory_bandwidth = scaled<BytesPerSecond>(bandwidth, 1e9);
  out.memory = scaled<Bytes>(memory, kGiB);
  out.max_memory = scaled<Bytes>(most, kGiB);
  out.supply = scaled<Watts>(supply, 1);
  out.idle_power = scaled<Watts>(idle, 1);
  out.max_power = scaled<Watts>(power, 1);
  return {};
}

}  // namespace

std::string_view name_of(HostKind kind) {
  return std::ranges::find(kKinds, kind, [](const auto& k) { return k.first; })->second;
}

std::string_view name_of(SlotPath path) {
  return std::ranges::find(kPaths, path, [](const auto& p) { return p.first; })->second;
}

std::optional<BytesPerSecond> Slot::bandwidth(const Accelerator& card) const {
  const auto own = pcie_rate(generation, lanes);
  const auto of_card = card.pcie_bandwidth();
  if (!own || !of_card) return of_card ? own : std::nullopt;
  return pcie_rate(std::min(generation, card.pcie_generation), std::min(lanes, card.pcie_lanes));
}

std::optional<std::span<const Slot>> Host::slots(std::int64_t cards) const {
  if (cards < 1 || cards > static_cast<std::int64_t>(arrangements.size())) return std::nullopt;
  return std::span<const Slot>(arrangements[static_cast<std::size_t>(cards - 1)]);
}

bool Host::takes(const Accelerator& accelerator) const {
  if (accelerator.form != form) return false;
  if (accelerators.empty()) return true;
  // A partition is a part of the card that the host takes: "mi300x/cpx/nps4".
  const std::string_view card =
      std::string_view(accelerator.id).substr(0, accelerator.id.find('/'));
  return std::ranges::find(accelerators, card) != accelerators.end();
}

Result<Host> read_host(Node record) {
  Host out;
  CAIRN_TRY(out.id, record.get<std::string_view>("id"));
  CAIRN_TRY(out.name, record.get<std::string_view>("name"));
  CAIRN_TRY(out.vendor, record.get_or<std::string_view>("vendor", ""));
  CAIRN_TRY(out.kind, word(record, "kind", kKinds));
  CAIRN_TRY(out.form, record.get<std::string_view>("form"));
  CAIRN_TRY(out.status, read_status(record));
  CAIRN_TRY(out.accelerators, record.get_strings("accelerators"));
  CAIRN_TRY(const Node figures, record.required("figures"));
  CAIRN_CHECK(read_figures(figures, out));
  CAIRN_CHECK(read_slots(record, out));
  CAIRN_CHECK(read_nics(record, out));
  return out;
}

Result<HostCatalogue> HostCatalogue::load(const Image& image) {
  HostCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("hardware/hosts/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(Host host, read_host(record));
    const std::size_t index = out.hosts_.size();
    out.names_.add(host.id, index);
    out.names_.add(host.name, index);
    CAIRN_TRY(const auto aliases, record.get_strings("aliases"));
    for (const std::string& alias : aliases) out.names_.add(alias, index);
    out.hosts_.push_back(std::move(host));
    out.records_.push_back(record);
  }
  out.names_.sort();
  return out;
}

Result<const Host*> HostCatalogue::find(std::string_view name) const {
  const auto id_of = [this](std::size_t i) -> const std::string& { return hosts_[i].id; };
  CAIRN_TRY(const std::size_t index, names_.find(name, "unknown host", "a host such as", id_of));
  return &hosts_[index];
}

std::vector<const Host*> HostCatalogue::for_cards(const Accelerator& accelerator,
                                                  std::int64_t cards) const {
  std::vector<const Host*> out;
  for (const Host& host : hosts_) {
    if (host.takes(accelerator) && cards <= host.max_cards) out.push_back(&host);
  }
  return out;
}

Node HostCatalogue::record(const Host& host) const {
  return records_[static_cast<std::size_t>(&host - hosts_.data())];
}

}  // namespace cairn
