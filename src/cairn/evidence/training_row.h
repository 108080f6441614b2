// One published figure of training.
#pragma once

#include <optional>
#include <string>

#include "cairn/evidence/evidence_row.h"

namespace cairn {

/// What the page leaves open is empty; columns as in data/schema/evidence/training.yaml.
struct TrainingRow : EvidenceRow {
  std::optional<double> dies;
  std::string model;  // of the catalogue; empty where it is in none
  std::string model_printed;
  std::string task;  // "pretrain", "lora" ...
  std::string precision;
  std::string framework;
  std::string framework_version;
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
};

}  // namespace cairn
