#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/micro_output.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

// Programs, and Cairn's names of what they measure. A name that contains another stands first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPrograms{{
    {"all_reduce_perf", "all_reduce"},
    {"all_gather_perf", "all_gather"},
    {"reduce_scatter_perf", "reduce_scatter"},
    {"alltoall_perf", "all_to_all"},
    {"broadcast_perf", "broadcast"},
    {"sendrecv_perf", "p2p"},
    {"gather_perf", "gather"},
    {"scatter_perf", "scatter"},
    {"reduce_perf", "reduce"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kTypes{{
    {"float", "fp32"},
    {"half", "fp16"},
    {"bfloat16", "bf16"},
    {"double", "fp64"},
    {"int8", "int8"},
    {"uint8", "uint8"},
    {"int32", "int32"},
    {"uint32", "uint32"},
    {"int64", "int64"},
    {"uint64", "uint64"},
    {"fp8_e4m3", "fp8"},
    {"f8e4m3", "fp8"},
    {"fp8_e5m2", "bf8"},
    {"f8e5m2", "bf8"},
}};
constexpr std::size_t kMostRanks = 65'536;
constexpr double kRoundedAway = 5;  // GB/s below which two printed decimals are too few for a ratio

class CollectiveReader {
 public:
  explicit CollectiveReader(const std::string& name) : name_(name) {}

  Result<std::vector<ReadRow>> read(std::string_view text) {
    OutputLines lines(text);
    while (const auto line = lines.next()) {
      const std::string_view body = trimmed(line->text);
      program_line(body);
      if (body.starts_with('#')) {
        comment(body);
      } else if (const auto version = after(body, "rccl-tests: Version")) {
        library_ = bounded(fmt::format("rccl-tests {}", bounded(*version)));
      } else if (!columns_.empty() && !body.empty() && body[0] >= '0' && body[0] <= '9') {
        CAIRN_CHECK(figures(body, line->number));
      }
    }
    close_table();
    if (rows_.empty())
      return fail(bad_input("no table of rccl-tests or nccl-tests in it").at(name_));
    return std::move(rows_);
  }

 private:
  void program_line(std::string_view line) {
    for (const auto& [program, what] : kPrograms) {
      if (line.find(program) == std::string_view::npos) continue;
      what_ = what;
      used_ = false;
      return;
    }
  }

  void comment(std::string_view line) {
    const auto words = words_of(line.substr(1), 40);
    if (words.empty()) return;
    if (words[0] == "nThread") start();
    if (words[0] == "Rank") rank(line, words);
    if (words[0] == "nccl-tests" && words.size() > 2 && words[1] == "version") {
      library_ = fmt::format("nccl-tests {}", bounded(words[2]));
    }
    if (line.find("in-place") != std::string_view::npos) {
      out_of_place_ = line.find("out-of-place") != std::string_view::npos;
    }
    if (words[0] == "size" && std::ranges::find(words, "busbw") != words.end()) {
      close_table();
      columns_.assign(words.begin(), words.end());
      std::erase(columns_, "timestamp");
    }
  }

  // Small sizes move too little for a ratio: what the large ones tell holds for the table.
  void close_table() {
    const auto table = std::span(rows_).subspan(table_first_);
    table_first_ = rows_.size();
    const auto named =
        std::ranges::find_if(table, [](const ReadRow& row) { return !row.micro->what.empty(); });
    if (named == table.end()) return;
    const std::string what = named->micro->what;
    for (ReadRow& row : table) {
      if (row.micro->what.empty()) row.micro->what = what;
    }
  }

  // A further run in the same text: what was said of the last one holds no longer.
  void start() {
    close_table();
    columns_.clear();
    cards_.clear();
    hosts_.clear();
    ranks_ = 0;
    if (!used_) return;  // nccl-tests name program and release before this line
    what_.clear();
    library_.clear();
  }

  // "Rank  0 Pid 385 on  HOST device  0 [0000:05:00.0] AMD Instinct MI300X"
  void rank(std::string_view line, const std::vector<std::string_view>& words) {
    if (++ranks_ > kMostRanks) return;
    const auto on = std::ranges::find(words, "on");
    if (on != words.end() && on + 1 != words.end()) hosts_.emplace(bounded(*(on + 1)));
    const std::size_t bracket = line.find(']');
    if (bracket == std::string_view::npos) return;
    add_kind(cards_, trimmed(line.substr(bracket + 1)));
  }

  // The first three columns and those from `time` on stand in every row; between them some
  // releases print nothing for a collective without reduction or root.
  [[nodiscard]] std::string_view cell(const std::vector<std::string_view>& words,
                                      std::string_view column) const {
    const auto it = std::ranges::find(columns_, column);
    if (it == columns_.end()) return {};
    const auto at = static_cast<std::size_t>(it - columns_.begin());
    if (at < 3 || words.size() == columns_.size()) return words[at];
    const std::size_t from_end = columns_.size() - at;
    const bool timed = at >= first_timed();
    return timed && from_end <= words.size() ? words[words.size() - from_end] : std::string_view{};
  }

  [[nodiscard]] std::size_t first_timed() const {
    const auto it = std::ranges::find_if(
        columns_, [](const std::string& c) { return c == "time" || c == "cputime"; });
    return static_cast<std::size_t>(it - columns_.begin());
  }

  [[nodiscard]] Result<double> number(const std::vector<std::string_view>& words,
                                      std::string_view column, std::uint32_t line) const {
    return amount_of(cell(words, column), line_of(name_, line), column);
  }

  Result<void> figures(std::string_view body, std::uint32_t line) {
    auto words = words_of(body, 64);
    if (words.size() > columns_.size()) words.resize(columns_.size());  // a time stamp
    if (words.size() < 3 + columns_.size() - first_timed()) {
      return fail(wrong_cells(line_of(name_, line), words.size(), columns_.size()));
    }
    CAIRN_TRY(const double bytes, number(words, "size", line));
    const bool cpu = std::ranges::find(columns_, "cputime") != columns_.end();
    CAIRN_TRY(const double time, number(words, cpu ? "cputime" : "time", line));
    CAIRN_TRY(const double algorithm, number(words, "algbw", line));
    CAIRN_TRY(const double bus, number(words, "busbw", line));
    if (bytes == 0 || time == 0) return {};
    const std::string_view wrong = cell(words, "#wrong");
    if (parse_number(wrong).value_or(0) > 0) {
      return fail(bad_input("the data were wrong")
                      .at(line_of(name_, line))
                      .in("#wrong")
                      .got(wrong)
                      .want("0"));
    }
    used_ = true;
    ReadRow base = row_like(words, line);
    base.micro->bytes = bytes;
    if (base.micro->what.empty()) base.micro->what = deduced(words, algorithm, bus);
    add(base, "latency_us", "us", time);
    if (bus > 0) add(base, "busbw_gb_per_s", "GB/s", bus);
    return check_read_rows(rows_.size(), line_of(name_, line));
  }

  void add(ReadRow row, std::string_view metric, std::string_view unit, double value) {
    row.micro->metric = metric;
    row.micro->unit = unit;
    row.micro->value = value;
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] ReadRow row_like(const std::vector<std::string_view>& words,
                                 std::uint32_t line) const {
    ReadRow out;
    out.line = line;
    out.cards = cards_;
    MicroRow& micro = out.micro.emplace();
    if (ranks_ > 0) micro.devices = static_cast<double>(ranks_);
    if (!hosts_.empty()) micro.nodes = static_cast<double>(hosts_.size());
    micro.what = what_;
    micro.library = library_;
    const std::string_view type = cell(words, "type");
    const auto it =
        std::ranges::find(kTypes, type, &std::pair<std::string_view, std::string_view>::first);
    micro.dtype = it != kTypes.end() ? std::string(it->second) : bounded(type);
    micro.placement = out_of_place_ ? "out-of-place" : "in-place";
    return out;
  }

  [[nodiscard]] std::string deduced(const std::vector<std::string_view>& words, double algorithm,
                                    double bus) const {
    const std::string_view reduction = cell(words, "redop");
    if (reduction.empty() || reduction == "none" || cell(words, "root") != "-1") return {};
    if (ranks_ < 2 || algorithm < kRoundedAway) return {};
    const double n = static_cast<double>(ranks_);
    const double ratio = bus / algorithm;
    const auto near = [ratio](double factor) { return std::abs(ratio / factor - 1) < 0.02; };
    if (near(2 * (n - 1) / n)) return "all_reduce";
    if (near((n - 1) / n)) return "reduce_scatter";
    return {};
  }

  const std::string& name_;
  std::vector<ReadRow> rows_;
  std::size_t table_first_ = 0;       // row of the table that is read
  std::vector<std::string> columns_;  // of the table
  std::vector<std::string> cards_;    // kinds
  std::set<std::string, std::less<>> hosts_;
  std::size_t ranks_ = 0;
  std::string what_;
  std::string library_;
  bool used_ = false;  // rows were read since the program's name
  bool out_of_place_ = true;
};

}  // namespace

Result<std::vector<ReadRow>> read_collective_tests(std::string_view text, const std::string& name) {
  return CollectiveReader(name).read(text);
}

}  // namespace cairn
