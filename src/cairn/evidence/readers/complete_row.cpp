#include "cairn/evidence/readers/complete_row.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cairn/base/message.h"
#include "cairn/evidence/readers/output_text.h"
#include "cairn/evidence/readers/recognise.h"

namespace cairn {
namespace {

// Tokens in a file and lengths that were told may differ by what tokenizers add.
constexpr double kSameLength = 0.005;
constexpr double kSameTotal = 0.02;
// A model that a name stands for has the parameters that the tool counted, but for what one
// of them leaves out (a tied head, a draft layer).
constexpr double kSameModel = 0.05;

std::string place_of(const ReadRow& read, const Completion& by) {
  return read.line > 0 ? line_of(by.file, read.line) : by.file;
}

Error missing(const ReadRow& read, const Completion& by, std::string_view message,
              std::string option) {
  return bad_input(std::string(message)).at(place_of(read, by)).in(std::move(option));
}

bool near(double a, double b, double share) { return std::abs(a - b) <= share * std::abs(b); }

// ---- Card

struct Card {
  std::string id;
  const Accelerator* accelerator = nullptr;  // null: a name that is open among several
};

Result<Card> named_card(const ReadRow& read, const Completion& by) {
  const std::string& name = by.facts.gpu;
  if (const auto found = by.knowledge.accelerators.find(name)) return Card{(*found)->id, *found};
  const CardName card = by.names.card(name);
  if (!card.candidates.empty() || !card.gpu.empty()) return Card{name, nullptr};
  if (!card.note.empty()) {
    return fail(unsupported(std::string(msg("a card that the catalogue leaves out")))
                    .at(place_of(read, by))
                    .in("--gpu")
                    .got(name)
                    .want(card.note));
  }
  return fail(by.knowledge.accelerators.find(name).error().in("--gpu"));
}

Result<Card> card_of(const ReadRow& read, const Completion& by) {
  if (!by.facts.gpu.empty()) return named_card(read, by);
  if (read.cards.empty()) {
    return fail(missing(read, by, msg("the file does not say which card it ran on"), "--gpu")
                    .want("an accelerator"));
  }
  if (read.cards.size() > 1) {
    return fail(missing(read, by, msg("the file lists cards of several kinds"), "--gpu")
                    .got(fmt::format("{}, {}", read.cards[0], read.cards[1]))
                    .want("the one that the figure is of, and --gpus"));
  }
  const Accelerator* found = card_of_print(read.cards[0], by.knowledge.accelerators);
  if (found == nullptr) {
    return fail(missing(read, by, msg("a card that is not known by this name"), "--gpu")
                    .got(read.cards[0])
                    .want("an accelerator"));
  }
  return Card{found->id, found};
}

// Cards, and what software sees of them where a card has two dies. `seen` is what the tool
// counted.
template <class R>
Result<void> set_devices(const ReadRow& read, const Completion& by, const Card& card,
                         std::optional<double> seen, R& row) {
  const double dies = card.accelerator != nullptr ? card.accelerator->devices_per_card : 1;
  row.devices = by.facts.cards;
  if (row.devices && dies > 1) row.dies = *row.devices * dies;
  if (!row.devices && seen) {
    row.devices = std::ceil(*seen / dies);
    if (dies > 1) row.dies = seen;
  }
  if (!row.devices) {
    return fail(missing(read, by, msg("the file does not say how many cards took part"), "--gpus")
                    .want("a number"));
  }
  if (by.facts.nodes) row.nodes = by.facts.nodes;
  return {};
}

// ---- Model and weights

std::optional<double> parameters_of(const std::string& model, const Knowledge& knowledge) {
  const auto spec = knowledge.models.find(model);
  if (!spec) return std::nullopt;
  return static_cast<double>(count_parameters(build_graph(*spec)).total) / 1e9;
}

// Whether a model of the catalogue can be the one that the tool counted.
bool fits(const std::string& model, const InferenceRow& row, const Knowledge& knowledge) {
  if (model.empty()) return false;
  if (!row.parameters_b) return true;
  const auto parameters = parameters_of(model, knowledge);
  return !parameters || near(*parameters, *row.parameters_b, kSameModel);
}

ModelName look_up(const std::string& name, const InferenceRow& row, const Completion& by) {
  return by.names.model({.name = name,
                         .weights = row.weights,
                         .files = by.names.engine(row.engine_printed).files,
                         .parameters_b = row.parameters_b});
}

Result<void> set_model(const ReadRow& read, const Completion& by, InferenceRow& row) {
  if (!by.facts.model.empty()) {
    row.model_printed = by.facts.model;
    if (!look_up(row.model_printed, row, by).model.empty()) return {};
    auto found = by.knowledge.models.listing(by.facts.model);
    if (found) return {};
    return fail(std::move(found).error().in("--model"));
  }
  const std::string printed = row.model_printed;
  if (!read.model_file.empty()) {
    row.model_printed = model_file_name(read.model_file, by.knowledge.weight_formats).model;
    if (fits(look_up(row.model_printed, row, by).model, row, by.knowledge)) return {};
  }
  row.model_printed = printed;
  if (!printed.empty() && fits(look_up(printed, row, by).model, row, by.knowledge)) return {};
  if (printed.empty() && read.model_file.empty()) {
    return fail(
        missing(read, by, msg("the file does not say which model ran"), "--model").want("a model"));
  }
  return fail(missing(read, by, msg("a model that is not known by this name"), "--model")
                  .got(printed.empty() ? read.model_file : printed)
                  .want("a model"));
}

Result<void> set_weights(const ReadRow& read, const Completion& by, InferenceRow& row) {
  const WeightFormats& formats = by.knowledge.weight_formats;
  if (!by.facts.weights.empty()) {
    row.weights = by.facts.weights;
    if (!look_up(row.model_printed, row, by).format.empty()) return {};
    return fail(not_found(std::string(msg("unknown weight format")))
                    .in("--weights")
                    .got(by.facts.weights)
                    .want("a format such as bf16, fp8, awq-int4, q4_k_m"));
  }
  if (!read.model_file.empty()) {
    const std::string format = model_file_name(read.model_file, formats).format;
    // The file's name tells Unsloth's mixtures apart, which the tool prints alike.
    if (!format.empty()) row.weights = format;
  }
  if (!row.weights.empty()) return {};
  if (by.names.engine(row.engine_printed).files == FileKind::checkpoint) {
    const ModelName model = look_up(row.model_printed, row, by);
    if (!model.format.empty()) return {};  // the name says it
    if (const auto spec = by.knowledge.models.find(model.model)) {
      row.weights = spec->published_format;
      return {};
    }
  }
  return fail(
      missing(read, by, msg("the file does not say in which format the weights are"), "--weights")
          .want("a format such as bf16, fp8, awq-int4, q4_k_m"));
}

Result<void> set_engine(const ReadRow& read, const Completion& by, InferenceRow& row) {
  if (!by.facts.engine.empty()) {
    const EngineName engine = by.names.engine(by.facts.engine);
    if (!engine.known && engine.files == FileKind::unknown) {
      return fail(not_found(std::string(msg("unknown engine")))
                      .in("--engine")
                      .got(by.facts.engine)
                      .want("an engine such as llama.cpp, vllm, sglang, tensorrt-llm"));
    }
    row.engine_printed = by.facts.engine;
    if (!by.facts.engine_version.empty()) row.engine_version = by.facts.engine_version;
  } else if (row.engine_version.empty()) {
    row.engine_version = by.facts.engine_version;
  }
  if (!row.engine_printed.empty()) return {};
  return fail(missing(read, by, msg("the file does not say which engine answered"), "--engine")
                  .want("an engine"));
}

// ---- Load

// Lengths that the person tells: of a random data set whose every request has them, unless
// the totals in the file say otherwise.
Result<void> tell_lengths(const ReadRow& read, const Completion& by, InferenceRow& row) {
  RequestLengths& lengths = row.lengths;
  if (!lengths.input) lengths.input = by.facts.input;
  if (!lengths.output) lengths.output = by.facts.output;
  if (!lengths.input || !lengths.output) return {};
  if (lengths.input_mean && lengths.output_mean) {
    const bool same = near(*lengths.input_mean, *lengths.input, kSameLength) &&
                      near(*lengths.output_mean, *lengths.output, kSameLength);
    if (lengths.kind == LengthKind::mean && same) lengths.kind = LengthKind::exact;
    return {};
  }
  const double told = row.prompts.value_or(0) * (*lengths.input + *lengths.output);
  if (read.total_tokens && told > 0 && !near(told, *read.total_tokens, kSameTotal)) {
    return fail(missing(read, by, msg("the lengths do not fit the tokens in the file"), "--input")
                    .got(fmt::format("{} + {}", *lengths.input, *lengths.output))
                    .want(fmt::format("{} tokens a request", *read.total_tokens / *row.prompts)));
  }
  if (lengths.kind == LengthKind::unknown) lengths.kind = LengthKind::exact;
  return {};
}

Result<void> set_load(const ReadRow& read, const Completion& by, InferenceRow& row) {
  CAIRN_CHECK(tell_lengths(read, by, row));
  if (!row.batch) row.batch = by.facts.batch;
  if (!row.rate) row.rate = by.facts.rate;
  const Scenario scenario = row.scenario.value_or(Scenario::serving);
  if (scenario == Scenario::llama_bench) return {};
  const bool input = row.lengths.input || row.lengths.input_mean;
  const bool output = row.lengths.output || row.lengths.output_mean;
  if (!input || !output) {
    return fail(missing(read, by, msg("the file does not say how long the requests are"),
                        input ? "--output" : "--input")
                    .want("tokens"));
  }
  if (scenario == Scenario::offline_latency && !row.batch) {
    return fail(missing(read, by, msg("the file does not say how large the batch is"), "--batch")
                    .want("sequences"));
  }
  return {};
}

Result<void> set_benchmark(const ReadRow& read, const Completion& by, InferenceRow& row) {
  if (row.scenario == Scenario::mlperf_server && by.facts.interactive) {
    row.scenario = Scenario::mlperf_interactive;
  }
  row.benchmark = by.facts.benchmark;
  if (row.benchmark.empty()) {
    return fail(missing(read, by, msg("the file does not say which benchmark ran"), "--benchmark")
                    .want("a benchmark of MLPerf such as llama2-70b-99"));
  }
  if (by.names.benchmark(row.benchmark, name_of(*row.scenario)) != nullptr) return {};
  return fail(
      missing(read, by, msg("a benchmark that is not known in this scenario"), "--benchmark")
          .got(row.benchmark)
          .want("llama2-70b-99, llama2-70b-99.9, llama3.1-405b, mixtral-8x7b ..."));
}

void set_rest(const RunFacts& facts, InferenceRow& row) {
  if (!facts.kv.empty()) row.kv = facts.kv;
  if (!facts.stack.empty()) row.stack = facts.stack;
  if (facts.tp) row.tp = facts.tp;
  if (facts.pp) row.pp = facts.pp;
  if (facts.dp) row.dp = facts.dp;
  if (facts.ep) row.ep = facts.ep;
  if (facts.power_cap_w) row.settings.power_cap_w = facts.power_cap_w;
  if (facts.hipblaslt) row.settings.hipblaslt = facts.hipblaslt;
  if (facts.rocwmma) row.settings.rocwmma = facts.rocwmma;
}

// Devices of the layout that is told or printed, where the tool does not count them.
std::optional<double> layout_devices(const InferenceRow& row) {
  if (!row.tp) return std::nullopt;
  return *row.tp * row.pp.value_or(1) *
         (row.settings.dp_attention.value_or(false) ? 1 : row.dp.value_or(1));
}

// rccl-tests and nccl-tests print alike: where the text names neither, the card tells.
std::string collective_tests_of(const Card& card, const ReadRow& read) {
  const bool amd = card.accelerator != nullptr
                       ? card.accelerator->vendor == "amd"
                       : !read.cards.empty() && read.cards[0].starts_with("AMD");
  return amd ? "rccl-tests" : "nccl-tests";
}

bool of_mlperf(const InferenceRow& row) { return row.lengths.kind == LengthKind::benchmark; }

}  // namespace

Result<InferenceRow> complete_inference(const ReadRow& read, const Completion& by) {
  InferenceRow row = read.row;
  set_rest(by.facts, row);
  CAIRN_TRY(const Card card, card_of(read, by));
  const std::optional<double> seen = row.devices ? row.devices : layout_devices(row);
  CAIRN_CHECK(set_devices(read, by, card, seen, row));
  row.gpu_printed = card.id;
  CAIRN_CHECK(set_engine(read, by, row));
  CAIRN_CHECK(set_model(read, by, row));
  CAIRN_CHECK(set_weights(read, by, row));
  if (of_mlperf(row)) {
    CAIRN_CHECK(set_benchmark(read, by, row));
  } else {
    CAIRN_CHECK(set_load(read, by, row));
  }
  complete_names(row, by.names);
  return row;
}

Result<MicroRow> complete_micro(const ReadRow& read, const Completion& by) {
  MicroRow row = *read.micro;
  CAIRN_TRY(const Card card, card_of(read, by));
  const std::optional<double> ranks = row.devices;
  CAIRN_CHECK(set_devices(read, by, card, ranks, row));
  const double software = row.dies.value_or(row.devices.value_or(1));
  if (ranks && *ranks > software) row.ranks = ranks;
  row.gpu_printed = card.id;
  row.gpu = card.accelerator != nullptr ? card.accelerator->id : by.names.card(card.id).gpu;
  if (row.library.empty()) row.library = collective_tests_of(card, read);
  if (row.what.empty()) row.what = by.facts.what;
  if (!by.facts.dtype.empty()) row.dtype = by.facts.dtype;
  if (!by.facts.stack.empty()) row.stack = by.facts.stack;
  if (row.what.empty()) {
    return fail(missing(read, by, msg("the file does not say which collective ran"), "--what")
                    .want("all_reduce, all_gather, reduce_scatter, all_to_all or p2p"));
  }
  if (row.what == "gemm" && row.dtype.empty()) {
    return fail(
        missing(read, by, msg("the file does not say of which numbers the matrices are"), "--dtype")
            .want("fp16, bf16, fp8, fp32 ..."));
  }
  return row;
}

}  // namespace cairn
