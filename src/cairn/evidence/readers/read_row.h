// What a reader found in the output of a benchmark: one figure, with what the text says
// of the run. What the text leaves open is empty here and filled in from flags
// (complete_row.h) before the row joins the evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/evidence/inference_row.h"

namespace cairn {

/// What a micro-benchmark measured beside its value: a matrix product, a copy in device
/// memory, a collective.
struct MicroFigure {
  /// "gemm", "copy", "read", "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
  /// "broadcast", "reduce", "gather", "scatter", "p2p"; empty where the text does not say.
  std::string what;
  std::string dtype;        // "fp16", "bf16", "fp8" ...; empty where the text does not say
  std::optional<double> m;  // of a matrix product
  std::optional<double> n;
  std::optional<double> k;
  std::optional<double> bytes;  // of an array or a message
  std::string library;          // "rccl-tests", "BabelStream 5.0"
};

struct ReadRow {
  /// Neither id, source nor card are set; of a micro figure only metric, value, unit,
  /// devices, nodes and notes are. An infinite rate: all requests at once.
  InferenceRow row;
  std::optional<MicroFigure> micro;
  /// The kinds of the cards that took part, as the tool printed them; none where it printed
  /// none. With more than one the figure is of a mixture, or the text leaves open which of
  /// them it is of.
  std::vector<std::string> cards;
  std::string model_file;  // path of the weights, as printed
  /// Further columns of the evidence files, and their cells: "cpu", "tool", "placement" ...
  std::vector<std::pair<std::string_view, std::string>> cells;
  std::string date;        // of the run, YYYY-MM-DD
  std::uint32_t line = 0;  // where the figure stands
};

/// The most figures that are taken from one text.
constexpr std::size_t kMostReadRows = 50'000;
/// An error that stands at `where` once a text has more than kMostReadRows.
Result<void> check_read_rows(std::size_t rows, const std::string& where);

}  // namespace cairn
