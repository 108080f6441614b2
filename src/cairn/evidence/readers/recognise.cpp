#include "cairn/evidence/readers/recognise.h"

#include <algorithm>
#include <array>
#include <vector>

#include "cairn/evidence/readers/output_text.h"

namespace cairn {
namespace {

constexpr std::array<std::string_view, 4> kMakers{"AMD ", "NVIDIA ", "Radeon ", "Instinct "};
// What drivers add and the catalogue does not: a virtual function, the module's form, what
// a Windows driver calls every GPU.
constexpr std::array<std::string_view, 5> kEndings{" VF", " OAM", " Graphics", " HF", " GPU"};
constexpr std::array<std::string_view, 2> kMarks{"(TM)", "(R)"};

std::string without_marks(std::string_view printed) {
  std::string out(printed);
  for (const std::string_view mark : kMarks) {
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark)) {
      out.erase(at, mark.size());
    }
  }
  return out;
}

// The name, shortened step by step at its end and at its beginning.
class Forms {
 public:
  explicit Forms(std::string_view name) { add(std::string(name)); }

  void cut_from(std::string_view word) {
    each([word](std::string_view form) { return form.substr(0, form.find(word)); });
  }
  void cut_end(std::string_view word) {
    each([word](std::string_view form) {
      return form.ends_with(word) ? form.substr(0, form.size() - word.size()) : form;
    });
  }
  void cut_beginning(std::string_view word) {
    each([word](std::string_view form) {
      return form.starts_with(word) ? form.substr(word.size()) : form;
    });
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return forms_; }

 private:
  void add(std::string form) {
    if (std::ranges::find(forms_, form) == forms_.end()) forms_.push_back(std::move(form));
  }
  template <class Shorten>
  void each(Shorten shorten) {
    const std::size_t count = forms_.size();
    for (std::size_t i = 0; i < count; ++i) add(std::string(trimmed(shorten(forms_[i]))));
  }

  std::vector<std::string> forms_;
};

std::vector<std::string> forms_of(std::string_view printed) {
  Forms forms(without_marks(printed));
  // Mesa and AMDVLK name themselves behind the card.
  forms.cut_from(" (RADV");
  forms.cut_from(" (AMDVLK");
  for (const std::string_view ending : kEndings) forms.cut_end(ending);
  for (const std::string_view maker : kMakers) forms.cut_beginning(maker);
  return forms.all();
}

// Without folder, ending and "-00001-of-00003".
std::string_view stem_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (lower_case(path).ends_with(".gguf")) path.remove_suffix(5);
  const std::size_t of = path.rfind("-of-");
  if (of != std::string_view::npos && digits(path.substr(of + 4))) {
    const std::size_t part = path.rfind('-', of - 1);
    if (of > 0 && part != std::string_view::npos && digits(path.substr(part + 1, of - part - 1))) {
      path = path.substr(0, part);
    }
  }
  return path;
}

}  // namespace

const Accelerator* card_of_print(std::string_view printed, const AcceleratorCatalogue& cards) {
  for (const std::string& form : forms_of(printed)) {
    if (form.empty()) continue;
    if (const auto found = cards.find(form)) return *found;
  }
  return nullptr;
}

ModelFileName model_file_name(std::string_view path, const WeightFormats& formats) {
  const std::string_view stem = stem_of(path);
  // The longest end that names a format: "UD-Q4_K_XL" rather than "Q4_K_XL".
  for (std::size_t at = stem.find_first_of("-._"); at != std::string_view::npos;
       at = stem.find_first_of("-._", at + 1)) {
    const std::string_view end = stem.substr(at + 1);
    if (end.empty() || digits(end)) continue;
    if (const WeightFormatInfo* format = formats.find(lower_case(end))) {
      return {std::string(stem.substr(0, at)), format->name};
    }
  }
  return {std::string(stem), {}};
}

}  // namespace cairn
