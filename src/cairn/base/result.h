// Failure as a value at every border to the outside.
//
//   Result<Document> doc = parse_yaml(text, "plan.yaml");
//   if (!doc) return std::unexpected(doc.error());
//   CAIRN_TRY(const Node model, doc->root().required("model"));
//
// An Error says where (file and line), which field, the offending value and
// what was expected; the command line prints it on one line and exits with the
// status of its kind.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace cairn {

enum class ErrorKind : std::uint8_t {
  bad_input,    // a file, option or value that is malformed or out of range
  not_found,    // a name that is in no catalogue, a file that does not exist
  unsupported,  // well formed, but beyond what the model covers: "cannot say"
  io,           // the system refused: permission, disk, network
};

struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  /// What is wrong, a complete clause in English and a key for translation.
  std::string message = {};
  /// Where: a path, with ":LINE" where a line is known; empty for a flag.
  std::string where = {};
  /// The field, option or key concerned.
  std::string field = {};
  /// The offending value as it was read, shortened to kMaxValue characters.
  std::string value = {};
  /// What would have been accepted.
  std::string expected = {};

  static constexpr std::size_t kMaxValue = 80;

  /// "where: field: message: "value"; expected ...", the parts that are there.
  [[nodiscard]] std::string to_string() const;

  // Builders, for errors that are put together where they occur.
  Error&& at(std::string place) && {
    where = std::move(place);
    return std::move(*this);
  }
  Error&& in(std::string name) && {
    field = std::move(name);
    return std::move(*this);
  }
  Error&& got(std::string_view text) &&;
  Error&& want(std::string text) && {
    expected = std::move(text);
    return std::move(*this);
  }
};

template <class T>
using Result = std::expected<T, Error>;

/// An error to return from a function that gives a Result.
[[nodiscard]] inline Error bad_input(std::string message) {
  return Error{.kind = ErrorKind::bad_input, .message = std::move(message)};
}
[[nodiscard]] inline Error not_found(std::string message) {
  return Error{.kind = ErrorKind::not_found, .message = std::move(message)};
}
[[nodiscard]] inline Error unsupported(std::string message) {
  return Error{.kind = ErrorKind::unsupported, .message = std::move(message)};
}
[[nodiscard]] inline Error io_error(std::string message) {
  return Error{.kind = ErrorKind::io, .message = std::move(message)};
}
[[nodiscard]] inline std::unexpected<Error> fail(Error&& error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace cairn

#define CAIRN_CONCAT_(a, b) a##b
#define CAIRN_CONCAT(a, b) CAIRN_CONCAT_(a, b)
/// Declares or assigns `lhs` from a Result expression, or returns its error.
#define CAIRN_TRY(lhs, ...) CAIRN_TRY_(CAIRN_CONCAT(cairn_try_, __LINE__), lhs, __VA_ARGS__)
#define CAIRN_TRY_(tmp, lhs, ...)                           \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  lhs = *std::move(tmp)
/// Evaluates a Result<void> expression, or returns its error.
#define CAIRN_CHECK(...)                                \
  if (auto cairn_check_ = (__VA_ARGS__); !cairn_check_) \
  return std::unexpected(std::move(cairn_check_).error())
