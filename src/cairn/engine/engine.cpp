#include "cairn/engine/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cairn/base/names.h"
#include "cairn/engine/engine_record.h"

namespace cairn {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// What releases from `from` on run, up to the next change; none: the newest.
void settle_models(EngineInfo& engine, const std::vector<std::int64_t>* from) {
  const bool dated = std::ranges::any_of(engine.models, &ModelSupport::dated);
  for (ModelSupport& m : engine.models) {
    m.runs = RunsModel::yes;
    if (!m.until.empty()) {
      const bool still = from != nullptr && engine::release_numbers(m.until) >= *from;
      m.runs = still ? RunsModel::yes : RunsModel::no;
    } else if (from != nullptr && dated) {
      const bool late = !m.present.empty() && *from >= engine::release_numbers(m.present);
      const bool early = !m.absent.empty() && *from <= engine::release_numbers(m.absent);
      m.runs = late ? RunsModel::yes : (early ? RunsModel::no : RunsModel::unknown);
    }
  }
}

// Where what is known of an engine's models changes: right after they were absent, and
// with the first release that is known to have them.
std::vector<std::vector<std::int64_t>> changes_of(const std::vector<ModelSupport>& models) {
  std::vector<std::vector<std::int64_t>> out;
  for (const ModelSupport& m : models) {
    if (!m.present.empty()) out.push_back(engine::release_numbers(m.present));
    if (m.absent.empty()) continue;
    out.push_back(engine::release_numbers(m.absent));
    if (!out.back().empty()) ++out.back().back();
  }
  return out;
}

}  // namespace

bool DeviceKind::in(const std::vector<std::string>& list) const {
  return contains(list, vendor) || contains(list, architecture) ||
         (!target.empty() && contains(list, target));
}

bool EngineInfo::supports_vendor(std::string_view vendor) const {
  return contains(vendors, vendor);
}

bool EngineInfo::offered_on(const DeviceKind& device) const {
  return supports_vendor(device.vendor) && (architectures.empty() || device.in(architectures));
}

bool EngineInfo::supports(const DeviceKind& device) const {
  return offered_on(device) || (supports_vendor(device.vendor) && device.in(community));
}

bool EngineInfo::runs_format(std::string_view format, const DeviceKind& device) const {
  return formats.empty() || std::ranges::any_of(formats, [&](const FormatSupport& f) {
           return contains(f.formats, format) && device.in(f.on);
         });
}

RunsModel EngineInfo::answer_for(std::string_view model_class) const {
  if (models.empty()) return RunsModel::yes;
  const ModelSupport* found = nullptr;
  for (const ModelSupport& m : models) {
    if (!contains(*m.names, model_class)) continue;
    // An entry that says when the class came counts more than the list of the newest.
    if (found == nullptr || m.dated()) found = &m;
    if (!found->dated() && m.runs == RunsModel::yes) found = &m;
  }
  return found == nullptr ? RunsModel::no : found->runs;
}

Result<void> EngineInfo::check_model(std::string_view model_class) const {
  const RunsModel answer = answer_for(model_class);
  if (answer == RunsModel::yes) return {};
  const auto listed = [&](const ModelSupport& m) { return contains(*m.names, model_class); };
  auto of = std::ranges::find_if(
      models, [&](const ModelSupport& m) { return listed(m) && (m.dated() || !m.until.empty()); });
  if (of == models.end()) of = std::ranges::find_if(models, listed);
  if (of == models.end()) of = models.begin();
  std::string wanted = fmt::format("one of the list at {} ({})", of->url, of->date);
  if (answer == RunsModel::unknown) {
    if (!of->present.empty()) {
      wanted = fmt::format("{}@{} or newer, by {} ({})", id, of->present, of->url, of->date);
    }
    return fail(unsupported("it is not known whether this release runs models of this architecture")
                    .in(id)
                    .got(model_class)
                    .want(std::move(wanted)));
  }
  if (!of->until.empty()) {
    wanted = fmt::format("{}@{} or older, by {} ({})", id, of->until, of->url, of->date);
  } else if (of->dated() && listed(*of)) {
    wanted = fmt::format("a release after {}@{}, by {} ({})", id, of->absent, of->url, of->date);
  }
  return fail(unsupported("the engine does not run models of this architecture")
                  .in(id)
                  .got(model_class)
                  .want(std::move(wanted)));
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

EngineConfig EngineInfo::reference_on(Bytes device_memory, std::string_view accelerator,
                                      int parallel) const {
  // Beyond this many devices SGLang captures larger steps.
  constexpr int kManyDevices = 4;
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
  out.graph_batch = parallel < kManyDevices ? it->graph_batch : it->graph_batch_parallel;
  return out;
}

// What `versions` says, and further ranges of releases where what they run changes.
Result<std::vector<EngineCatalogue::Older>> EngineCatalogue::older_of(Node record,
                                                                      const EngineInfo& newest) {
  std::vector<Older> older;
  engine::Layers layers(record);
  const auto versions = record.find_value("versions");
  for (std::uint32_t i = 0; versions && i < versions->size(); ++i) {
    const Node entry = versions->at(i);
    CAIRN_TRY(const std::string_view below, entry.get<std::string_view>("below"));
    layers = layers.with(entry);
    CAIRN_TRY(EngineInfo release, engine::read_engine(record, layers));
    Older of{engine::release_numbers(below), std::move(release)};
    if (of.below.empty() || (!older.empty() && of.below >= older.back().below)) {
      return fail(entry.error("not a release").want("numbers, each entry older than the last"));
    }
    of.engine.models = newest.models;
    older.push_back(std::move(of));
  }
  for (std::vector<std::int64_t>& below : changes_of(newest.models)) {
    const auto at = std::ranges::lower_bound(older, below, std::ranges::greater{}, &Older::below);
    if (at != older.end() && at->below == below) continue;
    EngineInfo release = at == older.begin() ? newest : std::prev(at)->engine;
    older.insert(at, Older{std::move(below), std::move(release)});
  }
  const std::vector<std::int64_t> first;  // releases of the last entry have no lower end
  for (std::size_t i = 0; i < older.size(); ++i) {
    settle_models(older[i].engine, i + 1 < older.size() ? &older[i + 1].below : &first);
  }
  return older;
}

Result<EngineCatalogue> EngineCatalogue::load(const Image& image) {
  EngineCatalogue out;
  out.image_ = image;
  for (const std::string_view name : image.names("engines/")) {
    CAIRN_TRY(const Node record, image.root(name));
    CAIRN_TRY(EngineInfo newest, engine::read_engine(record, engine::Layers(record)));
    CAIRN_TRY(newest.models, engine::read_models(record));
    CAIRN_TRY(std::vector<Older> older, older_of(record, newest));
    settle_models(newest, nullptr);
    out.engines_.push_back(std::move(newest));
    out.older_.push_back(std::move(older));
    out.records_.push_back(record);
  }
  return out;
}

Result<const EngineInfo*> EngineCatalogue::find(std::string_view name) const {
  const std::size_t at = name.find('@');
  const std::string wanted = normalise_name(name.substr(0, at));
  std::vector<std::string> known;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const EngineInfo& engine = engines_[i];
    known.push_back(normalise_name(engine.id));
    for (const std::string& alias : engine.aliases) known.push_back(normalise_name(alias));
    const bool named = std::ranges::any_of(
        engine.aliases, [&](const std::string& alias) { return normalise_name(alias) == wanted; });
    if (!named && normalise_name(engine.id) != wanted) continue;
    if (at == std::string_view::npos) return &engine;
    const std::string_view release = name.substr(at + 1);
    const std::vector<std::int64_t> numbers = engine::release_numbers(release);
    if (numbers.empty()) {
      return fail(
          bad_input("not a release of an engine").got(release).want("a release such as 0.11.2"));
    }
    const EngineInfo* found = &engine;
    for (const Older& older : older_[i]) {
      if (numbers < older.below) found = &older.engine;
    }
    // "0.4 to 0.7": what came before is not described.
    const std::string& described = found->reference.version;
    const std::vector<std::int64_t> oldest = engine::release_numbers(described);
    const bool last = older_[i].empty() || numbers < older_[i].back().below;
    if (last && !oldest.empty() && numbers < oldest) {
      return fail(unsupported("the release is older than those that are described")
                      .in(engine.id)
                      .got(release)
                      .want(described));
    }
    return found;
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
  const auto it = std::ranges::find(engines_, engine.id, &EngineInfo::id);
  return records_[static_cast<std::size_t>(it - engines_.begin())];
}

}  // namespace cairn
