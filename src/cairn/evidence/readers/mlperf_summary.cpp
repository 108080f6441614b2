#include "cairn/evidence/readers/mlperf_summary.h"

#include <fmt/format.h>

#include <array>

#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

// A label of the summary and the figure that stands behind it.
struct Label {
  std::string_view label;  // up to the colon, without spaces at its end
  std::string_view metric;
  std::string_view unit;
  double factor = 1;
};
constexpr double kMsPerNs = 1e-6;
constexpr std::array kLabels{
    Label{"Tokens per second", "output_tokens_per_s", "tok/s"},
    Label{"Tokens per second (inferred)", "output_tokens_per_s", "tok/s"},
    Label{"Completed tokens per second", "output_tokens_per_s", "tok/s"},
    Label{"Completed tokens per second (inferred)", "output_tokens_per_s", "tok/s"},
    Label{"Samples per second", "samples_per_s", "samples/s"},
    Label{"Completed samples per second", "queries_per_s", "queries/s"},
    Label{"Mean First Token latency (ns)", "ttft_ms_mean", "ms", kMsPerNs},
    Label{"99.00 percentile first token latency (ns)", "ttft_ms_p99", "ms", kMsPerNs},
    Label{"Mean Time per Output Token (ns)", "tpot_ms_mean", "ms", kMsPerNs},
    Label{"99.00 percentile time to output token (ns)", "tpot_ms_p99", "ms", kMsPerNs},
};
// Kept in the notes: the bounds tell Server from Interactive.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNoted{{
    {"SUT name", "sut"},
    {"ttft_latency (ns)", "ttft_bound_ns"},
    {"tpot_latency (ns)", "tpot_bound_ns"},
    {"target_latency (ns)", "latency_bound_ns"},
    {"Scheduled samples per second", "scheduled_per_s"},
}};

class SummaryReader {
 public:
  explicit SummaryReader(const std::string& name) : name_(name) {}

  Result<std::vector<ReadRow>> read(std::string_view text) {
    OutputLines lines(text);
    while (const auto line = lines.next()) {
      const std::string_view body = trimmed(line->text);
      if (body == "MLPerf Results Summary") CAIRN_CHECK(begin());
      if (body.find("ERROR") != std::string_view::npos) note_errors(body);
      const std::size_t colon = body.find(':');
      if (colon == std::string_view::npos) continue;
      CAIRN_CHECK(
          take(trimmed(body.substr(0, colon)), trimmed(body.substr(colon + 1)), line->number));
    }
    CAIRN_CHECK(finish());
    if (rows_.empty()) return fail(bad_input("no result in it").at(name_));
    return std::move(rows_);
  }

 private:
  // A text may hold several summaries one behind the other.
  Result<void> begin() {
    CAIRN_CHECK(finish());
    base_ = {};
    base_.row.lengths.kind = LengthKind::benchmark;
    found_.clear();
    return {};
  }

  void note_errors(std::string_view line) {
    base_.row.doubt = "log-errors";
    add_note(base_.row.notes, "log", bounded(line));
  }

  Result<void> take(std::string_view label, std::string_view value, std::uint32_t line) {
    if (label == "Scenario") return scenario(value, line);
    if (label == "Mode" && value != "PerformanceOnly") {
      return fail(bad_input("not a run of performance")
                      .at(line_of(name_, line))
                      .in("Mode")
                      .got(value)
                      .want("PerformanceOnly"));
    }
    if (label == "Result is" && value != "VALID") {
      base_.row.doubt = "log-errors";
      add_note(base_.row.notes, "result", bounded(value));
    }
    for (const auto& [name, key] : kNoted) {
      if (label == name) add_note(base_.row.notes, key, bounded(value));
    }
    for (const Label& l : kLabels) {
      if (label != l.label) continue;
      CAIRN_TRY(const double number, amount_of(value, line_of(name_, line), label));
      add(l, number, line);
    }
    return {};
  }

  void add(const Label& label, double value, std::uint32_t line) {
    // The summary repeats the tokens per second among its additional figures.
    for (const ReadRow& row : found_) {
      if (row.row.metric == label.metric) return;
    }
    if (value == 0) return;
    ReadRow& row = found_.emplace_back();
    row.row.metric = label.metric;
    row.row.unit = label.unit;
    row.row.value = value * label.factor;
    row.line = line;
    if (label.label.find("inferred") != std::string_view::npos) {
      add_note(row.row.notes, "tokens", "inferred from samples");
    }
  }

  Result<void> scenario(std::string_view value, std::uint32_t line) {
    if (value == "Offline") {
      base_.row.scenario = Scenario::mlperf_offline;
    } else if (value == "Server" || value == "Interactive") {
      base_.row.scenario =
          value == "Server" ? Scenario::mlperf_server : Scenario::mlperf_interactive;
    } else if (value == "SingleStream") {
      base_.row.scenario = Scenario::single_stream;
    } else {
      return fail(unsupported("no scenario that is read")
                      .at(line_of(name_, line))
                      .in("Scenario")
                      .got(value)
                      .want("Offline, Server or SingleStream"));
    }
    return {};
  }

  Result<void> finish() {
    if (found_.empty()) return {};
    if (!base_.row.scenario) {
      return fail(bad_input("missing field").at(name_).in("Scenario"));
    }
    for (ReadRow& row : found_) {
      row.row.scenario = base_.row.scenario;
      row.row.lengths = base_.row.lengths;
      row.row.doubt = base_.row.doubt;
      std::string notes = base_.row.notes;
      if (!row.row.notes.empty()) notes += (notes.empty() ? "" : "; ") + row.row.notes;
      row.row.notes = std::move(notes);
      rows_.push_back(std::move(row));
    }
    found_.clear();
    return check_read_rows(rows_.size(), name_);
  }

  const std::string& name_;
  ReadRow base_;
  std::vector<ReadRow> found_;  // of the summary that is read
  std::vector<ReadRow> rows_;
};

}  // namespace

Result<std::vector<ReadRow>> read_mlperf_summary(std::string_view text, const std::string& name) {
  return SummaryReader(name).read(text);
}

}  // namespace cairn
