#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <rocksdb/status.h>

#include "noam/base/breakage.h"

namespace noam::stores {

// One sync of a log for all who have written to it by then: the first to come does it, the others wait for one that
// began after they came. Once one has failed, none is tried again: what the system told once it does not tell twice.
class SharedSync {
 public:
  // Around each write to the log.
  void write_begins() { ++writes_begun_; }
  void write_ended() { ++writes_ended_; }

  // All that the caller has written, or could have seen, is on disk; or nobody knows.
  template <typename Sync>
  rocksdb::Status wait(const Sync& sync) {
    const std::uint64_t writes = writes_begun_;
    std::unique_lock lock(mutex_);
    // One that has begun may have passed by what was written since.
    const std::uint64_t mine = broken(Breakage::SyncTooEarly) ? begun_ : begun_ + 1;
    while (done_ < mine && writes_synced_ < writes) {
      if (!failure_.ok()) return failure_;
      if (begun_ != done_) {
        ended_.wait(lock);
        continue;
      }
      ++begun_;
      const std::uint64_t covered = writes_ended_;
      lock.unlock();
      const rocksdb::Status status = sync();
      lock.lock();
      if (status.ok()) {
        done_ = begun_;
        writes_synced_ = covered;
      } else {
        failure_ = status;
      }
      ended_.notify_all();
    }
    return rocksdb::Status::OK();
  }

 private:
  std::atomic<std::uint64_t> writes_begun_ = 0;
  std::atomic<std::uint64_t> writes_ended_ = 0;

  std::mutex mutex_;  // of what follows
  std::condition_variable ended_;
  std::uint64_t begun_ = 0;  // at most one more than done_
  std::uint64_t done_ = 0;
  std::uint64_t writes_synced_ = 0;  // where it is the number of those that began, it is all of them
  rocksdb::Status failure_;
};

}  // namespace noam::stores
