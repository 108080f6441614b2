#include "cairn/report/translator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "cairn/data/document.h"

namespace cairn {

struct Translator::Catalog {
  std::string bytes;
  // Views into bytes, in the order of the sentences.
  std::vector<std::pair<std::string_view, std::string_view>> entries;

  [[nodiscard]] const std::string_view* find(std::string_view sentence) const {
    const auto it =
        std::ranges::lower_bound(entries, sentence, {}, [](const auto& e) { return e.first; });
    return it != entries.end() && it->first == sentence ? &it->second : nullptr;
  }
};

namespace {

constexpr std::uint32_t kMagic = 0x950412deU;
constexpr std::uint64_t kLargest = 16U << 20U;

class MoReader {
 public:
  explicit MoReader(std::string_view bytes) : bytes_(bytes) {}

  // Offsets: magic 0, revision 4, count 8, originals 12, translations 16.
  std::optional<std::vector<std::pair<std::string_view, std::string_view>>> read() {
    const auto magic = word(0);
    if (!magic) return std::nullopt;
    swap_ = *magic == __builtin_bswap32(kMagic);
    const auto count = word(8);
    const auto originals = word(12);
    const auto translations = word(16);
    if (word(0) != kMagic || !count || !originals || !translations) return std::nullopt;
    if (*count > bytes_.size() / 16) return std::nullopt;
    std::vector<std::pair<std::string_view, std::string_view>> out;
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto key = text(*originals + 8 * i);
      const auto value = text(*translations + 8 * i);
      if (!key || !value) return std::nullopt;
      if (!key->empty()) out.emplace_back(*key, *value);  // the empty one is the file's header
    }
    std::ranges::sort(out);
    return out;
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> word(std::uint64_t at) const {
    std::uint32_t w = 0;
    if (at > bytes_.size() || bytes_.size() - at < sizeof w) return std::nullopt;
    std::memcpy(&w, bytes_.data() + at, sizeof w);
    return swap_ ? __builtin_bswap32(w) : w;
  }
  [[nodiscard]] std::optional<std::string_view> text(std::uint64_t at) const {
    const auto size = word(at);
    const auto offset = word(at + 4);
    if (!size || !offset || *offset > bytes_.size() || *size > bytes_.size() - *offset) {
      return std::nullopt;
    }
    return bytes_.substr(*offset, *size);
  }

  std::string_view bytes_;
  bool swap_ = false;
};

}  // namespace

namespace {

// What the places of a sentence hold in a text made from it; nothing where the text is
// not of that form. "{} to {}" and "1 to 8 tok": "1", "8 tok".
std::optional<std::vector<std::string>> values_in(std::string_view text, std::string_view form) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t place = form.find("{}");
    if (place == std::string_view::npos) {
      return text == form ? std::optional(std::move(out)) : std::nullopt;
    }
    if (!text.starts_with(form.substr(0, place))) return std::nullopt;
    text.remove_prefix(place);
    form.remove_prefix(place + 2);
    const std::string_view next = form.substr(0, form.find("{}"));
    const std::size_t end = next.empty() ? text.size() : text.find(next);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Forms of what was expected that are put together where an error occurs.
constexpr std::array kForms{msg("one of the list at {} ({})"),
                            msg("{} or newer, by {} ({})"),
                            msg("{} or older, by {} ({})"),
                            msg("a release after {}, by {} ({})"),
                            msg("filters that have something in common: {}"),
                            msg("{} positive shares, one a device"),
                            msg("at most {} together"),
                            msg("at most {} levels"),
                            msg("at most {} bytes"),
                            msg("at most {} in one file"),
                            msg("a name in {}"),
                            msg("{} slots"),
                            msg("{} with --weights {}"),
                            msg("{} to {}")};

// Messages that are put together where an error occurs.
constexpr std::array kMessages{msg("tensor parallelism does not divide {} {} of layer {}")};

// Whether it is a range of numbers, and no sentence that happens to have the word.
bool is_range(const std::vector<std::string>& values) {
  constexpr std::string_view kDigits = "-.0123456789";
  return values.size() == 2 && kDigits.contains(values[0][0]) && kDigits.contains(values[1][0]);
}

}  // namespace

std::string_view name_of(Language language) { return language == Language::zh ? "zh" : "en"; }

Language language_of(std::string_view locale) {
  const bool chinese =
      locale.starts_with("zh") &&
      (locale.size() == 2 || std::string_view("_-.@").find(locale[2]) != std::string_view::npos);
  return chinese ? Language::zh : Language::en;
}

Language language_of(std::string_view lc_all, std::string_view lc_messages, std::string_view lang) {
  if (!lc_all.empty()) return language_of(lc_all);
  return language_of(lc_messages.empty() ? lang : lc_messages);
}

Result<Translator> Translator::parse(Language language, std::string bytes, std::string name) {
  auto catalog = std::make_shared<Catalog>();
  catalog->bytes = std::move(bytes);
  auto entries = MoReader(catalog->bytes).read();
  if (!entries) return fail(bad_input("not a message catalogue").at(std::move(name)));
  catalog->entries = *std::move(entries);
  Translator out;
  out.language_ = language;
  out.catalog_ = std::move(catalog);
  return out;
}

Result<Translator> Translator::load(Language language, const std::string& path) {
  CAIRN_TRY(std::string bytes, read_file(path, kLargest));
  return parse(language, std::move(bytes), path);
}

std::string_view Translator::tr(std::string_view sentence) const {
  if (!catalog_) return sentence;
  const std::string_view* found = catalog_->find(sentence);
  return found != nullptr && !found->empty() ? *found : sentence;
}

bool Translator::has(std::string_view sentence) const {
  return catalog_ && catalog_->find(sentence) != nullptr;
}

std::size_t Translator::size() const { return catalog_ ? catalog_->entries.size() : 0; }

std::pair<std::string_view, std::string_view> Translator::entry(std::size_t i) const {
  return catalog_->entries[i];
}

std::optional<std::string> Translator::expected_in_form(std::string_view expected) const {
  for (const std::string_view form : kForms) {
    const auto values = values_in(expected, form);
    if (!values || (form == "{} to {}" && !is_range(*values))) continue;
    return fill(tr(form), *values);
  }
  return std::nullopt;
}

std::string Translator::message_in_form(std::string_view text) const {
  for (const std::string_view form : kMessages) {
    auto values = values_in(text, form);
    if (!values) continue;
    for (std::string& value : *values) value = tr(value);
    return fill(tr(form), *values);
  }
  return std::string(tr(text));
}

std::string Translator::tr(const Error& error) const {
  // What was expected is often put together where the error occurs; its
  // opening words are fixed and translated, names and numbers stay.
  constexpr std::array kOpenings{msg("one of "),
                                 msg("at most "),
                                 msg("at least "),
                                 msg("a divisor of "),
                                 msg("a multiple of "),
                                 msg("a divisor or a multiple of "),
                                 msg("for example "),
                                 msg("a number such as "),
                                 msg("a host such as "),
                                 msg("an accelerator such as "),
                                 msg("an engine such as "),
                                 msg("--like with a relative, such as ")};
  Error local = error;
  local.message = message_in_form(error.message);
  if (has(error.expected)) {
    local.expected = tr(error.expected);
  } else if (auto formed = expected_in_form(error.expected)) {
    local.expected = *std::move(formed);
  } else {
    for (const std::string_view opening : kOpenings) {
      if (!error.expected.starts_with(opening)) continue;
      local.expected = std::string(tr(opening)) + error.expected.substr(opening.size());
    }
  }
  std::string out;
  const auto part = [&out](std::string_view text) {
    if (text.empty()) return;
    if (!out.empty()) out += ": ";
    out += text;
  };
  part(local.where);
  part(local.field);
  part(local.message);
  if (!local.value.empty()) out += ": \"" + local.value + "\"";
  if (!local.expected.empty()) out += tr("; expected {}", local.expected);
  return out;
}

}  // namespace cairn
