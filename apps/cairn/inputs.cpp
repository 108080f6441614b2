#include "inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cairn/base/names.h"
#include "cairn/data/csv.h"
#include "cairn/hardware/purchase.h"
#include "cairn/options/value.h"
#include "dates.h"
#include "options/deployment.h"
#include "options/money.h"
#include "options/selection.h"
#include "options/workload.h"

namespace cairn::cli {
namespace {

std::optional<bool> on_off(const ParsedCommand& args, const OptionSpec& option) {
  const auto text = args.text(option);
  return text ? std::optional<bool>(*text == "on") : std::nullopt;
}

// "PATTERN=CPU": a pattern alone, or another place, is refused.
Result<std::string> host_pattern(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || text.substr(equals + 1) != "CPU") {
    return fail(bad_input("not a pattern and a place")
                    .in("--override-tensor")
                    .got(text)
                    .want("PATTERN=CPU"));
  }
  return text.substr(0, equals);
}

// Shares are added up.
constexpr double kMostShare = 1e9;

Result<LlamaCppPlaces> places_of(const ParsedCommand& args) {
  LlamaCppPlaces p;
  p.gpu_layers = args.integer(kNgl);
  if (args.given(kCpuMoe)) p.host_expert_layers = kEveryLayer;
  if (args.given(kNCpuMoe)) p.host_expert_layers = args.integer(kNCpuMoe);
  for (const std::string& text : args.list(kOverrideTensor)) {
    CAIRN_TRY(std::string pattern, host_pattern(text));
    p.host_tensors.push_back(std::move(pattern));
  }
  if (const auto mode = args.text(kSplitMode)) {
    p.split =
        *mode == "row" ? SplitMode::row : (*mode == "none" ? SplitMode::none : SplitMode::layer);
  }
  for (const std::string& text : args.list(kTensorSplit)) {
    const auto share = parse_number(text);
    if (!share || *share > kMostShare) {
      return fail(bad_input("not a share").in("--tensor-split").got(text));
    }
    p.tensor_split.push_back(*share);
  }
  if (args.given(kKvUnified)) p.unified_cache = true;
  if (args.given(kSwaFull)) p.full_window_cache = true;
  if (args.given(kMmproj)) p.towers = true;
  return p;
}

// False for a card without a price where a highest price is given.
Result<bool> affordable(const Accelerator& a, const ParsedCommand& args,
                        const Knowledge& knowledge) {
  const auto most = args.amount(kMaxPrice);
  if (!most) return true;
  if (most->currency.empty()) {
    return fail(bad_input("the currency is missing").in("--max-price").want("600USD"));
  }
  CAIRN_TRY(const auto price,
            purchase_of(a, {most->currency, "", {}}, knowledge.prices, knowledge.hosts));
  return price && price->each() <= most->amount;
}

struct Filter {
  std::string_view option;
  bool (*keeps)(const Accelerator&, const ParsedCommand&);
};

constexpr std::array kFilterTests{
    Filter{"--vendor",
           [](const Accelerator& a, const ParsedCommand& args) {
             const auto vendor = args.text(kVendor).value_or("any");
             return vendor == "any" || a.vendor == vendor;
           }},
    Filter{"--status",
           [](const Accelerator& a, const ParsedCommand& args) {
             const auto status = args.text(kStatus).value_or("any");
             return status == "any" || name_of(a.status) == status;
           }},
    Filter{"--family",
           [](const Accelerator& a, const ParsedCommand& args) {
             const std::string family = normalise_name(args.text(kFamily).value_or(""));
             return family.empty() || a.family == family || a.architecture == family;
           }},
    Filter{"--min-memory",
           [](const Accelerator& a, const ParsedCommand& args) {
             const auto least = args.quantity<Bytes>(kMinMemory);
             return !least || a.memory >= *least;
           }},
};

// Unasked, what can be bought: neither announced nor no longer made.
bool kept(const Accelerator& a, const ParsedCommand& args) {
  if (!a.is_gpu) return false;
  const bool sold = a.status != Status::announced && a.status != Status::end_of_life;
  if (args.text(kStatus).value_or("any") == "any" && !sold) return false;
  return std::ranges::all_of(kFilterTests, [&](const Filter& f) { return f.keeps(a, args); });
}

// How many accelerators each filter would leave if it stood alone.
std::string what_would_be_left(const ParsedCommand& args, const Knowledge& knowledge,
                               const std::vector<const Accelerator*>& named) {
  if (!named.empty()) return std::string(msg("a higher --max-price"));
  std::vector<std::string> parts;
  for (const Filter& f : kFilterTests) {
    const auto left =
        std::ranges::count_if(knowledge.accelerators.all(),
                              [&](const Accelerator& a) { return a.is_gpu && f.keeps(a, args); });
    if (static_cast<std::size_t>(left) == knowledge.accelerators.all().size()) continue;
    parts.push_back(fmt::format("{} alone leaves {}", f.option, left));
  }
  if (args.given(kMaxPrice)) {
    const auto left =
        std::ranges::count_if(knowledge.accelerators.all(), [&](const Accelerator& a) {
          return a.is_gpu && affordable(a, args, knowledge).value_or(false);
        });
    parts.push_back(fmt::format("--max-price alone leaves {}", left));
  }
  return fmt::format("filters that have something in common: {}", fmt::join(parts, ", "));
}

}  // namespace

bool names_layout(const ParsedCommand& args) {
  return args.given(kTp) || args.given(kPp) || args.given(kDp) || args.given(kEp);
}

Result<void> engine_is_named(const ParsedCommand& args) {
  if (!names_layout(args) || args.given(kEngine)) return {};
  return fail(bad_input("a layout is given, and no engine that it is of")
                  .in("--engine")
                  .want("an engine, such as vllm for --tp"));
}

Result<Knowledge> open_knowledge(Context& context) {
  const auto timer = context.timings.scope("open the data");
  CAIRN_TRY(Image image, context.open_image());
  return Knowledge::load(std::move(image));
}

UnifiedSetting unified_of(const ParsedCommand& args) {
  return {args.quantity<Bytes>(kCarveOut), args.quantity<Bytes>(kGtt)};
}

Result<Knowledge> open_set_up(Context& context) {
  CAIRN_TRY(Knowledge knowledge, open_knowledge(context));
  std::vector<std::string> named = context.args.list(kGpu);
  std::erase(named, "all");
  CAIRN_CHECK(knowledge.set_up(unified_of(context.args), named));
  return knowledge;
}

Result<ModelInput> model_of(const std::string& name, Context& context, const Knowledge& knowledge) {
  const std::string like(context.args.text(kLike).value_or(""));
  CAIRN_TRY(ModelInput model, find_model(name, knowledge, like));
  if (!context.json) {
    for (const Message& note : notes_of(model)) context.console.note(context.tr.tr(note));
  }
  return model;
}

Result<std::vector<const Accelerator*>> accelerators_of(const ParsedCommand& args,
                                                        const Knowledge& knowledge) {
  std::vector<const Accelerator*> named;
  for (const std::string& name : args.list(kGpu)) {
    if (name == "all") continue;
    auto accelerator = knowledge.accelerators.find(name);
    if (!accelerator) return fail(std::move(accelerator).error().in("--gpu"));
    named.push_back(*accelerator);
  }
  // The order is the catalogue's; partitions of a package are not on its list.
  const auto holds = [](const std::vector<const Accelerator*>& list, const Accelerator* a) {
    return std::ranges::find(list, a) != list.end();
  };
  std::vector<const Accelerator*> chosen;
  for (const Accelerator& a : knowledge.accelerators.all()) {
    if (named.empty() ? kept(a, args) : holds(named, &a)) chosen.push_back(&a);
  }
  for (const Accelerator* a : named) {
    if (!holds(chosen, a)) chosen.push_back(a);
  }
  std::vector<const Accelerator*> out;
  for (const Accelerator* a : chosen) {
    CAIRN_TRY(const bool keep, affordable(*a, args, knowledge));
    if (keep) out.push_back(a);
  }
  if (out.empty()) {
    return fail(not_found("no accelerator is left by the selection")
                    .want(what_would_be_left(args, knowledge, named)));
  }
  return out;
}

Result<DeploymentRequest> settings_of(const ParsedCommand& args, const Knowledge& knowledge) {
  DeploymentRequest r;
  r.weights = args.text(kWeights).value_or("");
  r.kv = args.text(kKv).value_or("");
  r.ubatch = args.integer(kUbatch);
  r.flash_attention = on_off(args, kFlashAttention);
  r.memory_fraction = args.number(kMemoryUtilization);
  r.max_batched_tokens = args.integer(kMaxBatchedTokens);
  r.max_sequences = args.integer(kParallel);
  r.hipblaslt = on_off(args, kHipblaslt);
  r.rocwmma = on_off(args, kRocwmma);
  r.build = args.integer(kBuild);
  CAIRN_TRY(r.places, places_of(args));
  if (const auto name = args.text(kHost)) {
    CAIRN_TRY(r.host, knowledge.hosts.find(*name));
  }
  if (const auto rate = args.number(kHostBandwidth)) r.host_bandwidth = BytesPerSecond(*rate * 1e9);
  return r;
}

Result<void> check_build(const ParsedCommand& args, const EngineInfo& engine,
                         const ModelInput& model, const Knowledge& knowledge) {
  const auto build = args.integer(kBuild);
  if (!build || engine.family != EngineFamily::llama_cpp) return {};
  CAIRN_TRY(const EngineInfo* release,
            knowledge.engines.find(fmt::format("{}@{}", engine.id, *build)));
  const std::string& architecture = model.graph->spec.architecture;
  if (release->answer_for(architecture) != RunsModel::no) return {};
  // A class that no release lists is answered for elsewhere.
  if (engine.answer_for(architecture) == RunsModel::no) return {};
  return release->check_model(architecture);
}

Result<Layout> layout_of(const ParsedCommand& args, const EngineInfo& engine) {
  const auto number = [&args](const OptionSpec& option) {
    return static_cast<int>(args.integer(option).value_or(1));
  };
  Layout out{.tp = number(kTp), .pp = number(kPp), .dp = number(kDp), .ep = number(kEp)};
  const auto cards = args.integer(kGpus);
  const std::int64_t replica = static_cast<std::int64_t>(out.tp) * out.pp;
  const auto most = static_cast<std::int64_t>(kMostCards);
  if (replica > most || replica * out.dp > most) {
    return fail(bad_input("more devices than a deployment may have")
                    .in("--tp, --pp, --dp")
                    .got(std::to_string(replica * out.dp))
                    .want(fmt::format("at most {}", most)));
  }
  if (!cards) return out;
  if (!names_layout(args)) {
    (engine.split == SplitMode::tensor ? out.tp : out.pp) = static_cast<int>(*cards);
  } else if (out.devices() != *cards) {
    return fail(bad_input("the layout takes another number of devices")
                    .in("--gpus")
                    .got(std::to_string(*cards))
                    .want(std::to_string(out.devices())));
  }
  return out;
}

Result<Workload> workload_of(const ParsedCommand& args) {
  Workload w;
  w.input = static_cast<double>(args.integer(kInput).value_or(512));
  w.input_given = args.given(kInput);
  w.output = static_cast<double>(args.integer(kOutput).value_or(128));
  w.context = args.integer(kContext).value_or(0);
  if (args.given(kRate) && args.given(kConcurrency)) {
    return fail(bad_input("both a rate and a concurrency").in("--rate").want("one of them"));
  }
  w.rate = args.number(kRate);
  w.concurrency = static_cast<double>(args.integer(kConcurrency).value_or(1));
  if (w.context > 0 && static_cast<double>(w.context) < w.input + w.output) {
    return fail(bad_input("the context is shorter than input and output together")
                    .in("--context")
                    .got(std::to_string(w.context)));
  }
  return w;
}

namespace {

// "rx-9070-xt:640EUR".
Result<GivenPrice> given_price(const std::string& text, const Knowledge& knowledge) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return fail(bad_input("not a card and its price")
                    .in("--price")
                    .got(text)
                    .want("ID:AMOUNT, such as rx-9070-xt:640EUR"));
  }
  auto card = knowledge.accelerators.find(text.substr(0, colon));
  if (!card) return fail(std::move(card).error().in("--price"));
  auto money = parse_money(text.substr(colon + 1));
  if (!money) return fail(std::move(money).error().in("--price"));
  if (!money->currency.empty()) {
    CAIRN_CHECK(knowledge.prices.convert(1, money->currency, "USD"));
  }
  return GivenPrice{(*card)->card, money->amount, money->currency};
}

}  // namespace

Result<CostTerms> terms_of(const ParsedCommand& args, const Knowledge& knowledge) {
  CostTerms t;
  t.currency = currency_code(args.text(kCurrency).value_or("USD"));
  t.amortisation_years = args.number(kAmortisation).value_or(t.amortisation_years);
  t.utilisation = args.number(kUtilisation).value_or(t.utilisation);
  t.electricity_per_kwh = args.number(kElectricityPrice).value_or(0);
  t.pue = args.number(kPue).value_or(t.pue);
  t.co2_g_per_kwh = args.number(kCo2);
  CAIRN_TRY(t.price_date, date_in(args, kPriceDate));
  for (const std::string& text : args.list(kPrice)) {
    CAIRN_TRY(GivenPrice price, given_price(text, knowledge));
    t.prices.push_back(std::move(price));
  }
  CAIRN_TRY([[maybe_unused]] const double rate, knowledge.prices.convert(1, "USD", t.currency));
  return t;
}

}  // namespace cairn::cli
