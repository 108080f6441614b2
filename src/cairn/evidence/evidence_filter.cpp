#include "cairn/evidence/evidence_filter.h"

#include <algorithm>

#include "cairn/base/names.h"

namespace cairn {
namespace {

bool same(std::string_view a, std::string_view b) {
  return !a.empty() && a.size() == b.size() && normalise_name(a) == normalise_name(b);
}

template <class Test>
bool any(const std::vector<std::string>& wanted, Test test) {
  return wanted.empty() || std::ranges::any_of(wanted, test);
}

// A repository stands for its threads too: "a/b" for "a/b#12".
bool of_campaign(std::string_view campaign, std::string_view wanted) {
  if (same(campaign, wanted)) return true;
  return campaign.size() > wanted.size() && campaign[wanted.size()] == '#' &&
         same(campaign.substr(0, wanted.size()), wanted);
}

// Dates of different precision are compared as far as both go.
bool within(std::string_view date, const EvidenceFilter& filter) {
  if (filter.from.empty() && filter.to.empty()) return true;
  if (date.empty()) return false;
  const auto part = [date](std::string_view bound) {
    const std::size_t n = std::min(date.size(), bound.size());
    return std::pair(date.substr(0, n), bound.substr(0, n));
  };
  const auto [after, from] = part(filter.from);
  const auto [before, to] = part(filter.to);
  return (filter.from.empty() || after >= from) && (filter.to.empty() || before <= to);
}

}  // namespace

bool matches(const EvidenceSource& source, const EvidenceFilter& filter) {
  if (!filter.kinds.empty() && std::ranges::find(filter.kinds, source.kind) == filter.kinds.end()) {
    return false;
  }
  const auto campaign = [&](const std::string& c) { return of_campaign(source.campaign, c); };
  return any(filter.campaigns, campaign) && within(source.date, filter);
}

bool matches(const EvidenceItem& item, const EvidenceFilter& filter) {
  if (!filter.sets.empty() && std::ranges::find(filter.sets, item.set) == filter.sets.end()) {
    return false;
  }
  if (filter.sound && !item.doubt.empty()) return false;
  if (item.source == nullptr || !matches(*item.source, filter)) return false;
  return any(filter.gpus,
             [&](const std::string& g) {
               return same(item.gpu, g) || same(item.gpu_printed, g);
             }) &&
         any(filter.models,
             [&](const std::string& m) {
               return same(item.model, m) || same(item.model_printed, m) ||
                      same(without_organisation(item.model), m) ||
                      same(without_organisation(item.model_printed), m);
             }) &&
         any(filter.engines, [&](const std::string& e) { return same(item.engine, e); }) &&
         any(filter.metrics, [&](const std::string& m) { return same(item.metric, m); });
}

void resolve(EvidenceFilter& filter, const EvidenceNames& names) {
  const auto extend = [](std::vector<std::string>& list, const auto& look_up) {
    const std::size_t typed = list.size();
    for (std::size_t i = 0; i < typed; ++i) {
      std::string found = look_up(list[i]);
      if (!found.empty() && found != list[i]) list.push_back(std::move(found));
    }
  };
  extend(filter.gpus, [&](const std::string& gpu) { return names.card(gpu).gpu; });
  extend(filter.models, [&](const std::string& model) {
    return names.model({.name = model, .weights = {}, .files = {}, .parameters_b = {}}).model;
  });
  extend(filter.engines, [&](const std::string& engine) { return names.engine(engine).engine; });
}

}  // namespace cairn
