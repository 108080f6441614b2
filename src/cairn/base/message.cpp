#include "cairn/base/message.h"

#include <charconv>

namespace cairn {

std::string fill(std::string_view sentence, const std::vector<std::string>& values) {
  std::string out;
  std::size_t next = 0;
  std::size_t at = 0;
  while (at < sentence.size()) {
    const std::size_t open = sentence.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : sentence.find('}', open);
    if (close == std::string_view::npos) break;
    out += sentence.substr(at, open - at);
    const std::string_view name = sentence.substr(open + 1, close - open - 1);
    std::size_t index = next;
    bool placeholder = true;
    if (name.empty()) {
      ++next;
    } else {
      const auto r = std::from_chars(name.data(), name.data() + name.size(), index);
      placeholder = r.ec == std::errc() && r.ptr == name.data() + name.size();
    }
    out += placeholder && index < values.size() ? std::string_view(values[index])
                                                : sentence.substr(open, close + 1 - open);
    at = close + 1;
  }
  out += sentence.substr(at);
  return out;
}

}  // namespace cairn
