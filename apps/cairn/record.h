// Catalogue records word for word: figures with their sources, as text and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "cairn/data/document.h"
#include "cairn/report/json_writer.h"
#include "context.h"

namespace cairn::cli {

/// A member of a record as text: a scalar as written, a list with spaces; empty where it
/// is absent or null.
std::string member_text(Node node, std::string_view key);

/// The figures of a record as a table with numbered sources, and the sources.
void print_figures(Node record, std::string& out, Context& context);

/// A whole record as a JSON value.
void write_record(JsonWriter& json, Node node);

}  // namespace cairn::cli
