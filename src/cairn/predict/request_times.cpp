#include "cairn/predict/request_times.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cairn/predict/placed_stages.h"

namespace cairn {
namespace {

StepTime scaled(StepTime t, double k) {
  t.total *= k;
  for (Seconds& s : t.by_class) s *= k;
  t.compute_bound *= k;
  t.memory_bound *= k;
  t.fixed *= k;
  t.from_host *= k;
  t.flops *= k;
  t.bytes *= k;
  return t;
}

std::shared_ptr<const DeviceModel> device_model(const Deployment& d, KernelParameters kernels) {
  DeviceModel out;
  out.accelerator = d.accelerator;
  out.kernels = std::move(kernels);
  // llama.cpp keeps activations in 32 bits between operators, vLLM in 16.
  const bool wide = d.engine->family == EngineFamily::llama_cpp || d.weights.format == "fp32";
  out.activation_bytes = wide ? 4 : 2;
  return std::make_shared<const DeviceModel>(std::move(out));
}

}  // namespace

double window_positions(const Graph& graph) {
  for (const Graph& part : graph.parts) {
    if (part.spec.part != ModelPart::encoder) continue;
    // Sound comes in windows of one length; text is as long as it is.
    const bool sound = std::ranges::any_of(
        part.tensors, [](const Tensor& t) { return t.role == TensorRole::patch_embedding; });
    return sound ? static_cast<double>(part.spec.positions) : 0;
  }
  return 0;
}

Result<StepShapes> ShapeCache::get(const Deployment& d) {
  Key key(d.weights.format, d.layout.tp, d.layout.pp, d.layout.ep);
  {
    const std::scoped_lock lock(mutex_);
    const auto found = shapes_.find(key);
    if (found != shapes_.end()) return found->second;
  }
  CAIRN_TRY(const StepShapes shapes, shapes_of(*d.model.graph, d.weights, d.layout));
  const std::scoped_lock lock(mutex_);
  return shapes_.try_emplace(std::move(key), shapes).first->second;
}

Result<RequestTimes> RequestTimes::build(const Deployment& d, const Knowledge& knowledge,
                                         ShapeCache* cache) {
  RequestTimes out;
  if (std::ranges::none_of(d.accelerator->peak, [](const auto& p) { return p.has_value(); })) {
    if (d.accelerator->status == Status::announced) {
      return fail(
          unsupported("cannot say: announced, no compute rate is known").got(d.accelerator->id));
    }
    return fail(unsupported("no compute rate of this accelerator is known").got(d.accelerator->id));
  }
  CAIRN_TRY(KernelParameters kernels,
            knowledge.cost.parameters(d.engine->id, *d.accelerator, d.kernels));
  CollectiveModel links;
  const int joined = std::max(d.layout.tp * d.layout.pp, d.layout.ep);
  if (joined > 1) {
    CAIRN_TRY(links, CollectiveModel::between(*d.accelerator, joined, knowledge.cost));
  }
  const auto device = device_model(d, std::move(kernels));
  out.uncertainty_ = knowledge.cost.uncertainty();
  const bool llama = d.engine->family == EngineFamily::llama_cpp;
  out.chunk_ = static_cast<double>(llama ? std::min(d.config.ubatch, d.config.batch)
                                         : d.config.max_batched_tokens);
  out.micro_batches_ = is_server(*d.engine);
  out.whole_batch_ = d.engine->family == EngineFamily::transformers;
  out.add_encoder(d, device);
  if (is_placed(d)) {
    CAIRN_CHECK(out.add_placed(d, knowledge, device, links));
    return out;
  }
  CAIRN_TRY(const StepShapes shapes,
            cache != nullptr ? cache->get(d) : shapes_of(*d.model.graph, d.weights, d.layout));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto known = std::ranges::find_if(
        out.distinct_, [&](const auto& entry) { return shapes[entry.first] == shapes[i]; });
    if (known != out.distinct_.end()) {
      known->second += 1;
      out.stages_.push_back(out.stages_[known->first]);
      continue;
    }
    out.distinct_.emplace_back(i, 1);
    out.stages_.emplace_back(shapes[i], d.kv, device, links);
  }
  return out;
}

void RequestTimes::add_encoder(const Deployment& d,
                               const std::shared_ptr<const DeviceModel>& device) {
  const Graph& decoder = *d.model.graph;
  for (std::size_t i = 0; i < decoder.parts.size(); ++i) {
    const Graph& part = decoder.parts[i];
    if (part.spec.part != ModelPart::encoder) continue;
    Share whole;
    whole.last_layer = static_cast<std::int32_t>(part.spec.layers.size());
    StepShape shape = StepShape::of(part, d.weights.parts[i], {}, whole);
    // Keys and values of what was read are the decoder's matrices, applied once.
    for (std::size_t t = 0; t < decoder.tensors.size(); ++t) {
      const Tensor& tensor = decoder.tensors[t];
      if (tensor.role != TensorRole::cross_attn_k && tensor.role != TensorRole::cross_attn_v) {
        continue;
      }
      shape.add({.kind = OperatorKind::linear, .input = tensor.columns, .output = tensor.rows},
                &tensor, d.weights.types[t]);
    }
    encoder_positions_ = window_positions(decoder);
    encoder_.emplace(std::make_shared<const StepShape>(std::move(shape)), d.kv, device,
                     CollectiveModel());
    return;
  }
}

Result<void> RequestTimes::add_placed(const Deployment& d, const Knowledge& knowledge,
                                      const std::shared_ptr<const DeviceModel>& device,
                                      const CollectiveModel& links) {
  CAIRN_TRY(const PlacedStages placed, placed_stages(d, knowledge));
  pipelined_ = placed.pipelined;
  const bool from_host = std::ranges::any_of(placed.stages, &PlacedStages::Stage::on_host);
  std::optional<HostDevice> host;
  if (from_host) {
    CAIRN_TRY(const HostMemory memory, host_memory(d, knowledge));
    CAIRN_TRY(host, host_device(d, memory, device, knowledge));
    host_sigma_ = std::max(host->processor->kernels.memory_efficiency.sigma,
                           knowledge.cost.host().copy.sigma);
  }
  for (const PlacedStages::Stage& stage : placed.stages) {
    distinct_.emplace_back(stages_.size(), 1);
    if (stage.on_host) {
      stages_.emplace_back(stage.shape, d.kv, host->processor, links, host->work);
    } else {
      stages_.emplace_back(stage.shape, d.kv, device, links);
    }
  }
  return {};
}

StepTime RequestTimes::prefill(double tokens, double context) const {
  if (!encoder_) return chunks(tokens, context);
  StepTime out =
      encoder_->time({.sequences = 1,
                      .tokens_per_sequence = encoder_positions_ > 0 ? encoder_positions_ : tokens,
                      .context = 0,
                      .output_tokens = 0});
  out += chunks(1, 0);
  return out;
}

StepTime RequestTimes::at_once(double sequences, double tokens) const {
  const double most = whole_batch_ ? sequences : std::max(1.0, std::floor(chunk_ / tokens));
  const auto step = [&](double n) {
    return through(
        {.sequences = n, .tokens_per_sequence = tokens, .context = 0, .output_tokens = n}, 0);
  };
  const double full = std::floor(sequences / most);
  const double rest = sequences - full * most;
  StepTime out = full > 0 ? scaled(step(most), full) : StepTime{};
  if (rest > 0) out += step(rest);
  return out;
}

StepTime RequestTimes::through(const Step& step, double last, Seconds* slowest) const {
  StepTime sum;
  Seconds longest{};
  for (const auto& [stage, count] : distinct_) {
    const StepTime t = stages_[stage].mean(step, last);
    longest = max(longest, t.total);
    sum += count > 1 ? scaled(t, count) : t;
  }
  if (slowest != nullptr) *slowest = longest;
  return sum;
}

StepTime RequestTimes::chunks(double tokens, double context) const {
  const double chunks = std::ceil(tokens / chunk_);
  const double full = std::floor(tokens / chunk_);
  const double rest = tokens - full * chunk_;
  Seconds slowest{};
  const auto chunk = [&](double size, double at, double last, double outputs) {
    return through(
        {.sequences = 1, .tokens_per_sequence = size, .context = at, .output_tokens = outputs},
        last, &slowest);
  };
  // Logits are wanted for the last position only; the head runs in every chunk on
  // at least that many rows.
  StepTime out;
  if (full > 0) {
    const double last = context + (full - 1) * chunk_;
    out += scaled(chunk(chunk_, context, last, rest > 0 ? 0 : 1), full);
  }
  const double end = context + full * chunk_;
  if (rest > 0) out += chunk(rest, end, end, 1);
  if (pipelined_ && stages_.size() > 1 && chunks > 1) {
    // Chunks follow one another through the stages.
    const double middle = context + tokens / 2;
    const StepTime sum = chunk(std::min(tokens, chunk_), middle, middle, 1);
    const Seconds pipelined = sum.total + (chunks - 1) * slowest;
    if (pipelined < out.total) out = scaled(out, pipelined / out.total);
  }
  return out;
}

StepTime RequestTimes::decode_step(double batch, double context) const {
  return decode_mean(batch, context, 1);
}

StepTime RequestTimes::decode_mean(double batch, double context, double tokens) const {
  // What a decoder reads of an encoder is not in its own cache.
  if (encoder_) context = 1;
  // Pipeline stages work on as many micro-batches as there are stages, if the
  // batch can be cut so; a token still passes through all of them.
  const double stages = pipelined_ ? static_cast<double>(stages_.size()) : 1;
  const double micro = std::max(1.0, batch / stages);
  const double last = context + std::max(0.0, tokens - 1);
  return through(
      {.sequences = micro, .tokens_per_sequence = 1, .context = context, .output_tokens = micro},
      last);
}

std::size_t RequestTimes::cards() const {
  const auto hosts = std::ranges::count_if(stages_, &StepModel::from_host);
  return std::max<std::size_t>(1, stages_.size() - static_cast<std::size_t>(hosts));
}

double RequestTimes::prefill_activity(double tokens) const {
  if (!pipelined_) return 1.0 / static_cast<double>(cards());
  const double chunks = std::max(1.0, std::ceil(tokens / chunk_));
  return chunks / (chunks + static_cast<double>(stages_.size()) - 1);
}

double RequestTimes::decode_activity(double batch) const {
  const auto stages = static_cast<double>(cards());
  return (micro_batches_ ? std::clamp(batch, 1.0, stages) : 1.0) / stages;
}

RequestTimes::Steady RequestTimes::steady(double concurrency, double input, double output,
                                          const StepTime& known) const {
  Steady out;
  out.prefill = known;
  out.decode = decode_mean(concurrency, input, output);
  const Seconds prompt = out.prefill.total;
  const Seconds step = out.decode.total;
  const double steps = std::max(0.0, output - 1);
  // While one request lives, each of the others is prefilled once on average and
  // holds it up for that long; its own prompt waits half a step and half a prompt
  // of another, if there is one.
  const double others = concurrency - 1;
  const Seconds stall = others * prompt;
  out.ttft =
      prompt + (others > 0 ? 0.5 * (step + prompt * std::min(1.0, stall / (stall + steps * step)))
                           : Seconds{});
  out.latency = out.ttft + steps * step + stall;
  out.tpot = steps > 0 ? (steps * step + stall) / steps : Seconds{};
  out.requests_per_s = concurrency / out.latency.value();
  const Seconds busy = prompt * concurrency + steps * step;
  out.prefill_share = (prompt * concurrency) / busy;
  return out;
}

double RequestTimes::sigma(const StepTime& step, bool decode) const {
  // The host's stage comes first.
  const KernelParameters& k = stages_.back().device().kernels;
  if (step.total <= Seconds{}) return 0;
  const auto share = [&step](Seconds part) { return part / step.total; };
  const double attention = share(step.of(TimeClass::attention));
  const double fixed = share(step.fixed);
  const double host = share(step.from_host);
  const double rest = std::max(0.0, 1 - attention - fixed - host);
  const MatmulPath* path = k.paths.empty() ? nullptr : &k.paths.front().path;
  const double product =
      decode || path == nullptr ? k.memory_efficiency.sigma : path->efficiency.sigma;
  const double att = decode ? k.attention_decode.sigma : k.attention_prefill.sigma;
  // The parameters are independent; what they share (the model's own error) is a
  // floor under them.
  const double least = uncertainty_.model_floor;
  const double sum = std::pow(attention * att, 2) + std::pow(fixed * k.launch.sigma, 2) +
                     std::pow(rest * product, 2) + std::pow(host * host_sigma_, 2) + least * least;
  const bool own = k.scope == KernelParameters::Scope::architecture;
  const double scope = own ? 1.0 : uncertainty_.transferred;
  return scope * std::sqrt(sum);
}

}  // namespace cairn
