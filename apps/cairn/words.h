// Names of catalogue values as words for people, marked for translation.
#pragma once

#include "cairn/base/message.h"
#include "cairn/cost/operator_time.h"
#include "cairn/hardware/accelerator.h"
#include "cairn/hardware/host_need.h"
#include "cairn/hardware/purchase.h"

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
    case PriceKind::estimate:
      return msg("estimate");
    case PriceKind::cloud_on_demand:
      return msg("cloud, on demand, per hour");
    case PriceKind::cloud_reserved:
      return msg("cloud, reserved, per hour");
    case PriceKind::cloud_spot:
      return msg("cloud, spot, per hour");
  }
  return {};
}

inline std::string_view word_for(Condition condition) {
  switch (condition) {
    case Condition::fresh:
      return msg("new");
    case Condition::used:
      return msg("used");
    case Condition::unknown:
      return "–";
  }
  return {};
}

inline std::string_view word_for(PriceBasis basis) {
  switch (basis) {
    case PriceBasis::given:
      return msg("as given");
    case PriceBasis::street:
      return msg("street price");
    case PriceBasis::list:
      return msg("list price");
    case PriceBasis::older:
      return msg("older street price");
    case PriceBasis::estimate:
      return msg("estimate");
    case PriceBasis::used:
      return msg("price of used cards");
  }
  return {};
}

inline std::string_view word_for(HostKind kind) {
  switch (kind) {
    case HostKind::desktop:
      return msg("desktop");
    case HostKind::workstation:
      return msg("workstation");
    case HostKind::server:
      return msg("server");
    case HostKind::node:
      return msg("node");
    case HostKind::rack:
      return msg("rack");
    case HostKind::integrated:
      return msg("integrated");
  }
  return {};
}

inline std::string_view word_for(SlotPath path) {
  switch (path) {
    case SlotPath::cpu:
      return msg("processor");
    case SlotPath::chipset:
      return msg("chipset");
    case SlotPath::pcie_switch:
      return msg("PCIe switch");
  }
  return {};
}

inline std::string_view word_for(Cooling cooling) {
  switch (cooling) {
    case Cooling::open:
      return msg("open fans");
    case Cooling::blower:
      return msg("blower");
    case Cooling::passive:
      return msg("passive, by the chassis");
    case Cooling::liquid:
      return msg("liquid");
    case Cooling::own:
      return msg("part of the machine");
  }
  return {};
}

inline std::string_view word_for(HostVerdict verdict) {
  switch (verdict) {
    case HostVerdict::enough:
      return msg("enough");
    case HostVerdict::reduced:
      return msg("reduced");
    case HostVerdict::lacking:
      return msg("lacking");
    case HostVerdict::unknown:
      return msg("unknown");
  }
  return {};
}

inline std::string_view word_for(Limit limit) {
  switch (limit) {
    case Limit::compute:
      return msg("compute");
    case Limit::memory:
      return msg("memory");
    case Limit::unpack:
      return msg("unpack");
    case Limit::launch:
      return msg("launch");
  }
  return {};
}

}  // namespace cairn::cli
