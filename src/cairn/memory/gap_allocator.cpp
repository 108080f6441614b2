#include "cairn/memory/gap_allocator.h"

#include <algorithm>
#include <limits>

namespace cairn::memory {

GapAllocator::GapAllocator(std::int64_t alignment)
    : alignment_(alignment), gaps_{{0, std::numeric_limits<std::int64_t>::max() / 2}} {}

std::int64_t GapAllocator::aligned(std::int64_t bytes) const {
  return (bytes + alignment_ - 1) / alignment_ * alignment_;
}

std::int64_t GapAllocator::take(std::int64_t bytes) {
  const std::int64_t size = aligned(bytes);
  auto best = gaps_.end() - 1;
  for (auto gap = gaps_.begin(); gap != gaps_.end() - 1; ++gap) {
    const bool better = best == gaps_.end() - 1 || gap->size <= best->size;
    if (gap->size >= size && better) best = gap;
  }
  const std::int64_t offset = best->offset;
  best->offset += size;
  best->size -= size;
  if (best->size == 0) gaps_.erase(best);
  high_water_ = std::max(high_water_, offset + size);
  return offset;
}

void GapAllocator::give(std::int64_t offset, std::int64_t bytes) {
  const std::int64_t size = aligned(bytes);
  if (size == 0) return;
  auto next = std::ranges::lower_bound(gaps_, offset, {}, &Gap::offset);
  const bool joins_next = next != gaps_.end() && offset + size == next->offset;
  const bool joins_last = next != gaps_.begin() && (next - 1)->offset + (next - 1)->size == offset;
  if (joins_last) {
    (next - 1)->size += size;
    if (joins_next) {
      (next - 1)->size += next->size;
      gaps_.erase(next);
    }
  } else if (joins_next) {
    next->offset = offset;
    next->size += size;
  } else {
    gaps_.insert(next, {offset, size});
  }
}

}  // namespace cairn::memory
