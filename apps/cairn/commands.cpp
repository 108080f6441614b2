#include "commands.h"

#include <algorithm>
#include <array>

#include "commands/compare.h"
#include "commands/completions.h"
#include "commands/data_check.h"
#include "commands/engines.h"
#include "commands/evidence.h"
#include "commands/evidence_add.h"
#include "commands/fit.h"
#include "commands/gpus.h"
#include "commands/help.h"
#include "commands/hosts.h"
#include "commands/models.h"
#include "commands/plan.h"
#include "commands/predict.h"
#include "commands/version.h"
#include "globals.h"

namespace cairn::cli {
namespace {

constexpr std::array kCommands{
    Command{&kFitCommand, run_fit},
    Command{&kPredictCommand, run_predict},
    Command{&kPlanCommand, run_plan},
    Command{&kCompareCommand, run_compare},
    Command{&kModelsCommand, run_models},
    Command{&kModelsShowCommand, run_models_show},
    Command{&kGpusCommand, run_gpus},
    Command{&kGpusShowCommand, run_gpus_show},
    Command{&kHostsCommand, run_hosts},
    Command{&kHostsShowCommand, run_hosts_show},
    Command{&kEnginesCommand, run_engines},
    Command{&kEnginesShowCommand, run_engines_show},
    Command{&kEvidenceListCommand, run_evidence_list},
    Command{&kEvidenceShowCommand, run_evidence_show},
    Command{&kEvidenceSourcesCommand, run_evidence_sources},
    Command{&kEvidenceCheckCommand, run_evidence_check},
    Command{&kEvidenceAddCommand, run_evidence_add},
    Command{&kDataCheckCommand, run_data_check},
    Command{&kHelpCommand, run_help},
    Command{&kCompletionsCommand, run_completions},
    Command{&kVersionCommand, run_version},
};

constexpr auto kSpecs = [] {
  std::array<const CommandSpec*, kCommands.size()> out{};
  std::ranges::transform(kCommands, out.begin(), &Command::spec);
  return out;
}();

constexpr ProgramSpec kProgram{
    .name = "cairn",
    .version = CAIRN_VERSION,
    .summary = msg("sizes, times and ranks deep-learning deployments on AMD GPUs"),
    .commands = kSpecs,
    .globals = &kGlobals,
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const ProgramSpec& program() { return kProgram; }

}  // namespace cairn::cli
