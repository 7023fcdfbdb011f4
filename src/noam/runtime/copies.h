#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "noam/base/breakage.h"
#include "noam/base/result.h"
#include "noam/design/design.h"
#include "noam/stores/store.h"

namespace noam::runtime {

// How far a copy can be trusted; kept in the store (the `notes` of the design). What is not ready is written as ever,
// and not read: a wrong answer is worse than none.
enum class CopyState : std::uint8_t { Ready, Building, Broken };

const char* state_name(CopyState state);

// The states of all copies of a design, as a session knows them. Safe to use from several threads.
class CopyStates {
 public:
  explicit CopyStates(const design::Design& design) : design_(design), states_(design.families.size()) {}

  [[nodiscard]] CopyState of(std::uint32_t family) const { return static_cast<CopyState>(states_[family].load()); }
  void set(std::uint32_t family, CopyState state) { states_[family] = static_cast<std::uint8_t>(state); }

  // Where other processes may change a state: the version of its note when it was read.
  void set_version(std::uint32_t family, const stores::Version& version) {
    const std::lock_guard lock(versions_lock_);
    versions_[family] = version;
  }
  [[nodiscard]] std::optional<stores::Version> version(std::uint32_t family) const {
    const std::lock_guard lock(versions_lock_);
    const auto found = versions_.find(family);
    return found == versions_.end() ? std::nullopt : std::optional(found->second);
  }

  // An error with the code `broken` where a plan must not rely on it.
  [[nodiscard]] Result<void> may_read(std::uint32_t family) const {
    if (of(family) == CopyState::Ready || broken(Breakage::BrokenCopyRead)) return {};
    return refusal(family);
  }

  // Under which name a state is noted, and where. None: it is no copy.
  [[nodiscard]] static std::string note_name(const design::Design& design, std::uint32_t family);

 private:
  [[nodiscard]] Error refusal(std::uint32_t family) const;

  const design::Design& design_;
  std::vector<std::atomic<std::uint8_t>> states_;
  mutable std::mutex versions_lock_;
  std::map<std::uint32_t, stores::Version> versions_;
};

}  // namespace noam::runtime
