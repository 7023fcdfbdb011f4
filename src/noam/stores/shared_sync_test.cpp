#include "noam/stores/shared_sync.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace noam::stores {
namespace {

using rocksdb::Status;

// A log that counts what was written, and what of it was there when a sync began.
struct Log {
  SharedSync shared;
  std::atomic<int> written = 0;
  std::atomic<int> synced = 0;
  std::atomic<int> syncs = 0;

  void write() {
    shared.write_begins();
    ++written;
    shared.write_ended();
  }
  Status wait() {
    return shared.wait([&] {
      const int covered = written;
      ++syncs;
      std::this_thread::yield();
      synced = covered;
      return Status::OK();
    });
  }
};

TEST(SharedSync, DoesNothingWhereNothingWasWritten) {
  Log log;
  EXPECT_TRUE(log.wait().ok());
  EXPECT_EQ(log.syncs, 0);
  log.write();
  EXPECT_TRUE(log.wait().ok());
  EXPECT_TRUE(log.wait().ok());
  EXPECT_EQ(log.syncs, 1);
}

TEST(SharedSync, CoversWhatWasWrittenBeforeByWhomever) {
  Log log;
  constexpr int threads = 8;
  constexpr int rounds = 500;
  std::atomic<int> missed = 0;
  std::latch all_there(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      all_there.arrive_and_wait();
      for (int round = 0; round < rounds; ++round) {
        // Every fourth only looks at what the others wrote.
        if ((round + i) % 4 != 0) log.write();
        const int before = log.written;
        if (!log.wait().ok() || log.synced < before) ++missed;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(missed, 0);
  EXPECT_GT(log.syncs, 0);
}

TEST(SharedSync, WaitsForOneThatBeganAfterTheWrite) {
  SharedSync shared;
  std::latch first_began(1);
  std::latch second_wrote(1);
  std::atomic<int> syncs = 0;
  shared.write_begins();
  shared.write_ended();
  std::thread first([&] {
    const Status done = shared.wait([&] {
      ++syncs;
      first_began.count_down();
      second_wrote.wait();
      return Status::OK();
    });
    EXPECT_TRUE(done.ok());
  });
  first_began.wait();
  shared.write_begins();
  shared.write_ended();
  second_wrote.count_down();
  EXPECT_TRUE(shared
                  .wait([&] {
                    ++syncs;
                    return Status::OK();
                  })
                  .ok());
  EXPECT_EQ(syncs, 2);
  first.join();
}

TEST(SharedSync, FailsForAllOnceItHasFailed) {
  SharedSync shared;
  int syncs = 0;
  for (int i = 0; i < 3; ++i) {
    shared.write_begins();
    shared.write_ended();
    const Status status = shared.wait([&] {
      ++syncs;
      return Status::IOError("no disk");
    });
    EXPECT_TRUE(status.IsIOError());
  }
  EXPECT_EQ(syncs, 1);
}

}  // namespace
}  // namespace noam::stores
