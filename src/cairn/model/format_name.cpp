#include "cairn/model/format_name.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cairn {
namespace {

constexpr std::size_t kMaxExceptions = 1000;
constexpr std::int32_t kMaxLayer = 100'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::int32_t> layer_number(std::string_view text) {
  std::int32_t value = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kMaxLayer) return std::nullopt;
  return value;
}

std::optional<std::pair<std::int32_t, std::int32_t>> layer_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = layer_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : layer_number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

std::optional<FormatException> parse_exception(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  FormatException out;
  out.type = text.substr(colon + 1);
  const std::string_view where = text.substr(0, colon);
  const std::size_t at = where.find('@');
  for (const std::string_view name : split(where.substr(0, at), ',')) {
    if (name.empty()) return std::nullopt;
    out.tensors.emplace_back(name);
  }
  if (at == std::string_view::npos) return out;
  for (const std::string_view range : split(where.substr(at + 1), ',')) {
    const auto layers = layer_range(range);
    if (!layers) return std::nullopt;
    out.layers.push_back(*layers);
  }
  return out;
}

}  // namespace

bool FormatException::in_layers(std::int32_t layer) const {
  return layers.empty() || std::ranges::any_of(layers, [&](const auto& range) {
           return range.first <= layer && layer <= range.second;
         });
}

std::string FormatName::to_string() const {
  std::string out = base;
  for (const FormatException& e : exceptions) {
    for (std::size_t i = 0; i < e.tensors.size(); ++i) {
      out.append(i == 0 ? "+" : ",").append(e.tensors[i]);
    }
    for (std::size_t i = 0; i < e.layers.size(); ++i) {
      const auto& [first, last] = e.layers[i];
      out.append(i == 0 ? "@" : ",").append(std::to_string(first));
      if (last != first) out.append("-").append(std::to_string(last));
    }
    out.append(":").append(e.type);
  }
  return out;
}

std::string_view base_format(std::string_view name) { return name.substr(0, name.find('+')); }

Result<FormatName> parse_format_name(std::string_view name) {
  const auto pieces = split(name, '+');
  FormatName out;
  out.base = pieces.front();
  const auto refused = [&](std::string message) {
    return fail(bad_input(std::move(message))
                    .in("weight format")
                    .got(name)
                    .want("NAME+TENSORS[@LAYERS]:TYPE, as in nvfp4+attention@0-2:bf16"));
  };
  if (pieces.size() > kMaxExceptions) return refused("too many exceptions in a weight format");
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    auto exception = parse_exception(pieces[i]);
    if (!exception) return refused("malformed exception in a weight format");
    out.exceptions.push_back(std::move(*exception));
  }
  return out;
}

}  // namespace cairn
