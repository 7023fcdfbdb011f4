#include "tests/concurrency/interrupted_store.h"

#include <chrono>
#include <functional>
#include <random>
#include <thread>

namespace noam::tests::concurrency {

namespace {

thread_local std::uint64_t thread_last_step = 0;
thread_local std::size_t thread_conflicts = 0;

void let_others_in() {
  thread_local std::minstd_rand random(
      static_cast<std::minstd_rand::result_type>(std::hash<std::thread::id>{}(std::this_thread::get_id())));
  switch (random() % 8) {
    case 0:
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      break;
    case 1:
    case 2:
      std::this_thread::yield();
      break;
    default:
      break;
  }
}

}  // namespace

std::uint64_t InterruptedStore::last_step() { return thread_last_step; }

std::size_t InterruptedStore::conflicts_of_thread() { return thread_conflicts; }

void InterruptedStore::step() { thread_last_step = steps_.fetch_add(1, std::memory_order_relaxed) + 1; }

std::unique_ptr<stores::Snapshot> InterruptedStore::snapshot(stores::Use use) {
  let_others_in();
  auto made = behind_->snapshot(use);
  step();
  let_others_in();
  return made;
}

Result<void> InterruptedStore::read(std::span<const stores::ReadRequest> requests, const stores::Snapshot* at,
                                    stores::Deadline by, stores::Answers& out) {
  let_others_in();
  return behind_->read(requests, at, by, out);
}

Result<stores::Committed> InterruptedStore::commit(const stores::WriteBatch& batch, stores::Deadline by) {
  let_others_in();
  auto outcome = behind_->commit(batch, by);
  step();
  if (outcome && *outcome == stores::Outcome::Conflict) {
    ++conflicts_;
    ++thread_conflicts;
  }
  return outcome;
}

Result<stores::ScanPage> InterruptedStore::scan(std::uint32_t family, const std::string& after,
                                                const stores::Snapshot* at, stores::Deadline by) {
  let_others_in();
  return behind_->scan(family, after, at, by);
}

}  // namespace noam::tests::concurrency
