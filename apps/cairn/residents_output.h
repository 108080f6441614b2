// A plan for several models on the same cards, as JSON and as text.
#pragma once

#include "cairn/plan/residents.h"
#include "context.h"

namespace cairn::cli {

void write_residents(const ResidentsPlan& plan, const ResidentsRequest& request, Context& context);
void print_residents(const ResidentsPlan& plan, const ResidentsRequest& request, bool explain,
                     Context& context);

}  // namespace cairn::cli
