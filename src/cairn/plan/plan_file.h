// A workload for `cairn plan` as a YAML file (data/schema/plan.yaml):
//
//   model: llama-3.1-70b
//   workload: {rate: 20, input: 2048, output: 256}
//   limits: {ttft_ms: 1000, tpot_ms: 50, power_w: 3000}
//   budget: {amount: 6000, currency: CNY}
//   owned: {rx-7900-xtx: 2}
//   host: {supply_w: 850, ram_gib: 64, slots: 1}
//   vendor: amd
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/data/document.h"
#include "cairn/plan/plan.h"
#include "cairn/plan/residents.h"

namespace cairn {

struct PlanFile {
  std::string model;                // empty where the file does not say
  std::vector<Resident> residents;  // several models on the same cards, instead
  PlanRequest request;
};

/// Reads a plan file. Unknown fields, wrong types and absurd values are errors.
Result<PlanFile> read_plan(Node root);

/// The objective of a name, or an error that lists the names.
Result<Objective> find_objective(std::string_view name);

}  // namespace cairn
