#include "cairn/predict/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cairn/predict/money.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::deployment;
using test::knowledge;
using test::must;
using test::request;
using test::value;

Prediction predicted(const Deployment& d, const Workload& w, const CostTerms& terms = {}) {
  return must(predict(d, w, terms, knowledge()));
}
Workload load(double input, double output, double concurrency = 1) {
  Workload w;
  w.input = input;
  w.output = output;
  w.concurrency = concurrency;
  return w;
}
bool noted(const Prediction& p, std::string_view part) {
  return std::ranges::any_of(
      p.notes, [&](const Message& m) { return m.id.find(part) != std::string::npos; });
}

TEST(Predict, GivesEveryMetricWithAnIntervalAroundIt) {
  const Prediction p =
      predicted(deployment("llama-3.1-8b", request("mi300x", "vllm")), load(1000, 200, 16));
  std::set<std::string> names;
  for (const Metric& m : p.metrics) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_LE(m.low, m.value) << m.name;
    EXPECT_GE(m.high, m.value) << m.name;
    EXPECT_GT(m.value, 0) << m.name;
    EXPECT_FALSE(m.unit.empty()) << m.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"weights_gib", "kv_cache_tokens", "prefill_tokens_per_s",
                                          "decode_tokens_per_s", "ttft_ms_mean", "tpot_ms_mean",
                                          "e2e_ms_mean", "requests_per_s", "output_tokens_per_s",
                                          "total_tokens_per_s", "power_w", "energy_j_per_token"}));
  EXPECT_NEAR(value(p, "output_tokens_per_s"), 200 * value(p, "requests_per_s"), 1e-6);
  EXPECT_NEAR(value(p, "total_tokens_per_s"), 1200 * value(p, "requests_per_s"), 1e-6);
  EXPECT_NEAR(value(p, "e2e_ms_mean"), value(p, "ttft_ms_mean") + 199 * value(p, "tpot_ms_mean"),
              1e-6);
  EXPECT_NEAR(value(p, "energy_j_per_token"), value(p, "power_w") / value(p, "output_tokens_per_s"),
              1e-9);
  // 8.03 billion weights of 2 bytes (https://huggingface.co/meta-llama/Llama-3.1-8B).
  EXPECT_NEAR(value(p, "weights_gib"), 8.03e9 * 2 / kGiB, 0.02);
}

TEST(Predict, WhatDoesNotFitHasNoTimes) {
  const Prediction p =
      predicted(deployment("llama-3.1-70b", request("rx-7900-xtx", "llama.cpp")), {});
  EXPECT_FALSE(p.memory.fits);
  EXPECT_EQ(p.metric("tpot_ms_mean"), nullptr);
  EXPECT_FALSE(p.money.purchase.has_value());
}

TEST(Predict, ARateIsServedAtTheConcurrencyOfLittlesLaw) {
  const Deployment d = deployment("llama-3.1-8b", request("mi300x", "vllm"));
  Workload w = load(1000, 200);
  w.rate = 5;
  const Prediction p = predicted(d, w);
  EXPECT_DOUBLE_EQ(value(p, "requests_per_s"), 5);
  EXPECT_NEAR(p.workload.concurrency, 5 * value(p, "e2e_ms_mean") / 1000, 0.05);
  w.rate = 1e5;
  const Prediction over = predicted(d, w);
  EXPECT_FALSE(over.workload.rate.has_value());
  EXPECT_TRUE(noted(over, "overloaded"));
  EXPECT_EQ(over.metric("ttft_ms_mean"), nullptr);
  EXPECT_EQ(over.metric("e2e_ms_mean"), nullptr);
}

// A 24 GB card holds a few requests of 16000 tokens beside 16 GB of weights; sixty-four
// are served at the rate of those few, and wait the longer.
TEST(Predict, RequestsBeyondTheCacheWait) {
  const Deployment d = deployment("llama-3.1-8b", request("rtx-4090", "vllm"));
  Workload w = load(15000, 200, 64);
  const Prediction many = predicted(d, w);
  const double fit = std::floor(many.memory.resident_sequences);
  ASSERT_LT(fit, 64);
  w.concurrency = fit;
  const Prediction few = predicted(d, w);
  EXPECT_NEAR(value(many, "requests_per_s"), value(few, "requests_per_s"), 1e-9);
  EXPECT_NEAR(value(many, "tpot_ms_mean"), value(few, "tpot_ms_mean"), 1e-9);
  EXPECT_NEAR(value(many, "e2e_ms_mean") / 1000 * value(many, "requests_per_s"), 64, 1e-6);
  EXPECT_GT(value(many, "ttft_ms_mean"), value(few, "ttft_ms_mean"));
  EXPECT_TRUE(noted(many, "wait"));
  EXPECT_FALSE(noted(few, "wait"));
}

TEST(Predict, ReplicasShareTheRequests) {
  const Workload w = load(500, 100, 32);
  const Prediction one =
      predicted(deployment("llama-3.1-8b", request("mi300x", "vllm")), load(500, 100, 8));
  const Prediction four =
      predicted(deployment("llama-3.1-8b", request("mi300x", "vllm", "", {.dp = 4})), w);
  EXPECT_NEAR(value(four, "requests_per_s"), 4 * value(one, "requests_per_s"), 1e-6);
  EXPECT_NEAR(value(four, "tpot_ms_mean"), value(one, "tpot_ms_mean"), 1e-9);
  EXPECT_NEAR(value(four, "power_w"), 4 * value(one, "power_w"), 1e-6);
}

// In a layer split one card works at a time for one request: n cards draw what one draws
// at work and n - 1 times the idle power.
TEST(Predict, StagesThatWaitDrawIdlePower) {
  const auto power = [](int cards) {
    return predicted(deployment("qwen3-8b", request("rx-7900-xtx", "llama.cpp", "", {.pp = cards})),
                     load(512, 128));
  };
  const Prediction one = power(1);
  const double idle = one.power->idle.value();
  for (const int cards : {2, 4, 8}) {
    const Prediction p = power(cards);
    const double expected = value(one, "power_w") + (cards - 1) * idle;
    // Launches and copies between the cards take a share of the time.
    EXPECT_NEAR(value(p, "power_w"), expected, 0.1 * expected) << cards;
  }
}

// One request on eight replicas: seven stand idle.
TEST(Predict, ReplicasThatWaitDrawIdlePower) {
  const auto with = [](int replicas) {
    return predicted(deployment("qwen3-8b", request("mi300x", "vllm", "", {.dp = replicas})),
                     load(512, 128));
  };
  const Prediction one = with(1);
  EXPECT_NEAR(value(with(8), "power_w"), value(one, "power_w") + 7 * one.power->idle.value(), 1e-6);
}

TEST(Predict, NoIntervalOfPowerExceedsTheBoards) {
  const Prediction p = predicted(
      deployment("qwen3-8b", request("rx-7900-xtx", "vllm", "", {.tp = 2})), load(4000, 16, 32));
  // 355 W:
  // https://www.amd.com/en/products/graphics/desktops/radeon/7000-series/amd-radeon-rx-7900xtx.html
  EXPECT_LE(p.metric("power_w")->high, 2 * 355.0);
}

TEST(Predict, SaysWhatDoesNotFit) {
  DeploymentRequest r = request("rx-7900-xtx", "vllm");
  r.memory_fraction = 0.05;
  const Prediction p = predicted(deployment("qwen3-8b", r), load(512, 128));
  EXPECT_FALSE(p.memory.fits);
  EXPECT_TRUE(noted(p, "does not fit"));
  const Prediction longer =
      predicted(deployment("qwen3-8b", request("mi300x", "vllm")), load(128e6, 1024));
  EXPECT_FALSE(longer.memory.fits);
  EXPECT_TRUE(noted(longer, "the cache holds"));
}

// All of these leave every tensor where it is anyway.
TEST(Predict, PlacesThatMoveNothingAreTimed) {
  const Prediction usual =
      predicted(deployment("qwen3-8b", request("rx-7900-xtx", "llama.cpp")), {});
  std::vector<LlamaCppPlaces> all(4);
  all[0].gpu_layers = 99;
  all[1].host_expert_layers = kEveryLayer;
  all[2].host_tensors = {"no_such_tensor"};
  all[3].split = SplitMode::none;
  for (const LlamaCppPlaces& places : all) {
    DeploymentRequest r = request("rx-7900-xtx", "llama.cpp");
    r.places = places;
    EXPECT_DOUBLE_EQ(value(predicted(deployment("qwen3-8b", r), {}), "tpot_ms_mean"),
                     value(usual, "tpot_ms_mean"));
  }
  DeploymentRequest r = request("rx-7900-xtx", "llama.cpp");
  r.places.gpu_layers = 10;
  const Prediction part = predicted(deployment("qwen3-8b", r), {});
  EXPECT_GT(value(part, "tpot_ms_mean"), 3 * value(usual, "tpot_ms_mean"));
  EXPECT_TRUE(noted(part, "work from host memory"));
  EXPECT_TRUE(noted(part, "the host is taken to be"));
}

// GPT-2 has 1024 rows of positions (n_positions, https://huggingface.co/openai-community/gpt2).
TEST(Predict, NoPositionBeyondTheTable) {
  const Deployment d = deployment("gpt2", request("mi300x", "transformers"));
  EXPECT_TRUE(predict(d, load(1000, 24), {}, knowledge()).has_value());
  const auto more = predict(d, load(1001, 24), {}, knowledge());
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().kind, ErrorKind::unsupported);
}

// Activations are in the type of the weights: twice the bytes in 32 bits.
TEST(Predict, ActivationsOfTransformersAreInTheTypeOfTheWeights) {
  const auto activations = [](const char* format) {
    const Prediction p = predicted(
        deployment("qwen3-8b", request("mi300x", "transformers", format)), load(2000, 48));
    return p.memory.devices.front().part("activations").value();
  };
  EXPECT_NEAR(activations("fp32"), 2 * activations("bf16"), 1);
}

TEST(Predict, PowerLiesBetweenIdleAndBoard) {
  for (const char* gpu : {"rx-7900-xtx", "mi300x", "h100-sxm", "ryzen-ai-max-395"}) {
    const Prediction p =
        predicted(deployment("llama-3.1-8b", request(gpu, "llama.cpp")), load(512, 128, 4));
    EXPECT_GT(value(p, "power_w"), p.power->idle.value()) << gpu;
    EXPECT_LE(value(p, "power_w"), test::accelerator(gpu).board_power->value()) << gpu;
  }
}

// Two dies of one MI250: one card to buy, two devices that compute and draw power.
TEST(Predict, TwoDevicesOfACardAreBoughtOnce) {
  const Deployment d = deployment("llama-3.1-8b", request("mi250", "vllm", "", {.tp = 2}));
  const Prediction p = predicted(d, {});
  EXPECT_NEAR(*p.money.purchase, p.money.purchase_price->each(), 1e-9);
  EXPECT_TRUE(noted(p, "a card of"));
  EXPECT_EQ(p.memory.devices.front().capacity, mib(65520));
}

TEST(Predict, MoreDevicesThanTheLinksJoinAreNoted) {
  const Prediction p =
      predicted(deployment("llama-3.1-70b", request("mi210", "vllm", "", {.tp = 8})), {});
  EXPECT_TRUE(noted(p, "direct links join"));
}

TEST(Predict, AnnouncedHardwareIsMarked) {
  const Deployment d = deployment("llama-3.1-8b", request("mi300x", "vllm"));
  EXPECT_FALSE(predicted(d, {}).announced);
  Accelerator announced = test::accelerator("mi300x");
  announced.status = Status::announced;
  Deployment other = d;
  other.accelerator = &announced;
  EXPECT_TRUE(predicted(other, {}).announced);
  EXPECT_TRUE(noted(predicted(other, {}), "announced"));
}

// A given 999 USD over 4 years of 8766 h at a quarter of the time, 0.3 kW at PUE 1.5 and
// 0.2 USD:
//   999 / (4 x 8766 x 0.25) + 0.3 x 1.5 x 0.2 = 0.113963 + 0.09 = 0.203963 USD/h
// 100 tokens/s are 0.36 million an hour: 0.566564 USD a million.
TEST(Money, IsAmortisationAndElectricity) {
  const Deployment d = deployment("llama-3.1-8b", request("rx-7900-xtx", "llama.cpp"));
  CostTerms terms;
  terms.prices = {{"rx-7900-xtx", 999, "USD"}};
  terms.amortisation_years = 4;
  terms.utilisation = 0.25;
  terms.electricity_per_kwh = 0.2;
  terms.pue = 1.5;
  PowerEstimate power;
  power.load = Watts(300);
  const CostFigures m = must(count_money(d, power, 100, terms, knowledge()));
  EXPECT_DOUBLE_EQ(*m.purchase, 999);
  EXPECT_NEAR(*m.energy_per_hour, 0.09, 1e-12);
  EXPECT_NEAR(*m.owned_per_hour, 0.203963, 1e-6);
  EXPECT_NEAR(*m.owned_per_mtok, 0.566564, 3e-6);
  EXPECT_FALSE(m.rented_per_hour.has_value());  // no confirmed quote
  // The same in yuan, electricity as well.
  const double rate = must(knowledge().prices.convert(1, "USD", "CNY"));
  terms.currency = "CNY";
  terms.electricity_per_kwh = 0.2 * rate;
  const CostFigures yuan = must(count_money(d, power, 100, terms, knowledge()));
  EXPECT_NEAR(*yuan.owned_per_mtok, *m.owned_per_mtok * rate, 1e-9);
  terms.currency = "XXX";
  EXPECT_FALSE(count_money(d, power, 100, terms, knowledge()).has_value());
}

TEST(Money, UnknownInputsStayUnknown) {
  const Deployment d = deployment("llama-3.1-8b", request("rx-7900-xtx", "llama.cpp"));
  const CostFigures m = must(count_money(d, std::nullopt, 100, {}, knowledge()));
  EXPECT_TRUE(m.purchase.has_value());
  EXPECT_FALSE(m.energy_per_hour.has_value());
  EXPECT_FALSE(m.owned_per_mtok.has_value());
  const Deployment priceless = deployment("llama-3.1-8b", request("mi50-16gb", "llama.cpp"));
  PowerEstimate power;
  power.load = Watts(100);
  const CostFigures n = must(count_money(priceless, power, 100, {}, knowledge()));
  EXPECT_FALSE(n.purchase.has_value());
  EXPECT_FALSE(n.purchase_price.has_value());
  EXPECT_TRUE(n.energy_per_hour.has_value());
  EXPECT_FALSE(n.owned_per_mtok.has_value());
}

// A cloud price is per card and hour.
TEST(Money, RentIsPerCardAndHour) {
  const Deployment d =
      deployment("llama-3.1-70b", request("mi300x", "vllm", "", {.tp = 2, .dp = 2}));
  const CostFigures m = must(count_money(d, std::nullopt, 1000, {}, knowledge()));
  const double each = knowledge().prices.rental("mi300x")->amount;
  EXPECT_NEAR(*m.rented_per_hour, 4 * each, 1e-12);
  EXPECT_NEAR(*m.rented_per_mtok, 4 * each / 3.6, 1e-9);
}

// Three MI300X are three eighths of the modules of a base board, or one board in whole.
TEST(Money, ModulesAreSharesOfABoardOrWholeBoards) {
  const Deployment d = deployment("llama-3.1-70b", request("mi300x", "vllm", "", {.dp = 3}));
  CostTerms terms;
  const CostFigures share = must(count_money(d, std::nullopt, 1000, terms, knowledge()));
  terms.whole_machines = true;
  const CostFigures whole = must(count_money(d, std::nullopt, 1000, terms, knowledge()));
  EXPECT_TRUE(share.purchase_price->bare);
  EXPECT_NEAR(*share.purchase, *whole.purchase * 3 / 8, 1e-6);
}

// One MI300X, 600 W under load and 100 W idle, working 0.75 of 8766 hours, PUE 1.2:
//   (0.75 x 600 + 0.25 x 100) W x 8766 h x 1.2 = 4996.62 kWh, at 0.1 USD 499.662 USD
//   CO2 at 400 g/kWh: 1998.648 kg
// Rent R a card-hour: R x 6574.5 h. Buying P has cost less after P / (6574.5 R - 499.662).
TEST(Money, AYearOwnedAndRented) {
  const Deployment d = deployment("llama-3.1-8b", request("mi300x", "vllm"));
  CostTerms terms;
  terms.utilisation = 0.75;
  terms.electricity_per_kwh = 0.1;
  terms.pue = 1.2;
  terms.co2_g_per_kwh = 400;
  PowerEstimate power;
  power.load = Watts(600);
  power.idle = Watts(100);
  const CostFigures m = must(count_money(d, power, 1000, terms, knowledge()));
  EXPECT_NEAR(*m.kwh_per_year, 4996.62, 1e-6);
  EXPECT_NEAR(*m.energy_per_year, 499.662, 1e-6);
  EXPECT_NEAR(*m.co2_kg_per_year, 1998.648, 1e-6);
  // 1000 tokens/s over 6574.5 h are 23668.2 million.
  EXPECT_NEAR(*m.co2_g_per_mtok, 1998648 / 23668.2, 1e-6);
  const double card = *m.purchase;
  const double hour = *m.rented_per_hour;
  EXPECT_NEAR(*m.owned_per_year, card / 3 + 499.662, 1e-6);
  EXPECT_NEAR(*m.rented_per_year, hour * 6574.5, 1e-6);
  EXPECT_NEAR(*m.break_even_years, card / (hour * 6574.5 - 499.662), 1e-9);
  // Where the electricity alone costs more than the rent, renting stays cheaper.
  terms.electricity_per_kwh = 100;
  const CostFigures dear = must(count_money(d, power, 1000, terms, knowledge()));
  EXPECT_TRUE(std::isinf(*dear.break_even_years));
  terms.co2_g_per_kwh.reset();
  EXPECT_FALSE(must(count_money(d, power, 1000, terms, knowledge())).co2_kg_per_year);
}

TEST(Explain, NamesTheOperatorsOfBothPhases) {
  const Deployment d = deployment("llama-3.1-8b", request("rx-7900-xtx", "llama.cpp"));
  const auto rows = must(explain(d, {}, knowledge()));
  const auto total = [&rows](std::string_view phase) {
    Seconds sum{};
    for (const Explanation& e : rows) {
      if (e.phase == phase) sum += e.time.total;
    }
    return sum;
  };
  const RequestTimes t = test::times(d);
  const double host = t.stages().front().device().kernels.step.value +
                      t.stages().front().device().kernels.sequence.value;
  EXPECT_NEAR(total("decode").value() + host, t.decode_step(1, 512 + 64).total.value(), 1e-9);
  EXPECT_NEAR(total("prefill").value() + host, t.prefill(512).total.value(), 1e-9);
}

}  // namespace
}  // namespace cairn
