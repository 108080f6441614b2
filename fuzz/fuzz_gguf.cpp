// Any bytes as a GGUF file: read, turned into a model, bound and summed.
#include <cstddef>
#include <cstdint>
#include <span>

#include "cairn/model/gguf.h"
#include "facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const fuzz::Facts& facts = fuzz::facts();
  const auto file = parse_gguf(std::as_bytes(std::span(data, size)), "fuzz.gguf", facts.types);
  if (!file) {
    fuzz::check(file.error());
    return 0;
  }
  // Tensors lie in the file without overlap.
  if (file->tensor_bytes() > size) std::abort();
  auto spec = spec_from_gguf(*file);
  if (!spec) {
    fuzz::check(spec.error());
    return 0;
  }
  const Graph graph = build_graph(*std::move(spec));
  const auto weights = bind_gguf(*file, graph, facts.formats);
  if (!weights) {
    fuzz::check(weights.error());
    return 0;
  }
  const Bytes sum = weights->bound.total(graph) + weights->other_bytes;
  if (sum.value() != static_cast<double>(file->tensor_bytes())) std::abort();
  return 0;
}
