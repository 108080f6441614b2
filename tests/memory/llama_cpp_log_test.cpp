// llama.cpp against the buffers that it printed itself. The table comes from
// published logs and lies beside the checkout; without it the tests are skipped
// (llama_cpp_kv.csv keeps a part of it).
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "cairn/memory/estimates.h"
#include "fixture.h"

namespace cairn {
namespace {

using test::Errors;
using test::LogRow;

struct Alias {
  std::string_view name;    // in the log
  std::string_view folder;  // published configuration of the same shape
};

constexpr std::array<Alias, 30> kAliases{{
    {"Qwen3-32B", "Qwen__Qwen3-32B"},
    {"Gemma 3 27b It Qat", "google__gemma-3-27b-it"},
    {"meta-llama/Llama-3.1-8B-Instruct", "meta-llama__Meta-Llama-3.1-8B"},
    {"meta-llama/Llama-2-7b-hf", "meta-llama__Llama-2-7b-hf"},
    {"meta-llama/Llama-2-13b-hf", "meta-llama__Llama-2-13b-hf"},
    {"meta-llama/Llama-2-70b-hf", "meta-llama__Llama-2-70b-hf"},
    {"huggyllama/llama-7b", "meta-llama__Llama-2-7b-hf"},
    {"huggyllama/llama-13b", "meta-llama__Llama-2-13b-hf"},
    {"huggyllama/llama-30b", ""},
    {"huggyllama/llama-65b", ""},
    {"meta-llama/Meta-Llama-3-8B", "meta-llama__Meta-Llama-3-8B"},
    {"meta-llama/Llama-3.1-70B-Instruct", "meta-llama__Llama-3.1-70B-Instruct"},
    {"google/gemma-4-26B-A4B-it", ""},
    {"Qwen/Qwen2.5-Math-1.5B-Instruct", "Qwen__Qwen2.5-1.5B"},
    {"Qwen2.5-0.5B.Q8_0", "Qwen__Qwen2.5-0.5B"},
    {"Qwen/Qwen2.5-VL-7B-Instruct", "Qwen__Qwen2.5-VL-7B-Instruct"},
    {"Qwen/Qwen3-VL-30B-A3B-Instruct", "Qwen__Qwen3-VL-30B-A3B-Instruct"},
    {"Qwen/Qwen3-VL-8B-Instruct", "Qwen__Qwen3-VL-8B-Instruct"},
    {"Qwen/Qwen3-VL-4B-Instruct", "Qwen__Qwen3-VL-4B-Instruct"},
    {"Qwen/Qwen3-4B-Thinking-2507", "Qwen__Qwen3-4B"},
    {"deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "Qwen__Qwen3-8B"},
    {"Deepseek-R1-Distill-Llama-8B", "meta-llama__Meta-Llama-3-8B"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "Qwen__Qwen2.5-32B-Instruct"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "Qwen__Qwen2.5-7B"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "Qwen__Qwen2.5-1.5B"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", "Qwen__Qwen2.5-14B-Instruct"},
    {"Qwen/Qwen3-30B-A3B", "Qwen__Qwen3-30B-A3B"},
    {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "TinyLlama__TinyLlama-1.1B-Chat-v1.0"},
    {"cognitivecomputations/dolphin-mixtral-8x7b (general.name \"cognitivecomputations\")",
     "mistralai__Mixtral-8x7B-v0.1"},
    {"swiss-ai/Apertus-70B-Instruct-2509", ""},
}};

// Rows that are not compared, and why.
constexpr std::array<Alias, 5> kExcluded{{
    {"deepseek-ai/DeepSeek-V4-Flash", "compressed attention of its own, and a patched build"},
    {"Qwen/Qwen3.8-27B", "linear attention in three of four layers is not modelled"},
    {"Qwen3-Next-80B-A3B-Thinking", "linear attention in three of four layers is not modelled"},
    {"Qwen/Qwen3.5-122B-A10B", "linear attention in three of four layers is not modelled"},
    {"40-layer Command-R 35B class model (name not in excerpt)", "the log does not name it"},
}};

// Gemma 4 26B-A4B: five layers of six keep 1024 positions of 8 heads of 256, the
// sixth keeps all of 2 heads of 512
// (https://huggingface.co/google/gemma-4-26B-A4B-it/blob/main/config.json).
ModelSpec gemma_4() {
  ModelSpec s = test::dense({30, 2816, 16, 8, 256, 2112, 262144});
  s.tied_embeddings = true;
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    AttentionSpec& a = s.layers[i].attention;
    if (i % 6 == 5) {
      a.kv_heads = 2;
      a.head_dim = a.v_head_dim = 512;
    } else {
      a.kind = AttentionKind::sliding;
      a.window = 1024;
    }
    FeedForwardSpec& f = s.layers[i].feed_forward;
    f.experts = 128;
    f.experts_per_token = 8;
    f.expert_intermediate = 704;
  }
  return s;
}

std::optional<ModelSpec> spec_of(const std::string& name) {
  if (name == "google/gemma-4-26B-A4B-it") return gemma_4();
  // Shapes of https://huggingface.co/huggyllama and swiss-ai/Apertus-70B, by hand.
  if (name == "huggyllama/llama-30b") return test::dense({60, 6656, 52, 52, 128, 17920, 32000});
  if (name == "huggyllama/llama-65b") return test::dense({80, 8192, 64, 64, 128, 22016, 32000});
  if (name == "swiss-ai/Apertus-70B-Instruct-2509") {
    return test::dense({80, 8192, 64, 8, 128, 43008, 131072});
  }
  const auto it = std::ranges::find(kAliases, name, &Alias::name);
  return it == kAliases.end() ? std::nullopt : test::published(it->folder);
}

bool excluded(const std::string& name) {
  return std::ranges::find(kExcluded, name, &Alias::name) != kExcluded.end();
}

bool is_llama_cpp(const LogRow& row) { return row.engine.starts_with("llama.cpp"); }

// The device of a buffer: 1 of "ROCm1"; -1 for the host's.
int device_of(const LogRow& row) {
  const std::string buffer = row.setting("buffer");
  if (buffer.find("Host") != std::string::npos || buffer.starts_with("CPU")) return -1;
  const std::size_t digit = buffer.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::stoi(buffer.substr(digit));
}

MemoryDemand demand_of(const LogRow& row, const test::Model& model) {
  MemoryDemand d =
      model.demand(test::engine("llama.cpp"), row.kv_format.empty() ? "f16" : row.kv_format);
  // Of a fitted context the log keeps the cells that were allocated.
  d.context = row.context;
  const std::int64_t cells = row.count("cells", d.context);
  if (row.setting("layers").empty() || model.graph.spec.layers.front().attention.window == 0) {
    d.context = cells;
  }
  d.sequences = 1;
  d.config.ubatch = row.count("n_ubatch", 512);
  d.config.flash_attention = row.setting("fa") == "on" || row.setting("fa") == "auto";
  d.layout.pp = static_cast<int>(row.count("n_gpu", 1));
  // Builds before windows and 256-cell caches padded a context to 32.
  if (row.setting("build").empty() && row.context % 256 != 0) d.config.context_pad = 32;
  return d;
}

class LlamaCppLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_shared()) GTEST_SKIP() << "no logs beside the checkout";
  }
};

TEST_F(LlamaCppLogs, KvCacheIsExact) {
  // Caches of one log (full and windowed layers) are one sum.
  std::map<std::string, std::vector<LogRow>> logs;
  std::map<std::string, int> left_out;
  for (LogRow& row : test::log_rows()) {
    if (!is_llama_cpp(row) || row.component != "kv") continue;
    if (excluded(row.model)) {
      ++left_out[row.model];
      continue;
    }
    const std::string key = row.source + row.model + row.weight_format + row.setting("n_gpu") +
                            (row.setting("buffer") == "CPU" ? "" : row.setting("buffer"));
    logs[key].push_back(std::move(row));
  }
  std::size_t rows = 0;
  std::size_t exact = 0;
  for (const auto& [key, log] : logs) {
    const LogRow& first = log.front();
    auto spec = spec_of(first.model);
    ASSERT_TRUE(spec) << first.model << " has no configuration and no reason to be left out";
    const test::Model model(*std::move(spec), "f16");
    const MemoryDemand demand = demand_of(first, model);
    const auto estimate =
        estimate_memory(demand, test::engine("llama.cpp"), test::accelerator("mi300x"));
    ASSERT_TRUE(estimate) << estimate.error().to_string();
    double printed = 0;
    for (const LogRow& row : log) printed += row.value;
    double ours = 0;
    const int device = device_of(first);
    for (std::size_t i = 0; i < estimate->devices.size(); ++i) {
      const bool all = first.setting("buffer").empty() || device < 0;
      if (all || static_cast<int>(i) == device) {
        ours += in_mib(estimate->devices[i].part("kv_cache"));
      }
    }
    rows += log.size();
    // Printed with two decimals each.
    if (std::abs(ours - printed) < 0.006 * static_cast<double>(log.size())) {
      exact += log.size();
    } else {
      ADD_FAILURE() << first.model << " " << first.settings << ": printed " << printed
                    << " MiB, ours " << ours;
    }
  }
  std::size_t not_compared = 0;
  for (const auto& [name, n] : left_out) not_compared += static_cast<std::size_t>(n);
  fmt::print("KV cache of llama.cpp: {} of {} rows exact; {} left out\n", exact, rows,
             not_compared);
  EXPECT_GE(rows, 45U);
  EXPECT_EQ(exact, rows);
}

TEST_F(LlamaCppLogs, WeightsOfEveryDevice) {
  Errors errors;
  for (const LogRow& row : test::log_rows()) {
    if (!is_llama_cpp(row) || row.component != "weights" || row.setting("n_gpu").empty()) continue;
    if (excluded(row.model) || test::facts().formats.find(row.weight_format) == nullptr) continue;
    auto spec = spec_of(row.model);
    ASSERT_TRUE(spec) << row.model;
    // Built by hand for their caches: not every tensor is there.
    if (row.model.starts_with("swiss-ai") || row.model.starts_with("google/gemma-4")) continue;
    const test::Model model(*std::move(spec), row.weight_format);
    MemoryDemand demand = demand_of(row, model);
    demand.context = 512;
    const auto estimate =
        estimate_memory(demand, test::engine("llama.cpp"), test::accelerator("mi300x"));
    ASSERT_TRUE(estimate) << estimate.error().to_string();
    const int device = device_of(row);
    if (device < 0) {
      Bytes table{};
      for (std::size_t i = 0; i < model.graph.tensors.size(); ++i) {
        if (model.graph.tensors[i].role == TensorRole::token_embedding) {
          table = model.weights.bytes(model.graph, i);
        }
      }
      errors.add(in_mib(table), row.value);
    } else {
      errors.add(in_mib(estimate->devices[static_cast<std::size_t>(device)].part("weights")),
                 row.value);
    }
    if (std::abs(errors.signed_errors.back()) > 0.001) {
      fmt::print("  {} {} {}: printed {:.2f} MiB, {:+.2f} %\n", row.model, row.weight_format,
                 row.settings, row.value, 100 * errors.signed_errors.back());
    }
  }
  fmt::print("Weights of llama.cpp per device: {} rows, median error {:.3f} %, 90th {:.3f} %\n",
             errors.size(), 100 * errors.quantile(0.5), 100 * errors.quantile(0.9));
  EXPECT_GE(errors.size(), 25U);
  EXPECT_LT(errors.quantile(0.9), 0.01);
}

// Rows of a fork whose graphs of dense models are the same, on one device.
bool is_fork(const LogRow& row) {
  constexpr std::array<std::string_view, 4> kModels{
      "Qwen3-32B", "Gemma 3 27b It Qat", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen3-30B-A3B"};
  return row.engine.starts_with("ik_llama.cpp") && row.setting("n_gpu") == "1" &&
         row.setting("fa") == "on" && std::ranges::find(kModels, row.model) != kModels.end();
}

// Which part of the compute model a row shows.
std::string era_of(const LogRow& row) {
  if (is_fork(row)) return "a fork, flash attention";
  if (row.engine == "llama.cpp-cpu") return "one host buffer";
  return row.setting("fa") == "on" ? "flash attention" : "no flash attention";
}

Bytes weights_and_cache(const MemoryDemand& demand, int device) {
  const MemoryEstimate e =
      test::must(estimate_memory(demand, test::engine("llama.cpp"), test::accelerator("mi300x")));
  const DeviceMemory& d = e.devices[static_cast<std::size_t>(device)];
  return d.part("weights") + d.part("kv_cache");
}

TEST_F(LlamaCppLogs, ComputeBuffers) {
  std::map<std::string, Errors> eras;
  Errors all;
  double squares = 0;
  const std::vector<LogRow> rows = test::log_rows();
  // Where the engine chose the context itself, the cells of the cache tell it.
  std::map<std::string, std::int64_t> cells;
  for (const LogRow& row : rows) {
    if (row.component == "kv") {
      cells[row.source + row.model] =
          std::max(cells[row.source + row.model], row.count("cells", 0));
    }
  }
  for (const LogRow& row : rows) {
    if (row.component != "compute_buffer" || excluded(row.model)) continue;
    if (!is_llama_cpp(row) && !is_fork(row)) continue;
    // Of a model with a vision encoder the print is that of the encoder; the host
    // buffers of the other rows are inputs, which are not device memory.
    const bool host = row.engine == "llama.cpp-cpu";
    if (row.model.find("-VL-") != std::string::npos) continue;
    if (row.engine == "llama.cpp-metal" || (!host && device_of(row) < 0)) continue;
    auto spec = spec_of(row.model);
    ASSERT_TRUE(spec) << row.model;
    const bool known = test::facts().formats.find(row.weight_format) != nullptr;
    const test::Model model(*std::move(spec), known ? row.weight_format : "q5_k_m");
    MemoryDemand demand = demand_of(row, model);
    const auto fitted = cells.find(row.source + row.model);
    if (fitted != cells.end() && fitted->second > 0) demand.context = fitted->second;
    const auto shares = divide(model.graph, demand.layout, Stages::head_counts);
    ASSERT_TRUE(shares);
    const int device = std::max(0, device_of(row));
    const Bytes ours = memory::llama_cpp_compute(
        demand, (*shares)[static_cast<std::size_t>(device)], shares->size() > 1);
    eras[era_of(row)].add(in_mib(ours), row.value);
    all.add(in_mib(ours), row.value);
    const double device_total = in_mib(weights_and_cache(demand, device)) + row.value;
    squares += std::pow((in_mib(ours) - row.value) / device_total, 2);
    fmt::print("  {:45} {:>8} {:28} printed {:9.2f} ours {:9.2f} {:+.1f} %\n",
               row.model.substr(0, 45), row.context, row.setting("buffer"), row.value, in_mib(ours),
               100 * all.signed_errors.back());
  }
  for (const auto& [era, errors] : eras) {
    fmt::print("Compute buffers, {}: {} rows, median error {:.1f} %, 90th {:.1f} %\n", era,
               errors.size(), 100 * errors.quantile(0.5), 100 * errors.quantile(0.9));
  }
  fmt::print(
      "Compute buffers as a share of weights, cache and buffer: {} rows, root mean square "
      "{:.2f} %\n",
      all.size(), 100 * std::sqrt(squares / static_cast<double>(all.size())));
  EXPECT_GE(all.size(), 35U);
  EXPECT_LT(all.quantile(0.5), 0.02);
  EXPECT_LT(all.quantile(0.9), 0.15);
}

}  // namespace
}  // namespace cairn
