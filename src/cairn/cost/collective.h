// Collectives between the devices of one node: a latency-bandwidth model by
// algorithm on the real topology; the fastest algorithm counts.
//
//   n devices, S bytes on each, a = latency of one step, b = usable bandwidth
//   ring        2 (n-1) a + 2 (n-1)/n S / b_device
//               (mesh: n of its devices have n-1 links each to one another, so
//               b_device is at most (n-1) b_peer; where only some pairs are linked
//               a ring goes over single links, b_peer)
//   one-shot    a + (n-1) S / b            (mesh: S / b_peer, all links at once)
//   two-shot    2 a + 2 (n-1)/n S / b      (mesh: 2 S/n / b_peer)
//
// (Thakur et al., Optimization of Collective Communication Operations in MPICH,
// 2005, doi:10.1177/1094342005051521, for the ring; one- and two-shot are the
// direct algorithms of vLLM's and AITER's custom all-reduce.)
#pragma once

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/cost/kernel_parameters.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

class CollectiveModel {
 public:
  /// No communication: one device.
  CollectiveModel() = default;
  /// The links between this many devices of a kind: scale-up links where the
  /// catalogue has their rate and they join so many, else the host's PCIe. An error
  /// if neither is known. Networks between machines are not modelled.
  static Result<CollectiveModel> between(const Accelerator& accelerator, int devices,
                                         const CostData& data);

  [[nodiscard]] Seconds all_reduce(Bytes size, int devices) const;
  [[nodiscard]] Seconds all_gather(Bytes size, int devices) const;
  /// Every device sends size/n to each of the others.
  [[nodiscard]] Seconds all_to_all(Bytes size, int devices) const;
  [[nodiscard]] Seconds send(Bytes size) const;
  [[nodiscard]] Seconds latency() const { return latency_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] std::string_view link() const { return link_; }

 private:
  [[nodiscard]] BytesPerSecond device_rate(double devices) const;

  Topology topology_ = Topology::none;
  BytesPerSecond device_{};  // usable, one direction, all links
  BytesPerSecond peer_{};    // usable, one direction, to one peer
  Seconds latency_{};
  double sigma_ = 0;
  std::string link_;
};

}  // namespace cairn
