// What the memory tests share: the facts of the image, models built by hand or
// read from published configurations beside the checkout, and tables of logs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/data/csv.h"
#include "cairn/engine/engine.h"
#include "cairn/hardware/catalogue.h"
#include "cairn/memory/memory.h"
#include "cairn/model/hf_config.h"

namespace cairn::test {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return *std::move(result);
}

struct Facts {
  Image image;
  TensorTypes types;
  WeightFormats formats;
  EngineCatalogue engines;
  AcceleratorCatalogue accelerators;
};

inline const Facts& facts() {
  static const Facts kFacts = [] {
    Image image = must(Image::open(CAIRN_IMAGE_FILE));
    TensorTypes types = must(TensorTypes::load(must(image.root("models/tensor_types.csv"))));
    WeightFormats formats =
        must(WeightFormats::load(must(image.root("models/weight_formats.yaml")), types));
    EngineCatalogue engines = must(EngineCatalogue::load(image));
    AcceleratorCatalogue accelerators = must(AcceleratorCatalogue::load(image));
    return Facts{image, std::move(types), std::move(formats), std::move(engines),
                 std::move(accelerators)};
  }();
  return kFacts;
}

inline const EngineInfo& engine(std::string_view name) { return *must(facts().engines.find(name)); }
inline const Accelerator& accelerator(std::string_view name) {
  return *must(facts().accelerators.find(name));
}

inline KvFormat kv_format(std::string_view name) {
  const std::string type(name == "fp16" || name.empty() ? "f16" : name);
  const TensorType* found = facts().types.find(type);
  if (found == nullptr) throw std::runtime_error("no tensor type " + type);
  return {std::string(name), found};
}

/// A dense model of like layers: Llama's shape.
struct Shape {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;
  std::int64_t vocabulary = 0;
};

inline ModelSpec dense(const Shape& shape) {
  ModelSpec s;
  s.family = "llama";
  s.hidden = shape.hidden;
  s.vocabulary = shape.vocabulary;
  LayerSpec layer;
  layer.attention.heads = shape.heads;
  layer.attention.kv_heads = shape.kv_heads;
  layer.attention.head_dim = layer.attention.v_head_dim = shape.head_dim;
  layer.feed_forward.intermediate = shape.intermediate;
  s.layers.assign(static_cast<std::size_t>(shape.layers), layer);
  return s;
}

/// Llama 3 8B (https://huggingface.co/meta-llama/Meta-Llama-3-8B/blob/main/config.json).
inline Shape llama_3_8b() { return {32, 4096, 32, 8, 128, 14336, 128256}; }

/// A model with its weights bound, to which demands point.
struct Model {
  Graph graph;
  BoundWeights weights;

  Model(ModelSpec spec, std::string_view format)
      : graph(build_graph(std::move(spec))), weights(must(facts().formats.bind(graph, format))) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] MemoryDemand demand(const EngineInfo& e, std::string_view kv = "fp16") const {
    MemoryDemand d;
    d.graph = &graph;
    d.weights = &weights;
    d.kv = kv_format(kv);
    d.config = e.reference;
    return d;
  }
};

/// Published configurations and logs, where they lie beside the checkout.
inline std::filesystem::path shared() {
  return std::filesystem::path(CAIRN_SOURCE_DIR).parent_path() / "shared";
}
inline bool have_shared() { return std::filesystem::exists(shared() / "models/memory_truth.csv"); }

inline std::optional<ModelSpec> published(std::string_view folder) {
  const auto path = shared() / "models/hf" / folder;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return must(load_hf(path.string()));
}

/// One row of the log table.
struct LogRow {
  std::string model, engine, weight_format, kv_format, gpu, component, unit, settings, source;
  std::int64_t context = 0;
  double value = 0;  // as printed

  /// "value" of "key=value" in the settings.
  [[nodiscard]] std::string setting(std::string_view key) const {
    std::string_view rest = settings;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find("; "), rest.size());
      const std::string_view item = rest.substr(0, end);
      if (item.starts_with(key) && item.size() > key.size() && item[key.size()] == '=') {
        return std::string(item.substr(key.size() + 1));
      }
      rest.remove_prefix(std::min(rest.size(), end + 2));
    }
    return {};
  }
  [[nodiscard]] std::int64_t count(std::string_view key, std::int64_t fallback) const {
    const auto n = parse_number(setting(key));
    return n ? static_cast<std::int64_t>(*n) : fallback;
  }
};

inline std::vector<LogRow> log_rows() {
  const Document document = must(load_csv((shared() / "models/memory_truth.csv").string()));
  const Table table = must(Table::from(document.root()));
  const auto column = [&](std::string_view name) { return must(table.column(name)); };
  std::vector<LogRow> out;
  for (std::uint32_t i = 0; i < table.rows(); ++i) {
    const Row row = table.row(i);
    const auto text = [&](std::string_view name) { return std::string(row.text(column(name))); };
    LogRow r;
    r.model = text("model_id");
    r.engine = text("engine");
    r.weight_format = text("weight_format");
    r.kv_format = text("kv_format");
    r.gpu = text("gpu");
    r.component = text("component");
    r.unit = text("unit");
    r.settings = text("settings");
    r.source = text("source_url");
    r.context = static_cast<std::int64_t>(parse_number(text("context")).value_or(0));
    r.value = parse_number(text("value")).value_or(0);
    out.push_back(std::move(r));
  }
  return out;
}

/// Relative errors, summed up.
struct Errors {
  std::vector<double> signed_errors;
  void add(double predicted, double actual) { signed_errors.push_back(predicted / actual - 1); }
  [[nodiscard]] std::size_t size() const { return signed_errors.size(); }
  /// Quantile q of the absolute errors.
  [[nodiscard]] double quantile(double q) const {
    std::vector<double> sorted;
    for (const double e : signed_errors) sorted.push_back(std::abs(e));
    std::ranges::sort(sorted);
    if (sorted.empty()) return 0;
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
};

}  // namespace cairn::test
