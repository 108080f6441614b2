// Compares the memory of llama.cpp with the buffers that it printed itself.
//
//   llamacpp_memory_accuracy IMAGE SHARED_DIR MODELS_CSV LOGS_CSV [--markdown] [--rows]
//
// SHARED_DIR holds models/memory_truth.csv and models/hf; MODELS_CSV says which
// published configuration a log's model has, LOGS_CSV the release and what else a log
// does not print. Rows of estimators are left out; those of forks are counted apart.
// Prints rows and how many are within the target, by component, and each row that is
// not. Exit status 1 where a target is missed:
//   KV and state    the printed digits, every row
//   weights         the printed digits (of what a recipe gives, 0.1 %), 90 % of rows:
//                   layers go by free memory, which a log of several cards does not print
//   compute         within 3 % or 32 MiB, whichever is larger, 90 % of rows
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/data/csv.h"
#include "cairn/memory/llama_cpp.h"
#include "cairn/model/hf_config.h"
#include "cairn/predict/knowledge.h"

namespace {

using namespace cairn;

constexpr double kShare = 0.03;
constexpr double kMebibytes = 32;
constexpr double kRecipe = 0.002;  // sizes of files are printed with two decimals

// Cells of a table by the name of their column.
class Cells {
 public:
  static Result<std::vector<Cells>> load(const std::string& path) {
    CAIRN_TRY(const Document document, load_csv(path));
    CAIRN_TRY(const Table table, Table::from(document.root()));
    std::vector<Cells> out;
    for (std::uint32_t i = 0; i < table.rows(); ++i) {
      Cells row;
      for (std::uint32_t c = 0; c < table.columns().size(); ++c) {
        row.text_.emplace(std::string(table.columns()[c]), std::string(table.row(i).text(c)));
      }
      out.push_back(std::move(row));
    }
    return out;
  }

  [[nodiscard]] const std::string& operator[](std::string_view name) const {
    static const std::string kNone;
    const auto it = text_.find(name);
    return it == text_.end() ? kNone : it->second;
  }
  [[nodiscard]] double number(std::string_view name) const {
    return parse_number((*this)[name]).value_or(0);
  }
  /// "value" of "key=value" in the settings.
  [[nodiscard]] std::string setting(std::string_view key) const {
    std::string_view rest = (*this)["settings"];
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

 private:
  std::map<std::string, std::string, std::less<>> text_;
};

// Shapes of models whose configuration is not beside the checkout.
std::optional<ModelSpec> by_hand(std::string_view name) {
  struct Shape {
    std::string_view name;
    std::int64_t layers, hidden, heads, kv_heads, intermediate, vocabulary;
  };
  constexpr std::array<Shape, 3> kShapes{{
      {"huggyllama/llama-30b", 60, 6656, 52, 52, 17920, 32000},
      {"huggyllama/llama-65b", 80, 8192, 64, 64, 22016, 32000},
      {"swiss-ai/Apertus-70B-Instruct-2509", 80, 8192, 64, 8, 43008, 131072},
  }};
  const auto it = std::ranges::find(kShapes, name, &Shape::name);
  if (it == kShapes.end()) return std::nullopt;
  ModelSpec s;
  s.family = "llama";
  s.hidden = it->hidden;
  s.vocabulary = it->vocabulary;
  LayerSpec layer;
  layer.attention.heads = it->heads;
  layer.attention.kv_heads = it->kv_heads;
  layer.attention.head_dim = layer.attention.v_head_dim = it->hidden / it->heads;
  layer.feed_forward.intermediate = it->intermediate;
  if (name.starts_with("swiss-ai")) {
    layer.feed_forward.gated = false;  // xIELU
    layer.attention.qk_norm = true;
    layer.attention.qk_norm_dim_q = layer.attention.qk_norm_dim_k = layer.attention.head_dim;
  }
  s.layers.assign(static_cast<std::size_t>(it->layers), layer);
  return s;
}

struct Model {
  Graph graph;
  BoundWeights weights;
  bool recipe = false;  // the weight format is known
};

struct Sum {
  int rows = 0;
  int within = 0;
  double worst = 0;
};

class Comparison {
 public:
  Comparison(const Knowledge& knowledge, std::string shared, std::vector<Cells> models,
             std::vector<Cells> logs)
      : knowledge_(knowledge),
        shared_(std::move(shared)),
        models_(std::move(models)),
        logs_(std::move(logs)) {}

  Result<void> run(bool every_row) {
    CAIRN_TRY(const std::vector<Cells> rows, Cells::load(shared_ + "/models/memory_truth.csv"));
    // Where the engine chose the context itself, the cells of the cache tell it.
    for (const Cells& row : rows) {
      std::int64_t& cells = cells_[row["source_url"]];
      if (row["component"] == "kv") cells = std::max(cells, row.count("cells", 0));
    }
    for (const Cells& row : rows) {
      const bool mine = row["engine"].starts_with("llama.cpp");
      const bool fork = row["engine"].starts_with("ik_llama.cpp");
      if ((!mine && !fork) || row["settings"].find("estimator") != std::string::npos) continue;
      CAIRN_CHECK(compare(row, fork, every_row));
    }
    return {};
  }

  [[nodiscard]] const std::map<std::string, Sum>& sums() const { return sums_; }
  [[nodiscard]] const std::map<std::string, int>& left_out() const { return left_out_; }

 private:
  const Cells* entry(const std::vector<Cells>& table, std::string_view key,
                     std::string_view text) const {
    const auto it = std::ranges::find_if(
        table, [&](const Cells& c) { return text.find(c[key]) != std::string_view::npos; });
    return it == table.end() ? nullptr : &*it;
  }

  Result<const Model*> model(const Cells& row) {
    const std::string& name = row["model_id"];
    const std::string& format = row["weight_format"];
    const auto found = cache_.find(name + "|" + format);
    if (found != cache_.end()) return &found->second;
    const auto it =
        std::ranges::find_if(models_, [&](const Cells& c) { return c["model"] == name; });
    if (it == models_.end()) return nullptr;
    std::optional<ModelSpec> spec = by_hand(name);
    if (!spec) {
      CAIRN_TRY(ModelSpec read, load_hf(shared_ + "/models/hf/" + (*it)["folder"]));
      spec = std::move(read);
    }
    if ((*it)["untied"] == "yes") spec->tied_embeddings = false;
    Model m;
    m.graph = build_graph(*std::move(spec));
    const WeightFormatInfo* info = knowledge_.weight_formats.find(format);
    m.recipe = info != nullptr;
    CAIRN_TRY(m.weights,
              knowledge_.weight_formats.bind(m.graph, info != nullptr ? info->name : "f16"));
    return &cache_.emplace(name + "|" + format, std::move(m)).first->second;
  }

  Result<MemoryDemand> demand(const Cells& row, const Model& m) {
    MemoryDemand d;
    d.graph = &m.graph;
    d.weights = &m.weights;
    const Cells* log = entry(logs_, "source", row["source_url"]);
    std::string build = row.setting("build");
    if (build.empty() && log != nullptr) build = (*log)["build"];
    if (build.starts_with('b')) build.erase(0, 1);
    const bool vulkan = row["engine"].find("vulkan") != std::string::npos;
    std::string engine = vulkan ? "llama.cpp-vulkan" : "llama.cpp";
    if (!build.empty()) engine += "@" + build;
    CAIRN_TRY(engine_, knowledge_.engines.find(engine));
    d.config = engine_->reference;
    const std::string kv = row["kv_format"].empty() || row["kv_format"] == "f32"
                               ? std::string("f16")
                               : row["kv_format"];
    d.kv = {kv, knowledge_.tensor_types->find(kv)};
    if (d.kv.type == nullptr) return fail(not_found("no such type").got(kv));
    d.sequences =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(row.number("batch_or_parallel")));
    d.sequences = row.count("n_seq_max", d.sequences);
    auto context = static_cast<std::int64_t>(row.number("context"));
    const std::int64_t cells = cells_[row["source_url"]];
    if (cells > 0 && d.sequences == 1) context = cells;
    d.context = std::max<std::int64_t>(1, context / d.sequences);
    d.config.ubatch = row.count("n_ubatch", d.config.ubatch);
    const std::string fa = row.setting("fa");
    if (!fa.empty()) d.config.flash_attention = fa != "off";
    // "rtx-4070-ti + rtx-3090-ti"
    const std::int64_t named = 1 + std::ranges::count(row["gpu"], '+');
    d.layout.pp = static_cast<int>(row.count("n_gpu", named));
    if (log != nullptr) {
      const auto states = parse_number((*log)["kept_states"]);
      if (states) d.config.kept_states = static_cast<std::int64_t>(*states);
    }
    return d;
  }

  // The device of a buffer, the host's after the last.
  static std::size_t device_of(const Cells& row, std::size_t gpus) {
    const std::string buffer = row.setting("buffer");
    const bool host = buffer.find("Host") != std::string::npos || buffer.starts_with("CPU") ||
                      buffer == "AMX" || gpus == 0;
    if (host) return gpus;
    const std::size_t digit = buffer.find_first_of("0123456789");
    const std::size_t at = digit == std::string::npos ? 0 : std::stoul(buffer.substr(digit));
    return gpus == 1 ? 0 : std::min(at, gpus - 1);
  }

  Result<void> compare(const Cells& row, bool fork, bool every_row) {
    CAIRN_TRY(const Model* m, model(row));
    if (m == nullptr) {
      ++left_out_["no configuration: " + row["model_id"]];
      return {};
    }
    if (row["kv_format"].find('/') != std::string::npos) {
      ++left_out_["keys and values of different types"];
      return {};
    }
    CAIRN_TRY(MemoryDemand d, demand(row, *m));
    auto placed = memory::llama_cpp_placement(d);
    if (!placed) return fail(std::move(placed).error());
    memory::LlamaCppPlacement p = *std::move(placed);
    if (row["engine"].ends_with("-cpu") && row.setting("n_gpu").empty()) on_host(p);
    const auto gpus = static_cast<std::size_t>(p.gpus);
    const std::size_t device = device_of(row, gpus);
    const std::string& component = row["component"];
    if (component == "kv") {
      cache(row, d, p, fork, every_row);
    } else if (component == "weights") {
      weights(row, *m, d, p, fork, every_row);
    } else if (row["model_id"].find("-VL-") != std::string::npos) {
      ++left_out_["compute buffers of vision encoders"];
    } else if (component == "compute_buffer") {
      const double ours = in_mib(memory::llama_cpp_compute(d, *engine_, p)[device]);
      const double printed = row.number("value");
      const double allowed = std::max(kShare * printed, kMebibytes);
      const bool host = device == gpus && gpus > 0;
      add(row, host ? "compute, host" : "compute", fork, ours, printed, allowed, every_row);
    }
    return {};
  }

  // "4.58 GiB" in bytes; 0 where nothing is said.
  static double bytes_of(const std::string& text) {
    const std::size_t space = text.find(' ');
    const auto n = parse_number(text.substr(0, space));
    if (!n || space == std::string::npos) return 0;
    return *n * (text.ends_with("GiB") ? kGiB : kMiB);
  }

  static void on_host(memory::LlamaCppPlacement& p) {
    p.gpus = 0;
    std::ranges::fill(p.layers, 0);
    p.head = 0;
    p.pipeline = false;
  }

  // Caches are printed for one kind of layer at a time: whole contexts, windows,
  // states; and for all devices or one.
  void cache(const Cells& row, const MemoryDemand& d, const memory::LlamaCppPlacement& p, bool fork,
             bool every_row) {
    const ModelSpec& all = d.graph->spec;
    const bool states = row.setting("state") == "recurrent";
    const std::int64_t layers = row.count("layers", 0);
    const std::int64_t cells = row.count("cells", 0);
    const std::string buffer = row.setting("buffer");
    const bool one = !buffer.empty() && buffer != "CPU";
    const std::size_t device = device_of(row, static_cast<std::size_t>(p.gpus));
    Bytes sum{};
    std::int64_t counted = 0;
    for (std::size_t i = 0; i < all.layers.size(); ++i) {
      if (one && static_cast<std::size_t>(p.layers[i]) != device) continue;
      const LayerSpec& l = all.layers[i];
      const bool recurrent = l.recurrent.kind != RecurrentKind::none;
      if (recurrent != states) continue;
      if (!states && cells > 0 && memory::llama_cpp_cells(l.attention, d).per_stream != cells) {
        continue;
      }
      sum += memory::llama_cpp_layer_cache(d, i);
      ++counted;
    }
    if (!states && layers > 0 && counted != layers) {
      ++left_out_["caches of draft layers: " + row["model_id"]];
      return;
    }
    add(row, "kv", fork, in_mib(sum), row.number("value"), 0.0051, every_row);
  }

  void weights(const Cells& row, const Model& m, const MemoryDemand& d,
               const memory::LlamaCppPlacement& p, bool fork, bool every_row) {
    const std::string buffer = row.setting("buffer");
    // Tensors that are packed anew for the processor lie in a buffer of their own, and
    // the file's mapping still covers them: neither is a sum of this model's tensors.
    const bool repacked =
        buffer == "CPU_REPACK" || buffer == "AMX" ||
        (p.gpus == 0 && buffer.starts_with("CPU") && row["weight_format"] != "q8_0");
    if (!m.recipe || m.weights.approximate || repacked) {
      ++left_out_[repacked ? "weights repacked for the processor"
                           : "weights of unknown recipe: " + row["model_id"]];
      return;
    }
    // Files are often of another recipe than their name says.
    if (const double file = bytes_of(row.setting("file_size")); file > 0) {
      const double sum = m.weights.total(m.graph).value();
      if (std::abs(sum / file - 1) > kRecipe) {
        ++left_out_["weights of another recipe than the name's: " + row["model_id"]];
        return;
      }
    }
    const auto all = memory::llama_cpp_weights(d, *engine_, p);
    const double ours = in_mib(all[device_of(row, static_cast<std::size_t>(p.gpus))]);
    const double printed = row.number("value");
    add(row, "weights", fork, ours, printed, std::max(0.0051, 0.001 * printed), every_row);
  }

  void add(const Cells& row, const std::string& component, bool fork, double ours, double printed,
           double allowed, bool every_row) {
    const bool v4 = row["model_id"] == "deepseek-ai/DeepSeek-V4-Flash";
    const std::string who = fork ? "ik_llama.cpp" : v4 ? "bati.cpp" : "llama.cpp";
    Sum& sum = sums_[who + ": " + component];
    ++sum.rows;
    const bool within = std::abs(ours - printed) <= allowed + 1e-9;
    if (within) ++sum.within;
    sum.worst = std::max(sum.worst, std::abs(ours - printed));
    if (every_row || (!within && !fork)) {
      fmt::print(
          "{} {:9} {:34.34} {:8.8} {:>7} {:14} printed {:10.2f} ours {:10.2f} {:+.1f} %  {}\n",
          within ? "  " : "! ", component, row["model_id"], row["weight_format"], row["context"],
          row.setting("buffer"), printed, ours, 100 * (ours / printed - 1),
          row["settings"].substr(0, 90));
    }
  }

  const Knowledge& knowledge_;
  std::string shared_;
  std::vector<Cells> models_;
  std::vector<Cells> logs_;
  const EngineInfo* engine_ = nullptr;
  std::map<std::string, Model> cache_;
  std::map<std::string, std::int64_t> cells_;
  std::map<std::string, Sum> sums_;
  std::map<std::string, int> left_out_;
};

bool report(const Comparison& c, bool markdown) {
  struct Target {
    std::string_view name;
    double share;
  };
  constexpr std::array<Target, 4> kTargets{{
      {"llama.cpp: kv", 1.0},
      {"llama.cpp: weights", 0.9},
      {"llama.cpp: compute", 0.9},
      {"llama.cpp: compute, host", 0.9},
  }};
  if (markdown)
    fmt::print("| what | rows | within the target | furthest off |\n|---|---|---|---|\n");
  for (const auto& [name, s] : c.sums()) {
    const double share = 100.0 * s.within / s.rows;
    if (markdown) {
      fmt::print("| {} | {} | {:.1f} % | {:.1f} MiB |\n", name, s.rows, share, s.worst);
    } else {
      fmt::print("{:30} {:4} rows, {:5.1f} % within the target, furthest off {:.1f} MiB\n", name,
                 s.rows, share, s.worst);
    }
  }
  if (!markdown) {
    for (const auto& [why, n] : c.left_out()) fmt::print("left out, {:3} rows: {}\n", n, why);
  }
  bool good = true;
  for (const Target& t : kTargets) {
    const auto it = c.sums().find(std::string(t.name));
    if (it == c.sums().end() || it->second.within < t.share * it->second.rows) {
      fmt::print("missed: {} in {:.0f} % of rows\n", t.name, 100 * t.share);
      good = false;
    }
  }
  return good;
}

Result<bool> run(const std::vector<std::string>& args) {
  CAIRN_TRY(const Image image, Image::open(args[0]));
  CAIRN_TRY(const Knowledge knowledge, Knowledge::load(image));
  CAIRN_TRY(std::vector<Cells> models, Cells::load(args[2]));
  CAIRN_TRY(std::vector<Cells> logs, Cells::load(args[3]));
  const auto has = [&](std::string_view flag) {
    return std::ranges::find(args, flag) != args.end();
  };
  Comparison comparison(knowledge, args[1], std::move(models), std::move(logs));
  CAIRN_CHECK(comparison.run(has("--rows")));
  return report(comparison, has("--markdown"));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 4) {
    fmt::print(stderr, "usage: llamacpp_memory_accuracy IMAGE SHARED_DIR MODELS_CSV LOGS_CSV\n");
    return 2;
  }
  const auto good = run(args);
  if (!good) {
    fmt::print(stderr, "{}\n", good.error().to_string());
    return 2;
  }
  return *good ? 0 : 1;
}
