// Patterns over the names of a checkpoint's modules ("layers.3.self_attn.q_proj"),
// as quantisation tools write them to say which modules they left alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

/// The whole name against a pattern in which * stands for any characters, ? for one
/// and [abc], [!abc] for one of a set (Python's fnmatch, which NVIDIA's and AMD's
/// tools use).
bool glob_matches(std::string_view pattern, std::string_view name);

/// True where the dotted components of `pattern` (each may hold *) follow one another
/// somewhere in those of `name`: "mlp.gate" is in "layers.3.mlp.gate", not in
/// "layers.3.mlp.gate_proj".
bool components_match(std::string_view pattern, std::string_view name);

/// A regular expression, of the syntax that occurs in ignore lists: characters, ., \d \w \s
/// and escapes, [sets], (groups) with |, * + ?, ^ and $. It is run as an automaton, in
/// time proportional to pattern times name.
class NameRegex {
 public:
  /// Errors: unsupported, with the pattern, for anything else (look-ahead, counts).
  static Result<NameRegex> parse(std::string_view pattern);
  /// As Python's re.match: from the start of the name, not necessarily to its end.
  /// Adds what it took to `steps`.
  [[nodiscard]] bool matches(std::string_view name, std::uint64_t& steps) const;
  /// True where it begins with .* and so does not care what stands before a name.
  [[nodiscard]] bool begins_anywhere() const { return begins_anywhere_; }
  /// True where no digit and no set stands in it: digits of a name are all the same to it.
  [[nodiscard]] bool blind_to_digits() const { return blind_to_digits_; }

 private:
  friend class RegexParser;
  enum class Kind : std::uint8_t { set, split, start, end, accept };
  struct State {
    Kind kind = Kind::accept;
    std::uint32_t next = 0;   // of all but accept
    std::uint32_t other = 0;  // of split
    std::uint32_t set = 0;    // index in sets_
  };
  using Set = std::vector<bool>;  // 256 flags

  struct Active {
    std::vector<std::uint32_t> states;
    std::vector<bool> is;  // of each state
  };

  void follow(std::uint32_t state, std::size_t at, std::size_t size, Active& active) const;

  std::vector<State> states_;
  std::vector<Set> sets_;
  std::uint32_t first_ = 0;
  bool begins_anywhere_ = false;
  bool blind_to_digits_ = false;
};

}  // namespace cairn
