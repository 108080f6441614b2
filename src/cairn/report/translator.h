// The reader's language, as a value: no global locale is set and none needs to
// be installed. English is the source language and needs no catalogue; Chinese
// comes from a gettext catalogue (po/zh_CN.po, compiled by msgfmt).
//
//   t.tr("Deployment")                      the sentence, translated
//   t.tr("{} of {} cards", 3, 8)            with values
//   t.tr(error)                             an Error on one line
//
// A sentence that the catalogue lacks stays English; a test sees to it that
// none does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cairn/base/message.h"
#include "cairn/base/result.h"

namespace cairn {

enum class Language : std::uint8_t { en, zh };
/// "en", "zh".
std::string_view name_of(Language language);
/// The language of a POSIX locale name: "zh_CN.UTF-8" is Chinese, all else
/// English.
Language language_of(std::string_view locale);
/// The first of LC_ALL, LC_MESSAGES and LANG that is set decides.
Language language_of(std::string_view lc_all, std::string_view lc_messages, std::string_view lang);

class Translator {
 public:
  /// English.
  Translator() = default;
  /// Reads the bytes of a compiled catalogue (.mo, either byte order; format:
  /// https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html).
  static Result<Translator> parse(Language language, std::string bytes, std::string name);
  static Result<Translator> load(Language language, const std::string& path);

  [[nodiscard]] Language language() const { return language_; }

  [[nodiscard]] std::string_view tr(std::string_view sentence) const;
  [[nodiscard]] std::string tr(const Message& m) const { return fill(tr(m.id), m.values); }
  template <class First, class... More>
  [[nodiscard]] std::string tr(std::string_view sentence, const First& first,
                               const More&... more) const {
    return fill(tr(sentence), {fmt::format("{}", first), fmt::format("{}", more)...});
  }
  /// "where: field: message: "value"; expected ...".
  [[nodiscard]] std::string tr(const Error& error) const;

  [[nodiscard]] bool has(std::string_view sentence) const;
  /// Entries of the catalogue, to check it: sentence and translation.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::pair<std::string_view, std::string_view> entry(std::size_t i) const;

 private:
  /// A message, put together in a form that is known or as it stands.
  [[nodiscard]] std::string message_in_form(std::string_view text) const;
  /// What was expected, where it is of a form that is known: "1 to 8".
  [[nodiscard]] std::optional<std::string> expected_in_form(std::string_view expected) const;

  struct Catalog;
  Language language_ = Language::en;
  std::shared_ptr<const Catalog> catalog_;
};

}  // namespace cairn
