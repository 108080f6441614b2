// The declared commands as text: help, manual page, Markdown.
#pragma once

#include <string>
#include <string_view>

#include "cairn/options/spec.h"
#include "cairn/report/terminal.h"
#include "cairn/report/translator.h"

namespace cairn {

/// "predict MODEL [options]".
std::string usage_of(const CommandSpec& command, const Translator& t);
/// What is accepted beyond the type's own form: range and default, as in
/// "1 to 64; default 8"; empty where there is nothing to say.
std::string limits_of(const OptionSpec& option, const Translator& t);
/// "-g, --gpu ID".
std::string spelling_of(const OptionSpec& option);

/// `cairn --help`: what the program is for and its commands.
std::string program_help(const ProgramSpec& program, const Translator& t, const Style& style,
                         std::size_t width);
/// `cairn COMMAND --help`.
std::string command_help(const ProgramSpec& program, const CommandSpec& command,
                         const Translator& t, const Style& style, std::size_t width);
/// The manual page, section 1, in roff with the man macros.
std::string manual_page(const ProgramSpec& program, const Translator& t);
/// docs/commands.md.
std::string markdown_help(const ProgramSpec& program, const Translator& t);

}  // namespace cairn
