// The figures of a catalogue record, `figures: {name: {value: ..., source: ...}}`: an
// absent figure and a null value are the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"

namespace cairn {

class Figures {
 public:
  explicit Figures(Node figures) : figures_(figures) {}

  [[nodiscard]] Result<std::optional<double>> number(std::string_view key) const;
  /// An error at the line of the figures where there is no such number.
  [[nodiscard]] Result<double> required(std::string_view key) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, double fallback) const;
  /// Empty where it is unknown.
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  /// A figure whose value is a list of words; empty where it is unknown.
  [[nodiscard]] Result<std::vector<std::string>> words(std::string_view key) const;

 private:
  Node figures_;
};

/// A number in another unit, where it is known.
template <class Unit>
std::optional<Unit> scaled(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return Unit(*value * factor);
}

}  // namespace cairn
