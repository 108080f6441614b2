#include "cases.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "cairn/data/csv.h"
#include "cairn/data/json.h"
#include "run.h"

namespace cairn::test {
namespace {

Error no_such(std::string_view path, std::string_view part) {
  return not_found("no such field in the answer").in(std::string(path)).got(part);
}

// "3" or "id=mi300x" inside brackets.
Result<Node> element(Node list, std::string_view key, std::string_view path) {
  const std::size_t equals = key.find('=');
  if (equals == std::string_view::npos) {
    std::uint32_t index = 0;
    const auto r = std::from_chars(key.data(), key.data() + key.size(), index);
    if (r.ec != std::errc() || !list.is_sequence() || index >= list.size()) {
      return fail(no_such(path, key));
    }
    return list.at(index);
  }
  for (std::uint32_t i = 0; i < list.size() && list.is_sequence(); ++i) {
    const auto member = list.at(i).find(key.substr(0, equals));
    if (member && member->text() == key.substr(equals + 1)) return list.at(i);
  }
  return fail(no_such(path, key));
}

Result<double> share(Node node) {
  if (node.is_number()) return node.number();
  const std::string text = node.text();
  if (text.ends_with('%')) {
    if (const auto percent = parse_number(text.substr(0, text.size() - 1))) return *percent / 100;
  }
  return fail(node.error("not a share").in("within").want("3% or 0.03"));
}

Result<std::string> check_number(Node expectation, std::string_view path, double actual) {
  if (const auto wanted = expectation.find("value")) {
    CAIRN_TRY(const double value, wanted->number());
    double low = value;
    double high = value;
    if (const auto within = expectation.find("within")) {
      CAIRN_TRY(const double tolerance, share(*within));
      low = value - std::abs(value) * tolerance;
      high = value + std::abs(value) * tolerance;
    } else if (expectation.find("factor")) {
      CAIRN_TRY(const double factor, expectation.get_number("factor", 1, 1e6));
      low = value / factor;
      high = value * factor;
    }
    if (!(actual >= low && actual <= high)) {
      return fmt::format("{} is {}, expected {} to {}", path, actual, low, high);
    }
  }
  for (const bool least : {true, false}) {
    const auto bound = expectation.find(least ? "min" : "max");
    if (!bound) continue;
    CAIRN_TRY(const double limit, bound->number());
    if (!(least ? actual >= limit : actual <= limit)) {
      return fmt::format("{} is {}, expected at {} {}", path, actual, least ? "least" : "most",
                         limit);
    }
  }
  return std::string{};
}

// Exactly the fields that are known, so that a misspelt one is no silent pass.
Result<void> check_fields(Node node, std::span<const std::string_view> known) {
  return node.only(known);
}

class Case {
 public:
  Case(const std::string& program, Node node) : program_(program), node_(node) {}

  Result<CaseResult> check() {
    constexpr std::array<std::string_view, 8> kKnown{"name",   "command", "status", "json",
                                                     "stdout", "stderr",  "source", "note"};
    CAIRN_CHECK(check_fields(node_, kKnown));
    CAIRN_TRY(const std::string_view name, node_.get<std::string_view>("name"));
    CAIRN_TRY(const Node source, node_.required("source"));
    CAIRN_CHECK(source.get<std::string_view>("url"));
    CAIRN_CHECK(source.required("date"));
    result_.name = name;
    if (!node_.find("json") && !node_.find("stdout") && !node_.find("stderr") &&
        !node_.find("status")) {
      return fail(node_.error("a case that expects nothing"));
    }
    if (node_.find("json")) CAIRN_CHECK(check_json());
    if (node_.find("stdout") || node_.find("stderr") || !node_.find("json")) {
      CAIRN_CHECK(check_text());
    }
    return std::move(result_);
  }

 private:
  Result<Outcome> execute(bool json) {
    CAIRN_TRY(const std::string_view command, node_.get<std::string_view>("command"));
    std::vector<std::string> words = split_command_line(std::string(command));
    words.insert(words.begin(), program_);
    if (json) words.emplace_back("--json");
    Outcome out = run(words, {"LANG=C", "LC_ALL", "LC_MESSAGES", "CAIRN_DATA"});
    CAIRN_TRY(const std::int64_t wanted, node_.get_integer_or("status", 0, 0, 3));
    if (out.status != wanted) {
      result_.failures.push_back(fmt::format("exit status {}, expected {}; {}", out.status, wanted,
                                             out.err.substr(0, 300)));
    }
    return out;
  }

  Result<void> check_json() {
    CAIRN_TRY(const Outcome out, execute(true));
    const auto answer = parse_json(out.out, "stdout");
    if (!answer) {
      result_.failures.push_back(answer.error().to_string());
      return {};
    }
    const Node list = *node_.find("json");
    if (!list.is_sequence() || list.size() == 0) return fail(list.error("not a list").in("json"));
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      CAIRN_TRY(std::string failure, check_expectation(answer->root(), list.at(i)));
      if (!failure.empty()) result_.failures.push_back(std::move(failure));
    }
    return {};
  }

  Result<void> check_text() {
    CAIRN_TRY(const Outcome out, execute(false));
    for (const bool err : {false, true}) {
      CAIRN_TRY(const auto texts, node_.get_strings(err ? "stderr" : "stdout"));
      for (const std::string& text : texts) {
        if ((err ? out.err : out.out).find(text) != std::string::npos) continue;
        result_.failures.push_back(fmt::format("{} lacks \"{}\"", err ? "stderr" : "stdout", text));
      }
    }
    return {};
  }

  std::string program_;
  Node node_;
  CaseResult result_;
};

}  // namespace

Result<Node> node_at(Node root, std::string_view path) {
  Node node = root;
  for (std::string_view rest = path; !rest.empty();) {
    if (rest.starts_with('[')) {
      const std::size_t end = rest.find(']');
      if (end == std::string_view::npos) return fail(bad_input("a bracket is open").got(path));
      CAIRN_TRY(node, element(node, rest.substr(1, end - 1), path));
      rest.remove_prefix(end + 1);
    } else {
      if (rest.starts_with('.')) rest.remove_prefix(1);
      const std::string_view name = rest.substr(0, rest.find_first_of(".["));
      const auto member = node.find(name);
      if (!member) return fail(no_such(path, name));
      node = *member;
      rest.remove_prefix(name.size());
    }
  }
  return node;
}

Result<std::string> check_expectation(Node answer, Node expectation) {
  constexpr std::array<std::string_view, 10> kKnown{
      "path", "equals", "value", "within", "factor", "min", "max", "length", "contains", "source"};
  CAIRN_CHECK(check_fields(expectation, kKnown));
  CAIRN_TRY(const std::string_view path, expectation.get<std::string_view>("path"));
  const auto node = node_at(answer, path);
  if (!node) return node.error().to_string();
  bool checked = false;
  if (const auto equals = expectation.find("equals")) {
    checked = true;
    if (node->kind() != equals->kind() || node->text() != equals->text()) {
      return fmt::format("{} is {}, expected {}", path, node->text(), equals->text());
    }
  }
  if (const auto part = expectation.find("contains")) {
    checked = true;
    if (node->text().find(part->text()) == std::string::npos) {
      return fmt::format("{} is \"{}\", without \"{}\"", path, node->text(), part->text());
    }
  }
  if (expectation.find("length")) {
    checked = true;
    CAIRN_TRY(const std::int64_t length, expectation.get_integer("length", 0, 1'000'000));
    if (node->size() != length) {
      return fmt::format("{} has {} elements, expected {}", path, node->size(), length);
    }
  }
  if (expectation.find("value") || expectation.find("min") || expectation.find("max")) {
    const auto actual = node->number();
    if (!actual) return fmt::format("{} is {}, no number", path, node->text());
    return check_number(expectation, path, *actual);
  }
  if (!checked) return fail(expectation.error("an expectation that expects nothing"));
  return std::string{};
}

Result<std::vector<CaseResult>> run_cases(const std::string& program, Node document) {
  CAIRN_TRY(const Node list, document.required("cases"));
  if (!list.is_sequence()) return fail(list.error("not a list").in("cases"));
  std::vector<CaseResult> out;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(CaseResult result, Case(program, list.at(i)).check());
    out.push_back(std::move(result));
  }
  return out;
}

}  // namespace cairn::test
