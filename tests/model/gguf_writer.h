// Writes GGUF headers for the tests: well-formed ones, and with the raw parts
// any that are not.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/model/gguf.h"
#include "cairn/model/graph.h"
#include "facts.h"

namespace cairn::test {

/// Little-endian bytes.
class Bytestring {
 public:
  template <class T>
  Bytestring& put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
    return *this;
  }
  std::string bytes;
};

struct TensorEntry {
  std::string name;
  std::vector<std::uint64_t> size;
  std::uint32_t type = 0;
};

class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

  GgufWriter& text(std::string_view key, std::string_view value) {
    entry(key, 8);
    string(values_, value);
    return *this;
  }
  GgufWriter& u32(std::string_view key, std::uint32_t value) {
    entry(key, 4);
    values_.put(value);
    return *this;
  }
  GgufWriter& u32s(std::string_view key, const std::vector<std::uint32_t>& values) {
    array(key, 4, values.size());
    for (const std::uint32_t v : values) values_.put(v);
    return *this;
  }
  GgufWriter& bools(std::string_view key, const std::vector<bool>& values) {
    array(key, 7, values.size());
    for (const bool v : values) values_.put(static_cast<std::uint8_t>(v));
    return *this;
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values) {
    array(key, 8, values.size());
    for (const std::string& v : values) string(values_, v);
    return *this;
  }
  /// Anything: a key, a type number and the bytes of a value.
  GgufWriter& raw(std::string_view key, std::uint32_t type, std::string_view value) {
    entry(key, type);
    values_.bytes += value;
    return *this;
  }
  GgufWriter& tensor(std::string name, std::vector<std::uint64_t> size, std::uint32_t type = 0) {
    tensors_.push_back({std::move(name), std::move(size), type});
    return *this;
  }
  GgufWriter& alignment(std::uint64_t bytes) {
    alignment_ = bytes;
    return u32("general.alignment", static_cast<std::uint32_t>(bytes));
  }

  /// The header, padded to where the data begins.
  [[nodiscard]] std::string header() const {
    Bytestring out;
    out.put(std::uint32_t{0x46554747}).put(version_);
    count(out, tensors_.size());
    count(out, keys_);
    out.bytes += values_.bytes;
    std::uint64_t offset = 0;
    for (const TensorEntry& t : tensors_) {
      string(out, t.name);
      out.put(static_cast<std::uint32_t>(t.size.size()));
      for (const std::uint64_t n : t.size) count(out, n);
      out.put(t.type).put(offset);
      offset = align(offset + bytes_of(t));
    }
    out.bytes.resize(align(out.bytes.size()), '\0');
    return out.bytes;
  }

  [[nodiscard]] std::uint64_t data_bytes() const {
    std::uint64_t end = 0;
    std::uint64_t last = 0;
    for (const TensorEntry& t : tensors_) {
      last = end + bytes_of(t);
      end = align(last);
    }
    return last;
  }

  /// Header and data, all zero.
  [[nodiscard]] std::string file() const {
    std::string out = header();
    out.resize(out.size() + data_bytes(), '\0');
    return out;
  }

 private:
  void entry(std::string_view key, std::uint32_t type) {
    ++keys_;
    string(values_, key);
    values_.put(type);
  }
  void array(std::string_view key, std::uint32_t type, std::uint64_t n) {
    entry(key, 9);
    values_.put(type);
    count(values_, n);
  }
  void count(Bytestring& out, std::uint64_t n) const {
    if (version_ == 1) {
      out.put(static_cast<std::uint32_t>(n));
    } else {
      out.put(n);
    }
  }
  void string(Bytestring& out, std::string_view value) const {
    count(out, value.size());
    out.bytes += value;
  }
  [[nodiscard]] std::uint64_t align(std::uint64_t n) const {
    return (n + alignment_ - 1) / alignment_ * alignment_;
  }
  static std::uint64_t bytes_of(const TensorEntry& t) {
    const TensorType* const type = facts().types.find_ggml(static_cast<int>(t.type));
    std::uint64_t rows = 1;
    for (std::size_t i = 1; i < t.size.size(); ++i) rows *= t.size[i];
    if (type == nullptr) return 0;
    const auto block = static_cast<std::uint64_t>(type->block_weights);
    return t.size[0] / block * static_cast<std::uint64_t>(type->block_bytes) * rows;
  }

  std::uint32_t version_;
  std::uint64_t alignment_ = 32;
  std::uint64_t keys_ = 0;
  Bytestring values_;
  std::vector<TensorEntry> tensors_;
};

inline Result<GgufFile> parse(std::string_view bytes, const GgufLimits& limits = {}) {
  return parse_gguf(std::as_bytes(std::span(bytes)), "test.gguf", facts().types, limits);
}

/// Name of a tensor in a file of llama.cpp.
inline std::string file_name(const Tensor& t, bool gpt_oss) {
  std::string name = t.layer >= 0 ? "blk." + std::to_string(t.layer) + "." : "";
  if (t.role == TensorRole::router_bias)
    return name + (gpt_oss ? "ffn_gate_inp" : "exp_probs_b") + ".bias";
  if (t.role == TensorRole::ffn_norm && gpt_oss) return name + "post_attention_norm.weight";
  name += role_name(t.role == TensorRole::bias ? t.owner : t.role);
  return name + (t.role == TensorRole::bias ? ".bias" : ".weight");
}

/// The file of a graph in a format, as llama.cpp writes it.
inline GgufWriter write_model(const Graph& graph, std::string_view architecture,
                              std::string_view format) {
  const ModelSpec& spec = graph.spec;
  const BoundWeights bound = value_of(facts().formats.bind(graph, format));
  const AttentionSpec& a = spec.layers.front().attention;
  const FeedForwardSpec& f = spec.layers.back().feed_forward;
  const std::string arch(architecture);
  const auto n = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
  GgufWriter w;
  w.text("general.architecture", architecture).text("general.name", spec.id);
  w.u32("general.file_type", n(facts().formats.find(format)->ftype));
  w.u32(arch + ".block_count", n(static_cast<std::int64_t>(spec.layers.size())));
  w.u32(arch + ".context_length", 4096).u32(arch + ".embedding_length", n(spec.hidden));
  w.u32(arch + ".attention.head_count", n(a.heads));
  if (a.kind == AttentionKind::mla) {
    w.u32(arch + ".attention.head_count_kv", 1);
    w.u32(arch + ".attention.key_length", n(a.kv_lora_rank + a.qk_rope_head_dim));
    w.u32(arch + ".attention.key_length_mla", n(a.head_dim));
    w.u32(arch + ".attention.value_length_mla", n(a.v_head_dim));
    w.u32(arch + ".attention.kv_lora_rank", n(a.kv_lora_rank));
    if (a.q_lora_rank > 0) w.u32(arch + ".attention.q_lora_rank", n(a.q_lora_rank));
    w.u32(arch + ".rope.dimension_count", n(a.qk_rope_head_dim));
  } else {
    w.u32(arch + ".attention.head_count_kv", n(a.kv_heads));
    w.u32(arch + ".attention.key_length", n(a.head_dim));
  }
  if (f.experts > 0) {
    w.u32(arch + ".expert_count", n(f.experts));
    w.u32(arch + ".expert_used_count", n(f.experts_per_token));
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& t = graph.tensors[i];
    std::vector<std::uint64_t> size{static_cast<std::uint64_t>(t.columns)};
    if (!(t.vector && t.rows == 1)) size.push_back(static_cast<std::uint64_t>(t.rows));
    if (t.experts > 1) size.push_back(static_cast<std::uint64_t>(t.experts));
    w.tensor(file_name(t, architecture == "gpt-oss"), size,
             static_cast<std::uint32_t>(*bound.types[i]->ggml_id));
  }
  return w;
}

/// A folder that is removed at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cairn-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Writes `bytes` and then zeros up to `size`, as a hole that takes no space.
  std::string write(std::string_view name, std::string_view bytes, std::uint64_t size = 0) const {
    const std::string path = file(name);
    std::ofstream(path, std::ios::binary) << bytes;
    if (size > bytes.size()) std::filesystem::resize_file(path, size);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace cairn::test
