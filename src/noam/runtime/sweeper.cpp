#include "noam/runtime/sweeper.h"

#include <algorithm>
#include <utility>

namespace noam::runtime {

namespace {

constexpr std::int64_t first_wait = 1'000;
constexpr std::int64_t longest_wait = 300'000;

}  // namespace

Sweeper::Sweeper(Scheduler& scheduler, std::vector<Duty> duties, OnFailure on_failure)
    : scheduler_(scheduler), on_failure_(std::move(on_failure)) {
  const std::lock_guard lock(lock_);
  for (Duty& duty : duties) scheduled_.push_back({std::move(duty), {}, first_wait});
  for (Scheduled& scheduled : scheduled_) post(scheduled, scheduler_.now());
}

Sweeper::~Sweeper() {
  std::vector<Scheduler::TaskId> tasks;
  {
    const std::lock_guard lock(lock_);
    ending_ = true;
    for (const Scheduled& scheduled : scheduled_) tasks.push_back(scheduled.task);
  }
  for (const Scheduler::TaskId task : tasks) scheduler_.cancel(task);
}

// Under the lock, which a task takes first: so it finds its own number here, and not the one before.
void Sweeper::post(Scheduled& scheduled, std::int64_t time) {
  scheduled.task = scheduler_.at(time, [this, &scheduled] { run(scheduled); });
}

void Sweeper::run(Scheduled& scheduled) {
  {
    const std::lock_guard lock(lock_);
    if (ending_) return;
  }
  const auto next = scheduled.duty.run();
  if (!next && on_failure_) on_failure_(scheduled.duty.name, next.error());
  const std::lock_guard lock(lock_);
  if (ending_) return;
  if (next) {
    scheduled.wait = first_wait;
    post(scheduled, *next);
  } else {
    post(scheduled, scheduler_.now() + scheduled.wait);
    scheduled.wait = std::min(2 * scheduled.wait, longest_wait);
  }
}

}  // namespace noam::runtime
