#include "cairn/model/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>

#include "cairn/model/byte_source.h"

namespace cairn {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kMaxWeights = std::uint64_t{1} << 60U;
constexpr int kMaxNesting = 4;

// Types of metadata values, as numbered by the format.
enum class ValueType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64
};

std::optional<std::uint64_t> width(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    default:
      return std::nullopt;
  }
}

class Reader {
 public:
  Reader(ByteSource& source, const TensorTypes& types, const GgufLimits& limits)
      : source_(source), types_(types), limits_(limits) {}

  Result<GgufFile> read() {
    file_.path = source_.name();
    file_.file_bytes = source_.size();
    CAIRN_CHECK(preamble());
    CAIRN_TRY(const std::uint64_t tensors, length("number of tensors", limits_.tensors));
    CAIRN_TRY(const std::uint64_t keys, length("number of keys", limits_.keys));
    std::unordered_set<std::string> seen;
    for (std::uint64_t i = 0; i < keys; ++i) CAIRN_CHECK(key_value(seen));
    CAIRN_CHECK(alignment());
    seen.clear();
    for (std::uint64_t i = 0; i < tensors; ++i) CAIRN_CHECK(tensor(seen));
    file_.header_bytes = align(source_.position());
    CAIRN_CHECK(data());
    return std::move(file_);
  }

 private:
  Result<void> preamble() {
    CAIRN_TRY(const auto magic, source_.number<std::uint32_t>());
    if (magic != kMagic) {
      return fail(bad_input("not a GGUF file").at(source_.name()).want("the letters GGUF first"));
    }
    CAIRN_TRY(file_.version, source_.number<std::uint32_t>());
    if (file_.version != 0 && (file_.version & 0xffffU) == 0) {
      return fail(unsupported("a big-endian GGUF file").at(source_.name()).in("version"));
    }
    if (file_.version < 1 || file_.version > 3) {
      return fail(unsupported("unknown version of GGUF")
                      .at(source_.name())
                      .in("version")
                      .got(std::to_string(file_.version))
                      .want("1, 2 or 3"));
    }
    return {};
  }

  // A count: 32 bits in version 1, 64 since.
  Result<std::uint64_t> length(std::string_view what, std::uint64_t limit) {
    std::uint64_t value = 0;
    if (file_.version == 1) {
      CAIRN_TRY(value, source_.number<std::uint32_t>());
    } else {
      CAIRN_TRY(value, source_.number<std::uint64_t>());
    }
    if (value > limit) {
      return fail(source_.error("too large a count")
                      .in(std::string(what))
                      .got(std::to_string(value))
                      .want(fmt::format("at most {}", limit)));
    }
    return value;
  }

  Result<std::string> name(std::string_view what) {
    CAIRN_TRY(const std::uint64_t size, length(what, limits_.name));
    if (size == 0) return fail(source_.error("an empty name").in(std::string(what)));
    return source_.text(size);
  }

  Result<void> key_value(std::unordered_set<std::string>& seen) {
    CAIRN_TRY(std::string key, name("key"));
    if (!seen.insert(key).second) {
      return fail(source_.error("the same key twice").in("key").got(key));
    }
    CAIRN_TRY(const auto type, source_.number<std::uint32_t>());
    CAIRN_TRY(GgufValue value, scalar_or_array(static_cast<ValueType>(type), key));
    file_.metadata.emplace_back(std::move(key), std::move(value));
    return {};
  }

  Result<GgufValue> scalar_or_array(ValueType type, const std::string& key) {
    if (type == ValueType::text) {
      CAIRN_TRY(const std::uint64_t size, length(key, source_.size()));
      if (size <= limits_.kept_text) {
        CAIRN_TRY(std::string text, source_.text(size));
        return GgufValue(std::move(text));
      }
      CAIRN_CHECK(source_.skip(size));
      return GgufValue(std::string());
    }
    if (type == ValueType::array) {
      CAIRN_TRY(GgufArray array, this->array(key, 0));
      return GgufValue(std::move(array));
    }
    if (type == ValueType::boolean) {
      CAIRN_TRY(const auto value, source_.number<std::uint8_t>());
      if (value > 1) {
        return fail(source_.error("not a truth value").in(key).got(std::to_string(value)));
      }
      return GgufValue(value == 1);
    }
    return scalar(type, key);
  }

  template <class T>
  Result<GgufValue> whole(const std::string& key) {
    CAIRN_TRY(const T value, source_.number<T>());
    if (!std::in_range<std::int64_t>(value)) {
      return fail(source_.error("a number beyond 63 bits").in(key).got(std::to_string(value)));
    }
    return GgufValue(static_cast<std::int64_t>(value));
  }

  template <class T>
  Result<GgufValue> real() {
    CAIRN_TRY(const T value, source_.number<T>());
    return GgufValue(static_cast<double>(value));
  }

  Result<GgufValue> scalar(ValueType type, const std::string& key) {
    switch (type) {
      case ValueType::u8:
        return whole<std::uint8_t>(key);
      case ValueType::i8:
        return whole<std::int8_t>(key);
      case ValueType::u16:
        return whole<std::uint16_t>(key);
      case ValueType::i16:
        return whole<std::int16_t>(key);
      case ValueType::u32:
        return whole<std::uint32_t>(key);
      case ValueType::i32:
        return whole<std::int32_t>(key);
      case ValueType::u64:
        return whole<std::uint64_t>(key);
      case ValueType::i64:
        return whole<std::int64_t>(key);
      case ValueType::f32:
        return real<float>();
      case ValueType::f64:
        return real<double>();
      case ValueType::boolean:
        return whole<std::uint8_t>(key);
      default:
        break;
    }
    return fail(source_.error("unknown type of value")
                    .in(key)
                    .got(std::to_string(static_cast<std::uint32_t>(type)))
                    .want("0 to 12"));
  }

  Result<GgufArray> array(const std::string& key, int depth) {
    if (depth >= kMaxNesting) return fail(source_.error("arrays nested too deep").in(key));
    CAIRN_TRY(const auto number, source_.number<std::uint32_t>());
    const auto type = static_cast<ValueType>(number);
    // Every element takes a byte at least.
    CAIRN_TRY(const std::uint64_t count, length(key, source_.size()));
    GgufArray out{.count = count, .values = {}};
    if (type == ValueType::text) {
      for (std::uint64_t i = 0; i < count; ++i) {
        CAIRN_TRY(const std::uint64_t size, length(key, source_.size()));
        CAIRN_CHECK(source_.skip(size));
      }
      return out;
    }
    if (type == ValueType::array) {
      for (std::uint64_t i = 0; i < count; ++i) CAIRN_CHECK(array(key, depth + 1));
      return out;
    }
    const auto bytes = width(type);
    if (!bytes) {
      return fail(source_.error("unknown type of element").in(key).got(std::to_string(number)));
    }
    if (count > limits_.kept_values) {
      CAIRN_CHECK(source_.skip(count * *bytes));
      return out;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      CAIRN_TRY(const GgufValue value, scalar(type, key));
      const auto* const integer = std::get_if<std::int64_t>(&value);
      out.values.push_back(integer != nullptr ? static_cast<double>(*integer)
                                              : std::get<double>(value));
    }
    return out;
  }

  Result<void> alignment() {
    CAIRN_TRY(const std::int64_t value,
              file_.integer_or("general.alignment", 32, 1, std::int64_t{1} << 20U));
    if ((value & (value - 1)) != 0) {
      return fail(bad_input("not a power of two")
                      .at(source_.name())
                      .in("general.alignment")
                      .got(std::to_string(value)));
    }
    file_.alignment = static_cast<std::uint64_t>(value);
    return {};
  }

  [[nodiscard]] std::uint64_t align(std::uint64_t position) const {
    return (position + file_.alignment - 1) / file_.alignment * file_.alignment;
  }

  [[nodiscard]] std::unexpected<Error> wrong(const GgufTensor& t, std::string message,
                                             std::string_view value) const {
    return fail(bad_input(std::move(message)).at(source_.name()).in(t.name).got(value));
  }

  Result<void> shape(GgufTensor& t) {
    CAIRN_TRY(t.dimensions, source_.number<std::uint32_t>());
    if (t.dimensions < 1 || t.dimensions > t.size.size()) {
      return wrong(t, "a tensor has 1 to 4 dimensions", std::to_string(t.dimensions));
    }
    std::uint64_t product = 1;
    for (std::uint32_t i = 0; i < t.dimensions; ++i) {
      CAIRN_TRY(const std::uint64_t size,
                length(t.name, std::numeric_limits<std::uint64_t>::max()));
      if (size == 0 || size > kMaxWeights / product) {
        return wrong(t, "a dimension out of range", std::to_string(size));
      }
      product *= size;
      t.size[i] = static_cast<std::int64_t>(size);
    }
    return {};
  }

  Result<void> tensor(std::unordered_set<std::string>& seen) {
    GgufTensor t;
    CAIRN_TRY(t.name, name("tensor name"));
    if (!seen.insert(t.name).second) {
      return fail(source_.error("the same tensor twice").in("tensor name").got(t.name));
    }
    CAIRN_CHECK(shape(t));
    CAIRN_TRY(const auto type, source_.number<std::uint32_t>());
    t.type = type <= 255 ? types_.find_ggml(static_cast<int>(type)) : nullptr;
    if (t.type == nullptr) return wrong(t, "unknown type of tensor", std::to_string(type));
    CAIRN_TRY(t.offset, source_.number<std::uint64_t>());
    if (t.offset % file_.alignment != 0) {
      return wrong(t, "an offset that is not aligned", std::to_string(t.offset));
    }
    if (t.size[0] % t.type->block_weights != 0) {
      return wrong(t, fmt::format("a row that is no whole number of {} blocks", t.type->name),
                   std::to_string(t.size[0]));
    }
    // At most 2^60 weights of 8 bytes: no overflow.
    t.bytes = static_cast<std::uint64_t>(t.weights() / t.type->block_weights) *
              static_cast<std::uint64_t>(t.type->block_bytes);
    file_.tensors.push_back(std::move(t));
    return {};
  }

  // Tensors must not overlap and must lie in the file.
  Result<void> data() {
    std::vector<const GgufTensor*> order;
    order.reserve(file_.tensors.size());
    for (const GgufTensor& t : file_.tensors) order.push_back(&t);
    std::ranges::sort(order, {}, [](const GgufTensor* t) { return t->offset; });
    const std::uint64_t room =
        file_.file_bytes > file_.header_bytes ? file_.file_bytes - file_.header_bytes : 0;
    std::uint64_t end = 0;
    for (const GgufTensor* const t : order) {
      if (t->offset < end) return wrong(*t, "tensors overlap", std::to_string(t->offset));
      if (t->offset > room || t->bytes > room - t->offset) {
        return fail(bad_input("the file is truncated: a tensor ends beyond it")
                        .at(source_.name())
                        .in(t->name)
                        .got(fmt::format("{} bytes", file_.file_bytes))
                        .want("at least " + needed(order)));
      }
      end = t->offset + t->bytes;
    }
    return {};
  }

  // Bytes that the whole file should have, as text; the sum may exceed 64 bits.
  [[nodiscard]] std::string needed(const std::vector<const GgufTensor*>& order) const {
    double end = 0;
    for (const GgufTensor* const t : order) {
      end = std::max(end, static_cast<double>(t->offset) + static_cast<double>(t->bytes));
    }
    return fmt::format("{:.0f} bytes", static_cast<double>(file_.header_bytes) + end);
  }

  ByteSource& source_;
  const TensorTypes& types_;
  const GgufLimits& limits_;
  GgufFile file_;
};

// ---- split models -----------------------------------------------------------

// "model-00002-of-00005.gguf": where the numbers stand.
struct SplitName {
  std::string prefix;
  std::uint32_t count = 0;
};

std::optional<SplitName> split_name(std::string_view path) {
  constexpr std::string_view kTail = "-00001-of-00005.gguf";
  if (path.size() < kTail.size() || !path.ends_with(".gguf")) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kTail.size());
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-") return std::nullopt;
  SplitName out;
  const std::string_view digits = tail.substr(10, 5);
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), out.count);
  if (r.ec != std::errc() || r.ptr != digits.data() + digits.size()) return std::nullopt;
  out.prefix = path.substr(0, path.size() - kTail.size());
  return out;
}

Result<GgufFile> read_part(const std::string& path, const TensorTypes& types,
                           const GgufLimits& limits) {
  CAIRN_TRY(ByteSource source, ByteSource::open(path));
  return Reader(source, types, limits).read();
}

Result<void> append_part(GgufFile& whole, GgufFile part, std::uint32_t index,
                         std::unordered_set<std::string>& names) {
  for (GgufTensor& t : part.tensors) {
    if (!names.insert(t.name).second) {
      return fail(
          bad_input("the same tensor in two parts").at(part.path).in("tensor name").got(t.name));
    }
    t.part = index;
    whole.tensors.push_back(std::move(t));
  }
  whole.header_bytes += part.header_bytes;
  whole.file_bytes += part.file_bytes;
  return {};
}

Result<GgufFile> read_split(const SplitName& name, std::uint32_t count, const TensorTypes& types,
                            const GgufLimits& limits) {
  GgufFile whole;
  std::unordered_set<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string path = fmt::format("{}-{:05}-of-{:05}.gguf", name.prefix, i + 1, count);
    auto part = read_part(path, types, limits);
    if (!part && part.error().kind == ErrorKind::not_found) {
      return fail(not_found("a part of a split model is missing").at(path));
    }
    if (!part) return part;
    CAIRN_TRY(const std::int64_t number, part->integer_or("split.no", i, 0, 1 << 16));
    if (number != i) {
      return fail(bad_input("a part of a split model with the number of another")
                      .at(path)
                      .in("split.no")
                      .got(std::to_string(number))
                      .want(std::to_string(i)));
    }
    if (i == 0) {
      whole.path = part->path;
      whole.version = part->version;
      whole.alignment = part->alignment;
      whole.metadata = std::move(part->metadata);
    }
    CAIRN_CHECK(append_part(whole, *std::move(part), i, names));
  }
  whole.parts = count;
  const auto have = static_cast<std::int64_t>(whole.tensors.size());
  CAIRN_TRY(const std::int64_t want,
            whole.integer_or("split.tensors.count", have, 0, std::int64_t{1} << 31U));
  if (want != have) {
    return fail(bad_input("the parts hold another number of tensors than they say")
                    .at(whole.path)
                    .in("split.tensors.count")
                    .got(std::to_string(want))
                    .want(std::to_string(have)));
  }
  return whole;
}

}  // namespace

Result<GgufFile> parse_gguf(std::span<const std::byte> bytes, std::string name,
                            const TensorTypes& types, const GgufLimits& limits) {
  ByteSource source(bytes, std::move(name));
  return Reader(source, types, limits).read();
}

Result<GgufFile> read_gguf(const std::string& path, const TensorTypes& types,
                           const GgufLimits& limits) {
  CAIRN_TRY(GgufFile file, read_part(path, types, limits));
  CAIRN_TRY(const std::int64_t count, file.integer_or("split.count", 1, 0, 99999));
  if (count <= 1) return file;
  const auto name = split_name(path);
  if (!name || name->count != count) {
    return fail(bad_input("a part of a split model whose name does not say which")
                    .at(path)
                    .in("split.count")
                    .got(std::to_string(count))
                    .want(fmt::format("a name that ends in -00001-of-{:05}.gguf", count)));
  }
  return read_split(*name, name->count, types, limits);
}

}  // namespace cairn
