// Sharded checkpoints, and their comparison with a graph.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "cairn/data/json.h"
#include "cairn/model/safetensors.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<Checkpoint> from_file(const std::string& path) {
  CAIRN_TRY(SafetensorsFile file, read_safetensors(path));
  return Checkpoint{.path = path, .files = 1, .tensors = std::move(file.tensors)};
}

// The names of the tensors each file of the index holds.
Result<std::map<std::string, std::set<std::string>>> read_index(const std::string& path) {
  CAIRN_TRY(const Document document, load_json(path));
  CAIRN_TRY(const Node map, document.root().required("weight_map"));
  if (!map.is_mapping()) return fail(map.error("not a map of tensors to files").in("weight_map"));
  std::map<std::string, std::set<std::string>> files;
  for (std::uint32_t i = 0; i < map.size(); ++i) {
    const Member member = map.member(i);
    CAIRN_TRY(const std::string_view file, member.value.string());
    if (!file.ends_with(".safetensors") || file.find('/') != std::string_view::npos) {
      return fail(member.value.error("not the name of a safetensors file").in("weight_map"));
    }
    files[std::string(file)].emplace(member.key);
  }
  return files;
}

Result<Checkpoint> from_index(const std::string& folder, const std::string& index) {
  CAIRN_TRY(const auto files, read_index(index));
  Checkpoint out;
  out.path = folder;
  std::set<std::string> seen;
  for (const auto& [name, names] : files) {
    auto file = read_safetensors(fmt::format("{}/{}", folder, name));
    if (!file && file.error().kind == ErrorKind::not_found) {
      return fail(not_found("a file of the checkpoint is missing").at(file.error().where));
    }
    if (!file) return std::unexpected(std::move(file).error());
    std::set<std::string> wanted = names;
    for (SafetensorsTensor& t : file->tensors) {
      wanted.erase(t.name);
      if (!seen.insert(t.name).second) {
        return fail(bad_input("the same tensor in two files").at(file->path).in(t.name));
      }
      out.tensors.push_back(std::move(t));
    }
    if (!wanted.empty()) {
      return fail(
          bad_input("a tensor of the index is not in its file").at(file->path).in(*wanted.begin()));
    }
    ++out.files;
  }
  return out;
}

// An index alone, without any of its files, is no download that broke off.
bool any_shard(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".safetensors") return true;
  }
  return false;
}

bool contains(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view p) { return text.find(p) != std::string_view::npos; });
}

// The layer in "model.layers.12.mlp ..."; -1 where there is none.
std::int64_t layer_of(std::string_view name) {
  constexpr std::string_view kLayers = "layers.";
  const std::size_t at = name.find(kLayers);
  if (at == std::string_view::npos) return -1;
  const std::string_view digits = name.substr(at + kLayers.size());
  std::int64_t layer = -1;
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), layer);
  return r.ec == std::errc() ? layer : -1;
}

bool has_part(const ModelSpec& spec, ModelPart part) {
  return std::ranges::any_of(spec.parts, [part](const ModelSpec& p) { return p.part == part; });
}

// A table that is another one's, stored again.
bool is_copy(std::string_view name, const ModelSpec& spec) {
  const bool shared = has_part(spec, ModelPart::encoder);
  if (shared && contains(name, {"encoder.embed_tokens.", "decoder.embed_tokens."})) {
    // Whisper's own table has the same name, but its encoder reads sound.
    return spec.family != "whisper";
  }
  if (!spec.tied_embeddings) return false;
  return name.ends_with("lm_head.weight") || name == "decoder.weight" ||
         contains(name, {"lm_head.decoder.", "predictions.decoder.", "vocab_projector.weight",
                         "proj_out."});
}

// Left out of the comparison: what the graph of the language model does not hold.
bool outside(const SafetensorsTensor& t, const ModelSpec& spec) {
  const bool drafts = layer_of(t.name) >= static_cast<std::int64_t>(spec.layers.size());
  if (drafts && !has_part(spec, ModelPart::encoder)) return true;
  if (is_copy(t.name, spec)) return true;
  if (contains(t.name, {"inv_freq", "masked_bias", "mtp.", "position_ids", "token_type_ids",
                        "final_logits_bias"})) {
    return true;
  }
  // BERT is published with the heads of its training, whatever the configuration names.
  if (spec.architecture.ends_with("ForMaskedLM") &&
      contains(t.name, {"seq_relationship", "pooler."})) {
    return true;
  }
  if (spec.part != ModelPart::language) return false;
  return contains(t.name, {"visual.", "visual_projection", "vision", "audio",
                           "multi_modal_projector", "mm_projector"});
}

bool is_scale(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last != "logit_scale" &&
         contains(last, {"_scale", "zero_point", "g_idx", "k_scale", "v_scale"});
}

bool is_float(std::string_view dtype) {
  return dtype == "BF16" || dtype == "F16" || dtype == "F32" || dtype == "F64" ||
         (dtype.starts_with("F8_") && dtype != "F8_E8M0");
}

}  // namespace

std::uint64_t Checkpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const SafetensorsTensor& t : tensors) sum += t.bytes;
  return sum;
}

std::vector<std::pair<std::string_view, std::uint64_t>> Checkpoint::bytes_by_dtype() const {
  std::map<std::string_view, std::uint64_t> sums;
  for (const SafetensorsTensor& t : tensors) sums[t.dtype] += t.bytes;
  std::vector<std::pair<std::string_view, std::uint64_t>> out(sums.begin(), sums.end());
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return out;
}

Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    CAIRN_TRY(Checkpoint checkpoint, from_file(path));
    return checkpoint;
  }
  const std::string index = path + "/model.safetensors.index.json";
  if (exists(index) && any_shard(path)) {
    CAIRN_TRY(Checkpoint checkpoint, from_index(path, index));
    return checkpoint;
  }
  const std::string single = path + "/model.safetensors";
  if (!exists(single)) return std::optional<Checkpoint>();
  CAIRN_TRY(Checkpoint checkpoint, from_file(single));
  return checkpoint;
}

Result<CheckpointCheck> check_checkpoint(const Checkpoint& checkpoint, const Graph& graph,
                                         const WeightFormats& formats, std::string_view format) {
  CheckpointCheck out;
  for (const Tensor& t : graph.tensors) out.expected += t.weights();
  for (const Graph& part : graph.parts) {
    if (part.spec.part != ModelPart::encoder) continue;
    for (const Tensor& t : part.tensors) out.expected += t.weights();
  }
  bool packed = false;
  for (const SafetensorsTensor& t : checkpoint.tensors) {
    const Bytes bytes(static_cast<double>(t.bytes));
    if (outside(t, graph.spec)) {
      out.other_bytes += bytes;
      continue;
    }
    out.file_bytes += bytes;
    if (is_scale(t.name)) continue;
    packed = packed || !is_float(t.dtype);
    out.counted += t.weights;
  }
  CAIRN_TRY(const BoundWeights bound, formats.bind(graph, format));
  out.expected_bytes = bound.total(graph);
  if (packed) {
    out.counted = 0;
    const double ratio = out.file_bytes / out.expected_bytes;
    out.agrees = std::abs(ratio - 1) <= 0.02;
    if (!out.agrees) {
      out.note =
          fmt::format("the files hold {:.0f} bytes, the configuration leads to expect {:.0f}",
                      out.file_bytes.value(), out.expected_bytes.value());
    }
    return out;
  }
  out.agrees = out.counted == out.expected;
  if (!out.agrees) {
    out.note = fmt::format("the files hold {} weights, the configuration leads to expect {}",
                           out.counted, out.expected);
  }
  return out;
}

}  // namespace cairn
