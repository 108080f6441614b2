// Memory that a GPU shares with the machine (APUs such as Strix Halo, under Linux): a
// carve-out that the firmware sets aside, and pages of the rest that are mapped as needed
// (GTT), up to a limit of the kernel's. Facts and sources: hardware/unified_memory.yaml.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/base/result.h"
#include "cairn/base/units.h"
#include "cairn/data/image.h"
#include "cairn/hardware/accelerator.h"

namespace cairn {

/// How a machine is set up; empty: the smallest carve-out, the kernel's default GTT.
struct UnifiedSetting {
  std::optional<Bytes> carve_out;
  std::optional<Bytes> gtt;
};

struct KernelParameter {
  std::string name;  // "ttm.pages_limit"
  std::int64_t value = 0;
};

/// What an engine can take of a machine's memory, and how more of it is made available.
struct UnifiedPools {
  bool uses_carve_out = false;
  bool uses_gtt = false;
  /// HIP: the kernel sends every allocation to the larger pool, so that the other one
  /// adds nothing.
  bool larger_only = false;
  Bytes carve_out{};
  Bytes gtt{};
  Bytes default_gtt{};  // of this carve-out
  /// Parameters that give the GTT which a need takes; empty where there is enough, or
  /// where no setting would do.
  std::vector<KernelParameter> parameters;
  std::optional<Bytes> smaller_carve_out;  // that the parameters take, if it has to shrink
  /// With this variable set to 1 the engine takes plain system memory; empty: none.
  std::string variable;

  /// What the engine can allocate.
  [[nodiscard]] Bytes usable() const {
    const Bytes first = uses_carve_out ? carve_out : Bytes{};
    const Bytes second = uses_gtt ? gtt : Bytes{};
    return larger_only ? std::max(first, second) : first + second;
  }
};

class UnifiedMemory {
 public:
  static Result<UnifiedMemory> load(const Image& image);

  /// The pools of an engine on an accelerator with unified memory; nothing for another
  /// accelerator or an engine that is not listed. `need` is what the engine has to
  /// allocate: where the setting gives less, the parameters that make GTT large enough
  /// are given, if the machine has the memory.
  /// Errors: a carve-out and GTT that together exceed the machine's memory.
  [[nodiscard]] Result<std::optional<UnifiedPools>> pools(const Accelerator& accelerator,
                                                          std::string_view engine,
                                                          const UnifiedSetting& setting,
                                                          Bytes need) const;

 private:
  struct Rule {
    std::vector<std::string> engines;
    bool carve_out = false;
    bool gtt = false;
    bool larger_only = false;
  };
  struct Parameter {
    std::string name;
    bool pages = true;  // else MiB
  };
  struct Variable {
    std::string engine;
    std::string name;
  };
  [[nodiscard]] std::vector<KernelParameter> parameters_for(Bytes gtt) const;

  double default_share_ = 0.5;
  Bytes page_{};
  Bytes least_carve_out_{};
  Bytes system_keeps_{};
  std::vector<Rule> rules_;
  std::vector<Parameter> parameters_;
  std::vector<Variable> variables_;
};

}  // namespace cairn
