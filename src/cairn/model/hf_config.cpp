#include "cairn/model/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cairn/base/names.h"
#include "cairn/data/json.h"
#include "cairn/model/hf_fields.h"
#include "cairn/model/hf_vision.h"

namespace cairn {
namespace {

/// Where a multimodal file keeps its language model.
struct Wrapper {
  std::string_view name;  // architectures[0], or model_type where there is none
  std::string_view part;
  std::string_view inner_part = {};  // a part of the part
};

// Models whose language model is an ordinary one that takes embeddings from
// elsewhere. Those with cross attention or layers of their own (Llama 3.2 Vision)
// are not among them.
constexpr auto kWrappers = std::to_array<Wrapper>({
    {"Gemma3ForConditionalGeneration", "text_config"},
    {"Llama4ForConditionalGeneration", "text_config"},
    {"Mistral3ForConditionalGeneration", "text_config"},
    {"LlavaForConditionalGeneration", "text_config"},
    {"PaliGemmaForConditionalGeneration", "text_config"},
    {"Gemma4ForConditionalGeneration", "text_config"},
    {"Gemma3nForConditionalGeneration", "text_config"},
    {"MiniMaxM3SparseForConditionalGeneration", "text_config"},
    {"Step3p7ForConditionalGeneration", "text_config"},
    {"VibeVoiceForConditionalGeneration", "decoder_config"},
    {"deepseek_vl_v2", "language_config"},
    {"DeepseekVLV2ForCausalLM", "language_config"},
    {"KimiK25ForConditionalGeneration", "text_config"},
    {"Qwen2AudioForConditionalGeneration", "text_config"},
    {"Qwen2VLForConditionalGeneration", "text_config"},
    {"Qwen2_5_VLForConditionalGeneration", "text_config"},
    {"Qwen3VLForConditionalGeneration", "text_config"},
    {"Qwen3VLMoeForConditionalGeneration", "text_config"},
    {"Qwen3_5ForConditionalGeneration", "text_config"},
    {"Qwen3_5MoeForConditionalGeneration", "text_config"},
    {"KimiK3ForConditionalGeneration", "text_config"},
    {"Glm4vForConditionalGeneration", "text_config"},
    {"Glm4vMoeForConditionalGeneration", "text_config"},
    {"InternVLChatModel", "llm_config"},
    {"LlavaLlamaModel", "llm_cfg"},
    {"multi_modality", "language_config"},
    {"Qwen2_5OmniForConditionalGeneration", "thinker_config", "text_config"},
});

// Multimodal, with the fields of the language model at the top.
constexpr auto kFlatMultimodal = std::to_array<std::string_view>(
    {"Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration",
     "Glm4vForConditionalGeneration", "Phi3VForCausalLM", "LlavaLlamaForCausalLM", "MiniCPMV",
     "MolmoForCausalLM"});

constexpr auto kHeadless =
    std::to_array<std::string_view>({"LlamaModel", "MistralModel", "Qwen2Model", "Qwen3Model"});

std::array<std::span<const hf::Family>, 14> tables() {
  return {hf::dense_families(),
          hf::classic_families(),
          hf::mixture_families(),
          hf::latent_families(),
          hf::recurrent_families(),
          hf::state_space_families(),
          hf::rwkv_families(),
          hf::sparse_families(),
          hf::gemma_families(),
          hf::layered_families(),
          hf::encoder_families(),
          hf::image_families(),
          hf::encoder_decoder_families(),
          hf::hybrid_families()};
}

const hf::Family* find_family(std::string_view hf::Family::* key, std::string_view name) {
  for (const auto table : tables()) {
    const auto it = std::ranges::find(table, name, key);
    if (it != table.end()) return &*it;
  }
  return nullptr;
}

/// What a file calls itself.
struct Name {
  std::string_view field;
  std::string_view value;
};

Result<Name> architecture_of(Node root) {
  const auto list = root.find_value("architectures");
  if (list && list->is_sequence() && list->size() > 0) {
    auto name = list->at(0).string();
    if (!name) return std::unexpected(std::move(name).error().in("architectures"));
    return Name{.field = "architectures", .value = *name};
  }
  // The name that diffusers gives the parts of its pipelines.
  if (const auto name = root.find_value("_class_name"); name && !root.find_value("model_type")) {
    return fail(unsupported("an architecture that is not covered")
                    .at(root.where())
                    .in("_class_name")
                    .got(name->text()));
  }
  CAIRN_TRY(const std::string_view type, root.get<std::string_view>("model_type"));
  return Name{.field = "model_type", .value = type};
}

constexpr std::string_view kClassifies = "ForSequenceClassification";
constexpr std::string_view kTags = "ForTokenClassification";

// A decoder with a classifier instead of its head: LlamaForSequenceClassification.
const hf::Family* classifying_family(std::string_view name) {
  for (const std::string_view end : {kClassifies, kTags}) {
    if (!name.ends_with(end)) continue;
    return find_family(&hf::Family::architecture,
                       std::string(name.substr(0, name.size() - end.size())) + "ForCausalLM");
  }
  return nullptr;
}

// What an unknown architecture may be like: names that resemble its own, and a family with
// the parts that its fields speak of.
std::vector<std::string> likely_relatives(Node root, std::string_view name) {
  // All but the ending that most have.
  const auto stem = [](std::string_view text) {
    return std::string(text.substr(0, text.find("For")));
  };
  const std::vector<std::string_view> known = hf_architectures();
  std::vector<std::string> stems;
  stems.reserve(known.size());
  for (const std::string_view architecture : known) stems.push_back(stem(architecture));
  std::vector<std::string> relatives;
  for (const std::string& near : nearest_names(stem(name), stems, 2)) {
    const auto at = static_cast<std::size_t>(std::ranges::find(stems, near) - stems.begin());
    relatives.emplace_back(known[at]);
  }
  const auto text = root.find_value("text_config");
  const auto has = [&](std::string_view key) {
    return root.find_value(key) || (text && text->find_value(key));
  };
  std::string by_fields = "LlamaForCausalLM";
  if (has("num_experts") || has("num_local_experts")) by_fields = "Qwen3MoeForCausalLM";
  if (has("n_routed_experts")) by_fields = "Glm4MoeForCausalLM";
  if (has("kv_lora_rank")) by_fields = "DeepseekV3ForCausalLM";
  if (std::ranges::find(relatives, by_fields) == relatives.end()) relatives.push_back(by_fields);
  return relatives;
}

Result<const hf::Family*> family_of(Node root, const Name& name) {
  const bool typed = name.field == "model_type";
  const hf::Family* family =
      find_family(typed ? &hf::Family::model_type : &hf::Family::architecture, name.value);
  if (family == nullptr && !typed) family = classifying_family(name.value);
  if (family != nullptr) return family;
  Error e = unsupported("an architecture that is not covered").at(root.where()).got(name.value);
  e.field = name.field;
  e.expected = fmt::format("--like with a relative, such as {}",
                           fmt::join(likely_relatives(root, name.value), " or "));
  return std::unexpected(std::move(e));
}

Result<void> classify(Node node, std::string_view name, ModelSpec& spec) {
  const auto named = node.find_value("id2label");
  std::int64_t labels = named && named->is_mapping() ? named->size() : 0;
  if (labels == 0) {
    CAIRN_TRY(labels, node.get_integer_or("num_labels", 2, 1, 1 << 20));
  }
  spec.output_head = spec.output_bias = spec.tied_embeddings = false;
  spec.extras.push_back({.role = TensorRole::classifier,
                         .rows = labels,
                         .columns = spec.hidden,
                         .bias = name.ends_with(kTags)});
  return {};
}

Result<ModelSpec> read_model(Node node, bool nested, std::optional<bool> outer_tied) {
  if (!node.is_mapping()) return fail(node.error("not a model configuration"));
  CAIRN_TRY(const Name name, architecture_of(node));
  CAIRN_TRY(const hf::Family* const family, family_of(node, name));
  hf::Fields fields(node, nested);
  fields.set_outer_tied(outer_tied);
  fields.skip({"vision_config", "quantization_config"});
  CAIRN_TRY(ModelSpec spec, family->read(fields));
  CAIRN_CHECK(fields.finish());
  spec.architecture = family->architecture;
  if (std::ranges::find(kHeadless, name.value) != kHeadless.end()) spec.output_head = false;
  if (name.value != family->architecture && classifying_family(name.value) == family) {
    CAIRN_CHECK(classify(node, name.value, spec));
  }
  return spec;
}

Result<ModelSpec> read_part(Node root, const Wrapper& wrapper) {
  CAIRN_TRY(Node part, root.required(wrapper.part));
  if (!wrapper.inner_part.empty()) {
    CAIRN_TRY(part, part.required(wrapper.inner_part));
  }
  CAIRN_TRY(const auto tied, root.get_optional<bool>("tie_word_embeddings"));
  CAIRN_TRY(ModelSpec spec, read_model(part, true, tied));
  spec.text_part = true;
  return spec;
}

/// The language model's node of a multimodal file; nothing where it is at the root.
std::optional<Node> part_of(Node root, const Wrapper& wrapper) {
  auto part = root.find_value(wrapper.part);
  if (part && !wrapper.inner_part.empty()) part = part->find_value(wrapper.inner_part);
  return part;
}

Result<const Wrapper*> wrapper_of(Node root) {
  CAIRN_TRY(const Name name, architecture_of(root));
  const auto* const wrapper = std::ranges::find(kWrappers, name.value, &Wrapper::name);
  return wrapper == kWrappers.end() ? nullptr : wrapper;
}

/// The format that the file declares for a spec that is valid, at the root or beside the
/// fields of the language model.
Result<std::string> declared_format(Node root, const ModelSpec& spec) {
  CAIRN_TRY(const Wrapper* const wrapper, wrapper_of(root));
  const auto part = wrapper != nullptr ? part_of(root, *wrapper) : std::nullopt;
  CAIRN_TRY(std::string trained, trained_format(root));
  if (trained.empty() && part) {
    CAIRN_TRY(trained, trained_format(*part));
  }
  const bool part_says =
      part && !root.find_value("quantization_config") && part->find_value("quantization_config");
  return published_format(part_says ? *part : root, spec, trained);
}

Result<ModelSpec> read_root(Node root) {
  if (!root.is_mapping()) return fail(root.error("not a model configuration"));
  CAIRN_TRY(const Name name, architecture_of(root));
  const auto wrapper = std::ranges::find(kWrappers, name.value, &Wrapper::name);
  if (wrapper != kWrappers.end() &&
      (root.find_value(wrapper->part) ||
       find_family(&hf::Family::architecture, name.value) == nullptr)) {
    CAIRN_TRY(ModelSpec spec, read_part(root, *wrapper));
    spec.architecture = name.value;
    return spec;
  }
  CAIRN_TRY(ModelSpec spec, read_model(root, false, std::nullopt));
  spec.text_part = std::ranges::find(kFlatMultimodal, name.value) != kFlatMultimodal.end();
  if (name.field == "architectures") spec.architecture = name.value;
  return spec;
}

bool is_known(const Name& name) {
  const bool typed = name.field == "model_type";
  const auto key = typed ? &hf::Family::model_type : &hf::Family::architecture;
  return find_family(key, name.value) != nullptr || classifying_family(name.value) != nullptr ||
         std::ranges::find(kWrappers, name.value, &Wrapper::name) != kWrappers.end();
}

/// The node with the sizes of a language model: the root, or the one part that has them.
Node sizes_of(Node root) {
  if (root.find_value("hidden_size")) return root;
  for (const std::string_view part : {"text_config", "llm_config", "language_config"}) {
    if (const auto node = root.find_value(part); node && node->is_mapping()) return *node;
  }
  return root;
}

Result<ModelSpec> read_like(Node root, Relative& like) {
  CAIRN_TRY(const Name name, architecture_of(root));
  if (is_known(name)) {
    return fail(bad_input("the architecture is known: nothing to liken it to")
                    .at(root.where())
                    .in("--like")
                    .got(name.value));
  }
  const hf::Family* const family = find_family(&hf::Family::architecture, like.architecture);
  if (family == nullptr) {
    return fail(
        not_found("an architecture that is not covered").in("--like").got(like.architecture));
  }
  const Node node = sizes_of(root);
  hf::Fields fields(node, false);
  fields.skip({"vision_config", "quantization_config"});
  CAIRN_TRY(ModelSpec spec, family->read(fields));
  for (const std::string_view key : fields.unread()) like.ignored.emplace_back(key);
  spec.architecture = name.value;
  spec.text_part = node.where() != root.where();
  return spec;
}

// Adds the towers of a multimodal file. Where it describes none, or ones that cannot be
// read, the language model stands alone.
Result<void> add_towers(Node root, ModelSpec& spec) {
  CAIRN_TRY(const Name name, architecture_of(root));
  auto towers = hf::read_towers({.root = root, .hidden = spec.hidden}, name.value);
  if (!towers && towers.error().kind == ErrorKind::unsupported) return {};
  if (!towers) return std::unexpected(std::move(towers).error());
  // What makes sound or images is not read.
  spec.text_part =
      towers->empty() || root.find_value("talker_config") || root.find_value("gen_vision_config");
  for (ModelSpec& tower : *towers) spec.parts.push_back(std::move(tower));
  return {};
}

// The name of the folder; in a Hugging Face cache (models--ORG--NAME/snapshots/HASH)
// the name of the repository.
std::string id_of(const std::filesystem::path& folder) {
  const auto repository = folder.parent_path().parent_path().filename().string();
  if (folder.parent_path().filename() != "snapshots" || !repository.starts_with("models--")) {
    return folder.filename().string();
  }
  const auto dashes = repository.find("--", 8);
  std::string id = repository.substr(8, dashes == std::string::npos ? dashes : dashes - 8);
  if (dashes != std::string::npos) id.append("/").append(repository, dashes + 2);
  return id;
}

}  // namespace

Result<ModelSpec> spec_from_hf_config(Node root, std::string id, Relative* like) {
  CAIRN_TRY(ModelSpec spec, like != nullptr ? read_like(root, *like) : read_root(root));
  if (spec.text_part) CAIRN_CHECK(add_towers(root, spec));
  spec.id = std::move(id);
  for (ModelSpec& part : spec.parts) {
    part.id = spec.id;
    part.architecture = spec.architecture;
    part.family = spec.family;
  }
  if (auto checked = check_spec(spec); !checked) {
    return std::unexpected(std::move(checked).error().at(root.where()));
  }
  CAIRN_TRY(spec.published_format, declared_format(root, spec));
  for (ModelSpec& part : spec.parts) part.published_format = spec.published_format;
  return spec;
}

Result<ModelSpec> load_hf(const std::string& path, Relative* like) {
  std::error_code none;
  const std::filesystem::path given = std::filesystem::absolute(path, none).lexically_normal();
  const bool is_folder = std::filesystem::is_directory(given, none);
  const auto file = is_folder ? given / "config.json" : given;
  const auto folder = file.parent_path();
  CAIRN_TRY(const Document document,
            load_json(is_folder ? (std::filesystem::path(path) / "config.json").string() : path, {},
                      JsonDialect::python));
  CAIRN_TRY(ModelSpec spec, spec_from_hf_config(document.root(), id_of(folder), like));
  // ModelOpt keeps the quantisation in a file of its own.
  const auto beside = folder / "hf_quant_config.json";
  if (!document.root().find_value("quantization_config") && std::filesystem::exists(beside, none)) {
    CAIRN_TRY(const Document quantisation, load_json(beside.string(), {}, JsonDialect::python));
    CAIRN_TRY(spec.published_format,
              published_format(quantisation.root(), spec, spec.published_format));
  }
  return spec;
}

std::string_view hf_relative(std::string_view name) {
  const std::string wanted = normalise_name(name);
  for (const auto key : {&hf::Family::architecture, &hf::Family::model_type}) {
    for (const auto table : tables()) {
      const auto fits = [&](const hf::Family& f) {
        return !(f.*key).empty() && normalise_name(f.*key) == wanted;
      };
      const auto it = std::ranges::find_if(table, fits);
      if (it != table.end()) return it->architecture;
    }
  }
  return {};
}

std::vector<std::string_view> hf_architectures() {
  std::vector<std::string_view> names;
  for (const auto table : tables()) {
    for (const hf::Family& family : table) names.push_back(family.architecture);
  }
  for (const Wrapper& wrapper : kWrappers) {
    if (wrapper.name != "multi_modality" && wrapper.name != "deepseek_vl_v2")
      names.push_back(wrapper.name);
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace cairn
