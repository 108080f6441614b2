// Every command's JSON is what docs/json says it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "../cli/run.h"
#include "cairn/data/json.h"
#include "cairn/data/schema.h"
#include "files.h"

namespace cairn {
namespace {

const std::string kFolder = std::string(CAIRN_SOURCE_DIR) + "/docs/json/";

// The file without its first annotations, $schema and $id: they say what the
// file is, and are no rules.
Result<Document> load_published(const std::string& path) {
  CAIRN_TRY(const std::string text, read_file(path, 1U << 20U));
  std::istringstream lines(text);
  std::string rules;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  \"$schema\":") && !line.starts_with("  \"$id\":")) rules += line;
    rules += '\n';
  }
  return parse_json(rules, path);
}

const Document& schema(const std::string& name) {
  static std::map<std::string, Document> loaded;
  const auto it = loaded.find(name);
  if (it != loaded.end()) return it->second;
  auto document = load_published(kFolder + name + ".schema.json");
  if (!document) throw std::runtime_error(document.error().to_string());
  return loaded.emplace(name, *std::move(document)).first->second;
}

test::Outcome cairn_json(const std::string& line) {
  std::vector<std::string> argv{CAIRN_PROGRAM};
  for (const std::string& word : test::split_command_line(line)) argv.push_back(word);
  argv.emplace_back("--json");
  return test::run(argv, {std::string("CAIRN_DATA=") + CAIRN_IMAGE_FILE});
}

struct Line {
  const char* schema;
  const char* command;
  int status;
};

constexpr std::array kLines{
    Line{"predict", "predict qwen3-8b --gpu rx-7900-xtx", 0},
    Line{"predict", "predict qwen3-8b --gpu rx-7900-xtx --explain", 0},
    Line{"predict", "predict deepseek-v3 --gpu mi300x --tp 8 --ep 8 --weights fp8-block", 0},
    Line{"predict", "predict llama-3.1-70b --gpu mi300x --tp 4 --rate 2", 0},
    Line{"predict", "predict llama-3.1-70b --gpu mi300x --tp 4 --rate 1000", 1},
    Line{"predict", "predict llama-3.1-70b --gpu rx-7900-xtx --gpus 1 --weights q8_0", 1},
    Line{"predict", "predict qwen3-8b --gpu rx-7900-xtx --output 1", 0},
    Line{"fit", "fit qwen3-32b --gpu rx-7900-xtx --context 32k", 0},
    Line{"fit", "fit llama-3.1-70b --gpu all --weights fp8 --vendor amd", 0},
    Line{"fit", "fit llama-3.1-405b --gpu rx-7900-xtx --gpus 1", 1},
    Line{"plan", "plan --model qwen3-14b --context 16k --budget 6000CNY", 0},
    Line{"plan", "plan --model llama-3.1-70b --rate 20 --slo-ttft 1s --slo-tpot 50ms", 0},
    Line{"plan", "plan --model llama-3.1-70b --budget 100USD", 1},
    Line{"plan", "plan --model qwen3-14b --psu 650W --ram 32GiB --slots 1 --co2 400", 0},
    Line{"residents", "plan " CAIRN_SOURCE_DIR "/examples/plans/three-models.yaml", 0},
    Line{"compare", "compare mi300x h200-sxm", 0},
    Line{"compare", "compare rx-7900-xtx rtx-4090 --model qwen3-14b --context 16k", 0},
    Line{"compare", "compare mi300x rx-7900-xtx --model llama-3.1-70b --engine vllm", 0},
    Line{"compare", "compare mi300x rx-7900-xtx --model qwen3-8b --engine vllm --rate 20", 1},
    Line{"models", "models", 0},
    Line{"models", "models --family no-such-family", 1},
    Line{"model", "models show deepseek-v3", 0},
    Line{"model", "models show gpt-oss-20b --weights mxfp4_moe", 0},
    Line{"evidence_list", "evidence list --gpu mi300x --engine vllm --top 5", 0},
    Line{"evidence_list", "evidence list --gpu no-such-card", 1},
    Line{"evidence_show", "evidence show lcpp-01335", 0},
    Line{"evidence_sources", "evidence sources --kind mlperf", 0},
    Line{"evidence_check", "evidence check", 0},
    Line{"engines", "engines", 0},
    Line{"engine", "engines show vllm", 0},
    Line{"engine", "engines show llama.cpp", 0},
    Line{"gpus", "gpus", 0},
    Line{"gpus", "gpus --max-price 6000CNY", 0},
    Line{"gpus_show", "gpus show mi300x", 0},
    Line{"gpus_show", "gpus show ryzen-ai-max-395", 0},
    Line{"hosts", "hosts", 0},
    Line{"hosts", "hosts --gpu mi300x --gpus 16", 0},
    Line{"hosts", "hosts --gpu rx-7900-xtx --gpus 2 --psu 1000W --ram 64GiB --slots 1", 1},
    Line{"hosts_show", "hosts show am5-one-x16", 0},
    Line{"hosts_show", "hosts show dgx-spark", 0},
    Line{"evidence_add",
         "evidence add " CAIRN_SOURCE_DIR
         "/examples/benchmarks/llama-bench.md --folder no-such-folder --dry-run",
         0},
    Line{"data_check", "data check", 0},
    Line{"version", "version", 0},
    Line{"error", "predict no-such-model --gpu mi300x", 2},
    Line{"error", "predict qwen3-8b --gpu mi300x --engine llama.cpp --tp 2", 1},
    Line{"error", "plan no-such-file.yaml", 2},
    Line{"error", "no-such-command", 2},
};

TEST(JsonSchema, CommandsPrintWhatTheSchemasSay) {
  for (const Line& line : kLines) {
    SCOPED_TRACE(line.command);
    const auto outcome = cairn_json(line.command);
    EXPECT_EQ(outcome.status, line.status) << outcome.err;
    const auto document = parse_json(outcome.out, line.command);
    ASSERT_TRUE(document.has_value()) << document.error().to_string();
    for (const Error& e : validate(document->root(), schema(line.schema).root())) {
      ADD_FAILURE() << e.to_string();
    }
  }
}

TEST(JsonSchema, EveryPublishedSchemaIsSoundAndInUse) {
  std::set<std::string> used;
  for (const Line& line : kLines) used.insert(line.schema);
  std::set<std::string> published;
  for (const auto& path : test::files_of("docs/json", ".schema.json")) {
    const std::string file = path.filename().string();
    const std::string name = file.substr(0, file.find('.'));
    published.insert(name);
    const auto sound = check_schema(schema(name).root());
    EXPECT_TRUE(sound.has_value()) << sound.error().to_string();
    const auto text = read_file(path.string(), 1U << 20U);
    ASSERT_TRUE(text.has_value());
    EXPECT_NE(text->find("https://json-schema.org/draft/2020-12/schema"), std::string::npos)
        << file;
  }
  EXPECT_EQ(published, used);
}

// A schema that a wrong document passes would prove nothing.
TEST(JsonSchema, WrongDocumentsAreFound) {
  const auto findings = [](const std::string& name, std::string_view text) {
    const auto document = parse_json(text, "wrong");
    return document ? validate(document->root(), schema(name).root()).size() : 0;
  };
  EXPECT_EQ(findings("version", R"({"schema": "cairn.version/1", "version": "0.1.0",
                                    "data": "x", "documents": 3})"),
            0U);
  EXPECT_EQ(findings("version", R"({"schema": "cairn.version/2", "version": "0.1.0",
                                    "data": "x", "documents": 3})"),
            1U);
  EXPECT_EQ(findings("version", R"({"schema": "cairn.version/1", "version": "new",
                                    "data": "x", "documents": -3})"),
            2U);
  EXPECT_EQ(findings("error", R"({"schema": "cairn.error/1", "error": {}})"), 6U);
}

// Predictions look alike wherever they stand.
TEST(JsonSchema, SharedDefinitionsAreTheSame) {
  const auto text = [](Node node) {
    std::string out;
    const auto write = [&out](const auto& self, Node n) -> void {
      out += fmt::format("({} ", describe(n.kind()));
      for (std::uint32_t i = 0; i < n.size(); ++i) {
        if (n.is_mapping()) out += std::string(n.member(i).key) + "=";
        self(self, n.is_mapping() ? n.member(i).value : n.at(i));
      }
      if (n.size() == 0) out += n.text();
      out += ")";
    };
    write(write, node);
    return out;
  };
  const auto definition = [](const std::string& file, std::string_view name) {
    return *schema(file).root().find("definitions")->find(name);
  };
  for (const std::string_view name :
       {"layout", "workload", "memory", "metric", "step", "quote", "money"}) {
    EXPECT_EQ(text(definition("predict", name)), text(definition("plan", name))) << name;
    EXPECT_EQ(text(definition("predict", name)), text(definition("compare", name))) << name;
  }
  EXPECT_EQ(text(definition("predict", "memory")), text(definition("fit", "memory")));
  EXPECT_EQ(text(definition("engine", "engine")), text(definition("engines", "engine")));
}

// docs/json/metrics.md has a row for each metric, with its unit, and no other.
TEST(JsonSchema, MetricsAreDocumented) {
  const auto page = read_file(kFolder + "metrics.md", 1U << 20U);
  ASSERT_TRUE(page.has_value());
  std::set<std::string> names;
  // Of a model that generates text, and of an encoder.
  for (const std::string_view name : {"qwen3-8b", "bge-m3"}) {
    const auto outcome = cairn_json(fmt::format("predict {} --gpu rx-7900-xtx", name));
    const auto document = parse_json(outcome.out, "predict");
    ASSERT_TRUE(document.has_value());
    const auto metrics = document->root().find("metrics");
    ASSERT_TRUE(metrics.has_value());
    for (std::uint32_t i = 0; i < metrics->size(); ++i) {
      const std::string metric(*metrics->at(i).get<std::string_view>("name"));
      const std::string unit(*metrics->at(i).get<std::string_view>("unit"));
      EXPECT_NE(page->find(fmt::format("| `{}` | {} |", metric, unit)), std::string::npos)
          << metric << " in " << unit;
      names.insert(metric);
    }
  }
  std::size_t rows = 0;
  for (std::size_t at = page->find("\n| `"); at != std::string::npos;
       at = page->find("\n| `", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, names.size());
}

}  // namespace
}  // namespace cairn
