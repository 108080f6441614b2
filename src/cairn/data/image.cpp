#include "cairn/data/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

namespace cairn {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[8] = {'C', 'A', 'I', 'R', 'N', 'I', 'M', 'G'};
constexpr std::uint32_t kVersion = 1;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t entries;
  std::uint64_t entries_offset;
};

struct Entry {
  std::uint64_t name_offset;
  std::uint64_t nodes_offset;
  std::uint64_t text_offset;
  std::uint32_t name_size;
  std::uint32_t nodes_count;
  std::uint32_t text_size;
  std::uint32_t root;
};

class Writer {
 public:
  std::uint64_t put(const void* data, std::size_t size) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8, '\0');
    const std::uint64_t offset = bytes_.size();
    bytes_.append(static_cast<const char*>(data), size);
    return offset;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

// Every reference of every node stays inside its document, so that readers
// need no checks of their own.
bool consistent(const DocumentView& d) {
  if (d.root >= d.nodes.size()) return false;
  for (std::size_t index = 0; index < d.nodes.size(); ++index) {
    const NodeRecord& r = d.nodes[index];
    switch (r.kind) {
      case NodeKind::string:
        if (!within(r.first(), r.count(), d.text.size())) return false;
        break;
      case NodeKind::sequence:
      case NodeKind::mapping: {
        const std::uint64_t n = std::uint64_t{r.count()} * (r.kind == NodeKind::mapping ? 2U : 1U);
        // Children precede their parent, so no cycle is possible.
        if (!within(r.first(), n, index)) return false;
        if (r.kind == NodeKind::mapping) {
          for (std::uint64_t i = 0; i < n; i += 2) {
            if (d.nodes[r.first() + i].kind != NodeKind::string) return false;
          }
        }
        break;
      }
      default:
        if (r.kind > NodeKind::mapping) return false;
    }
  }
  return true;
}

}  // namespace

Result<void> write_image(const std::string& path, std::span<const Document> documents) {
  std::vector<const Document*> sorted;
  for (const Document& d : documents) sorted.push_back(&d);
  std::ranges::sort(sorted, {}, [](const Document* d) { return d->view().name; });
  Writer out;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.entries = static_cast<std::uint32_t>(sorted.size());
  out.put(&header, sizeof header);
  std::vector<Entry> entries;
  for (const Document* d : sorted) {
    const DocumentView& v = d->view();
    Entry e{};
    e.name_size = static_cast<std::uint32_t>(v.name.size());
    e.nodes_count = static_cast<std::uint32_t>(v.nodes.size());
    e.text_size = static_cast<std::uint32_t>(v.text.size());
    e.root = v.root;
    e.name_offset = out.put(v.name.data(), v.name.size());
    e.nodes_offset = out.put(v.nodes.data(), v.nodes.size_bytes());
    e.text_offset = out.put(v.text.data(), v.text.size());
    entries.push_back(e);
  }
  header.entries_offset = out.put(entries.data(), entries.size() * sizeof(Entry));
  std::memcpy(out.bytes().data(), &header, sizeof header);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(out.bytes().data(), static_cast<std::streamsize>(out.bytes().size()));
  file.close();
  if (!file) return fail(io_error("cannot write the file").at(path));
  return {};
}

struct Image::Mapping {
  void* address = nullptr;
  std::size_t size = 0;
  std::vector<DocumentView> documents;  // sorted by name

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (address != nullptr) munmap(address, size);
  }

  Result<void> map(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(not_found("cannot open the file").at(path));
    struct stat info{};
    void* mapped = MAP_FAILED;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      mapped = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    }
    ::close(fd);
    if (mapped == MAP_FAILED) return fail(io_error("cannot map the file").at(path));
    address = mapped;
    size = static_cast<std::size_t>(info.st_size);
    return {};
  }

  // False where the image is not one, or was cut or altered.
  bool index() {
    const auto* base = static_cast<const char*>(address);
    Header header{};
    if (size < sizeof header) return false;
    std::memcpy(&header, base, sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.version != kVersion) {
      return false;
    }
    if (!within(header.entries_offset, std::uint64_t{header.entries} * sizeof(Entry), size)) {
      return false;
    }
    for (std::uint32_t i = 0; i < header.entries; ++i) {
      Entry e{};
      std::memcpy(&e, base + header.entries_offset + i * sizeof(Entry), sizeof e);
      if (!within(e.name_offset, e.name_size, size) || !within(e.text_offset, e.text_size, size) ||
          !within(e.nodes_offset, std::uint64_t{e.nodes_count} * sizeof(NodeRecord), size) ||
          e.nodes_offset % alignof(NodeRecord) != 0) {
        return false;
      }
      const auto* nodes = reinterpret_cast<const NodeRecord*>(base + e.nodes_offset);
      documents.push_back({{base + e.name_offset, e.name_size},
                           {nodes, e.nodes_count},
                           {base + e.text_offset, e.text_size},
                           e.root});
      if (!consistent(documents.back())) return false;
    }
    return std::ranges::is_sorted(documents, {}, &DocumentView::name);
  }

  [[nodiscard]] const DocumentView* find(std::string_view name) const {
    const auto it = std::ranges::lower_bound(documents, name, {}, &DocumentView::name);
    return it != documents.end() && it->name == name ? &*it : nullptr;
  }
};

Image::Image() = default;

Result<Image> Image::open(const std::string& path) {
  auto mapping = std::make_shared<Mapping>();
  CAIRN_CHECK(mapping->map(path));
  if (!mapping->index()) return fail(bad_input("not a data image of this version").at(path));
  Image image;
  image.mapping_ = std::move(mapping);
  return image;
}

bool Image::contains(std::string_view name) const { return mapping_->find(name) != nullptr; }

Result<Node> Image::root(std::string_view name) const {
  const DocumentView* d = mapping_->find(name);
  if (d == nullptr) return fail(not_found("no such document in the data").in(std::string(name)));
  return Node(d, d->root);
}

std::vector<std::string_view> Image::names(std::string_view prefix) const {
  std::vector<std::string_view> out;
  auto it = std::ranges::lower_bound(mapping_->documents, prefix, {}, &DocumentView::name);
  for (; it != mapping_->documents.end() && it->name.starts_with(prefix); ++it) {
    out.push_back(it->name);
  }
  return out;
}

}  // namespace cairn
