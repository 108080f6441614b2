// llama-bench of llama.cpp: -o json, jsonl, csv and md.
//
// Formats:
// https://github.com/ggml-org/llama.cpp/blob/0104b151c56d/tools/llama-bench/llama-bench.cpp
// (test::get_fields, the printers), examples/llama-bench/llama-bench.cpp of older trees: a
// flag for each backend in place of `backends`, flash_attn as a truth value, no n_depth.
// A Markdown table leaves out a column whose values are the tool's defaults.
//
// What a test measures: ppN is N prompt tokens computed for one sequence, tgN is N tokens
// generated one after the other, both behind n_depth positions that are in the cache and not
// timed. pp+tg is the sum of both over the time of both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cairn/evidence/readers/read_row.h"

namespace cairn {

/// Rows in the order of the text. Errors: bad_input with file, line and field where a field
/// is missing or no number, a speed is not positive, or nothing was measured.
Result<std::vector<ReadRow>> read_llama_bench(std::string_view text, const std::string& name);

}  // namespace cairn
