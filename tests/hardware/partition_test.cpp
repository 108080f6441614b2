#include "cairn/hardware/partition.h"

#include <gtest/gtest.h>

#include "../must.h"
#include "cairn/hardware/catalogue.h"

namespace cairn {
namespace {

using test::must;

const Accelerator& card(std::string_view name) {
  static const AcceleratorCatalogue kCatalogue =
      must(AcceleratorCatalogue::load(must(Image::open(CAIRN_IMAGE_FILE))));
  return *must(kCatalogue.find(name));
}

double peak(const Accelerator& a, ComputeType type) {
  const auto rate = a.peak_of(type);
  return rate ? rate->value() / 1e12 : 0;
}

// MI300X: 8 dies of 38 CUs, 192 GB, 5.3 TB/s, 1307.4 TFLOPS of FP16. AMD's table
// (https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/mi300x/overview.html):
// CPX gives 8 devices of 38 CUs and 24 GB.
TEST(Partitioned, CpxOfMi300xIsAnEighth) {
  const Accelerator a = must(partitioned(card("mi300x"), "CPX"));
  EXPECT_EQ(a.id, "mi300x/cpx/nps1");
  EXPECT_EQ(a.devices_per_card, 8);
  EXPECT_EQ(a.compute_units, 38);
  EXPECT_EQ(a.memory, gib(24));
  EXPECT_EQ(*a.usable_memory, mib(196592.0 / 8));
  EXPECT_DOUBLE_EQ(a.bandwidth.value(), 5.3e12 / 8);
  EXPECT_DOUBLE_EQ(peak(a, ComputeType::f16), 1307.4 / 8);
  EXPECT_DOUBLE_EQ(peak(a, ComputeType::fp8), 2614.9 / 8);
  EXPECT_EQ(a.l2, mib(4));  // each die has its own
  EXPECT_EQ(a.last_level_cache, mib(32));
  EXPECT_DOUBLE_EQ(a.board_power->value(), 750.0 / 8);
  EXPECT_EQ(a.scale_up.max_devices, 64);
  EXPECT_DOUBLE_EQ(a.scale_up.per_peer->value(), 64e9 / 8);
  // Eight of them are still one card to buy.
  EXPECT_EQ(a.cards(8), 1);
  EXPECT_EQ(a.cards(9), 2);
}

// https://rocm.docs.amd.com/en/latest/how-to/rocm-for-ai/inference-optimization/workload.html
struct Row {
  const char* card;
  const char* mode;
  int devices;
  double memory_gib;
  int compute_units;
};

TEST(Partitioned, FollowsTheTableOfTheDocumentation) {
  for (const Row& row : {Row{"mi300x", "DPX", 2, 96, 152}, Row{"mi300x", "QPX/NPS4", 4, 48, 76},
                         Row{"mi325x", "DPX", 2, 128, 152}, Row{"mi325x", "QPX", 4, 64, 76},
                         Row{"mi325x", "CPX", 8, 32, 38}, Row{"mi350x", "DPX/NPS2", 2, 144, 128},
                         Row{"mi355x", "QPX", 4, 72, 64}, Row{"mi355x", "CPX/NPS2", 8, 36, 32}}) {
    const Accelerator a = must(partitioned(card(row.card), row.mode));
    EXPECT_EQ(a.devices_per_card, row.devices) << row.card << row.mode;
    EXPECT_EQ(a.memory, gib(row.memory_gib)) << row.card << row.mode;
    EXPECT_EQ(a.compute_units, row.compute_units) << row.card << row.mode;
  }
}

// MI300A: 228 CUs on 6 dies, 128 GB; three devices of two dies each.
TEST(Partitioned, TpxOfMi300aIsAThird) {
  const Accelerator a = must(partitioned(card("mi300a"), "tpx"));
  EXPECT_EQ(a.devices_per_card, 3);
  EXPECT_EQ(a.compute_units, 76);
  EXPECT_NEAR(in_gib(a.memory), 128.0 / 3, 1e-9);
}

TEST(Partitioned, IsWrittenInSeveralWays) {
  for (const char* mode : {"CPX/NPS4", "cpx/nps4", "cpx-nps4", "CPX NPS4", "cpx+nps4"}) {
    EXPECT_EQ(must(partitioned(card("mi300x"), mode)).id, "mi300x/cpx/nps4") << mode;
  }
}

TEST(Partitioned, SpxIsTheCard) {
  EXPECT_EQ(must(partitioned(card("mi300x"), "SPX")).memory, gib(192));
  EXPECT_EQ(must(partitioned(card("mi300x"), "spx")).id, "mi300x");
  EXPECT_EQ(must(partitioned(card("rx-7900-xtx"), "SPX")).id, "rx-7900-xtx");
}

TEST(Partitioned, RefusesModesThatTheCardLacks) {
  for (const auto& [name, mode] :
       {std::pair{"mi300x", "TPX"}, std::pair{"mi300x", "SPX/NPS4"}, std::pair{"mi300x", ""},
        std::pair{"mi300x", "CPX/NPS3"}, std::pair{"mi355x", "CPX/NPS4"}, std::pair{"mi250", "CPX"},
        std::pair{"rx-7900-xtx", "CPX"}}) {
    const auto a = partitioned(card(name), mode);
    ASSERT_FALSE(a.has_value()) << name << mode;
    EXPECT_EQ(a.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(a.error().value, mode);
  }
  EXPECT_NE(partitioned(card("mi300x"), "TPX").error().expected.find("CPX/NPS4"),
            std::string::npos);
}

// A card of two dies is two devices already: MI250 halved in the catalogue.
TEST(Partitioned, Mi250IsTwoDevicesWithoutAMode) {
  EXPECT_EQ(card("mi250").devices_per_card, 2);
  EXPECT_EQ(card("mi250").memory, gib(64));
}

TEST(Partitioned, IsFoundByItsName) {
  const Accelerator& device = card("MI300X/CPX");
  EXPECT_EQ(device.id, must(partitioned(card("mi300x"), "CPX")).id);
  EXPECT_EQ(device.card, "mi300x");
  EXPECT_EQ(card("mi300x/cpx/nps4").id, "mi300x/cpx/nps4");
  const auto catalogue = must(AcceleratorCatalogue::load(must(Image::open(CAIRN_IMAGE_FILE))));
  EXPECT_FALSE(catalogue.find("mi300x/cpx/nps3"));
  EXPECT_FALSE(catalogue.find("rx-7900-xtx/cpx"));
}

}  // namespace
}  // namespace cairn
