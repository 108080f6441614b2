#include "cairn/hardware/accelerator.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>

#include "../must.h"
#include "cairn/data/yaml.h"
#include "cairn/hardware/catalogue.h"

namespace cairn {
namespace {

using test::must;

const AcceleratorCatalogue& catalogue() {
  static const AcceleratorCatalogue kCatalogue =
      must(AcceleratorCatalogue::load(must(Image::open(CAIRN_IMAGE_FILE))));
  return kCatalogue;
}

const Accelerator& find(std::string_view name) { return *must(catalogue().find(name)); }

Result<Accelerator> read(std::string_view text) {
  const Document document = must(parse_yaml(text, "card.yaml"));
  return read_accelerator(document.root());
}

TEST(ReadAccelerator, TakesWhatTheCostModelNeeds) {
  const Accelerator a =
      must(read("id: x\nvendor: amd\nstatus: announced\nfigures:\n"
                "  memory_gib: {value: 2}\n"
                "  memory_bandwidth_gb_s: {value: 100}\n"
                "  peak_fp16_matrix_tflops: {value: 3}\n"
                "  peak_fp8_matrix_tflops: {value: null}\n"));
  EXPECT_EQ(a.memory, Bytes(2.0 * 1024 * 1024 * 1024));
  EXPECT_EQ(a.capacity(), a.memory);
  EXPECT_EQ(a.bandwidth, BytesPerSecond(1e11));
  EXPECT_EQ(a.peak_of(ComputeType::f16), FlopsPerSecond(3e12));
  EXPECT_FALSE(a.peak_of(ComputeType::fp8).has_value());
  EXPECT_EQ(a.status, Status::announced);
  EXPECT_FALSE(a.board_power.has_value());
  EXPECT_EQ(a.devices_per_card, 1);
}

struct BadRecord {
  const char* text;
  const char* where;
  const char* field;
};

TEST(ReadAccelerator, SaysFileLineAndFieldOfWhatIsWrong) {
  constexpr const char* kNoMemory = "id: x\nfigures:\n  memory_bandwidth_gb_s: {value: 1}\n";
  const std::array<BadRecord, 7> cases{{
      {"name: x\nfigures: {}\n", "card.yaml:1", "id"},
      {"id: x\n", "card.yaml:1", "figures"},
      {kNoMemory, "card.yaml:3", "memory_gib"},
      {"id: x\nfigures:\n  memory_gib: {value: lots}\n", "card.yaml:3", "value"},
      {"id: x\nfigures:\n  memory_gib:\n    value: -1\n", "card.yaml:4", "memory_gib"},
      {"id: x\nfigures:\n  memory_gib: {value: 1e12}\n", "card.yaml:3", "memory_gib"},
      {"id: x\nstatus: sold\nfigures: {}\n", "card.yaml:2", ""},
  }};
  for (const BadRecord& c : cases) {
    const auto a = read(c.text);
    ASSERT_FALSE(a.has_value()) << c.text;
    EXPECT_EQ(a.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(a.error().where, c.where) << c.text;
    EXPECT_EQ(a.error().field, c.field) << c.text;
  }
}

TEST(ReadAccelerator, GivesTheFiguresOfOneOfTwoDevicesOnACard) {
  const Accelerator a =
      must(read("id: x\nfigures:\n"
                "  memory_gib: {value: 128}\n"
                "  usable_memory_mib: {value: 131040}\n"
                "  memory_bandwidth_gb_s: {value: 3200}\n"
                "  compute_units: {value: 208}\n"
                "  l2_mib: {value: 16}\n"
                "  peak_fp16_matrix_tflops: {value: 362}\n"
                "  board_power_w: {value: 560}\n"
                "  scale_up_topology: {value: partial-mesh}\n"
                "  scale_up_peer_gb_s: {value: 50}\n"
                "  devices_per_card: {value: 2}\n"));
  EXPECT_EQ(a.memory, gib(64));
  EXPECT_EQ(a.capacity(), mib(65520));
  EXPECT_EQ(a.bandwidth, gb_per_s(1600));
  EXPECT_EQ(a.compute_units, 104);
  EXPECT_EQ(a.l2, mib(8));
  EXPECT_EQ(a.peak_of(ComputeType::f16), tflops(181));
  EXPECT_EQ(a.board_power, Watts(280));
  EXPECT_EQ(a.scale_up.topology, Topology::partial_mesh);
  EXPECT_EQ(a.scale_up.per_peer, gb_per_s(50));
  EXPECT_EQ(a.cards(1), 1);
  EXPECT_EQ(a.cards(2), 1);
  EXPECT_EQ(a.cards(3), 2);
  EXPECT_EQ(a.cards(8), 4);
}

// Rate of a lane in one direction: 2.5 and 5 GT/s with 8b/10b, 8, 16 and 32 GT/s with
// 128b/130b (PCI Express Base Specification 5.0, section 4.2.2), 64 GT/s with 242 bytes
// of packets in each flit of 256 (PCI Express 6.0).
TEST(PcieBandwidth, FollowsFromRateCodingAndLanes) {
  Accelerator a;
  EXPECT_FALSE(a.pcie_bandwidth().has_value());
  const auto rate = [&a](int generation, int lanes) {
    a.pcie_generation = generation;
    a.pcie_lanes = lanes;
    return a.pcie_bandwidth()->value() / 1e9;
  };
  EXPECT_NEAR(rate(1, 16), 2.5 * 8 / 10 / 8 * 16, 1e-9);      // 4
  EXPECT_NEAR(rate(2, 8), 5.0 * 8 / 10 / 8 * 8, 1e-9);        // 4
  EXPECT_NEAR(rate(3, 16), 8.0 * 128 / 130 / 8 * 16, 0.01);   // 15.75
  EXPECT_NEAR(rate(4, 16), 16.0 * 128 / 130 / 8 * 16, 0.02);  // 31.51
  EXPECT_NEAR(rate(4, 8), 16.0 * 128 / 130 / 8 * 8, 0.01);    // 15.75
  EXPECT_NEAR(rate(5, 16), 32.0 * 128 / 130 / 8 * 16, 0.03);  // 63.02
  EXPECT_NEAR(rate(6, 16), 64.0 * 242 / 256 / 8 * 16, 0.03);  // 121.0
  a.pcie_generation = 7;
  EXPECT_FALSE(a.pcie_bandwidth().has_value());
  a.pcie_generation = 5;
  a.pcie_lanes = 0;
  EXPECT_FALSE(a.pcie_bandwidth().has_value());
}

TEST(Find, TakesIdsNamesAndAliasesHoweverTheyAreTyped) {
  for (const char* name : {"rx-7900-xtx", "RX-7900-XTX", "rx 7900 xtx", "rx_7900_xtx",
                           "Radeon RX 7900 XTX", "7900xtx"}) {
    EXPECT_EQ(find(name).id, "rx-7900-xtx") << name;
  }
  EXPECT_EQ(find("h100").id, "h100-sxm");
  EXPECT_EQ(find("Strix Halo").id, "ryzen-ai-max-395");
}

TEST(Find, NamesTheNearestOfAMisspeltName) {
  for (const auto& [typed, meant] :
       {std::pair{"rx-7900-xtxx", "rx-7900-xtx"}, std::pair{"mi3000x", "mi300x"},
        std::pair{"rtx-4009", "rtx-4090"}}) {
    const auto a = catalogue().find(typed);
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().kind, ErrorKind::not_found);
    EXPECT_EQ(a.error().value, typed);
    EXPECT_NE(a.error().expected.find(meant), std::string::npos) << a.error().to_string();
  }
  EXPECT_FALSE(catalogue().find("").has_value());
  EXPECT_FALSE(catalogue().find(std::string(100000, 'x')).has_value());
}

TEST(Catalogue, NamesAreUnambiguous) {
  for (const Accelerator& a : catalogue().all()) {
    EXPECT_EQ(find(a.id).id, a.id);
    EXPECT_EQ(find(a.name).id, a.id) << a.name;
    for (const std::string& alias : must(catalogue().record(a).get_strings("aliases"))) {
      EXPECT_EQ(find(alias).id, a.id) << alias;
    }
  }
}

double figure(const Accelerator& a, std::string_view name) {
  const auto peak = [&a](ComputeType t) {
    const auto p = a.peak_of(t);
    return p ? p->value() / 1e12 : 0;
  };
  if (name == "compute_units") return a.compute_units;
  if (name == "memory_gib") return in_gib(a.memory);
  if (name == "bandwidth_gb_s") return a.bandwidth.value() / 1e9;
  if (name == "fp16_tflops") return peak(ComputeType::f16);
  if (name == "fp8_tflops") return peak(ComputeType::fp8);
  if (name == "board_power_w") return a.board_power ? a.board_power->value() : 0;
  throw std::runtime_error("unknown figure " + std::string(name));
}

// published.csv: pages of the makers, or such as quote them. Sparse peaks are halved
// there; HGX and DGX figures divided by 8. MI250: half of the card, one device.
TEST(Catalogue, HasThePublishedFigures) {
  const test::Sheet sheet("hardware/published.csv");
  for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
    const double value = sheet.number(i, "value");
    EXPECT_NEAR(figure(find(sheet.text(i, "accelerator")), sheet.text(i, "figure")), value,
                value * sheet.number(i, "within"))
        << sheet.text(i, "accelerator") << " " << sheet.text(i, "figure") << " "
        << sheet.text(i, "source_url");
  }
  EXPECT_GE(sheet.rows(), 60U);
}

// 32 CUs on each of 8 dies at 8192 FP8 FLOPs a clock
// (https://www.world-today-news.com/?p=7253162), 2.4 GHz.
TEST(Catalogue, PeakOfMi355xFollowsFromItsUnits) {
  EXPECT_NEAR(find("mi355x").peak_of(ComputeType::fp8)->value(), 32.0 * 8 * 8192 * 2.4e9, 1e12);
}

// NVIDIA's brief, table 3, as quoted by
// https://datacrunch.io/blog/nvidia-b300-vs-b200-complete-gpu-comparison-to-date: INT8 0.15
// POPS on B300, 4.5 on B200.
TEST(Catalogue, B300HasLostItsIntegers) {
  EXPECT_EQ(find("b300-sxm").peak_of(ComputeType::int8), tflops(150));
  EXPECT_EQ(find("b200-sxm").peak_of(ComputeType::int8), tflops(4500));
}

// NVIDIA's P40: 47 TOPS of INT8, 12 TFLOPS of FP32, FP16 at 1/64 of that.
// https://omegaco.ae/shop/gpu-cards-edge-ai/nvidia-p40
TEST(Catalogue, PascalComputesInFp32AndDotProducts) {
  EXPECT_FALSE(find("p40").peak_of(ComputeType::f16_vector).has_value());
  EXPECT_NEAR(find("p40").peak_of(ComputeType::f32_vector)->value(), 11.76e12, 1e9);
  EXPECT_EQ(find("p40").peak_of(ComputeType::int8), tflops(47));
  EXPECT_TRUE(find("rx-6800").peak_of(ComputeType::f16_vector).has_value());
}

TEST(Catalogue, FormsAndCoolingFollowFromTheRecord) {
  EXPECT_EQ(find("rx-7900-xtx").form, "pcie");
  EXPECT_FALSE(find("rx-7900-xtx").cooling.has_value());  // by its product line
  EXPECT_EQ(find("rx-7900-xtx").recommended_supply, Watts(800));
  EXPECT_EQ(find("a40").cooling, Cooling::passive);
  EXPECT_EQ(find("a40").slot_width, 2);
  EXPECT_EQ(find("mi300x").form, "oam");
  EXPECT_EQ(find("mi300x").cooling, Cooling::own);
  EXPECT_EQ(find("mi300x").slot_width, 0);
  EXPECT_EQ(find("gb10").form, "apu");
  EXPECT_TRUE(find("gb10").unified_memory);
}

// Names of data/hardware/excluded.yaml: no card hides behind them.
TEST(Catalogue, ExcludedNamesHaveNoEntry) {
  const Image image = must(Image::open(CAIRN_IMAGE_FILE));
  const Node list = must(must(image.root("hardware/excluded.yaml")).required("excluded"));
  ASSERT_GT(list.size(), 10U);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const auto name = must(list.at(i).get<std::string_view>("name"));
    EXPECT_FALSE(catalogue().find(name).has_value()) << name;
  }
}

// Every name of hardware in published measurements is a card or has its reason.
TEST(Catalogue, KnowsTheHardwareOfPublishedMeasurements) {
  const std::filesystem::path folder =
      std::filesystem::path(CAIRN_SOURCE_DIR) / ".." / "shared" / "evidence";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no measurements beside the sources";
  const Image image = must(Image::open(CAIRN_IMAGE_FILE));
  const Node list = must(must(image.root("hardware/excluded.yaml")).required("excluded"));
  std::set<std::string> excluded;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    excluded.emplace(must(list.at(i).get<std::string_view>("name")));
  }
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    const Document document = must(load_csv(entry.path()));
    const Table table = must(Table::from(document.root()));
    const std::uint32_t column = must(table.column("gpu"));
    for (std::uint32_t i = 0; i < table.rows(); ++i) names.emplace(table.row(i).text(column));
  }
  EXPECT_GT(names.size(), 100U);
  for (const std::string& name : names) {
    EXPECT_TRUE(excluded.contains(name) || catalogue().find(name).has_value()) << name;
  }
}

TEST(Catalogue, CoreCardsHaveEverythingTheCostModelReads) {
  for (const char* name :
       {"rx-7900-xtx", "rx-7800-xt", "rx-9070-xt", "pro-w7900", "ai-pro-r9700", "ryzen-ai-max-395",
        "mi210", "mi300x", "mi325x", "mi355x", "rtx-4090", "h100-sxm", "h200-sxm", "b200-sxm"}) {
    const Accelerator& a = find(name);
    EXPECT_TRUE(a.is_gpu) << name;
    EXPECT_FALSE(a.target.empty()) << name;
    EXPECT_GT(a.compute_units, 0) << name;
    EXPECT_GT(a.bandwidth, BytesPerSecond{}) << name;
    EXPECT_GT(a.l2, Bytes{}) << name;
    EXPECT_TRUE(a.board_power.has_value()) << name;
    EXPECT_LE(a.capacity(), a.memory) << name;
    EXPECT_GE(a.capacity(), a.memory * 0.7) << name;
    for (const ComputeType t :
         {ComputeType::f32_vector, ComputeType::f16, ComputeType::bf16, ComputeType::int8}) {
      ASSERT_TRUE(a.peak_of(t).has_value()) << name << " " << name_of(t);
    }
    EXPECT_GE(*a.peak_of(ComputeType::f16), *a.peak_of(ComputeType::f32_vector)) << name;
    EXPECT_TRUE(a.unified_memory || a.pcie_bandwidth().has_value()) << name;
  }
}

}  // namespace
}  // namespace cairn
