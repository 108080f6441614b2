#include "cairn/model/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace cairn {

static_assert(std::endian::native == std::endian::little, "model files are little endian");

struct ByteSource::File {
  explicit File(int descriptor_) : descriptor(descriptor_) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor); }

  int descriptor;
  std::vector<std::byte> buffer = std::vector<std::byte>(std::size_t{1} << 18U);
};

ByteSource::ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

ByteSource::ByteSource(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), size_(bytes.size()), memory_(bytes) {}

Result<ByteSource> ByteSource::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int reason = errno;
    Error error = reason == ENOENT ? not_found("no such file") : io_error(std::strerror(reason));
    return fail(std::move(error).at(path));
  }
  ByteSource source;
  source.file_ = std::make_unique<File>(descriptor);
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(bad_input("not a regular file").at(path));
  }
  source.name_ = path;
  source.size_ = static_cast<std::uint64_t>(status.st_size);
  return source;
}

Error ByteSource::error(std::string message) const {
  return bad_input(std::move(message)).at(fmt::format("{}: at byte {}", name_, position_));
}

// Moves the buffer of a file to the position.
Result<void> ByteSource::refill() {
  std::vector<std::byte>& buffer = file_->buffer;
  const std::size_t want = std::min<std::uint64_t>(buffer.size(), left());
  std::size_t have = 0;
  while (have < want) {
    const ssize_t got = ::pread(file_->descriptor, buffer.data() + have, want - have,
                                static_cast<off_t>(position_ + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(io_error(std::strerror(errno)).at(name_));
    if (got == 0) return fail(error("the file shrank while it was read"));
    have += static_cast<std::size_t>(got);
  }
  memory_ = std::span(buffer).first(have);
  memory_start_ = position_;
  return {};
}

Result<void> ByteSource::read(std::span<std::byte> out) {
  if (out.size() > left()) return fail(error("the file ends in the middle of its header"));
  while (!out.empty()) {
    const bool inside = position_ >= memory_start_ && position_ - memory_start_ < memory_.size();
    if (!inside) CAIRN_CHECK(refill());
    const auto from = memory_.subspan(static_cast<std::size_t>(position_ - memory_start_));
    const std::size_t count = std::min(from.size(), out.size());
    std::memcpy(out.data(), from.data(), count);
    out = out.subspan(count);
    position_ += count;
  }
  return {};
}

Result<void> ByteSource::skip(std::uint64_t count) {
  if (count > left()) return fail(error("the file ends in the middle of its header"));
  position_ += count;
  return {};
}

Result<std::string> ByteSource::text(std::uint64_t count) {
  if (count > left()) return fail(error("the file ends in the middle of its header"));
  std::string out(static_cast<std::size_t>(count), '\0');
  CAIRN_CHECK(read(std::as_writable_bytes(std::span(out))));
  return out;
}

}  // namespace cairn
