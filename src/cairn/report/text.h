// Text for fixed-width output: how many columns it takes, padding, wrapping.
//
// Widths follow Unicode East Asian Width (UAX #11): wide and full-width
// characters take two columns, combining marks none. Input is UTF-8; a byte
// that is no part of a character counts as one column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

/// The next character of `text` from `at` on, which moves behind it; U+FFFD
/// for malformed UTF-8. Requires at < text.size().
char32_t next_character(std::string_view text, std::size_t& at);

/// Columns of one character: 0, 1 or 2.
int column_width(char32_t c);
/// Columns of a text without line breaks.
std::size_t display_width(std::string_view text);

enum class Align : std::uint8_t { left, right };
/// Pads with spaces to `width` columns; a longer text stays as it is.
std::string pad(std::string_view text, std::size_t width, Align align = Align::left);

/// Breaks a paragraph into lines of at most `width` columns: at spaces, and
/// between Chinese characters but not before closing punctuation. A word that
/// is longer than a line gets a line of its own.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace cairn
