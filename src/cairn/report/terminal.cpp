#include "cairn/report/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace cairn {

std::string Style::paint(Tone tone, std::string_view text) const {
  if (!color_ || tone == Tone::plain || text.empty()) return std::string(text);
  std::string_view code;
  switch (tone) {
    case Tone::strong:
      code = "1";
      break;
    case Tone::dim:
      code = "2";
      break;
    case Tone::good:
      code = "32";
      break;
    case Tone::warn:
      code = "33";
      break;
    case Tone::bad:
      code = "31";
      break;
    case Tone::plain:
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

bool wants_color(std::FILE* stream, std::string_view no_color, std::string_view term) {
  return no_color.empty() && term != "dumb" && isatty(fileno(stream)) == 1;
}

std::size_t text_width(std::FILE* stream) {
  constexpr std::size_t kDefault = 80;
  winsize size{};
  if (isatty(fileno(stream)) != 1 || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0) {
    return kDefault;
  }
  return std::clamp<std::size_t>(size.ws_col, 40, 100);
}

ProgressLine::ProgressLine(std::FILE* stream, bool enabled)
    : stream_(stream), enabled_(enabled && isatty(fileno(stream)) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::string_view text, double share) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stream_, "\r\x1b[K{} {:.0f}%", text, std::clamp(share, 0.0, 1.0) * 100);
  std::fflush(stream_);
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace cairn
