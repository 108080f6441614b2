// Predictions and memory as JSON and as text: shared by predict, plan, compare and fit.
#pragma once

#include <string>

#include "cairn/predict/prediction.h"
#include "cairn/report/json_writer.h"
#include "context.h"

namespace cairn::cli {

/// The object of a memory estimate (docs/json/predict.md).
void write_memory(JsonWriter& json, const MemoryEstimate& memory);
/// Whether it fits, as a word to translate and its tone.
struct FitWord {
  std::string_view word;
  Tone tone = Tone::plain;
};
FitWord fit_word(bool fits, bool narrow);
/// What "fits narrowly" means, for an estimate that does.
Message narrow_note(const MemoryEstimate& memory);
/// The fields of a prediction, without opening or closing its object.
void write_prediction(JsonWriter& json, const Prediction& prediction);

/// "2 x rx-7900-xtx, llama.cpp, q4_k_m, pp2".
std::string deployment_line(const Prediction& prediction, const Translator& t);
/// "tp4 x dp2", or "1 device" in the reader's language.
std::string layout_text(const Layout& layout, const Translator& t);
/// A figure with its interval and unit; a dash where it is absent.
std::string figure(const Metric* metric);
/// A sum of money, or a dash.
std::string amount(const std::optional<double>& value, const std::string& currency);

/// The name of a metric, of a part of memory, or of a basis for people.
std::string_view word_for_metric(std::string_view name);
std::string_view word_for_part(std::string_view name);
std::string_view word_for(BasisKind kind);
std::string_view word_for(TimeClass time_class);

}  // namespace cairn::cli
