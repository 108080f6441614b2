// Names of catalogue values as words for people, marked for translation.
#pragma once

#include "cairn/base/message.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/prices.h"

namespace cairn::cli {

inline std::string_view word_for(Status status) {
  switch (status) {
    case Status::shipping:
      return msg("shipping");
    case Status::announced:
      return msg("announced");
    case Status::end_of_life:
      return msg("end of life");
    case Status::unknown:
      return msg("status unknown");
  }
  return msg("status unknown");
}

inline std::string_view word_for(PriceKind kind) {
  switch (kind) {
    case PriceKind::msrp:
      return msg("list price");
    case PriceKind::street:
      return msg("street price");
    case PriceKind::cloud_on_demand:
      return msg("cloud, on demand, per hour");
    case PriceKind::cloud_reserved:
      return msg("cloud, reserved, per hour");
    case PriceKind::cloud_spot:
      return msg("cloud, spot, per hour");
  }
  return {};
}

}  // namespace cairn::cli
