// The program from outside: exit statuses, streams, languages, completions.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cairn/data/json.h"
#include "run.h"

namespace cairn {
namespace {

using test::Outcome;

Outcome cairn_run(std::vector<std::string> words, std::vector<std::string> extra = {}) {
  words.insert(words.begin(), CAIRN_PROGRAM);
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG", "CAIRN_DATA"}) {
    extra.insert(extra.begin(), name);
  }
  return test::run(words, extra);
}

std::string file(const std::string& path) {
  const std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Program, VersionAndHelp) {
  const Outcome version = cairn_run({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "cairn " CAIRN_VERSION "\n");
  for (const auto& words : std::vector<std::vector<std::string>>{{}, {"--help"}, {"help"}}) {
    const Outcome help = cairn_run(words);
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("\nCommands\n"), std::string::npos);
    EXPECT_EQ(help.err, "");
  }
  EXPECT_EQ(cairn_run({"help", "data", "check"}).out, cairn_run({"data", "check", "--help"}).out);
}

TEST(Program, BadUsageIsStatusTwoAndOneLine) {
  const Outcome run = cairn_run({"gpsu"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "cairn: error: unknown command: \"gpsu\"; expected gpus\n");
  EXPECT_EQ(cairn_run({"version", "--jsno"}).err,
            "cairn: error: unknown option: \"--jsno\"; expected --json\n");
  EXPECT_EQ(cairn_run({"help", "nothing"}).status, 2);
  EXPECT_EQ(cairn_run({"completions", "csh"}).status, 2);
}

// Notes go to the other stream; where both are one, they do not break into the answer.
TEST(Program, NotesFollowTheAnswer) {
  const Outcome both =
      test::run({"/bin/sh", "-c",
                 "'" CAIRN_PROGRAM "' fit qwen3-0.6b --gpu rx-7900-xtx --engine llama.cpp "
                 "--context 64k --lang en 2>&1"});
  EXPECT_EQ(both.status, 0);
  EXPECT_LT(both.out.find("longest context"), both.out.find("the model was made for")) << both.out;
}

// The setting of a machine counts in a prediction and in a plan as in a fit: 16 GiB do not
// hold the 18 GiB of weights of a 32B model in 4 bits.
TEST(Program, UnifiedMemoryIsASettingForEveryCommand) {
  const std::vector<std::string> setting{
      "--gpu",  "ryzen-ai-max-395", "--engine", "llama.cpp", "--weights",
      "q4_k_m", "--carve-out",      "0.5",      "--gtt"};
  const auto with = [&](std::vector<std::string> words, const char* gtt) {
    words.insert(words.end(), setting.begin(), setting.end());
    words.emplace_back(gtt);
    return cairn_run(words);
  };
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"predict", "qwen3-32b"}, {"plan", "--model", "qwen3-32b"}, {"fit", "qwen3-32b"}}) {
    EXPECT_EQ(with(words, "16").status, 1) << words[0];
    EXPECT_EQ(with(words, "64").status, 0) << words[0];
  }
  EXPECT_NE(with({"fit", "qwen3-32b"}, "16").err.find("ttm.pages_limit="), std::string::npos);
  const Outcome card = cairn_run({"predict", "qwen3-8b", "--gpu", "rx-7900-xtx", "--gtt", "16"});
  EXPECT_NE(card.err.find("--gtt: its memory is not shared"), std::string::npos) << card.err;
}

// Names of formats as people say them, releases and settings that mean nothing, and what a
// message then says.
TEST(Program, RefusalsNameWhatWasAskedFor) {
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"predict", "qwen3-8b", "--gpu"});
    return cairn_run(words);
  };
  EXPECT_NE(said({"mi300x", "--weights", "autoround"}).out.find("gptq-int4"), std::string::npos);
  EXPECT_NE(said({"mi300x", "--weights", "2:4"}).err.find("bf16-24"), std::string::npos);
  EXPECT_NE(said({"nosuch"}).err.find("an id from cairn gpus"), std::string::npos);
  EXPECT_NE(said({"mi300x", "--engine", "vllm", "--ngl", "3"}).err.find("\"ngl\""),
            std::string::npos);
  EXPECT_NE(said({"mi300x", "--engine", "vllm@0.1"}).err.find("older than those"),
            std::string::npos);
  EXPECT_NE(said({"mi300x", "--engine", "vllm@0.20"}).out.find("vllm (0.8 to 0.20)"),
            std::string::npos);
  // https://github.com/ggml-org/llama.cpp/pull/12828: Qwen3 came after build 4875.
  EXPECT_NE(said({"rx-7900-xtx", "--engine", "llama.cpp", "--build", "1"}).err.find("4875"),
            std::string::npos);
  EXPECT_NE(said({"rx-7900-xtx", "--engine", "llama.cpp", "--mmproj"}).err.find("no towers"),
            std::string::npos);
}

// What cannot be meant is refused with status 2 and one line that says what and why.
TEST(Program, NonsenseIsRefusedByName) {
  struct Line {
    std::vector<std::string> words;
    std::string_view said;
  };
  const std::vector<std::string> fit{"fit", "llama-3.1-8b", "--gpu", "rx-7900-xtx"};
  for (const Line& line : std::vector<Line>{
           {{"-c", "1.5"}, "--context: not a whole number: \"1.5\""},
           {{"-c", "1kk"}, "--context: unknown unit"},
           {{"-c", "200m"}, "--context: out of range"},
           {{"--tp", "2"}, "--engine: a layout is given"},
           {{"--engine", "vllm", "--tp", "1024", "--pp", "1024", "--dp", "4096"},
            "more devices than a deployment may have: \"4294967296\""},
           {{"-n", "2", "--engine", "llama.cpp", "--tensor-split", "1e308,1e308"}, "not a share"},
           {{"--engine", "vllm@x"}, "expected a release such as"}}) {
    std::vector<std::string> words = fit;
    words.insert(words.end(), line.words.begin(), line.words.end());
    const Outcome run = cairn_run(words);
    EXPECT_EQ(run.status, 2) << line.said;
    EXPECT_NE(run.err.find(line.said), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
  const Outcome experts = cairn_run({"predict", "llama-3.1-8b", "--gpu", "mi300x", "--ep", "8"});
  EXPECT_EQ(experts.status, 1);
  EXPECT_NE(experts.err.find("expert parallelism"), std::string::npos) << experts.err;
}

TEST(Program, SizesOfTokensTakeSmallAndLargeLetters) {
  const std::vector<std::string> fit{"fit", "llama-3.1-8b", "--gpu", "mi300x", "--quiet", "-c"};
  const auto out = [&](const std::string& context) {
    std::vector<std::string> words = fit;
    words.push_back(context);
    return cairn_run(words).out;
  };
  EXPECT_EQ(out("1m"), out("1048576"));
  EXPECT_EQ(out("1M"), out("1048576"));
  EXPECT_EQ(out("128k"), out("131072"));
  EXPECT_NE(out("128k"), out("1m"));
}

TEST(Program, ErrorsInJsonToo) {
  const Outcome run = cairn_run({"--json", "gpsu"});
  EXPECT_EQ(run.status, 2);
  const auto document = parse_json(run.out, "stdout");
  ASSERT_TRUE(document.has_value()) << run.out;
  const Node error = *document->root().find("error");
  EXPECT_EQ(*error.get<std::string_view>("message"), "unknown command");
  EXPECT_EQ(*error.get<std::string_view>("value"), "gpsu");
  EXPECT_EQ(*document->root().get<std::string_view>("schema"), "cairn.error/1");
}

TEST(Program, DataThatIsNoImage) {
  const Outcome missing = cairn_run({"data", "check", "--data", "/nonexistent"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("/nonexistent"), std::string::npos);
  EXPECT_EQ(cairn_run({"data", "check", "--data", CAIRN_PROGRAM}).status, 2);
  EXPECT_EQ(cairn_run({"data", "check"}, {"CAIRN_DATA=/nonexistent"}).status, 2);
  // The version is told even then.
  EXPECT_EQ(cairn_run({"version", "--data", "/nonexistent"}).status, 0);
}

TEST(Program, ChineseWithoutAnySystemLocale) {
  const std::string title = "全局选项";
  EXPECT_NE(cairn_run({"--lang", "zh"}).out.find(title), std::string::npos);
  EXPECT_NE(cairn_run({}, {"LANG=zh_CN.UTF-8"}).out.find(title), std::string::npos);
  EXPECT_NE(cairn_run({}, {"LANG=en_US", "LC_ALL=zh_CN"}).out.find(title), std::string::npos);
  EXPECT_EQ(cairn_run({"--lang=en"}, {"LANG=zh_CN"}).out.find(title), std::string::npos);
  // A mistake in the words is reported in the language that they ask for.
  EXPECT_NE(cairn_run({"--lang", "zh", "gpsu"}).err.find("未知的命令"), std::string::npos);
}

TEST(Program, NoColoursInPipes) {
  EXPECT_EQ(cairn_run({"gpus"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(cairn_run({"--help"}).out.find('\x1b'), std::string::npos);
}

TEST(Program, TimingsAndQuietOnStderr) {
  EXPECT_NE(cairn_run({"gpus", "--timings"}).err.find("open the data"), std::string::npos);
  EXPECT_EQ(cairn_run({"gpus", "--quiet"}).err, "");
}

TEST(Program, AFullDiskIsReported) {
  const Outcome run =
      test::run({"sh", "-c", std::string(CAIRN_PROGRAM) + " help --man > /dev/full"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.err.find("cannot write the output"), std::string::npos);
}

TEST(Program, AReaderThatLeavesIsNoError) {
  const Outcome run = test::run({"bash", "-c",
                                 std::string("trap '' PIPE; ") + CAIRN_PROGRAM +
                                     " help --man | true; echo ${PIPESTATUS[0]}"});
  EXPECT_EQ(run.out, "0\n");
  EXPECT_EQ(run.err, "");
}

TEST(Program, CommittedDocsAreTheGeneratedOnes) {
  const std::string docs = std::string(CAIRN_SOURCE_DIR) + "/docs/";
  EXPECT_EQ(file(docs + "commands.md"), cairn_run({"help", "--markdown"}).out)
      << "docs/update writes them anew";
  EXPECT_EQ(file(docs + "commands.zh-CN.md"),
            cairn_run({"help", "--markdown", "--lang", "zh"}).out);
}

TEST(Program, ManualPageHasEveryCommandAndOption) {
  const Outcome man = cairn_run({"help", "--man"});
  EXPECT_TRUE(man.out.starts_with(".TH CAIRN 1"));
  for (const char* word : {".SS cairn gpus show", "\\-\\-min\\-memory SIZE", ".SH NAME"}) {
    EXPECT_NE(man.out.find(word), std::string::npos) << word;
  }
}

std::string complete(const std::string& words, int current) {
  const std::string script =
      "source <(" + std::string(CAIRN_PROGRAM) + " completions bash); COMP_WORDS=(" + words +
      "); COMP_CWORD=" + std::to_string(current) + "; _cairn; echo \"${COMPREPLY[@]}\"";
  return test::run({"bash", "-c", script}).out;
}

TEST(Completions, Bash) {
  EXPECT_EQ(complete("cairn da", 1), "data\n");
  EXPECT_EQ(complete("cairn data ''", 2).substr(0, 6), "check ");
  EXPECT_EQ(complete("cairn gpus --vend", 2), "--vendor\n");
  EXPECT_EQ(complete("cairn gpus --vendor n", 3), "nvidia\n");
  EXPECT_EQ(complete("cairn --lang zh gpus show --js", 5), "--json\n");
  EXPECT_EQ(complete("cairn gpus --vendor = a", 4), "amd any\n");
}

}  // namespace
}  // namespace cairn
