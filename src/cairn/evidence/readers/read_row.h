// What a reader found in the output of a benchmark: one figure, with what the text says
// of the run. What the text leaves open is empty here and filled in from flags
// (complete_row.h) before the row joins the evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/evidence/inference_row.h"
#include "cairn/evidence/micro_row.h"

namespace cairn {

struct ReadRow {
  /// Neither id, source nor card are set, and names are as the tool prints them.
  InferenceRow row;
  /// Of a micro-benchmark: the figure; `row` is then empty. `what`, `dtype` and `library` are
  /// empty where the text does not say.
  std::optional<MicroRow> micro;
  /// The kinds of the cards that took part, as the tool printed them; none where it printed
  /// none. With more than one the figure is of a mixture, or the text leaves open which of
  /// them it is of.
  std::vector<std::string> cards;
  std::string model_file;  // path of the weights, as printed
  /// Of all requests, prompts and answers, where lengths are told to be checked against it.
  std::optional<double> total_tokens;
  std::string date;        // of the run, YYYY-MM-DD
  std::uint32_t line = 0;  // where the figure stands
};

/// The most figures that are taken from one text.
constexpr std::size_t kMostReadRows = 20'000;
/// An error that stands at `where` once a text has more than kMostReadRows.
Result<void> check_read_rows(std::size_t rows, const std::string& where);

}  // namespace cairn
