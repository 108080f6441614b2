#include "cairn/predict/request_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fixture.h"

namespace cairn {
namespace {

using test::deployment;
using test::request;
using test::times;

struct Case {
  const char* model;
  const char* gpu;
  const char* engine;
  Layout layout = {};
};

// Full attention, windows in five of six layers, latent attention, and experts.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases{{"llama-3.1-8b", "rx-7900-xtx", "llama.cpp"},
                                        {"llama-3.1-8b", "mi300x", "vllm"},
                                        {"gemma-3-27b", "mi300x", "vllm"},
                                        {"gemma-3-27b", "ryzen-ai-max-395", "llama.cpp"},
                                        {"deepseek-v3", "mi300x", "vllm", {.tp = 8}},
                                        {"qwen3-30b-a3b", "rtx-4090", "llama.cpp"},
                                        {"gpt-oss-20b", "ai-pro-r9700", "llama.cpp"}};
  return kCases;
}

Deployment of(const Case& c) { return deployment(c.model, request(c.gpu, c.engine, "", c.layout)); }

// Each step of the generation by itself.
double walked(const RequestTimes& t, double batch, double context, int tokens) {
  double sum = 0;
  for (int i = 0; i < tokens; ++i) sum += t.decode_step(batch, context + i).total.value();
  return sum / tokens;
}

TEST(DecodeMean, IsTheMeanOfTheStepsItStandsFor) {
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    for (const double context : {16.0, 700.0, 6000.0}) {
      for (const int tokens : {1, 128, 4000}) {
        const double mean = walked(t, 4, context, tokens);
        EXPECT_NEAR(t.decode_mean(4, context, tokens).total.value() / mean, 1, 0.005)
            << c.model << " on " << c.gpu << " from " << context << " by " << tokens;
      }
    }
  }
}

// Chunk by chunk, the last one shorter.
double walked_prefill(const RequestTimes& t, double tokens, double chunk) {
  double sum = 0;
  for (double at = 0; at < tokens; at += chunk) {
    const double size = std::min(chunk, tokens - at);
    for (const StepModel& stage : t.stages()) {
      sum += stage
                 .time({.sequences = 1,
                        .tokens_per_sequence = size,
                        .context = at,
                        .output_tokens = at + size >= tokens ? 1.0 : 0.0})
                 .total.value();
    }
  }
  return sum;
}

// A group that repeats the one before is not timed again; here each is timed by itself.
TEST(Step, IsTheSumOfItsOperators) {
  int repeated = 0;
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    const StepModel& model = t.stages().front();
    for (const double batch : {1.0, 6.0, 40.0, 300.0}) {
      for (const double tokens : {1.0, 512.0}) {
        const Step step{.sequences = batch,
                        .tokens_per_sequence = tokens,
                        .context = 700,
                        .output_tokens = batch};
        Seconds sum{};
        Seconds alone{};  // in each operator by its own kernels
        for (const GroupTime& g : model.explain(step)) {
          sum += g.time.total * g.group->count;
          alone += time_operator(g.group->op, g.group->type, *of(c).kv.type, step, model.device(),
                                 model.weight_bytes())
                       .total *
                   g.group->count;
          repeated += g.group->repeats ? 1 : 0;
        }
        const StepTime whole = model.time(step);
        const Seconds rest = whole.of(TimeClass::communication) + whole.of(TimeClass::host);
        EXPECT_NEAR(whole.total / (sum + rest), 1, 1e-12) << c.model << " on " << c.gpu;
        EXPECT_EQ(sum, alone);
      }
    }
  }
  EXPECT_GT(repeated, 50);
}

TEST(Prefill, IsTheSumOfItsChunks) {
  for (const Case& c : cases()) {
    const Deployment d = of(c);
    const RequestTimes t = times(d);
    const double chunk = d.engine->family == EngineFamily::llama_cpp
                             ? static_cast<double>(std::min(d.config.ubatch, d.config.batch))
                             : static_cast<double>(d.config.max_batched_tokens);
    for (const double chunks : {0.3, 1.0, 1.5, 7.0, 40.25}) {
      const double tokens = std::floor(chunk * chunks);
      EXPECT_NEAR(t.prefill(tokens).total.value() / walked_prefill(t, tokens, chunk), 1, 0.005)
          << c.model << " on " << c.gpu << ", " << tokens << " tokens";
    }
  }
}

TEST(Prefill, LongerPromptsAndContextsTakeLonger) {
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    Seconds last{};
    for (double tokens = 1; tokens < 40000; tokens = std::ceil(tokens * 1.3)) {
      const Seconds now = t.prefill(tokens).total;
      EXPECT_GE(now, last) << c.model << " on " << c.gpu << ", " << tokens << " tokens";
      last = now;
    }
    EXPECT_GE(t.prefill(1000, 8000).total, t.prefill(1000).total) << c.model;
  }
}

TEST(Prefill, StagesWorkOnDifferentChunks) {
  const auto one = times(deployment("llama-3.1-70b", request("mi300x", "llama.cpp")));
  const auto two =
      times(deployment("llama-3.1-70b", request("mi300x", "llama.cpp", "", {.pp = 2})));
  const double ratio = two.prefill(16384).total / one.prefill(16384).total;
  EXPECT_LT(ratio, 0.6);
  EXPECT_GT(ratio, 0.5);
  // A single chunk passes through both.
  EXPECT_GE(two.prefill(100).total, one.prefill(100).total);
}

TEST(Decode, ABiggerBatchTakesLongerAndDoesMore) {
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    Seconds last{};
    for (double batch = 1; batch <= 256; batch *= 2) {
      const Seconds step = t.decode_step(batch, 1000).total;
      EXPECT_GE(step, last) << c.model << " on " << c.gpu << ", batch " << batch;
      EXPECT_TRUE(std::isfinite(step.value()));
      last = step;
    }
  }
}

TEST(Steady, OneRequestIsItsPromptAndItsSteps) {
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    const auto s = t.steady(1, 1000, 100);
    EXPECT_EQ(s.ttft, t.prefill(1000).total) << c.model;
    EXPECT_NEAR(s.latency.value(), s.ttft.value() + 99 * s.decode.total.value(), 1e-9);
    EXPECT_NEAR(s.tpot.value(), s.decode.total.value(), 1e-12);
  }
}

// Little's law: requests in flight = rate x time in the system. And the busy time of
// one cycle is what all prompts and the steps take.
TEST(Steady, ObeysLittlesLaw) {
  for (const Case& c : cases()) {
    const RequestTimes t = times(of(c));
    double rate = 0;
    Seconds ttft{};
    for (const double n : {1.0, 2.0, 8.0, 33.0, 128.0}) {
      const auto s = t.steady(n, 500, 200);
      EXPECT_NEAR(s.requests_per_s * s.latency.value(), n, n * 1e-9) << c.model;
      EXPECT_GE(s.requests_per_s, rate * 0.999) << c.model << " " << n;
      EXPECT_GE(s.ttft, ttft) << c.model << " " << n;
      EXPECT_GE(s.latency, s.ttft);
      EXPECT_NEAR(s.prefill_share,
                  n * s.prefill.total.value() /
                      (n * s.prefill.total.value() + 199 * s.decode.total.value()),
                  1e-9);
      // No faster than the work: n prompts and 199 common steps a cycle.
      EXPECT_GE(s.latency.value(),
                n * s.prefill.total.value() + 199 * s.decode.total.value() - 1e-9);
      rate = s.requests_per_s;
      ttft = s.ttft;
    }
  }
}

TEST(Steady, ARequestOfOneTokenHasNoSteps) {
  const auto s = times(of(cases().front())).steady(4, 100, 1);
  EXPECT_EQ(s.tpot, Seconds{});
  EXPECT_GT(s.requests_per_s, 0);
  EXPECT_TRUE(std::isfinite(s.latency.value()));
}

TEST(Build, RefusesACardWithoutRates) {
  const Deployment d = deployment("llama-3.1-8b", request("ryzen-ai-max-495", "llama.cpp"));
  const auto t = RequestTimes::build(d, test::knowledge());
  ASSERT_FALSE(t.has_value());
  EXPECT_EQ(t.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(t.error().value, "ryzen-ai-max-495");
}

TEST(Sigma, IsWiderWithoutParametersOfTheArchitecture) {
  const auto t = times(of(cases().front()));
  const StepTime step = t.decode_step(1, 1000);
  EXPECT_GE(t.sigma(step, true), 0.1);
  EXPECT_LT(t.sigma(step, true), 0.6);
  EXPECT_EQ(t.sigma(StepTime{}, true), 0);
}

}  // namespace
}  // namespace cairn
