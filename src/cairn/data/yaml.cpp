#include "cairn/data/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <charconv>
#include <cmath>
#include <memory>

namespace cairn {
namespace {

struct ParserDeleter {
  void operator()(yaml_parser_t* p) const {
    yaml_parser_delete(p);
    delete p;
  }
};

// libyaml's event owns memory; freed when the next one is read.
class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool next(yaml_parser_t* parser) {
    yaml_event_delete(&event_);
    return yaml_parser_parse(parser, &event_) != 0;
  }
  [[nodiscard]] const yaml_event_t& get() const { return event_; }
  [[nodiscard]] std::uint32_t line() const {
    return static_cast<std::uint32_t>(event_.start_mark.line + 1);
  }

 private:
  yaml_event_t event_{};
};

bool looks_numeric(std::string_view s) {
  const std::string_view digits = s.starts_with('-') || s.starts_with('+') ? s.substr(1) : s;
  if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
  return digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

// A plain scalar by the core schema. A date (2026-08-21) has digits and signs
// but does not parse as a number to its end, so it stays a string.
Result<void> plain_scalar(DocumentBuilder& b, std::string_view s, const std::string& place,
                          std::uint32_t line) {
  if (s.empty() || s == "null" || s == "~" || s == "Null" || s == "NULL") return b.null(line);
  if (s == "true" || s == "True" || s == "TRUE") return b.boolean(true, line);
  if (s == "false" || s == "False" || s == "FALSE") return b.boolean(false, line);
  if (s == ".inf" || s == "-.inf" || s == ".nan" || s == ".NaN" || s == ".Inf" || s == "-.Inf") {
    return fail(bad_input("not a finite number").at(place).got(s));
  }
  if (!looks_numeric(s)) return b.string(s, line);
  const std::string_view body = s.starts_with('+') ? s.substr(1) : s;
  const char* const end = body.data() + body.size();
  std::int64_t i = 0;
  if (const auto r = std::from_chars(body.data(), end, i); r.ec == std::errc() && r.ptr == end) {
    return b.integer(i, line);
  }
  double d = 0;
  const auto r = std::from_chars(body.data(), end, d);
  if (r.ptr != end) return b.string(s, line);
  if (r.ec != std::errc() || !std::isfinite(d)) {
    return fail(
        bad_input("number out of range").at(place).got(s).want("a number that a double can hold"));
  }
  return b.number(d, line);
}

std::string_view to_view(const yaml_char_t* p, std::size_t n) {
  return {reinterpret_cast<const char*>(p), n};
}

class YamlReader {
 public:
  YamlReader(std::string name, ParseLimits limits)
      : name_(name), builder_(std::move(name), limits) {}

  Result<Document> read(std::string_view text) {
    std::unique_ptr<yaml_parser_t, ParserDeleter> parser(new yaml_parser_t{});
    if (yaml_parser_initialize(parser.get()) == 0) return fail(io_error("out of memory"));
    yaml_parser_set_input_string(parser.get(), reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(parser.get(), YAML_UTF8_ENCODING);
    Event event;
    while (true) {
      if (!event.next(parser.get())) {
        const auto line = static_cast<std::uint32_t>(parser->problem_mark.line + 1);
        const char* problem = parser->problem != nullptr ? parser->problem : "unreadable";
        return fail(bad_input("not valid YAML")
                        .at(place(line))
                        .want(std::string("well-formed YAML: ") + problem));
      }
      if (event.get().type == YAML_STREAM_END_EVENT) break;
      CAIRN_CHECK(take(event));
    }
    return std::move(builder_).finish();
  }

 private:
  [[nodiscard]] std::string place(std::uint32_t line) const {
    return fmt::format("{}:{}", name_, line);
  }

  Result<void> take(const Event& event) {
    const yaml_event_t& e = event.get();
    const std::uint32_t line = event.line();
    switch (e.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++documents_ > 1) {
          return fail(bad_input("more than one document").at(place(line)));
        }
        return {};
      case YAML_ALIAS_EVENT:
        return fail(bad_input("aliases are not accepted").at(place(line)));
      case YAML_SCALAR_EVENT:
        return scalar(e, line);
      case YAML_SEQUENCE_START_EVENT:
        CAIRN_CHECK(plain(e.data.sequence_start.anchor, e.data.sequence_start.tag, line));
        return open(NodeKind::sequence, line);
      case YAML_MAPPING_START_EVENT:
        CAIRN_CHECK(plain(e.data.mapping_start.anchor, e.data.mapping_start.tag, line));
        return open(NodeKind::mapping, line);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        expects_key_.pop_back();
        return builder_.close();
      default:
        return {};
    }
  }

  Result<void> plain(const yaml_char_t* anchor, const yaml_char_t* tag, std::uint32_t line) const {
    if (anchor == nullptr && tag == nullptr) return {};
    return fail(bad_input("anchors and tags are not accepted").at(place(line)));
  }

  // In a mapping keys and values come in turn; a key is always a string.
  bool is_key() {
    if (expects_key_.empty()) return false;
    if (expects_key_.back() == Turn::none) return false;
    const bool key = expects_key_.back() == Turn::key;
    expects_key_.back() = key ? Turn::value : Turn::key;
    return key;
  }

  Result<void> open(NodeKind kind, std::uint32_t line) {
    if (is_key()) return fail(bad_input("a key must be a scalar").at(place(line)));
    expects_key_.push_back(kind == NodeKind::mapping ? Turn::key : Turn::none);
    return builder_.open(kind, line);
  }

  Result<void> scalar(const yaml_event_t& e, std::uint32_t line) {
    CAIRN_CHECK(plain(e.data.scalar.anchor, e.data.scalar.tag, line));
    const std::string_view text = to_view(e.data.scalar.value, e.data.scalar.length);
    if (is_key()) return builder_.key(text, line);
    if (e.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return builder_.string(text, line);
    return plain_scalar(builder_, text, place(line), line);
  }

  enum class Turn : std::uint8_t { none, key, value };
  std::string name_;
  DocumentBuilder builder_;
  std::vector<Turn> expects_key_;
  int documents_ = 0;
};

}  // namespace

Result<Document> parse_yaml(std::string_view text, std::string name, ParseLimits limits) {
  if (text.size() > limits.bytes) return fail(bad_input("file too large").at(name));
  return YamlReader(std::move(name), limits).read(text);
}

Result<Document> load_yaml(const std::string& path, ParseLimits limits) {
  CAIRN_TRY(const std::string text, read_file(path, limits.bytes));
  return parse_yaml(text, path, limits);
}

}  // namespace cairn
