// The GGUF reader: what it reads, and what it refuses.
#include "cairn/model/gguf.h"

#include <gtest/gtest.h>

#include <limits>

#include "gguf_writer.h"

namespace cairn {
namespace {

using test::Bytestring;
using test::GgufWriter;
using test::parse;
using test::TemporaryFolder;
using test::value_of;

TEST(Gguf, MetadataAndTensors) {
  for (const std::uint32_t version : {1U, 2U, 3U}) {
    GgufWriter w(version);
    w.text("general.architecture", "llama").u32("llama.block_count", 7);
    w.texts("tokenizer.ggml.tokens", {"a", "", "long enough"}).u32s("heads", {4, 8, 8});
    w.bools("flags", {true, false}).raw("real", 6, Bytestring().put(0.5F).bytes);
    w.raw("small", 1, Bytestring().put(std::int8_t{-3}).bytes);
    w.raw("yes", 7, std::string_view("\1", 1));
    w.tensor("a", {32, 3}, 8).tensor("b", {5}, 0).tensor("c", {256, 2, 4}, 14);
    const GgufFile f = value_of(parse(w.file()));
    EXPECT_EQ(f.version, version);
    EXPECT_EQ(value_of(f.text("general.architecture")), "llama");
    EXPECT_EQ(value_of(f.integer("llama.block_count", 1, 10)), 7);
    EXPECT_EQ(value_of(f.integer("small", -10, 0)), -3);
    EXPECT_EQ(std::get<double>(*f.find("real")), 0.5);
    EXPECT_EQ(std::get<bool>(*f.find("yes")), true);
    EXPECT_EQ(std::get<GgufArray>(*f.find("tokenizer.ggml.tokens")).count, 3U);
    EXPECT_EQ(std::get<GgufArray>(*f.find("flags")).values, (std::vector<double>{1, 0}));
    EXPECT_EQ(value_of(f.per_layer("heads", 3, 1, 64)), (std::vector<std::int64_t>{4, 8, 8}));
    EXPECT_EQ(value_of(f.per_layer("llama.block_count", 2, 1, 64)),
              (std::vector<std::int64_t>{7, 7}));
    ASSERT_EQ(f.tensors.size(), 3U);
    EXPECT_EQ(f.tensors[0].bytes, 3U * 34);
    EXPECT_EQ(f.tensors[1].bytes, 20U);
    EXPECT_EQ(f.tensors[2].bytes, 8U * 210);
    EXPECT_EQ(f.tensor_bytes(), 102U + 20 + 1680);
    EXPECT_EQ(f.weights(), 96 + 5 + 2048);
    EXPECT_EQ(f.header_bytes, w.header().size());
    EXPECT_EQ(f.find_tensor("c")->type->name, "q6_k");
  }
}

TEST(Gguf, LookUpsSayWhichKey) {
  const GgufFile f = value_of(parse(GgufWriter().u32("n", 7).text("t", "x").file()));
  EXPECT_EQ(f.integer("missing", 0, 9).error().field, "missing");
  EXPECT_EQ(f.integer("t", 0, 9).error().message, "not a whole number");
  EXPECT_EQ(f.integer("n", 0, 6).error().value, "7");
  EXPECT_EQ(f.text("n").error().message, "not a text");
  EXPECT_EQ(value_of(f.integer_or("missing", 5, 0, 9)), 5);
  EXPECT_FALSE(f.per_layer("t", 3, 0, 9));
}

TEST(Gguf, ArraysAreCountedAndPassedOver) {
  GgufWriter w;
  w.u32s("long", std::vector<std::uint32_t>(5000, 1));
  w.text("after", "here");
  w.raw("nested", 9,
        Bytestring()
            .put(9U)
            .put(std::uint64_t{1})
            .put(4U)
            .put(std::uint64_t{2})
            .put(std::uint64_t{0})
            .bytes);
  const GgufFile f = value_of(parse(w.file()));
  EXPECT_EQ(std::get<GgufArray>(*f.find("long")).count, 5000U);
  EXPECT_TRUE(std::get<GgufArray>(*f.find("long")).values.empty());
  EXPECT_EQ(value_of(f.text("after")), "here");
}

// A file of 1 TiB costs what its header costs: its data is a hole.
TEST(Gguf, FilesLargerThanMemory) {
  const TemporaryFolder folder;
  GgufWriter w;
  w.tensor("huge", {1U << 20U, 1U << 18U}, 0);  // 2^38 weights of 4 bytes
  const std::string path =
      folder.write("huge.gguf", w.header(), w.header().size() + w.data_bytes());
  const GgufFile f = value_of(read_gguf(path, test::facts().types));
  EXPECT_EQ(f.tensor_bytes(), std::uint64_t{1} << 40U);
  EXPECT_EQ(f.file_bytes, w.header().size() + (std::uint64_t{1} << 40U));
}

struct Hostile {
  std::string_view what;
  std::string bytes;
  std::string_view message;  // part of it
};

std::string preamble(std::uint64_t tensors, std::uint64_t keys) {
  return Bytestring().put(0x46554747U).put(3U).put(tensors).put(keys).bytes;
}

std::string name(std::string_view text) {
  return Bytestring().put(static_cast<std::uint64_t>(text.size())).bytes + std::string(text);
}

std::string tensor(std::string_view label, std::vector<std::uint64_t> size, std::uint32_t type,
                   std::uint64_t offset) {
  Bytestring out;
  out.bytes = name(label);
  out.put(static_cast<std::uint32_t>(size.size()));
  for (const std::uint64_t n : size) out.put(n);
  return out.put(type).put(offset).bytes;
}

std::vector<Hostile> hostile_files() {
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  const std::string filler(4096, '\0');
  const auto key = [&](std::uint32_t type, const std::string& value) {
    return preamble(0, 1) + name("k") + Bytestring().put(type).bytes + value;
  };
  const auto array = [&](std::uint32_t type, std::uint64_t count) {
    return key(9, Bytestring().put(type).put(count).bytes) + filler;
  };
  const auto one = [&](const std::string& t) { return preamble(1, 0) + t + filler; };
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += Bytestring().put(9U).put(std::uint64_t{1}).bytes;
  return {
      {"empty", "", "ends in the middle"},
      {"another format", "PK\3\4" + filler, "not a GGUF file"},
      {"big endian", Bytestring().put(0x46554747U).put(0x03000000U).bytes + filler, "big-endian"},
      {"version 0", Bytestring().put(0x46554747U).put(0U).bytes + filler, "unknown version"},
      {"version 4", Bytestring().put(0x46554747U).put(4U).bytes + filler, "unknown version"},
      {"2^64 tensors", preamble(kHuge, 0) + filler, "too large a count"},
      {"2^64 keys", preamble(0, kHuge) + filler, "too large a count"},
      {"keys that are not there", preamble(0, 60000), "ends in the middle"},
      {"a name of 2^64 bytes", preamble(0, 1) + Bytestring().put(kHuge).bytes + filler,
       "too large a count"},
      {"an empty name", preamble(0, 1) + name("") + filler, "an empty name"},
      {"a text of 2^63 bytes", key(8, Bytestring().put(std::uint64_t{1} << 63U).bytes) + filler,
       "too large a count"},
      {"a text beyond the file", key(8, Bytestring().put(std::uint64_t{100}).bytes),
       "too large a count"},
      {"4 billion texts", array(8, std::uint64_t{1} << 32U), "too large a count"},
      {"4 billion numbers", array(4, std::uint64_t{1} << 32U), "too large a count"},
      {"numbers beyond the file", array(11, 4000), "ends in the middle"},
      {"an array of no type", array(77, 1), "unknown type of element"},
      {"arrays in arrays", key(9, nested) + filler, "nested too deep"},
      {"a value of no type", key(13, filler), "unknown type of value"},
      {"a key that would write to a terminal",
       preamble(0, 1) + name("k\n\x1b[31m") + Bytestring().put(13U).bytes + filler,
       "k??[31m: unknown type of value"},
      {"a truth value of 2", key(7, "\2") + filler, "not a truth value"},
      {"a number of 64 bits", key(10, Bytestring().put(kHuge).bytes), "beyond 63 bits"},
      {"the same key twice",
       preamble(0, 2) + (name("k") + Bytestring().put(0U).bytes + "\1") + name("k") + filler,
       "the same key twice"},
      {"alignment 0", GgufWriter().u32("general.alignment", 0).file(), "out of range"},
      {"alignment 24", GgufWriter().u32("general.alignment", 24).file(), "power of two"},
      {"alignment as text", GgufWriter().text("general.alignment", "32").file(),
       "not a whole number"},
      {"no dimensions", one(tensor("t", {}, 0, 0)), "1 to 4 dimensions"},
      {"five dimensions", one(tensor("t", {1, 1, 1, 1, 1}, 0, 0)), "1 to 4 dimensions"},
      {"a dimension of 0", one(tensor("t", {0, 4}, 0, 0)), "dimension out of range"},
      {"a dimension of 2^63", one(tensor("t", {std::uint64_t{1} << 63U}, 0, 0)),
       "dimension out of range"},
      {"a product beyond 64 bits",
       one(tensor("t", {1U << 31U, 1U << 31U, 1U << 31U, 1U << 31U}, 0, 0)),
       "dimension out of range"},
      {"the same tensor twice",
       preamble(2, 0) + tensor("t", {1}, 0, 0) + tensor("t", {1}, 0, 32) + filler,
       "the same tensor twice"},
      {"an unknown type", one(tensor("t", {32}, 200, 0)), "unknown type of tensor"},
      {"a removed type", one(tensor("t", {32}, 4, 0)), "unknown type of tensor"},
      {"a type of 32 bits", one(tensor("t", {32}, 0xffffffffU, 0)), "unknown type of tensor"},
      {"half a block", one(tensor("t", {100}, 12, 0)), "no whole number of q4_k blocks"},
      {"an offset off the grid", one(tensor("t", {1}, 0, 7)), "not aligned"},
      {"an offset of 2^64", one(tensor("t", {1}, 0, kHuge - 31)), "truncated"},
      {"overlap", preamble(2, 0) + tensor("a", {16}, 0, 0) + tensor("b", {16}, 0, 32) + filler,
       "tensors overlap"},
  };
}

TEST(Gguf, HostileFilesAreOneLineOfError) {
  for (const Hostile& h : hostile_files()) {
    const auto file = parse(h.bytes);
    ASSERT_FALSE(file) << h.what;
    const std::string line = file.error().to_string();
    EXPECT_NE(line.find(h.message), std::string::npos) << h.what << ": " << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << h.what;
    EXPECT_NE(line.find("test.gguf"), std::string::npos) << h.what << ": " << line;
  }
}

// Cut anywhere, a file is refused or, behind its last tensor, complete.
TEST(Gguf, EveryTruncationIsNoticed) {
  GgufWriter w;
  w.text("general.architecture", "llama").texts("words", {"a", "b"}).u32s("n", {1, 2});
  w.tensor("a", {32, 2}, 8).tensor("b", {16}, 0);
  const std::string whole = w.file();
  ASSERT_TRUE(parse(whole));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(parse(std::string_view(whole).substr(0, n))) << n;
  }
  const auto cut = parse(std::string_view(whole).substr(0, whole.size() - 1));
  EXPECT_EQ(cut.error().message, "the file is truncated: a tensor ends beyond it");
  EXPECT_EQ(cut.error().expected, "at least " + std::to_string(whole.size()) + " bytes");
}

TEST(Gguf, FilesThatAreNone) {
  const TensorTypes& types = test::facts().types;
  const TemporaryFolder folder;
  EXPECT_EQ(read_gguf(folder.file("none.gguf"), types).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_gguf(folder.path(), types).error().message, "not a regular file");
}

// ---- split models -------------------------------------------------------------

GgufWriter part(std::uint32_t number, std::uint32_t count, std::uint32_t tensors) {
  GgufWriter w;
  if (number == 0) w.text("general.architecture", "llama");
  w.raw("split.no", 2, Bytestring().put(static_cast<std::uint16_t>(number)).bytes);
  w.raw("split.count", 2, Bytestring().put(static_cast<std::uint16_t>(count)).bytes);
  w.raw("split.tensors.count", 5, Bytestring().put(static_cast<std::int32_t>(tensors)).bytes);
  w.tensor("t" + std::to_string(number), {64}, 0);
  return w;
}

TEST(Gguf, SplitModels) {
  const TensorTypes& types = test::facts().types;
  const TemporaryFolder folder;
  const auto path = [&](int i) {
    return folder.file("m-0000" + std::to_string(i + 1) + "-of-00003.gguf");
  };
  for (const std::uint32_t i : {0U, 1U, 2U}) {
    const std::string file = path(static_cast<int>(i));
    folder.write(file.substr(folder.path().size() + 1), part(i, 3, 3).file());
  }
  for (const int given : {0, 1, 2}) {
    const GgufFile f = value_of(read_gguf(path(given), types));
    EXPECT_EQ(f.parts, 3U);
    ASSERT_EQ(f.tensors.size(), 3U);
    EXPECT_EQ(f.tensors[2].part, 2U);
    EXPECT_EQ(f.tensor_bytes(), 3U * 256);
    EXPECT_EQ(value_of(f.text("general.architecture")), "llama");
    EXPECT_EQ(f.file_bytes, 2 * part(1, 3, 3).file().size() + part(0, 3, 3).file().size());
  }
  // A missing part is named.
  std::filesystem::rename(path(1), folder.file("elsewhere-00002-of-00003.gguf"));
  const auto missing = read_gguf(path(0), types);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_EQ(missing.error().where, path(1));
  // A part in the place of another, a tensor too few, and a name without numbers.
  folder.write("m-00002-of-00003.gguf", part(2, 3, 3).file());
  EXPECT_EQ(read_gguf(path(0), types).error().field, "split.no");
  folder.write("m-00002-of-00003.gguf", part(1, 3, 3).file());
  folder.write("m-00001-of-00003.gguf", part(0, 3, 4).file());
  EXPECT_EQ(read_gguf(path(0), types).error().field, "split.tensors.count");
  EXPECT_EQ(read_gguf(folder.write("alone.gguf", part(0, 3, 3).file()), types).error().field,
            "split.count");
}

}  // namespace
}  // namespace cairn
