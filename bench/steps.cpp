// The closed forms against adding up every step: the same sum, and how much
// cheaper it is.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "cairn/predict/request_times.h"

namespace {

using namespace cairn;

// The program under measurement; the image is the first argument.
RequestTimes times_of(const Knowledge& knowledge, const std::string& name, const char* gpu,
                      const char* engine, Layout layout) {
  const auto model = find_model(name, knowledge);
  DeploymentRequest request;
  request.accelerator = knowledge.accelerators.find(gpu).value();
  request.engine = knowledge.engines.find(engine).value();
  request.layout = layout;
  return RequestTimes::build(resolve(model.value(), request, knowledge).value(), knowledge).value();
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
}

void one_configuration(benchmark::State& state, const RequestTimes& times) {
  for (auto _ : state) benchmark::DoNotOptimize(times.steady(8, 1024, 256).requests_per_s);
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) return 2;
  auto image = Image::open(argv[1]);
  if (!image) return 2;
  const auto knowledge = Knowledge::load(*std::move(image));
  if (!knowledge) return 2;
  const RequestTimes dense = times_of(*knowledge, "llama-3.1-70b", "mi300x", "vllm", {.tp = 8});
  const RequestTimes latent = times_of(*knowledge, "deepseek-v3", "mi300x", "vllm", {.tp = 8});
  for (const auto& [name, times] : {std::pair("llama-70b", &dense), {"deepseek-v3", &latent}}) {
    const std::string n = name;
    benchmark::RegisterBenchmark((n + "/step").c_str(), one_step, *times);
    benchmark::RegisterBenchmark((n + "/configuration").c_str(), one_configuration, *times);
    benchmark::RegisterBenchmark((n + "/512 steps, closed form").c_str(), decode_closed_form,
                                 *times);
    benchmark::RegisterBenchmark((n + "/512 steps, one by one").c_str(), decode_step_by_step,
                                 *times);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
