#include "data_check.h"

#include "cairn/data/rules.h"
#include "cairn/report/json_writer.h"

namespace cairn::cli {

Result<Answer> run_data_check(Context& context) {
  CAIRN_TRY(const Image image, context.open_image());
  CAIRN_TRY(const DataReport report, check_data(image));
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
