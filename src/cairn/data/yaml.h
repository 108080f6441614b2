// YAML text to Document, by libyaml's event parser and the YAML 1.2 core schema
// (null, true/false, decimal numbers; everything else and everything quoted is
// a string). Anchors, aliases, tags and a second document are refused: no
// figure in a fact file may come from somewhere else in it.
#pragma once

#include <string>
#include <string_view>

#include "cairn/data/document.h"

namespace cairn {

Result<Document> parse_yaml(std::string_view text, std::string name, ParseLimits limits = {});
Result<Document> load_yaml(const std::string& path, ParseLimits limits = {});

}  // namespace cairn
