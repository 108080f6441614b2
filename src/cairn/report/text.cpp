#include "cairn/report/text.h"

#include <algorithm>
#include <array>

namespace cairn {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Wide and full-width blocks of EastAsianWidth.txt (Unicode 15), joined where
// the gaps hold no assigned narrow character.
constexpr std::array kWide{
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x2329, 0x232a},
    Range{0x23e9, 0x23ec},   Range{0x23f0, 0x23f0},   Range{0x23f3, 0x23f3},
    Range{0x25fd, 0x25fe},   Range{0x2614, 0x2615},   Range{0x2648, 0x2653},
    Range{0x267f, 0x267f},   Range{0x2693, 0x2693},   Range{0x26a1, 0x26a1},
    Range{0x26aa, 0x26ab},   Range{0x26bd, 0x26be},   Range{0x26c4, 0x26c5},
    Range{0x26ce, 0x26ce},   Range{0x26d4, 0x26d4},   Range{0x26ea, 0x26ea},
    Range{0x26f2, 0x26f3},   Range{0x26f5, 0x26f5},   Range{0x26fa, 0x26fa},
    Range{0x26fd, 0x26fd},   Range{0x2705, 0x2705},   Range{0x270a, 0x270b},
    Range{0x2728, 0x2728},   Range{0x274c, 0x274c},   Range{0x274e, 0x274e},
    Range{0x2753, 0x2755},   Range{0x2757, 0x2757},   Range{0x2795, 0x2797},
    Range{0x27b0, 0x27b0},   Range{0x27bf, 0x27bf},   Range{0x2b1b, 0x2b1c},
    Range{0x2b50, 0x2b50},   Range{0x2b55, 0x2b55},   Range{0x2e80, 0x303e},
    Range{0x3041, 0x33ff},   Range{0x3400, 0x4dbf},   Range{0x4e00, 0xa4cf},
    Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},
    Range{0xfe10, 0xfe19},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x16fe0, 0x18aff}, Range{0x1aff0, 0x1b2ff},
    Range{0x1f004, 0x1f004}, Range{0x1f0cf, 0x1f0cf}, Range{0x1f18e, 0x1f18e},
    Range{0x1f191, 0x1f19a}, Range{0x1f200, 0x1f265}, Range{0x1f300, 0x1f320},
    Range{0x1f32d, 0x1f335}, Range{0x1f337, 0x1f37c}, Range{0x1f37e, 0x1f393},
    Range{0x1f3a0, 0x1f3ca}, Range{0x1f3cf, 0x1f3d3}, Range{0x1f3e0, 0x1f3f0},
    Range{0x1f3f4, 0x1f3f4}, Range{0x1f3f8, 0x1f43e}, Range{0x1f440, 0x1f440},
    Range{0x1f442, 0x1f4fc}, Range{0x1f4ff, 0x1f53d}, Range{0x1f54b, 0x1f567},
    Range{0x1f57a, 0x1f57a}, Range{0x1f595, 0x1f596}, Range{0x1f5a4, 0x1f5a4},
    Range{0x1f5fb, 0x1f64f}, Range{0x1f680, 0x1f6c5}, Range{0x1f6cc, 0x1f6cc},
    Range{0x1f6d0, 0x1f6d2}, Range{0x1f6d5, 0x1f6df}, Range{0x1f6eb, 0x1f6ec},
    Range{0x1f6f4, 0x1f6fc}, Range{0x1f7e0, 0x1f7f0}, Range{0x1f90c, 0x1f93a},
    Range{0x1f93c, 0x1f945}, Range{0x1f947, 0x1f9ff}, Range{0x1fa70, 0x1faff},
    Range{0x20000, 0x3fffd}};

// Combining marks, joiners and variation selectors that a report may meet.
constexpr std::array kZero{Range{0x0300, 0x036f}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff},
                           Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f}, Range{0xfeff, 0xfeff}};

template <std::size_t N>
bool in(const std::array<Range, N>& ranges, char32_t c) {
  const auto it = std::ranges::lower_bound(ranges, c, {}, &Range::last);
  return it != ranges.end() && it->first <= c;
}

// Full-width punctuation that may not begin a line.
bool closes(char32_t c) {
  constexpr std::u32string_view kClosing =
      U"\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff1f\uff01"
      U"\uff09\u300b\u300d\u300f\u3011\u201d\u2019";
  return kClosing.find(c) != std::u32string_view::npos;
}

bool opens(char32_t c) {
  constexpr std::u32string_view kOpening = U"\uff08\u300a\u300c\u300e\u3010\u201c\u2018";
  return kOpening.find(c) != std::u32string_view::npos;
}

// A piece that is never broken, and whether a space stood before it.
struct Piece {
  std::string_view text;
  bool spaced;
};

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> out;
  std::size_t begin = 0;
  bool spaced = false;
  char32_t previous = 0;
  std::size_t at = 0;
  const auto end_piece = [&](std::size_t end) {
    if (end > begin) out.push_back({text.substr(begin, end - begin), spaced});
    begin = end;
  };
  while (at < text.size()) {
    const std::size_t start = at;
    const char32_t c = next_character(text, at);
    if (c == U' ' || c == U'\n') {
      end_piece(start);
      begin = at;
      spaced = true;
      previous = 0;
      continue;
    }
    const bool beside_wide = column_width(c) == 2 || column_width(previous) == 2;
    if (previous != 0 && beside_wide && !closes(c) && !opens(previous)) {
      end_piece(start);
      spaced = false;
    }
    if (begin == start && previous == 0 && out.empty()) spaced = false;
    previous = c;
  }
  end_piece(text.size());
  return out;
}

}  // namespace

char32_t next_character(std::string_view text, std::size_t& at) {
  constexpr char32_t kBad = 0xfffd;
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at++);
  if (lead < 0x80) return lead;
  if (lead < 0xc2 || lead > 0xf4) return kBad;
  const std::size_t more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  auto c = static_cast<char32_t>(lead & (0x3fU >> more));
  for (std::size_t i = 0; i < more; ++i) {
    if (at + i >= text.size() || (byte(at + i) & 0xc0U) != 0x80U) return kBad;
    c = c << 6U | (byte(at + i) & 0x3fU);
  }
  constexpr std::array<char32_t, 4> kLeast{0, 0x80, 0x800, 0x10000};
  if (c < kLeast[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return kBad;
  at += more;
  return c;
}

int column_width(char32_t c) {
  if (in(kZero, c)) return 0;
  return in(kWide, c) ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    width += static_cast<std::size_t>(column_width(next_character(text, at)));
  }
  return width;
}

std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return align == Align::left ? std::string(text) + space : space + std::string(text);
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t used = 0;
  for (const Piece& piece : pieces_of(text)) {
    const std::size_t w = display_width(piece.text);
    const std::size_t gap = piece.spaced && !line.empty() ? 1 : 0;
    if (!line.empty() && used + gap + w > width) {
      lines.push_back(std::move(line));
      line.clear();
      used = 0;
    } else if (gap != 0) {
      line += ' ';
      ++used;
    }
    line += piece.text;
    used += w;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace cairn
