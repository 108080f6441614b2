#include "cairn/evidence/evidence_book.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace cairn {
namespace {

constexpr std::array<std::string_view, 3> kInferenceFiles{
    "evidence/llamacpp.csv", "evidence/serving.csv", "evidence/mlperf_llm.csv"};

template <class R>
const R* row_of(const std::vector<R>& rows, std::string_view id) {
  const auto it = std::ranges::find(rows, id, &R::id);
  return it == rows.end() ? nullptr : &*it;
}

EvidenceItem head_of(EvidenceSet set, const EvidenceRow& row) {
  EvidenceItem out;
  out.set = set;
  out.id = row.id;
  out.source = row.source;
  out.gpu = row.gpu;
  out.gpu_printed = row.gpu_printed;
  out.devices = row.devices.value_or(1);
  out.metric = row.metric;
  out.value = row.value;
  out.unit = row.unit;
  out.doubt = row.doubt;
  return out;
}

}  // namespace

std::string_view name_of(EvidenceSet set) {
  switch (set) {
    case EvidenceSet::inference:
      return "inference";
    case EvidenceSet::micro:
      return "micro";
    case EvidenceSet::training:
      return "training";
    case EvidenceSet::vision:
      return "vision";
  }
  return {};
}

EvidenceItem item_of(const InferenceRow& row) {
  EvidenceItem out = head_of(EvidenceSet::inference, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.engine;
  return out;
}

EvidenceItem item_of(const MicroRow& row) {
  EvidenceItem out = head_of(EvidenceSet::micro, row);
  out.model_printed = row.what;
  out.engine = row.library;
  return out;
}

EvidenceItem item_of(const TrainingRow& row) {
  EvidenceItem out = head_of(EvidenceSet::training, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.framework;
  return out;
}

EvidenceItem item_of(const VisionRow& row) {
  EvidenceItem out = head_of(EvidenceSet::vision, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.engine;
  return out;
}

Result<EvidenceBook> EvidenceBook::load(const Image& evidence, const EvidenceNames& names) {
  EvidenceBook book;
  CAIRN_TRY(const Node sources, evidence.root("evidence/sources.csv"));
  CAIRN_CHECK(book.sources_.read(sources));
  std::vector<Node> files;
  std::size_t rows = 0;
  for (const std::string_view file : kInferenceFiles) {
    CAIRN_TRY(const Node root, evidence.root(file));
    rows += root.size();
    files.push_back(root);
  }
  book.inference_.reserve(rows);
  for (const Node root : files) {
    CAIRN_CHECK(read_inference(root, book.sources_, names, book.inference_, nullptr));
  }
  CAIRN_TRY(const Node micro, evidence.root("evidence/micro.csv"));
  CAIRN_TRY(book.micro_, read_micro(micro, book.sources_, names));
  CAIRN_TRY(const Node training, evidence.root("evidence/training.csv"));
  CAIRN_TRY(book.training_, read_training(training, book.sources_, names));
  CAIRN_TRY(const Node vision, evidence.root("evidence/vision.csv"));
  CAIRN_TRY(book.vision_, read_vision(vision, book.sources_, names));
  return book;
}

std::size_t EvidenceBook::size() const {
  return inference_.size() + micro_.size() + training_.size() + vision_.size();
}

Result<void> EvidenceBook::join(const EvidenceSources& sources, std::vector<InferenceRow> inference,
                                std::vector<MicroRow> micro) {
  for (const EvidenceSource& source : sources.all()) {
    CAIRN_TRY([[maybe_unused]] const EvidenceSource* stored, sources_.add(source));
  }
  const auto take = [this](auto& rows, auto& to) {
    for (auto& row : rows) {
      row.source = row.source == nullptr ? nullptr : sources_.find(row.source->key);
      to.push_back(std::move(row));
    }
  };
  take(inference, inference_);
  take(micro, micro_);
  return {};
}

void EvidenceBook::visit(const std::function<void(const EvidenceItem&)>& visitor) const {
  for (const InferenceRow& row : inference_) visitor(item_of(row));
  for (const MicroRow& row : micro_) visitor(item_of(row));
  for (const TrainingRow& row : training_) visitor(item_of(row));
  for (const VisionRow& row : vision_) visitor(item_of(row));
}

std::vector<EvidenceCell> EvidenceBook::cells(std::string_view id) const {
  if (const auto* row = row_of(inference_, id)) return cells_of(*row);
  if (const auto* row = row_of(micro_, id)) return cells_of(*row);
  if (const auto* row = row_of(training_, id)) return cells_of(*row);
  if (const auto* row = row_of(vision_, id)) return cells_of(*row);
  return {};
}

std::optional<EvidenceItem> EvidenceBook::find(std::string_view id) const {
  if (const auto* row = row_of(inference_, id)) return item_of(*row);
  if (const auto* row = row_of(micro_, id)) return item_of(*row);
  if (const auto* row = row_of(training_, id)) return item_of(*row);
  if (const auto* row = row_of(vision_, id)) return item_of(*row);
  return std::nullopt;
}

}  // namespace cairn
