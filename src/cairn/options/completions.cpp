#include "cairn/options/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cairn/options/value.h"

namespace cairn {
namespace {

// In single quotes for a POSIX shell or fish.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<const OptionSpec*> options_of(const ProgramSpec& program, const CommandSpec* command) {
  std::vector<const OptionSpec*> out;
  if (command != nullptr) {
    for (const OptionGroup* g : command->groups) {
      out.insert(out.end(), g->options.begin(), g->options.end());
    }
  }
  out.insert(out.end(), program.globals->options.begin(), program.globals->options.end());
  return out;
}

// Every option of any command once: choices belong to the option's name.
std::vector<const OptionSpec*> all_options(const ProgramSpec& program) {
  std::vector<const OptionSpec*> out;
  for (const CommandSpec* c : program.commands) {
    for (const OptionSpec* o : options_of(program, c)) {
      if (std::ranges::find(out, o) == out.end()) out.push_back(o);
    }
  }
  return out;
}

// The first words of commands, and the second words below a first one.
std::vector<std::string> first_words(const ProgramSpec& program) {
  std::vector<std::string> out;
  for (const CommandSpec* c : program.commands) {
    std::string first(c->name.substr(0, c->name.find(' ')));
    if (std::ranges::find(out, first) == out.end()) out.push_back(std::move(first));
  }
  return out;
}

std::vector<std::string> second_words(const ProgramSpec& program, std::string_view first) {
  std::vector<std::string> out;
  for (const CommandSpec* c : program.commands) {
    if (c->name.starts_with(first) && c->name.substr(first.size()).starts_with(' ')) {
      out.emplace_back(c->name.substr(first.size() + 1));
    }
  }
  return out;
}

const CommandSpec* command_named(const ProgramSpec& program, std::string_view name) {
  const auto it = std::ranges::find(program.commands, name, &CommandSpec::name);
  return it != program.commands.end() ? *it : nullptr;
}

// The options that take a value, as an alternative of shell patterns.
std::string value_options(const ProgramSpec& program) {
  std::vector<std::string> names;
  for (const OptionSpec* o : all_options(program)) {
    if (o->takes_value()) names.push_back(fmt::format("--{}", o->name));
    if (o->takes_value() && o->short_name != 0) names.push_back(fmt::format("-{}", o->short_name));
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string pair_patterns(const ProgramSpec& program) {
  std::vector<std::string> names;
  for (const CommandSpec* c : program.commands) {
    if (c->name.find(' ') != std::string_view::npos) names.push_back(quoted(c->name));
  }
  return names.empty() ? "''" : fmt::format("{}", fmt::join(names, "|"));
}

// What may follow a command's words: for a first word its second words too.
template <class Line>
void for_each_context(const ProgramSpec& program, const Line& line) {
  line(std::string(), static_cast<const CommandSpec*>(nullptr), first_words(program));
  for (const std::string& first : first_words(program)) {
    line(first, command_named(program, first), second_words(program, first));
  }
  for (const CommandSpec* c : program.commands) {
    if (c->name.find(' ') != std::string_view::npos) {
      line(std::string(c->name), c, std::vector<std::string>{});
    }
  }
}

std::string bash_script(const ProgramSpec& program) {
  const std::string_view name = program.name;
  std::string out = fmt::format(
      "# bash completion for {0}\n_{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local command='' word i\n"
      "  if [[ $cur == = ]]; then cur=''; "
      "elif [[ $prev == = ]]; then prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    case $word in\n      {1}) ((i++)); continue ;;\n      -*|=) continue ;;\n    esac\n"
      "    if [[ -z $command ]]; then command=$word; continue; fi\n"
      "    case \"$command $word\" in {2}) command=\"$command $word\" ;; esac\n"
      "    break\n  done\n  case $prev in\n",
      name, value_options(program), pair_patterns(program));
  for (const OptionSpec* o : all_options(program)) {
    if (!o->takes_value()) continue;
    const std::string pattern = o->short_name != 0 ? fmt::format("--{}|-{}", o->name, o->short_name)
                                                   : fmt::format("--{}", o->name);
    const std::string reply =
        o->metavar == "FILE"
            ? "COMPREPLY=($(compgen -f -- \"$cur\"))"
            : fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))",
                          quoted(fmt::format("{}", fmt::join(choice_names(*o), " "))));
    out += fmt::format("    {}) {}; return ;;\n", pattern, reply);
  }
  out += "  esac\n  local words=''\n  case $command in\n";
  for_each_context(program, [&](const std::string& words, const CommandSpec* command,
                                std::vector<std::string> candidates) {
    for (const OptionSpec* o : options_of(program, command)) {
      candidates.push_back(fmt::format("--{}", o->name));
    }
    out += fmt::format("    {}) words={} ;;\n", quoted(words),
                       quoted(fmt::format("{}", fmt::join(candidates, " "))));
  });
  out += fmt::format(
      "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}}\n"
      "complete -o default -F _{0} {0}\n",
      name);
  return out;
}

// "--gpu:the card" with the colons inside escaped, as _describe wants it.
std::string zsh_item(std::string_view word, std::string_view text) {
  std::string out;
  for (const char c : word) {
    if (c == ':') out += '\\';
    out += c;
  }
  return quoted(fmt::format("{}:{}", out, text));
}

std::string zsh_script(const ProgramSpec& program, const Translator& t) {
  std::string out = fmt::format(
      "#compdef {0}\n_{0}() {{\n"
      "  local command='' word i\n  local -a items\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n    word=$words[i]\n"
      "    case $word in\n      {1}) ((i++)); continue ;;\n      -*) continue ;;\n    esac\n"
      "    if [[ -z $command ]]; then command=$word; continue; fi\n"
      "    case \"$command $word\" in {2}) command=\"$command $word\" ;; esac\n"
      "    break\n  done\n  case $words[CURRENT-1] in\n",
      program.name, value_options(program), pair_patterns(program));
  for (const OptionSpec* o : all_options(program)) {
    if (!o->takes_value()) continue;
    std::vector<std::string> items;
    for (const Choice& c : o->choices) {
      if (c.alias_of.empty()) items.push_back(zsh_item(c.name, t.tr(c.description)));
    }
    out += fmt::format("    --{}) ", o->name);
    out += o->metavar == "FILE"
               ? "_files"
               : fmt::format("items=({}); _describe value items", fmt::join(items, " "));
    out += "; return ;;\n";
  }
  out += "  esac\n  case $command in\n";
  for_each_context(program, [&](const std::string& words, const CommandSpec* command,
                                const std::vector<std::string>& candidates) {
    std::vector<std::string> items;
    for (const std::string& candidate : candidates) {
      const std::string full = words.empty() ? candidate : fmt::format("{} {}", words, candidate);
      const CommandSpec* c = command_named(program, full);
      items.push_back(zsh_item(candidate, c != nullptr ? t.tr(c->summary) : ""));
    }
    for (const OptionSpec* o : options_of(program, command)) {
      items.push_back(zsh_item(fmt::format("--{}", o->name), t.tr(o->description)));
    }
    out += fmt::format("    {}) items=({}) ;;\n", quoted(words), fmt::join(items, " "));
  });
  out += fmt::format("  esac\n  _describe {0} items || _files\n}}\n_{0} \"$@\"\n", program.name);
  return out;
}

std::string fish_script(const ProgramSpec& program, const Translator& t) {
  const std::string_view name = program.name;
  std::string pairs = pair_patterns(program);
  std::ranges::replace(pairs, '|', ' ');
  std::string out = fmt::format(
      "# fish completion for {0}\n"
      "function __{0}_command\n"
      "  set -l words\n  set -l skip 0\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    if test $skip = 1; set skip 0; continue; end\n"
      "    if string match -qr -- '^({1})$' $word; set skip 1; continue; end\n"
      "    if string match -q -- '-*' $word; continue; end\n"
      "    set -a words $word\n  end\n"
      "  switch \"$words[1..2]\"\n    case {2}\n      echo \"$words[1..2]\"\n"
      "    case '*'\n      echo \"$words[1]\"\n  end\nend\n",
      name, value_options(program), pairs);
  for_each_context(program, [&](const std::string& words, const CommandSpec* command,
                                const std::vector<std::string>& candidates) {
    const std::string where =
        fmt::format("complete -c {0} -n 'test \"$(__{0}_command)\" = \"{1}\"'", name, words);
    for (const std::string& candidate : candidates) {
      const std::string full = words.empty() ? candidate : fmt::format("{} {}", words, candidate);
      const CommandSpec* c = command_named(program, full);
      out += fmt::format("{} -f -a {} -d {}\n", where, candidate,
                         quoted(c != nullptr ? t.tr(c->summary) : ""));
    }
    for (const OptionSpec* o : options_of(program, command)) {
      out += fmt::format("{} -l {}", where, o->name);
      if (o->short_name != 0) out += fmt::format(" -s {}", o->short_name);
      if (o->takes_value()) out += o->metavar == "FILE" ? " -rF" : " -x";
      if (!o->choices.empty()) {
        out += fmt::format(" -a {}", quoted(fmt::format("{}", fmt::join(choice_names(*o), " "))));
      }
      out += fmt::format(" -d {}\n", quoted(t.tr(o->description)));
    }
  });
  return out;
}

}  // namespace

std::string completions(const ProgramSpec& program, Shell shell, const Translator& t) {
  switch (shell) {
    case Shell::bash:
      return bash_script(program);
    case Shell::zsh:
      return zsh_script(program, t);
    case Shell::fish:
      return fish_script(program, t);
  }
  return {};
}

}  // namespace cairn
