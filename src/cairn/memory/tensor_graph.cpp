#include "cairn/memory/tensor_graph.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "cairn/memory/gap_allocator.h"

namespace cairn::memory {

TensorGraph::Id TensorGraph::push(const Tensor& tensor) {
  tensors_.push_back(tensor);
  return static_cast<Id>(tensors_.size() - 1);
}

TensorGraph::Id TensorGraph::weight(std::int64_t bytes, int device) {
  Tensor t;
  t.bytes = bytes;
  t.device = static_cast<std::int8_t>(device);
  t.external = t.is_weight = true;
  return push(t);
}

TensorGraph::Id TensorGraph::cache(std::int64_t bytes, int device) {
  Tensor t;
  t.bytes = bytes;
  t.device = static_cast<std::int8_t>(device);
  t.external = true;
  return push(t);
}

TensorGraph::Id TensorGraph::input(std::int64_t bytes) {
  Tensor t;
  t.bytes = bytes;
  t.device = host_;
  t.is_input = true;
  return push(t);
}

TensorGraph::Id TensorGraph::add(const Operation& operation, std::initializer_list<Id> sources) {
  Tensor t;
  t.bytes = operation.bytes;
  t.workspace = operation.workspace;
  t.in_place = operation.in_place;
  t.movable = operation.movable;
  t.ignores_weights = operation.ignores_weights;
  t.device = operation.device;
  std::ranges::copy(sources, t.sources.begin());
  return push(t);
}

TensorGraph::Id TensorGraph::view(Id of) {
  Tensor t;
  t.bytes = at(of).bytes;
  t.viewed = at(of).viewed == kNone ? of : at(of).viewed;
  t.sources[0] = of;
  t.is_view = true;
  return push(t);
}

TensorGraph::Id TensorGraph::store(Id cache, Id value, Id places) {
  Tensor t;
  t.viewed = cache;
  t.device = at(cache).device;
  t.sources = {value, places, cache, kNone, kNone, kNone};
  return push(t);
}

TensorGraph::Id TensorGraph::read(Id cache) {
  Tensor t;
  t.bytes = at(cache).bytes;
  t.viewed = cache;
  t.device = at(cache).device;
  t.sources[0] = cache;
  t.is_view = true;
  return push(t);
}

void TensorGraph::mark_output(Id tensor) { at(tensor).is_output = true; }

void TensorGraph::expand(Id tensor) {
  if (tensor == kNone || at(tensor).visited) return;
  at(tensor).visited = true;
  // The depth is bounded by what was not expanded before: some operations of a layer.
  for (std::size_t i = 0; i < kSources; ++i) expand(at(tensor).sources[i]);
  if (at(tensor).external) return;
  if (at(tensor).is_input) {
    leaves_.push_back(tensor);
  } else {
    order_.push_back(tensor);
  }
}

// Where a tensor must be, by itself: a cache's views with the cache, inputs with the
// host, an operation with its first weights.
std::int8_t TensorGraph::own_device(const Tensor& t, bool move_operations) const {
  if (t.device != kAnywhere) return t.device;
  if (t.viewed != kNone && at(t.viewed).external) return at(t.viewed).device;
  if (t.ignores_weights) return kAnywhere;
  for (const Id id : t.sources) {
    if (id == kNone || !at(id).is_weight) continue;
    const bool moves = at(id).device == host_ && host_ > 0 && move_operations && t.movable;
    return moves ? std::int8_t{0} : at(id).device;
  }
  return kAnywhere;
}

void TensorGraph::spread(bool downwards, bool gpus_only) {
  std::int8_t current = kAnywhere;
  const std::size_t n = order_.size();
  for (std::size_t step = 0; step < n; ++step) {
    Tensor& t = at(order_[downwards ? step : n - 1 - step]);
    if (t.is_view) continue;
    if (t.device != kAnywhere) {
      current = gpus_only && t.device == host_ ? kAnywhere : t.device;
    } else if (current != kAnywhere) {
      t.device = current;
    }
  }
}

void TensorGraph::fill_sources() {
  for (const Id id : order_) {
    Tensor& t = at(id);
    if (t.device == kAnywhere && t.viewed != kNone) t.device = at(t.viewed).device;
    for (const Id source : t.sources) {
      if (source == kNone) continue;
      Tensor& s = at(source);
      if (s.device != kAnywhere) continue;
      s.device = s.viewed != kNone ? at(s.viewed).device : t.device;
    }
    if (t.device == kAnywhere) t.device = 0;
  }
}

void TensorGraph::choose_devices(bool move_operations) {
  for (const Id id : order_) at(id).device = own_device(at(id), move_operations);
  spread(true, true);
  spread(false, true);
  spread(true, false);
  spread(false, false);
  fill_sources();
}

// The order of execution cut into runs on one device, with the copies that each
// run needs, and then the allocation of all of it.
class TensorGraph::Plan {
 public:
  Plan(TensorGraph& graph, const Rules& rules) : graph_(graph), rules_(rules) {
    cut();
    states_.resize(graph_.tensors_.size());
    for (int i = 0; i <= graph_.host_; ++i) {
      // Host buffers are aligned to 32 bytes (TENSOR_ALIGNMENT, ggml/src/ggml-impl.h).
      allocators_.emplace_back(i == graph_.host_ ? 32 : rules_.gpu_alignment);
    }
  }

  std::vector<std::int64_t> allocate() {
    for (const Id id : kept_) allocate(id);
    for (const Id id : graph_.leaves_) allocate(id);
    count();
    for (const Action& a : actions_) run(a);
    std::vector<std::int64_t> out;
    out.reserve(allocators_.size());
    for (const GapAllocator& a : allocators_) out.push_back(a.high_water());
    return out;
  }

 private:
  struct State {
    std::int32_t readers = 0;
    std::int32_t views = 0;
    bool allocated = false;
    std::int8_t device = 0;
    std::int64_t offset = 0;
  };

  [[nodiscard]] State& state(Id id) { return states_[static_cast<std::size_t>(id)]; }
  Tensor& tensor(Id id) { return graph_.at(id); }

  // What lies in memory of its own on another device has to be copied.
  Id copy_of(Id source, std::int8_t device, std::vector<Action>& before) {
    auto& copies = copies_[static_cast<std::size_t>(device)];
    const auto key = static_cast<std::size_t>(source);
    if (copies.size() <= key) copies.resize(key + 1, kNone);
    if (copies[key] != kNone) return copies[key];
    Tensor copy;
    copy.bytes = tensor(source).bytes;
    copy.device = device;
    copy.is_input = copy.is_output = rules_.copies > 1;
    for (int i = 0; i < rules_.copies; ++i) {
      const Id id = graph_.push(copy);
      if (i == 0) copies[key] = id;
      if (rules_.copies > 1) kept_.push_back(id);
    }
    before.push_back({source, true, tensor(source).device});
    before.push_back({copies[key], false, device});
    return copies[key];
  }

  // Host weights that are copied start a run of their own, so that the copy of the
  // run before can be freed.
  bool starts_run(const Tensor& t, std::int8_t device, bool has_inputs) {
    if (t.device != device) return true;
    if (!has_inputs) return false;
    return std::ranges::any_of(t.sources, [&](Id id) {
      return id != kNone && tensor(id).is_weight && tensor(id).device != device;
    });
  }

  void cut() {
    copies_.assign(static_cast<std::size_t>(graph_.host_) + 1, {});
    actions_.reserve(2 * graph_.order_.size());
    std::vector<Action> before;  // copies that the run needs, made at its start
    std::size_t start = 0;
    const auto flush = [&] {
      actions_.insert(actions_.begin() + static_cast<std::ptrdiff_t>(start), before.begin(),
                      before.end());
      before.clear();
      start = actions_.size();
    };
    std::int8_t device = kAnywhere;
    for (const Id id : graph_.order_) {
      if (!tensor(id).is_view) {
        if (device == kAnywhere) device = tensor(id).device;
        if (starts_run(tensor(id), device, !before.empty())) {
          flush();
          device = tensor(id).device;
        }
        for (std::size_t j = 0; j < kSources; ++j) {
          const Id source = tensor(id).sources[j];
          if (source == kNone || tensor(source).device == device) continue;
          const Id copy = copy_of(source, device, before);
          tensor(id).sources[j] = copy;
        }
      }
      actions_.push_back({id, false, tensor(id).device});
    }
    flush();
    if (rules_.copies > 1) keep_inputs();
  }

  // In a pipeline the host's inputs exist as often as there are passes in flight.
  void keep_inputs() {
    std::vector<Id> more;
    const std::vector<bool> read = read_inputs();
    for (const Id id : graph_.leaves_) {
      if (!rules_.copies_all_inputs && !read[static_cast<std::size_t>(id)]) continue;
      tensor(id).is_output = true;
      const Tensor copy = tensor(id);
      more.push_back(id);
      for (int i = 1; i < rules_.copies; ++i) more.push_back(graph_.push(copy));
    }
    kept_.insert(kept_.begin(), more.begin(), more.end());
  }

  // Inputs that some operation or copy reads.
  [[nodiscard]] std::vector<bool> read_inputs() const {
    std::vector<bool> out(graph_.tensors_.size(), false);
    for (const Action& a : actions_) {
      if (a.keeps) out[static_cast<std::size_t>(a.tensor)] = true;
      for (const Id id : graph_.at(a.tensor).sources) {
        if (id != kNone) out[static_cast<std::size_t>(id)] = true;
      }
    }
    return out;
  }

  void count() {
    for (const Action& a : actions_) {
      if (a.keeps) {
        ++state(a.tensor).readers;
        continue;
      }
      const Tensor& t = tensor(a.tensor);
      if (t.viewed != kNone) ++state(t.viewed).views;
      if (t.is_input) allocate(a.tensor);
      for (const Id id : t.sources) {
        if (id == kNone) continue;
        ++state(id).readers;
        if (tensor(id).is_input) allocate(id);
      }
    }
  }

  [[nodiscard]] GapAllocator& allocator(std::int8_t device) {
    return allocators_[static_cast<std::size_t>(device)];
  }

  // Whether the result can lie where the source lies; never where a view lies.
  bool gives_place(const Tensor& t, Id source) {
    const Tensor& s = tensor(source);
    const State& have = state(source);
    return s.viewed == kNone && !s.external && !s.is_output && s.bytes == t.bytes &&
           have.allocated && have.readers == 1 && have.views == 0;
  }

  void allocate(Id id) {
    const Tensor& t = tensor(id);
    State& s = state(id);
    if (s.allocated || t.external || t.viewed != kNone) return;
    s.allocated = true;
    s.device = t.device;
    if (t.in_place) {
      for (const Id source : t.sources) {
        if (source == kNone || !gives_place(t, source)) continue;
        State& from = state(source);
        from.allocated = false;
        s.device = from.device;
        s.offset = from.offset;
        return;
      }
    }
    s.offset = allocator(s.device).take(t.bytes + t.workspace);
  }

  void release(Id id) {
    if (tensor(id).is_output) return;
    State& s = state(id);
    allocator(s.device).give(s.offset, tensor(id).bytes + tensor(id).workspace);
    s.allocated = false;
  }

  void done_reading(Id id) {
    State& s = state(id);
    if (--s.readers > 0 || s.views > 0) return;
    const Tensor& t = tensor(id);
    if (t.viewed == kNone) {
      if (s.allocated) release(id);
      return;
    }
    State& o = state(t.viewed);
    --o.views;
    if (o.views == 0 && o.readers == 0 && o.allocated) release(t.viewed);
  }

  void run(const Action& a) {
    if (a.keeps) {
      done_reading(a.tensor);
      return;
    }
    // A copy of the tensor: allocation may not move it, but reads are easier so.
    const std::array<Id, kSources> sources = tensor(a.tensor).sources;
    for (const Id id : sources) {
      if (id != kNone) allocate(id);
    }
    allocate(a.tensor);
    for (const Id id : sources) {
      if (id != kNone) done_reading(id);
    }
  }

  TensorGraph& graph_;
  Rules rules_;
  std::vector<Action> actions_;
  std::vector<Id> kept_;  // allocated first and never freed
  std::vector<std::vector<Id>> copies_;
  std::vector<State> states_;
  std::vector<GapAllocator> allocators_;
};

std::vector<std::int64_t> TensorGraph::reserve(const Rules& rules) {
  choose_devices(rules.move_operations);
  Plan plan(*this, rules);
  return plan.allocate();
}

}  // namespace cairn::memory
