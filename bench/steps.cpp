// What a search costs: a step, a whole prediction of a deployment at one operating point
// (whether the memory holds it, prefill, decode, power and cost), and a search over more
// than a million candidates. And the closed forms against adding up every step: the same
// sum, and how much cheaper it is.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "cairn/plan/plan.h"
#include "cairn/predict/money.h"
#include "cairn/predict/replica.h"

namespace {

using namespace cairn;

// The program under measurement; the image is the first argument.
Deployment deployment_of(const Knowledge& knowledge, const std::string& name, const char* gpu,
                         const char* engine, Layout layout) {
  const auto model = find_model(name, knowledge);
  DeploymentRequest request;
  request.accelerator = knowledge.accelerators.find(gpu).value();
  request.engine = knowledge.engines.find(engine).value();
  request.layout = layout;
  return resolve(model.value(), request, knowledge).value();
}

void decode_closed_form(benchmark::State& state, const RequestTimes& times) {
  for (auto _ : state) benchmark::DoNotOptimize(times.decode_mean(8, 1024, 512).total);
  state.SetItemsProcessed(state.iterations() * 512);
}

void decode_step_by_step(benchmark::State& state, const RequestTimes& times) {
  for (auto _ : state) {
    Seconds sum{};
    for (int i = 0; i < 512; ++i) sum += times.decode_step(8, 1024 + i).total;
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * 512);
}

void one_step(benchmark::State& state, const RequestTimes& times) {
  for (auto _ : state) benchmark::DoNotOptimize(times.decode_step(8, 1024).total);
  state.SetItemsProcessed(state.iterations());
}

// A deployment at one operating point after another: from 1 to 64 requests at once.
void one_prediction(benchmark::State& state, const Knowledge& knowledge, const Deployment& d) {
  Workload w;
  w.input = 1024;
  w.output = 256;
  w.concurrency = 64;
  const CostTerms terms;
  ReplicaModel model = ReplicaModel::build(d, w, knowledge).value();
  const double per_kwh = electricity_price(terms, knowledge.prices).value();
  const double card =
      purchase_of(*d.accelerator, terms.question(), knowledge.prices, knowledge.hosts)
          .value()
          ->each();
  const double devices = d.layout.devices();
  std::int64_t replicas = 0;
  for (auto _ : state) {
    replicas = replicas % 64 + 1;
    const OperatingPoint p = model.at(replicas);
    const double all = devices * static_cast<double>(replicas);
    const double price = card * all;
    const double kwh = yearly_kwh(*p.power, all, terms);
    benchmark::DoNotOptimize(p.fits);
    benchmark::DoNotOptimize(price / terms.amortisation_years + kwh * per_kwh);
    benchmark::DoNotOptimize(joules_per_token(p, all));
  }
  state.SetItemsProcessed(state.iterations());
}

// Every card, engine, format and split on up to 2000 cards.
PlanRequest fleet(Objective objective) {
  PlanRequest request;
  request.workload.rate = 200;
  request.constraints.max_cards = 2000;
  request.objective = objective;
  return request;
}

// A rate that no such fleet serves: all is left out, and the nearest is looked for.
PlanRequest out_of_reach() {
  PlanRequest request = fleet(Objective::cost);
  request.workload.rate = 1e6;
  return request;
}

// As many long requests at once as may be asked for: no rate leaves any of them out.
PlanRequest crowd() {
  PlanRequest request = fleet(Objective::cost);
  request.workload.rate.reset();
  request.workload.concurrency = 65536;
  request.workload.context = 128 * 1024;
  return request;
}

void one_plan(benchmark::State& state, const Knowledge& knowledge, const std::string& name,
              const PlanRequest& request) {
  const ModelInput model = find_model(name, knowledge).value();
  std::int64_t considered = 0;
  for (auto _ : state) {
    considered = make_plan(model, request, knowledge)->counts.considered;
  }
  state.counters["candidates"] = static_cast<double>(considered);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) return 2;
  auto image = Image::open(argv[1]);
  if (!image) return 2;
  const auto knowledge = Knowledge::load(*std::move(image));
  if (!knowledge) return 2;
  const Deployment dense = deployment_of(*knowledge, "llama-3.1-70b", "mi300x", "vllm", {.tp = 8});
  const Deployment latent = deployment_of(*knowledge, "deepseek-v3", "mi300x", "vllm", {.tp = 8});
  const Deployment small =
      deployment_of(*knowledge, "llama-3.1-8b", "rx-7900-xtx", "llama.cpp", {});
  for (const auto& [name, d] : {std::pair("llama-70b", &dense),
                                {"deepseek-v3", &latent},
                                {"llama-8b, llama.cpp", &small}}) {
    const std::string n = name;
    const RequestTimes times = RequestTimes::build(*d, *knowledge).value();
    benchmark::RegisterBenchmark((n + "/step").c_str(), one_step, times);
    benchmark::RegisterBenchmark((n + "/prediction").c_str(), one_prediction, std::cref(*knowledge),
                                 *d);
    benchmark::RegisterBenchmark((n + "/512 steps, closed form").c_str(), decode_closed_form,
                                 times);
    benchmark::RegisterBenchmark((n + "/512 steps, one by one").c_str(), decode_step_by_step,
                                 times);
  }
  for (const auto& [name, request] : {std::pair("cost", fleet(Objective::cost)),
                                      {"latency", fleet(Objective::latency)},
                                      {"energy", fleet(Objective::energy)},
                                      {"out of reach", out_of_reach()},
                                      {"65536 requests of 128k", crowd()}}) {
    benchmark::RegisterBenchmark((std::string("plan/") + name).c_str(), one_plan,
                                 std::cref(*knowledge), "llama-3.1-70b", request)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
