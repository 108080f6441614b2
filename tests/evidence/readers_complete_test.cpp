// Rows of a tool's output, completed and kept as evidence of one's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "book_fixture.h"
#include "cairn/evidence/readers/complete_row.h"
#include "cairn/evidence/readers/evidence_table.h"
#include "cairn/evidence/readers/tool_output.h"
#include "cairn/evidence/readers/user_evidence.h"

namespace cairn {
namespace {

using test::must;

const Knowledge& knowledge() { return test::evidence().knowledge; }
const EvidenceNames& names() { return test::evidence().names; }

const std::string kFile = "out.txt";

Result<InferenceRow> complete(std::string_view text, const RunFacts& facts) {
  const ToolOutput output = must(read_tool_output(text, kFile));
  return complete_inference(output.rows[0], {facts, names(), knowledge(), kFile});
}

std::string refused(std::string_view text, const RunFacts& facts) {
  const auto row = complete(text, facts);
  EXPECT_FALSE(row.has_value());
  return row ? std::string() : row.error().field;
}

std::string llama(std::string_view more) {
  return R"([{"build_commit": "abc", "build_number": 6000, "backends": "ROCm", "n_gpu_layers": 99,
    "gpu_info": "AMD Radeon RX 7900 XTX", "model_filename": "/m/Qwen3-8B-UD-Q4_K_XL.gguf",
    "model_type": "qwen3 8B Q4_K - Medium", "model_size": 5150000000,
    "model_n_params": 8190735360, "type_k": "f16", "type_v": "f16", "n_prompt": 512, "n_gen": 0,
    "avg_ts": 2500.5, "stddev_ts": 3.5)" +
         std::string(more) + "}]";
}

TEST(CompleteRow, LlamaBenchNeedsNothing) {
  const InferenceRow row = must(complete(llama(""), {}));
  EXPECT_EQ(row.gpu, "rx-7900-xtx");
  EXPECT_EQ(row.devices, 1);
  EXPECT_EQ(row.model, "Qwen/Qwen3-8B");  // by the name of the file
  EXPECT_EQ(row.weights, "ud-q4_k_xl");   // which the tool prints as Q4_K - Medium
  EXPECT_EQ(row.format, "ud-q4_k_xl");
  EXPECT_EQ(row.engine, "llama.cpp");
}

TEST(CompleteRow, ModelByItsDescription) {
  std::string text = llama("");
  text.replace(text.find("/m/Qwen3-8B-UD-Q4_K_XL.gguf"), 27, "/m/mine.gguf");
  const InferenceRow row = must(complete(text, {}));
  EXPECT_EQ(row.model, "Qwen/Qwen3-8B");
  EXPECT_EQ(row.weights, "q4_k_m");
  // A file that is called after another model than the tool counted.
  text.replace(text.find("/m/mine.gguf"), 12, "/m/Qwen3-32B.gguf");
  EXPECT_EQ(must(complete(text, {})).model, "Qwen/Qwen3-8B");
  text.replace(text.find("qwen3 8B"), 8, "other 1B");
  EXPECT_EQ(refused(text, {}), "--model");
  RunFacts facts;
  facts.model = "qwen3-8b";
  EXPECT_EQ(must(complete(text, facts)).model, "Qwen/Qwen3-8B");
  facts.model = "qwen3-8bb";
  EXPECT_EQ(refused(text, facts), "--model");
}

TEST(CompleteRow, Cards) {
  std::string text = llama("");
  const std::string one = "AMD Radeon RX 7900 XTX";
  text.replace(text.find(one), one.size(), "AMD Radeon Graphics");
  EXPECT_EQ(refused(text, {}), "--gpu");
  RunFacts facts;
  facts.gpu = "rx-7900-xt";
  EXPECT_EQ(must(complete(text, facts)).gpu, "rx-7900-xt");
  facts.gpu = "rx-7900-xtxx";
  EXPECT_EQ(refused(text, facts), "--gpu");

  std::string mixed = llama("");
  mixed.replace(mixed.find(one), one.size(), one + ", AMD Ryzen 9 7950X");
  EXPECT_EQ(refused(mixed, {}), "--gpu");
  facts.gpu = "rx-7900-xtx";
  facts.cards = 1;
  EXPECT_EQ(must(complete(mixed, facts)).devices, 1);
}

// What software sees of an MI250X are its two dies.
TEST(CompleteRow, DiesAndCards) {
  std::string text = llama("");
  const std::string one = "AMD Radeon RX 7900 XTX";
  text.replace(text.find(one), one.size(), "d, d, d, d");
  RunFacts facts;
  facts.gpu = "mi250x";
  const InferenceRow row = must(complete(text, facts));
  EXPECT_EQ(row.devices, 2);
  EXPECT_EQ(row.dies, 4);
  facts.cards = 1;
  EXPECT_EQ(must(complete(text, facts)).dies, 2);
}

constexpr std::string_view kServe =
    R"({"backend": "openai", "model_id": "Qwen/Qwen3-32B", "num_prompts": 10, "completed": 10,
        "total_input_tokens": 10240, "total_output_tokens": 1280, "max_concurrency": 4,
        "request_rate": "inf", "request_throughput": 2.0, "date": "20260102-030405"})";

TEST(CompleteRow, ServerNeedsCardCountAndEngine) {
  RunFacts facts;
  EXPECT_EQ(refused(kServe, facts), "--gpu");
  facts.gpu = "mi300x";
  EXPECT_EQ(refused(kServe, facts), "--gpus");
  facts.cards = 2;
  EXPECT_EQ(refused(kServe, facts), "--engine");
  facts.engine = "vlm";
  EXPECT_EQ(refused(kServe, facts), "--engine");
  facts.engine = "vllm";
  facts.engine_version = "0.11.2";
  const InferenceRow row = must(complete(kServe, facts));
  EXPECT_EQ(row.engine, "vllm");
  EXPECT_EQ(row.engine_version, "0.11.2");
  EXPECT_EQ(row.devices, 2);
  EXPECT_EQ(row.weights, "bf16");  // as the checkpoint is published
  EXPECT_EQ(row.lengths.kind, LengthKind::mean);
  facts.weights = "fp8";
  facts.input = 1024;
  facts.output = 128;
  const InferenceRow told = must(complete(kServe, facts));
  EXPECT_EQ(told.weights, "fp8");
  EXPECT_EQ(told.lengths.kind, LengthKind::exact);  // the totals agree
  facts.weights = "fp7";
  EXPECT_EQ(refused(kServe, facts), "--weights");
  facts.weights = "";
  facts.cards.reset();
  facts.tp = 4;
  EXPECT_EQ(must(complete(kServe, facts)).devices, 4);
}

// Eight cards that share the experts and divide the requests of attention are eight.
TEST(CompleteRow, CardsOfAttentionByData) {
  const auto served = [](std::string_view more) {
    return R"({"backend": "sglang", "dataset_name": "random", "random_input_len": 1024,
        "random_output_len": 128, "random_range_ratio": 1.0, "total_output_tokens_retokenized": 1,
        "request_throughput": 2.0, "server_info": {"model_path": "Qwen/Qwen3-32B", "tp_size": 8,
        "dp_size": 8)" +
           std::string(more) + "}}";
  };
  RunFacts facts;
  facts.gpu = "mi300x";
  EXPECT_EQ(must(complete(served(R"(, "enable_dp_attention": true)"), facts)).devices, 8);
  EXPECT_EQ(must(complete(served(""), facts)).devices, 64);
}

TEST(CompleteRow, OfflineRunsNeedLengths) {
  constexpr std::string_view kThroughput =
      R"({"elapsed_time": 10.0, "num_requests": 100, "total_num_tokens": 115200,
          "requests_per_second": 10.0, "tokens_per_second": 11520.0})";
  RunFacts facts;
  facts.gpu = "mi300x";
  facts.cards = 1;
  EXPECT_EQ(refused(kThroughput, facts), "--model");
  facts.model = "qwen3-8b";
  EXPECT_EQ(refused(kThroughput, facts), "--input");
  facts.input = 1024;
  EXPECT_EQ(refused(kThroughput, facts), "--output");
  facts.output = 128;
  const InferenceRow row = must(complete(kThroughput, facts));
  EXPECT_EQ(row.lengths.kind, LengthKind::exact);
  EXPECT_EQ(row.lengths.input_mean, 1024);
  facts.output = 256;  // 1280 tokens a request; the file has 1152
  EXPECT_EQ(refused(kThroughput, facts), "--input");

  constexpr std::string_view kLatency = R"({"avg_latency": 2.5, "percentiles": {"50": 2.5}})";
  facts.output = 128;
  EXPECT_EQ(refused(kLatency, facts), "--batch");
  facts.batch = 8;
  EXPECT_EQ(must(complete(kLatency, facts)).batch, 8);
}

TEST(CompleteRow, Mlperf) {
  constexpr std::string_view kText =
      "MLPerf Results Summary\nScenario : Server\nMode     : PerformanceOnly\n"
      "Completed tokens per second: 100.5\nResult is : VALID\n";
  RunFacts facts;
  facts.gpu = "mi300x";
  facts.cards = 8;
  facts.engine = "vllm";
  facts.model = "llama-2-70b";
  facts.weights = "fp8";
  EXPECT_EQ(refused(kText, facts), "--benchmark");
  facts.benchmark = "llama2-70b-99";
  const InferenceRow server = must(complete(kText, facts));
  // The bounds of the rules, from data/evidence/benchmarks.csv.
  EXPECT_EQ(server.ttft_limit_ms, 2000);
  facts.interactive = true;
  EXPECT_EQ(must(complete(kText, facts)).ttft_limit_ms, 450);
  facts.benchmark = "none-such";
  EXPECT_EQ(refused(kText, facts), "--benchmark");
}

Result<MicroRow> micro(std::string_view text, const RunFacts& facts) {
  const ToolOutput output = must(read_tool_output(text, kFile));
  return complete_micro(output.rows[0], {facts, names(), knowledge(), kFile});
}

TEST(CompleteRow, Micro) {
  constexpr std::string_view kGemm =
      "Device ID 0 : AMD Instinct MI300X gfx942\ntransA,transB,M,N,K,rocblas-Gflops,us\n"
      "N,N,128,128,128,1000,4.2\n";
  RunFacts facts;
  const auto untyped = micro(kGemm, facts);
  ASSERT_FALSE(untyped);
  EXPECT_EQ(untyped.error().field, "--dtype");
  facts.dtype = "bf16";
  EXPECT_EQ(must(micro(kGemm, facts)).gpu, "mi300x");

  constexpr std::string_view kCollective =
      "# nThread 1 nGpus 8\n#       size count type redop root time algbw busbw #wrong\n"
      "# (B) (GB/s)\n1024 256 float none -1 10.0 0.10 0.10 0\n";
  EXPECT_EQ(micro(kCollective, facts).error().field, "--gpu");
  facts.gpu = "mi300x";
  EXPECT_EQ(micro(kCollective, facts).error().field, "--gpus");
  facts.cards = 8;
  EXPECT_EQ(micro(kCollective, facts).error().field, "--what");
  facts.what = "all_gather";
  EXPECT_EQ(must(micro(kCollective, facts)).devices, 8);
  EXPECT_EQ(must(micro(kCollective, facts)).library, "rccl-tests");
}

class OwnFolder : public testing::Test {
 protected:
  OwnFolder() : folder_(std::filesystem::temp_directory_path() / "cairn-user-evidence-test") {
    std::filesystem::remove_all(folder_);
  }
  ~OwnFolder() override { std::filesystem::remove_all(folder_); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  std::filesystem::path folder_;
};

TEST_F(OwnFolder, AddedWrittenAndReadAgain) {
  UserEvidence evidence = must(UserEvidence::load(folder_, names()));
  EXPECT_TRUE(evidence.inference().empty());
  EvidenceSource facts;
  facts.kind = SourceKind::user;
  facts.campaign = "own";
  facts.date = "2026-01-02";
  InferenceRow row = must(complete(llama(""), {}));
  row.source = must(evidence.source_of(facts));
  EXPECT_EQ(row.source->key, "own.1");
  EXPECT_EQ(must(evidence.source_of(facts)), row.source);
  row.notes = "a, \"quoted\" note";
  EXPECT_TRUE(evidence.add(row));
  EXPECT_FALSE(evidence.add(row));  // says the same
  InferenceRow other = row;
  other.value = 2600;
  EXPECT_TRUE(evidence.add(other));
  MicroRow copy;
  copy.source = row.source;
  copy.gpu_printed = "mi300x";
  copy.what = "copy";
  copy.metric = "gb_per_s";
  copy.unit = "GB/s";
  copy.value = 4255.995148;
  EXPECT_TRUE(evidence.add(copy));
  ASSERT_TRUE(evidence.write(folder_).has_value());

  UserEvidence again = must(UserEvidence::load(folder_, names()));
  ASSERT_EQ(again.inference().size(), 2U);
  ASSERT_EQ(again.micro().size(), 1U);
  EXPECT_EQ(again.inference()[0].id, "own-1");
  EXPECT_EQ(again.inference()[0].value, 2500.5);
  EXPECT_EQ(again.inference()[0].model, "Qwen/Qwen3-8B");
  EXPECT_EQ(again.inference()[0].notes, row.notes);
  EXPECT_EQ(again.inference()[0].source->date, "2026-01-02");
  EXPECT_EQ(again.inference()[0].source->kind, SourceKind::user);
  EXPECT_EQ(again.micro()[0].value, 4255.995148);
  EXPECT_FALSE(again.add(row));
  EXPECT_FALSE(again.add(copy));
  row.value = 1;
  EXPECT_TRUE(again.add(row));
  EXPECT_EQ(again.inference().back().id, "own-4");
}

TEST_F(OwnFolder, TablesOfTheEvidence) {
  constexpr std::string_view kTable =
      "id,gpu,devices,model,weights,engine,metric,value,unit,batch\n"
      "a-1,rx-7900-xtx,1,qwen3-8b,q4_k_m,llama.cpp,decode_tokens_per_s,90.5,tok/s,1\n";
  EXPECT_TRUE(is_evidence_table(kTable));
  EXPECT_FALSE(is_evidence_table("id,gpu,metric,unit\n"));
  EXPECT_FALSE(is_evidence_table(""));
  UserEvidence evidence = must(UserEvidence::load(folder_, names()));
  EvidenceSource facts;
  facts.campaign = "own";
  const EvidenceSource* source = must(evidence.source_of(facts));
  const EvidenceTable table =
      must(read_evidence_table(kTable, "t.csv", evidence.sources(), names(), source));
  ASSERT_EQ(table.inference.size(), 1U);
  EXPECT_EQ(table.inference[0].model, "Qwen/Qwen3-8B");
  EXPECT_EQ(table.inference[0].source, source);
  const EvidenceTable micro = must(
      read_evidence_table("id,gpu,what,metric,value,unit\na-1,mi300x,copy,gb_per_s,4000,GB/s\n",
                          "t.csv", evidence.sources(), names(), source));
  ASSERT_EQ(micro.micro.size(), 1U);
  const auto wrong = read_evidence_table("id,gpu,metric,value,unit\na,mi300x,m,fast,tok/s\n",
                                         "t.csv", evidence.sources(), names(), source);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where, "t.csv:2");
  EXPECT_EQ(wrong.error().field, "value");
}

TEST_F(OwnFolder, FaultsOfItsFilesAreTold) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "micro.csv") << "id,gpu,metric,value,unit\nown-1,mi300x,tflops,x,T\n";
  const auto loaded = UserEvidence::load(folder_, names());
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().where.find("micro.csv:2"), std::string::npos);
}

}  // namespace
}  // namespace cairn
