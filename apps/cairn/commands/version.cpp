#include "version.h"

#include <filesystem>

#include "../globals.h"
#include "cairn/report/json_writer.h"

namespace cairn::cli {

Result<Answer> run_version(Context& context) {
  const ProgramSpec& program = context.program;
  const std::string path =
      std::filesystem::path(context.environment.image_path(context.args.text(kData).value_or("")))
          .lexically_normal()
          .string();
  // The version is told even where the data is missing: that is when people ask.
  const auto image = context.open_image();
  std::optional<std::size_t> documents;
  if (image) documents = image->names("").size();
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.version/1").field("version", program.version);
    json.field("data", path).field("documents", documents).end_object();
    context.console.out(json.text());
    return Answer::yes;
  }
  context.console.out(std::string(program.name) + " " + std::string(program.version) + "\n");
  if (context.args.flag(kVersion)) return Answer::yes;  // one line for scripts
  const std::string line = documents ? context.tr.tr("data: {} ({} documents)", path, *documents)
                                     : context.tr.tr("data: {} (not readable)", path);
  context.console.out(line + "\n");
  return Answer::yes;
}

}  // namespace cairn::cli
