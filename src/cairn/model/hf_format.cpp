// The storage of each tensor to the shortest name of a format that says it.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "cairn/model/format_name.h"
#include "cairn/model/gguf_recipe.h"
#include "cairn/model/hf_quantization.h"

namespace cairn::hf {
namespace {

// Formats of data/models/weight_formats.yaml from which a name is built: what they store
// in `type` are all matrices of the layers, or the routed experts where there are any.
struct Base {
  std::string_view name;
  std::string_view type;
  bool experts_first = false;
};

constexpr auto kBases = std::to_array<Base>({
    {"fp8", "fp8"},
    {"fp8-static", "fp8-static"},
    {"fp8-channel", "fp8-channel"},
    {"fbgemm-fp8", "fp8-channel-f32"},
    {"fp8-block", "fp8-block"},
    {"int8", "int8-channel"},
    {"gptq-int4", "gptq-int4-g128"},
    {"awq-int4", "awq-int4-g128"},
    {"int4-g128", "int4-g128"},
    {"int4", "int4-g32", true},
    {"mxfp4", "mxfp4", true},
    {"mxfp4-linear", "mxfp4"},
    {"mxfp6", "mxfp6"},
    {"mxfp8", "mxfp8"},
    {"nvfp4", "nvfp4-g16", true},
    {"nvfp4-linear", "nvfp4-g16"},
    {"bnb-nf4", "bnb-nf4"},
    {"bnb-nf4-dq", "bnb-nf4-dq"},
    {"bnb-fp4", "bnb-fp4"},
    {"bnb-fp4-dq", "bnb-fp4-dq"},
    {"bnb-int8", "bnb-int8"},
});

// The first five are what a base stores in its type.
constexpr auto kGroups = std::to_array<std::pair<std::string_view, TensorGroup>>({
    {"attention", TensorGroup::attention},
    {"recurrent", TensorGroup::recurrent},
    {"ffn", TensorGroup::ffn},
    {"shared", TensorGroup::shared},
    {"experts", TensorGroup::experts},
    {"recurrent_small", TensorGroup::recurrent_small},
    {"token_embd", TensorGroup::token_embd},
    {"output", TensorGroup::output},
});

bool linear(const Tensor& t) {
  return std::ranges::any_of(kGroups.begin(), kGroups.begin() + 5,
                             [&](const auto& g) { return in_group(t, g.second); });
}

// In exceptions the names of the dense feed-forward stand for all kinds of it.
std::string role_of(const Tensor& t) {
  switch (t.role) {
    case TensorRole::ffn_gate:
      return "dense_gate";
    case TensorRole::ffn_up:
      return "dense_up";
    case TensorRole::ffn_down:
      return "dense_down";
    default:
      return std::string(role_name(t.role));
  }
}

using Layers = std::set<std::int32_t>;

class Namer {
 public:
  Namer(const Graph& graph, const std::vector<std::string>& storage, std::string plain)
      : graph_(graph), storage_(storage), plain_(std::move(plain)) {
    mixture_ = std::ranges::any_of(
        graph.tensors, [](const Tensor& t) { return in_group(t, TensorGroup::experts); });
  }

  // The name from a base, whose own storage of a tensor is `own(tensor)`.
  template <class F>
  FormatName name(std::string_view base, F own) const {
    std::map<std::pair<std::string, std::string>, Layers> differ;  // storage, selector
    std::vector<bool> open(storage_.size());
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      open[i] = !graph_.tensors[i].vector && own(graph_.tensors[i]) != storage_[i];
    }
    for (const auto& [name, group] : kGroups) take_group(name, group, open, differ);
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const Tensor& t = graph_.tensors[i];
      if (open[i]) differ[{storage_[i], role_of(t)}].insert(t.layer);
    }
    return assemble(base, differ);
  }

  [[nodiscard]] std::string_view own_of(const Base& base, const Tensor& t) const {
    const bool expert = in_group(t, TensorGroup::experts);
    const bool first = !base.experts_first ? linear(t)
                       : mixture_          ? expert
                                           : linear(t) && !in_group(t, TensorGroup::shared);
    return first ? base.type : std::string_view();
  }

 private:
  // Layers in which a whole group has one storage and some of it differs from the base.
  void take_group(std::string_view name, TensorGroup group, std::vector<bool>& open,
                  std::map<std::pair<std::string, std::string>, Layers>& differ) const {
    std::map<std::int32_t, std::set<std::string_view>> kinds;
    Layers differing;
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const Tensor& t = graph_.tensors[i];
      if (!in_group(t, group)) continue;
      kinds[t.layer].insert(storage_[i]);
      if (open[i]) differing.insert(t.layer);
    }
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const Tensor& t = graph_.tensors[i];
      if (!in_group(t, group) || kinds[t.layer].size() > 1 || !differing.contains(t.layer))
        continue;
      differ[{storage_[i], std::string(name)}].insert(t.layer);
      open[i] = false;
    }
  }

  // The layers that have what an exception names.
  [[nodiscard]] Layers layers_of(const std::string& selector) const {
    Layers out;
    for (const Tensor& t : graph_.tensors) {
      const auto* const group =
          std::ranges::find(kGroups, selector, [](const auto& g) { return g.first; });
      const bool named =
          group != kGroups.end() ? in_group(t, group->second) : role_of(t) == selector;
      if (named) out.insert(t.layer);
    }
    return out;
  }

  FormatName assemble(std::string_view base,
                      const std::map<std::pair<std::string, std::string>, Layers>& differ) const {
    FormatName out{.base = std::string(base), .exceptions = {}};
    for (const auto& [key, layers] : differ) {
      FormatException e;
      e.type = key.first.empty() ? plain_type() : key.first;
      if (layers != layers_of(key.second)) {
        for (const std::int32_t layer : layers) {
          if (!e.layers.empty() && e.layers.back().second == layer - 1) {
            e.layers.back().second = layer;
          } else {
            e.layers.emplace_back(layer, layer);
          }
        }
      }
      const auto same = std::ranges::find_if(out.exceptions, [&](const FormatException& other) {
        return other.type == e.type && other.layers == e.layers;
      });
      if (same != out.exceptions.end()) {
        same->tensors.push_back(key.second);
        continue;
      }
      e.tensors.push_back(key.second);
      out.exceptions.push_back(std::move(e));
    }
    return out;
  }

  [[nodiscard]] std::string plain_type() const {
    if (plain_ == "fp16") return "f16";
    return plain_ == "fp32" ? "f32" : "bf16";
  }

  const Graph& graph_;
  const std::vector<std::string>& storage_;
  std::string plain_;
  bool mixture_ = false;
};

// The storage of most weights of the layers.
std::string storage_of_most(const Graph& graph, const std::vector<std::string>& storage) {
  std::map<std::string, std::int64_t> weights;
  for (std::size_t i = 0; i < storage.size(); ++i) {
    if (linear(graph.tensors[i])) weights[storage[i]] += graph.tensors[i].weights();
  }
  const auto it = std::ranges::max_element(
      weights, [](const auto& a, const auto& b) { return a.second < b.second; });
  return it == weights.end() ? std::string() : it->first;
}

}  // namespace

std::string format_of(const Graph& graph, const std::vector<std::string>& storage,
                      const std::string& trained) {
  const std::string plain = trained.empty() ? "bf16" : trained;
  const Namer namer(graph, storage, plain);
  FormatName best = namer.name(plain, [](const Tensor&) { return std::string_view(); });
  const std::string most = storage_of_most(graph, storage);
  // Wide floats have no base of their own.
  if (plain == "fp32" || most.empty()) return best.to_string();
  bool quantised = false;
  for (const Base& base : kBases) {
    if (base.type != most) continue;
    FormatName other =
        namer.name(base.name, [&](const Tensor& t) { return namer.own_of(base, t); });
    if (quantised && other.exceptions.size() >= best.exceptions.size()) continue;
    best = std::move(other);
    quantised = true;
  }
  return best.to_string();
}

}  // namespace cairn::hf
