// Several models resident together on the cards of one machine.
//
// Every model is divided over the same n cards as the engine divides: by layers or by
// tensors; each is a process of its own. They fit if on every card what they hold adds
// up to no more than the engine may take of it. Of the weight formats the largest are
// taken with which all fit: first the least number of bits per weight is made as large
// as can be, then their sum.
//
// They share the cards' time. A model that must serve a rate is busy for
//   busy = rate / the highest rate that it serves alone;
// one with requests at all times takes its share of the time. While the others are busy it
// waits, so its times are longer by
//   slowdown = 1 / (1 - sum of the others' busy parts)
// (processor sharing; Kleinrock, Queueing Systems II, 1976, section 4.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/plan/plan.h"

namespace cairn {

/// One of the models, and what is asked of it.
struct Resident {
  std::string model;  // a name of the catalogue or a path
  Workload workload;
  std::vector<std::string> formats;  // empty: the usual ones
  std::string kv;                    // empty: the engine's reference
  /// Of the cards' time, for one without a rate; 0: an equal part of what is left.
  double share = 0;
};

struct ResidentsRequest {
  std::vector<Resident> residents;
  Constraints constraints;  // limits on latency hold for each of the models
  CostTerms terms;
  std::size_t top = 10;
};

struct ResidentFit {
  Prediction alone;
  double bits_per_weight = 0;
  Bytes memory{};   // on the fullest card
  double busy = 0;  // of the cards' time
  double slowdown = 1;
  double output_tokens_per_s = 0;  // beside the others

  [[nodiscard]] double tpot_ms() const;  // beside the others
  [[nodiscard]] double ttft_ms() const;
};

struct ResidentsCandidate {
  std::string accelerator;
  std::string engine;
  std::int64_t cards = 1;
  Layout layout;
  std::vector<ResidentFit> residents;  // in the order of the request
  Bytes used{};                        // on the fullest card
  Bytes usable{};                      // of a card, as the engine takes it
  std::optional<double> price;         // of the cards to buy, in whole machines
  std::optional<Purchase> purchase;    // behind it
  std::optional<double> yearly_cost;
  std::optional<double> kwh_per_year;     // of the room
  std::optional<double> co2_kg_per_year;  // where the terms say how much a kWh has
  Machines machines;

  double sigma = 0;  // of the memory estimate, relative

  /// Less is free on the fullest card than one sigma of what it holds.
  [[nodiscard]] bool narrow() const { return used * (1 + sigma) > usable; }
  [[nodiscard]] bool lacks() const { return machines.check && !machines.check->fits; }
};

struct ResidentsPlan {
  std::vector<ResidentsCandidate> ranked;  // by what they cost, then by bits
  std::vector<Rejection> rejections;       // one per accelerator that is not ranked
};

/// One candidate per accelerator and engine, on as few cards of one machine (up to 8) as
/// hold all models within the limits. Engines: llama.cpp and vLLM; how the memory of
/// others is shared is not modelled: one that is asked for by name is an error (bad_input).
Result<ResidentsPlan> plan_residents(const ResidentsRequest& request, const Knowledge& knowledge);

}  // namespace cairn
