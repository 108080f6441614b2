// Visits every node of a document through the checked getters.
#pragma once

#include <string>

#include "cairn/data/document.h"

namespace cairn::fuzz {

inline std::size_t walk(Node node) {
  std::size_t n = node.where().size() + node.text().size();
  static_cast<void>(node.string());
  static_cast<void>(node.integer());
  static_cast<void>(node.number());
  static_cast<void>(node.boolean());
  for (std::uint32_t i = 0; i < node.size(); ++i) {
    if (node.is_mapping()) {
      const Member member = node.member(i);
      if (!node.find(member.key)) std::abort();
      n += walk(member.value);
    } else {
      n += walk(node.at(i));
    }
  }
  return n;
}

}  // namespace cairn::fuzz
