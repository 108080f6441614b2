#include "cairn/predict/deployment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/base/names.h"
#include "cairn/model/gguf.h"
#include "cairn/model/hf_config.h"
#include "cairn/model/model_file.h"
#include "cairn/predict/usual_host.h"

namespace cairn {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

// An error unless the engine reads the format and has kernels for it on the device.
Result<void> check_format(const EngineInfo& engine, const WeightFormatInfo& format,
                          const Accelerator& accelerator) {
  if (!contains(engine.format_kinds, format.kind)) {
    return fail(
        unsupported("the engine does not read this weight format").in(engine.id).got(format.name));
  }
  if (format.kind == "checkpoint" && !engine.runs_format(format.name, accelerator)) {
    return fail(unsupported("the engine does not run this weight format on this accelerator")
                    .in(engine.id)
                    .got(fmt::format("{} on {}", format.name, accelerator.id)));
  }
  return {};
}

Result<void> check_engine(const DeploymentRequest& r) {
  const EngineInfo& e = *r.engine;
  const Accelerator& a = *r.accelerator;
  CAIRN_CHECK(check_single(a));
  if (!e.supports(a)) {
    return fail(unsupported("the engine does not run on this accelerator").in(e.id).got(a.id));
  }
  if (e.split != SplitMode::tensor && r.layout.tp > 1) {
    return fail(unsupported("the engine splits by layers, not by tensors")
                    .in(e.id)
                    .got(r.layout.to_string())
                    .want("tp 1 and pp for the number of cards"));
  }
  return {};
}

bool has_towers(const Graph& graph) {
  return std::ranges::any_of(graph.parts, [](const Graph& part) {
    return part.spec.part == ModelPart::vision || part.spec.part == ModelPart::audio;
  });
}

// A setting that does nothing would be taken for one that does.
Result<void> check_settings(const DeploymentRequest& r) {
  const bool llama = r.engine->family == EngineFamily::llama_cpp;
  const auto refuse = [&](std::string_view setting) {
    return fail(unsupported("the engine has no such setting").in(r.engine->id).got(setting));
  };
  const bool server = is_server(*r.engine);
  if (!server && r.memory_fraction) return refuse("gpu-memory-utilization");
  if (!server && r.max_batched_tokens) return refuse("max-num-batched-tokens");
  if (!llama && r.ubatch) return refuse("ubatch");
  if (!llama && r.flash_attention) return refuse("flash-attention");
  if (!llama && r.build) return refuse("build");
  if (!llama && r.places.given()) return refuse(r.places.first());
  const bool hip = r.engine->id == "llama.cpp" && r.accelerator->vendor == "amd";
  if (!hip && r.hipblaslt) return refuse("hipblaslt");
  if (!hip && r.rocwmma) return refuse("rocwmma");
  return {};
}

void place(const LlamaCppPlaces& places, EngineConfig& c) {
  if (places.gpu_layers) c.gpu_layers = places.gpu_layers;
  if (places.host_expert_layers) c.host_expert_layers = *places.host_expert_layers;
  if (places.split) c.split = *places.split;
  if (places.unified_cache) c.unified_cache = *places.unified_cache;
  if (places.full_window_cache) c.full_window_cache = *places.full_window_cache;
  if (places.towers) c.towers = *places.towers;
  c.host_tensors = places.host_tensors;
  c.tensor_split = places.tensor_split;
}

// Of the machine that is named, else of a usual one.
std::optional<Bytes> host_memory_for(const DeploymentRequest& r, const Knowledge& knowledge) {
  if (!r.places.given() || r.accelerator->unified_memory) return std::nullopt;
  const std::int64_t cards = r.accelerator->cards(r.layout.devices());
  const Host* host = r.host != nullptr ? r.host : usual_host(*r.accelerator, cards, knowledge);
  if (host == nullptr) return std::nullopt;
  return room_of_replica(*host, cards, r.layout.dp, knowledge);
}

Result<BoundWeights> bind_weights(const ModelInput& model, const DeploymentRequest& r,
                                  const Knowledge& knowledge) {
  const bool as_stored = r.weights.empty() && model.stored;
  const std::string name = as_stored           ? model.stored->format
                           : r.weights.empty() ? default_format(model, *r.engine)
                                               : r.weights;
  const WeightFormatInfo* info = knowledge.weight_formats.find(name);
  if (info != nullptr) CAIRN_CHECK(check_format(*r.engine, *info, *r.accelerator));
  if (r.bound != nullptr) return *r.bound;
  if (as_stored) return *model.stored;
  return knowledge.weight_formats.bind(*model.graph, name);
}

// An error where tensors that lie on the cards are of types without kernels; rows of the
// embedding are read on the host.
Result<void> check_kernels(const Deployment& d) {
  const std::vector<std::string>& none = d.engine->no_kernels;
  if (none.empty() || d.config.gpu_layers == 0) return {};
  const Graph& graph = *d.model.graph;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const TensorType* type = d.weights.types[i];
    if (graph.tensors[i].role == TensorRole::token_embedding || !contains(none, type->name)) {
      continue;
    }
    return fail(unsupported("the engine has no kernels for weights of this type on GPUs")
                    .in(d.engine->id)
                    .got(type->name)
                    .want("another format, or --ngl 0"));
  }
  return {};
}

// A model that cannot be cut as asked is out of reach, not a slip of the pen: a
// search goes on with the next layout.
Result<void> check_layout(const Graph& graph, const Layout& layout) {
  auto shares = divide(graph, layout);
  if (shares) return {};
  Error error = std::move(shares).error();
  const int least = std::min({layout.tp, layout.pp, layout.dp, layout.ep});
  if (least >= 1) error.kind = ErrorKind::unsupported;
  return fail(std::move(error));
}

}  // namespace

namespace {

// An architecture that reads files of a family, by the models of the catalogue.
std::string_view architecture_of(std::string_view family, const ModelCatalogue& models) {
  for (const ModelListing& listing : models.all()) {
    if (listing.family != family) continue;
    const auto spec = models.find(listing.id);
    if (!spec) continue;
    const std::string_view known = hf_relative(spec->architecture);
    if (!known.empty()) return known;
  }
  return {};
}

Error no_relative(const std::string& like, const Knowledge& knowledge) {
  std::vector<std::string> known;
  for (const std::string_view name : hf_architectures()) known.emplace_back(name);
  for (const std::string_view name : gguf_architectures()) known.emplace_back(name);
  for (const ModelListing& listing : knowledge.models.all()) {
    known.emplace_back(listing.family);
    known.emplace_back(listing.id.substr(listing.id.find('/') + 1));
  }
  const std::vector<std::string> near = nearest_names(like, known);
  return not_found("no model of the catalogue, no family and no architecture")
      .in("--like")
      .got(like)
      .want(near.empty() ? "a name from cairn models, or one such as LlamaForCausalLM"
                         : fmt::format("{}", fmt::join(near, " or ")));
}

// A model of the catalogue stands for its architecture and family; else the name is that of
// an architecture, a type of models or a family.
Result<Relative> relative_named(const std::string& like, const Knowledge& knowledge) {
  Relative out;
  if (const auto listing = knowledge.models.listing(like)) {
    CAIRN_TRY(const ModelSpec spec, knowledge.models.find(like));
    out = {.architecture = spec.architecture, .family = spec.family, .ignored = {}};
    if (!hf_relative(spec.architecture).empty()) return out;
  } else {
    out.family = normalise_name(like);
    out.architecture = hf_relative(like);
    if (!out.architecture.empty()) return out;
  }
  const std::string_view reader = architecture_of(out.family, knowledge.models);
  if (!reader.empty()) out.architecture = reader;
  if (!out.architecture.empty()) return out;
  const auto formats = gguf_architectures();
  if (std::ranges::find(formats, like) != formats.end()) {
    return Relative{.architecture = like, .family = {}, .ignored = {}};
  }
  return fail(no_relative(like, knowledge));
}

}  // namespace

std::vector<Message> notes_of(const ModelInput& model) {
  std::vector<Message> notes;
  if (model.like.empty()) return notes;
  notes.push_back(
      message("its architecture is not known: read as {}, with its own sizes", model.like));
  if (!model.ignored.empty()) {
    notes.push_back(message("fields that may change the shape and were passed over: {}",
                            fmt::format("{}", fmt::join(model.ignored, ", "))));
  }
  return notes;
}

std::int64_t position_limit(const ModelSpec& spec) {
  if (spec.position_embeddings <= 0) return 0;
  // Some tables have rows that stand for no position.
  return spec.max_context > 0 ? std::min(spec.max_context, spec.position_embeddings)
                              : spec.position_embeddings;
}

Result<void> check_positions(const ModelInput& model, std::int64_t positions) {
  const std::int64_t limit = position_limit(model.graph->spec);
  if (limit == 0 || positions <= limit) return {};
  return fail(unsupported("the model has no embeddings for so many positions")
                  .at(model.name)
                  .in("context")
                  .got(std::to_string(positions))
                  .want(fmt::format("{} or less", limit)));
}

Result<ModelInput> find_model(const std::string& name, const Knowledge& knowledge,
                              const std::string& like) {
  ModelInput out;
  if (looks_like_path(name)) {
    std::optional<Relative> relative;
    if (!like.empty()) {
      CAIRN_TRY(relative, relative_named(like, knowledge));
    }
    CAIRN_TRY(LoadedModel loaded,
              load_model_path(name, *knowledge.tensor_types, knowledge.weight_formats,
                              relative ? &*relative : nullptr));
    out.name = loaded.graph.spec.id.empty() ? name : loaded.graph.spec.id;
    out.graph = std::make_shared<const Graph>(std::move(loaded.graph));
    out.stored = std::move(loaded.weights);
    out.file_bytes = loaded.file_bytes;
    if (relative) {
      out.like = relative->architecture;
      out.ignored = std::move(relative->ignored);
    }
    return out;
  }
  if (!like.empty()) {
    return fail(bad_input("a model of the catalogue is like itself").in("--like").want("a file"));
  }
  CAIRN_TRY(ModelSpec spec, knowledge.models.find(name));
  out.name = spec.id;
  out.graph = std::make_shared<const Graph>(build_graph(std::move(spec)));
  return out;
}

namespace {

// What the servers and llama.cpp hold is known of models that cache what they wrote.
Result<void> check_purpose(const ModelInput& model, const EngineInfo& engine) {
  const ModelSpec& spec = model.graph->spec;
  const Purpose purpose = purpose_of(spec);
  if (purpose == Purpose::text || engine.family == EngineFamily::transformers) return {};
  const auto caches = [](const LayerSpec& layer) {
    return kv_elements_per_token(layer.attention) > 0 ||
           layer.recurrent.kind != RecurrentKind::none;
  };
  if (purpose == Purpose::features && std::ranges::any_of(spec.layers, caches)) return {};
  return fail(unsupported("what it holds of encoders is not modelled for this engine")
                  .at(model.name)
                  .in("engine")
                  .got(engine.id)
                  .want("transformers"));
}

// Files of GGUF are of llama.cpp's own architectures; a file read like a relative counts as
// that one.
Result<void> check_architecture(const ModelInput& model, const EngineInfo& engine,
                                const Knowledge& knowledge) {
  if (model.stored) {
    const WeightFormatInfo* info = knowledge.weight_formats.find(model.stored->format);
    if (info != nullptr && info->kind == "gguf") return {};
  }
  const std::string& name = model.like.empty() ? model.graph->spec.architecture : model.like;
  const auto formats = gguf_architectures();
  if (std::ranges::find(formats, name) != formats.end()) return {};
  auto checked = engine.check_model(name);
  if (!checked) return fail(std::move(checked).error().at(model.name));
  return {};
}

// Of the engines that read the format on this device, the first that runs the model;
// `usual` where none does.
Result<const EngineInfo*> one_that_runs(const ModelInput& model, const EngineInfo* usual,
                                        const WeightFormatInfo* format,
                                        const Accelerator& accelerator,
                                        const Knowledge& knowledge) {
  constexpr std::array<std::string_view, 5> kOthers{"vllm", "sglang", "tensorrt-llm", "llama.cpp",
                                                    "transformers"};
  if (check_architecture(model, *usual, knowledge) && check_purpose(model, *usual)) return usual;
  for (const std::string_view name : kOthers) {
    CAIRN_TRY(const EngineInfo* other, knowledge.engines.find(name));
    if (!other->offered_on(accelerator)) continue;
    if (format != nullptr && !check_format(*other, *format, accelerator)) continue;
    if (!check_purpose(model, *other)) continue;
    if (check_architecture(model, *other, knowledge)) return other;
  }
  return usual;
}

}  // namespace

Result<const EngineInfo*> default_engine(const ModelInput& model, std::string_view weights,
                                         const Accelerator& accelerator,
                                         const Knowledge& knowledge) {
  const std::string_view format =
      weights.empty() && model.stored ? std::string_view(model.stored->format) : weights;
  const WeightFormatInfo* info = knowledge.weight_formats.find(format);
  const bool gguf = info != nullptr && info->kind == "gguf";
  const bool checkpoint = info != nullptr && info->kind == "checkpoint";
  const bool consumer = accelerator.unified_memory || accelerator.family == "radeon" ||
                        accelerator.family == "geforce";
  CAIRN_TRY(const EngineInfo* usual, knowledge.engines.find("llama.cpp"));
  if (!gguf && (!consumer || checkpoint)) {
    CAIRN_TRY(const EngineInfo* vllm, knowledge.engines.find("vllm"));
    if (vllm->offered_on(accelerator) || checkpoint) usual = vllm;
  }
  return one_that_runs(model, usual, info, accelerator, knowledge);
}

bool is_server(const EngineInfo& engine) {
  return engine.family != EngineFamily::llama_cpp && engine.family != EngineFamily::transformers;
}

MemoryDemand memory_demand(const Deployment& d, std::int64_t context, std::int64_t sequences) {
  return {.graph = d.model.graph.get(),
          .weights = &d.weights,
          .kv = d.kv,
          .layout = d.layout,
          .context = context,
          .sequences = sequences,
          .config = d.config,
          .host_memory = d.host_memory};
}

std::string default_format(const ModelInput& model, const EngineInfo& engine) {
  if (contains(engine.format_kinds, "gguf")) {
    // Models that are published in four bits are converted without loss.
    return model.graph->spec.published_format == "mxfp4" ? "mxfp4_moe" : "q4_k_m";
  }
  // Where a configuration says nothing, engines load 16 bits a weight.
  const std::string& published = model.graph->spec.published_format;
  return published.empty() ? "bf16" : published;
}

Result<KvFormat> find_kv_format(std::string_view name, const EngineInfo& engine,
                                const Knowledge& knowledge) {
  const std::string_view wanted = name == "auto" ? engine.reference.kv_format : name;
  const auto format = knowledge.weight_formats.find_kv(wanted);
  if (!format) {
    std::vector<std::string> known;
    for (const KvFormat& f : knowledge.weight_formats.kv_formats()) known.push_back(f.name);
    return fail(not_found("unknown KV cache format")
                    .in("--kv")
                    .got(name)
                    .want(fmt::format("one of {}", fmt::join(known, ", "))));
  }
  if (!engine.supports_kv(format->name)) {
    return fail(unsupported("the engine has no such KV cache format")
                    .in(engine.id)
                    .got(name)
                    .want(fmt::format("one of {}", fmt::join(engine.kv_formats, ", "))));
  }
  return *format;
}

Result<Deployment> resolve(const ModelInput& model, const DeploymentRequest& request,
                           const Knowledge& knowledge) {
  CAIRN_CHECK(check_engine(request));
  CAIRN_CHECK(check_purpose(model, *request.engine));
  CAIRN_CHECK(check_architecture(model, *request.engine, knowledge));
  CAIRN_CHECK(check_settings(request));
  if (request.places.towers.value_or(false) && !has_towers(*model.graph)) {
    return fail(
        unsupported("the model has no towers for images or sound").at(model.name).in("mmproj"));
  }
  Deployment out;
  out.model = model;
  out.accelerator = request.accelerator;
  out.engine = request.engine;
  out.layout = request.layout;
  out.host = request.host;
  out.host_bandwidth = request.host_bandwidth;
  out.config = request.engine->reference_on(request.accelerator->memory, request.accelerator->id,
                                            request.layout.tp);
  EngineConfig& c = out.config;
  if (request.ubatch) c.ubatch = *request.ubatch;
  if (request.ubatch && c.batch < c.ubatch) c.batch = c.ubatch;
  if (request.flash_attention) c.flash_attention = *request.flash_attention;
  place(request.places, c);
  if (request.memory_fraction) c.memory_fraction = *request.memory_fraction;
  if (request.max_batched_tokens) c.max_batched_tokens = *request.max_batched_tokens;
  if (request.max_sequences) c.max_sequences = *request.max_sequences;
  out.kernels = {c.flash_attention, request.hipblaslt, request.rocwmma, request.build};
  CAIRN_TRY(out.weights, bind_weights(model, request, knowledge));
  CAIRN_TRY(out.kv, find_kv_format(request.kv.empty() ? c.kv_format : request.kv, *request.engine,
                                   knowledge));
  CAIRN_CHECK(check_kernels(out));
  CAIRN_CHECK(check_layout(*model.graph, request.layout));
  out.host_memory = host_memory_for(request, knowledge);
  return out;
}

Result<void> check_single(const Accelerator& a) {
  if (a.is_gpu) return {};
  if (a.status == Status::announced) {
    return fail(unsupported("cannot say: announced, and only as part of a whole rack")
                    .got(a.id)
                    .want("an accelerator that is sold by itself"));
  }
  return fail(unsupported("not a single accelerator").got(a.id).want("a GPU"));
}

}  // namespace cairn
