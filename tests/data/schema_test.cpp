#include "cairn/data/schema.h"

#include <gtest/gtest.h>

#include "cairn/data/csv.h"
#include "cairn/data/rules.h"
#include "cairn/data/yaml.h"

namespace cairn {
namespace {

constexpr std::string_view kSchema = R"(
type: object
additionalProperties: false
required: [id, memory]
properties:
  id: {type: string, pattern: "^[a-z0-9-]+$"}
  memory: {type: [number, "null"], minimum: 1, maximum: 1000}
  status: {enum: [shipping, announced, null]}
  units: {type: integer}
  links:
    type: array
    minItems: 1
    uniqueItems: true
    items: {type: string}
  extra:
    type: object
    additionalProperties: {type: number}
)";

std::vector<std::string> findings(std::string_view schema, const Document& document) {
  const auto rules = parse_yaml(schema, "schema.yaml");
  EXPECT_TRUE(rules.has_value());
  const auto sound = check_schema(rules->root());
  EXPECT_TRUE(sound.has_value()) << sound.error().to_string();
  std::vector<std::string> out;
  for (const Error& e : validate(document.root(), rules->root())) out.push_back(e.to_string());
  return out;
}

std::vector<std::string> of_yaml(std::string_view text) {
  return findings(kSchema, *parse_yaml(text, "x.yaml"));
}

TEST(Schema, AcceptsAGoodDocument) {
  EXPECT_TRUE(of_yaml("id: a-1\nmemory: 24\nstatus: null\nunits: 3\nlinks: [a, b]\n"
                      "extra: {x: 1.5}\n")
                  .empty());
  EXPECT_TRUE(of_yaml("id: a\nmemory: null\n").empty());
}

TEST(Schema, NamesFileLineAndField) {
  using Findings = std::vector<std::string>;
  EXPECT_EQ(of_yaml("id: a\n"), Findings{"x.yaml:1: memory: missing field"});
  EXPECT_EQ(of_yaml("id: A\nmemory: 0.5\n"),
            (Findings{"x.yaml:1: id: not of the expected form: \"A\"; expected ^[a-z0-9-]+$",
                      "x.yaml:2: memory: out of range: \"0.5\"; expected at least 1"}));
  EXPECT_EQ(of_yaml("id: a\nmemory: many\n"),
            Findings{"x.yaml:2: memory: wrong type: \"many\"; expected number, null"});
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nspeed: 2\n"), Findings{"x.yaml:3: speed: unknown field"});
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nstatus: sold\n"),
            Findings{"x.yaml:3: status: not one of the choices: \"sold\"; expected one of "
                     "shipping, announced, null"});
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nunits: 1.5\n"),
            Findings{"x.yaml:3: units: wrong type: \"1.5\"; expected integer"});
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nlinks: []\n"),
            Findings{"x.yaml:3: links: too few items: \"a list\"; expected at least 1"});
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nlinks:\n- b\n- 7\n- b\n"),
            (Findings{"x.yaml:5: links[1]: wrong type: \"7\"; expected string",
                      "x.yaml:6: links[2]: the same item twice: \"b\""}));
  EXPECT_EQ(of_yaml("id: a\nmemory: 1\nextra: {x: y}\n"),
            Findings{"x.yaml:3: extra.x: wrong type: \"y\"; expected number"});
}

TEST(Schema, Tables) {
  constexpr std::string_view kColumns = R"(
columns:
  name: {type: string, pattern: "^[a-z]+$"}
  amount: {type: number, minimum: 0}
  sure: {type: boolean}
required: [name, amount]
)";
  const auto of_csv = [&](std::string_view text) {
    return findings(kColumns, *parse_csv(text, "x.csv"));
  };
  using Findings = std::vector<std::string>;
  EXPECT_TRUE(of_csv("name,amount,sure\na,1,true\nb,2.5,\n").empty());
  EXPECT_TRUE(of_csv("name,amount\na,1\n").empty());
  EXPECT_EQ(of_csv("name\na\n"), Findings{"x.csv:1: amount: missing column"});
  EXPECT_EQ(of_csv("name,amount,what\na,1,2\n"), Findings{"x.csv:1: what: unknown column"});
  EXPECT_EQ(of_csv("name,amount,sure\nA,,yes\n"),
            (Findings{"x.csv:2: name: not of the expected form: \"A\"; expected ^[a-z]+$",
                      "x.csv:2: amount: an empty cell; expected a value",
                      "x.csv:2: sure: wrong type: \"yes\"; expected boolean"}));
  EXPECT_EQ(of_csv("name,amount\na,-1\n"),
            Findings{"x.csv:2: amount: out of range: \"-1\"; expected at least 0"});
}

TEST(Schema, Definitions) {
  constexpr std::string_view kShared = R"(
definitions:
  size: {type: number, minimum: 1}
properties:
  a: {$ref: "#/definitions/size"}
  b: {type: array, items: {$ref: "#/definitions/size"}}
)";
  const auto of = [&](std::string_view text) { return findings(kShared, *parse_yaml(text, "x")); };
  EXPECT_TRUE(of("a: 1\nb: [2, 3]\n").empty());
  EXPECT_EQ(of("a: 0\nb: [x]\n"),
            (std::vector<std::string>{"x:1: a: out of range: \"0\"; expected at least 1",
                                      "x:2: b[0]: wrong type: \"x\"; expected number"}));
}

TEST(Schema, RefusesRulesThatNobodyWouldCheck) {
  for (const char* text :
       {"maxLength: 3", "type: text", "pattern: \"[\"", "minimum: low", "enum: a",
        "properties: {a: {oneOf: []}}", "items: 3", "items: {$ref: \"#/definitions/a\"}",
        "{definitions: {a: {$ref: \"#/definitions/a\"}}}"}) {
    const auto schema = parse_yaml(text, "schema.yaml");
    ASSERT_TRUE(schema.has_value()) << text;
    EXPECT_FALSE(check_schema(schema->root()).has_value()) << text;
  }
}

TEST(Rules, PatternsOfNames) {
  EXPECT_TRUE(matches_pattern("a/b.yaml", "a/*.yaml"));
  EXPECT_TRUE(matches_pattern("a/b.yaml", "a/b.yaml"));
  EXPECT_FALSE(matches_pattern("a/c/b.yaml", "a/*.yaml"));
  EXPECT_FALSE(matches_pattern("a/b.yml", "a/*.yaml"));
  EXPECT_TRUE(matches_pattern("a/b/c.yaml", "a/*/*.yaml"));
}

// An image of two documents with one schema, written to a file and read back.
std::vector<std::string> of_image(std::string_view first, std::string_view second) {
  std::vector<Document> documents;
  documents.push_back(*parse_yaml(R"(
schemas:
- documents: cards/*.yaml
  schema: schema/card.yaml
  names: [id, aliases]
  file_name: id
  references:
  - {field: peer, documents: cards/*.yaml, names: [id]}
)",
                                  "schema/index.yaml"));
  documents.push_back(*parse_yaml("type: object\n", "schema/card.yaml"));
  documents.push_back(*parse_yaml(first, "cards/one.yaml"));
  documents.push_back(*parse_yaml(second, "cards/two.yaml"));
  const std::string path = testing::TempDir() + "rules_test.image";
  EXPECT_TRUE(write_image(path, documents).has_value());
  const auto image = Image::open(path);
  EXPECT_TRUE(image.has_value());
  const auto report = check_data(*image);
  EXPECT_TRUE(report.has_value());
  EXPECT_EQ(report->documents, 2U);
  std::vector<std::string> out;
  for (const Error& e : report->errors) out.push_back(e.to_string());
  return out;
}

TEST(Rules, NamesSourcesAndReferences) {
  using Findings = std::vector<std::string>;
  EXPECT_TRUE(of_image("id: one\naliases: [uno]\n", "id: two\npeer: one\n").empty());
  EXPECT_EQ(of_image("id: one\n", "id: two\naliases: [ONE]\n"),
            Findings{"cards/two.yaml:2: aliases: a name that is already taken: \"ONE\"; expected "
                     "another than at cards/one.yaml:1"});
  EXPECT_EQ(of_image("id: one\n", "id: zwei\n"),
            Findings{"cards/two.yaml:1: id: not the name of the file: \"zwei\"; expected two"});
  EXPECT_EQ(of_image("id: one\n", "id: two\npeer: three\n"),
            Findings{"cards/two.yaml:2: peer: no entry of this name: \"three\"; expected a name "
                     "in cards/*.yaml"});
  EXPECT_EQ(of_image("id: one\nsources:\n  a: {url: x}\nfigures:\n  m: {value: 1, source: b}\n",
                     "id: two\n"),
            (Findings{"cards/one.yaml:3: sources.a.date: missing field",
                      "cards/one.yaml:5: source: no such key of sources: \"b\""}));
}

}  // namespace
}  // namespace cairn
