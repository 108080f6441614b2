// Completion scripts for shells, made from the declared commands.
#pragma once

#include <cstdint>
#include <string>

#include "cairn/options/spec.h"
#include "cairn/report/translator.h"

namespace cairn {

enum class Shell : std::uint8_t { bash, zsh, fish };

/// A script that completes commands, options and choices. It is complete in
/// itself: completing never runs the program.
std::string completions(const ProgramSpec& program, Shell shell, const Translator& t);

}  // namespace cairn
