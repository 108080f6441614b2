// What a search keeps of memory is what each deployment would have worked out by itself.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "fixture.h"

namespace cairn {
namespace {

using test::must;

struct Case {
  std::string model;
  std::string engine;
  std::string weights;
  Layout layout;
};

const std::vector<Case> kCases{
    {"qwen3-8b", "llama.cpp", "q4_k_m", {}},
    {"qwen3-8b", "llama.cpp", "q4_k_m", {.pp = 2}},
    {"gemma-3-27b", "llama.cpp", "q6_k", {}},
    {"gpt-oss-20b", "vllm", "", {.tp = 2}},
    {"gpt-oss-20b", "sglang", "", {}},
    {"qwen3-30b-a3b", "vllm", "", {.tp = 2, .pp = 2}},
    {"llama-3.1-8b", "tensorrt-llm", "bf16", {}},
    {"qwen3-8b", "transformers", "bf16", {}},
};
constexpr std::array kAccelerators{"mi300x", "h100-sxm", "rtx-4090", "mi210"};

void expect_equal(const MemoryEstimate& a, const MemoryEstimate& b) {
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    EXPECT_EQ(a.devices[i].device, b.devices[i].device);
    EXPECT_EQ(a.devices[i].capacity, b.devices[i].capacity);
    EXPECT_EQ(a.devices[i].required, b.devices[i].required);
    ASSERT_EQ(a.devices[i].parts.size(), b.devices[i].parts.size());
    for (std::size_t j = 0; j < a.devices[i].parts.size(); ++j) {
      EXPECT_EQ(a.devices[i].parts[j].name, b.devices[i].parts[j].name);
      EXPECT_EQ(a.devices[i].parts[j].bytes, b.devices[i].parts[j].bytes);
    }
  }
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.fits, b.fits);
  EXPECT_EQ(a.kv_tokens, b.kv_tokens);
  EXPECT_EQ(a.resident_sequences, b.resident_sequences);
}

// One cache a model, asked twice by each of several devices in turn.
TEST(MemoryCache, GivesWhatItWasNotAskedBefore) {
  int compared = 0;
  for (const Case& c : kCases) {
    MemoryCache cache;
    for (const int round : {0, 1}) {
      for (const char* gpu : kAccelerators) {
        const Accelerator& a = test::accelerator(gpu);
        const auto r = test::request(gpu, c.engine, c.weights, c.layout);
        const auto d = resolve(test::model(c.model), r, test::knowledge());
        if (!d) continue;
        for (const std::int64_t sequences : {1, 3}) {
          MemoryDemand demand = memory_demand(*d, 3000 + 1000 * round, sequences);
          const MemoryEstimate alone = must(estimate_memory(demand, *d->engine, a));
          demand.cache = &cache;
          expect_equal(must(estimate_memory(demand, *d->engine, a)), alone);
          expect_equal(must(estimate_memory(demand, *d->engine, a)), alone);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 60);
}

// The largest batch is resident, and one sequence more is not.
TEST(LargestBatch, IsTheLast) {
  int compared = 0;
  for (const Case& c : kCases) {
    for (const char* gpu : kAccelerators) {
      const Accelerator& a = test::accelerator(gpu);
      const auto r = test::request(gpu, c.engine, c.weights, c.layout);
      const auto d = resolve(test::model(c.model), r, test::knowledge());
      if (!d) continue;
      constexpr std::int64_t kLimit = 100'000;
      MemoryDemand demand = memory_demand(*d, 8192, 1);
      const std::int64_t most = must(largest_batch(demand, *d->engine, a, kLimit));
      for (const std::int64_t n : {most, most + 1}) {
        if (n < 1 || n > kLimit) continue;
        demand.sequences = n;
        const MemoryEstimate e = must(estimate_memory(demand, *d->engine, a));
        EXPECT_EQ(e.fits && e.resident_sequences >= static_cast<double>(n), n == most)
            << c.model << " on " << gpu << " with " << c.engine << ", " << n;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace cairn
