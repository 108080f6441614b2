#include "cairn/options/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "cairn/base/names.h"

namespace cairn {
namespace {

Error usage_error(std::string_view message) { return bad_input(std::string(message)); }

// What was probably meant; empty for nothing.
std::string any_of(std::span<const std::string> names) {
  if (names.empty()) return {};
  return names.size() == 1 ? names[0] : fmt::format("one of {}", fmt::join(names, ", "));
}

std::string spelled(const OptionSpec& option) { return fmt::format("--{}", option.name); }

}  // namespace

// --- ParsedCommand ----------------------------------------------------------------

std::string_view ParsedCommand::argument(std::size_t i) const {
  return i < arguments_.size() ? std::string_view(arguments_[i]) : std::string_view{};
}

const ParsedCommand::Slot* ParsedCommand::slot(const OptionSpec& option) const {
  const auto it = std::ranges::find(slots_, &option, &Slot::option);
  if (it != slots_.end()) return &*it;
  const auto holds = [&option](const OptionGroup* group) {
    return std::ranges::find(group->options, &option) != group->options.end();
  };
  if (std::ranges::any_of(groups_, holds) || (globals_ != nullptr && holds(globals_))) {
    return nullptr;
  }
  throw std::logic_error(fmt::format("option {} is not declared here", spelled(option)));
}

bool ParsedCommand::given(const OptionSpec& option) const {
  const Slot* s = slot(option);
  return s != nullptr && s->typed;
}

bool ParsedCommand::flag(const OptionSpec& option) const { return given(option); }

std::optional<std::string_view> ParsedCommand::text(const OptionSpec& option) const {
  const Slot* s = slot(option);
  return s != nullptr ? std::optional<std::string_view>(s->value.text) : std::nullopt;
}

std::optional<std::int64_t> ParsedCommand::integer(const OptionSpec& option) const {
  const auto n = number(option);
  return n ? std::optional(static_cast<std::int64_t>(*n)) : std::nullopt;
}

std::optional<double> ParsedCommand::number(const OptionSpec& option) const {
  if (option.type != OptionType::integer && option.type != OptionType::number &&
      option.type != OptionType::quantity) {
    throw std::logic_error(fmt::format("option {} is no number", spelled(option)));
  }
  const Slot* s = slot(option);
  return s != nullptr ? std::optional(s->value.number) : std::nullopt;
}

std::optional<Amount> ParsedCommand::amount(const OptionSpec& option) const {
  const Slot* s = slot(option);
  return s != nullptr ? std::optional(s->value.amount) : std::nullopt;
}

std::vector<std::string> ParsedCommand::list(const OptionSpec& option) const {
  const Slot* s = slot(option);
  return s != nullptr ? s->value.items : std::vector<std::string>{};
}

std::vector<Counted> ParsedCommand::counted(const OptionSpec& option) const {
  const Slot* s = slot(option);
  return s != nullptr ? s->value.counted : std::vector<Counted>{};
}

// --- CommandLineParser ----------------------------------------------------------------

class CommandLineParser {
 public:
  CommandLineParser(const ProgramSpec& program, std::span<const std::string_view> words)
      : program_(program), words_(words) {}

  Result<ParsedCommand> parse() {
    out_.globals_ = program_.globals;
    CAIRN_CHECK(find_command());
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (is_command_word(i)) continue;
      CAIRN_CHECK(take(i));
    }
    CAIRN_CHECK(fill_defaults());
    // Asking for help is never refused for a missing argument.
    const bool help = std::ranges::any_of(out_.slots_, [](const ParsedCommand::Slot& s) {
      return s.option->name == "help" && s.typed;
    });
    if (!help) CAIRN_CHECK(check_arguments());
    return std::move(out_);
  }

 private:
  // The command is the first word that is no option, with the next such word
  // where the two together name a command ("gpus show").
  Result<void> find_command() {
    std::vector<std::size_t> plain;
    for (std::size_t i = 0; i < words_.size() && plain.size() < 2; ++i) {
      if (words_[i] == "--") break;
      if (!words_[i].starts_with('-') || words_[i] == "-") {
        plain.push_back(i);
      } else if (const OptionSpec* option = global_of(words_[i]);
                 option != nullptr && option->takes_value() && !has_value_inside(words_[i])) {
        ++i;
      } else if (plain.size() == 1 && option == nullptr) {
        break;  // an option of the command: its value must not pass for a word
      }
    }
    if (plain.empty()) return {};
    const std::string_view first = words_[plain[0]];
    if (plain.size() == 2) {
      const std::string two = fmt::format("{} {}", first, words_[plain[1]]);
      if (const CommandSpec* command = command_named(two)) return select(*command, plain);
    }
    if (const CommandSpec* command = command_named(first)) {
      return select(*command, std::span(plain).first(1));
    }
    return fail(unknown_command(first, plain.size() == 2 ? words_[plain[1]] : ""));
  }

  Result<void> select(const CommandSpec& command, std::span<const std::size_t> words) {
    out_.command_ = &command;
    out_.groups_ = command.groups;
    command_words_.assign(words.begin(), words.end());
    return {};
  }

  [[nodiscard]] Error unknown_command(std::string_view first, std::string_view second) const {
    std::vector<std::string> names;
    std::vector<std::string> below;  // "show" of "gpus show"
    for (const CommandSpec* c : program_.commands) {
      names.emplace_back(c->name);
      if (c->name.starts_with(first) && c->name.substr(first.size()).starts_with(' ')) {
        below.emplace_back(c->name);
      }
    }
    if (!below.empty()) {
      const std::string typed =
          second.empty() ? std::string(first) : fmt::format("{} {}", first, second);
      return usage_error(msg("unknown command")).got(typed).want(any_of(below));
    }
    Error error = usage_error(msg("unknown command")).got(first);
    auto near = nearest_names(first, names);
    if (near.empty()) near = nearest_names(fmt::format("{} {}", first, second), names);
    error.expected =
        near.empty() ? std::string(msg("a command listed by cairn help")) : any_of(near);
    return error;
  }

  [[nodiscard]] const CommandSpec* command_named(std::string_view name) const {
    const auto it = std::ranges::find(program_.commands, name, &CommandSpec::name);
    return it != program_.commands.end() ? *it : nullptr;
  }

  [[nodiscard]] bool is_command_word(std::size_t i) const {
    return std::ranges::find(command_words_, i) != command_words_.end();
  }

  static bool has_value_inside(std::string_view word) {
    return word.starts_with("--") ? word.find('=') != std::string_view::npos : word.size() > 2;
  }

  static const OptionSpec* match(std::string_view word, const OptionGroup& group) {
    const bool long_form = word.starts_with("--");
    const std::string_view name = long_form ? word.substr(2, word.find('=') - 2) : word;
    for (const OptionSpec* o : group.options) {
      if (!long_form && word.size() > 1 && o->short_name == word[1]) return o;
      if (!long_form) continue;
      if (o->name == name || std::ranges::find(o->aliases, name) != o->aliases.end()) return o;
    }
    return nullptr;
  }

  [[nodiscard]] const OptionSpec* global_of(std::string_view word) const {
    return match(word, *program_.globals);
  }

  [[nodiscard]] const OptionSpec* option_of(std::string_view word) const {
    for (const OptionGroup* group : out_.groups_) {
      if (const OptionSpec* o = match(word, *group)) return o;
    }
    return global_of(word);
  }

  [[nodiscard]] Error unknown_option(std::string_view word) const {
    const std::string_view name = word.substr(0, word.find('='));
    std::vector<std::string> names;
    const auto collect = [&names](const OptionGroup& group) {
      for (const OptionSpec* o : group.options) names.push_back(spelled(*o));
    };
    for (const OptionGroup* group : out_.groups_) collect(*group);
    collect(*program_.globals);
    Error error = usage_error(msg("unknown option")).got(name);
    const auto near = nearest_names(name, names);
    error.expected = any_of(near.empty() ? names : near);
    return error;
  }

  // One word; `i` moves over the value that an option takes.
  Result<void> take(std::size_t& i) {
    const std::string_view word = words_[i];
    if (only_arguments_ || word == "-" || !word.starts_with('-')) {
      out_.arguments_.emplace_back(word);
      return {};
    }
    if (word == "--") {
      only_arguments_ = true;
      return {};
    }
    const OptionSpec* option = option_of(word);
    if (option == nullptr) return fail(unknown_option(word));
    const bool long_form = word.starts_with("--");
    if (!option->takes_value()) {
      if (has_value_inside(word)) {
        return fail(usage_error(msg("this option takes no value"))
                        .in(spelled(*option))
                        .got(word.substr(long_form ? word.find('=') + 1 : 2)));
      }
      return store(*option, {});
    }
    if (has_value_inside(word)) {
      return store(*option, word.substr(long_form ? word.find('=') + 1 : 2));
    }
    if (i + 1 >= words_.size() || words_[i + 1].starts_with("--") || is_command_word(i + 1)) {
      return fail(usage_error(msg("a value is missing"))
                      .in(spelled(*option))
                      .want(std::string(option->metavar)));
    }
    return store(*option, words_[++i]);
  }

  Result<void> store(const OptionSpec& option, std::string_view text) {
    OptionValue value;
    if (option.takes_value()) {
      CAIRN_TRY(value, parse_option_value(option, text));
    }
    const auto it = std::ranges::find(out_.slots_, &option, &ParsedCommand::Slot::option);
    if (it == out_.slots_.end()) {
      out_.slots_.push_back({&option, std::move(value), true});
      return {};
    }
    if (option.repeatable()) {
      OptionValue& all = it->value;
      all.items.insert(all.items.end(), value.items.begin(), value.items.end());
      all.counted.insert(all.counted.end(), value.counted.begin(), value.counted.end());
      return {};
    }
    if (!option.takes_value() || it->value.text == value.text) return {};
    return fail(
        usage_error(msg("given twice with different values")).in(spelled(option)).got(value.text));
  }

  Result<void> fill_defaults() {
    const auto fill_group = [this](const OptionGroup& group) -> Result<void> {
      for (const OptionSpec* o : group.options) {
        if (o->default_text.empty() ||
            std::ranges::find(out_.slots_, o, &ParsedCommand::Slot::option) != out_.slots_.end()) {
          continue;
        }
        CAIRN_TRY(OptionValue value, parse_option_value(*o, o->default_text));
        out_.slots_.push_back({o, std::move(value), false});
      }
      return {};
    };
    for (const OptionGroup* group : out_.groups_) CAIRN_CHECK(fill_group(*group));
    return fill_group(*program_.globals);
  }

  Result<void> check_arguments() {
    if (out_.command_ == nullptr) {
      if (out_.arguments_.empty()) return {};
      return fail(usage_error(msg("unexpected argument")).got(out_.arguments_[0]));
    }
    std::size_t least = 0;
    std::size_t most = 0;
    for (const ArgumentSpec& a : out_.command_->arguments) {
      if (out_.arguments_.size() < least + a.min) {
        return fail(usage_error(msg("an argument is missing"))
                        .in(std::string(out_.command_->name))
                        .want(std::string(a.metavar)));
      }
      least += a.min;
      most += a.max;
    }
    if (out_.arguments_.size() > most) {
      return fail(usage_error(msg("unexpected argument"))
                      .in(std::string(out_.command_->name))
                      .got(out_.arguments_[most]));
    }
    return {};
  }

  const ProgramSpec& program_;
  std::span<const std::string_view> words_;
  std::vector<std::size_t> command_words_;
  bool only_arguments_ = false;
  ParsedCommand out_;
};

Result<ParsedCommand> parse_command_line(const ProgramSpec& program,
                                         std::span<const std::string_view> words) {
  return CommandLineParser(program, words).parse();
}

}  // namespace cairn
