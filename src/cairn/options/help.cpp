#include "cairn/options/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cairn/options/help_texts.h"
#include "cairn/options/value.h"
#include "cairn/report/text.h"

namespace cairn {
namespace {

// Left and right of a list of options, arguments or commands.
struct Entry {
  std::string left;
  std::string right;
};

std::string with_limits(const OptionSpec& option, const Translator& t) {
  const std::string limits = limits_of(option, t);
  if (limits.empty()) return std::string(t.tr(option.description));
  return t.tr(texts::kWithLimits, t.tr(option.description), limits);
}

void list_entries(std::string& out, const std::vector<Entry>& entries, const Style& style,
                  std::size_t width) {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kWidestLeft = 26;
  std::size_t left = 0;
  for (const Entry& e : entries) {
    const std::size_t w = display_width(e.left);
    if (w <= kWidestLeft) left = std::max(left, w);
  }
  const std::size_t column = kIndent + left + 2;
  for (const Entry& e : entries) {
    out.append(kIndent, ' ');
    out += style.paint(Tone::strong, e.left);
    std::size_t at = kIndent + display_width(e.left);
    if (at + 2 > column) {
      out += '\n';
      at = 0;
    }
    for (const std::string& line : wrap(e.right, width - column)) {
      out.append(column - at, ' ');
      out += line + '\n';
      at = 0;
    }
  }
}

void paragraphs(std::string& out, std::string_view text, std::size_t width) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    for (const std::string& line : wrap(text.substr(0, end), width)) out += line + '\n';
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

void heading(std::string& out, std::string_view text, const Style& style) {
  out += '\n' + style.paint(Tone::strong, text) + '\n';
}

std::vector<Entry> option_entries(const OptionGroup& group, const Translator& t) {
  std::vector<Entry> out;
  for (const OptionSpec* o : group.options) out.push_back({spelling_of(*o), with_limits(*o, t)});
  return out;
}

}  // namespace

std::string spelling_of(const OptionSpec& option) {
  std::string out;
  if (option.short_name != 0) out = fmt::format("-{}, ", option.short_name);
  out += fmt::format("--{}", option.name);
  if (option.type == OptionType::choice) {
    out += fmt::format(" {}", fmt::join(choice_names(option), "|"));
  } else if (option.takes_value()) {
    out += fmt::format(" {}", option.metavar);
  }
  return out;
}

std::string usage_of(const CommandSpec& command, const Translator& t) {
  std::string out(command.name);
  for (const ArgumentSpec& a : command.arguments) {
    const bool optional = a.min == 0;
    const std::string more = a.max > 1 ? "..." : "";
    out += optional ? fmt::format(" [{}{}]", a.metavar, more) : fmt::format(" {}", a.metavar);
    if (!optional && a.min > 1) out += fmt::format(" {}", a.metavar);
    if (!optional) out += more;
  }
  if (!command.groups.empty()) out += fmt::format(" [{}]", t.tr(texts::kOptionsWord));
  return out;
}

std::string limits_of(const OptionSpec& option, const Translator& t) {
  std::vector<std::string> parts;
  const std::string unit = option.unit.empty() ? "" : fmt::format(" {}", option.unit);
  if (std::isfinite(option.min) && std::isfinite(option.max)) {
    parts.push_back(t.tr(texts::kFromTo, option.min, option.max) + unit);
  } else if (std::isfinite(option.min)) {
    parts.push_back(t.tr(texts::kAtLeast, option.min) + unit);
  } else if (std::isfinite(option.max)) {
    parts.push_back(t.tr(texts::kAtMost, option.max) + unit);
  } else if (!unit.empty()) {
    parts.push_back(t.tr(texts::kInUnit, option.unit));
  }
  if (!option.default_text.empty()) parts.push_back(t.tr(texts::kDefault, option.default_text));
  if (!option.aliases.empty()) {
    parts.push_back(t.tr(texts::kAlso, fmt::format("--{}", fmt::join(option.aliases, ", --"))));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string program_help(const ProgramSpec& program, const Translator& t, const Style& style,
                         std::size_t width) {
  std::string out;
  paragraphs(out, t.tr("{}: {}", program.name, t.tr(program.summary)), width);
  out += fmt::format("\n{} {} {}\n", style.paint(Tone::strong, t.tr(texts::kUsage)), program.name,
                     t.tr(texts::kProgramUsage));
  heading(out, t.tr(texts::kCommands), style);
  std::vector<Entry> commands;
  for (const CommandSpec* c : program.commands) {
    commands.push_back({std::string(c->name), std::string(t.tr(c->summary))});
  }
  list_entries(out, commands, style, width);
  heading(out, t.tr(program.globals->title), style);
  list_entries(out, option_entries(*program.globals, t), style, width);
  out += '\n';
  paragraphs(out, t.tr(texts::kExitStatus), width);
  paragraphs(out, t.tr(texts::kMoreHelp, program.name), width);
  return out;
}

std::string command_help(const ProgramSpec& program, const CommandSpec& command,
                         const Translator& t, const Style& style, std::size_t width) {
  std::string out;
  paragraphs(
      out, t.tr("{}: {}", fmt::format("{} {}", program.name, command.name), t.tr(command.summary)),
      width);
  out += fmt::format("\n{} {} {}\n", style.paint(Tone::strong, t.tr(texts::kUsage)), program.name,
                     usage_of(command, t));
  if (!command.description.empty()) {
    out += '\n';
    paragraphs(out, t.tr(command.description), width);
  }
  if (!command.arguments.empty()) {
    heading(out, t.tr(texts::kArguments), style);
    std::vector<Entry> entries;
    for (const ArgumentSpec& a : command.arguments) {
      entries.push_back({std::string(a.metavar), std::string(t.tr(a.description))});
    }
    list_entries(out, entries, style, width);
  }
  for (const OptionGroup* group : command.groups) {
    heading(out, t.tr(group->title), style);
    list_entries(out, option_entries(*group, t), style, width);
  }
  heading(out, t.tr(program.globals->title), style);
  list_entries(out, option_entries(*program.globals, t), style, width);
  if (!command.examples.empty()) heading(out, t.tr(texts::kExamples), style);
  for (const ExampleSpec& e : command.examples) {
    out += fmt::format("  {}\n", style.paint(Tone::strong, e.command));
    for (const std::string& line : wrap(t.tr(e.description), width - 6)) {
      out += fmt::format("      {}\n", line);
    }
  }
  return out;
}

std::string markdown_help(const ProgramSpec& program, const Translator& t) {
  std::string out = fmt::format(
      "# {}\n\n{}\n\n{}\n", t.tr(texts::kMarkdownTitle, program.name), t.tr(program.summary),
      t.tr(texts::kGenerated, fmt::format("`{} help --markdown{}`", program.name,
                                          t.language() == Language::zh ? " --lang zh" : "")));
  const auto options = [&](const OptionGroup& group, std::string_view level) {
    out += fmt::format("\n{} {}\n\n", level, t.tr(group.title));
    for (const OptionSpec* o : group.options) {
      out += fmt::format("- `{}`: {}\n", spelling_of(*o), with_limits(*o, t));
      for (const Choice& c : o->choices) {
        if (c.description.empty() || !c.alias_of.empty()) continue;
        out += fmt::format("    - `{}`: {}\n", c.name, t.tr(c.description));
      }
    }
  };
  options(*program.globals, "##");
  out += fmt::format("\n{}\n", t.tr(texts::kExitStatus));
  for (const CommandSpec* c : program.commands) {
    out += fmt::format("\n## {} {}\n\n{}\n\n    {} {}\n", program.name, c->name, t.tr(c->summary),
                       program.name, usage_of(*c, t));
    if (!c->description.empty()) out += fmt::format("\n{}\n", t.tr(c->description));
    if (!c->arguments.empty()) out += '\n';
    for (const ArgumentSpec& a : c->arguments) {
      out += fmt::format("- `{}`: {}\n", a.metavar, t.tr(a.description));
    }
    for (const OptionGroup* group : c->groups) options(*group, "###");
    if (!c->examples.empty()) out += fmt::format("\n### {}\n\n", t.tr(texts::kExamples));
    for (const ExampleSpec& e : c->examples) {
      out += fmt::format("- {}\n\n      {}\n\n", t.tr(e.description), e.command);
    }
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace cairn
