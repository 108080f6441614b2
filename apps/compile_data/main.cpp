// Compiles the fact files of a folder (YAML, CSV) into one image.
//   cairn_compile_data DATA_DIR OUTPUT FILE...
// FILE is relative to DATA_DIR and becomes the document's name.
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "cairn/data/csv.h"
#include "cairn/data/image.h"
#include "cairn/data/yaml.h"

namespace {

cairn::Result<cairn::Document> load(const std::string& path, const std::string& name) {
  CAIRN_TRY(const std::string text, cairn::read_file(path, cairn::ParseLimits{}.bytes));
  if (name.ends_with(".yaml")) return cairn::parse_yaml(text, name);
  if (name.ends_with(".csv")) return cairn::parse_csv(text, name);
  return cairn::fail(cairn::bad_input("not a fact file").at(name).want("*.yaml or *.csv"));
}

cairn::Result<void> compile(std::span<char*> args) {
  std::vector<cairn::Document> documents;
  for (const std::string name : args.subspan(2)) {
    CAIRN_TRY(cairn::Document document, load(std::string(args[0]) + "/" + name, name));
    documents.push_back(std::move(document));
  }
  return cairn::write_image(args[1], documents);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: cairn_compile_data DATA_DIR OUTPUT FILE...\n", stderr);
    return 2;
  }
  const auto done = compile(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  if (done) return 0;
  std::fprintf(stderr, "error: %s\n", done.error().to_string().c_str());
  return 2;
}
