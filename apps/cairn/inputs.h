// What commands have in common: the data, the model, and the deployment,
// workload and money that the options describe.
#pragma once

#include "cairn/plan/plan.h"
#include "cairn/predict/prediction.h"
#include "context.h"

namespace cairn::cli {

Result<Knowledge> open_knowledge(Context& context);
/// The same with the machines of APUs as --carve-out and --gtt say.
Result<Knowledge> open_set_up(Context& context);
UnifiedSetting unified_of(const ParsedCommand& args);

/// The model of a name or path, read as --like says; what is to be said about that is
/// printed.
Result<ModelInput> model_of(const std::string& name, Context& context, const Knowledge& knowledge);

/// The accelerators of --gpu: one id or several; `all` (and no --gpu) is every
/// one that the selection options keep.
Result<std::vector<const Accelerator*>> accelerators_of(const ParsedCommand& args,
                                                        const Knowledge& knowledge);

/// Engine settings, KV format and layout; accelerator, engine and weights are
/// filled in by the command. --gpus without a layout splits one model over them.
Result<DeploymentRequest> settings_of(const ParsedCommand& args, const Knowledge& knowledge);
/// An error where the build that --build names did not run the model yet.
Result<void> check_build(const ParsedCommand& args, const EngineInfo& engine,
                         const ModelInput& model, const Knowledge& knowledge);
/// The layout for an engine: --tp, --pp, --ep, --dp, or --gpus cards for one model.
/// An error where both are given and differ.
Result<Layout> layout_of(const ParsedCommand& args, const EngineInfo& engine);
/// Whether --tp, --pp or --dp is given.
bool names_layout(const ParsedCommand& args);
/// An error where a layout is given without the engine whose devices it divides.
Result<void> engine_is_named(const ParsedCommand& args);

Result<Workload> workload_of(const ParsedCommand& args);
Result<CostTerms> terms_of(const ParsedCommand& args, const Knowledge& knowledge);

}  // namespace cairn::cli
