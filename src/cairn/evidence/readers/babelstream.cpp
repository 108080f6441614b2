#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/micro_output.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

constexpr std::array<std::string_view, 6> kKernels{"Copy", "Mul", "Add", "Triad", "Dot", "Nstream"};

// Bytes in "MB", "MBytes", "mbytes", "MiB", "mibytes"; nothing for another unit.
std::optional<double> unit_bytes(std::string_view unit) {
  std::string name = lower_case(unit);
  if (name.ends_with("ytes")) name.resize(name.size() - 4);
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{
      {"kb", 1e3},
      {"mb", 1e6},
      {"gb", 1e9},
      {"tb", 1e12},
      {"kib", 1024.0},
      {"mib", 1024.0 * 1024},
      {"gib", 1024.0 * 1024 * 1024},
      {"tib", 1024.0 * 1024 * 1024 * 1024},
  }};
  const auto it = std::ranges::find(kUnits, name, &std::pair<std::string_view, double>::first);
  return it != kUnits.end() ? std::optional(it->second) : std::nullopt;
}

class StreamReader {
 public:
  explicit StreamReader(const std::string& name) : name_(name) {}

  Result<std::vector<ReadRow>> read(std::string_view text) {
    OutputLines lines(text);
    while (const auto line = lines.next()) CAIRN_CHECK(take(trimmed(line->text), line->number));
    if (rows_.empty()) return fail(bad_input("no table of BabelStream in it").at(name_));
    return std::move(rows_);
  }

 private:
  Result<void> take(std::string_view body, std::uint32_t line) {
    if (body.starts_with("function,")) return csv_header(body, line);
    if (body.starts_with("Function ")) return text_header(body, line);
    const auto words = words_of(body.substr(0, 4096), 8);
    const bool csv = !columns_.empty();
    const std::string_view first = csv             ? body.substr(0, body.find(','))
                                   : words.empty() ? std::string_view{}
                                                   : words[0];
    if (unit_ && std::ranges::find(kKernels, first) != kKernels.end()) {
      return csv ? csv_row(body, line) : text_row(words, line);
    }
    info(body);
    return {};
  }

  void info(std::string_view body) {
    if (const auto version = after(body, "Version:")) version_ = bounded(*version);
    if (const auto implementation = after(body, "Implementation:"))
      implementation_ = bounded(*implementation);
    if (const auto precision = after(body, "Precision:")) {
      type_ = *precision == "double" ? "fp64" : *precision == "float" ? "fp32" : "";
    }
    if (const auto size = after(body, "Array size:")) {  // "268.4 MB (=0.3 GB)"
      const auto words = words_of(*size, 3);
      const auto value = words.empty() ? std::nullopt : parse_number(words[0]);
      const auto unit = words.size() < 2 ? std::nullopt : unit_bytes(words[1]);
      bytes_ = value && unit ? std::optional(*value * *unit) : std::nullopt;
    }
    if (body.starts_with("Using ")) {  // "Using HIP device AMD Instinct MI300X"
      const std::size_t at = body.find(" device");
      if (at == std::string_view::npos) return;
      std::string_view card = body.substr(at + 7);
      if (card.starts_with(':')) card.remove_prefix(1);
      card_ = bounded(trimmed(card));
    }
  }

  [[nodiscard]] Error wrong_unit(std::string_view unit, std::uint32_t line) const {
    return bad_input("unknown unit")
        .at(line_of(name_, line))
        .got(unit)
        .want("MBytes/sec, GB/s ...");
  }

  // "Function    MBytes/sec  Min (sec)   Max         Average"
  Result<void> text_header(std::string_view body, std::uint32_t line) {
    const auto words = words_of(body, 8);
    if (words.size() < 2) return {};
    columns_.clear();
    unit_ = unit_bytes(words[1].substr(0, words[1].find('/')));
    if (!unit_) return fail(wrong_unit(words[1], line));
    return {};
  }

  // "function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,..."
  Result<void> csv_header(std::string_view body, std::uint32_t line) {
    columns_.clear();
    for (const std::string_view part : parts_of(body, ',')) columns_.emplace_back(part);
    unit_.reset();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string_view column = columns_[i];
      if (!column.starts_with("max_")) continue;
      column.remove_prefix(4);
      if (!column.ends_with("_per_sec")) continue;
      column.remove_suffix(8);
      unit_ = unit_bytes(column);
      if (!unit_) return fail(wrong_unit(column, line));
      bandwidth_column_ = i;
    }
    if (!unit_) {
      return fail(bad_input("missing field").at(line_of(name_, line)).in("max_mbytes_per_sec"));
    }
    return {};
  }

  Result<void> csv_row(std::string_view body, std::uint32_t line) {
    const auto cells = parts_of(body, ',');
    if (cells.size() != columns_.size()) {
      return fail(wrong_cells(line_of(name_, line), cells.size(), columns_.size()));
    }
    const auto number = [&](std::string_view column) -> std::optional<double> {
      const auto it = std::ranges::find(columns_, column);
      if (it == columns_.end()) return std::nullopt;
      return parse_number(cells[static_cast<std::size_t>(it - columns_.begin())]);
    };
    const auto size = number("sizeof");
    const auto elements = number("n_elements");
    type_ = size == 8.0 ? "fp64" : size == 4.0 ? "fp32" : "";
    bytes_ = size && elements ? std::optional(*size * *elements) : std::nullopt;
    return add(cells[0], cells[bandwidth_column_], line);
  }

  Result<void> text_row(const std::vector<std::string_view>& words, std::uint32_t line) {
    if (words.size() < 2) {
      return fail(bad_input("wrong number of cells").at(line_of(name_, line)).want("5"));
    }
    return add(words[0], words[1], line);
  }

  Result<void> add(std::string_view kernel, std::string_view text, std::uint32_t line) {
    const auto value = parse_number(text);
    if (!value || *value <= 0) {
      return fail(bad_input("no bandwidth")
                      .at(line_of(name_, line))
                      .in(std::string(kernel))
                      .got(text)
                      .want("a number above 0"));
    }
    ReadRow out;
    out.line = line;
    if (!card_.empty()) out.cards.push_back(card_);
    MicroRow& micro = out.micro.emplace();
    micro.what = kernel == "Dot" ? "read" : "copy";
    micro.dtype = type_;
    micro.bytes = bytes_;
    micro.library = version_.empty() ? "BabelStream" : "BabelStream " + version_;
    micro.devices = 1;
    micro.nodes = 1;
    micro.metric = "gb_per_s";
    micro.unit = "GB/s";
    micro.value = *value * *unit_ / 1e9;
    micro.kernel = lower_case(kernel);
    if (!implementation_.empty()) add_note(micro.notes, "implementation", implementation_);
    rows_.push_back(std::move(out));
    return check_read_rows(rows_.size(), line_of(name_, line));
  }

  const std::string& name_;
  std::vector<ReadRow> rows_;
  std::vector<std::string> columns_;  // of CSV; empty in a table of text
  std::size_t bandwidth_column_ = 0;
  std::optional<double> unit_;  // bytes; none before a table
  std::optional<double> bytes_;
  std::string type_;
  std::string version_;
  std::string implementation_;
  std::string card_;
};

}  // namespace

Result<std::vector<ReadRow>> read_babelstream(std::string_view text, const std::string& name) {
  return StreamReader(name).read(text);
}

}  // namespace cairn
