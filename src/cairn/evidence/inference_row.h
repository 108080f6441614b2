// One published figure of a language model that was run: local inference, serving or
// MLPerf. What a page leaves open is empty, but for what follows from what it says: what
// names stand for, and the lengths and limits that a kind or a benchmark implies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cairn/evidence/evidence_row.h"

namespace cairn {

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
  std::optional<double> context;  // positions allocated
  std::optional<double> gpu_layers;
  std::optional<double> cpu_moe_layers;
  std::optional<std::int64_t> build;  // number of the release
  std::optional<bool> flash_attention;
  std::optional<bool> hipblaslt;
  std::optional<bool> rocwmma;
  std::string matrix_cores;  // as the Vulkan backend prints it
  std::string split_mode;
  /// Row of a pull request's table "before" or "after" its change, or of a "fork".
  std::string patch;
  std::optional<double> threads;  // of the processor
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
  std::optional<bool> dp_attention;
  std::optional<double> cache_hit_rate;  // of prompt tokens, 0 to 1
  std::string attention_backend;
  std::string plugin;  // "atom": the engine's steps are those of the plugin
  /// Method and length of drafts; "none": the page says so; "stated": without details;
  /// empty: nothing is said.
  std::string speculative;
  std::optional<double> accept_length;  // mean tokens that a step of speculation accepts
  std::string disaggregated;            // "1P2D"
  std::string kv_offload;  // where the KV cache overflows to: "lmcache", "none"; empty: not said
  // Device
  std::optional<double> power_cap_w;  // of one device
};

struct InferenceRow : EvidenceRow {
  std::optional<double> dies;  // that software sees, where a card has two
  /// Devices of the whole deployment where the figure is of a part of it.
  std::optional<double> deployment_devices;
  std::string model;  // by which the model is read; empty where it was not established
  std::string model_printed;
  std::string weights;  // name of a weight format as it was collected
  /// The weight format of the catalogue that `weights` is; empty where there is none.
  std::string format;
  std::string kv;
  std::string engine;  // of the catalogue where it is one; else as collected
  std::string engine_printed;
  std::string engine_version;
  std::string os;
  std::string cpu;
  std::string tool;  // that measured, where it is not the scenario's own
  RequestLengths lengths;
  std::optional<double> batch;  // sequences at once, or the most requests in flight
  std::optional<double> prompts;
  std::optional<double> rate;  // requests per second that arrive; infinite: all at once
  std::optional<double> tp;
  std::optional<double> pp;
  std::optional<double> dp;
  std::optional<double> ep;
  std::optional<Scenario> scenario;
  /// Limits on the 99th percentile that a benchmark sets.
  std::optional<double> ttft_limit_ms;
  std::optional<double> tpot_limit_ms;
  std::optional<double> latency_limit_ms;
  std::string benchmark;  // of MLPerf: "llama2-70b-99.9"
  std::string round;      // "v5.1"
  std::string division;   // "closed", "open"
  std::string submitter;
  std::string system;
  EngineSettings settings;
  std::optional<double> file_gib;         // of the weights, as a tool prints it
  std::optional<double> parameters_b;     // billions, as a tool prints it
  std::optional<double> average_power_w;  // of one device, during the run
  std::string power_scope;                // of a figure in watts: "device", "system-peak"
  std::optional<double> spread;           // standard deviation of the value over runs
};

}  // namespace cairn
