// Any text as CSV, read as a table.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cairn/data/csv.h"
#include "walk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_csv(text, "fuzz.csv", {.nodes = 100'000});
  if (!document) {
    if (document.error().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  fuzz::walk(document->root());
  const auto table = Table::from(document->root());
  if (!table) std::abort();
  for (std::uint32_t i = 0; i < table->rows(); ++i) {
    for (std::uint32_t c = 0; c < table->columns().size(); ++c) {
      static_cast<void>(table->row(i).number(c));
      static_cast<void>(table->row(i).required(c));
    }
  }
  return 0;
}
