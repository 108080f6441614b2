// Named times of the program's own stages, printed by `--timings`.
//
//   const auto timer = timings.scope("open the data");   // ends with its block
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

class Timings {
 public:
  struct Entry {
    std::string name;
    double seconds = 0;
    int times = 0;
  };

  class Scope {
   public:
    Scope(Timings* timings, std::string_view name)
        : timings_(timings), name_(name), begin_(std::chrono::steady_clock::now()) {}
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Timings* timings_;
    std::string_view name_;
    std::chrono::steady_clock::time_point begin_;
  };

  /// Adds the time until the end of the scope to `name`, which must outlive it.
  [[nodiscard]] Scope scope(std::string_view name) { return {this, name}; }
  void add(std::string_view name, double seconds);
  /// In the order in which they were first met.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace cairn
