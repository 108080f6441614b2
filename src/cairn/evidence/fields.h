// The columns of the four kinds of evidence files.
#pragma once

#include <span>

#include "cairn/evidence/row_fields.h"

namespace cairn {

struct InferenceRow;
struct MicroRow;
struct TrainingRow;
struct VisionRow;

// In the order of data/schema/evidence, without id and source, which every file has.
std::span<const CsvField<InferenceRow>> inference_fields();
std::span<const CsvField<MicroRow>> micro_fields();
std::span<const CsvField<TrainingRow>> training_fields();
std::span<const CsvField<VisionRow>> vision_fields();

}  // namespace cairn
