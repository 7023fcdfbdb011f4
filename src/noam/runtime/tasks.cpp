#include "noam/runtime/tasks.h"

#include <algorithm>
#include <chrono>

namespace noam::runtime {

std::int64_t system_time() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// --- ThreadScheduler -------------------------------------------------------------------------------------------------

ThreadScheduler::ThreadScheduler() : thread_([this] { run(); }) {}

ThreadScheduler::~ThreadScheduler() {
  {
    const std::lock_guard lock(lock_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Scheduler::TaskId ThreadScheduler::at(std::int64_t time, Task task) {
  const std::lock_guard lock(lock_);
  const auto id = static_cast<TaskId>(++made_);
  waiting_.emplace(Place{time, id}, std::move(task));
  times_.emplace(id, time);
  changed_.notify_all();
  return id;
}

void ThreadScheduler::cancel(TaskId task) {
  std::unique_lock lock(lock_);
  if (const auto time = times_.find(task); time != times_.end()) {
    waiting_.erase({time->second, task});
    times_.erase(time);
    return;
  }
  if (std::this_thread::get_id() == thread_.get_id()) return;
  changed_.wait(lock, [&] { return running_ != task; });
}

void ThreadScheduler::run() {
  // The clock may be set while we sleep: it is looked at again now and then.
  constexpr std::int64_t longest_sleep = 10'000;
  std::unique_lock lock(lock_);
  while (!ending_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = waiting_.begin();
    const std::int64_t wait = first->first.first - now();
    if (wait > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(std::min(wait, longest_sleep)));
      continue;
    }
    running_ = first->first.second;
    Task task = std::move(first->second);
    times_.erase(*running_);
    waiting_.erase(first);
    lock.unlock();
    task();
    task = nullptr;  // what it holds goes before somebody who waits for it goes on
    lock.lock();
    running_.reset();
    changed_.notify_all();
  }
}

// --- SimulatedScheduler ----------------------------------------------------------------------------------------------

SimulatedScheduler::SimulatedScheduler(std::int64_t start, std::optional<std::uint64_t> seed) : now_(start) {
  if (seed) random_.emplace(*seed);
}

std::int64_t SimulatedScheduler::now() {
  const std::lock_guard lock(lock_);
  return now_;
}

Scheduler::TaskId SimulatedScheduler::at(std::int64_t time, Task task) {
  const std::lock_guard lock(lock_);
  const std::uint64_t order = ++made_;
  const std::uint64_t draw = random_ ? (*random_)() : 0;
  waiting_.emplace(Place{std::max(time, now_), {draw, order}}, Waiting{static_cast<TaskId>(order), std::move(task)});
  return static_cast<TaskId>(order);
}

void SimulatedScheduler::cancel(TaskId task) {
  const std::lock_guard lock(lock_);
  std::erase_if(waiting_, [&](const auto& one) { return one.second.id == task; });
}

void SimulatedScheduler::advance_to(std::int64_t time) {
  for (;;) {
    Task task;
    {
      const std::lock_guard lock(lock_);
      const auto first = waiting_.begin();
      if (first == waiting_.end() || first->first.first > time) {
        now_ = std::max(now_, time);
        return;
      }
      now_ = std::max(now_, first->first.first);
      task = std::move(first->second.task);
      waiting_.erase(first);
    }
    task();
  }
}

std::optional<std::int64_t> SimulatedScheduler::next() {
  const std::lock_guard lock(lock_);
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->first.first;
}

}  // namespace noam::runtime
