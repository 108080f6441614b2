// Any text as YAML.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cairn/data/yaml.h"
#include "walk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = cairn::parse_yaml(text, "fuzz.yaml", {.nodes = 100'000});
  if (document) {
    cairn::fuzz::walk(document->root());
  } else if (document.error().to_string().find('\n') != std::string::npos) {
    std::abort();
  }
  return 0;
}
