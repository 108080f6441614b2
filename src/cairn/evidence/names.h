// What the names in evidence stand for: cards, models, engines, weight formats and
// benchmarks as pages spell them, found in the catalogues.
//
// A name is looked up in the alias tables of the evidence (gpus.csv, models.csv,
// engines.csv, formats.csv), then in the catalogue itself. What is found in neither stays
// as it is printed, with the reason where one is known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/image.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

struct CardName {
  std::string gpu;                      // id of the catalogue; empty: none
  std::vector<std::string> candidates;  // which cards it may be, where that is open
  std::string note;                     // why
};

/// What kind of file an engine reads; it decides what a weight format means.
enum class FileKind : std::uint8_t { unknown, gguf, checkpoint, exl };

struct EngineName {
  std::string engine;  // id of the catalogue, else as printed
  bool known = false;  // it is of the catalogue
  FileKind files = FileKind::unknown;
};

struct ModelName {
  std::string model;   // id of the catalogue; empty: none
  std::string format;  // weight format of the catalogue; empty: none or not said
  std::string note;
};

/// Lengths and limits that a benchmark fixes in one scenario.
struct BenchmarkRule {
  std::string dataset;
  std::optional<double> input_mean;
  std::optional<double> output_mean;
  std::optional<double> ttft_limit_ms;
  std::optional<double> tpot_limit_ms;
  std::optional<double> latency_limit_ms;
};

/// What a row prints of its model.
struct PrintedModel {
  std::string_view name;
  std::string_view weights;
  FileKind files = FileKind::unknown;
  std::optional<double> parameters_b;
};

/// "Qwen3-8B" of "Qwen/Qwen3-8B".
std::string_view without_organisation(std::string_view model);

/// Remembers what it looked up: not for several threads at once.
class EvidenceNames {
 public:
  /// Reads the alias tables of an image of evidence. Keeps a pointer to `knowledge`, which
  /// must outlive this.
  static Result<EvidenceNames> load(const Image& evidence, const Knowledge& knowledge);

  /// `file_gib`: of the weights on one card, where it is known.
  [[nodiscard]] CardName card(std::string_view name, std::optional<double> file_gib = {}) const;
  [[nodiscard]] EngineName engine(std::string_view name) const;
  [[nodiscard]] ModelName model(const PrintedModel& printed) const;
  /// Nothing where the benchmark has no such scenario.
  [[nodiscard]] const BenchmarkRule* benchmark(std::string_view name,
                                               std::string_view scenario) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cairn
