// A set of modules, given by the names and patterns of a quantisation configuration.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"
#include "cairn/model/hf_modules.h"
#include "cairn/model/name_pattern.h"

namespace cairn::hf {

/// How a tool means what it writes.
enum class NameKind : std::uint8_t {
  names,       // names of modules or of their parents; "re:" begins a regular expression
               // (compressed-tensors, Quark)
  globs,       // as names, and * stands for any characters (modelopt, Quark)
  components,  // dotted parts anywhere in the name (fp8, AWQ, bitsandbytes)
  regexes,     // regular expressions (GPTQModel)
};

class ModuleSet {
 public:
  /// Error: unsupported, at `node`, for a pattern that is not understood, or more than
  /// 512 patterns that hold for all layers.
  Result<void> add(Node node, std::string_view text, NameKind kind);
  /// A list of them; null is an empty one.
  Result<void> add_all(Node list, NameKind kind);
  /// The names of one module, in `layer` (-1: none). What regular expressions say of a
  /// module that differs in its layer alone is remembered. Error: unsupported, where they
  /// take longer than a configuration is worth.
  [[nodiscard]] Result<bool> contains(const ModuleNames& names, std::int32_t layer);
  [[nodiscard]] bool empty() const {
    return exact_.empty() && in_layer_.empty() && anywhere_.empty() && regexes_.empty();
  }

 private:
  struct Pattern {
    std::string text;
    bool glob = false;  // else components
  };

  [[nodiscard]] bool exactly(std::string_view name) const;
  [[nodiscard]] bool matches(const NameRegex& regex, const std::vector<std::string>& names);
  [[nodiscard]] bool by_regex(const std::vector<std::string>& names);

  std::unordered_set<std::string> exact_;
  std::map<std::int32_t, std::vector<Pattern>> in_layer_;
  std::vector<Pattern> anywhere_;
  std::vector<NameRegex> regexes_;
  bool blind_to_layers_ = true;       // all of regexes_
  std::map<std::string, bool> seen_;  // by name, digits made the same
  std::uint64_t steps_ = 0;
};

}  // namespace cairn::hf
