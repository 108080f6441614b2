#include "cairn/plan/plan_file.h"

#include <array>

namespace cairn {
namespace {

constexpr double kMostTokens = 1 << 27;

// A part of the file with fields of its own.
Result<std::optional<Node>> section(Node root, std::string_view key) {
  const auto node = root.find_value(key);
  if (node && !node->is_mapping()) {
    return fail(node->error("wrong type").in(std::string(key)).want("a mapping"));
  }
  return node;
}

Result<void> read_requests(Node node, Workload& w) {
  CAIRN_TRY(w.input, node.get_number_or("input", w.input, 1, kMostTokens));
  CAIRN_TRY(w.output, node.get_number_or("output", w.output, 1, kMostTokens));
  CAIRN_TRY(w.concurrency, node.get_number_or("concurrency", w.concurrency, 1, 1e6));
  CAIRN_TRY(w.context, node.get_integer_or("context", 0, 0, 1 << 27));
  if (node.find_value("rate")) {
    if (node.find_value("concurrency")) {
      return fail(bad_input("both a rate and a concurrency").at(node.where()).want("one of them"));
    }
    CAIRN_TRY(const double rate, node.get_number("rate", 1e-6, 1e6));
    w.rate = rate;
  }
  return {};
}

Result<void> read_workload(Node root, Workload& w) {
  CAIRN_TRY(const auto node, section(root, "workload"));
  if (!node) return {};
  constexpr std::array<std::string_view, 5> kKnown{"input", "output", "concurrency", "rate",
                                                   "context"};
  CAIRN_CHECK(node->only(kKnown));
  return read_requests(*node, w);
}

Result<Resident> read_resident(Node node) {
  if (!node.is_mapping()) return fail(node.error("wrong type").in("models").want("a mapping"));
  constexpr std::array<std::string_view, 9> kKnown{
      "model", "input", "output", "concurrency", "rate", "context", "weights", "kv", "share"};
  CAIRN_CHECK(node.only(kKnown));
  Resident out;
  CAIRN_TRY(const std::string_view model, node.get<std::string_view>("model"));
  out.model = model;
  CAIRN_CHECK(read_requests(node, out.workload));
  CAIRN_TRY(out.formats, node.get_strings("weights"));
  CAIRN_TRY(const std::string_view kv, node.get_or<std::string_view>("kv", ""));
  out.kv = kv;
  CAIRN_TRY(out.share, node.get_number_or("share", 0, 0, 1));
  if (out.share > 0 && out.workload.rate) {
    return fail(bad_input("both a rate and a share").at(node.where()).want("one of them"));
  }
  const Workload& w = out.workload;
  if (w.context > 0 && static_cast<double>(w.context) < w.input + w.output) {
    return fail(
        node.required("context")->error("shorter than input and output together").in("context"));
  }
  return out;
}

Result<void> read_residents(Node root, PlanFile& out) {
  const auto node = root.find_value("models");
  if (!node) return {};
  constexpr std::uint32_t kMost = 6;
  if (!node->is_sequence() || node->size() == 0 || node->size() > kMost) {
    return fail(node->error("wrong type").in("models").want("a list of one to six models"));
  }
  if (!out.model.empty() || root.find_value("workload")) {
    return fail(
        node->error("models beside a model or a workload").in("models").want("one of them"));
  }
  for (const std::string_view key : {"weights", "kv", "objective"}) {
    const auto other = root.find_value(key);
    if (!other) continue;
    return fail(other->error("does not apply to several models")
                    .in(std::string(key))
                    .want(key == "objective" ? "nothing: they are ranked by cost, then by bits"
                                             : "the same field in each of the models"));
  }
  double shares = 0;
  for (std::uint32_t i = 0; i < node->size(); ++i) {
    CAIRN_TRY(Resident r, read_resident(node->at(i)));
    shares += r.share;
    out.residents.push_back(std::move(r));
  }
  if (shares > 1) {
    return fail(node->error("shares of more than the whole").in("models").want("at most 1 in all"));
  }
  return {};
}

Result<std::optional<double>> limit(Node node, std::string_view key, double high) {
  if (!node.find_value(key)) return std::optional<double>{};
  CAIRN_TRY(const double value, node.get_number(key, 1e-3, high));
  return std::optional<double>(value);
}

Result<void> read_limits(Node root, Constraints& c) {
  CAIRN_TRY(const auto node, section(root, "limits"));
  if (!node) return {};
  constexpr std::array<std::string_view, 5> kKnown{"ttft_ms", "tpot_ms", "tokens_per_s", "power_w",
                                                   "cards"};
  CAIRN_CHECK(node->only(kKnown));
  CAIRN_TRY(c.ttft_ms, limit(*node, "ttft_ms", 1e9));
  CAIRN_TRY(c.tpot_ms, limit(*node, "tpot_ms", 1e9));
  CAIRN_TRY(c.tokens_per_s, limit(*node, "tokens_per_s", 1e9));
  CAIRN_TRY(c.power_w, limit(*node, "power_w", 1e9));
  CAIRN_TRY(c.max_cards, node->get_integer_or("cards", c.max_cards, 1, 100000));
  return {};
}

Result<void> read_budget(Node root, Constraints& c) {
  CAIRN_TRY(const auto node, section(root, "budget"));
  if (!node) return {};
  constexpr std::array<std::string_view, 2> kKnown{"amount", "currency"};
  CAIRN_CHECK(node->only(kKnown));
  CAIRN_TRY(const double amount, node->get_number("amount", 0, 1e12));
  CAIRN_TRY(const std::string_view currency, node->get<std::string_view>("currency"));
  c.budget = amount;
  c.budget_currency = currency_code(currency);
  return {};
}

Result<void> read_owned(Node root, Constraints& c) {
  const auto node = root.find_value("owned");
  if (!node) return {};
  if (!node->is_mapping()) {
    return fail(node->error("wrong type").in("owned").want("a mapping of accelerator to number"));
  }
  for (std::uint32_t i = 0; i < node->size(); ++i) {
    const std::string_view id = node->member(i).key;
    CAIRN_TRY(const std::int64_t n, node->get_integer(id, 0, 1000000));
    c.owned.emplace_back(id, n);
  }
  return {};
}

Result<std::optional<int>> count(Node node, std::string_view key, int most) {
  if (!node.find_value(key)) return std::optional<int>{};
  CAIRN_TRY(const std::int64_t value, node.get_integer(key, 0, most));
  return std::optional<int>(static_cast<int>(value));
}

// The machine at hand.
Result<void> read_host(Node root, Constraints& c) {
  CAIRN_TRY(const auto node, section(root, "host"));
  if (!node) return {};
  constexpr std::array<std::string_view, 8> kKnown{
      "supply_w", "ram_gib", "slots", "lanes", "generation", "case_slots", "atomics", "cooling"};
  CAIRN_CHECK(node->only(kKnown));
  OwnedHost host;
  if (node->find_value("supply_w")) {
    CAIRN_TRY(const double watts, node->get_number("supply_w", 1, 1e6));
    host.supply = Watts(watts);
  }
  if (node->find_value("ram_gib")) {
    CAIRN_TRY(const double size, node->get_number("ram_gib", 0.1, 1e6));
    host.ram = gib(size);
  }
  CAIRN_TRY(host.slots, count(*node, "slots", 64));
  CAIRN_TRY(host.lanes, count(*node, "lanes", 64));
  CAIRN_TRY(host.generation, count(*node, "generation", 9));
  CAIRN_TRY(host.case_slots, count(*node, "case_slots", 64));
  if (node->find_value("atomics")) {
    CAIRN_TRY(const bool atomics, node->get<bool>("atomics"));
    host.atomics = atomics;
  }
  CAIRN_TRY(const auto words, node->get_strings("cooling"));
  for (const std::string& word : words) {
    const auto cooling = find_cooling(word);
    if (!cooling) {
      return fail(node->required("cooling")
                      ->error(cooling.error().message)
                      .in("cooling")
                      .want(cooling.error().expected));
    }
    host.cooling.push_back(*cooling);
  }
  c.host = std::move(host);
  return {};
}

Result<void> read_terms(Node root, CostTerms& t) {
  CAIRN_TRY(const auto node, section(root, "money"));
  if (!node) return {};
  constexpr std::array<std::string_view, 6> kKnown{"currency",    "amortisation_years",
                                                   "utilisation", "electricity_per_kwh",
                                                   "pue",         "co2_g_per_kwh"};
  CAIRN_CHECK(node->only(kKnown));
  CAIRN_TRY(const std::string_view currency,
            node->get_or<std::string_view>("currency", t.currency));
  t.currency = currency_code(currency);
  CAIRN_TRY(t.amortisation_years,
            node->get_number_or("amortisation_years", t.amortisation_years, 0.1, 50));
  CAIRN_TRY(t.utilisation, node->get_number_or("utilisation", t.utilisation, 0.001, 1));
  CAIRN_TRY(t.electricity_per_kwh,
            node->get_number_or("electricity_per_kwh", t.electricity_per_kwh, 0, 1e6));
  CAIRN_TRY(t.pue, node->get_number_or("pue", t.pue, 1, 10));
  if (node->find_value("co2_g_per_kwh")) {
    CAIRN_TRY(const double grams, node->get_number("co2_g_per_kwh", 0, 5000));
    t.co2_g_per_kwh = grams;
  }
  return {};
}

Result<void> read_selection(Node root, PlanRequest& r) {
  Constraints& c = r.constraints;
  CAIRN_TRY(const std::string_view vendor, root.get_or<std::string_view>("vendor", "any"));
  if (vendor != "any" && vendor != "amd" && vendor != "nvidia") {
    return fail(
        root.required("vendor")->error("unknown vendor").in("vendor").want("amd, nvidia or any"));
  }
  if (vendor != "any") c.vendor = vendor;
  CAIRN_TRY(c.accelerators, root.get_strings("gpus"));
  CAIRN_TRY(c.engines, root.get_strings("engines"));
  CAIRN_TRY(c.formats, root.get_strings("weights"));
  CAIRN_TRY(const std::string_view kv, root.get_or<std::string_view>("kv", ""));
  c.kv = kv;
  CAIRN_TRY(c.announced, root.get_or<bool>("announced", false));
  if (root.find_value("objective")) {
    CAIRN_TRY(const std::string_view name, root.get<std::string_view>("objective"));
    const auto found = find_objective(name);
    if (!found) {
      return fail(root.required("objective")
                      ->error(found.error().message)
                      .in("objective")
                      .want(found.error().expected));
    }
    r.objective = *found;
  }
  CAIRN_TRY(const std::int64_t top, root.get_integer_or("top", 10, 1, 1000));
  r.top = static_cast<std::size_t>(top);
  return {};
}

}  // namespace

Result<Objective> find_objective(std::string_view name) {
  for (const Objective o : {Objective::cost, Objective::price, Objective::latency,
                            Objective::throughput, Objective::energy}) {
    if (name_of(o) == name) return o;
  }
  return fail(bad_input("unknown objective")
                  .got(name)
                  .want("one of cost, price, latency, throughput, energy"));
}

Result<PlanFile> read_plan(Node root) {
  if (!root.is_mapping()) return fail(root.error("not a plan").want("a mapping"));
  constexpr std::array<std::string_view, 17> kKnown{
      "models", "model",     "workload",  "limits", "budget",     "owned",
      "host",   "money",     "vendor",    "gpus",   "engines",    "weights",
      "kv",     "objective", "announced", "top",    "description"};
  CAIRN_CHECK(root.only(kKnown));
  PlanFile out;
  CAIRN_TRY(const std::string_view model, root.get_or<std::string_view>("model", ""));
  out.model = model;
  CAIRN_CHECK(read_residents(root, out));
  CAIRN_CHECK(read_workload(root, out.request.workload));
  CAIRN_CHECK(read_limits(root, out.request.constraints));
  CAIRN_CHECK(read_budget(root, out.request.constraints));
  CAIRN_CHECK(read_owned(root, out.request.constraints));
  CAIRN_CHECK(read_host(root, out.request.constraints));
  CAIRN_CHECK(read_terms(root, out.request.terms));
  CAIRN_CHECK(read_selection(root, out.request));
  return out;
}

}  // namespace cairn
