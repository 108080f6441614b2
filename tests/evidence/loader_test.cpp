// Rows of evidence from text: what is filled in, and what is refused and how.
#include "cairn/evidence/loader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "book_fixture.h"

namespace cairn {
namespace {

using test::evidence;
using test::must;

constexpr const char* kSources =
    "key,url,date,kind,campaign,confirmed\n"
    "page,https://example.org/a,2026-01,community,a/b,true\n";

// Sources point into themselves: built where they stay.
const EvidenceSources& sources() {
  static const EvidenceSources kPages = [] {
    EvidenceSources out;
    const Document document = must(parse_csv(kSources, "sources.csv"));
    const auto done = out.read(document.root());
    EXPECT_TRUE(done.has_value());
    return out;
  }();
  return kPages;
}

std::string error_of(const std::string& text) {
  const auto rows = test::inference_of(text, sources());
  return rows ? "" : rows.error().to_string();
}

InferenceRow one(const std::string& columns, const std::string& cells) {
  const auto rows =
      must(test::inference_of("id,source,gpu,metric,value,unit," + columns +
                                  "\nx-1,page,mi300x,output_tokens_per_s,10,tok/s," + cells + "\n",
                              sources()));
  return rows.at(0);
}

TEST(Loader, RefusesWithFileLineColumnAndValue) {
  const std::string head = "id,source,gpu,metric,value,unit,depth\n";
  EXPECT_EQ(error_of(head + "x-1,page,mi300x,m,ten,tok/s,\n"),
            "rows.csv:2: value: wrong type: \"ten\"; expected a number");
  EXPECT_EQ(error_of(head + "x-1,page,mi300x,m,1,tok/s,-3\n"),
            "rows.csv:2: depth: out of range: \"-3\"; expected at least 0");
  EXPECT_EQ(error_of(head + "x-1,page,mi300x,m,inf,tok/s,\n"),
            "rows.csv:2: value: wrong type: \"inf\"; expected a number");
  EXPECT_EQ(error_of(head + "x-1,nowhere,mi300x,m,1,tok/s,\n"),
            "rows.csv:2: source: no such source: \"nowhere\"; expected a key of sources.csv");
  EXPECT_EQ(error_of(head + "x-1,page,,m,1,tok/s,\n"),
            "rows.csv:2: gpu: an empty cell; expected a value");
  EXPECT_EQ(error_of(head + "x-1,page,mi300x,m,,tok/s,\n"),
            "rows.csv:2: value: empty cell; expected a value");
  EXPECT_EQ(error_of("id,source,gpu,metric,value\nx,page,mi300x,m,1\n"),
            "rows.csv:1: unit: missing column");
  EXPECT_TRUE(error_of("id,source,gpu,metric,value,unit,colour\n")
                  .starts_with("rows.csv:1: colour: unknown column; expected one of gpu devices"));
  EXPECT_TRUE(error_of("id,source,gpu,metric,value,unit,scenario\nx,page,mi300x,m,1,W,party\n")
                  .starts_with("rows.csv:2: scenario: not one of the choices: \"party\""));
  EXPECT_EQ(error_of("id,source,gpu,metric,value,unit,aiter\nx,page,mi300x,m,1,W,1\n"),
            "rows.csv:2: aiter: wrong type: \"1\"; expected true or false");
}

// vLLM and SGLang draw uniformly from [ratio x N, N]; from 1 where the ratio is 0:
// https://github.com/sgl-project/sglang/blob/main/python/sglang/bench_serving.py
TEST(Loader, MeansOfLengths) {
  const auto uniform = one("input_len,output_len,length_kind,range_ratio", "8192,1024,uniform,0.8");
  EXPECT_DOUBLE_EQ(uniform.lengths.input_mean.value(), (0.8 * 8192 + 8192) / 2);
  EXPECT_DOUBLE_EQ(uniform.lengths.output_mean.value(), 921.6);
  const auto from_one = one("input_len,output_len,length_kind,range_ratio", "1000,1000,uniform,0");
  EXPECT_DOUBLE_EQ(from_one.lengths.input_mean.value(), 500.5);
  const auto exact = one("input_len,output_len,length_kind", "512,128,exact");
  EXPECT_DOUBLE_EQ(exact.lengths.output_mean.value(), 128);
  const auto printed =
      one("input_len,output_len,length_kind,range_ratio,input_mean", "1000,1000,uniform,0,495.85");
  EXPECT_DOUBLE_EQ(printed.lengths.input_mean.value(), 495.85);
  EXPECT_FALSE(one("input_len,length_kind", "1000,mean").lengths.input_mean.has_value());
}

TEST(Loader, AllAtOnceIsAnInfiniteRate) {
  EXPECT_TRUE(std::isinf(one("rate", "inf").rate.value()));
  EXPECT_DOUBLE_EQ(one("rate", "2.5").rate.value(), 2.5);
}

TEST(Loader, WritesWhatItReads) {
  const auto row = one("model,weights,engine,rate,scenario,aiter,build,notes",
                       "\"a, b\",fp8,vllm,inf,serving,true,7356,\"k=\"\"v\"\"\"");
  const Document again = must(parse_csv(inference_csv({row}), "again.csv"));
  const auto rows = must(read_inference(again.root(), sources(), evidence().names));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].model_printed, "a, b");
  EXPECT_EQ(rows[0].notes, "k=\"v\"");
  EXPECT_EQ(rows[0].settings.build, 7356);
  EXPECT_EQ(rows[0].settings.aiter, true);
  EXPECT_TRUE(std::isinf(rows[0].rate.value()));
  EXPECT_EQ(rows[0].scenario, Scenario::serving);
}

}  // namespace
}  // namespace cairn
