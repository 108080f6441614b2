#include "cairn/evidence/readers/serving_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cairn/evidence/readers/bench_json.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

struct Statistic {
  std::string_view prefix;  // of the member: "mean_ttft_ms"
  std::string_view suffix;  // of Cairn's metric: "ttft_ms_mean"
};
constexpr std::array kStatistics{Statistic{"mean_", "_mean"}, Statistic{"median_", "_median"},
                                 Statistic{"p90_", "_p90"}, Statistic{"p95_", "_p95"},
                                 Statistic{"p99_", "_p99"}};

Result<void> add_latencies(std::vector<ReadRow>& rows, const ReadRow& base, Node record) {
  struct Quantity {
    std::string_view member;
    std::string_view metric;
  };
  constexpr std::array kQuantities{Quantity{"ttft_ms", "ttft_ms"}, Quantity{"tpot_ms", "tpot_ms"},
                                   Quantity{"itl_ms", "itl_ms"}, Quantity{"e2el_ms", "e2e_ms"},
                                   Quantity{"e2e_latency_ms", "e2e_ms"}};
  for (const Quantity& q : kQuantities) {
    for (const Statistic& s : kStatistics) {
      CAIRN_CHECK(add_figure(rows, base, fmt::format("{}{}", q.metric, s.suffix), "ms", record,
                             fmt::format("{}{}", s.prefix, q.member)));
    }
  }
  return {};
}

Result<void> add_throughputs(std::vector<ReadRow>& rows, const ReadRow& base, Node record) {
  CAIRN_CHECK(add_figure(rows, base, "requests_per_s", "req/s", record, "request_throughput"));
  CAIRN_CHECK(add_figure(rows, base, "output_tokens_per_s", "tok/s", record, "output_throughput"));
  const bool vllm = record.find_value("total_token_throughput").has_value();
  return add_figure(rows, base, "total_tokens_per_s", "tok/s", record,
                    vllm ? "total_token_throughput" : "total_throughput");
}

// Python writes an infinite rate as Infinity, which is read as null, or as a text.
bool all_at_once(Node record) {
  const auto rate = record.find("request_rate");
  return rate && (rate->is_null() || text_in(record, "request_rate") == "inf");
}

// Requests per second; nothing where they follow the times of a trace.
Result<std::optional<double>> rate_in(Node record) {
  if (text_in(record, "request_rate") == "trace") return std::optional<double>{};
  return number_in(record, "request_rate");
}

// What both clients write of the load and the totals.
Result<ReadRow> served(Node record) {
  ReadRow out;
  InferenceRow& row = out.row;
  row.scenario = Scenario::serving;
  CAIRN_TRY(row.batch, amount_in(record, "max_concurrency"));
  CAIRN_TRY(const auto rate, rate_in(record));
  if (rate && *rate > 0) row.rate = rate;
  if (all_at_once(record)) row.rate = std::numeric_limits<double>::infinity();
  CAIRN_TRY(row.prompts, amount_in(record, "num_prompts"));
  CAIRN_TRY(const auto completed, amount_in(record, "completed"));
  CAIRN_TRY(const auto input, amount_in(record, "total_input_tokens"));
  CAIRN_TRY(const auto output, amount_in(record, "total_output_tokens"));
  set_mean_lengths(row.lengths, input, output, completed);
  if (row.lengths.input_mean) row.lengths.kind = LengthKind::mean;
  if (row.prompts && completed && *completed < *row.prompts) {
    row.doubt = "failed-requests";
    add_note(row.notes, "completed", number_text(*completed));
  }
  if (!row.prompts) row.prompts = completed;
  CAIRN_TRY(const auto duration, amount_in(record, "duration"));
  if (duration) add_note(row.notes, "duration_s", number_text(*duration));
  CAIRN_TRY(const auto burstiness, number_in(record, "burstiness"));
  if (burstiness && *burstiness != 1) add_note(row.notes, "burstiness", number_text(*burstiness));
  return out;
}

// The server that a client was told to speak to; empty where that is only a protocol.
std::string server_of(std::string_view backend) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kServers{{
      {"vllm", "vllm"},
      {"sglang", "sglang"},
      {"trt", "trt-llm"},
      {"tensorrt-llm", "trt-llm"},
      {"tgi", "tgi"},
      {"lmdeploy", "lmdeploy"},
  }};
  for (const auto& [name, engine] : kServers) {
    if (backend == name ||
        (backend.starts_with(name) && backend.substr(name.size()).starts_with('-'))) {
      return std::string(engine);
    }
  }
  return {};
}

Result<void> set_drafts(Node record, InferenceRow& row) {
  CAIRN_TRY(const auto drafts, amount_in(record, "spec_decode_num_drafts"));
  CAIRN_TRY(const auto tokens, amount_in(record, "spec_decode_draft_tokens"));
  CAIRN_TRY(const auto accepted, amount_in(record, "spec_decode_acceptance_length"));
  if (drafts && tokens && *drafts > 0) {
    row.settings.speculative = fmt::format("draft k={:.3g}", *tokens / *drafts);
  }
  if (accepted.value_or(0) > 0) row.settings.accept_length = accepted;
  return {};
}

// Lengths of all requests, where the client was told to keep them: exact where all are alike.
Result<bool> all_alike(Node record, std::string_view key) {
  const auto list = record.find_value(key);
  if (!list || !list->is_sequence() || list->size() == 0) return false;
  CAIRN_TRY(const double first, list->at(0).number());
  for (std::uint32_t i = 1; i < list->size(); ++i) {
    CAIRN_TRY(const double value, list->at(i).number());
    if (value != first) return false;
  }
  return true;
}

template <class Reader>
Result<std::vector<ReadRow>> each_record(std::string_view text, const std::string& name,
                                         Reader reader) {
  CAIRN_TRY(const BenchRecords parsed, BenchRecords::parse(text, name));
  std::vector<ReadRow> rows;
  for (const Node record : parsed.records()) {
    const std::size_t before = rows.size();
    CAIRN_CHECK(reader(record, rows));
    if (rows.size() == before) return fail(bad_input("no figure in a result").at(record.where()));
  }
  if (rows.empty()) return fail(bad_input("no result in it").at(name));
  return rows;
}

Result<void> vllm_serve_rows(Node record, std::vector<ReadRow>& rows) {
  CAIRN_TRY(ReadRow base, served(record));
  base.row.tool = "vllm bench serve";
  base.row.model_printed = text_in(record, "model_id");
  std::string backend = text_in(record, "backend");
  if (backend.empty()) backend = text_in(record, "endpoint_type");
  base.row.engine_printed = server_of(backend);
  if (!backend.empty()) add_note(base.row.notes, "client_backend", backend);
  base.date = date_of(text_in(record, "date"));
  CAIRN_CHECK(set_drafts(record, base.row));
  CAIRN_TRY(const bool inputs, all_alike(record, "input_lens"));
  CAIRN_TRY(const bool outputs, all_alike(record, "output_lens"));
  if (inputs && outputs) base.row.lengths.kind = LengthKind::exact;
  CAIRN_CHECK(add_throughputs(rows, base, record));
  return add_latencies(rows, base, record);
}

Result<void> vllm_throughput_rows(Node record, std::vector<ReadRow>& rows) {
  ReadRow base;
  base.row.scenario = Scenario::offline_throughput;
  base.row.tool = "vllm bench throughput";
  base.row.engine_printed = "vllm";
  CAIRN_TRY(base.row.prompts, amount_in(record, "num_requests"));
  CAIRN_TRY(base.total_tokens, amount_in(record, "total_num_tokens"));
  CAIRN_TRY(const auto elapsed, amount_in(record, "elapsed_time"));
  if (base.total_tokens) {
    add_note(base.row.notes, "total_tokens", number_text(*base.total_tokens));
  }
  if (elapsed) add_note(base.row.notes, "duration_s", number_text(*elapsed));
  CAIRN_CHECK(add_figure(rows, base, "requests_per_s", "req/s", record, "requests_per_second"));
  return add_figure(rows, base, "total_tokens_per_s", "tok/s", record, "tokens_per_second");
}

Result<void> vllm_latency_rows(Node record, std::vector<ReadRow>& rows) {
  ReadRow base;
  base.row.scenario = Scenario::offline_latency;
  base.row.tool = "vllm bench latency";
  base.row.engine_printed = "vllm";
  CAIRN_TRY(base.row.spread, amount_in(record, "std_latency"));
  if (const auto runs = record.find_value("latencies"); runs && runs->is_sequence()) {
    add_note(base.row.notes, "runs", std::to_string(runs->size()));
  }
  if (const auto percentiles = record.find_value("percentiles")) {
    CAIRN_TRY(const auto median, amount_in(*percentiles, "50"));
    if (median) add_note(base.row.notes, "median_s", number_text(*median));
  }
  return add_figure(rows, base, "latency_s", "s", record, "avg_latency");
}

// Releases since 2025 copy what the server says of itself: the fields of its ServerArgs, and
// its version.
Result<void> set_server(Node record, InferenceRow& row) {
  const auto server = record.find_value("server_info");
  if (!server || !server->is_mapping()) return {};
  row.model_printed = text_in(*server, "model_path");
  row.engine_version = text_in(*server, "version");
  CAIRN_TRY(row.tp, amount_in(*server, "tp_size"));
  CAIRN_TRY(row.pp, amount_in(*server, "pp_size"));
  CAIRN_TRY(row.dp, amount_in(*server, "dp_size"));
  CAIRN_TRY(row.ep, amount_in(*server, "ep_size"));
  // With it the dp_size groups lie within the tp_size cards; without, they are replicas.
  if (const auto shared = server->find_value("enable_dp_attention")) {
    if (shared->boolean().value_or(false)) row.settings.dp_attention = true;
  }
  CAIRN_TRY(row.settings.memory_fraction, amount_in(*server, "mem_fraction_static"));
  CAIRN_TRY(row.settings.max_num_seqs, amount_in(*server, "max_running_requests"));
  row.settings.attention_backend = text_in(*server, "attention_backend");
  row.settings.speculative = text_in(*server, "speculative_algorithm");
  return {};
}

Result<void> set_random_lengths(Node record, RequestLengths& lengths) {
  if (!lengths.dataset.starts_with("random")) return {};
  CAIRN_TRY(lengths.input, amount_in(record, "random_input_len"));
  CAIRN_TRY(lengths.output, amount_in(record, "random_output_len"));
  CAIRN_TRY(lengths.range_ratio, amount_in(record, "random_range_ratio"));
  if (lengths.range_ratio) {
    lengths.kind = *lengths.range_ratio == 1 ? LengthKind::exact : LengthKind::uniform;
  }
  return {};
}

Result<void> sglang_rows(Node record, std::vector<ReadRow>& rows) {
  CAIRN_TRY(ReadRow base, served(record));
  base.row.tool = "sglang.bench_serving";
  const std::string backend = text_in(record, "backend");
  base.row.engine_printed = server_of(backend);
  if (!backend.empty()) add_note(base.row.notes, "client_backend", backend);
  base.row.lengths.dataset = text_in(record, "dataset_name");
  CAIRN_CHECK(set_server(record, base.row));
  if (base.row.model_printed.empty()) base.row.model_printed = text_in(record, "model");
  CAIRN_CHECK(set_random_lengths(record, base.row.lengths));
  CAIRN_TRY(const auto accepted, amount_in(record, "accept_length"));
  if (accepted.value_or(0) > 0) {
    if (base.row.settings.speculative.empty()) base.row.settings.speculative = "stated";
    base.row.settings.accept_length = accepted;
  }
  CAIRN_CHECK(add_throughputs(rows, base, record));
  return add_latencies(rows, base, record);
}

}  // namespace

Result<std::vector<ReadRow>> read_vllm_serve(std::string_view text, const std::string& name) {
  return each_record(text, name, vllm_serve_rows);
}

Result<std::vector<ReadRow>> read_vllm_throughput(std::string_view text, const std::string& name) {
  return each_record(text, name, vllm_throughput_rows);
}

Result<std::vector<ReadRow>> read_vllm_latency(std::string_view text, const std::string& name) {
  return each_record(text, name, vllm_latency_rows);
}

Result<std::vector<ReadRow>> read_sglang_serving(std::string_view text, const std::string& name) {
  return each_record(text, name, sglang_rows);
}

}  // namespace cairn
