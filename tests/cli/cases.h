// Acceptance cases: files that say a command line and what its answer must be.
//
//   cases:
//   - name: RX 7900 XTX holds a 32B model in 4 bit
//     command: fit qwen3-32b --gpu rx-7900-xtx --weights q4_k_m
//     status: 0                       # 0 where it is not given
//     json:                           # runs the command with --json
//     - {path: fits, equals: true}
//     - {path: "cards[0].weights_bytes", value: 19.8e9, within: 3%}
//     - {path: tokens_per_s, value: 87, factor: 1.3}
//     - {path: memory.total_bytes, min: 1e9, max: 24e9}
//     - {path: "accelerators[id=mi300x].memory_bytes", value: 206158430208}
//     stdout: [text that must appear]  # of a run without --json
//     stderr: [text]
//     source: {url: "https://...", date: 2026-01-31, note: what it says}
//
// `within` is a share of the expected value (3% or 0.03), `factor` bounds the
// ratio both ways; without either a number must be equal. A path is made of
// member names, [index], and [member=value] for the element with that member;
// `length` checks the number of elements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/data/document.h"

namespace cairn::test {

struct CaseResult {
  std::string name;
  std::vector<std::string> failures;  // none: passed
};

/// Runs every case of a document. An error where the document is no list of
/// cases.
Result<std::vector<CaseResult>> run_cases(const std::string& program, Node document);

/// What `expectation` finds wrong in an answer; empty if nothing.
Result<std::string> check_expectation(Node answer, Node expectation);

/// The node at a path, or an error that says how far it got.
Result<Node> node_at(Node root, std::string_view path);

}  // namespace cairn::test
