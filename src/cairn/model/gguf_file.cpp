// Look-ups in a header that was read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cairn/model/gguf.h"

namespace cairn {

std::uint64_t GgufFile::tensor_bytes() const {
  std::uint64_t sum = 0;
  for (const GgufTensor& t : tensors) sum += t.bytes;
  return sum;
}

std::int64_t GgufFile::weights() const {
  std::int64_t sum = 0;
  for (const GgufTensor& t : tensors) sum += t.weights();
  return sum;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto it =
      std::ranges::find(metadata, key, [](const auto& m) { return std::string_view(m.first); });
  return it == metadata.end() ? nullptr : &it->second;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto it = std::ranges::find(tensors, name, &GgufTensor::name);
  return it == tensors.end() ? nullptr : &*it;
}

Result<std::string_view> GgufFile::text(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return fail(bad_input("missing key").at(path).in(std::string(key)));
  const auto* const text = std::get_if<std::string>(value);
  if (text == nullptr) return fail(bad_input("not a text").at(path).in(std::string(key)));
  return std::string_view(*text);
}

Result<std::int64_t> GgufFile::integer(std::string_view key, std::int64_t low,
                                       std::int64_t high) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return fail(bad_input("missing key").at(path).in(std::string(key)));
  const auto* const number = std::get_if<std::int64_t>(value);
  if (number == nullptr) return fail(bad_input("not a whole number").at(path).in(std::string(key)));
  if (*number < low || *number > high) {
    return fail(bad_input("a number out of range")
                    .at(path)
                    .in(std::string(key))
                    .got(std::to_string(*number))
                    .want(fmt::format("{} to {}", low, high)));
  }
  return *number;
}

Result<std::int64_t> GgufFile::integer_or(std::string_view key, std::int64_t fallback,
                                          std::int64_t low, std::int64_t high) const {
  if (find(key) == nullptr) return fallback;
  return integer(key, low, high);
}

Result<std::vector<std::int64_t>> GgufFile::per_layer(std::string_view key, std::size_t layers,
                                                      std::int64_t low, std::int64_t high) const {
  const GgufValue* const value = find(key);
  const auto* const array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (array == nullptr) {
    CAIRN_TRY(const std::int64_t one, integer(key, low, high));
    return std::vector<std::int64_t>(layers, one);
  }
  if (array->count != layers || array->values.size() != layers) {
    return fail(bad_input("not one number for each layer")
                    .at(path)
                    .in(std::string(key))
                    .got(std::to_string(array->count))
                    .want(std::to_string(layers)));
  }
  std::vector<std::int64_t> out;
  for (const double v : array->values) {
    if (v != std::floor(v) || v < static_cast<double>(low) || v > static_cast<double>(high)) {
      return fail(bad_input("a number out of range")
                      .at(path)
                      .in(std::string(key))
                      .got(fmt::format("{}", v))
                      .want(fmt::format("{} to {}", low, high)));
    }
    out.push_back(static_cast<std::int64_t>(v));
  }
  return out;
}

}  // namespace cairn
