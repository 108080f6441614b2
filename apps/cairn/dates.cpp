#include "dates.h"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace cairn::cli {
namespace {

// A day of the calendar, or its month or year alone.
bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != kForm.size()) return false;
  const bool formed = std::equal(text.begin(), text.end(), kForm.begin(), [](char c, char form) {
    return form == '-' ? c == '-' : c >= '0' && c <= '9';
  });
  if (!formed) return false;
  const auto number = [text](std::size_t from, std::size_t digits) {
    unsigned out = 0;
    for (const char c : text.substr(from, digits)) out = 10 * out + static_cast<unsigned>(c - '0');
    return out;
  };
  const std::chrono::year year(static_cast<int>(number(0, 4)));
  const std::chrono::month month(text.size() > 4 ? number(5, 2) : 1);
  const std::chrono::day day(text.size() > 7 ? number(8, 2) : 1);
  return std::chrono::year_month_day(year, month, day).ok();
}

}  // namespace

Result<std::string> date_in(const ParsedCommand& args, const OptionSpec& option) {
  const std::string_view text = args.text(option).value_or("");
  if (text.empty() || is_date(text)) return std::string(text);
  return fail(bad_input("not a date")
                  .in("--" + std::string(option.name))
                  .got(text)
                  .want("YYYY-MM-DD, YYYY-MM or YYYY"));
}

}  // namespace cairn::cli
