// Asks the catalogue how much memory an accelerator has:
//   consumer IMAGE ID        consumer /usr/local/share/cairn/cairn.image mi300x
#include <cstdio>

#include "cairn/hardware/catalogue.h"
#include "cairn/report/number.h"

namespace {

cairn::Result<void> answer(const char* path, const char* id) {
  CAIRN_TRY(const cairn::Image image, cairn::Image::open(path));
  CAIRN_TRY(const auto catalogue, cairn::AcceleratorCatalogue::load(image));
  CAIRN_TRY(const cairn::Accelerator* const card, catalogue.find(id));
  std::printf("%s: %s\n", card->name.c_str(), cairn::format(card->memory).c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: consumer IMAGE ID\n", stderr);
    return 2;
  }
  const auto done = answer(argv[1], argv[2]);
  if (done) return 0;
  std::fprintf(stderr, "consumer: %s\n", done.error().to_string().c_str());
  return 2;
}
