#include "cairn/hardware/unified_memory.h"

#include <gtest/gtest.h>

#include "../must.h"
#include "cairn/hardware/catalogue.h"

namespace cairn {
namespace {

using test::must;

class UnifiedMemoryTest : public ::testing::Test {
 protected:
  Image image_ = must(Image::open(CAIRN_IMAGE_FILE));
  UnifiedMemory memory_ = must(UnifiedMemory::load(image_));
  AcceleratorCatalogue accelerators_ = must(AcceleratorCatalogue::load(image_));
  const Accelerator& halo_ = *must(accelerators_.find("strix-halo"));  // 128 GiB
};

// 512 MiB set aside, half of the other 127.5 GiB mapped. HIP allocates in the larger of
// both, Vulkan in either.
TEST_F(UnifiedMemoryTest, DefaultsAreTheKernels) {
  const auto pools = must(memory_.pools(halo_, "llama.cpp", {}, gib(40)));
  ASSERT_TRUE(pools);
  EXPECT_EQ(pools->carve_out, gib(0.5));
  EXPECT_EQ(pools->gtt, gib(63.75));
  EXPECT_EQ(pools->usable(), gib(63.75));
  EXPECT_EQ(must(memory_.pools(halo_, "llama.cpp-vulkan", {}, gib(40)))->usable(), gib(64.25));
  EXPECT_TRUE(pools->parameters.empty());
}

// 120 GiB are 31457280 pages of 4 KiB, as
// https://whylucian.github.io/softab/docs/hardware-specs.html has them.
TEST_F(UnifiedMemoryTest, NeedsBeyondTheDefaultTakeParameters) {
  const auto pools = must(memory_.pools(halo_, "llama.cpp", {}, gib(119.4)));
  ASSERT_EQ(pools->parameters.size(), 3U);
  EXPECT_EQ(pools->parameters[0].name, "ttm.pages_limit");
  EXPECT_EQ(pools->parameters[0].value, 31457280);
  EXPECT_EQ(pools->parameters[2].name, "amdgpu.gttsize");
  EXPECT_EQ(pools->parameters[2].value, 120 * 1024);
  // The system needs some of it, too.
  EXPECT_TRUE(must(memory_.pools(halo_, "llama.cpp", {}, gib(126)))->parameters.empty());
}

TEST_F(UnifiedMemoryTest, SettingsAreTakenAndHaveToFitTheMachine) {
  const UnifiedSetting setting{gib(96), gib(16)};
  EXPECT_EQ(must(memory_.pools(halo_, "llama.cpp", setting, gib(1)))->usable(), gib(96));
  EXPECT_EQ(must(memory_.pools(halo_, "llama.cpp-vulkan", setting, gib(1)))->usable(), gib(112));
  EXPECT_FALSE(memory_.pools(halo_, "llama.cpp", {gib(96), gib(64)}, gib(1)));
}

// A setting that gives too little is no reason to be silent: 41 GiB of 128 can be had. Beside
// a carve-out of 96 GiB only 32 are left to map, so it has to shrink.
TEST_F(UnifiedMemoryTest, SettingsThatGiveTooLittleTakeParameters) {
  const auto small = must(memory_.pools(halo_, "llama.cpp", {gib(0.5), gib(16)}, gib(40.6)));
  ASSERT_EQ(small->parameters.size(), 3U);
  EXPECT_EQ(small->parameters[2].value, 41 * 1024);
  EXPECT_FALSE(small->smaller_carve_out);
  const auto large = must(memory_.pools(halo_, "llama.cpp", {gib(96), {}}, gib(100)));
  ASSERT_EQ(large->parameters.size(), 3U);
  EXPECT_EQ(large->parameters[2].value, 100 * 1024);
  EXPECT_EQ(large->smaller_carve_out, gib(0.5));
}

// The engine's share of a machine's memory as it is set up: HIP the larger pool, Vulkan both.
TEST_F(UnifiedMemoryTest, MachinesAreSetUpForEveryEngine) {
  accelerators_.set_up({gib(0.5), gib(16)}, memory_, {"llama.cpp", "llama.cpp-vulkan"});
  EXPECT_EQ(halo_.capacity("llama.cpp"), gib(16));
  EXPECT_EQ(halo_.capacity("llama.cpp-vulkan"), gib(16.5));
  const Accelerator& card = *must(accelerators_.find("rx-7900-xtx"));
  EXPECT_EQ(card.capacity("llama.cpp"), card.capacity());
}

// https://github.com/noamsto/nix-amd-ai/issues/42: a carve-out of 4 GiB and 96 GiB of GTT,
// of which HIP reports 98304 MiB.
TEST_F(UnifiedMemoryTest, HipTakesTheLargerPool) {
  const UnifiedSetting setting{gib(4), gib(96)};
  EXPECT_EQ(must(memory_.pools(halo_, "llama.cpp", setting, gib(1)))->usable(), mib(98304));
}

TEST_F(UnifiedMemoryTest, IsNothingForCardsWithMemoryOfTheirOwn) {
  const Accelerator& card = *must(accelerators_.find("rx-7900-xtx"));
  EXPECT_FALSE(must(memory_.pools(card, "llama.cpp", {}, gib(1))));
  EXPECT_FALSE(must(memory_.pools(halo_, "tensorrt-llm", {}, gib(1))));
}

}  // namespace
}  // namespace cairn
