#include "cairn/predict/placed_stages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixture.h"

namespace cairn {
namespace {

using test::deployment;
using test::knowledge;
using test::must;
using test::request;
using test::times;

DeploymentRequest placed(std::string_view gpu, double host_gb_s) {
  DeploymentRequest r = request(gpu, "llama.cpp", "q4_k_m");
  if (host_gb_s > 0) r.host_bandwidth = BytesPerSecond(host_gb_s * 1e9);
  return r;
}

struct Published {
  const char* model;
  std::int64_t layers = -1;  // --ngl
  std::int64_t experts = 0;  // --n-cpu-moe
  double tokens_per_s = 0;
};

// RTX 2080 beside an i9-10900X with four channels of DDR4 (102 GB/s), Q4_K_M, by the author
// of https://github.com/AlexsJones/llmfit/pull/774, .../778 and .../755; the prompts are
// short, so the context hardly counts.
TEST(HostMemory, DecodesAsFastAsPublishedRuns) {
  const std::vector<Published> runs{{"qwen3-14b", 32, 0, 16.9},
                                    {"phi-4", 32, 0, 16.7},
                                    {"qwen2.5-14b-instruct", 42, 0, 20.8},
                                    {"qwen3-30b-a3b", -1, 36, 33.7}};
  for (const Published& run : runs) {
    DeploymentRequest r = placed("rtx-2080", 102.4);
    if (run.layers >= 0) r.places.gpu_layers = run.layers;
    if (run.experts > 0) r.places.host_expert_layers = run.experts;
    const RequestTimes t = times(deployment(run.model, r));
    const double rate = 1 / t.decode_mean(1, 64, 200).total.value();
    EXPECT_LT(rate / run.tokens_per_s, 1.3) << run.model;
    EXPECT_GT(rate / run.tokens_per_s, 1 / 1.3) << run.model;
  }
}

// Qwen3.6 27B in Q6_K on four RTX 3090, cut by rows
// (https://github.com/LottoLottoLotto/4x3090-llm-benchmarks): slower than by layers, 33.1.
TEST(Places, RowsOfFourCardsAreAsSlowAsPublished) {
  DeploymentRequest r = request("rtx-3090", "llama.cpp", "q6_k", {.pp = 4});
  r.places.split = SplitMode::row;
  const RequestTimes t = times(deployment("qwen3.6-27b", r));
  EXPECT_NEAR(1 / t.decode_mean(1, 0, 128).total.value() / 19.0, 1, 0.3);
  EXPECT_NEAR(2048 / t.prefill(2048).total.value() / 150, 1, 0.3);
}

// gpt-oss 120B on an RTX 5090, every expert in host memory: 245.6 tokens/s of a prompt of 512
// (https://github.com/weiso131/schedcp/blob/HEAD/workloads/llama.cpp/README.md).
TEST(HostMemory, PromptsWaitForCopiesOfWeights) {
  DeploymentRequest r = request("rtx-5090", "llama.cpp", "mxfp4_moe");
  r.places.host_expert_layers = kEveryLayer;
  const RequestTimes t = times(deployment("gpt-oss-120b", r));
  const StepTime prompt = t.prefill(512);
  EXPECT_NEAR(512 / prompt.total.value() / 245.6, 1, 0.3);
  // 36 layers of 128 experts of 3 x 2880 x 2880 weights of 4.25 bits over PCIe 5.0 x16.
  const double bytes = 36.0 * 128 * 3 * 2880 * 2880 * 4.25 / 8;
  EXPECT_GT(prompt.from_host.value(), 0.95 * bytes / 63.0e9);
  EXPECT_LT(prompt.from_host.value(), prompt.total.value());
  // A step of fewer than 32 tokens copies nothing and is the processor's.
  const StepTime few = t.prefill(16);
  EXPECT_LT(few.compute_bound + few.memory_bound, 0.5 * few.total);
}

TEST(HostMemory, AWholeModelThereIsReadOncePerToken) {
  DeploymentRequest r = placed("rx-7900-xtx", 80);
  r.places.gpu_layers = 0;
  const Deployment d = deployment("llama-3.1-8b", r);
  const StepTime step = times(d).decode_mean(1, 0, 1);
  // 4.58 GiB of Q4_K_M without the table that is only looked up (bartowski's file: 4.92 GB).
  const double least = 4.58 * kGiB / 80e9;
  EXPECT_GT(step.total.value(), least);
  EXPECT_LT(step.total.value(), 2 * least);
  EXPECT_NEAR(step.from_host / step.total, 1, 0.05);
  EXPECT_DOUBLE_EQ(step.memory_bound.value(), 0);
  // Half of it on the card takes about half of the time.
  r.places.gpu_layers = 16;
  EXPECT_LT(times(deployment("llama-3.1-8b", r)).decode_mean(1, 0, 1).total, 0.65 * step.total);
}

TEST(HostMemory, IsThatOfAUsualMachineUnlessOneIsNamed) {
  DeploymentRequest r = placed("rx-7900-xtx", 0);
  r.places.gpu_layers = 20;
  const HostMemory usual = must(host_memory(deployment("llama-3.1-8b", r), knowledge()));
  const Host& host = *must(knowledge().hosts.find(usual.host));
  EXPECT_EQ(host.kind, HostKind::desktop);
  EXPECT_EQ(usual.bandwidth, *host.memory_bandwidth);
  // PCIe 4.0 x16 of the card: 16 lanes of 16 GT/s, 128b/130b.
  EXPECT_NEAR(usual.link.value(), 16 * 16e9 / 8 * 128 / 130, 1e8);
  r.host = must(knowledge().hosts.find("romed8-2t"));
  EXPECT_NEAR(must(host_memory(deployment("llama-3.1-8b", r), knowledge())).bandwidth.value(),
              204.8e9, 1e6);
}

TEST(HostMemory, OfAnApuIsItsOwn) {
  DeploymentRequest r = placed("ryzen-ai-max-395", 0);
  r.places.gpu_layers = 20;
  const HostMemory memory = must(host_memory(deployment("llama-3.1-8b", r), knowledge()));
  EXPECT_TRUE(memory.host.empty());
  EXPECT_EQ(memory.bandwidth, test::accelerator("ryzen-ai-max-395").bandwidth);
}

Seconds one_token(const DeploymentRequest& r) {
  return times(deployment("llama-3.1-8b", r)).decode_mean(1, 0, 1).total;
}

TEST(Places, SharesOfLayersDoNotChangeASingleStream) {
  DeploymentRequest r = placed("rx-7900-xtx", 0);
  const Seconds alone = one_token(r);
  r.layout.pp = 2;
  r.places.tensor_split = {3, 1};
  const Seconds uneven = one_token(r);
  r.places.tensor_split = {1, 1};
  const Seconds even = one_token(r);
  // The layers follow one another wherever they are; hosts' fixed times come twice.
  EXPECT_NEAR(uneven / even, 1, 0.01);
  EXPECT_NEAR(uneven / alone, 1, 0.15);
  r.places.tensor_split = {1, 0};
  EXPECT_NEAR(one_token(r) / alone, 1, 1e-9);
  r.places = {};
  r.places.split = SplitMode::none;
  EXPECT_NEAR(one_token(r) / alone, 1, 1e-9);
}

TEST(Places, RowsOfTwoCardsHalveTheProductsAndPayForTheLink) {
  DeploymentRequest r = placed("rx-7900-xtx", 0);
  const StepTime alone = times(deployment("llama-3.1-8b", r)).decode_mean(1, 0, 1);
  r.layout.pp = 2;
  r.places.split = SplitMode::row;
  const StepTime cut = times(deployment("llama-3.1-8b", r)).decode_mean(1, 0, 1);
  const double ffn = cut.of(TimeClass::dense_ffn) / alone.of(TimeClass::dense_ffn);
  EXPECT_GT(ffn, 0.5);
  EXPECT_LT(ffn, 0.7);
  EXPECT_GT(cut.of(TimeClass::communication), Seconds{});
  // Seven products a layer of 32 and the head, each started on the other card too.
  EXPECT_GE(cut.of(TimeClass::communication).value(),
            (7 * 32 + 1) * knowledge().cost.host().row_start.value);
}

}  // namespace
}  // namespace cairn
