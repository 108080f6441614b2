// One published figure of a language model that was run: local inference, serving or
// MLPerf. What a page left open is empty here; nothing is filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn {

enum class SourceKind : std::uint8_t { vendor, independent, mlperf, community, user };

/// A page that figures come from.
struct EvidenceSource {
  std::string key;
  std::string url;
  std::string date;  // YYYY-MM-DD or shorter; empty where it is unknown
  SourceKind kind = SourceKind::community;
  /// What shares machine, build, habits and mistakes: a repository, one thread of it, an
  /// MLPerf submitter in a round, or a site. Cross-validation leaves whole campaigns out.
  std::string campaign;
};

/// What a figure was measured by: decides what its lengths and its number mean.
enum class Scenario : std::uint8_t {
  llama_bench,         // ppN / tgN at a depth, one sequence
  single_stream,       // one request after the other
  offline_throughput,  // a finite number of prompts, all there at the start
  offline_latency,     // one batch from start to end
  serving,             // a stream of requests, by rate or at most so many at once
  mlperf_offline,
  mlperf_server,
  mlperf_interactive,
};

/// What is known of the lengths of the requests beyond their nominal size.
enum class LengthKind : std::uint8_t {
  unknown,
  exact,      // every request has the nominal length
  uniform,    // from `range_ratio` x nominal to nominal; ratio 0: from 1
  mean,       // nominal lengths are means of a data set
  benchmark,  // fixed by the rules of a benchmark
};

struct RequestLengths {
  std::optional<double> input;  // tokens, as printed
  std::optional<double> output;
  LengthKind kind = LengthKind::unknown;
  std::optional<double> range_ratio;
  /// The means that really ran: totals over the number of requests where they are printed,
  /// else what `kind` implies.
  std::optional<double> input_mean;
  std::optional<double> output_mean;
  std::string dataset;
};

/// Settings of the engine that a page states.
struct EngineSettings {
  // llama.cpp
  std::optional<double> depth;  // positions in the cache before the measured tokens
  std::optional<double> ubatch;
  std::optional<double> n_batch;
  std::optional<double> gpu_layers;
  std::optional<double> cpu_moe_layers;
  std::optional<std::int64_t> build;  // number of the release
  std::optional<bool> flash_attention;
  std::optional<bool> hipblaslt;
  std::optional<bool> rocwmma;
  std::string matrix_cores;  // as the Vulkan backend prints it
  std::string split_mode;
  // Servers
  std::optional<double> max_num_seqs;
  std::optional<double> max_num_batched_tokens;
  std::optional<double> max_model_len;
  std::optional<double> memory_fraction;
  std::optional<double> scheduler_steps;
  std::optional<bool> chunked_prefill;
  std::optional<bool> prefix_caching;
  std::optional<bool> enforce_eager;
  std::optional<bool> aiter;
  std::optional<bool> kv_offload;
  std::optional<bool> dp_attention;
  std::optional<double> cache_hit_rate;  // of prompt tokens, 0 to 1
  std::string attention_backend;
  std::string plugin;         // "atom": the engine's steps are those of the plugin
  std::string speculative;    // method and length of drafts; empty: none stated
  std::string disaggregated;  // "1P2D"
  // Device
  std::optional<double> power_cap_w;  // of one device
};

struct InferenceRow {
  std::string id;
  const EvidenceSource* source = nullptr;
  std::string gpu;          // of the catalogue; empty where `gpu_printed` is in none
  std::string gpu_printed;  // as it was collected
  std::optional<double> devices;  // that the figure is of
  /// Devices of the whole deployment where the figure is of a part of it.
  std::optional<double> deployment_devices;
  std::optional<double> nodes;
  std::string model;  // by which the model is read; empty where it was not established
  std::string model_printed;
  std::string weights;  // name of a weight format as it was collected
  std::string kv;
  std::string engine;  // of the catalogue where it is one; else as collected
  std::string engine_version;
  std::string stack;  // "rocm-6.4.1"
  std::string metric;
  double value = 0;
  std::string unit;
  RequestLengths lengths;
  std::optional<double> batch;  // sequences at once, or the most requests in flight
  std::optional<double> prompts;
  std::optional<double> rate;  // requests per second that arrive
  std::optional<double> tp;
  std::optional<double> pp;
  std::optional<double> dp;
  std::optional<double> ep;
  std::optional<Scenario> scenario;
  EngineSettings settings;
  std::optional<double> file_gib;        // of the weights, as a tool prints it
  std::optional<double> parameters_b;    // billions, as a tool prints it
  std::optional<double> average_power_w;  // of one device, during the run
  std::optional<double> spread;  // standard deviation of the value over runs
  /// Why the figure is no measurement of what it says: throttled, broken, a before-row of a
  /// pull request that mends a fault ... Empty: nothing is known against it.
  std::string doubt;
  std::string notes;  // the rest, "key=value; ..."
};

}  // namespace cairn
