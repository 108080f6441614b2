#pragma once

#include "../context.h"
#include "../options/deployment.h"
#include "../options/host.h"

namespace cairn::cli {

inline constexpr const OptionSpec* kHostsOptions[] = {&kGpu, &kCards};
inline constexpr OptionGroup kHostsFor{msg("Cards"), kHostsOptions};
inline constexpr const OptionGroup* kHostsGroups[] = {&kHostsFor, &kMachine};
inline constexpr ExampleSpec kHostsExamples[] = {
    {"cairn hosts", msg("boards, machines and racks")},
    {"cairn hosts --gpu rx-7900-xtx --gpus 2 --psu 850W --ram 32GiB",
     msg("what two RX 7900 XTX need, and whether this machine has it")}};

inline constexpr CommandSpec kHostsCommand{
    .name = "hosts",
    .summary = msg("list the machines that take accelerators; what cards need of one"),
    .description = msg("With --gpu: the power supply, memory, slots and cooling that the cards "
                       "need, the machines of the catalogue that take them, and whether the "
                       "machine described by the other options is enough."),
    .groups = kHostsGroups,
    .examples = kHostsExamples,
};

inline constexpr ArgumentSpec kHostArgument[] = {
    {.metavar = "ID", .description = msg("a host, by id or another name of it")}};

inline constexpr CommandSpec kHostsShowCommand{
    .name = "hosts show",
    .summary = msg("one machine: every figure with its source, slots and prices"),
    .arguments = kHostArgument,
};

Result<Answer> run_hosts(Context& context);
Result<Answer> run_hosts_show(Context& context);

}  // namespace cairn::cli
