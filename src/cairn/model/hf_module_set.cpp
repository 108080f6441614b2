#include "cairn/model/hf_module_set.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace cairn::hf {
namespace {

constexpr std::size_t kMaxPatterns = 512;
constexpr std::uint64_t kMaxSteps = 100'000'000;
constexpr std::uint64_t kPatternSteps = 20;

// The layer whose number stands in a pattern: "layers.3.mlp*"; -1 where there is none.
std::int32_t layer_in(std::string_view pattern) {
  constexpr std::string_view kLayers = "layers.";
  const std::size_t at = pattern.find(kLayers);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = pattern.substr(at + kLayers.size());
  std::int32_t layer = -1;
  const auto r = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  if (r.ec != std::errc() || layer < 0) return -1;
  // "layers.1*" is also layer 10.
  const std::size_t digits = static_cast<std::size_t>(r.ptr - rest.data());
  return digits < rest.size() && rest[digits] == '.' ? layer : -1;
}

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool pattern_matches(std::string_view text, bool glob, std::string_view name) {
  return glob ? glob_matches(text, name) : components_match(text, name);
}

}  // namespace

Result<void> ModuleSet::add(Node node, std::string_view text, NameKind kind) {
  const auto refused = [&](Error error) {
    error.where = node.where();
    return fail(std::move(error));
  };
  constexpr std::string_view kRegex = "re:";
  if (anywhere_.size() + regexes_.size() >= kMaxPatterns) {
    return refused(unsupported("more patterns than are looked through"));
  }
  const bool regex = kind == NameKind::regexes;
  if (regex || text.starts_with(kRegex)) {
    auto parsed = NameRegex::parse(regex ? text : text.substr(kRegex.size()));
    if (!parsed) return refused(std::move(parsed).error());
    blind_to_layers_ = blind_to_layers_ && parsed->blind_to_digits();
    regexes_.push_back(*std::move(parsed));
    return {};
  }
  const std::string_view name = without_prefix(text);
  const bool wild = has_wildcard(name);
  if (kind == NameKind::names || (kind == NameKind::globs && !wild)) {
    exact_.emplace(name);
    return {};
  }
  Pattern pattern{.text = std::string(name), .glob = kind == NameKind::globs};
  const std::int32_t layer = layer_in(name);
  if (layer >= 0) {
    in_layer_[layer].push_back(std::move(pattern));
  } else {
    anywhere_.push_back(std::move(pattern));
  }
  return {};
}

Result<void> ModuleSet::add_all(Node list, NameKind kind) {
  if (list.is_null()) return {};
  if (!list.is_sequence()) return fail(list.error("not a list of modules"));
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    CAIRN_TRY(const std::string_view text, list.at(i).string());
    CAIRN_CHECK(add(list.at(i), text, kind));
  }
  return {};
}

// By its own name or that of one of its parents.
bool ModuleSet::exactly(std::string_view name) const {
  if (exact_.empty()) return false;
  while (true) {
    if (exact_.contains(std::string(name))) return true;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return false;
    name = name.substr(0, dot);
  }
}

bool ModuleSet::matches(const NameRegex& regex, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (steps_ > kMaxSteps) return false;
    if (regex.begins_anywhere()) {
      if (regex.matches(name, steps_)) return true;
      continue;
    }
    for (const std::string_view prefix : module_prefixes()) {
      if (regex.matches(std::string(prefix) + name, steps_)) return true;
    }
  }
  return false;
}

bool ModuleSet::by_regex(const std::vector<std::string>& names) {
  if (regexes_.empty() || names.empty()) return false;
  const auto any = [&] {
    return std::ranges::any_of(regexes_, [&](const NameRegex& r) { return matches(r, names); });
  };
  if (!blind_to_layers_) return any();
  std::string key = names.front();
  std::ranges::replace_if(key, [](char c) { return c >= '0' && c <= '9'; }, '0');
  const auto known = seen_.find(key);
  if (known != seen_.end()) return known->second;
  const bool found = any();
  seen_.emplace(std::move(key), found);
  return found;
}

Result<bool> ModuleSet::contains(const ModuleNames& names, std::int32_t layer) {
  const auto any = [&](const std::vector<Pattern>& patterns, std::string_view name) {
    steps_ += kPatternSteps * patterns.size();
    return std::ranges::any_of(
        patterns, [&](const Pattern& p) { return pattern_matches(p.text, p.glob, name); });
  };
  const auto own = in_layer_.find(layer);
  for (const std::string& name : names.fused) {
    if (exactly(name)) return true;
  }
  for (const std::string& name : names.own) {
    if (exactly(name) || any(anywhere_, name)) return true;
    if (own != in_layer_.end() && any(own->second, name)) return true;
  }
  const bool found = by_regex(names.own);
  if (steps_ > kMaxSteps) {
    return fail(unsupported("patterns that take too long").in("quantization_config"));
  }
  return found;
}

}  // namespace cairn::hf
