#include "cairn/model/model_file.h"

#include <filesystem>

#include "cairn/data/json.h"
#include "cairn/model/gguf.h"
#include "cairn/model/hf_config.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExpected =
    "a folder with config.json, a config.json, a .gguf or a .safetensors file";

Result<LoadedModel> load_gguf(const std::string& path, const TensorTypes& types,
                              const WeightFormats& formats, const Relative* like) {
  CAIRN_TRY(const GgufFile file, read_gguf(path, types));
  CAIRN_TRY(ModelSpec spec, spec_from_gguf(file, like));
  LoadedModel out;
  out.kind = ModelFileKind::gguf;
  out.graph = build_graph(std::move(spec));
  CAIRN_TRY(GgufWeights weights, bind_gguf(file, out.graph, formats));
  out.graph.spec.published_format = weights.bound.format;
  out.weights = std::move(weights.bound);
  out.other = std::move(weights.other);
  out.other_bytes = weights.other_bytes;
  out.file_bytes = Bytes(static_cast<double>(file.file_bytes));
  return out;
}

Result<LoadedModel> load_checkpoint(const std::string& config, const std::string& weights,
                                    const WeightFormats& formats, Relative* like) {
  LoadedModel out;
  CAIRN_TRY(ModelSpec spec, load_hf(config, like));
  out.graph = build_graph(std::move(spec));
  CAIRN_TRY(const auto checkpoint, read_checkpoint(weights));
  if (!checkpoint) return out;
  out.kind = ModelFileKind::checkpoint;
  const std::string& declared = out.graph.spec.published_format;
  const std::string format = declared.empty() ? "bf16" : declared;
  CAIRN_TRY(out.check, check_checkpoint(*checkpoint, out.graph, formats, format));
  if (!out.check->agrees) {
    return fail(
        bad_input("the checkpoint is not that of its config.json: " + out.check->note).at(weights));
  }
  CAIRN_TRY(out.weights, formats.bind(out.graph, format));
  out.file_bytes = Bytes(static_cast<double>(checkpoint->bytes()));
  out.other_bytes = out.check->other_bytes;
  return out;
}

// A folder of models that run one after another: Stable Diffusion, FLUX ...
Result<void> refuse_pipeline(const std::string& path) {
  const std::string index = path + "/model_index.json";
  std::error_code ignored;
  if (!fs::exists(index, ignored)) return {};
  CAIRN_TRY(const Document document, load_json(index, {}, JsonDialect::python));
  CAIRN_TRY(const Node kind, document.root().required("_class_name"));
  return fail(unsupported("a pipeline of several models is not covered")
                  .at(index)
                  .in("_class_name")
                  .got(kind.text()));
}

Result<LoadedModel> load_folder(const std::string& path, const WeightFormats& formats,
                                Relative* like) {
  std::error_code ignored;
  if (!fs::exists(path + "/config.json", ignored)) CAIRN_CHECK(refuse_pipeline(path));
  if (!fs::exists(path + "/config.json", ignored)) {
    return fail(not_found("a folder without config.json").at(path).want(std::string(kExpected)));
  }
  return load_checkpoint(path, path, formats, like);
}

}  // namespace

Result<LoadedModel> load_model_path(const std::string& path, const TensorTypes& types,
                                    const WeightFormats& formats, Relative* like) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return fail(not_found("no such file or folder").at(path));
  if (fs::is_directory(path, ignored)) return load_folder(path, formats, like);
  if (path.ends_with(".gguf")) return load_gguf(path, types, formats, like);
  if (path.ends_with(".safetensors")) {
    const fs::path folder = fs::path(path).parent_path();
    const std::string config = (folder / "config.json").string();
    if (!fs::exists(config, ignored)) {
      return fail(not_found("no config.json beside the weights").at(path));
    }
    // One of several files stands for all of them.
    const bool sharded = fs::exists(folder / "model.safetensors.index.json", ignored);
    return load_checkpoint(config, sharded ? folder.string() : path, formats, like);
  }
  if (path.ends_with(".json")) {
    CAIRN_TRY(ModelSpec spec, load_hf(path, like));
    LoadedModel out;
    out.graph = build_graph(std::move(spec));
    return out;
  }
  return fail(bad_input("not a model file").at(path).want(std::string(kExpected)));
}

bool looks_like_path(const std::string& text) {
  if (text.ends_with(".gguf") || text.ends_with(".json") || text.ends_with(".safetensors")) {
    return true;
  }
  if (text.starts_with('.') || text.starts_with('/')) return true;
  std::error_code ignored;
  return fs::exists(text, ignored);
}

}  // namespace cairn
