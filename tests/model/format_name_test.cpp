#include "cairn/model/format_name.h"

#include <gtest/gtest.h>

#include "facts.h"
#include "shapes.h"

namespace cairn {
namespace {

using test::facts;
using test::value_of;

TEST(FormatNames, AreReadAndWritten) {
  const FormatName name =
      value_of(parse_format_name("nvfp4+attention,shared@0-2,60:bf16+output:fp8"));
  EXPECT_EQ(name.base, "nvfp4");
  ASSERT_EQ(name.exceptions.size(), 2U);
  EXPECT_EQ(name.exceptions[0].tensors, (std::vector<std::string>{"attention", "shared"}));
  EXPECT_EQ(name.exceptions[0].type, "bf16");
  for (const std::int32_t layer : {0, 2, 60}) EXPECT_TRUE(name.exceptions[0].in_layers(layer));
  for (const std::int32_t layer : {-1, 3, 59}) EXPECT_FALSE(name.exceptions[0].in_layers(layer));
  EXPECT_TRUE(name.exceptions[1].in_layers(-1));
  EXPECT_EQ(name.to_string(), "nvfp4+attention,shared@0-2,60:bf16+output:fp8");
  EXPECT_EQ(base_format("q4_k_m+output:q8_0"), "q4_k_m");
  EXPECT_EQ(base_format("q4_k_m"), "q4_k_m");
}

TEST(FormatNames, MalformedOnesAreRefused) {
  for (const char* name : {"bf16+", "bf16+attention", "bf16+attention:", "bf16+:fp8",
                           "bf16+attention@:fp8", "bf16+attention@3-1:fp8", "bf16+attention@x:fp8",
                           "bf16+a,,b:fp8", "bf16+a@1-:fp8", "bf16+a@99999999999:fp8"}) {
    const auto parsed = parse_format_name(name);
    ASSERT_FALSE(parsed) << name;
    EXPECT_EQ(parsed.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(parsed.error().value, name);
  }
  std::string many = "bf16";
  for (int i = 0; i < 1001; ++i) many += "+attention:fp8";
  EXPECT_FALSE(parse_format_name(many));
}

double bytes(const Graph& graph, std::string_view format) {
  return value_of(facts().formats.bind(graph, format)).total(graph).value();
}

// llama-quantize --token-embedding-type q8_0: Llama 3.1 8B has an untied table of
// 128256 x 4096 weights, in q4_k of 4.5 bits otherwise.
TEST(FormatNames, ExceptionsOfRecipes) {
  const Graph graph = build_graph(test::spec_named("llama-3.1-8b"));
  const double table = 128256.0 * 4096;
  EXPECT_EQ(bytes(graph, "Q4_K_M+token_embd:q8_0"),
            bytes(graph, "q4_k_m") + table * (8.5 - 4.5) / 8);
  const BoundWeights bound = value_of(facts().formats.bind(graph, "Q4-K-M+token_embd:q8_0"));
  EXPECT_EQ(bound.format, "q4_k_m+token_embd:q8_0");
  EXPECT_EQ(facts().formats.find("Q4_K_M+output:f16")->name, "q4_k_m");
  // The values of layers 0 and 31 of 4096 x 1024 weights.
  EXPECT_EQ(bytes(graph, "bf16+attn_v@0,31:fp8"), bytes(graph, "bf16") - 2 * 4096.0 * 1024 + 2 * 4);
  // The last one decides.
  EXPECT_EQ(bytes(graph, "bf16+attention:fp8+attention:bf16"), bytes(graph, "bf16"));
}

TEST(FormatNames, WhatTheModelHasNotIsRefused) {
  const Graph graph = build_graph(test::spec_named("qwen2.5-0.5b"));
  const auto error = [&](std::string_view format) {
    const auto bound = facts().formats.bind(graph, format);
    EXPECT_FALSE(bound) << format;
    return bound ? Error{} : bound.error();
  };
  EXPECT_EQ(error("bf16+experts:fp8").kind, ErrorKind::unsupported);
  EXPECT_EQ(error("bf16+attention@24:fp8").value, "attention");
  EXPECT_EQ(error("bf16+attention:fp9").kind, ErrorKind::not_found);
  EXPECT_EQ(error("bf16+nose:fp8").value, "nose");
  EXPECT_EQ(error("bf99+attention:fp8").value, "bf99");
  // Rows of 896 weights are no whole number of blocks of 256.
  EXPECT_EQ(error("q8_0+attn_q:q4_k").value, "896");
}

}  // namespace
}  // namespace cairn
