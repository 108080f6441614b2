// Hugging Face config.json to ModelSpec.
//
//   CAIRN_TRY(ModelSpec spec, load_hf("models/Qwen3-8B"));
//
// The architecture is taken from `architectures[0]`, else from `model_type`; one
// that is not known is an error (unsupported) which names field and value, never
// a guess. So is a key whose value changes the shape of the model and that the
// reader of the family does not understand. The meaning of each key and its
// default is that of the configuration class in Hugging Face transformers
// (https://github.com/huggingface/transformers/tree/main/src/transformers/models)
// or of the model's own repository where transformers does not have it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/spec.h"

namespace cairn {

/// A relative whose family an architecture that is not known is read as.
struct Relative {
  std::string architecture;          // one of hf_architectures()
  std::string family;                // of the catalogue; empty where it is not from there
  std::vector<std::string> ignored;  // out: fields that may change the shape, passed over
};

/// The spec of a parsed config.json. `id` becomes ModelSpec::id. Of a multimodal
/// model whose language model stands alone in `text_config` (or `llm_config`,
/// `language_config`) that part is read, and ModelSpec::text_part is set.
/// With `like`, an architecture that is not known is read as that one, with the sizes of
/// this file; one that is known is then an error.
Result<ModelSpec> spec_from_hf_config(Node root, std::string id, Relative* like = nullptr);

/// As above, for a config.json or the folder that holds one. The id is the name
/// of the folder.
Result<ModelSpec> load_hf(const std::string& path, Relative* like = nullptr);

/// The weight format of `torch_dtype` (`dtype`), in which a model was trained and whatever
/// a quantisation leaves alone is stored: "bf16", "fp16", "fp32"; empty where the file
/// says nothing.
Result<std::string> trained_format(Node root);

/// The weight format that a file declares for a model: that of its `quantization_config`
/// (or modelopt's hf_quant_config.json), module by module, else `trained`. It is the name
/// of a format of data/models/weight_formats.yaml, with exceptions for what its lists
/// leave alone or store otherwise (format_name.h). The spec must be valid. Errors:
/// unsupported for a method or value that is not covered, with field and value.
Result<std::string> published_format(Node root, const ModelSpec& spec, std::string_view trained);

/// The values of `architectures` that are read, sorted.
std::vector<std::string_view> hf_architectures();

/// The architecture that a relative is named by: one of hf_architectures() or its model_type
/// ("llama"), whatever its case and dashes. Empty where it is neither, or where the language
/// model is a part of it.
std::string_view hf_relative(std::string_view name);

}  // namespace cairn
