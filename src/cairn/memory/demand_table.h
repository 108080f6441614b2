// What demands take whatever the device is, kept for the deployments of a search: see
// MemoryCache. Not for other rooms.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/memory/llama_cpp.h"
#include "cairn/memory/server_parts.h"
#include "cairn/memory/sglang_memory.h"
#include "cairn/memory/vllm_memory.h"

namespace cairn::memory {

/// Values by everything of a demand but its graph, which is the same for all of them.
template <class Value>
class DemandTable {
 public:
  using Entry = std::shared_ptr<const Value>;

  /// The value of a demand, made at most a few times; an error is not kept.
  template <class Make>
  Result<Entry> get(const MemoryDemand& demand, const EngineInfo& engine, std::string_view vendor,
                    const Make& make) {
    const Layout& l = demand.layout;
    const Key key(&engine, demand.weights->format, demand.kv.name, std::string(vendor), l.tp, l.pp,
                  l.dp, l.ep, demand.context, demand.sequences);
    {
      const std::scoped_lock lock(mutex_);
      if (Entry found = find(key, demand.config)) return found;
    }
    CAIRN_TRY(Value value, make());
    const auto made = std::make_shared<const Value>(std::move(value));
    const std::scoped_lock lock(mutex_);
    // Another thread may have been faster.
    if (Entry found = find(key, demand.config)) return found;
    entries_[key].emplace_back(demand.config, made);
    return made;
  }

 private:
  using Key = std::tuple<const EngineInfo*, std::string, std::string, std::string, int, int, int,
                         int, std::int64_t, std::int64_t>;

  [[nodiscard]] Entry find(const Key& key, const EngineConfig& config) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    for (const auto& [of, value] : found->second) {
      if (of == config) return value;
    }
    return nullptr;
  }

  std::mutex mutex_;
  std::map<Key, std::vector<std::pair<EngineConfig, Entry>>> entries_;
};

}  // namespace cairn::memory

namespace cairn {

struct MemoryCache::Tables {
  memory::DemandTable<memory::LlamaCppNeed> llama_cpp;
  memory::DemandTable<std::vector<memory::RankNeed<memory::KvPool>>> vllm;
  memory::DemandTable<std::vector<memory::RankNeed<memory::CellBytes>>> sglang;
  memory::DemandTable<std::vector<memory::RankNeed<Bytes>>> tensorrt_llm;  // of a sequence
};

namespace memory {

/// What `make` gives, from the table of the demand's cache where it has one.
template <class Value, class Make>
Result<std::shared_ptr<const Value>> shared_need(DemandTable<Value> MemoryCache::Tables::* table,
                                                 const MemoryDemand& demand,
                                                 const EngineInfo& engine, std::string_view vendor,
                                                 const Make& make) {
  if (demand.cache != nullptr) {
    return (demand.cache->tables().*table).get(demand, engine, vendor, make);
  }
  CAIRN_TRY(Value value, make());
  return std::make_shared<const Value>(std::move(value));
}

}  // namespace memory
}  // namespace cairn
