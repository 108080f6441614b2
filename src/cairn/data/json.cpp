#include "cairn/data/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

namespace cairn {
namespace {

// Counts the lines that the lexer has passed: SAX events carry no position.
class LineCountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  LineCountingIterator(const char* at, std::uint32_t* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  LineCountingIterator& operator++() {
    if (line_ != nullptr && *at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  LineCountingIterator operator++(int) {
    LineCountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const LineCountingIterator& o) const { return at_ == o.at_; }
  bool operator!=(const LineCountingIterator& o) const { return at_ != o.at_; }

 private:
  const char* at_;
  std::uint32_t* line_;
};

class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(std::string name, ParseLimits limits, const std::uint32_t* line)
      : name_(name), builder_(std::move(name), limits), line_(line) {}

  bool null() override { return take(builder_.null(*line_)); }
  bool boolean(bool v) override { return take(builder_.boolean(v, *line_)); }
  bool number_integer(number_integer_t v) override { return take(builder_.integer(v, *line_)); }
  bool number_unsigned(number_unsigned_t v) override {
    if (v <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return take(builder_.integer(static_cast<std::int64_t>(v), *line_));
    }
    return take(builder_.number(static_cast<double>(v), *line_));
  }
  bool number_float(number_float_t v, const string_t& /*text*/) override {
    return take(builder_.number(v, *line_));
  }
  bool string(string_t& v) override { return take(builder_.string(v, *line_)); }
  bool binary(binary_t& /*v*/) override { return false; }
  bool start_object(std::size_t /*n*/) override {
    return take(builder_.open(NodeKind::mapping, *line_));
  }
  bool key(string_t& v) override { return take(builder_.key(v, *line_)); }
  bool end_object() override { return take(builder_.close()); }
  bool start_array(std::size_t /*n*/) override {
    return take(builder_.open(NodeKind::sequence, *line_));
  }
  bool end_array() override { return take(builder_.close()); }
  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const nlohmann::detail::exception& ex) override {
    // The library's text ends in "... - <reason>"; ids and columns are noise here.
    std::string reason = ex.what();
    if (const auto dash = reason.rfind(" - "); dash != std::string::npos) {
      reason.erase(0, dash + 3);
    }
    const bool range = ex.id == 406;
    error_ = (range ? bad_input("number out of range") : bad_input("not valid JSON"))
                 .at(fmt::format("{}:{}", name_, *line_))
                 .got(token)
                 .want(range ? "a number that a double can hold" : reason);
    return false;
  }

  Result<Document> finish() {
    if (error_) return std::unexpected(*std::move(error_));
    return std::move(builder_).finish();
  }

 private:
  bool take(Result<void> r) {
    if (!r) error_ = std::move(r).error();
    return !error_;
  }

  std::string name_;
  DocumentBuilder builder_;
  const std::uint32_t* line_;
  std::optional<Error> error_;
};

// The numbers of Python that JSON has not, outside of strings, become null. What
// surrounds them is judged by the parser: "Infinityx" leaves an x.
std::string with_null_numbers(std::string_view text) {
  constexpr auto kNumbers = std::to_array<std::string_view>({"-Infinity", "Infinity", "NaN"});
  std::string out;
  out.reserve(text.size() + 16);
  bool quoted = false;
  while (!text.empty()) {
    const auto number = std::ranges::find_if(
        kNumbers, [&](std::string_view n) { return !quoted && text.starts_with(n); });
    if (number != kNumbers.end()) {
      out += "null";
      text.remove_prefix(number->size());
      continue;
    }
    const std::size_t length = quoted && text.front() == '\\' && text.size() > 1 ? 2 : 1;
    if (text.front() == '"') quoted = !quoted;
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

Result<Document> parse_json(std::string_view given, std::string name, ParseLimits limits,
                            JsonDialect dialect) {
  if (given.size() > limits.bytes) return fail(bad_input("file too large").at(name));
  const bool python = dialect == JsonDialect::python;
  const std::string changed = python ? with_null_numbers(given) : std::string();
  const std::string_view text = python ? std::string_view(changed) : given;
  std::uint32_t line = 1;
  Handler handler(std::move(name), limits, &line);
  // With a SAX handler the library reports failure by value, never by exception.
  const char* const begin = text.data();
  nlohmann::json::sax_parse(LineCountingIterator(begin, &line),
                            LineCountingIterator(begin + text.size(), nullptr), &handler);
  return handler.finish();
}

Result<Document> load_json(const std::string& path, ParseLimits limits, JsonDialect dialect) {
  CAIRN_TRY(const std::string text, read_file(path, limits.bytes));
  return parse_json(text, path, limits, dialect);
}

}  // namespace cairn
