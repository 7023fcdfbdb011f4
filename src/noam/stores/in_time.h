#pragma once

#include <chrono>

#include "noam/base/result.h"
#include "noam/stores/store.h"

namespace noam::stores {

// An error where the deadline has passed.
inline Result<void> in_time(Deadline by) {
  if (by != no_deadline && std::chrono::steady_clock::now() > by) return Error{"deadline passed", timeout_code};
  return {};
}

}  // namespace noam::stores
