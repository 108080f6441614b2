// The machine around the cards where nobody names it, and what its memory has room for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cairn/base/message.h"
#include "cairn/base/units.h"
#include "cairn/memory/memory.h"
#include "cairn/predict/deployment.h"
#include "cairn/predict/knowledge.h"

namespace cairn {

/// Of the catalogue's hosts that take the cards one of the smallest kind, with the most
/// bandwidth; null where none is known that is sold.
const Host* usual_host(const Accelerator& accelerator, std::int64_t cards,
                       const Knowledge& knowledge);

/// The most memory that a machine takes, or comes with where that is not known, less what
/// the system keeps (data/hardware/host_rules.yaml); nothing where neither is known.
std::optional<Bytes> room_of(const Host& host, const Knowledge& knowledge);

/// The share of one of `replicas` replicas on so many cards, of as many of these machines as
/// the cards take.
std::optional<Bytes> room_of_replica(const Host& host, std::int64_t cards, int replicas,
                                     const Knowledge& knowledge);

/// Ids of the catalogue's hosts with room for so much in each replica, the smallest kind
/// first, joined by commas; empty: none is known.
std::string hosts_with_room(const Accelerator& accelerator, std::int64_t cards, int replicas,
                            Bytes need, const Knowledge& knowledge);

/// Why the host's part does not fit, and which hosts hold it. The estimate is of the
/// deployment and lacks it (MemoryEstimate::host_lacks).
Message note_of_host(const Deployment& deployment, const MemoryEstimate& memory,
                     const Knowledge& knowledge);

}  // namespace cairn
