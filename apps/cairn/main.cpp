// The command line: parse, pick the language, run the command, report.
// Exit status: 0 yes or done; 1 the answer is no; 2 bad usage or input; 3 an
// internal fault.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "cairn/options/help.h"
#include "cairn/report/json_writer.h"
#include "cairn/report/number.h"
#include "commands.h"
#include "commands/version.h"
#include "globals.h"

namespace cairn::cli {
namespace {

constexpr int kNo = 1;
constexpr int kBadInput = 2;
constexpr int kFault = 3;

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad_input";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::io:
      return "io";
  }
  return "bad_input";
}

// What must be known before the words are parsed, because an error in them is
// reported in this way too.
struct Early {
  std::string_view lang;
  bool json = false;
  bool no_color = false;
};

Early scan(std::span<const std::string_view> words) {
  Early out;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] == "--json") out.json = true;
    if (words[i] == "--no-color") out.no_color = true;
    if (words[i].starts_with("--lang=")) out.lang = words[i].substr(7);
    if (words[i] == "--lang" && i + 1 < words.size()) out.lang = words[i + 1];
  }
  return out;
}

Translator translator_for(const Environment& env, std::string_view option) {
  const Language language =
      option.empty() ? language_of(env.lc_all, env.lc_messages, env.lang) : language_of(option);
  if (language == Language::en) return {};
  // Without a catalogue the program still works, in English.
  return Translator::load(language, env.catalogue_path(language)).value_or(Translator{});
}

int report(const Error& error, bool json, const Translator& t, Console& console) {
  if (json) {
    JsonWriter out;
    out.begin_object().field("schema", "cairn.error/1").key("error").begin_object();
    out.field("kind", name_of(error.kind)).field("message", error.message);
    out.field("where", error.where).field("field", error.field).field("value", error.value);
    out.field("expected", error.expected).end_object().end_object();
    console.out(out.text());
  }
  console.error(t.tr("cairn: error: {}", t.tr(error)));
  return error.kind == ErrorKind::unsupported ? kNo : kBadInput;
}

void print_timings(const Timings& timings, Console& console) {
  for (const Timings::Entry& e : timings.entries()) {
    console.error(fmt::format("{:>10}  {}", format(Seconds(e.seconds)), e.name));
  }
}

Result<Answer> dispatch(Context& context) {
  const CommandSpec* spec = context.args.command();
  if (context.args.flag(kVersion)) return run_version(context);
  if (spec == nullptr) {
    context.console.out(program_help(context.program, context.tr, context.console.style(),
                                     context.console.width()));
    return Answer::yes;
  }
  if (context.args.flag(kHelp)) {
    context.console.out(command_help(context.program, *spec, context.tr, context.console.style(),
                                     context.console.width()));
    return Answer::yes;
  }
  const auto timer = context.timings.scope("in all");
  return std::ranges::find(commands(), spec, &Command::spec)->run(context);
}

int run(std::span<const std::string_view> words) {
  const Environment env = Environment::read();
  const Early early = scan(words);
  const Translator t = translator_for(env, early.lang);
  const std::string_view no_color = early.no_color ? "1" : std::string_view(env.no_color);
  const auto quiet_words = {std::string_view("--quiet"), std::string_view("-q")};
  const bool quiet = std::ranges::find_first_of(words, quiet_words) != words.end();
  Console console(wants_color(stdout, no_color, env.term), wants_color(stderr, no_color, env.term),
                  quiet);
  int status = 0;
  const auto args = parse_command_line(program(), words);
  if (!args) {
    status = report(args.error(), early.json, t, console);
  } else {
    Timings timings;
    Context context{program(), *args, env, t, console, timings, args->flag(kJson)};
    const Result<Answer> answer = dispatch(context);
    status = answer ? static_cast<int>(*answer) : report(answer.error(), context.json, t, console);
    if (args->flag(kTimings)) print_timings(timings, console);
  }
  if (console.finish()) return status;
  console.error(t.tr("cairn: error: {}", t.tr("cannot write the output")));
  return kFault;
}

}  // namespace
}  // namespace cairn::cli

int main(int argc, char** argv) {
  try {
    const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
    return cairn::cli::run(words);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cairn: internal fault: %s\n", e.what());
  } catch (...) {
    std::fputs("cairn: internal fault\n", stderr);
  }
  return cairn::cli::kFault;
}
