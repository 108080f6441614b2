#include "cairn/evidence/loader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"
#include "cairn/evidence/fields.h"

namespace cairn {
namespace {

// Columns that every file has.
struct Head {
  std::uint32_t id;
  std::uint32_t value;
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
  CAIRN_TRY(head.value, table.column("value"));
  head.source = optional_column(table, "source");
  for (const std::string_view name : {"gpu", "metric", "unit"}) {
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

Result<void> read_head(const Row& cells, const Head& head, const Reading& reading,
                       EvidenceRow& row) {
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
  CAIRN_TRY([[maybe_unused]] const std::string_view value, cells.required(head.value));
  return {};
}

// What a value is of must be there, whatever else is left out.
Result<void> check_row(const Row& cells, const EvidenceRow& row) {
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

void name_card(EvidenceRow& row, const EvidenceNames& names, std::optional<double> file_gib = {}) {
  CardName card = names.card(row.gpu_printed, file_gib);
  row.gpu = std::move(card.gpu);
  row.gpu_candidates = std::move(card.candidates);
}

// Of a row without weight format and engine files.
std::string model_id(const std::string& printed, const EvidenceNames& names) {
  return names
      .model({.name = printed, .weights = {}, .files = FileKind::checkpoint, .parameters_b = {}})
      .model;
}

// What the names of a row stand for; complete_names is that of inference.
void complete_names(MicroRow& row, const EvidenceNames& names) { name_card(row, names); }
void complete_names(TrainingRow& row, const EvidenceNames& names) {
  name_card(row, names);
  row.model = model_id(row.model_printed, names);
}
void complete_names(VisionRow& row, const EvidenceNames& names) {
  name_card(row, names);
  row.model = model_id(row.model_printed, names);
}

template <class R>
Result<void> read_rows(Node root, std::span<const CsvField<R>> fields, const Reading& reading,
                       std::vector<R>& out) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const Head head, head_of(table));
  CAIRN_TRY(const auto reader, RowReader<R>::make(table, fields, kHead));
  out.reserve(out.size() + table.rows());
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row cells = table.row(i);
    R& row = out.emplace_back();
    CAIRN_CHECK(read_head(cells, head, reading, row));
    CAIRN_CHECK(reader.read(cells, row));
    CAIRN_CHECK(check_row(cells, row));
    complete_names(row, *reading.names);
  }
  return {};
}

template <class R>
Result<std::vector<R>> read_rows(Node root, std::span<const CsvField<R>> fields,
                                 const Reading& reading) {
  std::vector<R> out;
  CAIRN_CHECK(read_rows(root, fields, reading, out));
  return out;
}

template <class R>
std::vector<EvidenceCell> cells_by(std::span<const CsvField<R>> fields, R& row) {
  std::vector<EvidenceCell> out{{"id", row.id}};
  if (row.source != nullptr) out.push_back({"source", row.source->key});
  for (const CsvField<R>& field : fields) {
    std::string text = text_of(field, row);
    if (!text.empty()) out.push_back({field.column, std::move(text)});
  }
  return out;
}

// The columns of `order` that any row fills.
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
std::string csv_of(std::span<const CsvField<R>> fields, const std::vector<R>& rows) {
  std::vector<std::string_view> order(std::begin(kHead), std::end(kHead));
  for (const CsvField<R>& f : fields) order.push_back(f.column);
  std::vector<std::vector<EvidenceCell>> cells;
  cells.reserve(rows.size());
  for (const R& row : rows) cells.push_back(cells_of(row));
  return csv_of(cells, order);
}

}  // namespace

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
    auto parsed = parse_source_kind(cells.text(kind));
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
  return read_rows(root, inference_fields(), {&sources, &names, fallback}, out);
}

Result<std::vector<InferenceRow>> read_inference(Node root, const EvidenceSources& sources,
                                                 const EvidenceNames& names,
                                                 const EvidenceSource* fallback) {
  return read_rows(root, inference_fields(), {&sources, &names, fallback});
}

Result<std::vector<MicroRow>> read_micro(Node root, const EvidenceSources& sources,
                                         const EvidenceNames& names,
                                         const EvidenceSource* fallback) {
  return read_rows(root, micro_fields(), {&sources, &names, fallback});
}

Result<std::vector<TrainingRow>> read_training(Node root, const EvidenceSources& sources,
                                               const EvidenceNames& names,
                                               const EvidenceSource* fallback) {
  return read_rows(root, training_fields(), {&sources, &names, fallback});
}

Result<std::vector<VisionRow>> read_vision(Node root, const EvidenceSources& sources,
                                           const EvidenceNames& names,
                                           const EvidenceSource* fallback) {
  return read_rows(root, vision_fields(), {&sources, &names, fallback});
}

std::vector<EvidenceCell> cells_of(InferenceRow row) { return cells_by(inference_fields(), row); }
std::vector<EvidenceCell> cells_of(MicroRow row) { return cells_by(micro_fields(), row); }
std::vector<EvidenceCell> cells_of(TrainingRow row) { return cells_by(training_fields(), row); }
std::vector<EvidenceCell> cells_of(VisionRow row) { return cells_by(vision_fields(), row); }

std::string inference_csv(const std::vector<InferenceRow>& rows) {
  return csv_of(inference_fields(), rows);
}
std::string micro_csv(const std::vector<MicroRow>& rows) { return csv_of(micro_fields(), rows); }

}  // namespace cairn
