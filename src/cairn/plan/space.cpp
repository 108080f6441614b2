#include "cairn/plan/space.h"

#include <algorithm>

#include "cairn/plan/variants.h"

namespace cairn {
namespace {

bool has_experts(const ModelInput& model) {
  return std::ranges::any_of(model.graph->spec.layers,
                             [](const LayerSpec& l) { return l.feed_forward.experts > 0; });
}

std::vector<Layout> tensor_splits(std::int64_t most, bool experts) {
  std::vector<Layout> out;
  for (int tp = 1; tp <= most; tp *= 2) {
    for (int pp = 1; std::int64_t{tp} * pp <= most && pp <= kCardsOfAMachine; ++pp) {
      out.push_back({.tp = tp, .pp = pp});
      if (experts && tp > 1) out.push_back({.tp = tp, .pp = pp, .ep = tp});
    }
    // Replicas that share their experts, each with attention of its own.
    for (int ep = 2 * tp; experts && ep <= most; ep *= 2) {
      out.push_back({.tp = tp, .dp = ep / tp, .ep = ep});
    }
  }
  return out;
}

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

}  // namespace

std::vector<std::string> searched_formats(const ModelInput& model, const EngineInfo& engine,
                                          const Accelerator& accelerator) {
  if (model.stored) return {std::string()};
  const std::string published =
      model.graph->spec.published_format.empty() ? "bf16" : model.graph->spec.published_format;
  if (engine.family == EngineFamily::llama_cpp) {
    std::vector<std::string> out{"q8_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_xs"};
    if (published == "mxfp4") out.insert(out.begin(), "mxfp4_moe");
    return out;
  }
  std::vector<std::string> out;
  const auto offer = [&](std::string format) {
    if (engine.runs_format(format, accelerator)) out.push_back(std::move(format));
  };
  offer(published);
  if (published != "bf16" && published != "fp16" && published != "fp32") return out;
  if (accelerator.peak_of(ComputeType::fp8)) offer("fp8");
  if (accelerator.peak_of(ComputeType::int8)) offer("int8");
  offer("awq-int4");
  if (accelerator.peak_of(ComputeType::fp4)) {
    offer(accelerator.vendor == "amd" ? "mxfp4-linear" : "nvfp4");
  }
  return out;
}

std::vector<std::string> searched_kv_formats(const EngineInfo& engine) {
  std::vector<std::string> out{engine.reference.kv_format};
  for (const std::string& name : engine.kv_formats) {
    if (!name.starts_with("fp8") && name != "q8_0") continue;
    if (name != out.front()) out.push_back(name);
    break;
  }
  return out;
}

std::vector<Layout> searched_splits(const ModelInput& model, const EngineInfo& engine,
                                    const Accelerator& accelerator, std::int64_t max_cards) {
  // An APU is a machine of its own.
  std::int64_t most = accelerator.unified_memory ? 1 : kCardsOfAMachine;
  if (accelerator.scale_up.topology == Topology::switched) {
    most = std::max<std::int64_t>(most, accelerator.scale_up.max_devices);
  }
  most = std::min(most, max_cards * accelerator.devices_per_card);
  if (engine.split == SplitMode::tensor) return tensor_splits(most, has_experts(model));
  std::vector<Layout> out;
  for (int n = 1; n <= std::min(most, kCardsOfAMachine); ++n) out.push_back({.pp = n});
  return out;
}

std::vector<std::int64_t> replica_counts(std::int64_t most, std::int64_t step) {
  std::vector<std::int64_t> out;
  const std::int64_t last = most / step;
  constexpr std::int64_t kPerDoubling = 8;
  std::int64_t stride = 1;
  for (std::int64_t n = 1; n < last; n += stride) {
    out.push_back(n * step);
    if (n >= 2 * kPerDoubling * stride) stride *= 2;
  }
  if (last >= 1) out.push_back(last * step);
  return out;
}

namespace {

bool is_considered(const Accelerator& a, const Constraints& c) {
  if (!a.is_gpu) return false;
  if (!c.vendor.empty() && a.vendor != c.vendor) return false;
  if (!c.accelerators.empty()) return contains(c.accelerators, a.id);
  const bool owned = std::ranges::any_of(c.owned, [&](const auto& o) { return o.first == a.id; });
  // What cannot be bought is offered to those who name it or have it.
  if (a.status == Status::announced) return c.announced || owned;
  return a.status != Status::end_of_life || owned;
}

}  // namespace

std::vector<const Accelerator*> considered(const Constraints& c, const Knowledge& knowledge) {
  std::vector<const Accelerator*> out;
  for (const Accelerator& a : knowledge.accelerators.all()) {
    if (is_considered(a, c)) out.push_back(&a);
  }
  // Partitions of a package are not on the catalogue's list.
  const auto add = [&](const std::string& id) {
    const auto a = knowledge.accelerators.find(id);
    if (!a || (*a)->id == (*a)->card || !is_considered(**a, c)) return;
    if (std::ranges::find(out, *a) == out.end()) out.push_back(*a);
  };
  for (const std::string& id : c.accelerators) add(id);
  for (const auto& [id, n] : c.owned) add(id);
  return out;
}

std::vector<Pairing> pairings(const Constraints& c, const Knowledge& knowledge) {
  std::vector<Pairing> out;
  for (const Accelerator* a : considered(c, knowledge)) {
    for (const EngineInfo& e : knowledge.engines.all()) {
      // What was asked for may be a build that its users keep up, or no server.
      const bool offered = e.offered_on(*a) && e.family != EngineFamily::transformers;
      const bool wanted = c.engines.empty() ? offered : contains(c.engines, e.id);
      if (wanted && e.supports(*a)) out.push_back({a, &e});
    }
  }
  return out;
}

std::vector<Variant> variants_of(const ModelInput& model, const Constraints& c,
                                 const Pairing& pairing) {
  const auto& [accelerator, engine] = pairing;
  const auto formats =
      c.formats.empty() ? searched_formats(model, *engine, *accelerator) : c.formats;
  const auto caches = c.kv.empty() ? searched_kv_formats(*engine) : std::vector{c.kv};
  const auto splits = searched_splits(model, *engine, *accelerator, c.max_cards);
  std::vector<Variant> out;
  out.reserve(formats.size() * caches.size() * splits.size());
  for (const std::string& format : formats) {
    for (const std::string& kv : caches) {
      for (const Layout& layout : splits) {
        out.push_back({accelerator, engine, format, kv, layout});
      }
    }
  }
  return out;
}

}  // namespace cairn
