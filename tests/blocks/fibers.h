#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

// Tasks that take turns on one thread, each on a stack of its own. Who is next is decided by the caller.
namespace noam::tests::blocks {

// Ends a task from within.
struct Killed {};

class Fibers {
 public:
  Fibers();
  ~Fibers();  // kills those that are left
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  using Id = std::size_t;
  // Begins when it is resumed first.
  Id add(std::function<void()> task);

  // Lets it run until it gives way or ends. False: it has ended.
  bool resume(Id id);
  [[nodiscard]] bool ended(Id id) const;
  // It ends the next time it is resumed, with an exception out of give_way().
  void kill(Id id);

  // Of the task that runs.
  void give_way();
  [[nodiscard]] Id running() const { return running_; }

 private:
  struct Fiber;
  static void enter(unsigned high, unsigned low);
  void run(Fiber& fiber);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  Id running_ = 0;
  struct Outside;
  std::unique_ptr<Outside> outside_;
  std::vector<std::unique_ptr<char[]>> stacks_;  // to be used again
};

}  // namespace noam::tests::blocks
