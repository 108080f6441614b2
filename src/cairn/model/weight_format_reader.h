// data/models/weight_formats.yaml as it is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/gguf_recipe.h"
#include "cairn/model/weight_format.h"

namespace cairn {

/// A part of a checkpoint that is stored in a type.
struct CheckpointPart {
  std::vector<TensorGroup> tensors;
  const TensorType* type = nullptr;
  bool unless_experts = false;        // only in a model without experts
  std::vector<std::string> families;  // only of these; empty: all
};

struct CheckpointRecipe {
  std::vector<CheckpointPart> parts;  // the first that fits decides
  const TensorType* other = nullptr;
};

struct StoredFormat {
  WeightFormatInfo info;
  std::optional<CheckpointRecipe> checkpoint;
  std::optional<GgufRecipe> gguf;
};

struct KvEntry {
  KvFormat format;
  std::vector<std::string> aliases;
};

/// Architectures whose matrix units know structured zeros, and in what.
struct SparseUnits {
  std::vector<std::string> architectures;
  std::vector<NumberClass> numbers;
};

struct FormatTables {
  std::vector<StoredFormat> formats;
  GgufConventions conventions;
  /// What every checkpoint format stores otherwise than the rest, unless a part of it does.
  std::vector<CheckpointPart> kept;
  std::vector<KvEntry> kv;
  std::vector<SparseUnits> sparsity;
};

/// Names are compared whatever the case, "-" and "_" being the same.
std::string plain_name(std::string_view name);

/// Errors stand at the node; also for a name or alias that is there twice.
Result<FormatTables> read_format_tables(Node root, const TensorTypes& types);

}  // namespace cairn
