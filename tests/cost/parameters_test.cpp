#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "cairn/cost/kernel_parameters.h"
#include "cairn/cost/power.h"
#include "cairn/data/yaml.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::accelerator;
using test::must;

// Strix Halo: hipBLASLt is the reference; before build 8000 rocBLAS could be chosen and
// was far slower (https://github.com/lhl/strix-halo-testing: pp512 of Llama 2 7B rises
// from 348 to 884 tokens/s with hipBLASLt).
TEST(Options, ChooseBetweenRocblasAndHipblaslt) {
  const Accelerator& halo = accelerator("ryzen-ai-max-395");
  const auto path = [&](KernelOptions options) {
    return *must(test::cost_data().parameters("llama.cpp", halo, options)).path("f16", 512);
  };
  KernelOptions options;
  EXPECT_EQ(path(options).kernel, "hipblaslt");
  options.build = 6000;
  EXPECT_EQ(path(options).kernel, "hipblaslt");
  const double with = path(options).efficiency.value;
  options.hipblaslt = false;
  EXPECT_EQ(path(options).kernel, "rocblas");
  EXPECT_GT(with / path(options).efficiency.value, 884.0 / 348);
  options.build = 9000;
  EXPECT_EQ(path(options).kernel, "hipblaslt");
}

TEST(Options, FlashAttentionChangesAttention) {
  const Accelerator& halo = accelerator("ryzen-ai-max-395");
  KernelOptions off;
  off.flash_attention = false;
  const auto with = must(test::cost_data().parameters("llama.cpp", halo, {}));
  const auto without = must(test::cost_data().parameters("llama.cpp", halo, off));
  EXPECT_GT(with.attention_decode.value, without.attention_decode.value);
  EXPECT_EQ(with.memory_efficiency.value, without.memory_efficiency.value);
}

TEST(Parameters, EveryGpuOfAnEngineHasSome) {
  for (const Accelerator& a : test::accelerators().all()) {
    if (!a.is_gpu) continue;
    for (const char* engine : {"llama.cpp", "vllm"}) {
      EXPECT_TRUE(test::cost_data().parameters(engine, a, {}).has_value()) << engine << " " << a.id;
    }
  }
}

TEST(Parameters, UnknownArchitecturesTakeTheVendorsAndSaySo) {
  using Scope = KernelParameters::Scope;
  Accelerator a = accelerator("mi300x");
  EXPECT_EQ(must(test::cost_data().parameters("vllm", a, {})).scope, Scope::architecture);
  a.architecture = "cdna99";
  a.target = "gfx9999";
  EXPECT_NE(must(test::cost_data().parameters("vllm", a, {})).scope, Scope::architecture);
  // An empty target matches nothing.
  a.target.clear();
  EXPECT_NE(must(test::cost_data().parameters("vllm", a, {})).scope, Scope::architecture);
}

TEST(Parameters, UnknownEnginesAndLinksAreUnsupported) {
  const auto engine = test::cost_data().parameters("tgi", accelerator("mi300x"), {});
  ASSERT_FALSE(engine.has_value());
  EXPECT_EQ(engine.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(engine.error().value, "tgi");
  const auto link = test::cost_data().link("carrier-pigeon");
  ASSERT_FALSE(link.has_value());
  EXPECT_EQ(link.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(link.error().value, "carrier-pigeon");
}

constexpr const char* kKernels =
    "engine: toy\n"                                          // 1
    "unpack_operations: [{types: [q4_0], operations: 4}]\n"  // 2
    "architectures:\n"                                       // 3
    "  - match: [any]\n"                                     // 4
    "    launch_us: {value: 2, sigma: 0.1}\n"                // 5
    "    step_us: {value: 100, sigma: 0.1}\n"                // 6
    "    sequence_us: {value: 1, sigma: 0.1}\n"              // 7
    "    memory_efficiency: {value: 0.8, sigma: 0.1}\n"      // 8
    "    vector_efficiency: {value: 0.5, sigma: 0.1}\n"      // 9
    "    attention_decode: {value: 0.6, sigma: 0.1}\n"       // 10
    "    attention_prefill: {value: 0.3, sigma: 0.1}\n"      // 11
    "    attention_compute: fp16\n"                          // 12
    "    matmul: [{types: ['*'], kernel: k, compute: fp16,"  // 13
    " efficiency: {value: 0.5, sigma: 0.1}}]\n"
    "recurrence: {by_chunks: true, efficiency: {value: 0.2, sigma: 0.1}}\n";

constexpr const char* kHost =
    "flops_per_byte: {value: 20, sigma: 0.1}\ncopy: {value: 0.5, sigma: 0.1}\n"
    "handover_us: {value: 10, sigma: 0.1}\nrow_start_us: {value: 30, sigma: 0.1}\n"
    "row_copy: {value: 0.25, sigma: 0.1}\ngpu_tokens: {value: 32}\n"
    "fabric_from_gb_s: {value: 130}\n";

Result<CostData> load(const std::string& kernels, const std::string& links,
                      const std::string& power) {
  const std::string path = testing::TempDir() + "cost_test.image";
  std::vector<Document> documents;
  documents.push_back(must(parse_yaml(kernels, "cost/kernels/toy.yaml")));
  documents.push_back(must(parse_yaml(links, "cost/links.yaml")));
  documents.push_back(must(parse_yaml(power, "cost/power.yaml")));
  documents.push_back(must(parse_yaml("model_floor: {value: 0.2}\ntransferred: {value: 1.5}\n",
                                      "cost/uncertainty.yaml")));
  documents.push_back(must(parse_yaml(kHost, "cost/host.yaml")));
  if (!write_image(path, documents)) throw std::runtime_error("no image");
  auto out = CostData::load(must(Image::open(path)));
  std::remove(path.c_str());
  return out;
}
constexpr const char* kLinks =
    "links:\n  - link: wire\n    latency_us: {value: 3, sigma: 0.1}\n"
    "    efficiency: {value: 0.5, sigma: 0.1}\n";
constexpr const char* kPower =
    "memory_bound: {value: 0.8, sigma: 0.1}\ncompute_bound: {value: 0.9, sigma: 0.1}\n"
    "idle_fraction: {value: 0.1}\n";

TEST(CostFiles, AreReadInSeconds) {
  const CostData data = must(load(kKernels, kLinks, kPower));
  const KernelParameters k = must(data.parameters("toy", test::round_device(), {}));
  EXPECT_DOUBLE_EQ(k.launch.value, 2e-6);
  EXPECT_DOUBLE_EQ(k.step.value, 1e-4);
  EXPECT_EQ(k.unpack("q4_0"), 4);
  EXPECT_EQ(k.unpack("bf16"), 0);
  EXPECT_TRUE(k.recurrence.by_chunks);
  EXPECT_DOUBLE_EQ(k.recurrence.efficiency.value, 0.2);
  EXPECT_FALSE(k.masks_chosen);
  EXPECT_EQ(k.composed_of("indexer"), 1);
  EXPECT_DOUBLE_EQ(data.host().handover.value, 1e-5);
  EXPECT_DOUBLE_EQ(data.host().row_start.value, 3e-5);
  EXPECT_DOUBLE_EQ(data.host().fabric_from.value(), 130e9);
  EXPECT_EQ(k.id, "toy on any");
  EXPECT_DOUBLE_EQ(must(data.link("wire")).latency.value, 3e-6);
  EXPECT_EQ(data.power().idle_fraction, 0.1);
  EXPECT_EQ(data.uncertainty().model_floor, 0.2);
  EXPECT_EQ(data.uncertainty().transferred, 1.5);
}

struct Mistake {
  const char* from;
  const char* to;
  const char* where;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(CostFiles, MistakesInKernelsAreToldWithTheirLine) {
  constexpr std::array<Mistake, 6> kMistakes{{
      {"launch_us: {value: 2, sigma: 0.1}", "launch_us: {value: 2}", "cost/kernels/toy.yaml:5"},
      {"launch_us: {value: 2,", "launch_us: {value: fast,", "cost/kernels/toy.yaml:5"},
      {"step_us: {value: 100,", "step_us: {value: -1,", "cost/kernels/toy.yaml:6"},
      {"attention_compute: fp16", "attention_compute: fp17", "cost/kernels/toy.yaml:12"},
      {"compute: fp16,", "compute: 16,", "cost/kernels/toy.yaml:13"},
      {"operations: 4", "operations: many", "cost/kernels/toy.yaml:2"},
  }};
  for (const Mistake& m : kMistakes) {
    const CostData data = must(load(replaced(kKernels, m.from, m.to), kLinks, kPower));
    const auto k = data.parameters("toy", test::round_device(), {});
    ASSERT_FALSE(k.has_value()) << m.to;
    EXPECT_EQ(k.error().where, m.where) << k.error().to_string();
  }
}

TEST(CostFiles, MistakesInLinksAndPowerAreToldWithTheirLine) {
  const auto link = load(kKernels, replaced(kLinks, "value: 0.5", "value: half"), kPower);
  ASSERT_FALSE(link.has_value());
  EXPECT_EQ(link.error().where, "cost/links.yaml:4");
  const auto missing = load(kKernels, "links:\n  - link: wire\n", kPower);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().field, "latency_us");
  const auto power = load(kKernels, kLinks, replaced(kPower, "{value: 0.1}", "{value: 2}"));
  ASSERT_FALSE(power.has_value());
  EXPECT_EQ(power.error().where, "cost/power.yaml:3");
}

// 20 W idle of 120 W: half of the time streaming memory, a tenth in matrix products.
TEST(Power, LiesBetweenIdleAndBoard) {
  Accelerator a = test::round_device();
  a.board_power = Watts(120);
  a.idle_power = Watts(20);
  const PowerParameters p{{0.8, 0.2}, {0.9, 0.1}, 0.1};
  StepTime step;
  step.total = Seconds(1);
  step.memory_bound = Seconds(0.5);
  step.compute_bound = Seconds(0.1);
  const auto e = power_during(step, a, p);
  ASSERT_TRUE(e.has_value());
  EXPECT_DOUBLE_EQ(e->load.value(), 20 + 100 * (0.8 * 0.5 + 0.9 * 0.1));  // 69 W
  EXPECT_EQ(e->idle, Watts(20));
  a.idle_power.reset();
  EXPECT_DOUBLE_EQ(power_during(step, a, p)->idle.value(), 12);
  for (double memory = 0; memory <= 1; memory += 0.05) {
    step.memory_bound = Seconds(memory);
    step.compute_bound = Seconds(1 - memory);
    const auto w = power_during(step, a, p);
    EXPECT_GE(w->load, w->idle);
    EXPECT_LE(w->load, *a.board_power);
  }
  a.board_power.reset();
  EXPECT_FALSE(power_during(step, a, p).has_value());
  a.board_power = Watts(120);
  EXPECT_FALSE(power_during(StepTime{}, a, p).has_value());
}

}  // namespace
}  // namespace cairn
