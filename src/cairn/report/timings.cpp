#include "cairn/report/timings.h"

#include <algorithm>

namespace cairn {

Timings::Scope::~Scope() {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  timings_->add(name_, spent.count());
}

void Timings::add(std::string_view name, double seconds) {
  auto it = std::ranges::find(entries_, name, &Entry::name);
  if (it == entries_.end()) it = entries_.insert(entries_.end(), {std::string(name), 0, 0});
  it->seconds += seconds;
  ++it->times;
}

}  // namespace cairn
