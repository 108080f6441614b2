// One tree for every structured file: YAML, JSON and CSV parse into it, and
// the data image of the build is the same tree, mapped instead of parsed.
//
// A Document is flat: an array of fixed-size records and one string of text.
// Nodes are cheap views (pointer and index) that live as long as the Document.
// Every node knows its file and line, so that a reader can say where a wrong
// value stands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

enum class NodeKind : std::uint8_t { null, boolean, integer, number, string, sequence, mapping };

/// The name of a kind as it is used in messages: "a number", "a mapping" ...
std::string_view describe(NodeKind kind);

/// One node as it is stored. Sequences hold `count` records from `first` on;
/// mappings hold 2 * `count`, key and value in turn; strings hold `count`
/// bytes of text from `first` on.
struct NodeRecord {
  std::uint64_t payload = 0;  // int64, the bits of a double, or first << 32 | count
  std::uint32_t line = 0;     // 1-based; 0 where the format has no lines
  NodeKind kind = NodeKind::null;
  std::uint8_t reserved[3] = {};

  [[nodiscard]] std::uint32_t first() const { return static_cast<std::uint32_t>(payload >> 32U); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(payload); }
};
static_assert(sizeof(NodeRecord) == 16);

/// The parts of a document: views into memory that somebody else owns.
struct DocumentView {
  std::string_view name;  // the file, for messages
  std::span<const NodeRecord> nodes;
  std::string_view text;
  std::uint32_t root = 0;
};

class Node;

/// One key and its value.
struct Member;

class Node {
 public:
  Node(const DocumentView* document, std::uint32_t index) : document_(document), index_(index) {}

  [[nodiscard]] NodeKind kind() const { return record().kind; }
  [[nodiscard]] bool is_null() const { return kind() == NodeKind::null; }
  [[nodiscard]] bool is_string() const { return kind() == NodeKind::string; }
  [[nodiscard]] bool is_mapping() const { return kind() == NodeKind::mapping; }
  [[nodiscard]] bool is_sequence() const { return kind() == NodeKind::sequence; }
  [[nodiscard]] bool is_number() const {
    return kind() == NodeKind::integer || kind() == NodeKind::number;
  }

  // Scalars, checked: the error carries file, line, value and what was expected.
  [[nodiscard]] Result<std::string_view> string() const;
  [[nodiscard]] Result<std::int64_t> integer() const;
  [[nodiscard]] Result<double> number() const;
  [[nodiscard]] Result<bool> boolean() const;

  /// Elements of a sequence or members of a mapping; 0 for a scalar.
  [[nodiscard]] std::uint32_t size() const;
  /// Element `i` of a sequence (i < size()).
  [[nodiscard]] Node at(std::uint32_t i) const;
  /// Member `i` of a mapping (i < size()), in the order of the file.
  [[nodiscard]] Member member(std::uint32_t i) const;
  /// The value of `key`; nothing if there is no such key or this is no mapping.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  /// As find, but a null value counts as absent.
  [[nodiscard]] std::optional<Node> find_value(std::string_view key) const;
  [[nodiscard]] Result<Node> required(std::string_view key) const;

  /// Typed member: T is std::string_view, std::int64_t, double or bool.
  template <class T>
  [[nodiscard]] Result<T> get(std::string_view key) const;
  /// Typed member, or `fallback` where it is absent or null.
  template <class T>
  [[nodiscard]] Result<T> get_or(std::string_view key, T fallback) const;
  /// Typed member, or nothing where it is absent or null.
  template <class T>
  [[nodiscard]] Result<std::optional<T>> get_optional(std::string_view key) const;
  /// An integer member within [low, high].
  [[nodiscard]] Result<std::int64_t> get_integer(std::string_view key, std::int64_t low,
                                                 std::int64_t high) const;
  [[nodiscard]] Result<std::int64_t> get_integer_or(std::string_view key, std::int64_t fallback,
                                                    std::int64_t low, std::int64_t high) const;
  /// A number member within [low, high].
  [[nodiscard]] Result<double> get_number(std::string_view key, double low, double high) const;
  [[nodiscard]] Result<double> get_number_or(std::string_view key, double fallback, double low,
                                             double high) const;
  /// The strings of a sequence member; empty where it is absent or null.
  [[nodiscard]] Result<std::vector<std::string>> get_strings(std::string_view key) const;

  /// An error unless every key of this mapping is one of `known`.
  [[nodiscard]] Result<void> only(std::span<const std::string_view> known) const;

  /// "file:line".
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::uint32_t line() const { return record().line; }
  /// The value as text for a message: a scalar as written, a container's kind.
  [[nodiscard]] std::string text() const;
  /// An error that stands at this node, with its value.
  [[nodiscard]] Error error(std::string message) const;

 private:
  [[nodiscard]] const NodeRecord& record() const { return document_->nodes[index_]; }
  [[nodiscard]] std::string_view text_of(const NodeRecord& r) const {
    return document_->text.substr(r.first(), r.count());
  }

  const DocumentView* document_;
  std::uint32_t index_;
};

struct Member {
  std::string_view key;
  Node value;
};

/// A document that owns its memory. Move-only; nodes stay valid across moves.
class Document {
 public:
  Document(std::string name, std::vector<NodeRecord> nodes, std::string text, std::uint32_t root);

  [[nodiscard]] Node root() const { return {&storage_->view, storage_->view.root}; }
  [[nodiscard]] const DocumentView& view() const { return storage_->view; }

 private:
  struct Storage {
    std::string name;
    std::vector<NodeRecord> nodes;
    std::string text;
    DocumentView view;
  };
  std::unique_ptr<const Storage> storage_;
};

/// What a parser accepts; beyond it the input is refused with an error.
struct ParseLimits {
  std::uint32_t depth = 64;
  std::uint32_t nodes = 8'000'000;
  std::uint64_t bytes = 256ULL << 20U;
};

/// Builds a Document from parser events. Containers are opened, filled and
/// closed in nesting order; in a mapping, keys and values come in turn.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(std::string name, ParseLimits limits = {});
  ~DocumentBuilder();
  DocumentBuilder(const DocumentBuilder&) = delete;
  DocumentBuilder& operator=(const DocumentBuilder&) = delete;

  Result<void> null(std::uint32_t line);
  Result<void> boolean(bool value, std::uint32_t line);
  Result<void> integer(std::int64_t value, std::uint32_t line);
  Result<void> number(double value, std::uint32_t line);
  Result<void> string(std::string_view value, std::uint32_t line);
  Result<void> key(std::string_view value, std::uint32_t line) { return string(value, line); }
  Result<void> open(NodeKind container, std::uint32_t line);
  /// Refuses a mapping that has the same key twice.
  Result<void> close();

  /// The finished document; an error if nothing was added or a container is open.
  [[nodiscard]] Result<Document> finish() &&;

 private:
  struct State;
  Result<void> add(NodeRecord record);
  std::unique_ptr<State> state_;
};

/// Reads a whole file, refusing more than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

// The typed getters, written out for the four scalar types.
template <>
Result<std::string_view> Node::get(std::string_view key) const;
template <>
Result<std::int64_t> Node::get(std::string_view key) const;
template <>
Result<double> Node::get(std::string_view key) const;
template <>
Result<bool> Node::get(std::string_view key) const;

template <class T>
Result<std::optional<T>> Node::get_optional(std::string_view key) const {
  if (!find_value(key)) return std::optional<T>{};
  auto value = get<T>(key);
  if (!value) return std::unexpected(std::move(value).error());
  return std::optional<T>(*std::move(value));
}

template <class T>
Result<T> Node::get_or(std::string_view key, T fallback) const {
  if (!find_value(key)) return fallback;
  return get<T>(key);
}

}  // namespace cairn
