// vLLM against what it printed itself: weights, memory left for the cache, size of
// the cache in tokens, concurrency. The table of published logs lies beside the
// checkout; without it the tests are skipped.
#include <fmt/format.h>

#include <array>
#include <set>

#include "cairn/memory/vllm_memory.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::Errors;

struct Known {
  std::string_view model;   // in the log
  std::string_view folder;  // published configuration of the same shape
  std::string_view format;
};

// Left out: the run of Qwen3-235B-A22B of vllm-project/vllm#21348, which hands its
// cache to a connector; the GB300, of which the catalogue has no usable memory.
constexpr std::array<Known, 10> kKnown{{
    {"RedHatAI/Qwen3-14B-FP8-dynamic", "Qwen__Qwen3-14B", "fp8-channel"},
    {"RedHatAI/gemma-3-27b-it-FP8-dynamic", "google__gemma-3-27b-it", "fp8-channel"},
    {"cpatonn/Qwen3-Coder-30B-A3B-Instruct-GPTQ-4bit", "Qwen__Qwen3-30B-A3B", "gptq-int4"},
    {"meta-llama/Meta-Llama-3.1-8B-Instruct", "meta-llama__Meta-Llama-3.1-8B", "bf16"},
    {"meta-llama/Llama-3.1-8B", "meta-llama__Meta-Llama-3.1-8B", "bf16"},
    {"openai/gpt-oss-20b", "openai__gpt-oss-20b", "mxfp4"},
    {"amd/Kimi-K2.5-MXFP4", "moonshotai__Kimi-K2.5", "mxfp4"},
    {"amd/Kimi-K2.7-Code-MXFP4", "moonshotai__Kimi-K2.6", "mxfp4"},
    {"MiniMaxAI/MiniMax-M2.5", "MiniMaxAI__MiniMax-M2.5", "fp8-block"},
    {"amd/MiniMax-M2.5-MXFP4", "MiniMaxAI__MiniMax-M2.5", "mxfp4"},
}};

struct ServerRun {
  test::LogRow row;  // settings: the notes
  std::int64_t tokens = 0;
  std::int64_t tp = 1;
  const Known* known = nullptr;
};

// One run for each printed cache size.
std::vector<ServerRun> runs() {
  const Document document =
      test::must(load_csv((test::shared() / "evidence/serving.csv").string()));
  const Table table = test::must(Table::from(document.root()));
  const auto column = [&](std::string_view name) { return test::must(table.column(name)); };
  std::vector<ServerRun> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto text = [&](std::string_view name) { return std::string(row.text(column(name))); };
    if (text("engine") != "vllm" || text("metric") != "kv_cache_tokens") continue;
    ServerRun run;
    run.row.model = text("model");
    run.row.gpu = text("gpu");
    run.row.kv_format = text("kv_format").empty() ? "bf16" : text("kv_format");
    run.row.settings = text("notes");
    run.row.engine = text("engine_version");
    run.row.source = text("source_url");
    run.tokens = static_cast<std::int64_t>(parse_number(text("value")).value_or(0));
    run.tp = static_cast<std::int64_t>(parse_number(text("tp")).value_or(1));
    const auto it = std::ranges::find(kKnown, run.row.model, &Known::model);
    if (it == kKnown.end() || text("gpu") == "gb300" || run.tokens == 0) continue;
    run.known = &*it;
    out.push_back(std::move(run));
  }
  return out;
}

double number(const ServerRun& run, std::string_view key, double fallback) {
  return parse_number(run.row.setting(key)).value_or(fallback);
}

MemoryDemand demand_of(const ServerRun& run, const test::Model& model, const Accelerator& a) {
  const EngineInfo& vllm = test::engine("vllm");
  MemoryDemand d = model.demand(vllm, run.row.kv_format);
  d.config = vllm.reference_on(a.memory, a.id);
  d.layout.tp = static_cast<int>(run.tp);
  d.config.memory_fraction = number(run, "gpu_mem_util", d.config.memory_fraction);
  d.config.max_sequences = run.row.count("max_num_seqs", d.config.max_sequences);
  d.config.max_batched_tokens =
      run.row.count("max_num_batched_tokens", d.config.max_batched_tokens);
  d.config.block_tokens = run.row.count("block_size", 16);
  d.context = run.row.count("max_model_len", 4096);
  return d;
}

class VllmLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared() / "evidence/serving.csv")) {
      GTEST_SKIP() << "no logs beside the checkout";
    }
  }
};

// Bytes of a token are exact: printed memory over printed tokens, within the two
// decimals in which the memory is printed.
TEST_F(VllmLogs, BytesPerTokenAreExact) {
  std::size_t rows = 0;
  for (const ServerRun& run : runs()) {
    const double available = number(run, "avail_kv_gib_per_gpu", 0);
    if (available <= 0) continue;
    const test::Model model(*test::published(run.known->folder), "bf16");
    MemoryDemand demand = demand_of(run, model, test::accelerator("mi300x"));
    demand.context = demand.config.block_tokens;
    const Share share = test::must(divide(model.graph, demand.layout)).front();
    const double each =
        memory::vllm_pool(demand, share).sequence().value() / static_cast<double>(demand.context);
    const double tokens = available * kGiB / each;
    // Half a unit of the last decimal, and the last block of every group.
    const double tolerance = 0.006 / available + 128.0 / static_cast<double>(run.tokens);
    EXPECT_NEAR(tokens / static_cast<double>(run.tokens), 1, tolerance)
        << run.row.model << " tp " << run.tp << " " << run.row.settings;
    ++rows;
  }
  fmt::print("vLLM bytes per token: {} rows\n", rows);
  EXPECT_GE(rows, 40U);
}

// "Maximum concurrency for L tokens per request": what windowed layers save.
TEST_F(VllmLogs, ConcurrencyCountsWindows) {
  std::size_t rows = 0;
  for (const ServerRun& run : runs()) {
    const std::string printed = run.row.setting("max_concurrency");
    const double available = number(run, "avail_kv_gib_per_gpu", 0);
    const std::size_t x = printed.find("x@");
    if (x == std::string::npos || available <= 0) continue;
    const test::Model model(*test::published(run.known->folder), "bf16");
    MemoryDemand demand = demand_of(run, model, test::accelerator("mi300x"));
    demand.context = static_cast<std::int64_t>(*parse_number(printed.substr(x + 2)));
    const Share share = test::must(divide(model.graph, demand.layout)).front();
    const double ours = available * kGiB / memory::vllm_pool(demand, share).sequence().value();
    const double theirs = *parse_number(printed.substr(0, x));
    EXPECT_NEAR(ours / theirs, 1, 0.006 / theirs + 0.006 / available + 0.002)
        << run.row.model << " " << run.row.settings << " ours " << ours;
    ++rows;
  }
  fmt::print("vLLM concurrency: {} rows\n", rows);
  EXPECT_GE(rows, 35U);
}

TEST_F(VllmLogs, WeightsAndRoomForTheCache) {
  Errors weights;
  Errors room;
  Errors used;
  Errors tokens;
  for (const ServerRun& run : runs()) {
    const auto found = test::facts().accelerators.find(run.row.gpu == "a100-40gb" ? "a100-40gb-pcie"
                                                                                  : run.row.gpu);
    if (!found) continue;
    const Accelerator& a = **found;
    const test::Model model(*test::published(run.known->folder), run.known->format);
    const MemoryDemand demand = demand_of(run, model, a);
    const auto estimate = estimate_memory(demand, test::engine("vllm"), a);
    ASSERT_TRUE(estimate) << estimate.error().to_string();
    const DeviceMemory& device = estimate->devices.front();
    const double loaded = number(run, "model_load_gib_per_gpu", 0);
    const double available = number(run, "avail_kv_gib_per_gpu", 0);
    if (loaded > 0) weights.add(in_gib(device.part("weights")), loaded);
    if (available > 0) {
      room.add(in_gib(device.part("kv_cache")), available);
      const double budget = in_gib(device.capacity) * demand.config.memory_fraction;
      used.add(budget - in_gib(device.part("kv_cache")), budget - available);
    }
    fmt::print("  {:46} {:12} tp{} weights {:7.2f} / {:7.2f}  room {:7.2f} / {:7.2f}  {}\n",
               run.row.model, run.row.gpu, run.tp, in_gib(device.part("weights")), loaded,
               in_gib(device.part("kv_cache")), available, run.row.engine.substr(0, 24));
    // Of one kind of layer the tokens are what the estimate says; several kinds are
    // printed as if all kept every position.
    if (model.graph.spec.layers.front().attention.window == 0) {
      tokens.add(static_cast<double>(estimate->kv_tokens), static_cast<double>(run.tokens));
    }
  }
  const auto print = [](std::string_view what, const Errors& e) {
    fmt::print("vLLM {}: {} rows, median error {:.1f} %, 90th {:.1f} %\n", what, e.size(),
               100 * e.quantile(0.5), 100 * e.quantile(0.9));
  };
  print("weights per device", weights);
  print("memory left for the cache", room);
  print("memory beside the cache", used);
  print("tokens of the cache", tokens);
  double squares = 0;
  for (const double e : used.signed_errors) squares += e * e;
  fmt::print("vLLM memory beside the cache: root mean square {:.1f} %\n",
             100 * std::sqrt(squares / static_cast<double>(used.size())));
  EXPECT_LT(weights.quantile(0.5), 0.02);
  EXPECT_LT(used.quantile(0.5), 0.05);
  EXPECT_LT(tokens.quantile(0.5), 0.08);
}

// "Model loading took ... GiB" of the logs that print no cache size.
TEST_F(VllmLogs, WeightsOfFurtherLogs) {
  Errors errors;
  for (const test::LogRow& row : test::log_rows()) {
    if (row.engine != "vllm" || row.component != "weights") continue;
    if (row.setting("what") != "model loading took") continue;
    const auto known = std::ranges::find(kKnown, row.model, &Known::model);
    if (known == kKnown.end()) continue;
    const test::Model model(*test::published(known->folder), known->format);
    MemoryDemand demand = model.demand(test::engine("vllm"), "bf16");
    demand.layout.tp = static_cast<int>(row.count("tp", 1));
    const bool amd = row.gpu == "ai-pro-r9700" || row.gpu.starts_with("mi");
    const auto e = estimate_memory(demand, test::engine("vllm"),
                                   test::accelerator(amd ? "mi300x" : "h100-sxm"));
    ASSERT_TRUE(e) << e.error().to_string();
    errors.add(in_gib(e->devices.front().part("weights")), row.value);
    fmt::print("  {:46} {:12} tp{} weights {:7.2f} / {:7.2f} {:+.1f} %\n", row.model, row.gpu,
               demand.layout.tp, in_gib(e->devices.front().part("weights")), row.value,
               100 * errors.signed_errors.back());
  }
  fmt::print("vLLM weights, further logs: {} rows, median error {:.1f} %, 90th {:.1f} %\n",
             errors.size(), 100 * errors.quantile(0.5), 100 * errors.quantile(0.9));
  EXPECT_GE(errors.size(), 10U);
  EXPECT_LT(errors.quantile(0.5), 0.03);
}

}  // namespace
}  // namespace cairn
