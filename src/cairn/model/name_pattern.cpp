#include "cairn/model/name_pattern.h"

#include <optional>
#include <utility>

namespace cairn {
namespace {

constexpr std::size_t kMaxPattern = 512;
constexpr int kMaxDepth = 32;

// The set that starts at pattern[at] == '['; sets `at` behind it. Nothing where it is not closed.
std::optional<bool> in_set(std::string_view pattern, std::size_t& at, char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      at = i + 1;
      return found != negated;
    }
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 3;
    } else {
      found = found || pattern[i] == c;
      ++i;
    }
  }
  return std::nullopt;
}

// One character of a pattern (not *) against one of a name; `at` is set behind it.
bool one_matches(std::string_view pattern, std::size_t& at, char c) {
  if (pattern[at] == '[') {
    if (const auto in = in_set(pattern, at, c)) return *in;
  }
  const bool same = pattern[at] == '?' || pattern[at] == c;
  ++at;
  return same;
}

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t dot = name.find('.');
    out.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // behind the last *
  std::size_t retry = 0;                      // where it stopped taking characters
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      retry = n;
      continue;
    }
    if (p < pattern.size() && one_matches(pattern, p, name[n])) {
      ++n;
      continue;
    }
    if (star == std::string_view::npos) return false;
    p = star;
    n = ++retry;
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool components_match(std::string_view pattern, std::string_view name) {
  const auto wanted = components(pattern);
  const auto parts = components(name);
  for (std::size_t start = 0; start + wanted.size() <= parts.size(); ++start) {
    std::size_t same = 0;
    while (same < wanted.size() && glob_matches(wanted[same], parts[start + same])) ++same;
    if (same == wanted.size()) return true;
  }
  return false;
}

// Recursive descent to Thompson's automaton. A fragment is entered at `first`; its last
// state, a split of which only `next` is used, is to be joined to what follows.
class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern) : pattern_(pattern) {}

  Result<NameRegex> parse() {
    if (pattern_.size() > kMaxPattern) return fail(refused("a pattern too long"));
    CAIRN_TRY(const Fragment all, alternatives(0));
    if (at_ < pattern_.size()) return fail(refused("a parenthesis too many in a pattern"));
    join(all, add(NameRegex::Kind::accept));
    regex_.first_ = all.first;
    regex_.begins_anywhere_ = pattern_.starts_with(".*");
    regex_.blind_to_digits_ = pattern_.find_first_of("[0123456789") == std::string_view::npos;
    return std::move(regex_);
  }

 private:
  struct Fragment {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  [[nodiscard]] Error refused(std::string message) const {
    return unsupported(std::move(message)).in("regular expression").got(pattern_);
  }

  std::uint32_t add(NameRegex::Kind kind) {
    regex_.states_.push_back({.kind = kind, .next = 0, .other = 0, .set = 0});
    return static_cast<std::uint32_t>(regex_.states_.size() - 1);
  }

  void join(const Fragment& f, std::uint32_t to) {
    regex_.states_[f.last].next = to;
    regex_.states_[f.last].other = to;
  }

  Fragment empty() {
    const std::uint32_t s = add(NameRegex::Kind::split);
    return {s, s};
  }

  [[nodiscard]] bool more() const { return at_ < pattern_.size(); }

  Result<Fragment> alternatives(int depth) {
    if (depth > kMaxDepth) return fail(refused("a pattern too deep"));
    CAIRN_TRY(Fragment left, sequence(depth));
    while (more() && pattern_[at_] == '|') {
      ++at_;
      CAIRN_TRY(const Fragment right, sequence(depth));
      const std::uint32_t fork = add(NameRegex::Kind::split);
      regex_.states_[fork].next = left.first;
      regex_.states_[fork].other = right.first;
      const std::uint32_t end = add(NameRegex::Kind::split);
      join(left, end);
      join(right, end);
      left = {fork, end};
    }
    return left;
  }

  Result<Fragment> sequence(int depth) {
    Fragment all = empty();
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      CAIRN_TRY(Fragment next, atom(depth));
      next = repeated(next);
      join(all, next.first);
      all.last = next.last;
    }
    return all;
  }

  Fragment repeated(Fragment f) {
    while (more() && (pattern_[at_] == '*' || pattern_[at_] == '+' || pattern_[at_] == '?')) {
      const char c = pattern_[at_++];
      const std::uint32_t fork = add(NameRegex::Kind::split);
      const std::uint32_t end = add(NameRegex::Kind::split);
      regex_.states_[fork].next = f.first;
      regex_.states_[fork].other = end;
      join(f, c == '?' ? end : fork);
      f = {c == '+' ? f.first : fork, end};
    }
    return f;
  }

  Result<Fragment> atom(int depth) {
    const char c = pattern_[at_++];
    switch (c) {
      case '(':
        return group(depth);
      case '^':
        return marker(NameRegex::Kind::start);
      case '$':
        return marker(NameRegex::Kind::end);
      case '.':
        return set(NameRegex::Set(256, true));
      case '[':
        return bracket();
      case '\\':
        return escape();
      case '*':
      case '+':
      case '?':
      case '{':
        return fail(refused("a repetition that is not understood"));
      default:
        return single(c);
    }
  }

  Result<Fragment> group(int depth) {
    if (more() && pattern_[at_] == '?') {
      if (!pattern_.substr(at_).starts_with("?:")) {
        return fail(refused("a kind of group that is not understood"));
      }
      at_ += 2;
    }
    CAIRN_TRY(const Fragment inner, alternatives(depth + 1));
    if (!more()) return fail(refused("a parenthesis that is not closed"));
    ++at_;
    return inner;
  }

  Fragment marker(NameRegex::Kind kind) {
    const std::uint32_t s = add(kind);
    const std::uint32_t end = add(NameRegex::Kind::split);
    regex_.states_[s].next = end;
    return {s, end};
  }

  Fragment set(NameRegex::Set flags) {
    const Fragment f = marker(NameRegex::Kind::set);
    regex_.states_[f.first].set = static_cast<std::uint32_t>(regex_.sets_.size());
    regex_.sets_.push_back(std::move(flags));
    return f;
  }

  Fragment single(char c) {
    NameRegex::Set flags(256, false);
    flags[static_cast<unsigned char>(c)] = true;
    return set(std::move(flags));
  }

  static void add_range(NameRegex::Set& flags, char low, char high) {
    for (int c = static_cast<unsigned char>(low); c <= static_cast<unsigned char>(high); ++c) {
      flags[static_cast<std::size_t>(c)] = true;
    }
  }

  // \d and its like; false for an escaped character.
  static bool add_class(NameRegex::Set& flags, char c) {
    if (c == 'd' || c == 'w') add_range(flags, '0', '9');
    if (c == 'w') {
      add_range(flags, 'a', 'z');
      add_range(flags, 'A', 'Z');
      add_range(flags, '_', '_');
    }
    if (c == 's') add_range(flags, ' ', ' ');
    return c == 'd' || c == 'w' || c == 's';
  }

  Result<Fragment> escape() {
    if (!more()) return fail(refused("a pattern that ends in a backslash"));
    const char c = pattern_[at_++];
    NameRegex::Set flags(256, false);
    if (add_class(flags, c)) return set(std::move(flags));
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) return fail(refused("an escape that is not understood"));
    return single(c);
  }

  Result<Fragment> bracket() {
    NameRegex::Set flags(256, false);
    const bool negated = more() && pattern_[at_] == '^';
    if (negated) ++at_;
    for (bool first = true;; first = false) {
      if (!more()) return fail(refused("a set that is not closed"));
      char c = pattern_[at_++];
      if (c == ']' && !first) break;
      if (c == '\\' && more()) {
        c = pattern_[at_++];
        if (add_class(flags, c)) continue;
      }
      const bool range =
          at_ + 1 < pattern_.size() && pattern_[at_] == '-' && pattern_[at_ + 1] != ']';
      add_range(flags, c, range ? pattern_[at_ + 1] : c);
      if (range) at_ += 2;
    }
    if (negated) flags.flip();
    return set(std::move(flags));
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  NameRegex regex_;
};

Result<NameRegex> NameRegex::parse(std::string_view pattern) {
  return RegexParser(pattern).parse();
}

// Adds the states reached from one without taking a character.
void NameRegex::follow(std::uint32_t state, std::size_t at, std::size_t size,
                       Active& active) const {
  std::vector<std::uint32_t> open = {state};
  while (!open.empty()) {
    const std::uint32_t s = open.back();
    open.pop_back();
    if (active.is[s]) continue;
    active.is[s] = true;
    active.states.push_back(s);
    const State& here = states_[s];
    const bool passes = here.kind == Kind::split || (here.kind == Kind::start && at == 0) ||
                        (here.kind == Kind::end && at == size);
    if (!passes) continue;
    open.push_back(here.next);
    if (here.kind == Kind::split) open.push_back(here.other);
  }
}

bool NameRegex::matches(std::string_view name, std::uint64_t& steps) const {
  Active active{.states = {}, .is = std::vector<bool>(states_.size(), false)};
  follow(first_, 0, name.size(), active);
  for (std::size_t at = 0;; ++at) {
    steps += active.states.size() + 1;
    Active next{.states = {}, .is = std::vector<bool>(states_.size(), false)};
    for (const std::uint32_t s : active.states) {
      const State& here = states_[s];
      if (here.kind == Kind::accept) return true;
      const bool takes = at < name.size() && here.kind == Kind::set &&
                         sets_[here.set][static_cast<unsigned char>(name[at])];
      if (takes) follow(here.next, at + 1, name.size(), next);
    }
    if (at == name.size() || next.states.empty()) return false;
    active = std::move(next);
  }
}

}  // namespace cairn
