// What a command works with: its options, the language, the streams, the data.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "cairn/base/result.h"
#include "cairn/data/image.h"
#include "cairn/options/parse.h"
#include "cairn/report/terminal.h"
#include "cairn/report/timings.h"
#include "cairn/report/translator.h"

namespace cairn::cli {

/// The answer of a command that worked; errors travel as Result.
enum class Answer : int { yes = 0, no = 1 };

/// Environment variables that matter, read once in main.
struct Environment {
  std::string lc_all;
  std::string lc_messages;
  std::string lang;
  std::string no_color;
  std::string term;
  std::string data;       // CAIRN_DATA
  std::string user_data;  // XDG_DATA_HOME/cairn, or ~/.local/share/cairn; may be empty
  std::string directory;  // of the program's file

  static Environment read();
  /// <directory>/../share/cairn/cairn.image, unless --data or CAIRN_DATA says
  /// otherwise: the same in the build tree and where it is installed.
  [[nodiscard]] std::string image_path(std::string_view option) const;
  /// evidence.image in the folder of the data image.
  [[nodiscard]] std::string evidence_path(std::string_view option) const;
  [[nodiscard]] std::string catalogue_path(Language language) const;
};

/// The two streams. Output is written through; a reader that went away (EPIPE)
/// ends the output quietly, any other failure is reported by `finish`.
class Console {
 public:
  Console(bool color_out, bool color_err, bool quiet)
      : style_(color_out), error_style_(color_err), quiet_(quiet) {}

  void out(std::string_view text);
  /// A line on stderr that is not part of the answer; silent with --quiet.
  void note(std::string_view text);
  void error(std::string_view line);
  /// False if the output could not be written.
  [[nodiscard]] bool finish();

  [[nodiscard]] const Style& style() const { return style_; }
  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] std::size_t width() const { return text_width(stdout); }

 private:
  Style style_;
  Style error_style_;
  bool quiet_;
  bool failed_ = false;
};

struct Context {
  const ProgramSpec& program;
  const ParsedCommand& args;
  const Environment& environment;
  const Translator& tr;
  Console& console;
  Timings& timings;
  bool json = false;

  /// Maps the data image.
  [[nodiscard]] Result<Image> open_image() const;
  /// Maps the image of the evidence.
  [[nodiscard]] Result<Image> open_evidence() const;
};

}  // namespace cairn::cli
