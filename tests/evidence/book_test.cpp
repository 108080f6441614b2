// The evidence as a whole: its schema, its rows, filters and checks.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "book_fixture.h"
#include "cairn/data/rules.h"
#include "cairn/evidence/evidence_book.h"
#include "cairn/evidence/evidence_check.h"
#include "cairn/evidence/evidence_filter.h"

namespace cairn {
namespace {

using test::evidence;
using test::must;

const InferenceRow& row(std::string_view id) {
  for (const InferenceRow& r : evidence().book.inference()) {
    if (r.id == id) return r;
  }
  throw std::runtime_error("no row " + std::string(id));
}

TEST(Evidence, ObeysItsSchema) {
  const DataReport report = must(check_data(evidence().image, kEvidenceIndex));
  EXPECT_EQ(report.documents, 12U);
  for (const Error& e : report.errors) ADD_FAILURE() << e.to_string();
}

// Every card has an entry, a set of cards it may be, or a reason; nearly every row of a
// language model has a model and a weight format.
TEST(Evidence, NamesAreKnown) {
  const EvidenceReport report = check_evidence(evidence().book, evidence().names);
  EXPECT_GT(report.rows, 30'000U);
  EXPECT_GT(report.with_model * 100, report.inference * 96);
  EXPECT_GT(report.with_format * 100, report.inference * 95);
  for (const UnmappedName& card : report.cards) EXPECT_FALSE(card.reason.empty()) << card.name;
  for (const UnmappedName& model : report.models) EXPECT_FALSE(model.reason.empty()) << model.name;
  EXPECT_TRUE(report.duplicates.empty());
  EXPECT_EQ(report.layouts.size(), 0U);
}

// https://github.com/ggml-org/llama.cpp/pull/15802: a table of a pull request, "llama 1B".
TEST(Evidence, PullRequestsAreThreadsOfTheirRepository) {
  EXPECT_EQ(row("lcpp-04088").source->campaign, "ggml-org/llama.cpp#15802");
  EXPECT_EQ(row("lcpp-04088").settings.patch, "after");
  EXPECT_EQ(row("lcpp-00001").doubt, "broken");
}

// The page prints 249,831 prompt tokens and 252,162 generated ones for 500 requests of
// nominally 1,000 and 1,000.
TEST(Evidence, TotalsGiveTheMeansThatRan) {
  const RequestLengths& lengths = row("srv-05794").lengths;
  EXPECT_EQ(lengths.kind, LengthKind::uniform);
  EXPECT_DOUBLE_EQ(lengths.input.value(), 1000);
  EXPECT_DOUBLE_EQ(lengths.input_mean.value(), 249831.0 / 500);
  EXPECT_DOUBLE_EQ(lengths.output_mean.value(), 252162.0 / 500);
}

// The rules: https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc
TEST(Evidence, MlperfLengthsAndLimits) {
  const InferenceRow& server = row("mlp-0033");
  EXPECT_EQ(server.benchmark, "llama2-70b-99.9");
  EXPECT_EQ(server.lengths.kind, LengthKind::benchmark);
  EXPECT_DOUBLE_EQ(server.lengths.output_mean.value(), 294.45);
  EXPECT_NEAR(server.lengths.input_mean.value(), 5463976.0 / 24576, 0.01);
  EXPECT_DOUBLE_EQ(server.ttft_limit_ms.value(), 2000);
  EXPECT_DOUBLE_EQ(server.tpot_limit_ms.value(), 200);
  EXPECT_EQ(server.engine, "tensorrt-llm");
  EXPECT_FALSE(row("mlp-0048").ttft_limit_ms.has_value());  // offline has no limits
}

TEST(Evidence, PluginsAndParts) {
  std::size_t plugin = 0;
  for (const InferenceRow& r : evidence().book.inference()) {
    if (r.settings.plugin == "atom") ++plugin;
    if (!r.deployment_devices) continue;
    EXPECT_GE(*r.deployment_devices, r.devices.value_or(1)) << r.id;
  }
  EXPECT_GT(plugin, 2'000U);
}

TEST(Evidence, IdsAreDistinctAndEveryRowHasASource) {
  std::set<std::string_view> ids;
  evidence().book.visit([&ids](const EvidenceItem& item) {
    EXPECT_TRUE(ids.insert(item.id).second) << item.id;
    ASSERT_NE(item.source, nullptr);
    EXPECT_TRUE(item.source->url.starts_with("http") || !item.source->confirmed);
  });
  EXPECT_EQ(ids.size(), evidence().book.size());
}

std::size_t count(const EvidenceFilter& filter) {
  std::size_t n = 0;
  evidence().book.visit([&](const EvidenceItem& item) { n += matches(item, filter) ? 1U : 0U; });
  return n;
}

TEST(Filter, KeepsWhatMeetsEveryList) {
  EvidenceFilter filter;
  EXPECT_EQ(count(filter), evidence().book.size());
  filter.campaigns = {"rocm/atom"};
  const std::size_t all = count(filter);
  filter.campaigns = {"ROCm/ATOM#919"};
  const std::size_t thread = count(filter);
  EXPECT_EQ(thread, 63U);  // rows of https://github.com/ROCm/ATOM/issues/919
  EXPECT_GT(all, thread);
  filter.metrics = {"ttft_ms_mean"};
  EXPECT_EQ(count(filter), 9U);
  filter.kinds = {SourceKind::mlperf};
  EXPECT_EQ(count(filter), 0U);
}

TEST(Filter, DatesAreComparedAsFarAsBothGo) {
  EvidenceSource source;
  source.date = "2025-12";
  EvidenceFilter filter;
  filter.from = "2025-12-15";
  EXPECT_TRUE(matches(source, filter));
  filter.from = "2026";
  EXPECT_FALSE(matches(source, filter));
  filter.from.clear();
  filter.to = "2025";
  EXPECT_TRUE(matches(source, filter));
  source.date.clear();
  EXPECT_FALSE(matches(source, filter));
}

TEST(Filter, NamesOfTheCatalogueAreFound) {
  EvidenceFilter filter;
  filter.gpus = {"RX 7900XTX"};
  filter.models = {"gpt-oss:20b"};
  resolve(filter, evidence().names);
  EXPECT_EQ(filter.gpus, (std::vector<std::string>{"RX 7900XTX", "rx-7900-xtx"}));
  EXPECT_EQ(filter.models.back(), "openai/gpt-oss-20b");
}

// Two pages with the same deployment: the same value is a copy, one twice as large a
// contradiction, and no contradiction within one campaign or where a doubt is known.
TEST(Check, CopiesAndContradictions) {
  const Document pages =
      must(parse_csv("key,url,date,kind,campaign\n"
                     "p,https://a.org/1,2026,community,a\nq,https://a.org/2,2026,community,a\n"
                     "r,https://b.org,2026,community,b\n",
                     "sources.csv"));
  EvidenceSources sources;
  ASSERT_TRUE(sources.read(pages.root()).has_value());
  const Document document =
      must(parse_csv("id,source,gpu,model,engine,metric,value,unit,tp,devices,doubt\n"
                     "t-1,p,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,100,tok/s,1,1,\n"
                     "t-2,q,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,100,tok/s,1,1,\n"
                     "t-3,r,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,201,tok/s,1,1,\n"
                     "t-4,r,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,900,tok/s,1,1,throttled\n"
                     "t-5,p,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,700,tok/s,8,1,\n"
                     "t-6,p,mi300x,Qwen/Qwen3-8B,vllm,output_tokens_per_s,700,tok/s,8,1,\n",
                     "rows.csv"));
  EvidenceBook book;
  ASSERT_TRUE(
      book.join(sources, must(read_inference(document.root(), sources, evidence().names)), {})
          .has_value());
  const EvidenceReport report = check_evidence(book, evidence().names, 1.5);
  ASSERT_EQ(report.near_duplicates.size(), 1U);
  EXPECT_EQ(report.near_duplicates[0].ids, (std::vector<std::string>{"t-1", "t-2"}));
  ASSERT_EQ(report.contradictions.size(), 1U);
  EXPECT_EQ(report.contradictions[0].ids, (std::vector<std::string>{"t-1", "t-2", "t-3"}));
  EXPECT_DOUBLE_EQ(report.contradictions[0].high, 201);
  ASSERT_EQ(report.duplicates.size(), 1U);
  EXPECT_EQ(report.duplicates[0].ids, (std::vector<std::string>{"t-5", "t-6"}));
  EXPECT_EQ(report.layouts, (std::vector<std::string>{"t-5", "t-6"}));
  EXPECT_EQ(report.doubts.at("throttled"), 1U);
  EXPECT_TRUE(check_evidence(book, evidence().names, 3).contradictions.empty());
}

}  // namespace
}  // namespace cairn
