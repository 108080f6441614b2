// The columns of the four kinds of evidence files.
#pragma once

#include <span>

#include "cairn/evidence/row_fields.h"

namespace cairn {

struct MicroRow;
struct TrainingRow;
struct VisionRow;

// Without id and source, which every file has, and without the columns of a file that are
// no plain text, number or flag (`scenario`, `length_kind`).
std::span<const CsvField<InferenceRow>> inference_fields();
std::span<const CsvField<MicroRow>> micro_fields();
std::span<const CsvField<TrainingRow>> training_fields();
std::span<const CsvField<VisionRow>> vision_fields();

}  // namespace cairn
