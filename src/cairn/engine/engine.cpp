#include "cairn/engine/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cairn/base/names.h"

namespace cairn {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000;

// A value of the record; each stands in a mapping with its source.
Result<Node> value_of(Node facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.required("value");
}

Result<std::int64_t> count_of(Node facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get_integer("value", 1, kMostTokens);
}

Result<double> number_of(Node facts, std::string_view key, double high) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get_number("value", 0, high);
}

Result<bool> flag_of(Node facts, std::string_view key) {
  CAIRN_TRY(const Node fact, facts.required(key));
  return fact.get<bool>("value");
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

constexpr std::array<std::pair<std::string_view, EngineFamily>, 2> kFamilies{{
    {"llama.cpp", EngineFamily::llama_cpp},
    {"vllm", EngineFamily::vllm},
}};
constexpr std::array<std::pair<std::string_view, SplitMode>, 3> kSplits{{
    {"none", SplitMode::none},
    {"layer", SplitMode::layer},
    {"tensor", SplitMode::tensor},
}};

Result<EngineConfig> read_reference(Node record) {
  EngineConfig out;
  CAIRN_TRY(const Node reference, record.required("reference"));
  CAIRN_TRY(const Node version, value_of(reference, "version"));
  CAIRN_TRY(const std::string_view version_text, version.string());
  out.version = version_text;
  CAIRN_TRY(const Node kv, value_of(reference, "kv_format"));
  CAIRN_TRY(const std::string_view kv_text, kv.string());
  out.kv_format = kv_text;
  CAIRN_TRY(out.flash_attention, flag_of(reference, "flash_attention"));
  CAIRN_TRY(out.graph_capture, flag_of(reference, "graph_capture"));
  if (reference.find("ubatch")) {
    CAIRN_TRY(out.ubatch, count_of(reference, "ubatch"));
    CAIRN_TRY(out.batch, count_of(reference, "batch"));
    CAIRN_TRY(out.context_pad, count_of(reference, "context_pad"));
    CAIRN_TRY(out.full_window_cache, flag_of(reference, "full_window_cache"));
    CAIRN_TRY(out.reserve_all_outputs, flag_of(reference, "reserve_all_outputs"));
  }
  if (reference.find("max_batched_tokens")) {
    CAIRN_TRY(out.max_batched_tokens, count_of(reference, "max_batched_tokens"));
    CAIRN_TRY(out.max_sequences, count_of(reference, "max_sequences"));
    CAIRN_TRY(out.block_tokens, count_of(reference, "block_tokens"));
    CAIRN_TRY(out.memory_fraction, number_of(reference, "memory_fraction", 1));
  }
  return out;
}

Result<std::vector<DeviceDefaults>> read_device_defaults(Node record) {
  std::vector<DeviceDefaults> out;
  const auto list = record.find_value("device_defaults");
  if (!list) return out;
  for (std::uint32_t i = 0; i < list->size(); ++i) {
    const Node node = list->at(i);
    DeviceDefaults d;
    CAIRN_TRY(const double memory, node.get_number("memory_at_least_gib", 0, 1e6));
    d.memory_at_least = gib(memory);
    CAIRN_TRY(d.except, node.get_strings("except"));
    CAIRN_TRY(d.max_batched_tokens, node.get_integer("max_batched_tokens", 1, kMostTokens));
    CAIRN_TRY(d.max_sequences, node.get_integer("max_sequences", 1, kMostTokens));
    out.push_back(std::move(d));
  }
  return out;
}

Result<Bytes> mebibytes(Node node, std::string_view key) {
  CAIRN_TRY(const double value, node.get_number(key, 0, 1e6));
  return mib(value);
}

Result<std::vector<DeviceOverheads>> read_overheads(Node record) {
  std::vector<DeviceOverheads> out;
  CAIRN_TRY(const Node list, record.required("overheads"));
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
    out.push_back(std::move(d));
  }
  return out;
}

Result<void> read_memory_model(Node record, EngineInfo& out) {
  CAIRN_TRY(const Node memory, record.required("memory"));
  CAIRN_TRY(out.memory_sigma, number_of(memory, "sigma", 1));
  if (memory.find("sampler_copies")) {
    CAIRN_TRY(out.sampler_copies, number_of(memory, "sampler_copies", 100));
  }
  return {};
}

Result<EngineInfo> read_engine(Node record) {
  constexpr std::array<std::string_view, 18> kFields{
      "id",         "name",          "homepage", "family",    "aliases",
      "vendors",    "architectures", "split",    "formats",   "format_kinds",
      "kv_formats", "sources",       "supports", "reference", "device_defaults",
      "overheads",  "memory",        "notes"};
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
  CAIRN_TRY(out.vendors, record.get_strings("vendors"));
  CAIRN_TRY(out.architectures, record.get_strings("architectures"));
  CAIRN_TRY(out.format_kinds, record.get_strings("format_kinds"));
  CAIRN_TRY(out.formats, record.get_strings("formats"));
  CAIRN_TRY(out.kv_formats, record.get_strings("kv_formats"));
  CAIRN_TRY(out.reference, read_reference(record));
  CAIRN_TRY(out.device_defaults, read_device_defaults(record));
  CAIRN_TRY(out.overheads, read_overheads(record));
  CAIRN_CHECK(read_memory_model(record, out));
  return out;
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

bool EngineInfo::supports_vendor(std::string_view vendor) const {
  return contains(vendors, vendor);
}

bool EngineInfo::supports(std::string_view vendor, std::string_view architecture) const {
  return supports_vendor(vendor) &&
         (architectures.empty() || contains(architectures, architecture));
}

bool EngineInfo::supports_kv(std::string_view kv_format) const {
  return contains(kv_formats, kv_format);
}

DeviceOverheads EngineInfo::overheads_on(std::string_view vendor,
                                         std::string_view architecture) const {
  const auto it = std::ranges::find_if(overheads, [&](const DeviceOverheads& d) {
    return d.vendor == vendor &&
           (d.architectures.empty() || contains(d.architectures, architecture));
  });
  return it == overheads.end() ? DeviceOverheads{} : *it;
}

EngineConfig EngineInfo::reference_on(Bytes device_memory, std::string_view accelerator) const {
  EngineConfig out = reference;
  const auto applies = [&](const DeviceDefaults& d) {
    return device_memory >= d.memory_at_least &&
           std::ranges::none_of(d.except, [&](const std::string& word) {
             return accelerator.find(word) != std::string_view::npos;
           });
  };
  const auto it = std::ranges::find_if(device_defaults, applies);
  if (it == device_defaults.end()) return out;
  out.max_batched_tokens = it->max_batched_tokens;
  out.max_sequences = it->max_sequences;
  return out;
}

Result<EngineCatalogue> EngineCatalogue::load(const Image& image) {
  EngineCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("engines/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(EngineInfo engine, read_engine(record));
    out.engines_.push_back(std::move(engine));
    out.records_.push_back(record);
  }
  return out;
}

Result<const EngineInfo*> EngineCatalogue::find(std::string_view name) const {
  const std::string wanted = normalise_name(name);
  std::vector<std::string> known;
  for (const EngineInfo& engine : engines_) {
    known.push_back(normalise_name(engine.id));
    for (const std::string& alias : engine.aliases) known.push_back(normalise_name(alias));
    const bool named = std::ranges::any_of(
        engine.aliases, [&](const std::string& alias) { return normalise_name(alias) == wanted; });
    if (named || normalise_name(engine.id) == wanted) return &engine;
  }
  std::vector<std::string> near = nearest_names(wanted, known);
  if (near.empty()) {
    for (const EngineInfo& engine : engines_) near.push_back(engine.id);
  }
  return fail(not_found("unknown engine")
                  .got(name)
                  .want(fmt::format("an engine such as {}", fmt::join(near, ", "))));
}

Node EngineCatalogue::record(const EngineInfo& engine) const {
  return records_[static_cast<std::size_t>(&engine - engines_.data())];
}

}  // namespace cairn
