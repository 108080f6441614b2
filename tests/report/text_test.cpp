#include "cairn/report/text.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

// Widths from EastAsianWidth.txt of Unicode 15: W and F are two columns.
TEST(Text, WidthOfWideAndCombiningCharacters) {
  EXPECT_EQ(display_width("cairn"), 5U);
  EXPECT_EQ(display_width("显存"), 4U);              // U+663E, U+5B58: W
  EXPECT_EQ(display_width("，"), 2U);                // U+FF0C: F
  EXPECT_EQ(display_width("70–105"), 6U);            // U+2013: A, one column
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);         // e and U+0301
  EXPECT_EQ(display_width("한글"), 4U);              // U+D55C, U+AE00: W
  EXPECT_EQ(display_width("\xf0\x9f\x9a\x80"), 2U);  // U+1F680: W
}

TEST(Text, MalformedBytesAreOneColumnEach) {
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(display_width("\xe6\x98"), 2U);      // a character cut short
  EXPECT_EQ(display_width("\xc0\x80"), 2U);      // an overlong form
  EXPECT_EQ(display_width("\xed\xa0\x80"), 3U);  // a surrogate
}

TEST(Text, PadsByColumns) {
  EXPECT_EQ(pad("显存", 6), "显存  ");
  EXPECT_EQ(pad("7", 3, Align::right), "  7");
  EXPECT_EQ(pad("longer", 3), "longer");
}

TEST(Text, WrapsAtSpacesAndBetweenChineseCharacters) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("显存不足时请减小", 8), (std::vector<std::string>{"显存不足", "时请减小"}));
  // A comma never begins a line, so it takes the character before it along.
  EXPECT_EQ(wrap("显存不足，请", 8), (std::vector<std::string>{"显存不", "足，请"}));
  EXPECT_EQ(wrap("incomprehensible", 4), (std::vector<std::string>{"incomprehensible"}));
  EXPECT_EQ(wrap("用 vLLM 运行", 20), (std::vector<std::string>{"用 vLLM 运行"}));
  EXPECT_TRUE(wrap("", 10).empty());
}

}  // namespace
}  // namespace cairn
