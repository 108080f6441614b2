#include "cairn/report/translator.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cairn/data/document.h"

namespace cairn {
namespace {

void word(std::string& out, std::uint32_t w, bool swapped) {
  if (swapped) w = __builtin_bswap32(w);
  char bytes[4];
  std::memcpy(bytes, &w, 4);
  out.append(bytes, 4);
}

// A catalogue with one sentence, laid out by hand after the gettext manual:
// header of 28 bytes, a table of originals at 28, one of translations at 36,
// then the strings from 44 on.
std::string catalogue(const std::string& id, const std::string& text, bool swapped = false) {
  std::string out;
  const auto id_size = static_cast<std::uint32_t>(id.size());
  const auto text_size = static_cast<std::uint32_t>(text.size());
  for (const std::uint32_t w : {0x950412deU, 0U, 1U, 28U, 36U, 0U, 44U}) word(out, w, swapped);
  for (const std::uint32_t w : {id_size, 44U, text_size, 44U + id_size + 1}) word(out, w, swapped);
  return out + id + '\0' + text + '\0';
}

TEST(Translator, EnglishNeedsNoCatalogue) {
  const Translator t;
  EXPECT_EQ(t.tr("Deployment"), "Deployment");
  EXPECT_EQ(t.tr("{} of {}", 3, "8"), "3 of 8");
}

// What was expected is put together where an error occurs: numbers in a known form.
TEST(Translator, TranslatesTheFormOfWhatWasExpected) {
  const auto t = Translator::parse(Language::zh, catalogue("{} to {}", "{} 到 {}"), "test.mo");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->tr(bad_input("m").want("1 to 8 tok")), "m; expected 1 到 8 tok");
  EXPECT_EQ(t->tr(bad_input("m").want("what adds to it")), "m; expected what adds to it");
  EXPECT_EQ(Translator().tr(bad_input("m").want("1 to 8 tok")), "m; expected 1 to 8 tok");
}

TEST(Translator, ReadsBothByteOrders) {
  for (const bool swapped : {false, true}) {
    const auto t =
        Translator::parse(Language::zh, catalogue("{} of {}", "{1} 中的 {0}", swapped), "test.mo");
    ASSERT_TRUE(t.has_value());
    EXPECT_EQ(t->tr("{} of {}", 3, 8), "8 中的 3");
    EXPECT_EQ(t->tr("unknown"), "unknown");
    EXPECT_EQ(t->tr(message("{} of {}", 1, 2)), "2 中的 1");
  }
}

TEST(Translator, RefusesDamagedCatalogues) {
  const std::string good = catalogue("a", "b");
  for (std::size_t size = 0; size + 4 < good.size(); ++size) {
    EXPECT_FALSE(Translator::parse(Language::zh, good.substr(0, size), "cut.mo")) << size;
  }
  std::string bad = good;
  bad[8] = '\x7f';  // 127 sentences in a file of 48 bytes
  const auto t = Translator::parse(Language::zh, bad, "bad.mo");
  ASSERT_FALSE(t);
  EXPECT_EQ(t.error().to_string(), "bad.mo: not a message catalogue");
}

TEST(Translator, LanguageOfTheEnvironment) {
  EXPECT_EQ(language_of("zh_CN.UTF-8"), Language::zh);
  EXPECT_EQ(language_of("zh"), Language::zh);
  EXPECT_EQ(language_of("zha_CN"), Language::en);  // Zhuang is not Chinese
  EXPECT_EQ(language_of("C.UTF-8"), Language::en);
  EXPECT_EQ(language_of("en_US", "zh_CN", "zh_CN"), Language::en);
  EXPECT_EQ(language_of("", "zh_CN", "en_US"), Language::zh);
  EXPECT_EQ(language_of("", "", "zh_TW"), Language::zh);
}

TEST(Translator, ErrorsOnOneLine) {
  const auto t = Translator::parse(Language::zh, catalogue("one of ", "之一："), "test.mo");
  ASSERT_TRUE(t);
  const Error error =
      bad_input("out of range").at("plan.yaml:3").in("tp").got("0").want("one of 1, 2");
  EXPECT_EQ(t->tr(error), "plan.yaml:3: tp: out of range: \"0\"; expected 之一：1, 2");
  EXPECT_EQ(Translator().tr(error), error.to_string());
}

TEST(Message, FillsPlaceholders) {
  EXPECT_EQ(fill("{} and {}", {"a"}), "a and {}");
  EXPECT_EQ(fill("{1}{0}", {"a", "b"}), "ba");
  EXPECT_EQ(fill("{x} {", {"a"}), "{x} {");
}

}  // namespace
}  // namespace cairn
