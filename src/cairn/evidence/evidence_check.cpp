#include "cairn/evidence/evidence_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

namespace cairn {
namespace {

constexpr std::string_view kId[] = {"id"};
// Columns that say who measured and what came out, not what was run.
constexpr std::string_view kNotTheRun[] = {
    "id", "source", "value",           "spread",   "doubt",        "notes",    "cpu",
    "os", "system", "average_power_w", "file_gib", "parameters_b", "submitter"};

// What a row says, without some columns: equal where two rows say the same in the others.
std::string key_of(const std::vector<EvidenceCell>& cells,
                   std::span<const std::string_view> without) {
  std::string key;
  for (const EvidenceCell& cell : cells) {
    if (std::ranges::find(without, cell.column) != without.end()) continue;
    key += fmt::format("{}={}\n", cell.column, cell.text);
  }
  return key;
}

std::string title_of(const EvidenceItem& item) {
  return fmt::format("{} x{:g}, {}{}{}: {}", item.gpu.empty() ? item.gpu_printed : item.gpu,
                     item.devices, item.model.empty() ? item.model_printed : item.model,
                     item.engine.empty() ? "" : ", ", item.engine, item.metric);
}

class Checker {
 public:
  Checker(const EvidenceBook& book, const EvidenceNames& names, double factor)
      : book_(book), names_(names), factor_(factor) {}

  EvidenceReport run() {
    for (const InferenceRow& row : book_.inference()) {
      count_names(row);
      add(item_of(row), cells_of(row));
      check_layout(row);
    }
    for (const MicroRow& row : book_.micro()) add(item_of(row), cells_of(row));
    for (const TrainingRow& row : book_.training()) add(item_of(row), cells_of(row));
    for (const VisionRow& row : book_.vision()) add(item_of(row), cells_of(row));
    finish();
    return std::move(report_);
  }

 private:
  using Groups = std::map<std::string, std::vector<EvidenceItem>>;

  void add(const EvidenceItem& item, const std::vector<EvidenceCell>& cells) {
    ++report_.rows;
    if (item.source != nullptr) campaigns_.insert(item.source->campaign);
    if (item.source != nullptr && !item.source->confirmed) ++report_.unconfirmed;
    if (item.gpu.empty()) {
      ++cards_[std::string(item.gpu_printed)];
    } else {
      ++report_.with_card;
    }
    count_doubts(item.doubt);
    whole_[key_of(cells, kId)].push_back(item);
    alike_[key_of(cells, kNotTheRun)].push_back(item);
  }

  void count_doubts(std::string_view doubt) {
    while (!doubt.empty()) {
      const std::size_t end = std::min(doubt.find(';'), doubt.size());
      ++report_.doubts[std::string(doubt.substr(0, end))];
      doubt.remove_prefix(std::min(end + 1, doubt.size()));
    }
  }

  void count_names(const InferenceRow& row) {
    ++report_.inference;
    if (row.model.empty()) {
      UnmappedName& name = models_[row.model_printed];
      ++name.rows;
      if (name.reason.empty()) name.reason = reason_of(row);
    } else {
      ++report_.with_model;
    }
    if (row.format.empty()) {
      ++formats_[row.weights];
    } else {
      ++report_.with_format;
    }
    if (!row.gpu.empty() && !row.model.empty() && !row.format.empty()) ++report_.with_all;
  }

  std::string reason_of(const InferenceRow& row) const {
    return names_
        .model({.name = row.model_printed,
                .weights = row.weights,
                .files = {},
                .parameters_b = row.parameters_b})
        .note;
  }

  void check_layout(const InferenceRow& row) {
    const double devices = row.deployment_devices.value_or(row.devices.value_or(0));
    const double dies = std::max(devices, row.dies.value_or(devices));
    const double needed = row.tp.value_or(1) * row.pp.value_or(1);
    if (devices > 0 && needed > dies && row.settings.disaggregated.empty()) {
      report_.layouts.push_back(row.id);
    }
  }

  static EvidenceGroup group_of(std::vector<EvidenceItem> items) {
    std::ranges::sort(items, {}, &EvidenceItem::id);
    EvidenceGroup out{.ids = {},
                      .low = items.front().value,
                      .high = items.front().value,
                      .unit = std::string(items.front().unit),
                      .what = title_of(items.front())};
    for (const EvidenceItem& item : items) {
      out.ids.emplace_back(item.id);
      out.low = std::min(out.low, item.value);
      out.high = std::max(out.high, item.value);
    }
    return out;
  }

  // Items of different pages with nearly the same value.
  void near_duplicates(std::vector<EvidenceItem> items) {
    std::ranges::sort(items, {}, [](const EvidenceItem& i) { return i.value; });
    for (std::size_t i = 0; i + 1 < items.size();) {
      std::size_t end = i + 1;
      const double most = items[i].value * (1 + kSameFigure);
      std::set<std::string_view> pages{items[i].source->url};
      while (end < items.size() && items[end].value <= most) {
        pages.insert(items[end].source->url);
        ++end;
      }
      if (pages.size() > 1 && items[i].value > 0) {
        report_.near_duplicates.push_back(
            group_of({items.begin() + static_cast<std::ptrdiff_t>(i),
                      items.begin() + static_cast<std::ptrdiff_t>(end)}));
      }
      i = end;
    }
  }

  // Items of different campaigns, nothing known against them, with other values.
  void contradictions(std::vector<EvidenceItem> items) {
    std::erase_if(items, [](const EvidenceItem& item) { return !item.doubt.empty(); });
    std::set<std::string_view> campaigns;
    for (const EvidenceItem& item : items) campaigns.insert(item.source->campaign);
    if (campaigns.size() < 2) return;
    EvidenceGroup group = group_of(std::move(items));
    if (group.low > 0 && group.high > group.low * factor_) {
      report_.contradictions.push_back(std::move(group));
    }
  }

  static std::vector<UnmappedName> listed(
      const std::map<std::string, std::size_t>& names,
      const std::function<std::string(const std::string&)>& reason) {
    std::vector<UnmappedName> out;
    out.reserve(names.size());
    for (const auto& [name, rows] : names) out.push_back({name, rows, reason(name)});
    std::ranges::stable_sort(out, std::ranges::greater{}, &UnmappedName::rows);
    return out;
  }

  void finish() {
    report_.sources = book_.sources().all().size();
    report_.campaigns = campaigns_.size();
    for (const auto& [key, items] : whole_) {
      if (items.size() > 1) report_.duplicates.push_back(group_of(items));
    }
    for (const auto& [key, items] : alike_) {
      near_duplicates(items);
      contradictions(items);
    }
    for (auto* list : {&report_.duplicates, &report_.near_duplicates}) {
      std::ranges::sort(*list, {}, &EvidenceGroup::ids);
    }
    std::ranges::stable_sort(report_.contradictions, std::ranges::greater{},
                             [](const EvidenceGroup& g) { return g.high / g.low; });
    report_.cards = listed(cards_, [this](const std::string& n) { return names_.card(n).note; });
    for (auto& [name, entry] : models_) {
      report_.models.push_back({name, entry.rows, std::move(entry.reason)});
    }
    std::ranges::stable_sort(report_.models, std::ranges::greater{}, &UnmappedName::rows);
    report_.formats = listed(formats_, [](const std::string&) { return std::string(); });
  }

  const EvidenceBook& book_;
  const EvidenceNames& names_;
  double factor_;
  EvidenceReport report_;
  std::set<std::string_view> campaigns_;
  Groups whole_;  // rows that say the same
  Groups alike_;  // of one deployment, scenario and release
  std::map<std::string, std::size_t> cards_;
  std::map<std::string, UnmappedName> models_;
  std::map<std::string, std::size_t> formats_;
};

}  // namespace

EvidenceReport check_evidence(const EvidenceBook& book, const EvidenceNames& names, double factor) {
  return Checker(book, names, factor).run();
}

}  // namespace cairn
