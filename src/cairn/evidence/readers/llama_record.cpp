#include "cairn/evidence/readers/llama_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cairn/data/csv.h"
#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

// The backends by which one build can compute, as `backends` and `devices` name them.
struct Backend {
  std::string_view name;
  std::string_view engine;
  std::string_view old_flag;  // of builds that print a field for each backend
};
constexpr std::array kBackends{
    Backend{"ROCm", "llama.cpp", "hipblas"},
    Backend{"HIP", "llama.cpp", ""},
    Backend{"CUDA", "llama.cpp", "cuda"},
    Backend{"Vulkan", "llama.cpp-vulkan", "vulkan"},
    Backend{"Metal", "llama.cpp-metal", "metal"},
    Backend{"MTL", "llama.cpp-metal", ""},
    Backend{"SYCL", "llama.cpp-sycl", "sycl"},
    Backend{"OpenCL", "llama.cpp-opencl", "opencl"},
    Backend{"GPUOpenCL", "llama.cpp-opencl", ""},
    Backend{"MUSA", "llama.cpp-musa", ""},
    Backend{"CANN", "llama.cpp-cann", ""},
    Backend{"Kompute", "llama.cpp-kompute", "kompute"},
};

constexpr double kMostLayers = 1e6;

bool is_format_word(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWhole{"F16", "BF16", "F32", "MXFP4", "NVFP4"};
  if (std::ranges::find(kWhole, word) != kWhole.end()) return true;
  for (const std::string_view family : {"IQ", "TQ", "Q"}) {
    if (word.starts_with(family) && word.size() > family.size()) {
      const char next = word[family.size()];
      return next >= '1' && next <= '9';
    }
  }
  return false;
}

// The engine of the backends that a record names; empty where several could have computed.
std::string engine_of(const LlamaRecord& r) {
  std::vector<std::string_view> names;
  if (const auto text = r.text("backends")) {
    names = parts_of(*text, ',');
    std::erase_if(names, [](std::string_view n) { return n == "RPC" || n == "BLAS"; });
  } else {
    for (const Backend& b : kBackends) {
      const auto flag = b.old_flag.empty() ? std::nullopt : r.text(b.old_flag);
      if (flag && *flag != "0") names.push_back(b.name);
    }
  }
  if (names.empty() || (names.size() == 1 && names[0] == "CPU")) return "llama.cpp-cpu";
  if (names.size() > 1) {
    // The name of a device begins with its backend.
    const std::string_view devices = r.text("devices").value_or("");
    std::erase_if(names, [&](std::string_view n) { return !devices.starts_with(n); });
    if (names.size() != 1) return {};
  }
  const auto it = std::ranges::find(kBackends, names[0], &Backend::name);
  return it != kBackends.end() ? std::string(it->engine) : "llama.cpp-" + lower_case(names[0]);
}

// Places in the list of cards that a record's device names, tensor split and split mode
// leave; nothing where it does not say.
Result<std::vector<std::string>> used_cards(const LlamaRecord& r) {
  std::vector<std::string> all;
  for (const std::string_view part : parts_of(r.text("gpu_info").value_or(""), ',')) {
    if (!part.empty()) all.emplace_back(part);
  }
  const std::string_view devices = r.text("devices").value_or("auto");
  std::vector<std::string> used;
  if (devices != "auto" && devices != "none") {
    for (const std::string_view device : parts_of(devices, '/')) {
      const std::size_t digit = device.find_first_of("0123456789");
      const auto place =
          digit == std::string_view::npos ? std::nullopt : parse_number(device.substr(digit));
      if (!place || *place >= static_cast<double>(all.size())) return all;
      used.push_back(all[static_cast<std::size_t>(*place)]);
    }
  } else {
    used = all;
  }
  CAIRN_TRY(const auto main, r.number("main_gpu"));
  if (r.text("split_mode").value_or("layer") == "none" && !used.empty()) {
    const double place = main.value_or(0);
    if (place < 0 || place >= static_cast<double>(used.size())) return used;
    return std::vector<std::string>{used[static_cast<std::size_t>(place)]};
  }
  const auto shares = parts_of(r.text("tensor_split").value_or(""), '/');
  const bool any = std::ranges::any_of(
      shares, [](std::string_view s) { return parse_number(s).value_or(0) > 0; });
  if (!any) return used;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < used.size() && i < shares.size(); ++i) {
    if (parse_number(shares[i]).value_or(0) > 0) out.push_back(used[i]);
  }
  return out.empty() ? used : out;
}

// What was timed: metric, lengths and scenario.
Result<void> set_test(const LlamaRecord& r, InferenceRow& row) {
  CAIRN_TRY(const double prompt, r.required("n_prompt"));
  CAIRN_TRY(const double generated, r.required("n_gen"));
  CAIRN_TRY(const auto depth, r.number("n_depth"));
  if (prompt < 0 || generated < 0 || depth.value_or(0) < 0) {
    return fail(bad_input("negative").at(r.where).in("n_prompt").want("0 or more"));
  }
  if (prompt + generated <= 0) {
    return fail(bad_input("nothing was measured").at(r.where).in("n_prompt").got("0"));
  }
  CAIRN_TRY(row.value, r.required("avg_ts"));
  if (row.value <= 0) {
    return fail(bad_input("no speed")
                    .at(r.where)
                    .in("avg_ts")
                    .got(number_text(row.value))
                    .want("tokens per second"));
  }
  row.unit = "tok/s";
  row.lengths.input = prompt;
  row.lengths.output = generated;
  row.lengths.kind = LengthKind::exact;
  row.lengths.input_mean = prompt;
  row.lengths.output_mean = generated;
  row.batch = 1;
  row.settings.depth = depth.value_or(0);
  row.scenario = prompt > 0 && generated > 0 ? Scenario::single_stream : Scenario::llama_bench;
  row.metric = prompt > 0 && generated > 0 ? "total_tokens_per_s"
               : prompt > 0                ? "prefill_tokens_per_s"
                                           : "decode_tokens_per_s";
  CAIRN_TRY(row.spread, r.number("stddev_ts"));
  return {};
}

// Cairn's name of a type of the cache.
std::string cache_type(std::string_view type) {
  return type == "f16" ? "fp16" : type == "f32" ? "fp32" : std::string(type);
}

Result<void> set_settings(const LlamaRecord& r, InferenceRow& row) {
  EngineSettings& s = row.settings;
  CAIRN_TRY(s.ubatch, r.number("n_ubatch"));
  CAIRN_TRY(s.n_batch, r.number("n_batch"));
  CAIRN_TRY(s.threads, r.number("n_threads"));
  CAIRN_TRY(s.gpu_layers, r.number("n_gpu_layers"));
  CAIRN_TRY(const auto experts, r.number("n_cpu_moe"));
  if (experts.value_or(0) > 0) s.cpu_moe_layers = experts;
  if (s.gpu_layers && std::abs(*s.gpu_layers) > kMostLayers) {
    return fail(bad_input("out of range").at(r.where).in("n_gpu_layers"));
  }
  CAIRN_TRY(const auto flash, r.number("flash_attn"));
  if (flash && *flash >= 0) s.flash_attention = *flash > 0;  // -1: the engine decides
  s.split_mode = r.text("split_mode").value_or("");
  s.matrix_cores = r.matrix_cores;
  const std::string_view absent = r.defaults_left_out ? "f16" : "";
  const std::string k = cache_type(r.text("type_k").value_or(absent));
  const std::string v = cache_type(r.text("type_v").value_or(absent));
  row.kv = k == v ? k : k + "/" + v;
  return {};
}

Result<void> set_build(const LlamaRecord& r, InferenceRow& row) {
  CAIRN_TRY(const auto build, r.number("build_number"));
  if (build && *build > 0 && *build < 1e9) {
    row.settings.build = static_cast<std::int64_t>(*build);
    row.engine_version = fmt::format("b{}", *row.settings.build);
  }
  const auto commit = r.text("build_commit");
  if (!commit || *commit == "unknown") return {};
  row.engine_version +=
      row.engine_version.empty() ? std::string(*commit) : fmt::format(" ({})", *commit);
  return {};
}

Result<void> set_model(const LlamaRecord& r, ReadRow& out) {
  const std::string_view type = r.text("model_type").value_or("");
  const auto [format, model] = split_model_type(type);
  out.row.model_printed = model;
  out.row.weights = format;
  out.model_file = r.text("model_filename").value_or("");
  CAIRN_TRY(const auto size, r.number("model_size"));
  CAIRN_TRY(const auto parameters, r.number("model_n_params"));
  if (size && *size > 0) out.row.file_gib = *size / (1024.0 * 1024.0 * 1024.0);
  if (parameters && *parameters > 0) out.row.parameters_b = *parameters / 1e9;
  if (!type.empty()) add_note(out.row.notes, "llama_bench_model", type);
  return {};
}

void add_notes(const LlamaRecord& r, InferenceRow& row) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kUnlessZero{{
      {"no_kv_offload", "no_kv_offload"},
      {"embeddings", "embeddings"},
      {"no_op_offload", "no_op_offload"},
      {"no_host", "no_host"},
      {"use_mmap", "mmap"},
  }};
  for (const auto& [field, key] : kUnlessZero) {
    const auto value = r.text(field);
    if (value && *value != "0") add_note(row.notes, key, *value);
  }
  const auto overrides = r.text("tensor_buft_overrides");
  if (overrides && *overrides != "none") add_note(row.notes, "override_tensor", *overrides);
  row.cpu = trimmed(r.text("cpu_info").value_or(""));
  if (r.text("backends").value_or("").find("RPC") != std::string_view::npos) {
    row.doubt = "devices-unclear";
    add_note(row.notes, "backend", "RPC");
  }
}

}  // namespace

void LlamaRecord::set(std::string_view name, std::string value) {
  fields.emplace_back(name, std::move(value));
}

std::optional<std::string_view> LlamaRecord::text(std::string_view name) const {
  const auto it = std::ranges::find(fields, name, &std::pair<std::string, std::string>::first);
  if (it == fields.end() || it->second.empty()) return std::nullopt;
  return it->second;
}

Result<std::optional<double>> LlamaRecord::number(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::optional<double>{};
  const auto parsed = parse_number(*value);
  if (!parsed) {
    return fail(
        bad_input("not a number").at(where).in(std::string(name)).got(*value).want("a number"));
  }
  return parsed;
}

Result<double> LlamaRecord::required(std::string_view name) const {
  CAIRN_TRY(const auto value, number(name));
  if (!value) return fail(bad_input("missing field").at(where).in(std::string(name)));
  return *value;
}

std::pair<std::string, std::string> split_model_type(std::string_view type) {
  const auto words = words_of(type);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_format_word(words[i])) continue;
    std::string format = lower_case(words[i]);
    if (format == "f16" || format == "f32") format.insert(1, "p");  // fp16, fp32
    std::size_t end = static_cast<std::size_t>(words[i].data() - type.data());
    if (i > 0 && words[i - 1] == "all") {
      end = static_cast<std::size_t>(words[i - 1].data() - type.data());
    }
    const std::string_view rest = trimmed(
        type.substr(static_cast<std::size_t>(words[i].data() - type.data()) + words[i].size()));
    if (rest.starts_with("- Small")) format += "_s";
    // Q2_K - Medium is what llama-quantize calls Q2_K.
    if (rest.starts_with("- Medium") && format != "q2_k") format += "_m";
    if (rest.starts_with("- Large")) format += "_l";
    if (rest.starts_with("mix") && format == "iq3_s") format = "iq3_m";
    return {format, std::string(trimmed(type.substr(0, end)))};
  }
  return {"", std::string(trimmed(type))};
}

Result<ReadRow> row_of(const LlamaRecord& record) {
  ReadRow out;
  out.line = record.line;
  CAIRN_CHECK(set_test(record, out.row));
  CAIRN_CHECK(set_settings(record, out.row));
  CAIRN_CHECK(set_build(record, out.row));
  CAIRN_CHECK(set_model(record, out));
  out.row.engine_printed = engine_of(record);
  out.row.nodes = 1;
  if (out.row.engine_printed == "llama.cpp-cpu") {
    out.row.devices = 1;
    add_kind(out.cards, trimmed(record.text("cpu_info").value_or("")));
  } else {
    CAIRN_TRY(const auto cards, used_cards(record));
    if (!cards.empty()) out.row.devices = static_cast<double>(cards.size());
    for (const std::string& card : cards) add_kind(out.cards, card);
  }
  out.date = date_of(record.text("test_time").value_or(""));
  add_notes(record, out.row);
  return out;
}

}  // namespace cairn
