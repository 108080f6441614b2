#include "data_check.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "../globals.h"
#include "cairn/data/rules.h"
#include "cairn/report/json_writer.h"

namespace cairn::cli {
namespace {

// The evidence lies beside the facts; an image of one's own may come without it.
Result<void> add_evidence(Context& context, DataReport& report) {
  const std::string path = context.environment.evidence_path(context.args.text(kData).value_or(""));
  if (!std::filesystem::exists(path)) {
    context.console.note(context.tr.tr("no evidence beside the data: {}", path));
    return {};
  }
  CAIRN_TRY(const Image image, context.open_evidence());
  CAIRN_TRY(DataReport more, check_data(image, kEvidenceIndex));
  report.documents += more.documents;
  std::ranges::move(more.errors, std::back_inserter(report.errors));
  return {};
}

}  // namespace

Result<Answer> run_data_check(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(DataReport report, check_data(image));
  CAIRN_CHECK(add_evidence(context, report));
  const Answer answer = report.errors.empty() ? Answer::yes : Answer::no;
  if (context.json) {
    JsonWriter json;
    json.begin_object().field("schema", "cairn.data_check/1");
    json.field("documents", report.documents).key("errors").begin_array();
    for (const Error& e : report.errors) {
      json.begin_object().field("where", e.where).field("field", e.field);
      json.field("message", e.message).field("value", e.value);
      json.field("expected", e.expected).end_object();
    }
    json.end_array().end_object();
    context.console.out(json.text());
    return answer;
  }
  for (const Error& e : report.errors) context.console.out(context.tr.tr(e) + "\n");
  context.console.out(
      context.tr.tr("{} documents checked, {} findings", report.documents, report.errors.size()) +
      "\n");
  return answer;
}

}  // namespace cairn::cli
