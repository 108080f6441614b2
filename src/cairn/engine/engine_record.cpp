#include "cairn/engine/engine_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cairn::engine {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000;

// A value of the record; each stands in a mapping with its source.
Result<Node> value_of(const Layers& facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.required("value");
}

Result<std::int64_t> count_of(const Layers& facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get_integer("value", 1, kMostTokens);
}

Result<double> number_of(const Layers& facts, std::string_view key, double high) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get_number("value", 0, high);
}

Result<double> number_or(const Layers& facts, std::string_view key, double fallback, double high) {
  if (!facts.find(key)) return fallback;
  return number_of(facts, key, high);
}

Result<Bytes> mebibytes_or(const Layers& facts, std::string_view key) {
  CAIRN_TRY(const double value, number_or(facts, key, 0, 1e6));
  return mib(value);
}

Result<bool> flag_of(const Layers& facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get<bool>("value");
}

Result<bool> flag_or(const Layers& facts, std::string_view key, bool fallback) {
  if (!facts.find(key)) return fallback;
  return flag_of(facts, key);
}

template <class T, std::size_t N>
Result<T> choice(Node node, const std::array<std::pair<std::string_view, T>, N>& choices) {
  CAIRN_TRY(const std::string_view text, node.string());
  const auto it = std::ranges::find(choices, text, [](const auto& c) { return c.first; });
  if (it != choices.end()) return it->second;
  std::vector<std::string_view> known;
  known.reserve(N);
  for (const auto& c : choices) known.push_back(c.first);
  return fail(node.error("unknown value").want(fmt::format("one of {}", fmt::join(known, ", "))));
}

constexpr std::array<std::pair<std::string_view, EngineFamily>, 5> kFamilies{{
    {"llama.cpp", EngineFamily::llama_cpp},
    {"vllm", EngineFamily::vllm},
    {"sglang", EngineFamily::sglang},
    {"tensorrt-llm", EngineFamily::tensorrt_llm},
    {"transformers", EngineFamily::transformers},
}};
constexpr std::array<std::pair<std::string_view, SplitMode>, 3> kSplits{{
    {"none", SplitMode::none},
    {"layer", SplitMode::layer},
    {"tensor", SplitMode::tensor},
}};

Result<EngineConfig> read_reference(const Layers& layers) {
  EngineConfig out;
  CAIRN_TRY(const Layers reference, layers.within("reference"));
  CAIRN_TRY(const Node version, value_of(reference, "version"));
  CAIRN_TRY(const std::string_view version_text, version.string());
  out.version = version_text;
  CAIRN_TRY(const Node kv, value_of(reference, "kv_format"));
  CAIRN_TRY(const std::string_view kv_text, kv.string());
  out.kv_format = kv_text;
  CAIRN_TRY(out.flash_attention, flag_of(reference, "flash_attention"));
  CAIRN_TRY(out.graph_capture, flag_of(reference, "graph_capture"));
  CAIRN_TRY(out.static_cache, flag_or(reference, "static_cache", false));
  if (reference.find("ubatch")) {
    CAIRN_TRY(out.ubatch, count_of(reference, "ubatch"));
    CAIRN_TRY(out.batch, count_of(reference, "batch"));
    CAIRN_TRY(out.context_pad, count_of(reference, "context_pad"));
    CAIRN_TRY(out.full_window_cache, flag_of(reference, "full_window_cache"));
    CAIRN_TRY(out.reserve_all_outputs, flag_of(reference, "reserve_all_outputs"));
    out.context_pad_plain = out.context_pad;
    if (reference.find("context_pad_plain")) {
      CAIRN_TRY(out.context_pad_plain, count_of(reference, "context_pad_plain"));
    }
    constexpr std::array<std::pair<std::string_view, bool EngineConfig::*>, 10> kFlags{{
        {"unified_cache", &EngineConfig::unified_cache},
        {"half_mask", &EngineConfig::half_mask},
        {"fused_activation", &EngineConfig::fused_activation},
        {"fused_delta_net", &EngineConfig::fused_delta_net},
        {"embedding_inputs", &EngineConfig::embedding_inputs},
        {"pipelines", &EngineConfig::pipelines},
        {"copies_all_inputs", &EngineConfig::copies_all_inputs},
        {"indexed_cache", &EngineConfig::indexed_cache},
        {"rotates_cache", &EngineConfig::rotates_cache},
        {"attention_workspace", &EngineConfig::attention_workspace},
    }};
    for (const auto& [key, flag] : kFlags) {
      CAIRN_TRY(out.*flag, flag_or(reference, key, out.*flag));
    }
  }
  if (reference.find("max_batched_tokens")) {
    CAIRN_TRY(out.max_batched_tokens, count_of(reference, "max_batched_tokens"));
    CAIRN_TRY(out.max_sequences, count_of(reference, "max_sequences"));
    CAIRN_TRY(out.block_tokens, count_of(reference, "block_tokens"));
    CAIRN_TRY(out.memory_fraction, number_of(reference, "memory_fraction", 1));
  }
  return out;
}

Result<std::vector<DeviceDefaults>> read_device_defaults(const Layers& layers) {
  std::vector<DeviceDefaults> out;
  const auto list = layers.find("device_defaults");
  if (!list) return out;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    const Node node = list->at(i);
    DeviceDefaults d;
    CAIRN_TRY(const double memory, node.get_number("memory_at_least_gib", 0, 1e6));
    d.memory_at_least = gib(memory);
    CAIRN_TRY(d.except, node.get_strings("except"));
    CAIRN_TRY(d.max_batched_tokens, node.get_integer("max_batched_tokens", 1, kMostTokens));
    CAIRN_TRY(d.max_sequences, node.get_integer("max_sequences", 1, kMostTokens));
    CAIRN_TRY(d.graph_batch, node.get_integer_or("graph_batch", 0, 0, kMostTokens));
    CAIRN_TRY(d.graph_batch_parallel,
              node.get_integer_or("graph_batch_parallel", d.graph_batch, 0, kMostTokens));
    out.push_back(std::move(d));
  }
  return out;
}

Result<Bytes> mebibytes(Node node, std::string_view key) {
  CAIRN_TRY(const double value, node.get_number(key, 0, 1e6));
  return mib(value);
}

Result<std::vector<DeviceOverheads>> read_overheads(const Layers& layers) {
  std::vector<DeviceOverheads> out;
  CAIRN_TRY(const Node list, layers.required("overheads"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Node node = list.at(i);
    DeviceOverheads d;
    CAIRN_TRY(const std::string_view vendor, node.get<std::string_view>("vendor"));
    d.vendor = vendor;
    CAIRN_TRY(d.architectures, node.get_strings("architectures"));
    CAIRN_TRY(d.reserved, mebibytes(node, "reserved_mib"));
    CAIRN_TRY(d.runtime, mebibytes(node, "runtime_mib"));
    CAIRN_TRY(d.runtime_parallel, mebibytes(node, "runtime_parallel_mib"));
    CAIRN_TRY(d.graphs, mebibytes(node, "graphs_mib"));
    CAIRN_TRY(d.graphs_counted, node.get_or<bool>("graphs_counted", false));
    out.push_back(std::move(d));
  }
  return out;
}

Result<std::vector<FormatSupport>> read_formats(const Layers& layers) {
  std::vector<FormatSupport> out;
  const auto list = layers.find("formats");
  if (!list) return out;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    FormatSupport f;
    CAIRN_TRY(f.formats, list->at(i).get_strings("formats"));
    CAIRN_TRY(f.on, list->at(i).get_strings("on"));
    out.push_back(std::move(f));
  }
  return out;
}

Result<std::vector<std::string>> read_no_kernels(const Layers& layers) {
  std::vector<std::string> out;
  const auto list = layers.find("no_kernels");
  for (std::uint32_t i = 0; list && i < list->size(); ++i) {
    CAIRN_TRY(const auto types, list->at(i).get_strings("types"));
    out.insert(out.end(), types.begin(), types.end());
  }
  return out;
}

Result<MemoryModel> read_memory_model(const Layers& memory) {
  MemoryModel out;
  constexpr double kMost = 1e6;
  CAIRN_TRY(out.sampler_copies, number_or(memory, "sampler_copies", out.sampler_copies, 100));
  CAIRN_TRY(out.hidden_copies, number_or(memory, "hidden_copies", out.hidden_copies, 100));
  CAIRN_TRY(out.tokens_by_concurrency, flag_or(memory, "tokens_by_concurrency", true));
  CAIRN_TRY(out.reserve, mebibytes_or(memory, "reserve_mib"));
  CAIRN_TRY(out.reserve_per_token, mebibytes_or(memory, "reserve_per_token_mib"));
  CAIRN_TRY(out.reserve_per_graph_batch, mebibytes_or(memory, "reserve_per_graph_batch_mib"));
  CAIRN_TRY(out.reserve_per_device, mebibytes_or(memory, "reserve_per_device_mib"));
  CAIRN_TRY(out.reserve_least, mebibytes_or(memory, "reserve_least_mib"));
  CAIRN_TRY(const double from, number_or(memory, "reserve_least_from_gib", 0, kMost));
  out.reserve_least_from = gib(from);
  CAIRN_TRY(out.window_share, number_or(memory, "window_share", out.window_share, 1));
  CAIRN_TRY(out.state_ratio, number_or(memory, "state_ratio", out.state_ratio, 100));
  CAIRN_TRY(out.states_per_sequence,
            number_or(memory, "states_per_sequence", out.states_per_sequence, 100));
  CAIRN_TRY(out.cache_copies, number_or(memory, "cache_copies", out.cache_copies, 10));
  CAIRN_TRY(out.index_contexts, number_or(memory, "index_contexts", out.index_contexts, 1000));
  CAIRN_TRY(out.latent_contexts, number_or(memory, "latent_contexts", out.latent_contexts, 1000));
  CAIRN_TRY(out.entry_contexts, number_or(memory, "entry_contexts", out.entry_contexts, 1000));
  CAIRN_TRY(out.index_scores, mebibytes_or(memory, "index_scores_mib"));
  return out;
}

Result<std::vector<std::string>> strings(const Layers& layers, std::string_view key) {
  const auto list = layers.find(key);
  std::vector<std::string> out;
  for (std::uint32_t i = 0; list && i < list->size(); ++i) {
    CAIRN_TRY(const std::string_view text, list->at(i).string());
    out.emplace_back(text);
  }
  return out;
}

}  // namespace

Layers Layers::with(Node version) const {
  Layers out = *this;
  out.nodes_.push_back(version);
  return out;
}

std::optional<Node> Layers::find(std::string_view key) const {
  for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
    if (auto found = it->find_value(key)) return found;
  }
  return std::nullopt;
}

Result<Node> Layers::required(std::string_view key) const {
  if (auto found = find(key)) return *found;
  return nodes_.front().required(key);
}

Result<Layers> Layers::within(std::string_view key) const {
  CAIRN_TRY(const Node first, nodes_.front().required(key));
  Layers out(first);
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    if (const auto found = nodes_[i].find_value(key)) out.nodes_.push_back(*found);
  }
  return out;
}

Result<EngineInfo> read_engine(Node record, const Layers& layers) {
  constexpr std::array<std::string_view, 22> kFields{
      "id",        "name",      "homepage", "family",     "aliases",         "vendors",
      "community", "versions",  "split",    "formats",    "architectures",   "format_kinds",
      "sources",   "supports",  "notes",    "kv_formats", "device_defaults", "overheads",
      "memory",    "reference", "models",   "no_kernels"};
  CAIRN_CHECK(record.only(kFields));
  EngineInfo out;
  CAIRN_TRY(const std::string_view id, record.get<std::string_view>("id"));
  CAIRN_TRY(const std::string_view name, record.get<std::string_view>("name"));
  out.id = id;
  out.name = name;
  CAIRN_TRY(const Node family, record.required("family"));
  CAIRN_TRY(out.family, choice(family, kFamilies));
  CAIRN_TRY(const Node split, record.required("split"));
  CAIRN_TRY(out.split, choice(split, kSplits));
  CAIRN_TRY(out.aliases, record.get_strings("aliases"));
  CAIRN_TRY(out.vendors, strings(layers, "vendors"));
  CAIRN_TRY(out.architectures, strings(layers, "architectures"));
  CAIRN_TRY(out.community, strings(layers, "community"));
  CAIRN_TRY(out.format_kinds, strings(layers, "format_kinds"));
  CAIRN_TRY(out.formats, read_formats(layers));
  CAIRN_TRY(out.no_kernels, read_no_kernels(layers));
  CAIRN_TRY(out.kv_formats, strings(layers, "kv_formats"));
  CAIRN_TRY(out.reference, read_reference(layers));
  CAIRN_TRY(out.device_defaults, read_device_defaults(layers));
  CAIRN_TRY(out.overheads, read_overheads(layers));
  CAIRN_TRY(const Layers memory, layers.within("memory"));
  CAIRN_TRY(out.memory, read_memory_model(memory));
  CAIRN_TRY(out.memory_sigma, number_of(memory, "sigma", 1));
  return out;
}

Result<std::vector<ModelSupport>> read_models(Node record) {
  std::vector<ModelSupport> out;
  const auto list = record.find_value("models");
  if (!list) return out;
  CAIRN_TRY(const Node sources, record.required("sources"));
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    const Node node = list->at(i);
    ModelSupport m;
    CAIRN_TRY(auto names, node.get_strings("names"));
    m.names = std::make_shared<const std::vector<std::string>>(std::move(names));
    CAIRN_TRY(m.until, node.get_or<std::string_view>("until", ""));
    CAIRN_TRY(m.absent, node.get_or<std::string_view>("absent", ""));
    CAIRN_TRY(m.present, node.get_or<std::string_view>("present", ""));
    CAIRN_TRY(const std::string_view key, node.get<std::string_view>("source"));
    CAIRN_TRY(const Node source, sources.required(key));
    CAIRN_TRY(m.url, source.get<std::string_view>("url"));
    CAIRN_TRY(m.date, source.get<std::string_view>("date"));
    out.push_back(std::move(m));
  }
  return out;
}

std::vector<std::int64_t> release_numbers(std::string_view version) {
  if (version.starts_with('v') || version.starts_with('b')) version.remove_prefix(1);
  std::vector<std::int64_t> out;
  while (!version.empty()) {
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), number);
    if (error != std::errc{} || number < 0) break;
    out.push_back(number);
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (!version.starts_with('.')) break;
    version.remove_prefix(1);
  }
  return out;
}

}  // namespace cairn::engine
