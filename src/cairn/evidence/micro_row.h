// One published figure of a kernel, a copy or a collective.
#pragma once

#include <optional>
#include <string>

#include "cairn/evidence/evidence_row.h"

namespace cairn {

/// What the page leaves open is empty; columns as in data/schema/evidence/micro.yaml.
struct MicroRow : EvidenceRow {
  std::optional<double> dies;
  std::string what;  // "gemm", "copy", "all_reduce" ...
  std::string dtype;
  std::optional<double> m;
  std::optional<double> n;
  std::optional<double> k;
  std::optional<double> bytes;  // of a message or an array
  std::string batch;            // as printed
  std::string library;
  std::optional<double> compute_units;
  std::string scale;  // "blockscale"
  std::optional<bool> preshuffle;
  std::optional<double> split_k;
  std::string operation;  // "dispatch", "combine"
  std::optional<double> tokens;
  std::optional<double> hidden;
  std::optional<double> experts_per_token;
  std::optional<bool> zero_copy;
  std::optional<double> seq_q;
  std::optional<double> seq_kv;
  std::optional<double> heads;
  std::optional<double> kv_heads;
  std::optional<double> head_dim;
  std::optional<bool> causal;
  std::string pass;       // "backward"
  std::string partition;  // "cpx/nps4": one of `devices` is a part of a card
  std::optional<double> ranks;
  std::string interconnect;
  std::string network;
  std::string placement;
  std::string algorithm;
  std::string protocol;
  std::string quantised;  // numbers that travel where they are not `dtype`
  std::string kernel;
};

}  // namespace cairn
