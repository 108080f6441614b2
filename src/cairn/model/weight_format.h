// WeightFormat: which TensorType each tensor of a graph gets. Uniform formats
// (bf16, fp8, awq-int4, mxfp4 ...) and llama.cpp's mixed recipes (q4_k_m ...), each also
// with exceptions: "nvfp4+attention@0-2:bf16" (format_name.h). And the formats of the
// KV cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/model/graph.h"
#include "cairn/model/tensor_type.h"

namespace cairn {

/// A graph with a storage type for each tensor.
struct BoundWeights {
  std::string format;
  /// One per Graph::tensors, pointing into the TensorTypes it was bound with.
  std::vector<const TensorType*> types;
  /// Bytes read from a file's header, one per tensor; empty where they follow
  /// from the types.
  std::vector<Bytes> exact;
  /// The format's exact recipe is not public (Unsloth dynamic): a stand-in.
  bool approximate = false;
  /// One per Graph::parts; none where a file was read that has them elsewhere. Towers
  /// keep 16 bits in quantised formats; GGUF has them in a file of their own (mmproj).
  std::vector<BoundWeights> parts;

  [[nodiscard]] Bytes bytes(const Graph& graph, std::size_t tensor) const;
  /// Of the tensors of the graph itself, and of an encoder.
  [[nodiscard]] Bytes total(const Graph& graph) const;
  /// Of its vision and audio towers.
  [[nodiscard]] Bytes towers(const Graph& graph) const;
};

struct WeightFormatInfo {
  std::string name;  // "q4_k_m"
  std::string kind;  // "gguf", "checkpoint", or "mlx" (checkpoints of Apple's engine)
  std::string description;
  std::string description_zh;
  std::vector<std::string> aliases;
  /// Where the recipe is not public: what stands in for it, and how far off it
  /// was on the files whose size is known. Empty for exact recipes.
  std::string stand_in;
  std::string source_url;
  std::string date;
  /// llama.cpp's number of the file type (general.file_type); -1: none.
  int ftype = -1;
  /// It stores matrices with structured zeros (TensorType::sparse).
  bool sparse = false;
};

/// A format of the KV cache.
struct KvFormat {
  std::string name;  // "fp16", "fp8", "q8_0" ...
  const TensorType* type = nullptr;
};

class WeightFormats {
 public:
  /// `formats` is data/models/weight_formats.yaml. Keeps pointers into `types`,
  /// which must outlive this and every BoundWeights.
  static Result<WeightFormats> load(Node formats, const TensorTypes& types);
  /// By name or alias, whatever the case, "-" and "_" being the same; of a name with
  /// exceptions the format they are exceptions of.
  [[nodiscard]] const WeightFormatInfo* find(std::string_view name) const;
  /// By llama.cpp's number of the file type.
  [[nodiscard]] const WeightFormatInfo* find_ftype(int ftype) const;
  [[nodiscard]] const std::vector<WeightFormatInfo>& all() const;
  /// Assigns a type to every tensor of `graph`. Errors: not_found for an unknown
  /// format (with the nearest names) or type, bad_input for a malformed exception,
  /// unsupported where the format quantises only parts that the model has not, or an
  /// exception names what it has not.
  [[nodiscard]] Result<BoundWeights> bind(const Graph& graph, std::string_view format) const;
  /// A format of the KV cache by name or alias; nothing where there is none of it.
  [[nodiscard]] std::optional<KvFormat> find_kv(std::string_view name) const;
  [[nodiscard]] std::vector<KvFormat> kv_formats() const;
  /// True where the matrix units of an architecture ("cdna3", "rdna4" ...) multiply
  /// numbers of a class with structured zeros in half the time.
  [[nodiscard]] bool multiplies_sparse(std::string_view architecture, NumberClass numbers) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace cairn
