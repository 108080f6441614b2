#include "cairn/data/document.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <unordered_map>

namespace cairn {
namespace {

// Strings up to this length are stored once; keys and identifiers repeat a lot.
constexpr std::size_t kInternLength = 48;
constexpr std::uint64_t kMaxText = 0xffffffffULL;

std::uint64_t pack(std::uint64_t first, std::uint64_t count) { return first << 32U | count; }

template <class T>
Result<T> keyed(Result<T> result, std::string_view key) {
  if (!result && result.error().field.empty()) result.error().field = key;
  return result;
}

}  // namespace

std::string_view describe(NodeKind kind) {
  switch (kind) {
    case NodeKind::null:
      return "null";
    case NodeKind::boolean:
      return "true or false";
    case NodeKind::integer:
      return "a whole number";
    case NodeKind::number:
      return "a number";
    case NodeKind::string:
      return "a string";
    case NodeKind::sequence:
      return "a list";
    case NodeKind::mapping:
      return "a mapping";
  }
  return "a value";
}

// --- Node ---------------------------------------------------------------------

std::string Node::where() const {
  return line() == 0 ? std::string(document_->name) : fmt::format("{}:{}", document_->name, line());
}

std::string Node::text() const {
  const NodeRecord& r = record();
  switch (r.kind) {
    case NodeKind::null:
      return "null";
    case NodeKind::boolean:
      return r.payload != 0 ? "true" : "false";
    case NodeKind::integer:
      return fmt::format("{}", std::bit_cast<std::int64_t>(r.payload));
    case NodeKind::number:
      return fmt::format("{}", std::bit_cast<double>(r.payload));
    case NodeKind::string:
      return std::string(text_of(r));
    case NodeKind::sequence:
    case NodeKind::mapping:
      return std::string(describe(r.kind));
  }
  return {};
}

Error Node::error(std::string message) const {
  return bad_input(std::move(message)).at(where()).got(text());
}

Result<std::string_view> Node::string() const {
  if (!is_string()) return fail(error("wrong type").want(std::string(describe(NodeKind::string))));
  return text_of(record());
}

Result<std::int64_t> Node::integer() const {
  const NodeRecord& r = record();
  if (r.kind == NodeKind::integer) return std::bit_cast<std::int64_t>(r.payload);
  if (r.kind == NodeKind::number) {
    const auto d = std::bit_cast<double>(r.payload);
    if (d == std::floor(d) && std::abs(d) < 9e15) return static_cast<std::int64_t>(d);
  }
  return fail(error("wrong type").want(std::string(describe(NodeKind::integer))));
}

Result<double> Node::number() const {
  const NodeRecord& r = record();
  if (r.kind == NodeKind::number) return std::bit_cast<double>(r.payload);
  if (r.kind == NodeKind::integer) {
    return static_cast<double>(std::bit_cast<std::int64_t>(r.payload));
  }
  return fail(error("wrong type").want(std::string(describe(NodeKind::number))));
}

Result<bool> Node::boolean() const {
  if (kind() != NodeKind::boolean) {
    return fail(error("wrong type").want(std::string(describe(NodeKind::boolean))));
  }
  return record().payload != 0;
}

std::uint32_t Node::size() const { return is_sequence() || is_mapping() ? record().count() : 0; }

Node Node::at(std::uint32_t i) const { return {document_, record().first() + i}; }

Member Node::member(std::uint32_t i) const {
  const std::uint32_t key = record().first() + 2 * i;
  return {text_of(document_->nodes[key]), Node(document_, key + 1)};
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!is_mapping()) return std::nullopt;
  const std::uint32_t n = size();
  for (std::uint32_t i = 0; i < n; ++i) {
    const Member m = member(i);
    if (m.key == key) return m.value;
  }
  return std::nullopt;
}

std::optional<Node> Node::find_value(std::string_view key) const {
  auto node = find(key);
  return node && node->is_null() ? std::nullopt : node;
}

Result<Node> Node::required(std::string_view key) const {
  if (!is_mapping()) return fail(error("wrong type").want("a mapping"));
  if (auto node = find(key)) return *node;
  return fail(bad_input("missing field").at(where()).in(std::string(key)));
}

template <>
Result<std::string_view> Node::get(std::string_view key) const {
  CAIRN_TRY(const Node node, required(key));
  return keyed(node.string(), key);
}
template <>
Result<std::int64_t> Node::get(std::string_view key) const {
  CAIRN_TRY(const Node node, required(key));
  return keyed(node.integer(), key);
}
template <>
Result<double> Node::get(std::string_view key) const {
  CAIRN_TRY(const Node node, required(key));
  return keyed(node.number(), key);
}
template <>
Result<bool> Node::get(std::string_view key) const {
  CAIRN_TRY(const Node node, required(key));
  return keyed(node.boolean(), key);
}

Result<std::int64_t> Node::get_integer(std::string_view key, std::int64_t low,
                                       std::int64_t high) const {
  CAIRN_TRY(const std::int64_t value, get<std::int64_t>(key));
  if (value < low || value > high) {
    return fail(required(key)
                    ->error("out of range")
                    .in(std::string(key))
                    .want(fmt::format("{} to {}", low, high)));
  }
  return value;
}

Result<std::int64_t> Node::get_integer_or(std::string_view key, std::int64_t fallback,
                                          std::int64_t low, std::int64_t high) const {
  return find_value(key) ? get_integer(key, low, high) : fallback;
}

Result<double> Node::get_number(std::string_view key, double low, double high) const {
  CAIRN_TRY(const double value, get<double>(key));
  if (value < low || value > high) {
    return fail(required(key)
                    ->error("out of range")
                    .in(std::string(key))
                    .want(fmt::format("{} to {}", low, high)));
  }
  return value;
}

Result<double> Node::get_number_or(std::string_view key, double fallback, double low,
                                   double high) const {
  return find_value(key) ? get_number(key, low, high) : fallback;
}

Result<std::vector<std::string>> Node::get_strings(std::string_view key) const {
  std::vector<std::string> out;
  const auto node = find_value(key);
  if (!node) return out;
  if (!node->is_sequence()) {
    return fail(node->error("wrong type").in(std::string(key)).want("a list of strings"));
  }
  for (std::uint32_t i = 0; i < node->size(); ++i) {
    CAIRN_TRY(const std::string_view item, node->at(i).string());
    out.emplace_back(item);
  }
  return out;
}

Result<void> Node::only(std::span<const std::string_view> known) const {
  for (std::uint32_t i = 0; i < size() && is_mapping(); ++i) {
    const Member m = member(i);
    if (std::ranges::find(known, m.key) == known.end()) {
      return fail(bad_input("unknown field")
                      .at(m.value.where())
                      .in(std::string(m.key))
                      .want(fmt::format("one of {}", fmt::join(known, ", "))));
    }
  }
  return {};
}

// --- Document -------------------------------------------------------------------

Document::Document(std::string name, std::vector<NodeRecord> nodes, std::string text,
                   std::uint32_t root) {
  auto storage = std::make_unique<Storage>();
  storage->name = std::move(name);
  storage->nodes = std::move(nodes);
  storage->text = std::move(text);
  storage->view = {storage->name, storage->nodes, storage->text, root};
  storage_ = std::move(storage);
}

// --- DocumentBuilder --------------------------------------------------------------

struct DocumentBuilder::State {
  std::string name;
  ParseLimits limits;
  std::vector<NodeRecord> nodes;
  std::string text;
  std::unordered_map<std::string, std::uint32_t> interned;
  // Children of containers that are still open; each frame says where its own begin.
  struct Frame {
    NodeRecord container;
    std::size_t begin;
  };
  std::vector<Frame> frames;
  std::vector<NodeRecord> pending;
};

DocumentBuilder::DocumentBuilder(std::string name, ParseLimits limits)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->limits = limits;
}

DocumentBuilder::~DocumentBuilder() = default;

Result<void> DocumentBuilder::add(NodeRecord record) {
  State& s = *state_;
  if (s.nodes.size() + s.pending.size() >= s.limits.nodes) {
    return fail(bad_input("too many values")
                    .at(fmt::format("{}:{}", s.name, record.line))
                    .want(fmt::format("at most {}", s.limits.nodes)));
  }
  s.pending.push_back(record);
  return {};
}

Result<void> DocumentBuilder::null(std::uint32_t line) {
  return add({.payload = 0, .line = line, .kind = NodeKind::null});
}
Result<void> DocumentBuilder::boolean(bool value, std::uint32_t line) {
  return add({.payload = value ? 1ULL : 0ULL, .line = line, .kind = NodeKind::boolean});
}
Result<void> DocumentBuilder::integer(std::int64_t value, std::uint32_t line) {
  return add(
      {.payload = std::bit_cast<std::uint64_t>(value), .line = line, .kind = NodeKind::integer});
}
Result<void> DocumentBuilder::number(double value, std::uint32_t line) {
  return add(
      {.payload = std::bit_cast<std::uint64_t>(value), .line = line, .kind = NodeKind::number});
}

Result<void> DocumentBuilder::string(std::string_view value, std::uint32_t line) {
  State& s = *state_;
  std::uint64_t first = s.text.size();
  const auto append = [&] { s.text += value; };
  if (value.size() <= kInternLength) {
    const auto [it, fresh] =
        s.interned.try_emplace(std::string(value), static_cast<std::uint32_t>(first));
    if (fresh) append();
    first = it->second;
  } else {
    append();
  }
  if (s.text.size() > std::min<std::uint64_t>(kMaxText, s.limits.bytes)) {
    return fail(bad_input("too much text").at(fmt::format("{}:{}", s.name, line)));
  }
  return add({.payload = pack(first, value.size()), .line = line, .kind = NodeKind::string});
}

Result<void> DocumentBuilder::open(NodeKind container, std::uint32_t line) {
  State& s = *state_;
  if (s.frames.size() >= s.limits.depth) {
    return fail(bad_input("nested too deeply")
                    .at(fmt::format("{}:{}", s.name, line))
                    .want(fmt::format("at most {} levels", s.limits.depth)));
  }
  s.frames.push_back({{.payload = 0, .line = line, .kind = container}, s.pending.size()});
  return {};
}

Result<void> DocumentBuilder::close() {
  State& s = *state_;
  State::Frame frame = s.frames.back();
  s.frames.pop_back();
  const auto children = std::span(s.pending).subspan(frame.begin);
  std::size_t count = children.size();
  if (frame.container.kind == NodeKind::mapping) {
    count /= 2;
    std::vector<std::pair<std::string_view, std::uint32_t>> keys;
    keys.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const NodeRecord& k = children[2 * i];
      keys.emplace_back(std::string_view(s.text).substr(k.first(), k.count()), k.line);
    }
    std::ranges::stable_sort(keys, {}, [](const auto& k) { return k.first; });
    const auto twin = std::ranges::adjacent_find(keys, {}, [](const auto& k) { return k.first; });
    if (twin != keys.end()) {
      return fail(bad_input("the same key twice")
                      .at(fmt::format("{}:{}", s.name, std::next(twin)->second))
                      .got(twin->first));
    }
  }
  frame.container.payload = pack(s.nodes.size(), count);
  s.nodes.insert(s.nodes.end(), children.begin(), children.end());
  s.pending.resize(frame.begin);
  s.pending.push_back(frame.container);
  return {};
}

Result<Document> DocumentBuilder::finish() && {
  State& s = *state_;
  if (!s.frames.empty()) return fail(bad_input("unexpected end").at(s.name));
  if (s.pending.size() != 1) return fail(bad_input("empty document").at(s.name));
  s.nodes.push_back(s.pending.front());
  const auto root = static_cast<std::uint32_t>(s.nodes.size() - 1);
  return Document(std::move(s.name), std::move(s.nodes), std::move(s.text), root);
}

// --- files ----------------------------------------------------------------------------

namespace {

// Closes a file when its reader is done.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  // Not blocking: a pipe that nobody writes to must not hold the program up.
  constexpr int kPatienceMs = 10'000;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return fail(not_found("cannot open the file").at(path));
  std::string out;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (true) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n == 0) return out;
    if (n < 0) {
      pollfd waiting{.fd = file.get(), .events = POLLIN, .revents = 0};
      if (errno == EINTR) continue;
      if (errno == EAGAIN && ::poll(&waiting, 1, kPatienceMs) > 0) continue;
      return fail(io_error("cannot read the file").at(path));
    }
    out.append(buffer.data(), static_cast<std::size_t>(n));
    if (out.size() > limit) {
      return fail(
          bad_input("file too large").at(path).want(fmt::format("at most {} bytes", limit)));
    }
  }
}

}  // namespace cairn
