// One published figure of training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/evidence/inference_row.h"

namespace cairn {

/// What the page leaves open is empty; columns as in data/schema/evidence/training.yaml.
struct TrainingRow {
  std::string id;
  const EvidenceSource* source = nullptr;
  std::string gpu;  // of the catalogue; empty where `gpu_printed` is in none
  std::vector<std::string> gpu_candidates;
  std::string gpu_printed;
  std::optional<double> devices;
  std::optional<double> dies;
  std::optional<double> nodes;
  std::string model;  // of the catalogue; empty where it is in none
  std::string model_printed;
  std::string task;  // "pretrain", "lora" ...
  std::string precision;
  std::string framework;
  std::string framework_version;
  std::string stack;
  std::string metric;
  double value = 0;
  std::string unit;
  std::optional<double> seq_len;
  std::optional<double> micro_batch;
  std::optional<double> global_batch;
  std::optional<double> tp;
  std::optional<double> pp;
  std::optional<double> dp;
  std::optional<double> ep;
  std::optional<double> cp;
  std::optional<double> zero_stage;
  std::string recompute;
  std::string pipeline_schedule;
  std::optional<double> virtual_pipeline;
  std::string parallel;
  std::string interconnect;
  std::string network;
  std::string benchmark;
  std::string round;
  std::string submitter;
  std::string system;
  std::string run;
  std::optional<double> optimizer_samples;
  std::optional<double> power_cap_w;
  std::string os;
  std::string cpu;
  std::string doubt;
  std::string notes;
};

}  // namespace cairn
