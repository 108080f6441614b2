// What cairn evidence add found in a file and did with it, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context.h"

namespace cairn::cli {

/// A figure of the file as it is shown, and whether it is new.
struct AddedFigure {
  std::string id;
  bool added = false;
  std::string set;  // "inference", "micro"
  std::string gpu;
  std::optional<double> devices;
  std::string model;   // of a micro-benchmark what ran
  std::string format;  // of weights or numbers
  std::string engine;  // engine or library
  std::string metric;
  double value = 0;
  std::string unit;
  std::string shape;
  std::string doubt;
};

struct AddOutcome {
  std::string file;
  std::string tool;
  std::string folder;
  bool dry_run = false;
  std::size_t added = 0;
  std::vector<AddedFigure> figures;
};

void show(const AddOutcome& outcome, Context& context);

}  // namespace cairn::cli
