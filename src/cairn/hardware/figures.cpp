#include "cairn/hardware/figures.h"

#include <utility>

namespace cairn {

Result<std::optional<double>> Figures::number(std::string_view key) const {
  const auto figure = figures_.find_value(key);
  if (!figure) return std::optional<double>{};
  CAIRN_TRY(const std::optional<double> value, figure->get_optional<double>("value"));
  if (value && (*value < 0 || *value >= 1e9)) {
    return fail(
        figure->required("value")->error("out of range").in(std::string(key)).want("0 to 1e9"));
  }
  return value;
}

Result<double> Figures::required(std::string_view key) const {
  CAIRN_TRY(const std::optional<double> value, number(key));
  if (value) return *value;
  return fail(bad_input("missing figure").at(figures_.where()).in(std::string(key)));
}

Result<double> Figures::number_or(std::string_view key, double fallback) const {
  CAIRN_TRY(const std::optional<double> value, number(key));
  return value.value_or(fallback);
}

Result<std::string> Figures::text(std::string_view key) const {
  const auto figure = figures_.find_value(key);
  if (!figure || !figure->find_value("value")) return std::string{};
  CAIRN_TRY(const std::string_view value, figure->get<std::string_view>("value"));
  return std::string(value);
}

Result<std::vector<std::string>> Figures::words(std::string_view key) const {
  const auto figure = figures_.find_value(key);
  if (!figure) return std::vector<std::string>{};
  return figure->get_strings("value");
}

}  // namespace cairn
