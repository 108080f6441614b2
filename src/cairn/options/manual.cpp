// The manual page. Macros of man(7) only, so that groff and mandoc both read it.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cairn/options/help.h"
#include "cairn/options/help_texts.h"
#include "cairn/options/value.h"

namespace cairn {
namespace {

// Text that roff prints as it is: no escape, no request at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_start = out.empty() || out.back() == '\n';
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

void item(std::string& out, std::string_view term, std::string_view text) {
  out += fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

void option_items(std::string& out, const OptionGroup& group, const Translator& t) {
  for (const OptionSpec* o : group.options) {
    const std::string limits = limits_of(*o, t);
    const std::string_view text = t.tr(o->description);
    item(out, spelling_of(*o),
         limits.empty() ? std::string(text) : t.tr(texts::kWithLimits, text, limits));
    for (const Choice& c : o->choices) {
      if (c.description.empty() || !c.alias_of.empty()) continue;
      out += fmt::format(".RS\n.TP\n.B {}\n{}\n.RE\n", roff(c.name), roff(t.tr(c.description)));
    }
  }
}

void command_section(std::string& out, const ProgramSpec& program, const CommandSpec& command,
                     const Translator& t) {
  out += fmt::format(".SS {} {}\n{}\n.PP\n.B {} {}\n", program.name, command.name,
                     roff(t.tr(command.summary)), program.name, roff(usage_of(command, t)));
  if (!command.description.empty()) {
    out += fmt::format(".PP\n{}\n", roff(t.tr(command.description)));
  }
  for (const ArgumentSpec& a : command.arguments) item(out, a.metavar, t.tr(a.description));
  for (const OptionGroup* group : command.groups) {
    out += fmt::format(".PP\n.I {}\n", roff(t.tr(group->title)));
    option_items(out, *group, t);
  }
  if (!command.examples.empty()) out += fmt::format(".PP\n.I {}\n", roff(t.tr(texts::kExamples)));
  for (const ExampleSpec& e : command.examples) item(out, e.command, t.tr(e.description));
}

}  // namespace

std::string manual_page(const ProgramSpec& program, const Translator& t) {
  std::string out =
      fmt::format(".TH {} 1 \"\" \"{} {}\"\n", upper(program.name), program.name, program.version);
  out += fmt::format(".SH {}\n{} \\- {}\n", t.tr(texts::kName), program.name,
                     roff(t.tr(program.summary)));
  out += fmt::format(".SH {}\n.B {}\n{}\n", t.tr(texts::kSynopsis), program.name,
                     roff(t.tr(texts::kProgramUsage)));
  out += fmt::format(".SH {}\n{}\n", t.tr(texts::kDescription), roff(t.tr(texts::kExitStatus)));
  out += fmt::format(".SH {}\n", upper(t.tr(program.globals->title)));
  option_items(out, *program.globals, t);
  out += fmt::format(".SH {}\n", upper(t.tr(texts::kCommands)));
  for (const CommandSpec* c : program.commands) command_section(out, program, *c, t);
  return out;
}

}  // namespace cairn
