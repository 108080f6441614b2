// vLLM's pools against what it printed itself: bytes of a token, and concurrency. The
// table of published logs lies beside the checkout; without it the tests are skipped.
// Weights and sizes of caches: tests/accuracy/server_memory_accuracy.cpp.
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

}  // namespace
}  // namespace cairn
