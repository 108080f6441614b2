// Compares predictions with published llama.cpp runs, row by row.
//
//   llamacpp_accuracy IMAGE SHARED_DIR ROWS_CSV [--rows] [--formats] [--markdown]
//
// SHARED_DIR holds evidence/llamacpp.csv and models/hf; models that are not there are taken
// from the catalogue. ROWS_CSV says for each row which model it is, in what configuration
// it ran, and why it is left out.
// Prints a table by card, engine and metric: rows, rows within a factor of 1.3 and of
// 2, median of predicted / measured. Exit status 1 if fewer than 60 % of the rows
// are within 1.3 or fewer than 90 % within 2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cairn/data/csv.h"
#include "cairn/model/hf_config.h"
#include "cairn/predict/placed_stages.h"
#include "cairn/predict/prediction.h"

namespace {

using namespace cairn;

struct Sample {
  std::string id;
  std::string gpu;
  std::string engine;
  std::string metric;
  std::string model;
  std::string format;
  bool from_host = false;
  double measured = 0;
  double predicted = 0;
  [[nodiscard]] double ratio() const { return predicted / measured; }
};

struct Columns {
  std::map<std::string, std::uint32_t, std::less<>> index;
  explicit Columns(const Table& t) {
    for (std::uint32_t i = 0; i < t.columns().size(); ++i) {
      index.emplace(t.columns()[i], i);
    }
  }
  std::uint32_t operator[](std::string_view name) const { return index.find(name)->second; }
};

std::optional<double> number(const Row& row, std::uint32_t column) {
  return parse_number(row.text(column));
}

std::string gguf_format(std::string_view name) {
  if (name == "fp16") return "f16";
  if (name == "bf16") return "gguf-bf16";
  if (name == "fp32") return "f32";
  if (name == "mxfp4") return "mxfp4_moe";
  return std::string(name);
}

std::string catalogue_id(std::string_view gpu) {
  if (gpu == "a100-80gb") return "a100-80gb-pcie";
  if (gpu == "mi50") return "mi50-32gb";
  return std::string(gpu);
}

class Comparison {
 public:
  Comparison(const Knowledge& knowledge, std::string shared)
      : knowledge_(&knowledge), shared_(std::move(shared)) {}

  void row(const Row& evidence, const Columns& e, const Row& config, const Columns& c) {
    const std::string metric(evidence.text(e["metric"]));
    const bool prefill = metric == "prefill_tokens_per_s";
    const auto measured = number(evidence, e["value"]);
    if (!measured) return;
    const auto accelerator = knowledge_->accelerators.find(catalogue_id(evidence.text(e["gpu"])));
    if (!accelerator)
      return skip("card not in the catalogue: " + std::string(evidence.text(e["gpu"])));
    const auto engine = knowledge_->engines.find(evidence.text(e["engine"]));
    if (!engine) return skip("engine not covered");
    const ModelInput* model = find_model(std::string(config.text(c["model_id"])));
    if (model == nullptr)
      return skip("model family not covered: " + std::string(config.text(c["model_id"])));
    DeploymentRequest request;
    request.accelerator = *accelerator;
    request.engine = *engine;
    request.weights = gguf_format(evidence.text(e["weight_format"]));
    // gpt-oss files called F16 keep the experts as they were published.
    if (config.text(c["nonexpert_format"]) == "fp16") request.weights = "mxfp4_f16";
    request.kv = evidence.text(e["kv_format"]);
    configure(request, config, c);
    const auto deployment = resolve(*model, request, *knowledge_);
    if (!deployment) return skip(deployment.error().to_string());
    const auto times = RequestTimes::build(*deployment, *knowledge_);
    if (!times) return skip(times.error().to_string());
    const double depth = number(config, c["depth"]).value_or(0);
    const double in = number(evidence, e["input_len"]).value_or(512);
    const double out = number(evidence, e["output_len"]).value_or(128);
    const double rate = prefill ? in / times->prefill(in, depth).total.value()
                                : 1 / times->decode_mean(1, depth + in, out).total.value();
    samples_.push_back(
        {std::string(evidence.text(e["id"])), std::string(evidence.text(e["gpu"])), (*engine)->id,
         prefill ? "prefill" : "decode", std::string(config.text(c["model_id"])),
         std::string(evidence.text(e["weight_format"])), is_placed(*deployment), *measured, rate});
  }

  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] const std::map<std::string, int>& skipped() const { return skipped_; }

 private:
  static void configure(DeploymentRequest& request, const Row& config, const Columns& c) {
    const auto flag = [&](std::string_view name) -> std::optional<bool> {
      const auto v = number(config, c[name]);
      if (!v) return std::nullopt;
      return *v != 0;
    };
    request.flash_attention = flag("fa");
    request.hipblaslt = flag("hipblaslt");
    request.rocwmma = flag("rocwmma");
    if (const auto build = number(config, c["build"])) {
      request.build = static_cast<std::int64_t>(*build);
    }
    auto ubatch = number(config, c["ubatch"]);
    const auto batch = number(config, c["n_batch"]);
    if (batch) ubatch = std::min(*batch, ubatch.value_or(512));
    if (ubatch) request.ubatch = static_cast<std::int64_t>(*ubatch);
    const auto layers = number(config, c["ngl"]);
    if (layers) request.places.gpu_layers = static_cast<std::int64_t>(*layers);
    const auto experts = number(config, c["n_cpu_moe"]);
    if (experts) request.places.host_expert_layers = static_cast<std::int64_t>(*experts);
    if (const auto rate = number(config, c["host_gb_s"])) {
      request.host_bandwidth = BytesPerSecond(*rate * 1e9);
    }
  }

  void skip(const std::string& reason) { ++skipped_[reason]; }

  const ModelInput* find_model(const std::string& id) {
    const auto known = models_.find(id);
    if (known != models_.end()) return known->second ? &*known->second : nullptr;
    std::string folder = id;
    const auto slash = folder.find('/');
    if (slash != std::string::npos) folder.replace(slash, 1, "__");
    auto& slot = models_[id];
    auto spec = load_hf(shared_ + "/models/hf/" + folder);
    if (!spec) spec = knowledge_->models.find(id);
    if (!spec) return nullptr;
    slot = ModelInput{id, std::make_shared<const Graph>(build_graph(*std::move(spec))), {}};
    return &*slot;
  }

  const Knowledge* knowledge_;
  std::string shared_;
  std::unordered_map<std::string, std::optional<ModelInput>> models_;
  std::vector<Sample> samples_;
  std::map<std::string, int> skipped_;
};

struct Score {
  int n = 0;
  int within_13 = 0;
  int within_2 = 0;
  double median = 0;
};

Score score(std::span<const Sample* const> samples) {
  Score s;
  std::vector<double> ratios;
  for (const Sample* x : samples) {
    const double factor = std::max(x->ratio(), 1 / x->ratio());
    s.within_13 += factor <= 1.3 ? 1 : 0;
    s.within_2 += factor <= 2 ? 1 : 0;
    ratios.push_back(x->ratio());
  }
  s.n = static_cast<int>(ratios.size());
  std::ranges::sort(ratios);
  if (s.n > 0) s.median = ratios[ratios.size() / 2];
  return s;
}

// One line of the table: plain, or a row of Markdown.
void print(std::string_view name, const Score& s, bool markdown) {
  const double close = 100.0 * s.within_13 / s.n;
  const double near = 100.0 * s.within_2 / s.n;
  if (markdown) {
    fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.2f} |\n", name, s.n, close, near, s.median);
  } else {
    fmt::print("{:<52} {:>5} {:>6.1f}% {:>6.1f}% {:>7.2f}\n", name, s.n, close, near, s.median);
  }
}

void print_groups(const std::vector<Sample>& samples, bool markdown, auto key) {
  std::map<std::string, std::vector<const Sample*>> groups;
  for (const Sample& s : samples) groups[key(s)].push_back(&s);
  for (const auto& [name, list] : groups) print(name, score(list), markdown);
}

Result<int> run(std::span<char*> args) {
  CAIRN_TRY(Image image, Image::open(args[0]));
  CAIRN_TRY(const Knowledge knowledge, Knowledge::load(std::move(image)));
  const std::string shared = args[1];
  CAIRN_TRY(const Document evidence, load_csv(shared + "/evidence/llamacpp.csv"));
  CAIRN_TRY(const Document rows, load_csv(args[2]));
  CAIRN_TRY(const Table et, Table::from(evidence.root()));
  CAIRN_TRY(const Table ct, Table::from(rows.root()));
  const Columns e(et);
  const Columns c(ct);
  std::unordered_map<std::string, std::uint32_t> by_id;
  for (std::uint32_t i = 0; i < et.rows(); ++i) {
    by_id.emplace(et.row(i).text(e["id"]), i);
  }
  Comparison comparison(knowledge, shared);
  for (std::uint32_t i = 0; i < ct.rows(); ++i) {
    const Row config = ct.row(i);
    if (config.has(c["exclude_reason"])) continue;
    const auto found = by_id.find(std::string(config.text(c["id"])));
    if (found == by_id.end()) continue;
    comparison.row(et.row(found->second), e, config, c);
  }
  const auto& samples = comparison.samples();
  bool list = false;
  bool formats = false;
  bool markdown = false;
  for (const std::string_view arg : args.subspan(3)) {
    list = list || arg == "--rows";
    formats = formats || arg == "--formats";
    markdown = markdown || arg == "--markdown";
  }
  if (list) {
    for (const Sample& s : samples) {
      fmt::print("{},{},{},{},{},{},{:.2f},{:.2f},{:.3f}\n", s.id, s.gpu, s.engine, s.metric,
                 s.model, s.format, s.measured, s.predicted, s.ratio());
    }
  }
  if (markdown) {
    fmt::print("| | rows | within 1.3 | within 2 | median of predicted / measured |\n");
    fmt::print("| --- | --- | --- | --- | --- |\n");
  } else {
    fmt::print("{:<52} {:>5} {:>7} {:>7} {:>7}\n", "", "rows", "<=1.3", "<=2", "median");
  }
  print_groups(samples, markdown, [](const Sample& x) { return x.metric; });
  print_groups(samples, markdown,
               [](const Sample& s) { return s.gpu + " " + s.engine + " " + s.metric; });
  if (formats) {
    print_groups(samples, markdown, [](const Sample& s) { return s.format + " " + s.metric; });
    print_groups(samples, markdown, [](const Sample& s) { return s.model + " " + s.metric; });
  }
  print_groups(samples, markdown, [](const Sample& s) {
    return s.metric + (s.from_host ? " with weights in host memory" : " without");
  });
  std::vector<const Sample*> all;
  for (const Sample& s : samples) all.push_back(&s);
  const Score total = score(all);
  print("all", total, markdown);
  int skipped = 0;
  for (const auto& [reason, n] : comparison.skipped()) {
    skipped += n;
    fmt::print("left out {:>5}  {}\n", n, reason);
  }
  fmt::print("{} rows compared, {} left out\n", total.n, skipped);
  return total.within_13 >= 0.6 * total.n && total.within_2 >= 0.9 * total.n ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs(
        "usage: llamacpp_accuracy IMAGE SHARED_DIR ROWS_CSV [--rows] [--formats] [--markdown]\n",
        stderr);
    return 2;
  }
  const auto status = run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (status) return *status;
  fmt::print(stderr, "error: {}\n", status.error().to_string());
  return 2;
}
