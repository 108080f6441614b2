// One published figure of an encoder, a vision or a diffusion model.
#pragma once

#include <optional>
#include <string>

#include "cairn/evidence/evidence_row.h"

namespace cairn {

/// What the page leaves open is empty; columns as in data/schema/evidence/vision.yaml.
struct VisionRow : EvidenceRow {
  std::string model;  // of the catalogue; empty where it is in none
  std::string model_printed;
  std::string task;  // "classify", "text-to-image" ...
  std::string precision;
  std::string engine;
  std::string engine_version;
  std::optional<double> batch;
  std::optional<double> width;
  std::optional<double> height;
  std::optional<double> frames;
  std::optional<double> steps;
  std::optional<double> seq_len;
  std::string scenario;
  std::string benchmark;
  std::string round;
  std::string division;
  std::string submitter;
  std::string system;
  std::string attention;
  std::string backend;
  std::string compile;
  std::string low_memory;
  std::string torch;
  std::optional<double> percentile;
  std::string lengths_from;
  std::string os;
  std::string cpu;
};

}  // namespace cairn
