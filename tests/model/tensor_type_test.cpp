#include "cairn/model/tensor_type.h"

#include <gtest/gtest.h>

#include "facts.h"

namespace cairn {
namespace {

const TensorType& type(std::string_view name) {
  const TensorType* const found = test::facts().types.find(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

// Bits per weight as llama.cpp documents its blocks, and of the layouts by hand.
TEST(TensorTypes, BitsPerWeight) {
  EXPECT_DOUBLE_EQ(type("f32").bits_per_weight(), 32);
  EXPECT_DOUBLE_EQ(type("q4_0").bits_per_weight(), 4.5);
  EXPECT_DOUBLE_EQ(type("q8_0").bits_per_weight(), 8.5);
  EXPECT_DOUBLE_EQ(type("q6_k").bits_per_weight(), 6.5625);
  EXPECT_DOUBLE_EQ(type("iq1_s").bits_per_weight(), 1.5625);
  EXPECT_DOUBLE_EQ(type("mxfp4").bits_per_weight(), 4.25);     // 4 + 8/32
  EXPECT_DOUBLE_EQ(type("nvfp4-g16").bits_per_weight(), 4.5);  // 4 + 8/16
  EXPECT_DOUBLE_EQ(type("mxfp6").bits_per_weight(), 6.25);     // 6 + 8/32
  EXPECT_DOUBLE_EQ(type("bnb-nf4").bits_per_weight(), 4.5);    // 4 + 32/64
  // 4 + 8/64 + 32/16384
  EXPECT_DOUBLE_EQ(type("bnb-nf4-dq").bits_per_weight(), 4.126953125);
  // 4 + (16 bits of scale + 4 bits of zero) / 128
  EXPECT_DOUBLE_EQ(type("awq-int4-g128").bits_per_weight(), 4.15625);
  EXPECT_DOUBLE_EQ(type("fp8-block").bits_per_weight(), 8 + 32.0 / 16384);
}

TEST(TensorTypes, BytesOfMatrices) {
  // 4096 rows of 4096 / 256 blocks of 144 bytes.
  EXPECT_EQ(type("q4_k").bytes(4096, 4096).value(), 4096.0 * 16 * 144);
  // Rows are padded to whole blocks: 40 weights take two blocks of 32.
  EXPECT_EQ(type("q8_0").bytes(3, 40).value(), 3.0 * 2 * 34);
  // A scale of 4 bytes for each started block of 128 x 128: 576 x 7168 takes 5 x 56.
  EXPECT_EQ(type("fp8-block").bytes(576, 7168).value(), 576.0 * 7168 + 5 * 56 * 4);
  // One scale for the tensor, for each row.
  EXPECT_EQ(type("fp8").bytes(10, 100).value(), 1004);
  EXPECT_EQ(type("int8-channel").bytes(10, 100).value(), 1020);
  // qweight [in/8, out] and qzeros [in/128, out/8] of int32, scales [in/128, out]
  // of fp16, g_idx [in] of int32.
  const double in = 4096;
  const double out = 11008;
  EXPECT_EQ(type("gptq-int4-g128").bytes(out, in).value(),
            in / 8 * out * 4 + in / 128 * out / 8 * 4 + in / 128 * out * 2 + in * 4);
  // Three bits: 32 weights in three words.
  EXPECT_EQ(type("gptq-int3-g64").bytes(out, in).value(),
            in / 32 * 3 * out * 4 + in / 64 * out / 32 * 3 * 4 + in / 64 * out * 2 + in * 4);
  // weight_packed [out, in/8] and weight_zero_point [out/8, in/64] of int32, weight_scale
  // [out, in/64] of bf16, weight_shape of two int64.
  EXPECT_EQ(type("int4-g64-zp").bytes(out, in).value(),
            out * in / 8 * 4 + out / 8 * in / 64 * 4 + out * in / 64 * 2 + 16);
  EXPECT_EQ(type("awq-int4-g128").bytes(out, in).value(),
            in * out / 8 * 4 + in / 128 * out / 8 * 4 + in / 128 * out * 2);
}

// Two of four weights with their places in two bits each: for eight weights four numbers
// and a byte.
TEST(TensorTypes, StructuredZeros) {
  EXPECT_DOUBLE_EQ(type("bf16-24").bits_per_weight(), 16 / 2.0 + 1);
  EXPECT_DOUBLE_EQ(type("fp8-channel-24").bits_per_weight(), 8 / 2.0 + 1);
  EXPECT_DOUBLE_EQ(type("int4-g128-24").bits_per_weight(), 4 / 2.0 + 1 + 16 / 128.0);
  for (const TensorType& t : test::facts().types.all()) {
    EXPECT_EQ(t.sparse, t.name.ends_with("-24")) << t.name;
  }
}

TEST(TensorTypes, NumbersOfGguf) {
  const TensorTypes& types = test::facts().types;
  EXPECT_EQ(types.find_ggml(12)->name, "q4_k");
  EXPECT_EQ(types.find_ggml(39)->name, "mxfp4");
  EXPECT_EQ(types.find_ggml(4), nullptr);  // q4_2 was removed
  EXPECT_EQ(types.find_ggml(99), nullptr);
  EXPECT_EQ(type("fp8").ggml_id, std::nullopt);
}

// Refused, with the line and the field.
TEST(TensorTypes, MalformedTables) {
  constexpr std::string_view kHeader =
      "name,ggml_id,weights_per_block,bytes_per_block,scales,numbers,sparsity,status\n";
  const auto error = [&](std::string_view row) {
    const Document document =
        test::value_of(parse_csv(std::string(kHeader) + std::string(row) + "\n", "types.csv"));
    const auto types = TensorTypes::load(document.root());
    EXPECT_FALSE(types) << row;
    return types ? Error{} : types.error();
  };
  EXPECT_EQ(error("a,,0,4,,f32,,current").field, "weights_per_block");
  EXPECT_EQ(error("a,,1.5,4,,f32,,current").field, "weights_per_block");
  EXPECT_EQ(error("a,,1,,,f32,,current").field, "bytes_per_block");
  EXPECT_EQ(error("a,,1,4,128:4,f32,,current").field, "scales");
  EXPECT_EQ(error("a,,1,4,1x2:4;,f99,,current").field, "numbers");
  EXPECT_EQ(error("a,,1,4,,f32,1:2,current").field, "sparsity");
  EXPECT_EQ(error("a,,1,4,,f32,,current\na,,1,4,,f32,,current").field, "name");
  EXPECT_EQ(error("a,7,1,4,,f32,,current\nb,7,1,4,,f32,,current").field, "name");
  EXPECT_EQ(error("a,,1,4,,f32,,current\n,,1,4,,f32,,current").where, "types.csv:3");
}

}  // namespace
}  // namespace cairn
