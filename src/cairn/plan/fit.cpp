#include "cairn/plan/fit.h"

#include <algorithm>
#include <tuple>

#include "cairn/plan/variants.h"
#include "cairn/predict/usual_host.h"

namespace cairn {
namespace {

constexpr std::int64_t kMostSequences = 4096;

// The splits to try, fewest cards first.
std::vector<Layout> splits(const FitRequest& request, const EngineInfo& engine,
                           const Accelerator& accelerator) {
  if (request.settings.layout.devices() > 1) return {request.settings.layout};
  return usual_splits(engine, accelerator, request.cards);
}

std::vector<std::string> formats(const ModelInput& model, const FitRequest& request,
                                 const EngineInfo& engine, const Accelerator& accelerator) {
  if (!request.formats.empty()) return request.formats;
  if (model.stored) return {std::string()};
  return usual_formats(model, engine, accelerator);
}

// A setting of a machine says nothing of cards with memory of their own.
Result<void> check_set_up(const Accelerator& accelerator, const EngineInfo& engine,
                          const UnifiedSetting& setting) {
  if (!setting.carve_out && !setting.gtt) return {};
  const auto& list = accelerator.set_up;
  if (std::ranges::find(list, engine.id, &SharedMemory::engine) != list.end()) return {};
  return fail(unsupported("its memory is not shared with the machine, or not by this engine")
                  .in(setting.gtt ? "--gtt" : "--carve-out")
                  .got(accelerator.id));
}

Bytes largest_need(const MemoryEstimate& memory) {
  Bytes most{};
  for (const DeviceMemory& d : memory.devices) most = std::max(most, d.required);
  return most;
}

// The first split that fits, or the last one tried; nothing where the engine
// cannot run the format on this accelerator.
Result<std::optional<Fit>> try_format(const ModelInput& model, const FitRequest& request,
                                      const Accelerator& accelerator, const EngineInfo& engine,
                                      const std::string& format, std::optional<Error>& refusal,
                                      const Knowledge& knowledge) {
  std::optional<Fit> out;
  if (auto set_up = check_set_up(accelerator, engine, request.unified); !set_up) {
    refusal = std::move(set_up).error();
    return out;
  }
  for (const Layout& layout : splits(request, engine, accelerator)) {
    DeploymentRequest r = request.settings;
    r.accelerator = &accelerator;
    r.engine = &engine;
    r.weights = format;
    r.layout = layout;
    auto d = resolve(model, r, knowledge);
    if (!d) {
      if (d.error().kind != ErrorKind::unsupported) return std::unexpected(std::move(d).error());
      refusal = std::move(d).error();
      continue;
    }
    Fit f;
    f.accelerator = &accelerator;
    f.engine = &engine;
    f.format = d->weights.format;
    const MemoryDemand demand = memory_demand(*d, request.context, request.sequences);
    CAIRN_TRY(f.memory, estimate_memory(demand, engine, accelerator));
    CAIRN_TRY(f.unified, knowledge.unified.pools(accelerator, engine.id, request.unified,
                                                 largest_need(f.memory)));
    if (f.memory.host_lacks()) f.host_note = note_of_host(*d, f.memory, knowledge);
    f.layout = layout;
    f.approximate = d->weights.approximate;
    f.bits_per_weight = 8 * d->weights.total(*model.graph).value() /
                        static_cast<double>(count_parameters(*model.graph).total);
    const std::int64_t limit = position_limit(model.graph->spec);
    const std::int64_t most =
        limit > 0 ? limit : std::max(model.graph->spec.max_context, request.context);
    CAIRN_TRY(f.largest_context, largest_context(demand, engine, accelerator, most));
    CAIRN_TRY(f.largest_batch, largest_batch(demand, engine, accelerator, kMostSequences));
    out = std::move(f);
    if (out->memory.fits) break;
  }
  return out;
}

}  // namespace

Result<std::vector<Fit>> fit(const ModelInput& model, const FitRequest& request,
                             const Knowledge& knowledge) {
  CAIRN_CHECK(check_positions(model, request.context));
  std::vector<Fit> out;
  std::optional<Error> refusal;
  for (const Accelerator* accelerator : request.accelerators) {
    for (const EngineInfo* engine : request.engines) {
      // An engine that was asked for may be a build that its users keep up.
      const bool asked = request.engines.size() == 1;
      if (asked ? !engine->supports(*accelerator) : !engine->offered_on(*accelerator)) continue;
      for (const std::string& format : formats(model, request, *engine, *accelerator)) {
        CAIRN_TRY(auto found,
                  try_format(model, request, *accelerator, *engine, format, refusal, knowledge));
        if (found) out.push_back(*std::move(found));
      }
    }
  }
  if (out.empty()) {
    if (refusal) return std::unexpected(*std::move(refusal));
    return fail(unsupported("no engine runs this model on these accelerators"));
  }
  std::ranges::stable_sort(out, {}, [](const Fit& f) {
    return std::tuple(!f.memory.fits, f.layout.devices(), f.accelerator->memory.value(),
                      -f.bits_per_weight);
  });
  return out;
}

Result<Deployment> smallest_fitting(const ModelInput& model, DeploymentRequest request,
                                    const Workload& workload, const Knowledge& knowledge) {
  request.layout = {};
  CAIRN_TRY(const Workload seen, workload_for(workload, *model.graph));
  CAIRN_TRY(Deployment best, resolve(model, request, knowledge));
  for (const Layout& layout : usual_splits(*request.engine, *request.accelerator)) {
    request.layout = layout;
    auto d = resolve(model, request, knowledge);
    if (!d) continue;
    best = *std::move(d);
    CAIRN_TRY(const MemoryEstimate memory, estimate_memory(memory_demand(best, seen.positions(), 1),
                                                           *best.engine, *best.accelerator));
    if (memory.fits) break;
  }
  return best;
}

}  // namespace cairn
