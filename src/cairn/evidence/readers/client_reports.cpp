#include "cairn/evidence/readers/client_reports.h"

#include <fmt/format.h>

#include <array>

#include "cairn/evidence/readers/bench_json.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

struct Figure {
  std::string_view member;
  std::string_view metric;
  std::string_view unit;
  double factor = 1;
};

// Lengths of all requests: exact where none differs. `mean` and `spread` are what the tool
// calls the two members.
Result<void> set_lengths(std::optional<Node> input, std::optional<Node> output,
                         std::string_view mean, std::string_view spread, RequestLengths& lengths) {
  if (input) {
    CAIRN_TRY(lengths.input_mean, amount_in(*input, mean));
  }
  if (output) {
    CAIRN_TRY(lengths.output_mean, amount_in(*output, mean));
  }
  if (!lengths.input_mean || !lengths.output_mean) return {};
  CAIRN_TRY(const auto input_spread, amount_in(*input, spread));
  CAIRN_TRY(const auto output_spread, amount_in(*output, spread));
  const bool exact = input_spread == 0.0 && output_spread == 0.0;
  lengths.kind = exact ? LengthKind::exact : LengthKind::mean;
  return {};
}

// ---- GuideLLM

// A statistic of the requests that succeeded: "mean", or a percentile.
Result<void> add_distribution(std::vector<ReadRow>& rows, const ReadRow& base, Node metrics,
                              const Figure& f) {
  const auto values = node_in(metrics, {f.member, "successful"});
  if (!values) return {};
  const auto metric = [&](std::string_view statistic) {
    return fmt::format("{}_{}", f.metric, statistic);
  };
  const std::string unit(f.unit);
  CAIRN_CHECK(add_figure(rows, base, metric("mean"), unit, *values, "mean", f.factor));
  CAIRN_CHECK(add_figure(rows, base, metric("median"), unit, *values, "median", f.factor));
  const auto percentiles = values->find_value("percentiles");
  if (!percentiles) return {};
  for (const std::string_view p : {"p90", "p95", "p99"}) {
    CAIRN_CHECK(add_figure(rows, base, metric(p), unit, *percentiles, p, f.factor));
  }
  return {};
}

Result<void> add_mean(std::vector<ReadRow>& rows, const ReadRow& base, Node metrics,
                      const Figure& f) {
  const auto values = node_in(metrics, {f.member, "successful"});
  if (!values) return {};
  return add_figure(rows, base, std::string(f.metric), std::string(f.unit), *values, "mean",
                    f.factor);
}

// How requests were sent: one after the other, so many at once, all at once, or by rate.
Result<void> set_strategy(Node benchmark, InferenceRow& row) {
  auto strategy = node_in(benchmark, {"config", "strategy"});
  if (!strategy) strategy = node_in(benchmark, {"args", "strategy"});
  if (!strategy) strategy = node_in(benchmark, {"scheduler", "strategy"});
  row.scenario = Scenario::serving;
  if (!strategy || !strategy->is_mapping()) return {};
  const std::string type = text_in(*strategy, "type_");
  if (!type.empty()) add_note(row.notes, "strategy", type);
  if (type == "synchronous") {
    row.scenario = Scenario::single_stream;
    row.batch = 1;
    return {};
  }
  CAIRN_TRY(row.batch, amount_in(*strategy, "streams"));
  if (!row.batch) {
    CAIRN_TRY(row.batch, amount_in(*strategy, "max_concurrency"));
  }
  CAIRN_TRY(row.rate, amount_in(*strategy, "rate"));
  return {};
}

std::string model_of(Node benchmark, std::optional<Node> arguments) {
  if (const auto worker = benchmark.find_value("worker")) {
    const std::string model = text_in(*worker, "backend_model");
    if (!model.empty()) return model;
  }
  if (const auto backend = node_in(benchmark, {"config", "backend"})) {
    const std::string model = text_in(*backend, "model");
    if (!model.empty()) return model;
  }
  return arguments ? text_in(*arguments, "model") : std::string{};
}

Result<void> guidellm_rows(Node benchmark, std::optional<Node> arguments,
                           std::vector<ReadRow>& rows) {
  CAIRN_TRY(const Node metrics, benchmark.required("metrics"));
  ReadRow base;
  base.row.tool = "guidellm";
  CAIRN_CHECK(set_strategy(benchmark, base.row));
  CAIRN_CHECK(set_lengths(node_in(metrics, {"prompt_token_count", "successful"}),
                          node_in(metrics, {"output_token_count", "successful"}), "mean", "std_dev",
                          base.row.lengths));
  base.row.model_printed = model_of(benchmark, arguments);
  auto totals = metrics.find_value("request_totals");
  if (!totals) totals = benchmark.find_value("request_totals");
  if (totals) {
    CAIRN_TRY(base.row.prompts, amount_in(*totals, "successful"));
    CAIRN_TRY(const auto errors, amount_in(*totals, "errored"));
    if (errors.value_or(0) > 0) base.row.doubt = "failed-requests";
  }
  CAIRN_CHECK(add_mean(rows, base, metrics, {"requests_per_second", "requests_per_s", "req/s"}));
  CAIRN_CHECK(
      add_mean(rows, base, metrics, {"output_tokens_per_second", "output_tokens_per_s", "tok/s"}));
  CAIRN_CHECK(add_mean(rows, base, metrics, {"tokens_per_second", "total_tokens_per_s", "tok/s"}));
  CAIRN_CHECK(add_distribution(rows, base, metrics, {"time_to_first_token_ms", "ttft_ms", "ms"}));
  CAIRN_CHECK(add_mean(rows, base, metrics, {"inter_token_latency_ms", "itl_ms_mean", "ms"}));
  return add_distribution(rows, base, metrics, {"request_latency", "e2e_ms", "ms", 1e3});
}

// ---- AIPerf

// The factor that turns a printed unit into Cairn's; an error for one that is not known.
Result<double> factor_of(Node member, const Figure& f) {
  const std::string printed = text_in(member, "unit");
  if (f.unit != "ms") return 1.0;
  if (printed.empty() || printed == "ms") return 1.0;
  if (printed == "s" || printed == "sec" || printed == "seconds") return 1e3;
  if (printed == "us") return 1e-3;
  if (printed == "ns") return 1e-6;
  return fail(member.error("unknown unit").in("unit").got(printed).want("ms, s, us or ns"));
}

Result<void> add_aiperf(std::vector<ReadRow>& rows, const ReadRow& base, Node report,
                        const Figure& f, bool distribution) {
  const auto member = report.find_value(f.member);
  if (!member || !member->is_mapping()) return {};
  CAIRN_TRY(const double factor, factor_of(*member, f));
  const std::string unit(f.unit);
  if (!distribution) {
    return add_figure(rows, base, std::string(f.metric), unit, *member, "avg", factor);
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStatistics{
      {{"avg", "mean"}, {"p50", "median"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}};
  for (const auto& [key, statistic] : kStatistics) {
    CAIRN_CHECK(add_figure(rows, base, fmt::format("{}_{}", f.metric, statistic), unit, *member,
                           key, factor));
  }
  return {};
}

// The name of the model stands in one of several places, as text or as a list of one.
std::string first_model(Node config) {
  for (const auto& node : {node_in(config, {"endpoint", "model_names"}),
                           node_in(config, {"model_names"}), node_in(config, {"model"})}) {
    if (!node) continue;
    const Node model = node->is_sequence() && node->size() == 1 ? node->at(0) : *node;
    if (model.is_string()) return bounded(model.string().value_or(std::string_view{}));
  }
  return {};
}

Result<void> set_load(Node config, InferenceRow& row) {
  for (const auto& node :
       {node_in(config, {"loadgen"}), node_in(config, {"perf_analyzer", "stimulus"}),
        std::optional<Node>(config)}) {
    if (!node || !node->is_mapping()) continue;
    if (!row.batch) {
      CAIRN_TRY(row.batch, amount_in(*node, "concurrency"));
    }
    if (!row.rate) {
      CAIRN_TRY(row.rate, amount_in(*node, "request_rate"));
    }
  }
  if (const auto endpoint = config.find_value("endpoint")) {
    const std::string backend = text_in(*endpoint, "backend");
    if (!backend.empty()) add_note(row.notes, "client_backend", backend);
  }
  return {};
}

Result<std::optional<double>> average(Node report, std::string_view member) {
  const auto node = report.find_value(member);
  return node ? amount_in(*node, "avg") : std::optional<double>{};
}

Result<void> aiperf_rows(Node report, std::vector<ReadRow>& rows) {
  ReadRow base;
  base.row.tool = "aiperf";
  base.row.scenario = Scenario::serving;
  CAIRN_CHECK(set_lengths(report.find_value("input_sequence_length"),
                          report.find_value("output_sequence_length"), "avg", "std",
                          base.row.lengths));
  CAIRN_TRY(base.row.prompts, average(report, "request_count"));
  CAIRN_TRY(const auto failed, average(report, "error_request_count"));
  if (failed.value_or(0) > 0) base.row.doubt = "failed-requests";
  if (const auto cancelled = report.find_value("was_cancelled")) {
    if (cancelled->boolean().value_or(false)) base.row.doubt = "failed-requests";
  }
  base.date = date_of(text_in(report, "start_time"));
  if (const auto config = report.find_value("input_config"); config && config->is_mapping()) {
    base.row.model_printed = first_model(*config);
    CAIRN_CHECK(set_load(*config, base.row));
  }
  constexpr std::array kThroughputs{
      Figure{"request_throughput", "requests_per_s", "req/s"},
      Figure{"output_token_throughput", "output_tokens_per_s", "tok/s"},
      Figure{"total_token_throughput", "total_tokens_per_s", "tok/s"}};
  constexpr std::array kLatencies{Figure{"time_to_first_token", "ttft_ms", "ms"},
                                  Figure{"inter_token_latency", "tpot_ms", "ms"},
                                  Figure{"request_latency", "e2e_ms", "ms"}};
  for (const Figure& f : kThroughputs) CAIRN_CHECK(add_aiperf(rows, base, report, f, false));
  for (const Figure& f : kLatencies) CAIRN_CHECK(add_aiperf(rows, base, report, f, true));
  return {};
}

}  // namespace

Result<std::vector<ReadRow>> read_guidellm(std::string_view text, const std::string& name) {
  CAIRN_TRY(const BenchRecords parsed, BenchRecords::parse(text, name));
  std::vector<ReadRow> rows;
  for (const Node report : parsed.records()) {
    CAIRN_TRY(const Node benchmarks, report.required("benchmarks"));
    if (!benchmarks.is_sequence()) {
      return fail(benchmarks.error("wrong type").in("benchmarks").want("a list"));
    }
    for (std::uint32_t i = 0; i < benchmarks.size(); ++i) {
      CAIRN_CHECK(guidellm_rows(benchmarks.at(i), report.find_value("args"), rows));
    }
  }
  if (rows.empty()) return fail(bad_input("no result in it").at(name));
  return rows;
}

Result<std::vector<ReadRow>> read_aiperf(std::string_view text, const std::string& name) {
  CAIRN_TRY(const BenchRecords parsed, BenchRecords::parse(text, name));
  std::vector<ReadRow> rows;
  for (const Node report : parsed.records()) CAIRN_CHECK(aiperf_rows(report, rows));
  if (rows.empty()) return fail(bad_input("no result in it").at(name));
  return rows;
}

}  // namespace cairn
