// One published figure of an encoder, a vision or a diffusion model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/evidence/inference_row.h"

namespace cairn {

/// What the page leaves open is empty; columns as in data/schema/evidence/vision.yaml.
struct VisionRow {
  std::string id;
  const EvidenceSource* source = nullptr;
  std::string gpu;  // of the catalogue; empty where `gpu_printed` is in none
  std::vector<std::string> gpu_candidates;
  std::string gpu_printed;
  std::optional<double> devices;
  std::optional<double> nodes;
  std::string model;  // of the catalogue; empty where it is in none
  std::string model_printed;
  std::string task;  // "classify", "text-to-image" ...
  std::string precision;
  std::string engine;
  std::string engine_version;
  std::string stack;
  std::string metric;
  double value = 0;
  std::string unit;
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
  std::string doubt;
  std::string notes;
};

}  // namespace cairn
