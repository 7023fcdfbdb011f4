#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

// Time, and what is to be done at a time. Both come from one place, given from outside, so that they can be simulated.
namespace noam::runtime {

// Milliseconds since 1970, by the clock of the machine.
std::int64_t system_time();

// Somebody who runs tasks when their time has come. Safe to use from several threads.
class Scheduler {
 public:
  using Task = std::function<void()>;
  enum class TaskId : std::uint64_t {};

  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  // Milliseconds since 1970.
  virtual std::int64_t now() = 0;
  // Runs the task once, at that time or as soon after as possible, never inside this call. A task may ask for others,
  // and throws nothing.
  virtual TaskId at(std::int64_t time, Task task) = 0;
  // When this returns, the task was run or never will be. A task that cancels itself is not waited for.
  virtual void cancel(TaskId task) = 0;
};

// Runs tasks one after another on a thread of its own, by the clock of the machine. When it ends, it waits for the task
// that runs, and forgets the others.
class ThreadScheduler : public Scheduler {
 public:
  ThreadScheduler();
  ~ThreadScheduler() override;

  std::int64_t now() override { return system_time(); }
  TaskId at(std::int64_t time, Task task) override;
  void cancel(TaskId task) override;

 private:
  using Place = std::pair<std::int64_t, TaskId>;

  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  std::map<Place, Task> waiting_;
  std::map<TaskId, std::int64_t> times_;  // of those that wait
  std::optional<TaskId> running_;
  std::uint64_t made_ = 0;
  bool ending_ = false;
  std::thread thread_;  // the last member: it uses the others
};

// Time that stands still until it is told to go on, and then runs the tasks that are due, in the order of their times,
// on the thread that tells it; from that thread they are cancelled. Those of one time run in the order in which they
// were asked for, or with a seed in one that depends on the seed alone.
class SimulatedScheduler : public Scheduler {
 public:
  explicit SimulatedScheduler(std::int64_t start, std::optional<std::uint64_t> seed = std::nullopt);

  std::int64_t now() override;
  TaskId at(std::int64_t time, Task task) override;
  void cancel(TaskId task) override;

  // To this time, and through the times of all tasks before it and at it. What they ask for on the way is run, too.
  void advance_to(std::int64_t time);
  void advance_by(std::int64_t milliseconds) { advance_to(now() + milliseconds); }

  // When the next task is due; nothing where none waits.
  std::optional<std::int64_t> next();

 private:
  struct Waiting {
    TaskId id;
    Task task;
  };
  using Place = std::pair<std::int64_t, std::pair<std::uint64_t, std::uint64_t>>;  // time, draw of the seed, order

  std::mutex lock_;
  std::int64_t now_;
  std::map<Place, Waiting> waiting_;
  std::uint64_t made_ = 0;
  std::optional<std::mt19937_64> random_;
};

}  // namespace noam::runtime
