// Bytes of a model file, read in pieces: the header of a file of hundreds of
// gigabytes is read without mapping or loading the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"

namespace cairn {

/// A cursor over a file or over memory, little endian. Reads beyond the end are
/// errors that say where.
class ByteSource {
 public:
  /// Opens a regular file.
  static Result<ByteSource> open(const std::string& path);
  /// Reads from memory that outlives the source.
  ByteSource(std::span<const std::byte> bytes, std::string name);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t left() const { return size_ - position_; }

  /// Fills `out`, or fails without reading where the source ends before.
  Result<void> read(std::span<std::byte> out);
  Result<void> skip(std::uint64_t count);

  /// A number of T's size as it is stored.
  template <class T>
  Result<T> number() {
    T value{};
    CAIRN_CHECK(read(std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  /// `count` bytes of text.
  Result<std::string> text(std::uint64_t count);

  /// An error at this place of the file: "name: at byte N".
  [[nodiscard]] Error error(std::string message) const;

 private:
  struct File;
  ByteSource();
  Result<void> refill();

  std::string name_;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  std::span<const std::byte> memory_;  // of a memory source, or the buffer of a file
  std::uint64_t memory_start_ = 0;     // where memory_ lies in the source
  std::unique_ptr<File> file_;
};

}  // namespace cairn
