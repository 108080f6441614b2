#include "context.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "globals.h"

namespace cairn::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  return value != nullptr ? value : "";
}

// https://specifications.freedesktop.org/basedir-spec/latest: relative paths do not count.
std::string user_data_folder() {
  const std::string home = variable("HOME");
  const std::string data = variable("XDG_DATA_HOME");
  if (data.starts_with('/')) return data + "/cairn";
  return home.empty() ? std::string() : home + "/.local/share/cairn";
}

}  // namespace

Environment Environment::read() {
  Environment out;
  out.lc_all = variable("LC_ALL");
  out.lc_messages = variable("LC_MESSAGES");
  out.lang = variable("LANG");
  out.no_color = variable("NO_COLOR");
  out.term = variable("TERM");
  out.data = variable("CAIRN_DATA");
  out.user_data = user_data_folder();
  std::error_code failed;
  out.directory = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().string();
  return out;
}

std::string Environment::image_path(std::string_view option) const {
  if (!option.empty()) return std::string(option);
  if (!data.empty()) return data;
  return directory + "/../share/cairn/cairn.image";
}

std::string Environment::evidence_path(std::string_view option) const {
  return std::filesystem::path(image_path(option)).replace_filename("evidence.image").string();
}

std::string Environment::catalogue_path(Language language) const {
  const std::string_view locale = language == Language::zh ? "zh_CN" : "en";
  return directory + "/../share/locale/" + std::string(locale) + "/LC_MESSAGES/cairn.mo";
}

void Console::out(std::string_view text) {
  if (failed_) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) failed_ = errno != EPIPE;
}

void Console::note(std::string_view text) {
  if (quiet_) return;
  error(error_style_.paint(Tone::dim, text));
}

void Console::error(std::string_view line) {
  // Where both streams go to one place, the answer so far stands before the note.
  errno = 0;
  if (std::fflush(stdout) != 0 && errno != EPIPE) failed_ = true;
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
}

bool Console::finish() {
  errno = 0;
  if (std::fflush(stdout) != 0 && errno != EPIPE) failed_ = true;
  return !failed_;
}

Result<Image> Context::open_image() const {
  const auto timer = timings.scope("open the data");
  return Image::open(environment.image_path(args.text(kData).value_or("")));
}

Result<Image> Context::open_evidence() const {
  const auto timer = timings.scope("open the evidence");
  return Image::open(environment.evidence_path(args.text(kData).value_or("")));
}

}  // namespace cairn::cli
