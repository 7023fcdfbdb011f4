#pragma once

#include <mutex>
#include <shared_mutex>

namespace noam {

// A lock that several may share. std::shared_mutex may let those who share it pass one that waits for it alone, for
// ever; here that one waits at the door, and who comes later waits behind it. To be used with std::shared_lock and
// std::unique_lock.
class FairSharedMutex {
 public:
  void lock() {
    const std::lock_guard door(door_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  void lock_shared() {
    const std::lock_guard door(door_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex door_;
  std::shared_mutex mutex_;
};

}  // namespace noam
