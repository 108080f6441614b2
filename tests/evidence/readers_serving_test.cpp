// Results of vLLM's benchmarks, SGLang's bench_serving, GuideLLM, AIPerf and LoadGen.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "../must.h"
#include "cairn/evidence/readers/client_reports.h"
#include "cairn/evidence/readers/mlperf_summary.h"
#include "cairn/evidence/readers/serving_json.h"

namespace cairn {
namespace {

using test::must;

std::map<std::string, double> values(const std::vector<ReadRow>& rows) {
  std::map<std::string, double> out;
  for (const ReadRow& row : rows) out[row.row.metric] = row.row.value;
  return out;
}

constexpr std::string_view kServe =
    R"({"date": "20250611-101530", "endpoint_type": "vllm", "backend": "vllm", "label": null,
 "model_id": "meta-llama/Llama-3.1-8B-Instruct", "tokenizer_id": "x", "num_prompts": 200,
 "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 32, "duration": 50.0,
 "completed": 200, "total_input_tokens": 204800, "total_output_tokens": 25600,
 "request_throughput": 4.0, "request_goodput": null, "output_throughput": 512.0,
 "total_token_throughput": 4608.0, "mean_ttft_ms": 210.5, "median_ttft_ms": 180.25,
 "std_ttft_ms": 90.0, "p99_ttft_ms": 700.125, "mean_tpot_ms": 60.5, "median_tpot_ms": 60.0,
 "std_tpot_ms": 1.0, "p99_tpot_ms": 66.0, "mean_itl_ms": 60.25, "median_itl_ms": 59.0,
 "std_itl_ms": 9.0, "p99_itl_ms": 150.0, "mean_e2el_ms": NaN})";

TEST(VllmBench, Serve) {
  const auto rows = must(read_vllm_serve(kServe, "serve.json"));
  const auto figures = values(rows);
  EXPECT_EQ(figures.size(), 12U);  // three rates, three times three latencies; NaN is none
  // 204800 + 25600 tokens in 50 s.
  EXPECT_EQ(figures.at("total_tokens_per_s"), (204800 + 25600) / 50.0);
  EXPECT_EQ(figures.at("requests_per_s"), 200 / 50.0);
  EXPECT_EQ(figures.at("output_tokens_per_s"), 25600 / 50.0);
  EXPECT_EQ(figures.at("ttft_ms_p99"), 700.125);
  EXPECT_EQ(figures.at("tpot_ms_mean"), 60.5);
  EXPECT_EQ(figures.at("itl_ms_median"), 59.0);
  const ReadRow& row = rows[0];
  EXPECT_EQ(row.row.scenario, Scenario::serving);
  EXPECT_EQ(row.row.engine_printed, "vllm");
  EXPECT_EQ(row.row.model_printed, "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(row.row.batch, 32);
  EXPECT_EQ(row.row.prompts, 200);
  EXPECT_TRUE(std::isinf(row.row.rate.value_or(0)));
  EXPECT_EQ(row.row.lengths.input_mean, 1024);
  EXPECT_EQ(row.row.lengths.output_mean, 128);
  EXPECT_EQ(row.row.lengths.kind, LengthKind::mean);
  EXPECT_FALSE(row.row.lengths.input);  // the client does not print the nominal lengths
  EXPECT_EQ(row.date, "2025-06-11");
  EXPECT_EQ(row.row.tool, "vllm bench serve");
}

TEST(VllmBench, ServeAppended) {
  std::string one(kServe);
  std::erase(one, '\n');
  std::string other = one;
  other.replace(other.find("\"completed\": 200"), 16, "\"completed\": 180");
  other.replace(other.find("\"backend\": \"vllm\""), 17, "\"backend\": \"openai\"");
  other.replace(other.find("\"request_rate\": \"inf\""), 21, "\"request_rate\": 8.5");
  const auto rows = must(read_vllm_serve(one + "\n" + other, "serve.json"));
  ASSERT_EQ(rows.size(), 24U);
  EXPECT_EQ(rows[0].row.doubt, "");
  EXPECT_EQ(rows[12].row.doubt, "failed-requests");
  EXPECT_EQ(rows[12].row.engine_printed, "");  // a protocol that many servers speak
  EXPECT_EQ(rows[12].row.rate, 8.5);
  EXPECT_EQ(rows[12].line, 2U);
}

TEST(VllmBench, SpeculationAndDetails) {
  std::string text(kServe);
  text.replace(text.find("\"label\": null"), 13,
               "\"spec_decode_num_drafts\": 100, \"spec_decode_draft_tokens\": 300, "
               "\"spec_decode_acceptance_length\": 2.5, \"input_lens\": [1024, 1024], "
               "\"output_lens\": [128, 128]");
  const auto rows = must(read_vllm_serve(text, "serve.json"));
  EXPECT_EQ(rows[0].row.settings.speculative, "draft k=3");
  EXPECT_EQ(rows[0].row.settings.accept_length, 2.5);
  EXPECT_EQ(rows[0].row.lengths.kind, LengthKind::exact);
}

TEST(VllmBench, Throughput) {
  const auto rows = must(read_vllm_throughput(
      R"({"elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 115200,
          "requests_per_second": 5.0, "tokens_per_second": 5760.0})",
      "t.json"));
  const auto figures = values(rows);
  EXPECT_EQ(figures.at("requests_per_s"), 100 / 20.0);
  EXPECT_EQ(figures.at("total_tokens_per_s"), 115200 / 20.0);
  EXPECT_EQ(rows[0].row.scenario, Scenario::offline_throughput);
  EXPECT_EQ(rows[0].row.prompts, 100);
}

TEST(VllmBench, Latency) {
  const auto rows = must(read_vllm_latency(
      R"({"avg_latency": 1.5, "latencies": [1.4, 1.5, 1.6], "percentiles": {"10": 1.42,
          "50": 1.5, "99": 1.598}})",
      "l.json"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].row.metric, "latency_s");
  EXPECT_EQ(rows[0].row.value, 1.5);
  EXPECT_EQ(rows[0].row.scenario, Scenario::offline_latency);
  EXPECT_EQ(rows[0].row.notes, "runs=3; median_s=1.5");
}

TEST(SglangBench, RandomDataset) {
  constexpr std::string_view kText =
      R"({"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 16, "sharegpt_output_len": null, "random_input_len": 2048, "random_output_len": 256, "random_range_ratio": 0.5, "duration": 10.0, "completed": 80, "total_input_tokens": 122880, "total_output_tokens": 15360, "total_output_tokens_retokenized": 15359, "request_throughput": 8.0, "input_throughput": 12288.0, "output_throughput": 1536.0, "mean_e2e_latency_ms": 1900.0, "median_e2e_latency_ms": 1890.0, "p99_e2e_latency_ms": 2500.0, "mean_ttft_ms": 100.0, "median_ttft_ms": 95.0, "p99_ttft_ms": 300.0, "mean_tpot_ms": 9.0, "median_tpot_ms": 9.0, "p99_tpot_ms": 12.0, "mean_itl_ms": 9.1, "median_itl_ms": 8.0, "p95_itl_ms": 11.0, "p99_itl_ms": 40.0, "concurrency": 15.2, "accept_length": null}
{"backend": "sglang-oai", "dataset_name": "sharegpt", "request_rate": 4.0, "max_concurrency": null, "random_input_len": 1024, "random_output_len": 1024, "random_range_ratio": 0.0, "server_info": {"model_path": "deepseek-ai/DeepSeek-R1", "version": "0.5.3", "tp_size": 8, "dp_size": 1, "attention_backend": "aiter", "speculative_algorithm": null}, "duration": 10.0, "completed": 40, "total_input_tokens": 8000, "total_output_tokens": 8000, "request_throughput": 4.0, "output_throughput": 800.0, "total_throughput": 1600.0, "mean_ttft_ms": 100.0, "accept_length": 1.8}
)";
  const auto rows = must(read_sglang_serving(kText, "s.jsonl"));
  const ReadRow& random = rows[0];
  EXPECT_EQ(random.row.engine_printed, "sglang");
  EXPECT_EQ(random.row.lengths.input, 2048);
  EXPECT_EQ(random.row.lengths.output, 256);
  EXPECT_EQ(random.row.lengths.kind, LengthKind::uniform);
  EXPECT_EQ(random.row.lengths.range_ratio, 0.5);
  // Uniform from half of the nominal length on: 3/4 of it on average.
  EXPECT_EQ(random.row.lengths.input_mean, 2048 * 0.75);
  EXPECT_EQ(random.row.lengths.output_mean, 256 * 0.75);
  EXPECT_TRUE(std::isinf(random.row.rate.value_or(0)));
  const ReadRow& chat = rows.back();
  EXPECT_EQ(chat.line, 2U);
  EXPECT_EQ(chat.row.lengths.kind, LengthKind::mean);
  EXPECT_FALSE(chat.row.lengths.input);  // the lengths of the random dataset mean nothing here
  EXPECT_EQ(chat.row.model_printed, "deepseek-ai/DeepSeek-R1");
  EXPECT_EQ(chat.row.engine_version, "0.5.3");
  EXPECT_EQ(chat.row.tp, 8);
  EXPECT_EQ(chat.row.rate, 4);
  EXPECT_EQ(chat.row.settings.attention_backend, "aiter");
  EXPECT_EQ(chat.row.settings.speculative, "stated");
  EXPECT_EQ(chat.row.settings.accept_length, 1.8);
}

// With attention divided by data, dp_size lies within tp_size:
// https://github.com/sgl-project/sglang/blob/001067fffe33/python/sglang/srt/server_args.py
TEST(SglangBench, LayoutOfTheServer) {
  constexpr std::string_view kText =
      R"({"backend": "sglang", "dataset_name": "random", "server_info": {"tp_size": 8,
          "dp_size": 8, "ep_size": 8, "pp_size": 1, "enable_dp_attention": true,
          "mem_fraction_static": 0.85, "max_running_requests": 2048,
          "speculative_algorithm": "EAGLE"}, "request_throughput": 8.0})";
  const auto rows = must(read_sglang_serving(kText, "s.jsonl"));
  ASSERT_EQ(rows.size(), 1U);
  const InferenceRow& row = rows[0].row;
  EXPECT_EQ(row.tp, 8);
  EXPECT_EQ(row.dp, 8);
  EXPECT_EQ(row.ep, 8);
  EXPECT_EQ(row.settings.dp_attention, true);
  EXPECT_EQ(row.settings.memory_fraction, 0.85);
  EXPECT_EQ(row.settings.max_num_seqs, 2048);
  EXPECT_EQ(row.settings.speculative, "EAGLE");
}

// A benchmark of GuideLLM; `where` is the place of the strategy in its release.
std::string guidellm(std::string_view strategy, std::string_view where, std::string_view more) {
  const std::string inner(where);
  return R"({"args": {"model": "Qwen/Qwen3-32B"}, "benchmarks": [{"type_": "generative_benchmark",
    ")" + inner +
         R"(": {"strategy": )" + std::string(strategy) + "}," + std::string(more) + R"(
    "metrics": {
      "requests_per_second": {"successful": {"mean": 2.5}, "errored": {"mean": 0.0}},
      "output_tokens_per_second": {"successful": {"mean": 320.0}},
      "tokens_per_second": {"successful": {"mean": 1600.0}},
      "prompt_token_count": {"successful": {"mean": 512.0, "std_dev": 0.0}},
      "output_token_count": {"successful": {"mean": 128.0, "std_dev": 0.0}},
      "time_to_first_token_ms": {"successful": {"mean": 50.0, "median": 48.0,
         "percentiles": {"p90": 60.0, "p95": 65.0, "p99": 90.0}}},
      "time_per_output_token_ms": {"successful": {"mean": 12.0}},
      "inter_token_latency_ms": {"successful": {"mean": 11.5, "median": 11.4}},
      "request_latency": {"successful": {"mean": 1.51, "median": 1.5}}}}]})";
}

TEST(GuideLlm, Releases) {
  const auto old = must(read_guidellm(guidellm(R"({"type_": "concurrent", "streams": 16})", "args",
                                               R"("worker": {"backend_model": "Qwen/Qwen3-32B-FP8"},
                  "request_totals": {"successful": 40, "errored": 0},)"),
                                      "g.json"));
  const auto figures = values(old);
  EXPECT_EQ(figures.at("requests_per_s"), 2.5);
  EXPECT_EQ(figures.at("ttft_ms_p99"), 90);
  EXPECT_EQ(figures.at("itl_ms_mean"), 11.5);
  EXPECT_EQ(figures.at("e2e_ms_mean"), 1510);      // printed in seconds
  EXPECT_FALSE(figures.contains("tpot_ms_mean"));  // counts the first token
  EXPECT_FALSE(figures.contains("itl_ms_median"));
  EXPECT_EQ(old[0].row.batch, 16);
  EXPECT_EQ(old[0].row.model_printed, "Qwen/Qwen3-32B-FP8");
  EXPECT_EQ(old[0].row.prompts, 40);
  EXPECT_EQ(old[0].row.lengths.kind, LengthKind::exact);
  EXPECT_EQ(old[0].row.lengths.input_mean, 512);

  const auto now =
      must(read_guidellm(guidellm(R"({"type_": "poisson", "rate": 2.5})", "config", ""), "g.json"));
  EXPECT_EQ(now[0].row.rate, 2.5);
  EXPECT_EQ(now[0].row.model_printed, "Qwen/Qwen3-32B");
  const auto single =
      must(read_guidellm(guidellm(R"({"type_": "synchronous"})", "config", ""), "g.json"));
  EXPECT_EQ(single[0].row.scenario, Scenario::single_stream);
  EXPECT_EQ(single[0].row.batch, 1);
}

TEST(AiPerf, BothTools) {
  constexpr std::string_view kText = R"({
    "request_throughput": {"unit": "requests/sec", "avg": 3.0},
    "request_latency": {"unit": "ms", "avg": 2000.0, "p50": 1990.0, "p99": 2500.0},
    "time_to_first_token": {"unit": "sec", "avg": 0.12, "p90": 0.2},
    "inter_token_latency": {"unit": "ms", "avg": 14.5, "p50": 14.0, "std": 1.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 384.0},
    "input_sequence_length": {"unit": "tokens", "avg": 1000.0, "std": 100.0},
    "output_sequence_length": {"unit": "tokens", "avg": 128.0, "std": 0.0},
    "request_count": {"unit": "requests", "avg": 60.0},
    "input_config": {"endpoint": {"model_names": ["Qwen/Qwen3-0.6B"], "streaming": true},
                     "loadgen": {"concurrency": 6}},
    "was_cancelled": false, "start_time": "2025-10-10T12:00:00.123"})";
  const auto rows = must(read_aiperf(kText, "profile_export_aiperf.json"));
  const auto figures = values(rows);
  EXPECT_EQ(figures.at("tpot_ms_mean"), 14.5);  // one value a request, without its first token
  EXPECT_DOUBLE_EQ(figures.at("ttft_ms_mean"), 120);
  EXPECT_DOUBLE_EQ(figures.at("ttft_ms_p90"), 200);
  EXPECT_EQ(figures.at("e2e_ms_p99"), 2500);
  EXPECT_EQ(figures.at("output_tokens_per_s"), 3.0 * 128);
  EXPECT_EQ(rows[0].row.batch, 6);
  EXPECT_EQ(rows[0].row.model_printed, "Qwen/Qwen3-0.6B");
  EXPECT_EQ(rows[0].row.lengths.kind, LengthKind::mean);
  EXPECT_EQ(rows[0].row.prompts, 60);
  EXPECT_EQ(rows[0].date, "2025-10-10");

  const auto genai = must(read_aiperf(
      R"({"request_throughput": {"unit": "requests/sec", "avg": 1.0}, "input_config":
         {"model_names": ["gpt2"], "perf_analyzer": {"stimulus": {"request_rate": 1.5}},
          "endpoint": {"backend": "vllm"}}})",
      "profile_export_genai_perf.json"));
  EXPECT_EQ(genai[0].row.model_printed, "gpt2");
  EXPECT_EQ(genai[0].row.rate, 1.5);
}

// The layout of LoadGen's summary with the figures of
// https://github.com/mlcommons/inference_results_v5.1/tree/main/closed/Dell_MangoBoost
// (8xMI300X_2xXeon_8460Y, llama2-70b-99.9, Server).
constexpr std::string_view kMlperf = R"(================================================
MLPerf Results Summary
================================================
SUT name : PySUT
Scenario : Server
Mode     : PerformanceOnly
Completed samples per second    : 84.11
Completed tokens per second: 24532.7
Result is : VALID
  Performance constraints satisfied : Yes
Completed tokens per second                 : 24532.7
Mean First Token latency (ns)               : 975311119
99.00 percentile first token latency (ns)   : 1842091362
99.00 percentile time to output token (ns)   : 177970789

ttft_latency (ns): 2000000000
tpot_latency (ns): 200000000

No errors encountered during test.
)";

TEST(Mlperf, ServerSummary) {
  const auto rows = must(read_mlperf_summary(kMlperf, "mlperf_log_summary.txt"));
  const auto figures = values(rows);
  EXPECT_EQ(rows.size(), 5U);  // tokens per second are printed twice
  EXPECT_EQ(figures.at("output_tokens_per_s"), 24532.7);
  EXPECT_EQ(figures.at("queries_per_s"), 84.11);
  EXPECT_NEAR(figures.at("ttft_ms_p99"), 1842.091362, 1e-9);
  EXPECT_NEAR(figures.at("ttft_ms_mean"), 975.311119, 1e-9);
  EXPECT_NEAR(figures.at("tpot_ms_p99"), 177.970789, 1e-9);
  EXPECT_EQ(rows[0].row.scenario, Scenario::mlperf_server);
  EXPECT_EQ(rows[0].row.lengths.kind, LengthKind::benchmark);
  EXPECT_EQ(rows[0].row.doubt, "");
  EXPECT_NE(rows[0].row.notes.find("ttft_bound_ns=2000000000"), std::string::npos);
}

TEST(Mlperf, SeveralSummariesAndFaults) {
  std::string second(kMlperf);
  second.replace(second.find("VALID"), 5, "INVALID");
  second.replace(second.find("No errors"), 9, "2 ERRORS");
  const auto rows = must(read_mlperf_summary(std::string(kMlperf) + second, "two.txt"));
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[4].row.doubt, "");
  EXPECT_EQ(rows[5].row.doubt, "log-errors");

  std::string accuracy(kMlperf);
  accuracy.replace(accuracy.find("PerformanceOnly"), 15, "AccuracyOnly");
  const auto refused = read_mlperf_summary(accuracy, "a.txt");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "a.txt:6");
  EXPECT_EQ(refused.error().value, "AccuracyOnly");
}

TEST(ServingErrors, SayWhere) {
  const auto negative =
      read_vllm_serve("{\"request_throughput\": 1.0,\n \"total_input_tokens\": -5}", "s.json");
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().where, "s.json:2");
  EXPECT_EQ(negative.error().field, "total_input_tokens");
  const auto kind = read_sglang_serving("{\"request_throughput\": \"fast\"}", "s.jsonl");
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().field, "request_throughput");
  const auto empty = read_vllm_throughput("{\"elapsed_time\": 3}", "t.json");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "no figure in a result");
  const auto unit =
      read_aiperf(R"({"request_latency": {"unit": "fortnights", "avg": 1}})", "a.json");
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().value, "fortnights");
  EXPECT_FALSE(read_guidellm("{\"benchmarks\": 3}", "g.json"));
  EXPECT_FALSE(read_guidellm("{\"benchmarks\": [{}]}", "g.json"));
}

}  // namespace
}  // namespace cairn
