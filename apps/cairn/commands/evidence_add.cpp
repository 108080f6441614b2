#include "evidence_add.h"

#include <fmt/format.h>

#include <type_traits>

#include "../dates.h"
#include "../evidence_add_output.h"
#include "../inputs.h"
#include "cairn/evidence/readers/complete_row.h"
#include "cairn/evidence/readers/evidence_table.h"
#include "cairn/evidence/readers/output_text.h"
#include "cairn/evidence/readers/tool_output.h"
#include "cairn/evidence/readers/user_evidence.h"

namespace cairn::cli {
namespace {

RunFacts facts_of(const ParsedCommand& args) {
  RunFacts out;
  const auto text = [&args](const OptionSpec& o) { return std::string(args.text(o).value_or("")); };
  const auto number = [&args](const OptionSpec& o) -> std::optional<double> {
    const auto value = args.integer(o);
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  out.gpu = text(kRunGpu);
  const std::string engine = text(kRunEngine);
  const std::size_t at = engine.find('@');
  out.engine = engine.substr(0, at);
  if (at != std::string::npos) out.engine_version = engine.substr(at + 1);
  out.cards = number(kRunCards);
  out.nodes = number(kRunNodes);
  out.model = text(kRunModel);
  out.weights = text(kRunWeights);
  out.kv = text(kKv);
  out.stack = text(kRunStack);
  out.input = args.number(kRunInput);
  out.output = args.number(kRunOutput);
  out.batch = number(kRunBatch);
  out.rate = args.number(kRunRate);
  out.tp = number(kTp);
  out.pp = number(kPp);
  out.dp = number(kDp);
  out.ep = number(kEp);
  out.power_cap_w = args.number(kRunPowerCap);
  if (const auto on = args.text(kHipblaslt)) out.hipblaslt = *on == "on";
  if (const auto on = args.text(kRocwmma)) out.rocwmma = *on == "on";
  out.benchmark = text(kRunBenchmark);
  out.interactive = args.flag(kRunInteractive);
  out.what = text(kRunWhat);
  out.dtype = text(kRunDtype);
  return out;
}

Result<EvidenceSource> source_of(const ParsedCommand& args) {
  EvidenceSource out;
  out.kind = SourceKind::user;
  out.url = args.text(kRunUrl).value_or("");
  out.campaign = args.text(kRunCampaign).value_or("own");
  constexpr std::string_view kDay = "YYYY-MM-DD";
  CAIRN_TRY(out.date, date_in(args, kRunDate));
  if (!out.date.empty() && out.date.size() != kDay.size()) {
    return fail(bad_input("not a date").in("--date").got(out.date).want(std::string(kDay)));
  }
  if (!out.url.empty() && !out.url.starts_with("http://") && !out.url.starts_with("https://")) {
    return fail(bad_input("not an address").in("--url").got(out.url).want("https://..."));
  }
  return out;
}

std::string shape_of(const InferenceRow& row) {
  std::string out;
  const auto add = [&out](std::string_view key, std::optional<double> value) {
    if (value.value_or(0) > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key, number_text(*value));
  };
  const RequestLengths& l = row.lengths;
  add("in", l.input ? l.input : l.input_mean);
  add("out", l.output ? l.output : l.output_mean);
  add("depth", row.settings.depth);
  if (row.batch.value_or(1) > 1) add("batch", row.batch);
  return out;
}

std::string shape_of(const MicroRow& row) {
  if (row.m && row.n && row.k) {
    return fmt::format("{} x {} x {}", number_text(*row.m), number_text(*row.n),
                       number_text(*row.k));
  }
  return row.bytes ? fmt::format("{} B", number_text(*row.bytes)) : std::string();
}

AddedFigure shown(const InferenceRow& row) {
  AddedFigure out;
  out.set = "inference";
  out.model = row.model;
  out.format = row.format.empty() ? row.weights : row.format;
  out.engine = row.engine;
  out.shape = shape_of(row);
  return out;
}

AddedFigure shown(const MicroRow& row) {
  AddedFigure out;
  out.set = "micro";
  out.model = row.what;
  out.format = row.dtype;
  out.engine = row.library;
  out.shape = shape_of(row);
  return out;
}

// Adds one figure to the evidence, and to what is shown.
template <class R>
void record(R row, UserEvidence& evidence, AddOutcome& outcome) {
  AddedFigure figure = shown(row);
  figure.gpu = row.gpu.empty() ? row.gpu_printed : row.gpu;
  figure.devices = row.devices;
  figure.metric = row.metric;
  figure.value = row.value;
  figure.unit = row.unit;
  figure.doubt = row.doubt;
  figure.added = evidence.add(std::move(row));
  if (figure.added) {
    ++outcome.added;
    if constexpr (std::is_same_v<R, InferenceRow>) {
      figure.id = evidence.inference().back().id;
    } else {
      figure.id = evidence.micro().back().id;
    }
  }
  outcome.figures.push_back(std::move(figure));
}

// Rows of a tool's output, each completed by what is told of the run.
Result<void> record_output(const std::string& text, const EvidenceSource& told,
                           const Completion& by, UserEvidence& evidence, AddOutcome& outcome) {
  CAIRN_TRY(const ToolOutput output, read_tool_output(text, by.file));
  outcome.tool = name_of(output.tool);
  for (const ReadRow& read : output.rows) {
    EvidenceSource facts = told;
    if (facts.date.empty()) facts.date = read.date;
    CAIRN_TRY(const EvidenceSource* source, evidence.source_of(facts));
    if (read.micro) {
      CAIRN_TRY(MicroRow row, complete_micro(read, by));
      row.source = source;
      record(std::move(row), evidence, outcome);
    } else {
      CAIRN_TRY(InferenceRow row, complete_inference(read, by));
      row.source = source;
      record(std::move(row), evidence, outcome);
    }
  }
  return {};
}

// Rows that have the columns of the evidence already.
Result<void> record_table(const std::string& text, const EvidenceSource& told, const Completion& by,
                          UserEvidence& evidence, AddOutcome& outcome) {
  outcome.tool = "evidence";
  CAIRN_TRY(const EvidenceSource* source, evidence.source_of(told));
  CAIRN_TRY(EvidenceTable table,
            read_evidence_table(text, by.file, evidence.sources(), by.names, source));
  for (InferenceRow& row : table.inference) record(std::move(row), evidence, outcome);
  for (MicroRow& row : table.micro) record(std::move(row), evidence, outcome);
  return {};
}

Result<std::string> folder_of(const Context& context) {
  if (const auto folder = context.args.text(kRunFolder)) return std::string(*folder);
  if (!context.environment.user_data.empty()) return context.environment.user_data + "/evidence";
  return fail(bad_input("neither XDG_DATA_HOME nor HOME is set").in("--folder").want("a folder"));
}

}  // namespace

Result<Answer> run_evidence_add(Context& context) {
  AddOutcome outcome;
  outcome.file = context.args.argument(0);
  outcome.dry_run = context.args.flag(kRunDryRun);
  CAIRN_TRY(outcome.folder, folder_of(context));
  const RunFacts facts = facts_of(context.args);
  CAIRN_TRY(const EvidenceSource told, source_of(context.args));
  CAIRN_TRY(const std::string text, read_file(outcome.file, kMostOutputBytes));
  CAIRN_TRY(const Knowledge knowledge, open_knowledge(context));
  CAIRN_TRY(const Image image, context.open_evidence());
  CAIRN_TRY(const EvidenceNames names, EvidenceNames::load(image, knowledge));
  CAIRN_TRY(UserEvidence evidence, UserEvidence::load(outcome.folder, names));
  const Completion by{facts, names, knowledge, outcome.file};
  if (is_evidence_table(text)) {
    CAIRN_CHECK(record_table(text, told, by, evidence, outcome));
  } else {
    CAIRN_CHECK(record_output(text, told, by, evidence, outcome));
  }
  if (!outcome.dry_run && outcome.added > 0) CAIRN_CHECK(evidence.write(outcome.folder));
  show(outcome, context);
  return outcome.added > 0 ? Answer::yes : Answer::no;
}

}  // namespace cairn::cli
