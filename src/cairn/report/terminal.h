// What the output goes to: colours and progress only where somebody looks.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace cairn {

/// How a text is meant; a terminal shows it as a colour.
enum class Tone : std::uint8_t { plain, strong, dim, good, warn, bad };

/// Paints text, or leaves it as it is where colours are off.
class Style {
 public:
  Style() = default;
  explicit Style(bool color) : color_(color) {}
  [[nodiscard]] bool color() const { return color_; }
  [[nodiscard]] std::string paint(Tone tone, std::string_view text) const;

 private:
  bool color_ = false;
};

/// True if `stream` is a terminal that understands colours, NO_COLOR is unset
/// or empty (https://no-color.org) and TERM is not "dumb".
bool wants_color(std::FILE* stream, std::string_view no_color, std::string_view term);

/// Columns of the terminal behind `stream`, within 40 and 100; 80 elsewhere.
std::size_t text_width(std::FILE* stream);

/// One line on a terminal that is written over as work goes on, and wiped at
/// the end. Does nothing where it is not enabled.
class ProgressLine {
 public:
  ProgressLine(std::FILE* stream, bool enabled);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows "text 42%"; at most ten times a second.
  void update(std::string_view text, double share);
  void clear();

 private:
  std::FILE* stream_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace cairn
