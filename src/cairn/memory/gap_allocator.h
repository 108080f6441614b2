// Gaps in a growing buffer, taken and given back as ggml's allocator does: the
// smallest gap that holds a tensor, the end of the buffer only if none does
// (ggml_dyn_tallocr, ggml/src/ggml-alloc.c of https://github.com/ggml-org/llama.cpp).
// Not for other rooms.
#pragma once

#include <cstdint>
#include <vector>

namespace cairn::memory {

class GapAllocator {
 public:
  /// Sizes are rounded up to multiples of `alignment` bytes.
  explicit GapAllocator(std::int64_t alignment);
  /// The offset of `bytes` bytes.
  std::int64_t take(std::int64_t bytes);
  void give(std::int64_t offset, std::int64_t bytes);
  /// Bytes of the buffer at its largest.
  [[nodiscard]] std::int64_t high_water() const { return high_water_; }

 private:
  struct Gap {
    std::int64_t offset = 0;
    std::int64_t size = 0;
  };
  [[nodiscard]] std::int64_t aligned(std::int64_t bytes) const;

  std::int64_t alignment_;
  std::int64_t high_water_ = 0;
  std::vector<Gap> gaps_;  // by offset; the last is the endless rest
};

}  // namespace cairn::memory
