// What llama.cpp's devices compute where settings say what lies where: --n-gpu-layers,
// --n-cpu-moe, --override-tensor, --tensor-split, --split-mode. Places are those of the
// memory room (cairn/memory/llama_cpp.h); weights in host memory make one more stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cairn/cost/step_time.h"
#include "cairn/predict/deployment.h"

namespace cairn {

struct PlacedStages {
  struct Stage {
    std::shared_ptr<const StepShape> shape;
    bool on_host = false;
  };
  std::vector<Stage> stages;  // in the order of their layers; none of them is empty
  /// Several batches of a prompt pass the stages at once.
  bool pipelined = false;
};

/// Whether a setting places something elsewhere than where the layout alone has it.
bool is_placed(const Deployment& deployment);

/// An error as memory::llama_cpp_placement.
Result<PlacedStages> placed_stages(const Deployment& deployment, const Knowledge& knowledge);

/// The machine around the cards, as far as work on its memory goes.
struct HostMemory {
  std::string host;            // of the catalogue; empty: the device's own memory, or as given
  BytesPerSecond bandwidth{};  // theoretical, of all sockets
  BytesPerSecond link{};       // one direction, to one card
};

/// That of the deployment; where it names none, the device's own memory (APU), else of the
/// catalogue's hosts that take the cards one of the smallest kind, with the most
/// bandwidth. An error (unsupported) where nothing is known of either.
Result<HostMemory> host_memory(const Deployment& deployment, const Knowledge& knowledge);

/// A host's work for a device, by its memory; see cost/host.yaml.
struct HostDevice {
  std::shared_ptr<const DeviceModel> processor;
  std::shared_ptr<const HostWork> work;
};
Result<HostDevice> host_device(const Deployment& deployment, const HostMemory& memory,
                               const std::shared_ptr<const DeviceModel>& gpu,
                               const Knowledge& knowledge);

}  // namespace cairn
