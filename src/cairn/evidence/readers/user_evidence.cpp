#include "cairn/evidence/readers/user_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cairn/base/message.h"
#include "cairn/data/csv.h"
#include "cairn/evidence/row_fields.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMostBytes = 256ULL << 20U;
constexpr std::string_view kPrefix = "own-";
constexpr std::string_view kSources = "sources.csv";
constexpr std::string_view kInference = "inference.csv";
constexpr std::string_view kMicro = "micro.csv";

std::string path_of(const std::string& folder, std::string_view file) {
  return (std::filesystem::path(folder) / file).string();
}

// Nothing where the file does not exist.
Result<std::optional<Document>> load_if_there(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return std::optional<Document>{};
  CAIRN_TRY(const std::string text, read_file(path, kMostBytes));
  CAIRN_TRY(Document document, parse_csv(text, path));
  return std::optional<Document>(std::move(document));
}

// What a row says, for the comparison with others.
template <class R>
std::string sentence(const R& row) {
  std::string out;
  for (const EvidenceCell& cell : cells_of(row)) {
    if (cell.column == "id" || cell.column == "source" || cell.column == "notes") continue;
    out.append(cell.column).append("=").append(cell.text).append("\n");
  }
  return out;
}

std::size_t number_of(std::string_view id) {
  if (!id.starts_with(kPrefix)) return 0;
  id.remove_prefix(kPrefix.size());
  std::size_t number = 0;
  const auto r = std::from_chars(id.data(), id.data() + id.size(), number);
  return r.ec == std::errc() ? number : 0;
}

std::string sources_csv(const EvidenceSources& sources) {
  std::string out = "key,url,date,kind,campaign,confirmed\n";
  for (const EvidenceSource& s : sources.all()) {
    out += fmt::format("{},{},{},{},{},{}\n", csv_cell(s.key), csv_cell(s.url), csv_cell(s.date),
                       name_of(s.kind), csv_cell(s.campaign), s.confirmed ? "true" : "false");
  }
  return out;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(fresh, path, failed);
  if (!out || failed) {
    return fail(io_error(std::string(msg("cannot write the file"))).at(path));
  }
  return {};
}

}  // namespace

Result<UserEvidence> UserEvidence::load(const std::string& folder, const EvidenceNames& names) {
  UserEvidence out;
  CAIRN_TRY(const auto sources, load_if_there(path_of(folder, kSources)));
  if (sources) CAIRN_CHECK(out.sources_.read(sources->root()));
  CAIRN_TRY(const auto inference, load_if_there(path_of(folder, kInference)));
  if (inference) {
    CAIRN_TRY(out.inference_, read_inference(inference->root(), out.sources_, names));
  }
  CAIRN_TRY(const auto micro, load_if_there(path_of(folder, kMicro)));
  if (micro) {
    CAIRN_TRY(out.micro_, read_micro(micro->root(), out.sources_, names));
  }
  const auto note = [&out](const auto& row) {
    out.last_id_ = std::max(out.last_id_, number_of(row.id));
    out.said_.push_back(sentence(row));
  };
  std::ranges::for_each(out.inference_, note);
  std::ranges::for_each(out.micro_, note);
  std::ranges::sort(out.said_);
  return out;
}

Result<const EvidenceSource*> UserEvidence::source_of(const EvidenceSource& facts) {
  for (const EvidenceSource& s : sources_.all()) {
    if (s.url == facts.url && s.date == facts.date && s.kind == facts.kind &&
        s.campaign == facts.campaign) {
      return &s;
    }
  }
  EvidenceSource source = facts;
  std::size_t number = sources_.all().size() + 1;
  do {
    source.key = fmt::format("own.{}", number++);
  } while (sources_.find(source.key) != nullptr);
  return sources_.add(std::move(source));
}

template <class R>
bool UserEvidence::add_to(std::vector<R>& rows, R row) {
  std::string said = sentence(row);
  const auto at = std::ranges::lower_bound(said_, said);
  if (at != said_.end() && *at == said) return false;
  said_.insert(at, std::move(said));
  row.id = fmt::format("{}{}", kPrefix, ++last_id_);
  rows.push_back(std::move(row));
  return true;
}

bool UserEvidence::add(InferenceRow row) { return add_to(inference_, std::move(row)); }
bool UserEvidence::add(MicroRow row) { return add_to(micro_, std::move(row)); }

Result<void> UserEvidence::write(const std::string& folder) const {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return fail(io_error(std::string(msg("cannot make the folder"))).at(folder));
  CAIRN_CHECK(write_file(path_of(folder, kSources), sources_csv(sources_)));
  if (!inference_.empty()) {
    CAIRN_CHECK(write_file(path_of(folder, kInference), inference_csv(inference_)));
  }
  if (!micro_.empty()) {
    CAIRN_CHECK(write_file(path_of(folder, kMicro), micro_csv(micro_)));
  }
  return {};
}

}  // namespace cairn
