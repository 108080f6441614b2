// Any bytes as a safetensors file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "cairn/model/safetensors.h"
#include "facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const auto file = parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
  if (!file) {
    fuzz::check(file.error());
    return 0;
  }
  std::uint64_t sum = file->header_bytes;
  for (const SafetensorsTensor& t : file->tensors) sum += t.bytes;
  if (sum != size) std::abort();
  return 0;
}
