#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "cairn/data/json.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/table.h"
#include "cairn/report/timings.h"

namespace cairn {
namespace {

TEST(TextTable, AlignsByColumnsNotBytes) {
  TextTable table({{"卡"}, {"tok/s", Align::right}});
  table.add({"显卡甲", "8"});
  table.add({"XTX", "123"});
  EXPECT_EQ(table.render(Style()),
            "卡      tok/s\n"
            "显卡甲      8\n"
            "XTX       123\n");
}

TEST(TextTable, ColoursDoNotMoveColumns) {
  TextTable table({{"a"}, {"b"}});
  table.add({{"no", Tone::bad}, "x"});
  EXPECT_EQ(table.render(Style(true)),
            "\x1b[1ma\x1b[0m   \x1b[1mb\x1b[0m\n"
            "\x1b[31mno\x1b[0m  x\n");
}

TEST(TextTable, Markdown) {
  TextTable table({{"a"}, {"b", Align::right}});
  table.add({"on|off", "1"});
  EXPECT_EQ(table.markdown(), "| a | b |\n| --- | ---: |\n| on\\|off | 1 |\n");
}

TEST(JsonWriter, ReadsBackAsTheSameNumbers) {
  const double values[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789012.5};
  JsonWriter json;
  json.begin_object().array("v", values).end_object();
  const auto document = parse_json(json.text(), "test");
  ASSERT_TRUE(document.has_value()) << document.error().to_string();
  const Node v = *document->root().find("v");
  for (std::uint32_t i = 0; i < v.size(); ++i) EXPECT_EQ(*v.at(i).number(), values[i]);
}

TEST(JsonWriter, ShortestDoublesAndNulls) {
  JsonWriter json(0);
  json.begin_array().value(0.1).value(2.0).value(std::numeric_limits<double>::infinity());
  json.value(std::optional<Bytes>{}).value(true).value(std::int64_t{-7}).end_array();
  EXPECT_EQ(json.text(), "[0.1,2,null,null,true,-7]\n");
}

TEST(JsonWriter, StringsAreValidWhateverComesIn) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(json_quoted("\xff显"), "\"\xef\xbf\xbd显\"");
}

TEST(JsonWriter, NestsAndIndents) {
  JsonWriter json;
  json.begin_object().field("a", 1).key("b").begin_array().end_array().end_object();
  EXPECT_EQ(json.text(), "{\n  \"a\": 1,\n  \"b\": []\n}\n");
}

TEST(JsonWriter, WrongNestingIsAFault) {
  EXPECT_THROW(JsonWriter().begin_object().end_array(), std::logic_error);
  EXPECT_THROW(JsonWriter().begin_array().key("a"), std::logic_error);
  EXPECT_THROW((void)JsonWriter().begin_object().text(), std::logic_error);
}

TEST(Timings, AddsUpByName) {
  Timings timings;
  timings.add("a", 1);
  timings.add("b", 2);
  timings.add("a", 3);
  ASSERT_EQ(timings.entries().size(), 2U);
  EXPECT_EQ(timings.entries()[0].seconds, 4);
  EXPECT_EQ(timings.entries()[0].times, 2);
}

}  // namespace
}  // namespace cairn
