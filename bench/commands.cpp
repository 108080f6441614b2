// Whole-process time and memory of the commands people wait for, as ratios to
// starting a program that does nothing, in the same run.
//
//   bench_commands CAIRN [RUNS]
//
// Runs each command in turn with `true`, one warm-up first, and prints the median
// wall time of both, their ratio and the largest resident size.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Run {
  double seconds = 0;
  long peak_kib = 0;
  int status = -1;
};

Run run(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  Run out;
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0) {
    rusage usage{};
    int status = 0;
    wait4(child, &status, 0, &usage);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    out.peak_kib = usage.ru_maxrss;
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  posix_spawn_file_actions_destroy(&actions);
  return out;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

bool measure(const std::vector<std::string>& words, int runs) {
  std::vector<double> mine;
  std::vector<double> nothing;
  long peak = 0;
  int status = 0;
  for (int i = 0; i <= runs; ++i) {
    const Run a = run(words);
    const Run b = run({"true"});
    status = a.status;
    if (i == 0) continue;
    mine.push_back(a.seconds);
    nothing.push_back(b.seconds);
    peak = std::max(peak, a.peak_kib);
  }
  std::string line;
  for (std::size_t i = 1; i < words.size(); ++i) line += " " + words[i];
  fmt::print("{:8.2f} ms {:8.2f} ms {:8.1f} x {:8.1f} MiB  exit {}  cairn{}\n", median(mine) * 1e3,
             median(nothing) * 1e3, median(mine) / median(nothing),
             static_cast<double>(peak) / 1024, status, line);
  return status == 0 || status == 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_commands CAIRN [RUNS]\n", stderr);
    return 2;
  }
  const std::string cairn = argv[1];
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 21;
  fmt::print("{:>11} {:>11} {:>10} {:>12}\n", "median", "true", "ratio", "peak");
  bool good = true;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {cairn, "version"},
           {cairn, "predict", "qwen3-8b", "--gpu", "rx-7900-xtx"},
           {cairn, "predict", "deepseek-v3", "--gpu", "mi300x", "--tp", "8", "--json"},
           {cairn, "fit", "qwen3-32b", "--gpu", "all", "--context", "32k"},
           {cairn, "plan", "--model", "qwen3-14b", "--budget", "6000CNY"},
           {cairn, "plan", "--model", "llama-3.1-70b", "--rate", "20", "--slo-ttft", "1s",
            "--slo-tpot", "50ms", "--json"},
           {cairn, "plan", "--model", "llama-3.1-70b", "--rate", "200", "--gpus", "2000"},
           {cairn, "plan", "--model", "llama-3.1-70b", "--rate", "200", "--gpus", "2000",
            "--objective", "energy"},
           {cairn, "plan", "--model", "llama-3.1-70b", "--rate", "1000000"},
           {cairn, "plan", "--model", "llama-3.1-70b", "--concurrency", "65536", "--context",
            "128k"}}) {
    good = measure(words, runs) && good;
  }
  return good ? 0 : 1;
}
