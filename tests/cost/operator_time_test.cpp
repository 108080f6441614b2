#include "cairn/cost/operator_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fixture.h"

namespace cairn {
namespace {

using test::attention;
using test::decode;
using test::linear;
using test::prefill;
using test::type;

class OperatorTimeTest : public testing::Test {
 protected:
  OperatorTime time(const Operator& op, std::string_view weights, const Step& step) const {
    return time_operator(op, weights.empty() ? nullptr : &type(weights), type("f16"), step, device_,
                         Bytes{});
  }
  Accelerator accelerator_ = test::round_device();
  DeviceModel device_ = test::device_of(accelerator_);
};

// 4096 x 4096 weights of 2 bytes and 2 x 4096 activations of 2 bytes: 33570816 bytes at
// 800 GB/s are 41.96 us.
TEST_F(OperatorTimeTest, OneTokenStreamsTheWeights) {
  const OperatorTime t = time(linear(4096, 4096), "bf16", decode(1, 0));
  EXPECT_EQ(t.bytes, Bytes(33570816));
  EXPECT_EQ(t.flops, Flops(2.0 * 4096 * 4096));
  EXPECT_NEAR(in_us(t.memory), 33570816 / 800e3, 1e-9);
  EXPECT_EQ(t.compute, Seconds{});
  EXPECT_NEAR(in_us(t.total), 5 + 41.96352, 1e-6);
  EXPECT_EQ(t.limit, Limit::memory);
}

// Q4_K: 144 bytes for 256 weights, 9437184 in all; 10 operations a weight at half of
// 50 TFLOPS are 6.71 us, which loading does not hide.
TEST_F(OperatorTimeTest, UnpackingAddsToStreaming) {
  const OperatorTime t = time(linear(4096, 4096), "q4_k", decode(1, 0));
  EXPECT_NEAR(in_us(t.memory), (9437184 + 16384) / 800e3, 1e-9);
  EXPECT_NEAR(in_us(t.unpack), 16777216 * 10 / 25e6, 1e-9);
  EXPECT_NEAR(in_us(t.total), 5 + 11.81696 + 6.7108864, 1e-6);
}

// A matrix-vector kernel unpacks once a token: 2 x 6.71 us and 11.8 us of loading. The
// matrix kernel computes a tile of 16 tokens, 2 x 16 x 4096^2 FLOPs on half of the
// slots (32 tiles, 64 units) at half of 100 TFLOPS: 21.5 us. It is taken where that
// and loading overlap to less.
TEST_F(OperatorTimeTest, FewTokensTakeTheFasterOfTwoKernels) {
  const OperatorTime two = time(linear(4096, 4096), "q4_k", decode(2, 0));
  EXPECT_NEAR(in_us(two.compute), 2 * 16 * 16.777216 / 50 / 0.5, 1e-6);
  EXPECT_NEAR(in_us(two.unpack), 6.7108864, 1e-6);
  device_.kernels.paths.front().path.efficiency.value = 0.25;
  const OperatorTime vector = time(linear(4096, 4096), "q4_k", decode(2, 0));
  EXPECT_EQ(vector.compute, Seconds{});
  EXPECT_NEAR(in_us(vector.unpack), 2 * 6.7108864, 1e-6);
  // Beyond its limit the matrix-vector kernel is not there to be taken.
  device_.kernels.matvec_tokens = 1;
  EXPECT_GT(time(linear(4096, 4096), "q4_k", decode(2, 0)).compute, Seconds{});
}

// 2 x 4096^3 FLOPs; 32 x 32 tiles of 128 x 128 on 64 units take 16.5 waves of 16 full
// ones: 137.44e9 / (50e12 x 1024/1056) = 2.83468 ms. Memory (126 us) is hidden.
TEST_F(OperatorTimeTest, ALargeProductIsLimitedByCompute) {
  const OperatorTime t = time(linear(4096, 4096), "f16", prefill(4096));
  EXPECT_NEAR(in_ms(t.compute), 137.438953472 / 50 * 1056 / 1024, 1e-6);
  EXPECT_NEAR(in_ms(t.compute), 2.83468, 1e-5);
  EXPECT_NEAR(t.total / t.compute, 1, 0.002);
  EXPECT_EQ(t.limit, Limit::compute);
}

// The p-norm of two equal terms is 2^(1/4) of one.
TEST_F(OperatorTimeTest, EqualTermsOverlapTo119Percent) {
  const Operator op = linear(4096, 4096);
  const OperatorTime t = time(op, "f16", prefill(4096));
  device_.kernels.memory_efficiency.value = t.memory / t.compute * 0.8;
  const OperatorTime equal = time(op, "f16", prefill(4096));
  EXPECT_NEAR(equal.memory / equal.compute, 1, 1e-9);
  EXPECT_NEAR((equal.total - equal.launch) / equal.compute, std::pow(2, 0.25), 1e-6);
}

// Position 4095 reads 4095 keys and values and writes one: 4096 x 2 x 8 x 128 halves
// for each of two sequences, at 600 GB/s.
TEST_F(OperatorTimeTest, DecodeAttentionReadsTheCache) {
  const OperatorTime t = time(attention(32, 8, 128), "", decode(2, 4094));
  EXPECT_EQ(t.bytes, Bytes(2.0 * 4096 * 2048 * 2));
  EXPECT_NEAR(in_us(t.total), 5 + 33554432 / 600e3, 1e-6);
  EXPECT_EQ(t.limit, Limit::memory);
}

// 512 queries see 256.5 positions on average: 2 x 512 x 32 x 256.5 x 256 FLOPs. Four
// heads share a KV head, 2048 rows fill the query tile to 2048/2112.
TEST_F(OperatorTimeTest, PrefillAttentionCountsCausalWork) {
  const OperatorTime t = time(attention(32, 8, 128), "", prefill(512));
  EXPECT_EQ(t.flops, Flops(2.0 * 512 * 32 * 256.5 * 256));
  EXPECT_NEAR(in_us(t.compute), 2151677952 / (30e6 * 2048 / 2112), 1e-6);
  EXPECT_EQ(t.limit, Limit::compute);
}

// A window of 1024 keeps 1024 positions however long the context is.
TEST_F(OperatorTimeTest, AWindowBoundsAttention) {
  Operator op = attention(32, 8, 128);
  op.attention.kind = AttentionKind::sliding;
  op.attention.window = 1024;
  EXPECT_EQ(time(op, "", decode(1, 30000)).total, time(op, "", decode(1, 5000)).total);
  EXPECT_LT(time(op, "", decode(1, 30000)).bytes, Bytes(1.01 * 1025 * 2048 * 2));
}

// 16 tokens choose 8 of 128 experts: 128 (1 - (15/16)^16) = 82.42 different ones, whose
// matrices of 768 x 2048 are read once.
TEST_F(OperatorTimeTest, ExpertsAreReadOncePerStep) {
  Operator op = linear(2048, 768);
  op.kind = OperatorKind::expert_linear;
  op.experts = 128;
  op.experts_per_token = 8;
  const double distinct = 128 * (1 - std::pow(15.0 / 16, 16));
  const OperatorTime t = time(op, "bf16", decode(16, 0));
  EXPECT_NEAR(t.bytes.value(), distinct * 2048 * 768 * 2 + 16 * (2048 + 768) * 2, 1);
  EXPECT_EQ(t.flops, Flops(2.0 * 16 * 8 * 2048 * 768));
  const OperatorTime one = time(op, "bf16", decode(1, 0));
  EXPECT_NEAR(one.bytes.value(), 8.0 * 2048 * 768 * 2 + (2048 + 768) * 2, 1);
}

// Where an engine masks what its indexer did not choose, every entry is read: 8192 positions
// instead of the best 512.
TEST_F(OperatorTimeTest, MaskedEntriesAreReadAll) {
  Operator op = attention(32, 8, 128);
  op.attention.index_topk = 512;
  const OperatorTime chosen = time(op, "", decode(1, 8191));
  EXPECT_EQ(chosen.bytes, Bytes(513.0 * 2048 * 2));
  device_.kernels.masks_chosen = true;
  const OperatorTime all = time(op, "", decode(1, 8191));
  EXPECT_EQ(all.bytes, Bytes(8193.0 * 2048 * 2));
  EXPECT_GT(all.flops, 15 * chosen.flops);
}

// A processor reads experts at 0.6 of its rate; a matrix kernel for few tokens at 0.25.
TEST_F(OperatorTimeTest, ExpertsMayComeSlower) {
  Operator op = linear(2048, 768);
  op.kind = OperatorKind::expert_linear;
  op.experts = 128;
  op.experts_per_token = 8;
  const OperatorTime usual = time(op, "bf16", decode(1, 0));
  device_.kernels.expert_memory = 0.6;
  EXPECT_NEAR(time(op, "bf16", decode(1, 0)).memory / usual.memory, 1 / 0.6, 1e-9);
  device_.kernels.expert_memory = 1;
  for (auto& typed : device_.kernels.paths) typed.path.few_experts_memory = 0.25;
  EXPECT_NEAR(time(op, "bf16", decode(1, 0)).memory / usual.memory, 4, 1e-9);
  const Step many = decode(64, 0);
  device_.kernels.matvec_tokens = 8;
  EXPECT_EQ(time(op, "bf16", many).memory, [&] {
    for (auto& typed : device_.kernels.paths) typed.path.few_experts_memory = 1;
    return time(op, "bf16", many).memory;
  }());
}

TEST_F(OperatorTimeTest, ANormIsItsLaunch) {
  Operator op;
  op.kind = OperatorKind::norm;
  op.input = op.output = 4096;
  const OperatorTime t = time(op, "", decode(1, 0));
  EXPECT_EQ(t.bytes, Bytes(8192 * 2));
  EXPECT_NEAR(in_us(t.total), 5 + 0.02048, 1e-6);
  EXPECT_EQ(t.limit, Limit::launch);
}

// What a step streams and fits the cache twice over is read at the cache's speed; half
// of it cached gives a miss every time.
TEST_F(OperatorTimeTest, ACacheServesWhatFits) {
  accelerator_.last_level_cache = mib(96);
  device_.kernels.cache_speedup = 2;
  const auto memory = [&](double resident) {
    return time_operator(linear(4096, 4096), &type("bf16"), type("f16"), decode(1, 0), device_,
                         mib(resident))
        .memory;
  };
  EXPECT_NEAR(memory(96) / memory(1000), 0.5, 1e-12);
  EXPECT_EQ(memory(192), memory(1000));
  EXPECT_NEAR(memory(128) / memory(1000), 0.75, 1e-12);  // 2 x 96/128 - 1 = half
}

TEST(TileUtilisation, CountsPaddingAndWaves) {
  MatmulPath path;
  // 32 x 4 tiles on 96 units: 1.33 waves in the time of 1.83.
  EXPECT_NEAR(tile_utilisation(4096, 512, 4096, path, 96), 128.0 / 176, 1e-12);
  // 20 tokens in a tile of 32; 32 tiles on 96 units.
  EXPECT_NEAR(tile_utilisation(4096, 20, 4096, path, 96), 20.0 / 32 * 32 / 80, 1e-12);
  // Cut in three along the inner dimension: 96 tiles.
  path.split_k = 8;
  EXPECT_NEAR(tile_utilisation(4096, 20, 4096, path, 96), 20.0 / 32 * 96 / 144, 1e-12);
  // An inner dimension of 1024 cannot be cut.
  EXPECT_NEAR(tile_utilisation(4096, 20, 1024, path, 96), 20.0 / 32 * 32 / 80, 1e-12);
  EXPECT_NEAR(tile_utilisation(100, 128, 4096, path, 0), 100.0 / 128, 1e-12);
}

TEST(Peak, FallsBackToAWiderType) {
  const Accelerator a = test::round_device();
  const DeviceModel d = test::device_of(a);
  EXPECT_EQ(d.peak(ComputeType::int8), tflops(200));
  EXPECT_EQ(d.peak(ComputeType::fp8), tflops(100));  // fp16 units
  EXPECT_EQ(d.peak(ComputeType::fp4), tflops(100));
  EXPECT_EQ(d.peak(ComputeType::f16_vector), tflops(50));
  EXPECT_EQ(d.peak(ComputeType::int4), tflops(100));
}

struct Sample {
  Operator op;
  const TensorType* type = nullptr;
};

Sample random_operator(std::mt19937& rng) {
  const auto pick = [&rng](std::initializer_list<int> values) {
    return *(values.begin() + static_cast<int>(rng() % values.size()));
  };
  const char* const kTypes[] = {"bf16", "q4_k", "q8_0", "mxfp4", "fp8", "f32", "iq3_s"};
  Sample s;
  s.type = &type(kTypes[rng() % 7]);
  switch (rng() % 5) {
    case 0:
      s.op = attention(pick({8, 32, 64}), pick({1, 4, 8}), pick({64, 128, 256}));
      break;
    case 1:
      s.op = linear(pick({512, 2048, 7168}), pick({256, 768, 4096}));
      s.op.kind = OperatorKind::expert_linear;
      s.op.experts = pick({8, 128, 256});
      s.op.experts_per_token = pick({1, 4, 8});
      break;
    case 2:
      s.op.kind = OperatorKind::norm;
      s.op.input = s.op.output = pick({64, 4096, 16384});
      s.type = nullptr;
      break;
    default:
      s.op = linear(pick({256, 4096, 8192, 28672}), pick({256, 4096, 28672, 151936}));
  }
  return s;
}

// Every engine on every accelerator of the catalogue it has parameters for.
std::vector<DeviceModel> all_devices() {
  std::vector<DeviceModel> out;
  for (const Accelerator& a : test::accelerators().all()) {
    for (const char* engine : {"llama.cpp", "llama.cpp-vulkan", "vllm"}) {
      auto k = test::cost_data().parameters(engine, a, {});
      if (!k || !a.is_gpu || !a.peak_of(ComputeType::f32_vector)) continue;
      DeviceModel d;
      d.accelerator = &a;
      d.kernels = *std::move(k);
      out.push_back(std::move(d));
    }
  }
  return out;
}

TEST(Sweep, TimesAreFiniteAndNeverBelowTheParts) {
  std::mt19937 rng(20260101);
  const std::vector<DeviceModel> devices = all_devices();
  ASSERT_GT(devices.size(), 100U);
  for (int i = 0; i < 20000; ++i) {
    const Sample s = random_operator(rng);
    const Step step{.sequences = static_cast<double>(1 + rng() % 512),
                    .tokens_per_sequence = rng() % 2 ? 1.0 : static_cast<double>(1 + rng() % 8192),
                    .context = static_cast<double>(rng() % 200000),
                    .output_tokens = 1};
    const DeviceModel& d = devices[rng() % devices.size()];
    const OperatorTime t =
        time_operator(s.op, s.type, type("f16"), step, d, gib(static_cast<double>(rng() % 80)));
    for (const Seconds part : {t.total, t.compute, t.memory, t.unpack, t.launch}) {
      ASSERT_TRUE(std::isfinite(part.value())) << d.kernels.id << " " << d.accelerator->id;
      ASSERT_GE(part, Seconds{});
    }
    ASSERT_GE(t.total, max(t.compute, t.memory + t.unpack));
    ASSERT_GT(t.total, Seconds{});
    ASSERT_LE(t.total, t.launch + t.compute + t.memory + t.unpack + Seconds(1e-12));
  }
}

TEST(Sweep, MoreContextIsNeverFaster) {
  std::mt19937 rng(7);
  const std::vector<DeviceModel> devices = all_devices();
  for (int i = 0; i < 2000; ++i) {
    const Sample s = random_operator(rng);
    const DeviceModel& d = devices[rng() % devices.size()];
    const double tokens = rng() % 2 ? 1 : 512;
    Seconds last{};
    for (double context = 0; context < 1e6; context = context * 1.5 + 1) {
      const Step step{
          .sequences = 4, .tokens_per_sequence = tokens, .context = context, .output_tokens = 4};
      const Seconds now = time_operator(s.op, s.type, type("f16"), step, d, Bytes{}).total;
      ASSERT_GE(now, last * (1 - 1e-12)) << d.kernels.id << " at " << context;
      last = now;
    }
  }
}

TEST(Sweep, MoreTokensAreNeverFasterOnOneMatrixPath) {
  std::mt19937 rng(11);
  const std::vector<DeviceModel> devices = all_devices();
  for (int i = 0; i < 2000; ++i) {
    const Sample s = random_operator(rng);
    const DeviceModel& d = devices[rng() % devices.size()];
    const auto path = [&](double tokens) {
      return s.type == nullptr ? nullptr : d.kernels.path(s.type->name, tokens);
    };
    Seconds last{};
    for (double tokens = 1; tokens <= 4096; tokens += tokens > 256 ? 37 : 1) {
      const Seconds now =
          time_operator(s.op, s.type, type("f16"), decode(tokens, 100), d, Bytes{}).total;
      if (s.op.kind != OperatorKind::expert_linear && path(tokens) == path(1)) {
        ASSERT_GE(now, last * (1 - 1e-9))
            << d.kernels.id << " " << d.accelerator->id << " at " << tokens << " tokens, "
            << s.op.input << " x " << s.op.output;
      }
      last = now;
    }
  }
}

TEST(Sweep, MoreBytesPerWeightAreNeverFasterToStream) {
  const Accelerator a = test::round_device();
  const DeviceModel d = test::device_of(a);
  Seconds last{};
  for (const char* name : {"q2_k", "q3_k", "q4_0", "q5_0", "q6_k", "q8_0", "bf16", "f32"}) {
    const OperatorTime t =
        time_operator(linear(4096, 4096), &type(name), type("f16"), decode(1, 0), d, Bytes{});
    EXPECT_GT(t.memory, last) << name;
    last = t.memory;
  }
}

}  // namespace
}  // namespace cairn
