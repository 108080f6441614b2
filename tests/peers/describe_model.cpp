// Prints what Cairn reads in the header of a model file, a line a fact.
//   describe_model IMAGE FILE
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "cairn/data/image.h"
#include "cairn/model/gguf.h"
#include "cairn/model/safetensors.h"

namespace {

using namespace cairn;

std::string text_of(const GgufValue& value) {
  if (const auto* v = std::get_if<std::int64_t>(&value)) return std::to_string(*v);
  if (const auto* v = std::get_if<double>(&value)) return fmt::format("{:.9g}", *v);
  if (const auto* v = std::get_if<bool>(&value)) return *v ? "true" : "false";
  if (const auto* v = std::get_if<std::string>(&value)) return *v;
  return fmt::format("[{}]", std::get<GgufArray>(value).count);
}

Result<std::string> describe_gguf(const std::string& image_path, const std::string& path) {
  CAIRN_TRY(const Image image, Image::open(image_path));
  CAIRN_TRY(const Node table, image.root("models/tensor_types.csv"));
  CAIRN_TRY(const TensorTypes types, TensorTypes::load(table));
  CAIRN_TRY(const GgufFile file, read_gguf(path, types));
  std::string out = fmt::format("parts {}\nbytes {}\n", file.parts, file.file_bytes);
  for (const auto& [key, value] : file.metadata) {
    out += fmt::format("key {} {}\n", key, text_of(value));
  }
  for (const GgufTensor& t : file.tensors) {
    out += fmt::format("tensor {} {} {} {} {}\n", t.name, t.type->name, t.dimensions, t.weights(),
                       t.bytes);
  }
  return out;
}

Result<std::string> describe_safetensors(const std::string& path) {
  CAIRN_TRY(const SafetensorsFile file, read_safetensors(path));
  std::string out = fmt::format("bytes {}\n", file.file_bytes);
  for (const SafetensorsTensor& t : file.tensors) {
    out +=
        fmt::format("tensor {} {} {} {} {}\n", t.name, t.dtype, t.shape.size(), t.weights, t.bytes);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: describe_model IMAGE FILE\n", stderr);
    return 2;
  }
  const std::string path = argv[2];
  const auto text =
      path.ends_with(".gguf") ? describe_gguf(argv[1], path) : describe_safetensors(path);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().to_string().c_str());
    return 2;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
