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

// What rows of a model have in common, micro-benchmarks aside.
template <class R>
EvidenceItem common(EvidenceSet set, const R& row) {
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
  EvidenceItem out = common(EvidenceSet::inference, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.engine;
  return out;
}

EvidenceItem item_of(const MicroRow& row) {
  EvidenceItem out = common(EvidenceSet::micro, row);
  out.model_printed = row.what;
  out.engine = row.library;
  return out;
}

EvidenceItem item_of(const TrainingRow& row) {
  EvidenceItem out = common(EvidenceSet::training, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.framework;
  return out;
}

EvidenceItem item_of(const VisionRow& row) {
  EvidenceItem out = common(EvidenceSet::vision, row);
  out.model = row.model;
  out.model_printed = row.model_printed;
  out.engine = row.engine;
  return out;
}

Result<EvidenceBook> EvidenceBook::load(const Image& evidence, const EvidenceNames& names) {
  EvidenceBook book;
  CAIRN_TRY(const Node sources, evidence.root("evidence/sources.csv"));
  CAIRN_CHECK(book.sources_.read(sources));
  for (const std::string_view file : kInferenceFiles) {
    CAIRN_TRY(const Node root, evidence.root(file));
    CAIRN_TRY(std::vector<InferenceRow> rows, read_inference(root, book.sources_, names));
    if (book.inference_.empty()) {
      book.inference_ = std::move(rows);
    } else {
      std::ranges::move(rows, std::back_inserter(book.inference_));
    }
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

Result<void> EvidenceBook::add_inference(Node table, EvidenceSource source,
                                         const EvidenceNames& names) {
  CAIRN_TRY(const EvidenceSource* stored, sources_.add(std::move(source)));
  CAIRN_TRY(std::vector<InferenceRow> rows, read_inference(table, sources_, names, stored));
  std::ranges::move(rows, std::back_inserter(inference_));
  return {};
}

Result<void> EvidenceBook::add_micro(Node table, EvidenceSource source,
                                     const EvidenceNames& names) {
  CAIRN_TRY(const EvidenceSource* stored, sources_.add(std::move(source)));
  CAIRN_TRY(std::vector<MicroRow> rows, read_micro(table, sources_, names, stored));
  std::ranges::move(rows, std::back_inserter(micro_));
  return {};
}

void EvidenceBook::visit(const std::function<void(const EvidenceItem&)>& visitor) const {
  for (const InferenceRow& row : inference_) visitor(item_of(row));
  for (const MicroRow& row : micro_) visitor(item_of(row));
  for (const TrainingRow& row : training_) visitor(item_of(row));
  for (const VisionRow& row : vision_) visitor(item_of(row));
}

std::vector<Cell> EvidenceBook::cells(std::string_view id) const {
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
