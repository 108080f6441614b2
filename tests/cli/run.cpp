#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

extern char** environ;  // NOLINT: POSIX says so

namespace cairn::test {
namespace {

std::vector<std::string> environment(const std::vector<std::string>& extra) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    const std::string name = entry.substr(0, entry.find('='));
    bool replaced = false;
    for (const std::string& x : extra) replaced |= x.substr(0, x.find('=')) == name;
    if (!replaced) out.push_back(entry);
  }
  for (const std::string& x : extra) {
    if (x.find('=') != std::string::npos) out.push_back(x);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

// Reads both ends until they close; false if it takes longer than a minute.
bool collect(std::array<pollfd, 2> ends, std::array<std::string*, 2> texts) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  int open = 2;
  while (open > 0) {
    if (std::chrono::steady_clock::now() > limit) return false;
    if (poll(ends.data(), ends.size(), 1000) < 0) return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t n = read(ends[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
      } else {
        ends[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

}  // namespace

Outcome run(const std::vector<std::string>& argv, const std::vector<std::string>& extra) {
  Outcome out;
  int out_pipe[2];
  int err_pipe[2];
  if (pipe2(out_pipe, O_CLOEXEC) != 0 || pipe2(err_pipe, O_CLOEXEC) != 0) return out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_pipe[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err_pipe[1], 2);
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = environment(extra);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0].c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out_pipe[1]);
  close(err_pipe[1]);
  if (failed == 0) {
    const std::array<pollfd, 2> ends{pollfd{out_pipe[0], POLLIN, 0},
                                     pollfd{err_pipe[0], POLLIN, 0}};
    if (!collect(ends, {&out.out, &out.err})) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(out_pipe[0]);
  close(err_pipe[0]);
  return out;
}

std::vector<std::string> split_command_line(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\n') {
      if (inside) out.push_back(word);
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) out.push_back(word);
  return out;
}

}  // namespace cairn::test
