// A row that a reader found, completed by what a person says of the run: ready to join the
// evidence.
//
// What the text states wins over nothing; what the person states wins over the text where it
// is a name (card, model, engine, weights), and fills in the rest. A row that lacks what a
// prediction of it would need is refused, and the error names the option that says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cairn/evidence/loader.h"
#include "cairn/evidence/readers/read_row.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

/// Empty or none: not said.
struct RunFacts {
  std::string gpu;
  std::optional<double> cards;
  std::optional<double> nodes;
  std::string model;
  std::string weights;
  std::string kv;
  std::string engine;
  std::string engine_version;
  std::string stack;
  std::optional<double> input;  // tokens of a request
  std::optional<double> output;
  std::optional<double> batch;
  std::optional<double> rate;
  std::optional<double> tp;
  std::optional<double> pp;
  std::optional<double> dp;
  std::optional<double> ep;
  std::optional<double> power_cap_w;
  std::optional<bool> hipblaslt;
  std::optional<bool> rocwmma;
  std::string benchmark;     // of MLPerf: "llama2-70b-99"
  bool interactive = false;  // LoadGen's Server is a submission's Interactive
  std::string what;          // of a micro-benchmark
  std::string dtype;
};

/// What completing goes by. Kept by reference.
struct Completion {
  const RunFacts& facts;
  const EvidenceNames& names;
  const Knowledge& knowledge;
  const std::string& file;  // for errors
};

/// The row with names resolved (gpu, model, format, engine) and lengths filled in; id and
/// source are not set. Errors: bad_input with file, line and the option that is missing;
/// not_found for a name that no catalogue has; unsupported for a card that is left out of the
/// catalogue.
Result<InferenceRow> complete_inference(const ReadRow& read, const Completion& by);
Result<MicroRow> complete_micro(const ReadRow& read, const Completion& by);

}  // namespace cairn
