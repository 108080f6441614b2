#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cairn/evidence/readers/micro_output.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

// Types as the programs name them (hipDataType and rocblas_datatype without their prefixes).
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kTypes{{
    {"f16_r", "fp16"},
    {"h", "fp16"},
    {"bf16_r", "bf16"},
    {"f32_r", "fp32"},
    {"s", "fp32"},
    {"f64_r", "fp64"},
    {"d", "fp64"},
    {"i8_r", "int8"},
    {"f8_r", "fp8"},
    {"f8_fnuz_r", "fp8_fnuz"},
    {"bf8_r", "bf8"},
    {"bf8_fnuz_r", "bf8_fnuz"},
    {"f6_r", "fp6"},
    {"bf6_r", "bf6"},
    {"f4_r", "fp4"},
    {"i4_r", "int4"},
}};

std::string type_of(std::string_view printed) {
  const auto it =
      std::ranges::find(kTypes, printed, &std::pair<std::string_view, std::string_view>::first);
  return std::string(it != kTypes.end() ? it->second : printed);
}

// The value of an option in a command line.
std::string_view option(const std::vector<std::string_view>& words,
                        std::initializer_list<std::string_view> names) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (std::ranges::find(names, words[i]) != names.end()) return words[i + 1];
  }
  return {};
}

class GemmReader {
 public:
  explicit GemmReader(const std::string& name) : name_(name) {}

  Result<std::vector<ReadRow>> read(std::string_view text) {
    OutputLines lines(text);
    while (const auto line = lines.next()) {
      const std::string_view body = trimmed(line->text);
      if (header(body)) continue;
      if (!columns_.empty() && body.find(',') != std::string_view::npos) {
        CAIRN_CHECK(problem(body, line->number));
        continue;
      }
      info(body);
    }
    if (rows_.empty()) {
      return fail(
          bad_input("no result of a matrix product of rocblas-bench or hipblaslt-bench in it")
              .at(name_));
    }
    return std::move(rows_);
  }

 private:
  // "[0]:transA,transB,...": hipblaslt-bench numbers its solutions.
  bool header(std::string_view line) {
    if (line.find("-Gflops,") == std::string_view::npos) return false;
    if (line.starts_with('[')) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return false;
      line.remove_prefix(colon + 1);
    }
    columns_.clear();
    for (const std::string_view part : parts_of(line, ',')) columns_.emplace_back(part);
    return true;
  }

  void info(std::string_view line) {
    if (line.starts_with("Device ID ")) {  // "Device ID 0 : AMD Instinct MI300X gfx942:sramecc+"
      const std::size_t colon = line.find(" : ");
      if (colon != std::string_view::npos) {
        std::string_view card = line.substr(colon + 3);
        card = trimmed(card.substr(0, card.find(" gfx")));
        add_kind(cards_, card);
      }
    }
    if (const auto version = after(line, "hipBLASLt version:")) version_ = bounded(*version);
    if (const auto version = after(line, "rocBLAS version:")) version_ = bounded(*version);
    if (line.find("blas-bench ") != std::string_view::npos) {
      const auto words = words_of(line, 256);
      command_type_ = bounded(option(words, {"--a_type"}));
      if (command_type_.empty()) command_type_ = bounded(option(words, {"-r", "--precision"}));
    }
  }

  [[nodiscard]] std::string_view cell(const std::vector<std::string_view>& cells,
                                      std::initializer_list<std::string_view> names) const {
    for (std::size_t i = 0; i < columns_.size() && i < cells.size(); ++i) {
      if (std::ranges::find(names, columns_[i]) != names.end()) return cells[i];
    }
    return {};
  }

  Result<double> number(const std::vector<std::string_view>& cells, std::string_view name,
                        std::string_view other, std::uint32_t line) const {
    return amount_of(cell(cells, {name, other}), line_of(name_, line), name);
  }

  Result<void> problem(std::string_view body, std::uint32_t line) {
    const auto cells = parts_of(body, ',');
    if (cells.size() != columns_.size()) {
      return fail(wrong_cells(line_of(name_, line), cells.size(), columns_.size()));
    }
    const bool product = !cell(cells, {"transB"}).empty() && !cell(cells, {"K", "k"}).empty();
    if (!product) {  // another function of the library
      columns_.clear();
      return {};
    }
    ReadRow out;
    out.line = line;
    MicroRow& micro = out.micro.emplace();
    micro.what = "gemm";
    CAIRN_TRY(micro.m, number(cells, "M", "m", line));
    CAIRN_TRY(micro.n, number(cells, "N", "n", line));
    CAIRN_TRY(micro.k, number(cells, "K", "k", line));
    const bool lt = !cell(cells, {"hipblaslt-Gflops"}).empty();
    CAIRN_TRY(const double gflops, number(cells, "rocblas-Gflops", "hipblaslt-Gflops", line));
    micro.library = lt ? "hipblaslt-bench" : "rocblas-bench";
    if (!version_.empty()) micro.library += " " + version_;
    set_type(cells, micro);
    out.cards = cards_;
    micro.devices = 1;
    micro.nodes = 1;
    micro.metric = "tflops";
    micro.unit = "TFLOPS";
    micro.value = gflops / 1000;
    add_notes(cells, micro);
    columns_.clear();  // each result has its header
    if (micro.value == 0) return {};
    rows_.push_back(std::move(out));
    return check_read_rows(rows_.size(), line_of(name_, line));
  }

  void set_type(const std::vector<std::string_view>& cells, MicroRow& out) const {
    const std::string_view a = cell(cells, {"a_type"});
    const std::string_view b = cell(cells, {"b_type"});
    out.dtype = type_of(a.empty() ? command_type_ : a);
    if (a != b) add_note(out.notes, "b_type", type_of(b));
    if (cell(cells, {"compute_type"}).starts_with("xf32")) out.dtype = "tf32";
  }

  void add_notes(const std::vector<std::string_view>& cells, MicroRow& row) const {
    const std::string_view batch = cell(cells, {"batch_count"});
    if (!batch.empty() && batch != "1") row.batch = batch;
    add_note(row.notes, "trans",
             fmt::format("{}{}", cell(cells, {"transA"}), cell(cells, {"transB"})));
    constexpr std::array<std::string_view, 7> kNoted{
        "grouped_gemm", "d_type", "compute_type", "scaleA", "scaleB", "cold_iters", "hot_iters"};
    for (const std::string_view key : kNoted) {
      const std::string_view value = cell(cells, {key});
      if (!value.empty() && value != "0") add_note(row.notes, key, value);
    }
    const std::string_view time = cell(cells, {"us"});
    if (!time.empty()) add_note(row.notes, "us", time);
    const std::string_view clock = cell(cells, {"lowest-median-freq", "median-freq_0"});
    if (!clock.empty()) add_note(row.notes, "median_freq_mhz", clock);
  }

  const std::string& name_;
  std::vector<ReadRow> rows_;
  std::vector<std::string> columns_;
  std::vector<std::string> cards_;  // of the machine; one of them computed
  std::string version_;
  std::string command_type_;
};

}  // namespace

Result<std::vector<ReadRow>> read_gemm_bench(std::string_view text, const std::string& name) {
  return GemmReader(name).read(text);
}

}  // namespace cairn
