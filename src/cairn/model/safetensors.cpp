#include "cairn/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "cairn/data/json.h"
#include "cairn/model/byte_source.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint32_t kMaxDimensions = 32;

struct Dtype {
  std::string_view name;
  std::uint32_t bits;
};

// https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs
constexpr std::array<Dtype, 22> kDtypes = {{
    {"BOOL", 8},        {"U8", 8},      {"I8", 8},      {"F4", 4},      {"F6_E2M3", 6},
    {"F6_E3M2", 6},     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"F64", 64},    {"I64", 64},
    {"U64", 64},        {"C64", 64},
}};

struct Entry {
  SafetensorsTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Result<std::uint64_t> offset_at(Node offsets, std::uint32_t i) {
  CAIRN_TRY(const std::int64_t value, offsets.at(i).integer());
  if (value < 0) return fail(offsets.at(i).error("a negative offset"));
  return static_cast<std::uint64_t>(value);
}

Result<void> read_shape(Node shape, SafetensorsTensor& t) {
  if (!shape.is_sequence() || shape.size() > kMaxDimensions) {
    return fail(shape.error("not a shape").in(t.name).want("a list of sizes"));
  }
  t.weights = 1;
  for (std::uint32_t i = 0; i < shape.size(); ++i) {
    CAIRN_TRY(const std::int64_t size, shape.at(i).integer());
    constexpr std::int64_t kMost = std::int64_t{1} << 56U;
    if (size < 0 || (size > 0 && t.weights > kMost / size)) {
      return fail(shape.at(i).error("a dimension out of range").in(t.name));
    }
    t.weights *= size;
    t.shape.push_back(size);
  }
  return {};
}

Result<Entry> read_entry(const Member& member) {
  static constexpr std::array<std::string_view, 3> kKeys = {"dtype", "shape", "data_offsets"};
  const Node node = member.value;
  if (!node.is_mapping()) return fail(node.error("not a tensor").in(std::string(member.key)));
  CAIRN_CHECK(node.only(kKeys));
  Entry entry;
  SafetensorsTensor& t = entry.tensor;
  t.name = member.key;
  CAIRN_TRY(const std::string_view dtype, node.get<std::string_view>("dtype"));
  const auto* const known = std::ranges::find(kDtypes, dtype, &Dtype::name);
  if (known == kDtypes.end()) {
    return fail(node.error("unknown dtype").in(t.name).got(dtype));
  }
  t.dtype = known->name;
  CAIRN_TRY(const Node shape, node.required("shape"));
  CAIRN_CHECK(read_shape(shape, t));
  CAIRN_TRY(const Node offsets, node.required("data_offsets"));
  if (!offsets.is_sequence() || offsets.size() != 2) {
    return fail(offsets.error("not a pair of offsets").in(t.name));
  }
  CAIRN_TRY(entry.begin, offset_at(offsets, 0));
  CAIRN_TRY(entry.end, offset_at(offsets, 1));
  const std::uint64_t bits = static_cast<std::uint64_t>(t.weights) * known->bits;
  if (entry.end < entry.begin || bits % 8 != 0 || entry.end - entry.begin != bits / 8) {
    return fail(offsets.error("offsets that are not the size of the shape")
                    .in(t.name)
                    .got(fmt::format("{} to {}", entry.begin, entry.end))
                    .want(fmt::format("{} bytes", bits / 8)));
  }
  t.bytes = bits / 8;
  return entry;
}

// The tensors fill the data without gaps.
Result<void> check_layout(const SafetensorsFile& file, const std::vector<Entry>& entries) {
  std::uint64_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at) {
      return fail(bad_input(e.begin < at ? "tensors overlap" : "a gap between tensors")
                      .at(file.path)
                      .in(e.tensor.name)
                      .got(std::to_string(e.begin))
                      .want(std::to_string(at)));
    }
    at = e.end;
  }
  const std::uint64_t room = file.file_bytes - file.header_bytes;
  if (at == room) return {};
  return fail(bad_input(at > room ? "the file is truncated: tensors end beyond it"
                                  : "bytes after the last tensor")
                  .at(file.path)
                  .got(fmt::format("{} bytes", file.file_bytes))
                  .want(fmt::format("{} bytes", file.header_bytes + at)));
}

Result<SafetensorsFile> read_header(ByteSource& source) {
  SafetensorsFile file;
  file.path = source.name();
  file.file_bytes = source.size();
  CAIRN_TRY(const auto length, source.number<std::uint64_t>());
  if (length > kMaxHeader || length > source.left()) {
    return fail(bad_input("not a safetensors file: a header longer than can be")
                    .at(file.path)
                    .got(fmt::format("{} bytes", length))
                    .want(fmt::format("at most {}", std::min(kMaxHeader, source.left()))));
  }
  CAIRN_TRY(const std::string text, source.text(length));
  file.header_bytes = source.position();
  if (!text.starts_with('{')) {
    return fail(bad_input("not a safetensors file: the header is no JSON object").at(file.path));
  }
  CAIRN_TRY(const Document document, parse_json(text, file.path));
  const Node root = document.root();
  std::vector<Entry> entries;
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    const Member member = root.member(i);
    if (member.key == "__metadata__") continue;
    CAIRN_TRY(Entry entry, read_entry(member));
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  CAIRN_CHECK(check_layout(file, entries));
  for (Entry& e : entries) file.tensors.push_back(std::move(e.tensor));
  return file;
}

}  // namespace

Result<SafetensorsFile> read_safetensors(const std::string& path) {
  CAIRN_TRY(ByteSource source, ByteSource::open(path));
  return read_header(source);
}

Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes, std::string name) {
  ByteSource source(bytes, std::move(name));
  return read_header(source);
}

}  // namespace cairn
