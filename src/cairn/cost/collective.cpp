#include "cairn/cost/collective.h"

#include <algorithm>

namespace cairn {

Result<CollectiveModel> CollectiveModel::between(const Accelerator& a, int devices,
                                                 const CostData& data) {
  CollectiveModel out;
  const ScaleUp& s = a.scale_up;
  const bool direct =
      s.topology != Topology::none && (s.per_device || s.per_peer) && devices <= s.max_devices;
  if (direct) {
    out.topology_ = s.topology;
    out.link_ = s.link;
    out.peer_ = s.per_peer.value_or(s.per_device.value_or(BytesPerSecond{}));
    out.device_ = s.per_device.value_or(out.peer_);
    if (s.topology == Topology::partial_mesh) out.device_ = out.peer_;
  } else {
    const auto pcie = a.pcie_bandwidth();
    if (!pcie) return fail(unsupported("no link between devices is known").got(a.id));
    out.link_ = "pcie";
    out.peer_ = out.device_ = *pcie;
  }
  CAIRN_TRY(const LinkParameters parameters, data.link(out.link_));
  out.latency_ = Seconds(parameters.latency.value);
  out.peer_ *= parameters.efficiency.value;
  out.device_ *= parameters.efficiency.value;
  out.sigma_ = std::max(parameters.latency.sigma, parameters.efficiency.sigma);
  return out;
}

BytesPerSecond CollectiveModel::device_rate(double devices) const {
  return topology_ == Topology::full_mesh ? min(device_, (devices - 1) * peer_) : device_;
}

Seconds CollectiveModel::all_reduce(Bytes size, int devices) const {
  if (devices <= 1) return {};
  const double n = devices;
  const Seconds ring = 2 * (n - 1) * latency_ + size * (2 * (n - 1) / n) / device_rate(n);
  if (topology_ != Topology::full_mesh && topology_ != Topology::switched) return ring;
  const bool mesh = topology_ == Topology::full_mesh;
  const Seconds one = latency_ + (mesh ? size / peer_ : size * (n - 1) / device_);
  const Seconds two =
      2 * latency_ + (mesh ? size * (2 / n) / peer_ : size * (2 * (n - 1) / n) / device_);
  return min(ring, min(one, two));
}

Seconds CollectiveModel::all_gather(Bytes size, int devices) const {
  if (devices <= 1) return {};
  const double n = devices;
  const Seconds ring = (n - 1) * latency_ + size * ((n - 1) / n) / device_rate(n);
  if (topology_ != Topology::full_mesh) return ring;
  return min(ring, latency_ + size / n / peer_);
}

Seconds CollectiveModel::all_to_all(Bytes size, int devices) const {
  if (devices <= 1) return {};
  const double n = devices;
  if (topology_ == Topology::full_mesh) return latency_ + size / n / peer_;
  return latency_ + size * ((n - 1) / n) / device_;
}

Seconds CollectiveModel::send(Bytes size) const { return latency_ + size / peer_; }

}  // namespace cairn
