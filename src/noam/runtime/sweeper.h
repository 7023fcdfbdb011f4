#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "noam/base/result.h"
#include "noam/runtime/tasks.h"

namespace noam::runtime {

// Something that is to be done again and again. Doing it twice does no harm.
struct Duty {
  std::string name;
  std::function<Result<std::int64_t>()> run;  // tells when it is to be run next
};

// Runs duties on a scheduler from the beginning of its life to the end: each at once, in their order, and then when it
// says. One that fails is tried again after a second, then after two, four, and so on, at most five minutes.
class Sweeper {
 public:
  using OnFailure = std::function<void(const std::string& duty, const Error& error)>;

  // The scheduler must outlive it. `on_failure`, where there is one, is called on the thread that ran the duty.
  Sweeper(Scheduler& scheduler, std::vector<Duty> duties, OnFailure on_failure);
  // Waits for what is running, not for what is to come.
  ~Sweeper();
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;

 private:
  struct Scheduled {
    Duty duty;
    Scheduler::TaskId task{};
    std::int64_t wait = 0;  // after the next failure
  };

  void post(Scheduled& scheduled, std::int64_t time);
  void run(Scheduled& scheduled);

  Scheduler& scheduler_;
  OnFailure on_failure_;
  std::mutex lock_;  // of what follows; the duties run without it
  std::vector<Scheduled> scheduled_;
  bool ending_ = false;
};

}  // namespace noam::runtime
