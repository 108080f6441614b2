// What a plan says beside its ranking: machines, engines against each other, rent, and
// what became of the candidates.
#pragma once

#include "cairn/plan/plan.h"
#include "cairn/report/json_writer.h"
#include "context.h"

namespace cairn::cli {

/// What "≈" stands for in the tables of a plan.
inline constexpr std::string_view kNarrowLegend =
    msg("≈ fits narrowly: less memory is free than one sigma of the estimate");

void write_machines(JsonWriter& json, const Machines& machines);
void write_contests(JsonWriter& json, const std::vector<Contest>& contests);
void write_rejections(JsonWriter& json, const std::vector<Rejection>& rejections);
void write_counts(JsonWriter& json, const SearchCounts& counts);

/// "q8_0", "q8_0, KV q8_0" where the cache is not the engine's usual one.
std::string weights_text(const Prediction& prediction, const Knowledge& knowledge);

void print_machines(const std::vector<const Machines*>& machines, const std::string& currency,
                    Context& context);
void print_contests(const Plan& plan, Context& context);
void print_rent(const Plan& plan, const PlanRequest& request, Context& context);
void print_relaxations(const std::vector<Relaxation>& relaxations, Context& context);
/// All of them, or only how many there are.
void print_rejections(const std::vector<Rejection>& rejections, bool all, Context& context);
void print_counts(const SearchCounts& counts, Context& context);

}  // namespace cairn::cli
