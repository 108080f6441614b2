#include "cairn/evidence/readers/bench_json.h"

#include <cmath>

#include "cairn/data/json.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

constexpr ParseLimits kLimits{.depth = 32, .nodes = 4'000'000, .bytes = 256ULL << 20U};

bool opens_json(std::string_view line) {
  line = trimmed(line);
  if (line == "[" || line == "[{") return true;
  if (line.starts_with('[')) return trimmed(line.substr(1)).starts_with('{');
  return line.starts_with('{');
}

// One object a line, as a list: line numbers stay what they are.
std::string as_list(std::string_view text) {
  std::string out = "[";
  out.reserve(text.size() + 64);
  bool first = true;
  OutputLines lines(text);
  while (const auto line = lines.next()) {
    if (!trimmed(line->text).empty()) {
      if (!first) out += ',';
      first = false;
    }
    out.append(line->text).append("\n");
  }
  out += ']';
  return out;
}

// White space of as many lines as a text has.
std::string blank_lines(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\n';
  }
  return out;
}

}  // namespace

BenchRecords::BenchRecords(Document document) : document_(std::move(document)) {
  const Node root = document_.root();
  if (!root.is_sequence()) {
    records_.push_back(root);
    return;
  }
  for (std::uint32_t i = 0; i < root.size(); ++i) records_.push_back(root.at(i));
}

Result<BenchRecords> BenchRecords::parse(std::string_view text, const std::string& name) {
  std::size_t start = 0;
  OutputLines lines(text);
  while (const auto line = lines.next()) {
    start = static_cast<std::size_t>(line->text.data() - text.data());
    if (opens_json(line->text)) break;
  }
  const std::string body = blank_lines(text.substr(0, start)) + std::string(text.substr(start));
  auto whole = parse_json(body, name, kLimits, JsonDialect::python);
  if (!whole) {
    // The error of the whole text is the one to tell, unless each line is an object.
    const std::string_view rest = trimmed(body);
    if (!parse_json(rest.substr(0, rest.find('\n')), name, kLimits, JsonDialect::python)) {
      return std::unexpected(std::move(whole).error());
    }
    whole = parse_json(as_list(body), name, kLimits, JsonDialect::python);
    if (!whole) return std::unexpected(std::move(whole).error());
  }
  BenchRecords out(*std::move(whole));
  for (const Node record : out.records_) {
    if (!record.is_mapping()) return fail(record.error("not a mapping").want("a record"));
  }
  return out;
}

Result<std::optional<double>> number_in(Node record, std::string_view key) {
  const auto node = record.find_value(key);
  if (!node) return std::optional<double>{};
  if (node->is_string()) {
    CAIRN_TRY(const std::string_view text, node->string());
    if (text == "inf") return std::optional<double>{};
  }
  return record.get_optional<double>(key);
}

Result<std::optional<double>> amount_in(Node record, std::string_view key) {
  CAIRN_TRY(const auto value, number_in(record, key));
  if (value && *value < 0) {
    return fail(record.find(key)->error("negative").in(std::string(key)).want("0 or more"));
  }
  return value;
}

std::string text_in(Node record, std::string_view key) {
  const auto node = record.find_value(key);
  if (!node || !node->is_string()) return {};
  return bounded(node->string().value_or(std::string_view{}));
}

std::optional<Node> node_in(Node record, std::initializer_list<std::string_view> path) {
  std::optional<Node> node = record;
  for (const std::string_view key : path) {
    node = node->find_value(key);
    if (!node) return std::nullopt;
  }
  return node;
}

Result<void> add_figure(std::vector<ReadRow>& rows, const ReadRow& base, std::string metric,
                        std::string unit, Node record, std::string_view key, double factor) {
  CAIRN_TRY(const auto value, amount_in(record, key));
  if (!value || *value == 0 || !std::isfinite(*value * factor)) return {};
  ReadRow out = base;
  out.row.metric = std::move(metric);
  out.row.unit = std::move(unit);
  out.row.value = *value * factor;
  out.line = record.find(key)->line();
  rows.push_back(std::move(out));
  return check_read_rows(rows.size(), record.where());
}

void set_mean_lengths(RequestLengths& lengths, std::optional<double> total_input,
                      std::optional<double> total_output, std::optional<double> completed) {
  if (!completed || *completed <= 0) return;
  if (total_input && *total_input > 0) lengths.input_mean = *total_input / *completed;
  if (total_output && *total_output > 0) lengths.output_mean = *total_output / *completed;
}

}  // namespace cairn
