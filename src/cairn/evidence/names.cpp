#include "cairn/evidence/names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"

namespace cairn {
namespace {

// Tools print two decimals of a number of billions.
constexpr double kSameParameters = 0.006;
// In the column `weights` of models.csv: only where a page prints no format.
constexpr std::string_view kNone = "none";

struct CardAlias {
  std::optional<double> file_gib_above;
  CardName card;
};

struct ModelAlias {
  std::string weights;
  std::optional<double> parameters_b;
  std::string model;
  std::string format;
  std::string note;
};

FileKind file_kind(std::string_view text) {
  if (text == "gguf") return FileKind::gguf;
  if (text == "checkpoint") return FileKind::checkpoint;
  return text == "exl" ? FileKind::exl : FileKind::unknown;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The columns of an alias table, by the order of `names`.
template <std::size_t N>
Result<std::array<std::uint32_t, N>> columns_of(const Table& table,
                                                const std::array<std::string_view, N>& names) {
  std::array<std::uint32_t, N> out{};
  for (std::size_t i = 0; i < N; ++i) {
    CAIRN_TRY(out[i], table.column(names[i]));
  }
  return out;
}

}  // namespace

struct EvidenceNames::State {
  const Knowledge* knowledge = nullptr;
  std::map<std::string, std::vector<CardAlias>, std::less<>> cards;
  std::map<std::string, std::string, std::less<>> excluded;  // name → reason
  std::map<std::string, EngineName, std::less<>> engines;
  std::map<std::string, std::vector<ModelAlias>, std::less<>> models;
  std::map<std::pair<FileKind, std::string>, std::string> formats;
  std::map<std::pair<std::string, std::string>, BenchmarkRule> benchmarks;

  // What was looked up before: a few hundred names stand in tens of thousands of rows.
  std::map<std::string, CardName, std::less<>> card_cache;
  std::map<std::string, std::string, std::less<>> model_cache;
  std::map<std::string, std::string, std::less<>> published;
  std::array<std::map<std::string, std::string, std::less<>>, 4> format_cache;  // by FileKind

  Result<void> load_cards(Node root);
  Result<void> load_excluded();
  Result<void> load_engines(Node root);
  Result<void> load_models(Node root);
  Result<void> load_formats(Node root);
  Result<void> load_benchmarks(Node root);

  const std::string& catalogue_model(std::string_view name);
  const std::string& published_format(const std::string& model);
  const std::string& format(FileKind files, std::string_view printed);
};

Result<void> EvidenceNames::State::load_cards(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const auto c,
            columns_of<5>(table, {"name", "file_gib_above", "gpu", "candidates", "note"}));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const std::string_view name, row.required(c[0]));
    CardAlias alias;
    CAIRN_TRY(alias.file_gib_above, row.number(c[1]));
    alias.card = {.gpu = std::string(row.text(c[2])),
                  .candidates = split(row.text(c[3]), ';'),
                  .note = std::string(row.text(c[4]))};
    cards[std::string(name)].push_back(std::move(alias));
  }
  return {};
}

Result<void> EvidenceNames::State::load_excluded() {
  CAIRN_TRY(const Node root, knowledge->image.root("hardware/excluded.yaml"));
  CAIRN_TRY(const Node list, root.required("excluded"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(const std::string_view name, list.at(i).get<std::string_view>("name"));
    CAIRN_TRY(const std::string_view reason, list.at(i).get<std::string_view>("reason"));
    excluded.emplace(name, reason);
  }
  return {};
}

Result<void> EvidenceNames::State::load_engines(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const auto c, columns_of<3>(table, {"name", "engine", "files"}));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const std::string_view name, row.required(c[0]));
    const bool known = row.has(c[1]);
    engines[std::string(name)] = {.engine = std::string(known ? row.text(c[1]) : name),
                                  .known = known,
                                  .files = file_kind(row.text(c[2]))};
  }
  return {};
}

Result<void> EvidenceNames::State::load_models(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const auto c,
            columns_of<6>(table, {"name", "weights", "parameters_b", "model", "format", "note"}));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const std::string_view name, row.required(c[0]));
    ModelAlias alias;
    alias.weights = row.text(c[1]);
    CAIRN_TRY(alias.parameters_b, row.number(c[2]));
    alias.model = row.text(c[3]);
    alias.format = row.text(c[4]);
    alias.note = row.text(c[5]);
    models[std::string(name)].push_back(std::move(alias));
  }
  return {};
}

Result<void> EvidenceNames::State::load_formats(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const auto c, columns_of<3>(table, {"files", "name", "format"}));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    CAIRN_TRY(const std::string_view name, row.required(c[1]));
    formats[{file_kind(row.text(c[0])), std::string(name)}] = row.text(c[2]);
  }
  return {};
}

Result<void> EvidenceNames::State::load_benchmarks(Node root) {
  CAIRN_TRY(const Table table, Table::from(root));
  CAIRN_TRY(const auto c,
            columns_of<8>(table, {"benchmark", "scenario", "dataset", "input_mean", "output_mean",
                                  "ttft_p99_ms", "tpot_p99_ms", "latency_p99_ms"}));
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    BenchmarkRule rule;
    rule.dataset = row.text(c[2]);
    CAIRN_TRY(rule.input_mean, row.number(c[3]));
    CAIRN_TRY(rule.output_mean, row.number(c[4]));
    CAIRN_TRY(rule.ttft_limit_ms, row.number(c[5]));
    CAIRN_TRY(rule.tpot_limit_ms, row.number(c[6]));
    CAIRN_TRY(rule.latency_limit_ms, row.number(c[7]));
    benchmarks[{std::string(row.text(c[0])), std::string(row.text(c[1]))}] = std::move(rule);
  }
  return {};
}

const std::string& EvidenceNames::State::catalogue_model(std::string_view name) {
  const auto known = model_cache.find(name);
  if (known != model_cache.end()) return known->second;
  std::string_view id = knowledge->models.id_of(name);
  if (id.empty()) id = knowledge->models.id_of(without_organisation(name));
  return model_cache.emplace(name, id).first->second;
}

const std::string& EvidenceNames::State::published_format(const std::string& model) {
  const auto [it, fresh] = published.try_emplace(model);
  if (fresh) {
    if (const auto spec = knowledge->models.find(model)) it->second = spec->published_format;
  }
  return it->second;
}

const std::string& EvidenceNames::State::format(FileKind files, std::string_view printed) {
  auto& cache = format_cache[static_cast<std::size_t>(files)];
  const auto it = cache.find(printed);
  if (it != cache.end()) return it->second;
  std::string out;
  if (const auto alias = formats.find({files, std::string(printed)}); alias != formats.end()) {
    out = alias->second;
  } else if (const WeightFormatInfo* info = knowledge->weight_formats.find(printed)) {
    // A published format keeps its exceptions, which `find` passes over.
    out = printed.find('+') == std::string_view::npos ? info->name : std::string(printed);
  }
  return cache.emplace(printed, std::move(out)).first->second;
}

std::string_view without_organisation(std::string_view model) {
  const std::size_t slash = model.rfind('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

Result<EvidenceNames> EvidenceNames::load(const Image& evidence, const Knowledge& knowledge) {
  EvidenceNames out;
  out.state_ = std::make_shared<State>();
  State& state = *out.state_;
  state.knowledge = &knowledge;
  CAIRN_TRY(const Node gpus, evidence.root("evidence/gpus.csv"));
  CAIRN_CHECK(state.load_cards(gpus));
  CAIRN_CHECK(state.load_excluded());
  CAIRN_TRY(const Node engines, evidence.root("evidence/engines.csv"));
  CAIRN_CHECK(state.load_engines(engines));
  CAIRN_TRY(const Node models, evidence.root("evidence/models.csv"));
  CAIRN_CHECK(state.load_models(models));
  CAIRN_TRY(const Node formats, evidence.root("evidence/formats.csv"));
  CAIRN_CHECK(state.load_formats(formats));
  CAIRN_TRY(const Node benchmarks, evidence.root("evidence/benchmarks.csv"));
  CAIRN_CHECK(state.load_benchmarks(benchmarks));
  return out;
}

CardName EvidenceNames::card(std::string_view name, std::optional<double> file_gib) const {
  if (const auto it = state_->cards.find(name); it != state_->cards.end()) {
    const CardAlias* best = nullptr;
    for (const CardAlias& alias : it->second) {
      const bool fits = !alias.file_gib_above || (file_gib && *file_gib > *alias.file_gib_above);
      if (fits && (best == nullptr || alias.file_gib_above)) best = &alias;
    }
    if (best != nullptr) return best->card;
  }
  const auto cached = state_->card_cache.find(name);
  if (cached != state_->card_cache.end()) return cached->second;
  CardName out;
  if (const auto found = state_->knowledge->accelerators.find(name)) {
    out.gpu = (*found)->id;
  } else {
    const auto reason = state_->excluded.find(name);
    out.note = reason != state_->excluded.end() ? reason->second : std::string();
  }
  return state_->card_cache.emplace(name, std::move(out)).first->second;
}

EngineName EvidenceNames::engine(std::string_view name) const {
  const auto it = state_->engines.find(name);
  if (it != state_->engines.end()) return it->second;
  if (const auto found = state_->knowledge->engines.find(name)) {
    return {.engine = (*found)->id, .known = true, .files = FileKind::unknown};
  }
  return {.engine = std::string(name), .known = false, .files = FileKind::unknown};
}

ModelName EvidenceNames::model(const PrintedModel& printed) const {
  const ModelAlias* best = nullptr;
  const auto it = state_->models.find(printed.name);
  if (it != state_->models.end()) {
    int most = -1;
    for (const ModelAlias& alias : it->second) {
      const bool same = alias.weights == (printed.weights.empty() ? kNone : printed.weights);
      if (!alias.weights.empty() && !same) continue;
      if (alias.parameters_b &&
          (!printed.parameters_b ||
           std::abs(*printed.parameters_b / *alias.parameters_b - 1) > kSameParameters)) {
        continue;
      }
      const int score = (alias.weights.empty() ? 0 : 1) + (alias.parameters_b ? 2 : 0);
      if (score > most) best = &alias;
      most = std::max(most, score);
    }
  }
  ModelName out;
  if (best != nullptr) {
    out = {.model = best->model, .format = best->format, .note = best->note};
  } else {
    out.model = state_->catalogue_model(printed.name);
  }
  if (out.format == "published") {
    out.format = state_->format(printed.files, state_->published_format(out.model));
  } else if (out.format.empty() && !printed.weights.empty()) {
    out.format = state_->format(printed.files, printed.weights);
  }
  return out;
}

const BenchmarkRule* EvidenceNames::benchmark(std::string_view name,
                                              std::string_view scenario) const {
  const auto it = state_->benchmarks.find({std::string(name), std::string(scenario)});
  return it == state_->benchmarks.end() ? nullptr : &it->second;
}

}  // namespace cairn
