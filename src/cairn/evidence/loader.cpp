#include "cairn/evidence/loader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"
#include "cairn/evidence/fields.h"

namespace cairn {
namespace {

constexpr std::pair<std::string_view, SourceKind> kKinds[] = {
    {"vendor", SourceKind::vendor},
    {"independent", SourceKind::independent},
    {"mlperf", SourceKind::mlperf},
    {"community", SourceKind::community},
    {"user", SourceKind::user}};
constexpr std::pair<std::string_view, Scenario> kScenarios[] = {
    {"llama-bench", Scenario::llama_bench},
    {"single-stream", Scenario::single_stream},
    {"offline-throughput", Scenario::offline_throughput},
    {"offline-latency", Scenario::offline_latency},
    {"serving", Scenario::serving},
    {"mlperf-offline", Scenario::mlperf_offline},
    {"mlperf-server", Scenario::mlperf_server},
    {"mlperf-interactive", Scenario::mlperf_interactive}};
constexpr std::pair<std::string_view, LengthKind> kLengths[] = {
    {"exact", LengthKind::exact},
    {"uniform", LengthKind::uniform},
    {"mean", LengthKind::mean},
    {"benchmark", LengthKind::benchmark}};

template <class E, std::size_t N>
std::string_view word(const std::pair<std::string_view, E> (&words)[N], E value) {
  const auto it = std::ranges::find(words, value, &std::pair<std::string_view, E>::second);
  return it == std::end(words) ? std::string_view() : it->first;
}

template <class E, std::size_t N>
Result<E> parse_word(const std::pair<std::string_view, E> (&words)[N], std::string_view text) {
  const auto it = std::ranges::find(words, text, &std::pair<std::string_view, E>::first);
  if (it != std::end(words)) return it->second;
  std::string want = "one of";
  for (const auto& [name, value] : words) want += fmt::format(" {}", name);
  return fail(bad_input(std::string(msg("not one of the choices"))).got(text).want(want));
}

// Columns that every file has.
struct Head {
  std::uint32_t id;
  std::optional<std::uint32_t> source;
};

constexpr std::string_view kHead[] = {"id", "source"};

std::optional<std::uint32_t> optional_column(const Table& table, std::string_view name) {
  const auto found = table.column(name);
  return found ? std::optional(*found) : std::nullopt;
}

Result<Head> head_of(const Table& table) {
  Head head{};
  CAIRN_TRY(head.id, table.column("id"));
  head.source = optional_column(table, "source");
  for (const std::string_view name : {"gpu", "metric", "value", "unit"}) {
    CAIRN_TRY([[maybe_unused]] const std::uint32_t column, table.column(name));
  }
  if (table.rows() > kMostEvidenceRows) {
    return fail(bad_input(std::string(msg("too many rows")))
                    .at(table.where())
                    .want(fmt::format("at most {}", kMostEvidenceRows)));
  }
  return head;
}

// What a reader of one kind of file works with.
struct Reading {
  const EvidenceSources* sources;
  const EvidenceNames* names;
  const EvidenceSource* fallback;
};

template <class R>
Result<void> read_head(const Row& cells, const Head& head, const Reading& reading, R& row) {
  CAIRN_TRY(const std::string_view id, cells.required(head.id));
  row.id = id;
  const std::string_view key = head.source ? cells.text(*head.source) : std::string_view();
  row.source = key.empty() ? reading.fallback : reading.sources->find(key);
  if (row.source == nullptr) {
    return fail(bad_input(std::string(msg("no such source")))
                    .at(cells.where())
                    .in("source")
                    .got(key)
                    .want("a key of sources.csv"));
  }
  return {};
}

// The value of a row and what it is of must be there, whatever else is left out.
template <class R>
Result<void> check_row(const Row& cells, const R& row) {
  const std::pair<std::string_view, bool> needed[] = {
      {"gpu", row.gpu_printed.empty()}, {"metric", row.metric.empty()}, {"unit", row.unit.empty()}};
  for (const auto& [column, absent] : needed) {
    if (!absent) continue;
    return fail(bad_input(std::string(msg("an empty cell")))
                    .at(cells.where())
                    .in(std::string(column))
                    .want("a value"));
  }
  return {};
}

template <class R, class Finish>
Result<void> read_rows(Node root, std::span<const CsvField<R>> fields,
                       std::span<const std::string_view> extra, const Reading& reading,
                       Finish finish, std::vector<R>& out) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const Head head, head_of(table));
  CAIRN_TRY(const std::uint32_t value, table.column("value"));
  CAIRN_TRY(const auto reader, RowReader<R>::make(table, fields, extra));
  out.reserve(out.size() + table.rows());
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row cells = table.row(i);
    R& row = out.emplace_back();
    CAIRN_CHECK(read_head(cells, head, reading, row));
    CAIRN_TRY([[maybe_unused]] const std::string_view there, cells.required(value));
    CAIRN_CHECK(reader.read(cells, row));
    CAIRN_CHECK(check_row(cells, row));
    CAIRN_CHECK(finish(cells, row));
  }
  return {};
}

template <class R>
void name_card(R& row, const EvidenceNames& names, std::optional<double> file_gib = {}) {
  CardName card = names.card(row.gpu_printed, file_gib);
  row.gpu = std::move(card.gpu);
  row.gpu_candidates = std::move(card.candidates);
}

// Of a row without weight format and engine files.
template <class R>
void name_model(R& row, const EvidenceNames& names) {
  row.model = names
                  .model({.name = row.model_printed,
                          .weights = {},
                          .files = FileKind::checkpoint,
                          .parameters_b = {}})
                  .model;
}

template <class R>
std::vector<EvidenceCell> plain_cells(std::span<const CsvField<R>> fields, R& row) {
  std::vector<EvidenceCell> out{{"id", row.id}};
  if (row.source != nullptr) out.push_back({"source", row.source->key});
  for (const CsvField<R>& field : fields) {
    std::string text = text_of(field, row);
    if (!text.empty()) out.push_back({field.column, std::move(text)});
  }
  return out;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// The columns that any row fills, in the order in which they first occur.
std::string csv_of(const std::vector<std::vector<EvidenceCell>>& rows,
                   std::span<const std::string_view> order) {
  std::vector<std::string_view> used;
  for (const std::string_view column : order) {
    const bool any = std::ranges::any_of(rows, [column](const std::vector<EvidenceCell>& row) {
      return std::ranges::find(row, column, &EvidenceCell::column) != row.end();
    });
    if (any) used.push_back(column);
  }
  std::string out;
  for (const std::string_view column : used) {
    out += fmt::format("{}{}", out.empty() ? "" : ",", column);
  }
  out += '\n';
  for (const std::vector<EvidenceCell>& row : rows) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (i > 0) out += ',';
      const auto cell = std::ranges::find(row, used[i], &EvidenceCell::column);
      if (cell != row.end()) out += csv_cell(cell->text);
    }
    out += '\n';
  }
  return out;
}

template <class R>
std::vector<std::string_view> columns_of(std::span<const CsvField<R>> fields) {
  std::vector<std::string_view> out{"id", "source"};
  for (const CsvField<R>& f : fields) out.push_back(f.column);
  return out;
}

}  // namespace

std::string_view name_of(SourceKind kind) { return word(kKinds, kind); }
std::string_view name_of(Scenario scenario) { return word(kScenarios, scenario); }
std::string_view name_of(LengthKind kind) { return word(kLengths, kind); }

Result<const EvidenceSource*> EvidenceSources::add(EvidenceSource source) {
  if (by_key_.contains(source.key)) {
    return fail(
        bad_input(std::string(msg("a name that is already taken"))).in("key").got(source.key));
  }
  sources_.push_back(std::move(source));
  const EvidenceSource& stored = sources_.back();
  by_key_.emplace(stored.key, &stored);
  return &stored;
}

const EvidenceSource* EvidenceSources::find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : it->second;
}

Result<void> EvidenceSources::read(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const std::uint32_t key, table.column("key"));
  CAIRN_TRY(const std::uint32_t kind, table.column("kind"));
  CAIRN_TRY(const std::uint32_t campaign, table.column("campaign"));
  const auto url = optional_column(table, "url");
  const auto date = optional_column(table, "date");
  const auto confirmed = optional_column(table, "confirmed");
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row cells = table.row(i);
    EvidenceSource source;
    CAIRN_TRY(source.key, cells.required(key));
    CAIRN_TRY(source.campaign, cells.required(campaign));
    auto parsed = parse_word(kKinds, cells.text(kind));
    if (!parsed) return fail(std::move(parsed).error().at(cells.where()).in("kind"));
    source.kind = *parsed;
    if (url) source.url = cells.text(*url);
    if (date) source.date = cells.text(*date);
    source.confirmed = !confirmed || cells.text(*confirmed) != "false";
    auto added = add(std::move(source));
    if (!added) return fail(std::move(added).error().at(cells.where()));
  }
  return {};
}

void complete_lengths(RequestLengths& lengths) {
  const auto mean = [&lengths](std::optional<double> length) -> std::optional<double> {
    if (!length) return std::nullopt;
    if (lengths.kind == LengthKind::exact) return length;
    if (lengths.kind != LengthKind::uniform) return std::nullopt;
    const double ratio = lengths.range_ratio.value_or(0);
    return (std::max(1.0, ratio * *length) + *length) / 2;
  };
  if (!lengths.input_mean) lengths.input_mean = mean(lengths.input);
  if (!lengths.output_mean) lengths.output_mean = mean(lengths.output);
}

void complete_names(InferenceRow& row, const EvidenceNames& names) {
  std::optional<double> file_of_card;
  if (row.file_gib) file_of_card = *row.file_gib / std::max(1.0, row.devices.value_or(1));
  name_card(row, names, file_of_card);
  const EngineName engine = names.engine(row.engine_printed);
  row.engine = engine.engine;
  ModelName model = names.model({.name = row.model_printed,
                                 .weights = row.weights,
                                 .files = engine.files,
                                 .parameters_b = row.parameters_b});
  row.model = std::move(model.model);
  row.format = std::move(model.format);
  if (!row.benchmark.empty() && row.scenario) {
    if (const BenchmarkRule* rule = names.benchmark(row.benchmark, name_of(*row.scenario))) {
      if (row.lengths.dataset.empty()) row.lengths.dataset = rule->dataset;
      if (!row.lengths.input_mean) row.lengths.input_mean = rule->input_mean;
      if (!row.lengths.output_mean) row.lengths.output_mean = rule->output_mean;
      row.ttft_limit_ms = rule->ttft_limit_ms;
      row.tpot_limit_ms = rule->tpot_limit_ms;
      row.latency_limit_ms = rule->latency_limit_ms;
    }
  }
  complete_lengths(row.lengths);
}

Result<void> read_inference(Node root, const EvidenceSources& sources, const EvidenceNames& names,
                            std::vector<InferenceRow>& out, const EvidenceSource* fallback) {
  constexpr std::string_view kExtra[] = {"id", "source", "scenario", "length_kind"};
  CAIRN_TRY(const Table head, Table::from(root));
  const auto scenario = optional_column(head, "scenario");
  const auto kind = optional_column(head, "length_kind");
  const auto finish = [&](const Row& cells, InferenceRow& row) -> Result<void> {
    if (scenario && cells.has(*scenario)) {
      auto parsed = parse_word(kScenarios, cells.text(*scenario));
      if (!parsed) return fail(std::move(parsed).error().at(cells.where()).in("scenario"));
      row.scenario = *parsed;
    }
    if (kind && cells.has(*kind)) {
      auto parsed = parse_word(kLengths, cells.text(*kind));
      if (!parsed) return fail(std::move(parsed).error().at(cells.where()).in("length_kind"));
      row.lengths.kind = *parsed;
    }
    complete_names(row, names);
    return {};
  };
  return read_rows<InferenceRow>(root, inference_fields(), kExtra, {&sources, &names, fallback},
                                 finish, out);
}

Result<std::vector<InferenceRow>> read_inference(Node root, const EvidenceSources& sources,
                                                 const EvidenceNames& names,
                                                 const EvidenceSource* fallback) {
  std::vector<InferenceRow> out;
  CAIRN_CHECK(read_inference(root, sources, names, out, fallback));
  return out;
}

Result<std::vector<MicroRow>> read_micro(Node root, const EvidenceSources& sources,
                                         const EvidenceNames& names,
                                         const EvidenceSource* fallback) {
  std::vector<MicroRow> out;
  const auto finish = [&](const Row&, MicroRow& row) -> Result<void> {
    name_card(row, names);
    return {};
  };
  CAIRN_CHECK(
      read_rows<MicroRow>(root, micro_fields(), kHead, {&sources, &names, fallback}, finish, out));
  return out;
}

Result<std::vector<TrainingRow>> read_training(Node root, const EvidenceSources& sources,
                                               const EvidenceNames& names,
                                               const EvidenceSource* fallback) {
  std::vector<TrainingRow> out;
  const auto finish = [&](const Row&, TrainingRow& row) -> Result<void> {
    name_card(row, names);
    name_model(row, names);
    return {};
  };
  CAIRN_CHECK(read_rows<TrainingRow>(root, training_fields(), kHead, {&sources, &names, fallback},
                                     finish, out));
  return out;
}

Result<std::vector<VisionRow>> read_vision(Node root, const EvidenceSources& sources,
                                           const EvidenceNames& names,
                                           const EvidenceSource* fallback) {
  std::vector<VisionRow> out;
  const auto finish = [&](const Row&, VisionRow& row) -> Result<void> {
    name_card(row, names);
    name_model(row, names);
    return {};
  };
  CAIRN_CHECK(read_rows<VisionRow>(root, vision_fields(), kHead, {&sources, &names, fallback},
                                   finish, out));
  return out;
}

std::vector<EvidenceCell> cells_of(InferenceRow row) {
  std::vector<EvidenceCell> out = plain_cells(inference_fields(), row);
  if (row.scenario) out.push_back({"scenario", std::string(name_of(*row.scenario))});
  if (row.lengths.kind != LengthKind::unknown) {
    out.push_back({"length_kind", std::string(name_of(row.lengths.kind))});
  }
  return out;
}

std::vector<EvidenceCell> cells_of(MicroRow row) { return plain_cells(micro_fields(), row); }
std::vector<EvidenceCell> cells_of(TrainingRow row) { return plain_cells(training_fields(), row); }
std::vector<EvidenceCell> cells_of(VisionRow row) { return plain_cells(vision_fields(), row); }

std::string inference_csv(const std::vector<InferenceRow>& rows) {
  std::vector<std::vector<EvidenceCell>> cells;
  cells.reserve(rows.size());
  for (const InferenceRow& row : rows) cells.push_back(cells_of(row));
  std::vector<std::string_view> order = columns_of(inference_fields());
  const auto notes = std::ranges::find(order, "notes");
  order.insert(notes, {"scenario", "length_kind"});
  return csv_of(cells, order);
}

std::string micro_csv(const std::vector<MicroRow>& rows) {
  std::vector<std::vector<EvidenceCell>> cells;
  cells.reserve(rows.size());
  for (const MicroRow& row : rows) cells.push_back(cells_of(row));
  return csv_of(cells, columns_of(micro_fields()));
}

}  // namespace cairn
