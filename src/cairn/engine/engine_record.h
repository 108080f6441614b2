// Reads an engine's record. Not for other rooms.
#pragma once

#include <vector>

#include "cairn/engine/engine.h"

namespace cairn::engine {

/// A record as a release has it: what its own entry of `versions` says, else what
/// the entries of newer releases say, else the record itself.
class Layers {
 public:
  explicit Layers(Node record) : nodes_{record} {}
  /// With the entry of an older release on top.
  [[nodiscard]] Layers with(Node version) const;
  /// Of a member, by the newest layer that has it.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;
  [[nodiscard]] Result<Node> required(std::string_view key) const;
  /// The layers of a mapping that may stand in each.
  [[nodiscard]] Result<Layers> within(std::string_view key) const;

 private:
  std::vector<Node> nodes_;  // the record first
};

/// The engine as these layers describe it, without the models that it runs.
Result<EngineInfo> read_engine(Node record, const Layers& layers);

/// The models that it runs, for the newest release.
Result<std::vector<ModelSupport>> read_models(Node record);

/// The numbers of a release: {0, 6, 4} of "0.6.4" and of "v0.6.4.post1"; empty if it
/// does not begin with a number.
std::vector<std::int64_t> release_numbers(std::string_view version);

}  // namespace cairn::engine
