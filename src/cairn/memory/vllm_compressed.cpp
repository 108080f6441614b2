#include "cairn/memory/vllm_compressed.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cairn/memory/server_parts.h"

namespace cairn::memory {
namespace {

constexpr std::int64_t kBlock = 256;      // positions
constexpr std::int64_t kWindowPage = 64;  // positions of a window in a page
constexpr std::int64_t kOverlaps = 4;     // entries of so few positions see those before too
constexpr double kFloat = 4;

std::int64_t divided(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// Layers of one kind, and the blocks that a sequence takes in each group of them.
struct Group {
  std::int64_t layers = 0;
  std::int64_t blocks = 0;
};

// An entry in 8 bits: the rotated part stays in 16, and 8 bytes of scales.
double entry_bytes(const AttentionSpec& a, const KvFormat& kv) {
  const std::int64_t width = a.kv_heads * a.head_dim;
  constexpr std::int64_t kRotated = 64;
  constexpr double kScales = 8;
  const std::int64_t rope = a.qk_rope_head_dim > 0 ? a.qk_rope_head_dim : kRotated;
  if (kv.type->block_weights != 1 || kv.type->block_bytes != 1) {
    return kv_bytes(a, kv, 1, 1).value();
  }
  return to_double(width + rope) + kScales;
}

// What the layers of a share keep.
class Contents {
 public:
  Contents(const MemoryDemand& demand, const Share& share) : demand_(&demand) {
    align_ = demand.kv.type->block_weights == 1 && demand.kv.type->block_bytes == 1 ? 576 : 512;
    for (std::int32_t i = share.first_layer; i < share.last_layer; ++i) {
      add(demand.graph->spec.layers[static_cast<std::size_t>(i)].attention);
    }
  }

  // Bytes of a block for one layer of every kind.
  [[nodiscard]] double pages() const {
    double sum = shared_page_ + index_page_;
    for (const auto& [ratio, page] : entry_pages_) {
      if (ratio != fewest()) sum += page;
    }
    return sum;
  }

  [[nodiscard]] std::vector<Group> groups() const {
    std::vector<Group> out;
    std::int64_t most = 0;
    for (const auto& [ratio, layers] : layers_) most = std::max(most, layers);
    if (most > 0) out.push_back({most, divided(demand_->context, kBlock)});
    if (windows_ > 0) out.push_back({windows_, kept_blocks(window_, kWindowPage)});
    for (const auto& [ratio, layers] : layers_) {
      out.push_back({layers, kept_blocks(ratio * copies(ratio), state_positions(ratio))});
    }
    return out;
  }

 private:
  static std::int64_t copies(std::int64_t ratio) { return ratio <= kOverlaps ? 2 : 1; }
  static std::int64_t state_positions(std::int64_t ratio) { return ratio <= kOverlaps ? 4 : 8; }

  [[nodiscard]] std::int64_t fewest() const { return layers_.empty() ? 0 : layers_.begin()->first; }

  [[nodiscard]] double page(double bytes) const {
    return to_double(padded(static_cast<std::int64_t>(bytes), align_));
  }

  [[nodiscard]] std::int64_t kept_blocks(std::int64_t window, std::int64_t positions) const {
    const std::int64_t kept = window - 1 + demand_->config.max_batched_tokens;
    return divided(std::min(kept, demand_->context), positions) + 1;
  }

  // Keys and gates of unfinished entries.
  [[nodiscard]] double state_page(std::int64_t width, std::int64_t ratio) const {
    return page(2 * to_double(copies(ratio) * width * state_positions(ratio)) * kFloat);
  }

  void add(const AttentionSpec& a) {
    if (a.kind != AttentionKind::compressed) return;
    const double entry = entry_bytes(a, demand_->kv);
    if (a.window > 0) {
      ++windows_;
      window_ = std::max(window_, a.window);
      shared_page_ = std::max(shared_page_, page(entry * kWindowPage));
    }
    if (a.compress <= 1) return;
    ++layers_[a.compress];
    const double entries = page(entry * to_double(kBlock / a.compress));
    entry_pages_[a.compress] = entries;
    const std::int64_t width = a.kv_heads * a.head_dim;
    shared_page_ = std::max({shared_page_, entries, state_page(width, a.compress)});
    const Bytes keys = server_index(a, to_double(kBlock / a.compress));
    if (keys.value() <= 0) return;
    index_page_ =
        std::max({index_page_, page(keys.value()), state_page(a.index_head_dim, a.compress)});
  }

  const MemoryDemand* demand_;
  std::int64_t align_ = 0;
  std::int64_t windows_ = 0;  // layers
  std::int64_t window_ = 0;
  std::map<std::int64_t, std::int64_t> layers_;  // by positions of an entry
  std::map<std::int64_t, double> entry_pages_;   // likewise
  double shared_page_ = 0;  // of the smallest entries' layers, windows and states
  double index_page_ = 0;
};

// The layers a group, not fewer than the first has, that need the least filling up; the
// larger of equal ones.
std::int64_t layers_of_group(const std::vector<Group>& groups) {
  std::int64_t most = 0;
  for (const Group& g : groups) most = std::max(most, g.layers);
  std::int64_t best = groups.front().layers;
  std::int64_t least = INT64_MAX;
  for (std::int64_t n = groups.front().layers; n <= most; ++n) {
    std::int64_t filling = 0;
    for (const Group& g : groups) filling += padded(g.layers, n) - g.layers;
    if (filling <= least) {
      least = filling;
      best = n;
    }
  }
  return best;
}

}  // namespace

bool has_compressed(const MemoryDemand& demand, const Share& share) {
  const auto& layers = demand.graph->spec.layers;
  return std::any_of(
      layers.begin() + share.first_layer, layers.begin() + share.last_layer,
      [](const LayerSpec& layer) { return layer.attention.kind == AttentionKind::compressed; });
}

KvPool compressed_pool(const MemoryDemand& demand, const Share& share) {
  const Contents contents(demand, share);
  const std::vector<Group> groups = contents.groups();
  KvPool out;
  out.block_tokens = kBlock;
  if (groups.empty()) return out;
  const std::int64_t layers = layers_of_group(groups);
  out.block = Bytes(contents.pages() * to_double(layers));
  for (const Group& g : groups) {
    const std::int64_t count = divided(g.layers, layers);
    out.groups += count;
    out.sequence_blocks += count * g.blocks;
  }
  return out;
}

}  // namespace cairn::memory
