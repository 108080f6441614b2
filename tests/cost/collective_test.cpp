#include "cairn/cost/collective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"

namespace cairn {
namespace {

using test::accelerator;
using test::must;

CollectiveModel links(std::string_view name, int devices) {
  return must(CollectiveModel::between(accelerator(name), devices, test::cost_data()));
}

// all_reduce.csv: published times of one all-reduce and bus bandwidths, from which
// time = 2 (n-1)/n S / bandwidth. Below 8 MiB behind a switch only direct algorithms
// (mscclpp) are compared: engines do not call NCCL there, whose small messages take
// 25 us and more.
TEST(AllReduce, IsNearThePublishedTimes) {
  const test::Sheet sheet("cost/all_reduce.csv");
  int large = 0;
  for (std::uint32_t i = 0; i < sheet.rows(); ++i) {
    const int n = static_cast<int>(sheet.number(i, "devices"));
    const double size = sheet.number(i, "bytes");
    const double value = sheet.number(i, "value");
    const double measured =
        sheet.text(i, "unit") == "us" ? value * 1e-6 : 2.0 * (n - 1) / n * size / (value * 1e9);
    const double predicted =
        links(sheet.text(i, "accelerator"), n).all_reduce(Bytes(size), n).value();
    const double factor = std::max(predicted / measured, measured / predicted);
    EXPECT_LT(factor, size >= kGiB ? 1.4 : 2.0)
        << sheet.text(i, "accelerator") << " x " << n << ", " << size << " bytes: predicted "
        << predicted * 1e6 << " us, measured " << measured * 1e6 << " us; "
        << sheet.text(i, "source_url");
    large += size >= kGiB ? 1 : 0;
  }
  EXPECT_GE(sheet.rows(), 40U);
  EXPECT_GE(large, 8);
}

// One MI300X link carries 64 GB/s, of which 0.71 is usable; a step takes 4.5 us.
TEST(AllReduce, TakesTheFastestAlgorithmOfAMesh) {
  const CollectiveModel m = links("mi300x", 8);
  const double link = 64e9 * 0.71;
  // One-shot: 4.5 us + 16 KiB / link = 4.86 us.
  EXPECT_NEAR(m.all_reduce(Bytes(16384), 8).value(), 4.5e-6 + 16384 / link, 1e-12);
  // Two-shot: 2 x 4.5 us + 2/8 of 1 GiB over one link at a time.
  EXPECT_NEAR(m.all_reduce(gib(1), 8).value(), 9e-6 + kGiB / 4 / link, 1e-9);
  EXPECT_EQ(m.all_reduce(gib(1), 1), Seconds{});
  EXPECT_NEAR(m.all_to_all(gib(1), 8).value(), 4.5e-6 + kGiB / 8 / link, 1e-9);
  EXPECT_NEAR(m.send(gib(1)).value(), 4.5e-6 + kGiB / link, 1e-9);
}

TEST(AllReduce, TwoOfAMeshHaveOneLinkBetweenThem) {
  const double link = 64e9 * 0.71;
  EXPECT_GE(links("mi300x", 2).all_reduce(gib(1), 2).value(), kGiB / link);
  EXPECT_GE(links("mi300x", 2).all_gather(gib(1), 2).value(), kGiB / 2 / link);
}

TEST(AllReduce, APartialMeshIsARingOverSingleLinks) {
  const double link = 50e9 * 0.71;
  EXPECT_NEAR(links("mi250", 8).all_reduce(gib(1), 8).value(),
              2 * 7 * 4.5e-6 + 2.0 * 7 / 8 * kGiB / link, 1e-9);
}

TEST(Between, MoreDevicesThanTheLinksJoinGoThroughPcie) {
  EXPECT_EQ(links("mi210", 4).link(), "xgmi");
  EXPECT_EQ(links("mi210", 8).link(), "pcie");
  EXPECT_EQ(links("rtx-a6000", 2).link(), "nvlink");
  EXPECT_EQ(links("rtx-a6000", 4).link(), "pcie");
  EXPECT_EQ(links("rtx-4090", 4).link(), "pcie");
  EXPECT_EQ(links("h100-sxm", 8).link(), "nvlink");
}

TEST(Between, SaysWhenNoLinkIsKnown) {
  const auto none = CollectiveModel::between(accelerator("ryzen-ai-max-395"), 2, test::cost_data());
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(none.error().value, "ryzen-ai-max-395");
}

TEST(Collectives, GrowWithSizeAndAreNeverNegative) {
  for (const char* name : {"mi300x", "mi250", "h100-sxm", "rtx-4090", "rtx-a6000", "mi355x"}) {
    for (const int n : {2, 4, 8}) {
      const CollectiveModel m = links(name, n);
      Seconds reduce{};
      Seconds gather{};
      Seconds exchange{};
      for (double size = 1; size < 1e11; size *= 1.7) {
        const Bytes s(size);
        EXPECT_GE(m.all_reduce(s, n), reduce) << name << " " << n << " " << size;
        EXPECT_GE(m.all_gather(s, n), gather) << name;
        EXPECT_GE(m.all_to_all(s, n), exchange) << name;
        EXPECT_TRUE(std::isfinite(m.all_reduce(s, n).value()));
        reduce = m.all_reduce(s, n);
        gather = m.all_gather(s, n);
        exchange = m.all_to_all(s, n);
      }
      EXPECT_GT(reduce, m.latency());
    }
  }
}

}  // namespace
}  // namespace cairn
