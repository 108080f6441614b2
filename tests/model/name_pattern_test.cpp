#include "cairn/model/name_pattern.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace cairn {
namespace {

TEST(Globs, MatchWholeNames) {
  EXPECT_TRUE(glob_matches("lm_head", "lm_head"));
  EXPECT_FALSE(glob_matches("lm_head", "lm_head2"));
  EXPECT_TRUE(glob_matches("layers.3.self_attn*", "layers.3.self_attn.q_proj"));
  EXPECT_FALSE(glob_matches("layers.3.self_attn*", "layers.13.self_attn.q_proj"));
  EXPECT_TRUE(glob_matches("*k_proj", "layers.0.self_attn.k_proj"));
  EXPECT_FALSE(glob_matches("*k_proj", "layers.0.self_attn.k_proj.bias"));
  EXPECT_TRUE(glob_matches("*.mlp.shared_expert.*", "layers.0.mlp.shared_expert.up_proj"));
  EXPECT_TRUE(glob_matches("layers.[0-2].mlp", "layers.1.mlp"));
  EXPECT_FALSE(glob_matches("layers.[!0-2].mlp", "layers.1.mlp"));
  EXPECT_TRUE(glob_matches("layers.?.mlp", "layers.7.mlp"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXbXbX"));
  EXPECT_TRUE(glob_matches("**", ""));
  EXPECT_FALSE(glob_matches("", "a"));
}

// A part of a name is whole components: "gate" is no part of "gate_proj".
TEST(Components, FollowOneAnother) {
  EXPECT_TRUE(components_match("gate", "layers.3.mlp.gate"));
  EXPECT_FALSE(components_match("gate", "layers.3.mlp.gate_proj"));
  EXPECT_TRUE(components_match("mlp.gate", "layers.3.mlp.gate"));
  EXPECT_TRUE(components_match("layers.*.self_attn", "layers.17.self_attn.q_proj"));
  EXPECT_FALSE(components_match("layers.1.self_attn", "layers.17.self_attn.q_proj"));
  EXPECT_FALSE(components_match("mlp.up_proj", "layers.3.mlp.x.up_proj"));
  EXPECT_FALSE(components_match("a.b.c", "b.c"));
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto regex = NameRegex::parse(pattern);
  EXPECT_TRUE(regex) << pattern;
  std::uint64_t steps = 0;
  return regex && regex->matches(name, steps);
}

// Expressions of published ignore lists, as Python's re.match takes them.
TEST(Regexes, BeginAtTheStart) {
  EXPECT_TRUE(matches(".*self_attn.*", "model.layers.3.self_attn.q_proj"));
  EXPECT_TRUE(matches(R"(.*mlp\.(gate|up|gate_up|down)_proj.*)", "layers.0.mlp.gate_up_proj"));
  EXPECT_FALSE(
      matches(R"(.*mlp\.(gate|up|gate_up|down)_proj.*)", "layers.1.mlp.experts.0.gate_proj"));
  EXPECT_TRUE(matches("vision_tower.*", "vision_tower.blocks.1"));
  EXPECT_FALSE(matches("vision_tower.*", "model.vision_tower"));
  EXPECT_TRUE(matches("lm_head", "lm_head.weight"));  // not to the end
  EXPECT_FALSE(matches("lm_head$", "lm_head.weight"));
  EXPECT_TRUE(matches(R"(^model\.layers\.\d+\.mlp$)", "model.layers.17.mlp"));
  EXPECT_FALSE(matches(R"(^model\.layers\.\d+\.mlp$)", "model.layers.x.mlp"));
  EXPECT_TRUE(matches("layers[.]([0-3]|5)[.]", "layers.5.a"));
  EXPECT_FALSE(matches("layers[.]([0-3]|5)[.]", "layers.4.a"));
  EXPECT_TRUE(matches("(?:ab)+c?", "abab"));
  EXPECT_TRUE(matches("[^a]b", "xb"));
  EXPECT_TRUE(matches("", "anything"));
}

TEST(Regexes, WhatIsNotUnderstoodIsRefused) {
  for (const char* pattern : {"(?!x)a", "a{2}", "(a", "a)", "[a", "*a", "\\b", "a\\"}) {
    const auto regex = NameRegex::parse(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_EQ(regex.error().kind, ErrorKind::unsupported);
    EXPECT_EQ(regex.error().value, pattern);
  }
  EXPECT_FALSE(NameRegex::parse(std::string(600, 'a')));
  EXPECT_FALSE(NameRegex::parse(std::string(100, '(') + std::string(100, ')')));
}

// Nested repetitions take time in proportion to pattern and name, not to a power of it:
// 200 characters through an automaton of fewer than 40 states.
TEST(Regexes, NeverBacktrack) {
  const auto regex = NameRegex::parse("((a*)*)*b");
  ASSERT_TRUE(regex);
  std::uint64_t steps = 0;
  EXPECT_FALSE(regex->matches(std::string(200, 'a'), steps));
  EXPECT_LT(steps, 201U * 40U);
}

}  // namespace
}  // namespace cairn
