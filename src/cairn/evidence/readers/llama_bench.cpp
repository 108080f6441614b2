#include "cairn/evidence/readers/llama_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/bench_json.h"
#include "cairn/evidence/readers/llama_record.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

constexpr std::string_view kFirstField = "build_commit";

// Adds the row of a record.
Result<void> add_row(std::vector<ReadRow>& rows, const LlamaRecord& record) {
  CAIRN_TRY(ReadRow row, row_of(record));
  rows.push_back(std::move(row));
  return check_read_rows(rows.size(), record.where);
}

Result<std::vector<ReadRow>> unless_empty(std::vector<ReadRow> rows, const std::string& name) {
  if (rows.empty()) return fail(bad_input("no result of llama-bench in it").at(name));
  return rows;
}

// Scalars as text, truth values as 0 and 1: what the other formats print.
std::string scalar_text(Node node) {
  switch (node.kind()) {
    case NodeKind::string:
      return std::string(node.string().value_or(std::string_view{}));
    case NodeKind::integer:
      return std::to_string(node.integer().value_or(0));
    case NodeKind::number:
      return number_text(node.number().value_or(0));
    case NodeKind::boolean:
      return node.boolean().value_or(false) ? "1" : "0";
    default:
      return {};
  }
}

Result<std::vector<ReadRow>> read_json(std::string_view text, const std::string& name) {
  CAIRN_TRY(const BenchRecords parsed, BenchRecords::parse(text, name));
  std::vector<ReadRow> rows;
  for (const Node node : parsed.records()) {
    LlamaRecord record;
    record.where = node.where();
    record.line = node.line();
    for (std::uint32_t i = 0; i < node.size(); ++i) {
      const Member member = node.member(i);
      record.set(member.key, scalar_text(member.value));
    }
    CAIRN_CHECK(add_row(rows, record));
  }
  return unless_empty(std::move(rows), name);
}

// The table begins at its header; lines before it are logs.
Result<std::vector<ReadRow>> read_csv(std::string_view text, const std::string& name) {
  OutputLines lines(text);
  std::size_t start = 0;
  std::uint32_t skipped = 0;
  while (const auto line = lines.next()) {
    if (!line->text.starts_with(kFirstField)) continue;
    start = static_cast<std::size_t>(line->text.data() - text.data());
    skipped = line->number - 1;
    break;
  }
  CAIRN_TRY(const Document document, parse_csv(text.substr(start), name));
  CAIRN_TRY(const Table table, Table::from(document.root()));
  std::vector<ReadRow> rows;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    LlamaRecord record;
    record.line = document.root().at(i + 1).line() + skipped;
    record.where = line_of(name, record.line);
    for (std::uint32_t c = 0; c < table.columns().size(); ++c) {
      record.set(table.columns()[c], std::string(table.row(i).text(c)));
    }
    CAIRN_CHECK(add_row(rows, record));
  }
  return unless_empty(std::move(rows), name);
}

// Headings of the Markdown table that are not the names of their fields.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kHeadings{{
    {"model", "model_type"},
    {"backend", "backends"},
    {"ngl", "n_gpu_layers"},
    {"sm", "split_mode"},
    {"threads", "n_threads"},
    {"nkvo", "no_kv_offload"},
    {"fa", "flash_attn"},
    {"mmap", "use_mmap"},
    {"embd", "embeddings"},
    {"nopo", "no_op_offload"},
    {"noh", "no_host"},
    {"dev", "devices"},
    {"ts", "tensor_split"},
    {"ot", "tensor_buft_overrides"},
    {"mg", "main_gpu"},
}};

class MarkdownReader {
 public:
  explicit MarkdownReader(const std::string& name) : name_(name) {}

  Result<std::vector<ReadRow>> read(std::string_view text) {
    OutputLines lines(text);
    while (const auto line = lines.next()) CAIRN_CHECK(take(*line));
    std::vector<ReadRow> rows;
    for (const LlamaRecord& record : records_) CAIRN_CHECK(add_row(rows, record));
    return unless_empty(std::move(rows), name_);
  }

 private:
  Result<void> take(const OutputLine& line) {
    const std::string_view text = trimmed(line.text);
    if (text.starts_with('|')) return table_line(text, line.number);
    if (const auto build = after(text, "build:")) {
      set_build(*build);
    } else {
      log_line(text);
    }
    return {};
  }

  // "build: 34ce48d97 (7356)" stands below its table.
  void set_build(std::string_view build) {
    const auto words = words_of(build, 2);
    if (words.size() != 2 || words[1].size() < 3) return;
    for (std::size_t i = unbuilt_; i < records_.size(); ++i) {
      records_[i].set("build_commit", bounded(words[0]));
      records_[i].set("build_number", bounded(words[1].substr(1, words[1].size() - 2)));
    }
    unbuilt_ = records_.size();
  }

  // What the backends log of the devices that they find.
  void log_line(std::string_view text) {
    // "ggml_cuda_init: found 1 ROCm devices (Total VRAM: 24560 MiB):"
    const std::size_t found = text.find("ound ");
    if (found != std::string_view::npos && text.find(" devices", found) != std::string_view::npos) {
      cards_.clear();
    }
    if (const auto device = after(text, "Device ")) {  // "Device 0: NAME, gfx1100 (0x1100), ..."
      const std::size_t colon = device->find(": ");
      if (colon == std::string_view::npos || colon > 4) return;
      add_card(device->substr(colon + 2, device->find(',') - colon - 2));
    } else if (const auto vulkan = after(text, "ggml_vulkan: ")) {
      // "0 = NAME (DRIVER) | uma: 0 | fp16: 1 | ... | matrix cores: KHR_coopmat"
      const std::size_t equals = vulkan->find(" = ");
      if (equals == std::string_view::npos || equals > 4) return;
      if (vulkan->starts_with("0 = ")) cards_.clear();
      const auto parts = parts_of(*vulkan, '|');
      const std::string_view card = parts[0].substr(std::min(equals + 3, parts[0].size()));
      add_card(card.substr(0, card.rfind(" (")));
      for (const std::string_view part : parts) {
        if (const auto cores = after(part, "matrix cores:")) matrix_cores_ = bounded(*cores);
      }
    }
  }

  void add_card(std::string_view card) {
    constexpr std::size_t kMostCards = 64;
    if (cards_.size() < kMostCards && !card.empty()) cards_.push_back(bounded(card));
  }

  Result<void> table_line(std::string_view text, std::uint32_t line) {
    text.remove_prefix(1);
    if (text.ends_with('|')) text.remove_suffix(1);
    const auto cells = parts_of(text, '|');
    if (std::ranges::find(cells, "t/s") != cells.end()) {
      headings_.clear();
      for (const std::string_view cell : cells) headings_.push_back(bounded(cell));
      return {};
    }
    if (headings_.empty() || cells[0].starts_with("---") || cells[0].starts_with(":--")) return {};
    if (cells.size() != headings_.size()) {
      return fail(wrong_cells(line_of(name_, line), cells.size(), headings_.size()));
    }
    LlamaRecord record;
    record.line = line;
    record.where = line_of(name_, line);
    record.defaults_left_out = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      CAIRN_CHECK(set_cell(record, headings_[i], cells[i]));
    }
    record.set("gpu_info", fmt::format("{}", fmt::join(cards_, ",")));
    record.matrix_cores = matrix_cores_;
    records_.push_back(std::move(record));
    return check_read_rows(records_.size(), line_of(name_, line));
  }

  static Error wrong(const LlamaRecord& record, std::string_view heading, std::string_view cell,
                     std::string expected) {
    return bad_input("not as llama-bench prints it")
        .at(record.where)
        .in(std::string(heading))
        .got(cell)
        .want(std::move(expected));
  }

  static Result<void> set_cell(LlamaRecord& record, std::string_view heading,
                               std::string_view cell) {
    if (heading == "size" || heading == "params") return set_amount(record, heading, cell);
    if (heading == "test") return set_test(record, cell);
    if (heading == "t/s") {  // "491.00 ± 2.27"
      const auto words = words_of(cell, 4);
      if (words.empty()) return fail(wrong(record, heading, cell, "86.06 ± 0.13"));
      record.set("avg_ts", std::string(words[0]));
      if (words.size() == 3) record.set("stddev_ts", std::string(words[2]));
      return {};
    }
    const auto it = std::ranges::find(kHeadings, heading,
                                      &std::pair<std::string_view, std::string_view>::first);
    record.set(it == kHeadings.end() ? heading : it->second, std::string(cell));
    return {};
  }

  // "3.56 GiB", "6.74 B".
  static Result<void> set_amount(LlamaRecord& record, std::string_view heading,
                                 std::string_view cell) {
    const auto words = words_of(cell, 3);
    const auto value = words.size() == 2 ? parse_number(words[0]) : std::nullopt;
    const bool size = heading == "size";
    const std::string_view small = size ? "MiB" : "M";
    const std::string_view large = size ? "GiB" : "B";
    if (!value || (words[1] != small && words[1] != large)) {
      return fail(wrong(record, heading, cell, size ? "3.56 GiB" : "6.74 B"));
    }
    const double unit = words[1] == small ? (size ? 1024.0 * 1024.0 : 1e6)
                                          : (size ? 1024.0 * 1024.0 * 1024.0 : 1e9);
    record.set(size ? "model_size" : "model_n_params", number_text(*value * unit));
    return {};
  }

  // "pp512", "tg128", "pp512+tg128", each with " @ d4096".
  static Result<void> set_test(LlamaRecord& record, std::string_view cell) {
    const auto error = [&] { return fail(wrong(record, "test", cell, "pp512, tg128 @ d4096")); };
    const std::size_t at = cell.find('@');
    std::string_view depth = "0";
    if (at != std::string_view::npos) {
      depth = trimmed(cell.substr(at + 1));
      if (!depth.starts_with('d')) return error();
      depth.remove_prefix(1);
    }
    std::string_view prompt = "0";
    std::string_view generated = "0";
    for (const std::string_view part : parts_of(trimmed(cell.substr(0, at)), '+', 2)) {
      if (part.starts_with("pp")) {
        prompt = part.substr(2);
      } else if (part.starts_with("tg")) {
        generated = part.substr(2);
      } else {
        return error();
      }
    }
    record.set("n_prompt", std::string(prompt));
    record.set("n_gen", std::string(generated));
    record.set("n_depth", std::string(depth));
    return {};
  }

  const std::string& name_;
  std::vector<std::string> headings_;
  std::vector<std::string> cards_;
  std::string matrix_cores_;
  std::vector<LlamaRecord> records_;
  std::size_t unbuilt_ = 0;  // records before it have their build
};

}  // namespace

Result<std::vector<ReadRow>> read_llama_bench(std::string_view text, const std::string& name) {
  OutputLines lines(text);
  while (const auto line = lines.next()) {
    const std::string_view begin = trimmed(line->text);
    if (begin.starts_with(kFirstField)) return read_csv(text, name);
    if (begin.starts_with('|')) return MarkdownReader(name).read(text);
    if (begin.starts_with('{') || begin == "[") break;
  }
  return read_json(text, name);
}

}  // namespace cairn
