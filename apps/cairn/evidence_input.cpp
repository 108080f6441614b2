#include "evidence_input.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cairn/evidence/readers/user_evidence.h"
#include "dates.h"
#include "inputs.h"
#include "options/evidence.h"

namespace cairn::cli {
namespace {

Result<void> join_own(Context& context, OpenEvidence& evidence) {
  if (context.environment.user_data.empty()) return {};
  const std::string folder = context.environment.user_data + "/evidence";
  if (!std::filesystem::exists(folder)) return {};
  CAIRN_TRY(const UserEvidence own, UserEvidence::load(folder, evidence.names));
  return evidence.book.join(own.sources(), own.inference(), own.micro());
}

}  // namespace

Result<OpenEvidence> open_evidence(Context& context) {
  CAIRN_TRY(Knowledge loaded, open_knowledge(context));
  auto knowledge = std::make_unique<const Knowledge>(std::move(loaded));
  CAIRN_TRY(const Image image, context.open_evidence());
  const auto timer = context.timings.scope("read the evidence");
  CAIRN_TRY(EvidenceNames names, EvidenceNames::load(image, *knowledge));
  CAIRN_TRY(EvidenceBook book, EvidenceBook::load(image, names));
  OpenEvidence out{std::move(knowledge), std::move(names), std::move(book)};
  CAIRN_CHECK(join_own(context, out));
  return out;
}

Result<EvidenceFilter> filter_of(Context& context, const EvidenceNames& names, bool rows) {
  const ParsedCommand& args = context.args;
  EvidenceFilter out;
  if (rows) {
    out.gpus = args.list(kOfGpu);
    out.models = args.list(kOfModel);
    out.engines = args.list(kOfEngine);
    out.metrics = args.list(kOfMetric);
    out.sound = args.flag(kOfSound);
    for (const EvidenceSet set :
         {EvidenceSet::inference, EvidenceSet::micro, EvidenceSet::training, EvidenceSet::vision}) {
      if (args.text(kOfSet) == name_of(set)) out.sets.push_back(set);
    }
  }
  out.campaigns = args.list(kOfCampaign);
  for (const SourceKind kind : {SourceKind::vendor, SourceKind::independent, SourceKind::mlperf,
                                SourceKind::community, SourceKind::user}) {
    if (args.text(kOfKind) == name_of(kind)) out.kinds.push_back(kind);
  }
  CAIRN_TRY(out.from, date_in(args, kOfFrom));
  CAIRN_TRY(out.to, date_in(args, kOfTo));
  resolve(out, names);
  return out;
}

std::string_view word_for(SourceKind kind) {
  switch (kind) {
    case SourceKind::vendor:
      return msg("vendor");
    case SourceKind::independent:
      return msg("independent");
    case SourceKind::mlperf:
      return "MLPerf";
    case SourceKind::community:
      return msg("community");
    case SourceKind::user:
      return msg("your own");
  }
  return {};
}

}  // namespace cairn::cli
